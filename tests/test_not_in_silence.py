"""What once gave a wrong number without a word: each is right now, or refused."""

import numpy as np
import pytest

import tapeless


def weighted(p):
    return sum((i + 1) * p[k] ** 2 for i, k in enumerate(p))


@pytest.mark.parametrize("wrap", [lambda p: p, lambda p: (p, 1.0)[0]])
def test_the_order_of_keys_is_seen(wrap):
    f = tapeless.value_and_grad(lambda p: weighted(wrap(p)))
    assert f({"a": 1.0, "b": 2.0}) == (9.0, {"a": 2.0, "b": 8.0})
    assert f({"b": 2.0, "a": 1.0}) == (6.0, {"a": 4.0, "b": 4.0})
    assert f({"a": 1.0, "b": 2.0})[0] == 9.0


def ravelled(a):
    b = a.T.ravel()
    b[0] = 7.0
    return np.sum(a * a)


def shared(x):
    y = x.astype(float, copy=False)
    y[2] *= 3
    return np.sum(x)


def parts(x):
    pieces = np.split(x, 3)
    pieces[1][0] = 9 * x[0]
    return np.sum(x)


@pytest.mark.parametrize(
    ("f", "shape"), [(ravelled, (2, 3)), (shared, (3,)), (parts, (3,))], ids=lambda v: str(v)[:20]
)
def test_what_may_be_a_view_or_a_copy_is_not_overwritten_and_read(f, shape):
    with pytest.raises(tapeless.TapelessError, match="may share memory"):
        tapeless.grad(f)(np.ones(shape))


def test_an_error_on_the_side_not_taken_is_raised_only_there():
    def f(x):
        y = 0.0
        if x < 0:
            y = 1 / 0
        return x * x + y

    assert tapeless.grad(f)(2.0) == 4.0
    with pytest.raises(ZeroDivisionError):
        tapeless.grad(f)(-1.0)


def test_forward_mode_keeps_the_zero_of_where():
    def f(x):
        return np.sqrt(np.where(x > 0, x, 0.0))

    with np.errstate(all="ignore"):
        assert tapeless.jvp(f, (-1.0,), (1.0,)) == (0.0, 0.0)
        assert tapeless.jvp(f, (4.0,), (1.0,)) == (2.0, 0.25)
