"""Every function, against NumPy or by hand, against jax.lax, and against finite differences."""

import numpy as np
import pytest

import tapeless
from tapeless import lax
from tests.api.lax.cases_arrays import ARRAYS
from tests.api.lax.cases_elementwise import BINARY, ELEMENTWISE, PAIRS, STEPS, UNARY
from tests.api.lax.tables import agree, by_jax, check_slopes, jax_lax, params

CASES = {**ELEMENTWISE, **ARRAYS}
BY_HAND = {name: case for name, case in CASES.items() if case.want is not None}
SMOOTH = {name: case for name, case in CASES.items() if case.smooth}
STEADY = {name: case for name, case in CASES.items() if case.staged and not case.smooth}


@pytest.mark.parametrize("case", params(BY_HAND))
def test_by_hand(case):
    agree(case.call(lax, *case.operands), case.want(*case.operands), case.rtol)


@pytest.fixture(scope="module")
def theirs():
    return by_jax({k: (c.call, c.operands) for k, c in CASES.items() if c.jax})


@pytest.mark.parametrize("name", [k for k, c in CASES.items() if c.jax])
def test_as_jax_does(name, theirs):
    case = CASES[name]
    agree(case.call(lax, *case.operands), theirs[name], case.rtol)


@pytest.mark.parametrize("case", params(SMOOTH))
def test_slopes(case):
    check_slopes(lambda *xs: case.call(lax, *xs), case.operands, case.smooth)


@pytest.mark.parametrize(
    "case", params({k: c for k, c in CASES.items() if c.staged and not c.smooth})
)
def test_staged(case):
    with tapeless.disable_jit():
        got = tapeless.jit(lambda *xs: case.call(lax, *xs))(*case.operands)
    agree(got, case.call(lax, *case.operands), case.rtol)


@pytest.mark.parametrize("name", ["logistic", "clamp", "dynamic_slice", "top_k", "cumsum", "pad"])
def test_batched(name):
    case = CASES[name]
    many = tuple(np.stack([x, 2 * x, x / 3]) if x.dtype.kind == "f" else x for x in case.operands)
    axes = tuple(0 if x.dtype.kind == "f" else None for x in case.operands)
    got = tapeless.vmap(lambda *xs: case.call(lax, *xs), in_axes=axes)(*many)
    rows = [
        tuple(x if a is None else x[k] for x, a in zip(many, axes, strict=True)) for k in range(3)
    ]
    made = [case.call(lax, *row) for row in rows]
    want = (
        tuple(map(np.stack, zip(*made, strict=True))) if isinstance(got, tuple) else np.stack(made)
    )
    agree(got, want)


@pytest.mark.parametrize(
    "name", ["logistic", "round", "clamp", "shift_left", "dynamic_slice", "pad"]
)
def test_compiled(name):
    case = CASES[name]
    got = tapeless.jit(lambda *xs: case.call(lax, *xs))(*case.operands)
    agree(got, case.call(lax, *case.operands))


@pytest.mark.filterwarnings("ignore:.*encountered")
@pytest.mark.parametrize("dtype", [np.bool_, np.int32, np.uint8, np.float32, np.complex64])
def test_dtypes_are_those_of_jax(dtype):
    """The same are taken and refused, and the results are of the same dtype."""
    theirs, one = jax_lax(), np.full(2, 0.5 if np.dtype(dtype).kind in "fc" else 1, dtype)
    eval_shape = pytest.importorskip("jax").eval_shape
    counts = {**dict.fromkeys([*UNARY, *STEPS], 1), **dict.fromkeys([*BINARY, *PAIRS], 2)}
    for name, count in counts.items():
        operands = (one,) * count
        try:
            want = eval_shape(getattr(theirs, name), *operands).dtype
        except TypeError:
            with pytest.raises(TypeError):
                getattr(lax, name)(*operands)
        else:
            if (name, one.dtype.kind) != ("atan2", "c"):
                assert np.asarray(getattr(lax, name)(*operands)).dtype == want, name


def test_upper_halves_of_products_of_long_words():
    x, y = np.array([2**62, -(2**62), -3]), np.array([8, 8, 2**62])
    want = [(int(a) * int(b)) >> 64 for a, b in zip(x, y, strict=True)]
    for each in (lax.mulhi, tapeless.jit(lax.mulhi)):
        np.testing.assert_array_equal(each(x, y), want)
