"""What is a tuple, or None, as data decides: what Python says of it, and results of functions."""

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, vmap

X = np.array([0.126, -0.132, 0.64, 0.105, -0.536])


def least_above(x, limit):
    best = None
    for i, v in enumerate(x):
        if v > limit and (best is None or v < best[1]):
            best = (i, v)
    return best


def unpacked(x, limit):
    i, v = least_above(x, limit)
    return i * v


def indexed(x, limit):
    return least_above(x, limit)[1] * 2


def caught(x, limit):
    try:
        _, v = least_above(x, limit)
    except TypeError:
        return -1.0
    return v * 2


def joined_again(x, limit):
    found = least_above(x, limit)
    other = least_above(x, 0.0) if x[0] > 0 else None
    if found is None:
        found = other
    return found[1] * 3


def measured(x, limit):
    found = least_above(x, limit)
    return len(found) if found else 0


@pytest.mark.parametrize("limit", [0.0, 0.2, 0.9])
@pytest.mark.parametrize("f", [unpacked, indexed, caught, joined_again, measured])
def test_as_python(f, limit):
    ways = {
        "jit": lambda: jit(f)(X, limit),
        "grad": lambda: tapeless.value_and_grad(lambda w: (w, f(X, limit)), has_aux=True)(1.0)[0][
            1
        ],
        "emitted": lambda: tapeless.value_and_grad(lambda x: f(x, limit) * 1.0)(X)[0],
    }
    for run in ways.values():
        try:
            expected = f(X, limit)
        except TypeError as e:
            with pytest.raises(TypeError, match=str(e)):
                run()
        else:
            assert run() == expected


def found(x):
    return (x, x * 2) if x > 1 else None


USES = {
    "sum": lambda x: sum(found(x)),
    "repeated": lambda x: len(found(x) * 2),
    "equal": lambda x: 1.0 if found(x) == (2.0, 4.0) else 0.0,
    "order": lambda x: 1.0 if found(x) < (2.0, 5.0) else 0.0,
    "in": lambda x: 1.0 if x in found(x) else 0.0,
    "max": lambda x: max(found(x)),
    "loop": lambda x: [v * 2 for v in found(x)][1],
    "enumerate": lambda x: sum(v * k for k, v in enumerate(found(x))),
    "or": lambda x: (found(x) or (x, 3.0))[1],
    "and": lambda x: (found(x) and 3.0) is None,
    "slice": lambda x: found(x)[1:][0],
    "list": lambda x: list(found(x))[-1],
    "class": lambda x: isinstance(found(x), tuple),
    "not": lambda x: not found(x),
    "named": lambda x: r[0] if (r := found(x)) else -1.0,
}


@pytest.mark.parametrize("x", [2.0, 0.5])
@pytest.mark.parametrize("name", USES)
def test_what_is_done_to_them(name, x):
    use = USES[name]
    try:
        expected = use(x)
    except TypeError:
        with pytest.raises(TypeError, match=r"NoneType|iter"):
            jit(use)(x)
    else:
        assert jit(use)(x) == expected


def test_text_shows_them(capsys):
    def f(x):
        print(f"<{found(x)}>")  # noqa: T201
        return x

    jit(f)(2.0)
    jit(f)(0.5)
    assert capsys.readouterr().out == "<(2.0, 4.0)>\n<None>\n"


@pytest.mark.parametrize("limit", [0.0, 0.2, 0.9])
def test_they_are_results(limit):
    found = jit(least_above)(X, limit)
    assert found == least_above(X, limit)
    assert type(found) is type(least_above(X, limit))


def test_slopes():
    def f(x):
        i, v = least_above(x, 0.0)
        j, w = least_above(x, 0.2) or (1, 2.0)
        return i * v**2 + j * w

    expected = np.array([0.0, 0.0, 2.0, 3 * 2 * X[3], 0.0])
    np.testing.assert_allclose(grad(f)(X), expected)
    np.testing.assert_allclose(jit(grad(f))(X), expected)
    np.testing.assert_allclose(vmap(grad(f))(np.stack([X, X]))[1], expected)


def test_none_in_a_batch_raises():
    with pytest.raises(TypeError, match="NoneType"):
        vmap(lambda x: unpacked(x, 0.5))(np.stack([X, X / 2]))


def a_tuple(kept, x):
    found = (kept, x[1]) if x[0] > 0 else None
    kept[0] = x[2]
    return found[0][0] * found[1] if found else 0.0


def a_list(kept, x):
    found = None
    if x[0] > 0:
        found = kept
    kept[0] = x[2]
    return found[0]


def a_longer_list(kept, x):
    found = None
    if x[0] > 0:
        found = kept
    kept.append(x[2])
    return found[5] + len(found)


@pytest.mark.parametrize("f", [a_tuple, a_list, a_longer_list])
def test_a_list_that_changes_under_another_name_is_seen_or_refused(f):
    """It was another list, in silence."""

    def filled(x):
        return f([v + 0.0 for v in x], x)

    try:
        value = jit(filled)(X)
    except tapeless.TapelessError:
        return
    assert value == pytest.approx(filled(X))


def parts(v):
    if v > 0.5:
        return None
    if v > 0:
        return (v, None)
    return (v, v)


def sums_of_parts(x):
    total = 0.0
    for v in x:
        pair = parts(v)
        if pair is None:
            total += 1
            continue
        a, b = pair
        total += a * 2 if b is None else a * b
    return total


def test_none_in_a_tuple_that_may_be_none():
    assert jit(lambda x: parts(x[0]))(X) == parts(X[0])
    assert jit(sums_of_parts)(X) == pytest.approx(sums_of_parts(X))
    np.testing.assert_allclose(grad(sums_of_parts)(X), [2, 2 * X[1], 0, 2, 2 * X[4]])


@pytest.mark.parametrize("x", [X, -abs(X)])
def test_none_is_equal_to_none(x):
    def f(x):
        found = [None, None]
        for i, v in enumerate(x):
            if v > 0.2:
                found[i % 2] = v
        return found == [None, None], found != [None, None], None in found

    assert jit(f)(x) == f(x)


def test_values_that_some_side_lacks_are_saved():
    def root(b):
        d = b * b - 0.2
        return None if d < 0 else -b - np.sqrt(d)

    def f(x):
        total = 0.0
        for v in x:
            r = root(v)
            if r:
                total += r * v
        return total

    step = 1e-6
    expected = [(f(X + step * e) - f(X - step * e)) / (2 * step) for e in np.eye(5)]
    np.testing.assert_allclose(grad(f)(X), expected, atol=1e-8)
    np.testing.assert_allclose(jit(grad(f))(X), expected, atol=1e-8)
