"""What programs give, store and derive, compared with NumPy and with finite differences."""

import numpy as np

import tapeless
from tapeless import grad, jit


def copies(args):
    return tuple(np.array(a, order="K") if isinstance(a, np.ndarray) else a for a in args)


def emitted(f):
    """The function as emitted NumPy code."""
    return lambda *args: tapeless.linearize(lambda w: f(*args), 1.0)[0]


def outcome(f, args):
    """What a function gives, or the class of what it raises, and its arguments after the call."""
    args = copies(args)
    try:
        return f(*args), args
    except (TypeError, ValueError, IndexError, OverflowError, AttributeError) as e:
        return type(e), args


def assert_same(found, wanted, rtol=1e-9):
    if isinstance(wanted, type):
        assert isinstance(found, type), found
        assert issubclass(found, wanted)
    elif isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            assert_same(a, b, rtol)
    elif wanted is None or isinstance(wanted, str):
        assert found == wanted
    else:
        assert np.asarray(found).dtype == np.asarray(wanted).dtype
        assert np.shape(found) == np.shape(wanted)
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


def check_values(f, *args, rtol=1e-9):
    """Value, dtype, shape, errors and what is stored to arguments are those of NumPy."""
    wanted = outcome(f, args)
    for run in (emitted(f), jit(f)):
        found = outcome(run, args)
        assert_same(found[0], wanted[0], rtol)
        assert_same(found[1], wanted[1], rtol)


def check_slopes(f, *args, rtol=1e-5):
    """The derivatives of a weighted sum of the result by all arguments that are floats."""

    def total(*values):
        made = np.ravel(f(*values))
        return np.sum(np.cos(np.arange(made.size) + 1.0) * (made.real + 0.5 * made.imag))

    for k, x in enumerate(args):
        if np.asarray(x).dtype.kind != "f":
            continue
        v = np.random.default_rng(k).normal(size=np.shape(x))

        def moved(h, k=k, x=x, v=v):
            there = x + h * v if np.shape(x) else float(x + h * v)
            return (*copies(args[:k]), there, *copies(args[k + 1 :]))

        wanted = (total(*moved(1e-6)) - total(*moved(-1e-6))) / 2e-6
        for slope in (grad(total, argnums=k), jit(grad(total, argnums=k))):
            found = np.sum(slope(*copies(args)) * v)
            np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-6)
