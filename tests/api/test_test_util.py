"""check_jvp and check_vjp; check_grads has a file of its own. And jax.dtypes' names."""

from functools import partial

import numpy as np
import pytest

from tapeless import check_grads, dtypes, flatten_util, jvp, ravel_pytree, test_util, typing, vjp


def f(x, p):
    return {"y": np.sin(x) * p["a"], "z": np.sum(x**2)}


ARGS = (np.linspace(0.1, 1.0, 4), {"a": 2.0})


def test_right_derivatives():
    test_util.check_jvp(f, partial(jvp, f), ARGS)
    test_util.check_vjp(f, partial(vjp, f), ARGS)
    assert test_util.check_grads is check_grads


def test_wrong_derivatives():
    def wrong_jvp(primals, tangents):
        value, dot = jvp(f, primals, tangents)
        return value, {**dot, "z": 1.001 * dot["z"]}

    def wrong_vjp(*args):
        value, pull = vjp(f, *args)
        return value, lambda ct: (1.001 * pull(ct)[0], pull(ct)[1])

    with pytest.raises(AssertionError, match=r"tower: the derivative of f is wrong \(jvp\)"):
        test_util.check_jvp(f, wrong_jvp, ARGS, err_msg="tower")
    with pytest.raises(AssertionError, match=r"the derivative of f is wrong \(vjp\)"):
        test_util.check_vjp(f, wrong_vjp, ARGS)


def test_wrong_values():
    other = lambda x, p: {"y": np.sin(x) * p["a"], "z": np.sum(x**2) + 1}  # noqa: E731
    for check, derivative in (
        (test_util.check_jvp, partial(jvp, other)),
        (test_util.check_vjp, partial(vjp, other)),
    ):
        with pytest.raises(AssertionError, match="the value that comes with the derivative"):
            check(f, derivative, ARGS)


def test_dtypes():
    assert dtypes.canonicalize_dtype("f8") == np.float64
    assert dtypes.result_type(1, 2.0, return_weak_type_flag=True) == (np.float64, True)
    assert dtypes.result_type(np.float32(1), 2.0) == np.float32
    assert [dtypes.scalar_type_of(x) for x in (True, 3, np.float32, np.ones(1), 1j, "u1")] == [
        bool,
        int,
        float,
        float,
        complex,
        int,
    ]
    with pytest.raises(TypeError, match="no Python type"):
        dtypes.scalar_type_of("M8[s]")
    assert dtypes.itemsize_bits(np.int8) == 8
    assert dtypes.issubdtype(np.float32, np.floating)
    assert dtypes.finfo(float).eps < 1e-15 < dtypes.iinfo("i4").max
    assert dtypes.float0.itemsize == 0


def test_names_where_jax_has_them():
    assert flatten_util.ravel_pytree is ravel_pytree
    assert typing.ArrayLike is np.typing.ArrayLike
