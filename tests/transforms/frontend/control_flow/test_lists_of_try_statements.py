"""Lists are as long after try statements as Python makes them: these are staged several times."""

import pytest

import tapeless


def risky(t):
    if t > 0.5:
        raise ValueError("large")
    if t < -0.5:
        raise KeyError("small")
    return t * 2


def inserted_in_else(x, s):
    items = [x, s]
    try:
        a = risky(x)
    except ValueError:
        a = items[0] + items[-1]
    except KeyError:
        a = 0.5
    else:
        items.insert(1, s)
    return sum(items) + a


def inserted_after(x, s):
    items = [x, s]
    try:
        a = risky(x)
        items.insert(1, s)
    except (ValueError, KeyError):
        a = 0.5
    return sum(items) * 2 + items[-1] + a


def inserted_before(x, s):
    items = [x, s]
    try:
        items.insert(0, 3.0)
        a = risky(x)
        items.insert(1, s)
    except (ValueError, KeyError):
        a = 0.5
        items.insert(2, s * 2)
    return items[0] * 2 + items[1] * 3 + items[2] * 5 + items[-1] * 7 + len(items) + a


def looked_at_from_the_end(x, s):
    items = [x, s]
    try:
        items.append(risky(x))
        items[2] += 1.0
    except ValueError:
        items.append(s)
        items[2] *= 3.0
    except KeyError:
        pass
    return sum(items) + items[-1]


def in_a_loop(x, s):
    items = [x]
    for k in range(3):
        try:
            items.insert(0, risky(x * k))
        except (ValueError, KeyError):
            items.insert(1, s + k)
    return sum(e * k for k, e in enumerate(items)) + len(items)


@pytest.mark.parametrize(
    "function",
    [inserted_in_else, inserted_after, inserted_before, looked_at_from_the_end, in_a_loop],
)
def test_values_and_slopes(function):
    compiled = tapeless.jit(function)
    for x in (-0.7, 0.2, 0.9, 0.3):
        assert compiled.plain(x, 0.3) == pytest.approx(function(x, 0.3), rel=1e-12)
        difference = (function(x + 1e-6, 0.3) - function(x - 1e-6, 0.3)) / 2e-6
        assert tapeless.grad(function)(x, 0.3) == pytest.approx(difference, rel=1e-6)
    assert compiled(0.2, 0.3) == pytest.approx(function(0.2, 0.3), rel=1e-12)
