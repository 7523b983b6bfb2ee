"""Values that differ in length between the elements of a batch, against a loop over the elements.

Loop form is run by Python here: it is the same text that is compiled.
"""

import numpy as np
import pytest

import tapeless
from tapeless import grad, hessian, jit, vmap
from tapeless.lax import psum
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transforms.errors import UnsupportedError
from tests.test_corpus_compiled import by_python

X = np.cos(np.arange(24.0) ** 1.3).reshape(4, 6)
N = np.array([3, 1, 6, 2])


def largest(x, n):
    return np.max(x[x > 0]) * n


def spread(x, n):
    chosen = x[x > 0]
    return np.std(chosen) + np.prod(chosen[chosen < 0.9])


def aligned(x, n):
    return np.dot(x[x > 0], np.sin(x)[x > 0]) + np.linalg.norm(x[np.nonzero(x < 0)])


def head(x, n):
    return np.sum(np.sort(x[:n]) * np.arange(n))


def filled(x, n):
    made = np.zeros(n)
    for k in range(n):
        made[k] = x[k] * k
    return np.sum(made * made) / n


def listed(x, n):
    kept = [v * v for v in x if v > 0]
    return sum(kept) + len(kept)


def drained(x, n):
    stack = [x[0], x[1]]
    total = 0.0
    while stack:
        v = stack.pop()
        if v > 0.2:
            stack.append(v * v - 0.1)
            stack.append(v / 3)
        total = total + np.sin(v)
    return total


def rows(x, n):
    table = np.reshape(x, (3, 2))
    chosen = table[table[:, 0] > -0.5]
    return np.sum(np.mean(chosen, axis=0) * chosen[-1])


def in_a_branch(x, n):
    if x[0] > 0:
        return np.max(x[x < 0.5])
    return np.sum(x)


def in_a_loop(x, n):
    total = 0.0
    k = 0
    while total < 1.1 and k < n:
        total += np.max(np.abs(x[k:]))
        k += 1
    return total


def over_what_is_chosen(x, n):
    total = 1.0
    for v in x[x > 0]:
        total = total * 0.5 + v * v
    return total


def around_others(x, n):
    """What has one shape for all is in front of the loop, behind it and in between."""
    scaled = np.exp(x) / np.sum(np.exp(x))
    chosen = scaled[scaled > 0.1]
    centre = np.sum(chosen) / len(chosen)
    wide = np.tanh(x * centre)
    return np.max(chosen - centre) + np.sum(wide * scaled)


def entropy(x, n):
    part = np.exp(x[:n] - np.max(x[:n]))
    chances = part / np.sum(part)
    return -np.sum(chances * np.log(chances))


def runs(x, n):
    found, current = [], 0.0
    for v in x:
        if v > 0:
            current += v
        elif current > 0:
            found.append(current)
            current = 0.0
    return np.sum(np.array(found) ** 2) if len(found) > 0 else 0.0


ALL = [
    entropy,
    runs,
    largest,
    spread,
    aligned,
    head,
    filled,
    listed,
    drained,
    rows,
    in_a_branch,
    in_a_loop,
    over_what_is_chosen,
    around_others,
]


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setattr(Jit, "load", by_python)


@pytest.fixture(params=ALL, ids=lambda f: f.__name__)
def f(request):
    return request.param


def slope(f, x, n):
    units = 1e-6 * np.eye(len(x))
    return np.array([(f(x + u, n) - f(x - u, n)) / 2e-6 for u in units])


def values(f):
    return np.array([f(x.copy(), int(n)) for x, n in zip(X, N, strict=True)])


def slopes(f):
    return np.stack([slope(f, x, int(n)) for x, n in zip(X, N, strict=True)])


@pytest.mark.usefixtures("interpreted")
def test_values(f):
    expected = values(f)
    np.testing.assert_allclose(vmap(f)(X, N), expected, rtol=1e-12)
    np.testing.assert_allclose(jit(vmap(f))(X, N), expected, rtol=1e-12)
    np.testing.assert_allclose(vmap(f, (1, 0))(X.T, N), expected, rtol=1e-12)


def test_no_elements(f):
    assert vmap(f)(X[:0], N[:0]).shape == (0,)


def test_batch_of_batches(f):
    expected = values(f).reshape(2, 2)
    table, ns = X.reshape(2, 2, 6), N.reshape(2, 2)
    np.testing.assert_allclose(vmap(vmap(f))(table, ns), expected, rtol=1e-12)


@pytest.mark.usefixtures("interpreted")
def test_derivatives(f):
    expected = slopes(f)
    for got in (
        vmap(grad(f))(X, N),
        grad(lambda x: np.sum(vmap(f)(x, N)))(X),
        jit(vmap(grad(f)))(X, N),
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("f", [entropy, spread, drained, rows], ids=lambda f: f.__name__)
def test_second_derivatives(f):
    found = vmap(hessian(f))(X[:2], N[:2])
    for k in range(2):
        units = 1e-5 * np.eye(6)
        sides = [(X[k] + u, X[k] - u) for u in units]
        rows = [(grad(f)(a, N[k]) - grad(f)(b, N[k])) / 2e-5 for a, b in sides]
        np.testing.assert_allclose(found[k], rows, rtol=1e-4, atol=1e-6)


def powers(x, n):
    if n == 0:
        return x
    return powers(np.sin(x), n - 1) * x


def test_second_derivatives_of_recursion():
    x, n = np.array([0.5, 1.0, 2.0]), np.array([0, 3, 1])
    second = grad(grad(powers))
    expected = [second(a, b) for a, b in zip(x, n.tolist(), strict=True)]
    np.testing.assert_allclose(vmap(second)(x, n), expected, rtol=1e-12)


def test_the_loop_holds_no_more_than_it_must():
    source = vmap(lambda x, n: np.max(np.sin(x)[:n]) + np.sum(np.cos(x))).source(X, N)
    head, _, loop = source.partition("    for i in range(x.shape[0]):\n")
    body, _, end = loop.partition("    return")
    assert "np.sin(x)" in head
    assert "np.max(" in body
    assert "np.cos(x)" in end


def test_sums_and_stores_need_no_loop():
    source = vmap(lambda x: np.sum(x[x > 0]) + np.mean(x[x < 1])).source(X)
    assert "for i in" not in source


def diagonal_of_selected(x, n):
    c = np.zeros((len(x), len(x)))
    for _ in range(n):
        np.fill_diagonal(c, x[x > 0.0])
        x = np.sin(x * c[0])
    return np.sum(x)


def filled_beside_a_choice(x, n):
    c, v, t = np.outer(x, x), x, x[0]
    while True:
        if t > 0.0:
            break
        v, t = c[0], t + 1.0
    np.fill_diagonal(c, np.sum(x[:n]))
    return t + np.sum(v * v)


@pytest.mark.parametrize("f", [diagonal_of_selected, filled_beside_a_choice])
def test_derivatives_of_what_differs_in_length_inside_of_loops(f):
    for derivative in (vmap(grad(f)), jit(vmap(grad(f)))):
        found = derivative(X, N)
        for x, n, slope in zip(X, N, found, strict=True):
            steps = 1e-6 * np.eye(len(x))
            expected = [(f(x + d, n) - f(x - d, n)) / 2e-6 for d in steps]
            np.testing.assert_allclose(slope, expected, atol=1e-7)


def test_text_comes_in_the_order_of_the_elements(capsys):
    def told(x):
        chosen = x[x > 0.9]
        print(len(chosen), "chosen")  # noqa: T201
        return np.max(chosen, initial=0.0)

    vmap(told)(X)
    expected = "".join(f"{np.sum(x > 0.9)} chosen\n" for x in X)
    assert capsys.readouterr().out == expected


def test_the_error_of_an_element():
    with pytest.raises(ValueError, match="zero-size array"):
        vmap(lambda x: np.max(x[x > 2]))(X)


def test_lengths_that_disagree_for_an_element():
    with pytest.raises(ValueError, match=r"mismatch|broadcast|shape|not aligned"):
        vmap(lambda x: np.dot(x[x > 0], x[x < 0.5]))(X)


def gathered(x):
    return np.max(x[x > 0]) + psum(np.sum(x), "i")


def test_collectives_are_for_all_elements_at_once():
    expected = [np.max(x[x > 0]) + np.sum(X) for x in X]
    np.testing.assert_allclose(vmap(gathered, axis_name="i")(X), expected)


def test_elements_that_come_one_after_the_other_do_not_meet():
    def meets(x):
        chosen = x[x > 0]
        return np.max(chosen * psum(np.sum(chosen), "i"))

    with pytest.raises(UnsupportedError, match="differs between the elements of the batch"):
        vmap(meets, axis_name="i")(X)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, n: x[x > 0],
        lambda x, n: x[:n],
        lambda x, n: (np.max(x[x > 0]), np.unique(x[:n])),
        lambda x, n: np.sort(x[x > 0])[::2],
    ],
)
def test_a_result_must_have_one_shape(f):
    with pytest.raises(UnsupportedError, match="differs between the elements of the batch"):
        vmap(f)(X, N)


def test_a_collective_of_what_has_no_shape_is_refused():
    with pytest.raises(tapeless.TapelessError, match="differs between the elements"):
        vmap(lambda x: np.max(psum(x[x > 0], "i")), axis_name="i")(X)


@pytest.mark.parametrize("form", [lambda f: f, jit])
def test_counts_with_a_least_length(form):
    def f(x, k):
        counts = np.bincount(k, minlength=len(x))
        return np.sum(np.sin(np.bincount(k, x, len(x)) + x) * counts)

    k = np.array([[0, 1, 1, 3, 5, 5], [2, 2, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0], [5, 4, 3, 2, 1, 0]])
    np.testing.assert_allclose(
        form(vmap(f))(X, k), [f(x, row) for x, row in zip(X, k, strict=True)]
    )
    slopes = [grad(f)(x, row) for x, row in zip(X, k, strict=True)]
    np.testing.assert_allclose(form(vmap(grad(f)))(X, k), slopes, rtol=1e-12)


def test_counts_that_are_longer_than_said_are_not_cut():
    with pytest.raises(ValueError, match="could not broadcast"):
        vmap(lambda k: np.bincount(k, minlength=2))(np.array([[0, 1], [2, 1]]))


def descended(k, v):
    """The innermost call of each depth is reached by no element of the batch."""

    def descend(k, scale):
        if k <= 0:
            return 0.0 * scale
        y = np.sum(np.sin(v * scale))
        return y + 0.5 * descend(k - 1, scale + np.cos(y))

    return descend(k, 1.0)


@pytest.mark.parametrize("change", [lambda f: f, tapeless.jit], ids=["plain", "jit"])
def test_lengths_of_what_no_element_reaches_are_saved(change):
    depths, rows = np.array([2, 1]), np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])

    def total(rows):
        return np.sum(tapeless.vmap(descended)(depths, rows))

    expected = [tapeless.grad(descended, 1)(k, v) for k, v in zip(depths, rows, strict=True)]
    np.testing.assert_allclose(change(tapeless.grad(total))(rows), expected)


def turned(x, place):
    y = np.fft.ifftshift(x[np.arange(5) != place])
    return np.sum(np.cos(np.arange(np.size(y)) + 1.0) * y)


def test_a_roll_of_a_length_that_nobody_else_reads():
    rows, places = np.arange(10.0).reshape(2, 5), np.array([1, 3])
    slopes = jit(grad(lambda rows: np.sum(vmap(turned)(rows, places))))(rows)
    expected = [grad(turned)(x, k) for x, k in zip(rows, places, strict=True)]
    np.testing.assert_allclose(slopes, expected)
