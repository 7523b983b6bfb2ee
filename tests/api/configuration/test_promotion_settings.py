"""Settings that refuse promotions of ranks and dtypes, as JAX's of the same names do."""

import warnings

import numpy as np
import pytest

import tapeless
from tapeless import config, grad, jit, numpy_dtype_promotion, numpy_rank_promotion, vmap
from tapeless import numpy as jnp

A, B = np.ones((2, 3)), np.ones(3)
F4, F8, I4 = np.ones(2, "f4"), np.ones(2), np.ones(2, "i4")


def in_place(a, b):
    a = a.copy()
    a += b
    return a


# what JAX 0.10.2 does with them
REFUSED_RANKS = {
    "add": lambda a, b: a + b,
    "from the left": lambda a, b: b * a,
    "ufunc": lambda a, b: np.arctan2(a, b),
    "less": lambda a, b: a < b,
    "in place": in_place,
}
ACCEPTED_RANKS = {
    "scalar": lambda a, b: a + 1.0,
    "number of NumPy": lambda a, b: a * np.float64(2.0),
    "no axes": lambda a, b: a + np.sum(b),
    "matmul": lambda a, b: a @ b,
    "stack": lambda a, b: np.stack([a, a]) @ np.ones((3, 3)),
    "inside": lambda a, b: np.var(a, axis=0),
    "written out": lambda a, b: a + b[None, :],
    "broadcast_to": lambda a, b: a + np.broadcast_to(b, a.shape),
}


@pytest.mark.parametrize("f", REFUSED_RANKS.values(), ids=REFUSED_RANKS)
def test_refused_ranks(f):
    compiled = jit(f)
    want = f(A, B)
    np.testing.assert_array_equal(compiled(A, B), want)  # staged before
    with numpy_rank_promotion("raise"):
        with pytest.raises(ValueError, match=r"different ranks.*\n.*test_promotion_settings") as e:
            compiled(A, B)
        assert isinstance(e.value, tapeless.TapelessError)
        with pytest.raises(ValueError, match="different ranks"):
            f(jnp.asarray(A), jnp.asarray(B))
    with numpy_rank_promotion("warn"):
        with pytest.warns(UserWarning, match="joins arrays of different ranks") as told:
            np.testing.assert_array_equal(compiled(A, B), want)
        assert [w.filename for w in told] == [__file__]
        np.testing.assert_array_equal(compiled(A, B), want)  # said once
    np.testing.assert_array_equal(compiled(A, B), want)


@pytest.mark.parametrize("f", ACCEPTED_RANKS.values(), ids=ACCEPTED_RANKS)
def test_accepted_ranks(f):
    with numpy_rank_promotion("raise"):
        np.testing.assert_allclose(jit(f)(A, B), f(A, B))
        np.testing.assert_allclose(f(jnp.asarray(A), jnp.asarray(B)), f(A, B))


REFUSED_DTYPES = {
    "floats": lambda: (lambda x, y: x + y, F4, F8),
    "integer and float": lambda: (lambda x, y: x * y, I4, F8),
    "mask": lambda: (lambda x, y: x * (y > 0), F8, F8),
    "integer and Python's float": lambda: (lambda x, y: x + 1.0, I4, I4),
    "float and Python's complex": lambda: (lambda x, y: x + 1j, F8, F8),
    "number of NumPy": lambda: (lambda x, y: x * np.float32(2), F8, F8),
    "less": lambda: (lambda x, y: x < y, F4, F8),
    "matmul": lambda: (lambda x, y: x @ y, F4, F8),
    "power": lambda: (lambda x, y: x**y, F8, I4),
}
ACCEPTED_DTYPES = {
    "float and Python's float": lambda: (lambda x, y: x + 1.0, F4, F8),
    "float and Python's integer": lambda: (lambda x, y: x + 1, F4, F8),
    "power": lambda: (lambda x, y: y**2, F4, F8),
    "quotient": lambda: (lambda x, y: x / x, I4, I4),
    "mean": lambda: (lambda x, y: np.mean(x), I4, I4),
    "written out": lambda: (lambda x, y: x.astype(np.float64) + y, F4, F8),
}


@pytest.mark.parametrize("case", REFUSED_DTYPES.values(), ids=REFUSED_DTYPES)
def test_refused_dtypes(case):
    f, x, y = case()
    compiled = jit(f)
    want = compiled(x, y)
    with numpy_dtype_promotion("strict"):
        with pytest.raises(tapeless.dtypes.TypePromotionError, match="joins different dtypes"):
            compiled(x, y)
        with pytest.raises(ValueError, match="joins different dtypes"):
            f(jnp.asarray(x), jnp.asarray(y))
    np.testing.assert_array_equal(compiled(x, y), want)


@pytest.mark.parametrize("case", ACCEPTED_DTYPES.values(), ids=ACCEPTED_DTYPES)
def test_accepted_dtypes(case):
    f, x, y = case()
    with numpy_dtype_promotion("strict"):
        np.testing.assert_allclose(jit(f)(x, y), f(x, y))
        np.testing.assert_allclose(f(jnp.asarray(x), jnp.asarray(y)), f(x, y))


def test_what_is_derived_may_promote():
    def f(x, w):
        return np.sum(np.tanh(w @ x) ** 2)

    batched = vmap(lambda x: x + B)
    with numpy_rank_promotion("raise"), numpy_dtype_promotion("strict"):
        assert grad(f, 1)(B, A).shape == A.shape
        assert batched(A).shape == A.shape  # for one element the ranks are the same


@pytest.mark.parametrize(
    "way",
    [
        lambda f: tapeless.vjp(f, A)[1](A),
        lambda f: tapeless.jvp(f, (A,), (A,)),
        lambda f: tapeless.linearize(f, A)[0],
        lambda f: tapeless.pmap(f)(A[None]),
        lambda f: tapeless.hessian(lambda x: np.sum(f(x)))(A),
        lambda f: tapeless.eval_shape(f, A),
        lambda f: tapeless.make_jaxpr(f)(A),
        lambda f: tapeless.value_and_grad(lambda x: np.sum(f(x)))(A),
    ],
)
def test_all_transformations(way):
    def f(x):
        return x * B

    way(f)
    with numpy_rank_promotion("raise"), pytest.raises(ValueError, match="different ranks"):
        way(f)
    way(f)


@pytest.mark.parametrize("argument", [A, [A], (A, A), [1.0, 2.0, 3.0]])
def test_functions_that_were_called_often(argument):
    f = jit(lambda x: [np.asarray(y) + B[None, :] + np.ones((2, 1, 3)) for y in x])
    for _ in range(40):
        f(argument)
    with numpy_rank_promotion("raise"), pytest.raises(ValueError, match="different ranks"):
        f(argument)
    f(argument)


def test_functions_of_tapeless_numpy():
    with numpy_rank_promotion("raise"), pytest.raises(ValueError, match="different ranks"):
        jnp.add(A, B)
    np.testing.assert_array_equal(jnp.add(A, B), A + B)


def test_what_passed_is_not_staged_again():
    f = jit(lambda x: x * 2.0)
    f(B)
    with numpy_rank_promotion("raise"):
        f(B)
    before = len(f.compilations)
    for _ in range(3):
        with numpy_rank_promotion("raise"):
            f(B)
        f(B)
    assert len(f.compilations) == before


def test_as_updates():
    config.update("jax_numpy_rank_promotion", "raise")
    try:
        with pytest.raises(ValueError, match="different ranks"):
            grad(lambda x: np.sum(x + B))(A)
    finally:
        config.update("jax_numpy_rank_promotion", "allow")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grad(lambda x: np.sum(x + B))(A)
