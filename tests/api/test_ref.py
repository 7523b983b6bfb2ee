"""References to arrays: the same programs as with JAX 0.10.2, and its values."""

import numpy as np
import pytest

import tapeless
import tapeless.numpy as jnp
from tapeless import freeze, grad, jit, lax, new_ref, ref, vmap
from tapeless.staging.jax_arrays import Array

X = np.arange(3.0)


def written(x):
    r = new_ref(2 * x)
    r[0] = 9.0
    r[...] += 1.0
    before = r[...]
    r[1] = 0.0
    return freeze(r), before


def checked(made):
    last, before = made
    np.testing.assert_array_equal(last, [10.0, 0.0, 5.0])
    np.testing.assert_array_equal(before, [10.0, 3.0, 5.0])


def test_what_is_read_is_a_copy():
    checked(written(X))
    checked(jit(written)(X))
    for f in (vmap(written), jit(vmap(written))):
        checked([part[1] for part in f(np.stack([X + 1, X]))])


def test_derivatives():
    last, before = tapeless.jacrev(written)(X)
    np.testing.assert_array_equal(last, np.diag([0.0, 0.0, 2.0]))
    np.testing.assert_array_equal(before, np.diag([0.0, 2.0, 2.0]))


def added_up(x):
    r = new_ref(0.0)

    def body(i, _):
        r[...] += np.sin(x[i])

    lax.fori_loop(0, 3, body, None)
    return r[...]


def of_a_branch(x):
    r = new_ref(x)
    if x > 0:
        r[...] = 5.0
    return r[...]


def test_loops_and_branches():
    np.testing.assert_allclose(grad(added_up)(X), np.cos(X))
    np.testing.assert_allclose(jit(grad(added_up))(X), np.cos(X))
    assert [jit(of_a_branch)(v) for v in (1.0, -1.0)] == [5.0, -1.0]
    assert [grad(of_a_branch)(v) for v in (1.0, -1.0)] == [0.0, 1.0]


def test_references_from_outside_are_written_to():
    r = new_ref(X)

    @jit
    def given(r, x):
        r[...] += x
        return 2 * r[...]

    @jit
    def read(x):
        r[0] += x
        return r[...]

    for k in (1.0, 2.0):
        np.testing.assert_array_equal(given(r, 1.0), 2 * (X + k))
        np.testing.assert_array_equal(r[...], X + k)
    for k in (1.0, 2.0):
        np.testing.assert_array_equal(read(1.0), X + 2 + [k, 0, 0])
        assert r[0] == 2 + k
    np.testing.assert_array_equal(X, np.arange(3.0))


def test_functions_of_the_module():
    r = new_ref(X)
    assert ref.swap(r, 1, 7.0) == 1.0
    ref.addupdate(r, 1, 1.0)
    ref.set(r, 0, 3.0)
    np.testing.assert_array_equal(ref.get(r), [3.0, 8.0, 2.0])
    assert repr(r) == "Ref([3., 8., 2.], dtype=float64)"
    assert (r.shape, r.dtype, r.ndim, r.size) == ((3,), np.dtype(float), 1, 3)
    assert tapeless.free_ref(r) is None
    empty = tapeless.empty_ref(tapeless.ShapeDtypeStruct((2,), np.float32))
    assert (empty.shape, empty.dtype) == ((2,), np.dtype(np.float32))


def test_arrays_of_tapeless_numpy():
    r = new_ref(jnp.arange(3.0))
    r[0] += 1.0
    assert type(r[...]) is type(freeze(r)) is Array
    np.testing.assert_array_equal(r[...], [1.0, 1.0, 2.0])


def test_what_is_refused():
    with pytest.raises(TypeError, match="unsupported operand"):
        new_ref(X) + 1
    with pytest.raises(TypeError, match="float is no Ref"):
        freeze(1.0)
    with pytest.raises(ValueError, match="there is one memory"):
        new_ref(X, kind="pinned")
    with pytest.raises(AttributeError, match="AbstractRef does not exist"):
        ref.AbstractRef  # noqa: B018 (asking is what is tested)
