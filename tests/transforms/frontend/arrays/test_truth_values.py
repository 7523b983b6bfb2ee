"""Truth values of Python's are integers to its operators and not to NumPy's functions; those of
NumPy's are no integers."""

import numpy as np
import pytest

import tapeless

A = np.arange(12.0).reshape(3, 4) + 0.5

#: Of two numbers, each of Python's or of NumPy's.
VALUES = {
    "sums of comparisons": lambda x, a, b: x * (np.less(a, b) + np.equal(a, a)),
    "sums of Python's": lambda x, a, b: x * ((a < b) + (b > a) + (not a > b)),
    "of np.where": lambda x, a, b: (
        x * (np.where(a < b, True, False) + np.where(a < b, True, False))
    ),
    "of a branch": lambda x, a, b: x * ((np.True_ if a < b else np.False_) + (np.less(a, b))),
    "products": lambda x, a, b: x * (np.multiply(a < b, a < b) + np.multiply(a < b, b > a)),
    "np.add": lambda x, a, b: x * np.add(bool(a < b), bool(a < b)),
    "np.invert": lambda x, a, b: x * np.invert(bool(a < b)),
    "bits": lambda x, a, b: x * (np.bitwise_and(a < b, b > a) + np.bitwise_or(a < b, b > a)),
    "np.allclose": lambda x, a, b: x * (np.allclose(a, a) + np.array_equal(b, b)),
    "sum": lambda x, a, b: x * sum([a < b, b > a]),
    "sum from True": lambda x, a, b: x * sum([a < b, b > a], True),
    "sum of a row": lambda x, a, b: x * sum(x[0] > 0),
    "sum of a row from True": lambda x, a, b: x * sum(x[0] > 0, True),
    "sum of a row from False": lambda x, a, b: x * sum(x[0] > 9, False),
    "is True": lambda x, a, b: x * (1 + ((a < b) is True) + (np.less(a, b) is True) + (a is True)),
    "len(repr)": lambda x, a, b: x * len(repr(a < b)),
    "a list at Python's": lambda x, a, b: x * [2.0, 3.0][bool(a < b)],
    "bins": lambda x, a, b: x * np.histogram(x, bool(a < b))[0],
    "linspace": lambda x, a, b: x * np.linspace(0, 1, bool(a < b))[0],
    "tile": lambda x, a, b: np.tile(x, bool(a < b)),
}

REFUSED = {
    "zeros": lambda x, t: np.zeros(t),
    "zeros of two axes": lambda x, t: np.zeros((2, t)),
    "full": lambda x, t: np.full(t, x[0, 0]),
    "eye": lambda x, t: np.eye(t),
    "reshape": lambda x, t: x.reshape(t, -1),
    "broadcast_to": lambda x, t: np.broadcast_to(x[0, :1], t),
    "resize": lambda x, t: np.resize(x, (t, 2)),
    "sum": lambda x, t: np.sum(x, axis=t),
    "any": lambda x, t: np.any(x, axis=t),
    "ptp": lambda x, t: np.ptp(x, axis=t),
    "argmax": lambda x, t: np.argmax(x, axis=t),
    "concatenate": lambda x, t: np.concatenate([x, x], axis=t),
    "repeat": lambda x, t: np.repeat(x, 2, axis=t),
    "take": lambda x, t: np.take(x, 0, axis=t),
    "transpose": lambda x, t: np.transpose(x, (t, 0)),
    "squeeze": lambda x, t: np.squeeze(x[:, :1], axis=t),
    "delete": lambda x, t: np.delete(x[0], t),
}

REFUSED_OF_NUMPY = {
    "list": lambda x, t: [x[0], x[1]][t],
    "tuple": lambda x, t: (x[0], x[1])[t],
    "slice": lambda x, t: [x[0], x[1]][:t],
    "range": lambda x, t: sum(x[0, 0] for _ in range(t)),
    "round": lambda x, t: x * round(t),
    "bin": lambda x, t: x * len(bin(t)),
    "swapaxes": lambda x, t: np.swapaxes(x, 0, t),
    "sort": lambda x, t: np.sort(x, axis=t),
    "diff": lambda x, t: np.diff(x, t),
    "diag": lambda x, t: np.diag(x, t),
    "matrix_power": lambda x, t: np.linalg.matrix_power(x[:, :3], t),
    "insert": lambda x, t: np.insert(x[0], t, 1.0),
}


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("kind", [float, int, np.float64, np.int32])
def test_values(name, kind):
    f, a, b = VALUES[name], kind(1), kind(2)
    expected = f(A, a, b)
    result = tapeless.jit(f)(A, a, b)
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected)
    batch = tapeless.vmap(f, in_axes=(0, None, None))(np.stack([A, A + 1]), a, b)
    np.testing.assert_allclose(batch, np.stack([expected, f(A + 1, a, b)]))
    step = np.zeros_like(A)
    step[0, 1] = 1e-6
    slope = (np.sum(f(A + step, a, b)) - np.sum(f(A - step, a, b))) / 2e-6
    slopes = tapeless.grad(lambda x: np.sum(f(x, a, b)))(A)
    np.testing.assert_allclose(slopes[0, 1], slope, atol=1e-6)


def refused(f, error):
    with pytest.raises(error):
        f(A)
    for form in (tapeless.jit(f), tapeless.grad(lambda x: np.sum(f(x)))):
        with pytest.raises(error):
            form(A)


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("name", REFUSED)
def test_truth_values_are_no_lengths_and_no_axes(name):
    f, error = REFUSED[name], ValueError if name == "delete" else TypeError
    refused(lambda x: f(x, True), error)
    refused(lambda x: f(x, bool(x[0, 0] > 0)), error)
    refused(lambda x: f(x, x[0, 0] > 0), error)


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("name", REFUSED_OF_NUMPY)
def test_truth_values_of_numpy_are_no_integers(name):
    f = REFUSED_OF_NUMPY[name]
    refused(lambda x: f(x, x[0, 0] > 0), ValueError if name == "insert" else TypeError)
    refused(lambda x: f(x, np.True_), ValueError if name == "insert" else TypeError)
    if name != "insert":
        f(A, True)
        tapeless.jit(lambda x: f(x, True))(A)


@pytest.mark.usefixtures("traced")
def test_no_length_is_left_where_there_are_no_elements():
    def given(x, n):
        return np.sum(x) + np.zeros((n, 3)).reshape(n, -1).size

    def chosen(x, n):
        above = x[x > n]
        return np.sum(x) + above.reshape(len(above), -1).size

    x = np.arange(3.0)
    for f, n in ((given, 2), (chosen, 0)):
        np.testing.assert_allclose(tapeless.jit(f)(x, n), f(x, n))
        np.testing.assert_allclose(tapeless.grad(f)(x, n), np.ones(3))
    for f, n in ((given, 0), (chosen, 5)):
        for form in (f, tapeless.jit(f), tapeless.grad(f)):
            with pytest.raises(ValueError, match="cannot reshape"):
                form(x, n)
