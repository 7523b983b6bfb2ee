"""Each look at an array that is being computed waits, and gives what an array gives."""

import copy
import operator
import pickle
import sys

import numpy as np
import pytest

import tapeless
import tapeless.numpy as jnp
from tapeless import jit
from tapeless.staging.jax_arrays import Array
from tapeless.staging.pending_arrays import PendingArray


class Call:
    """A call that is done when somebody waits for it."""

    def __init__(self):
        self.finished = False

    def result(self):
        self.finished = True
        self.pending.fill(self.value)

    wait = result


def pending(value):
    """A pending array, which becomes a value when it is looked at."""
    call = Call()
    call.value = np.array(value).view(Array)
    call.pending = PendingArray(call, call.value.dtype, None)
    return call.pending


X = np.arange(6.0).reshape(2, 3) - 2.0

LOOKS = {
    "asarray": np.asarray,
    "array": np.array,
    "array of a dtype": lambda x: np.asarray(x, np.float32),
    "sum by NumPy": np.sum,
    "sum of ours": jnp.sum,
    "a ufunc": np.sin,
    "a ufunc of ours": jnp.sin,
    "reduce": np.add.reduce,
    "outer": lambda x: np.multiply.outer(x, x),
    "element": lambda x: x[1, 2],
    "row": lambda x: x[1],
    "mask": lambda x: x[x > 0],
    "index arrays": lambda x: x[jnp.array([1, 0]), np.array([2, 2])],
    "rows": list,
    "length": len,
    "in": lambda x: 3.0 in x,
    "shape": lambda x: x.shape,
    "dtype": lambda x: x.dtype,
    "sizes": lambda x: (x.size, x.ndim, x.nbytes, x.itemsize),
    "repr": repr,
    "str": str,
    "transpose": lambda x: x.T,
    "method": lambda x: x.sum(axis=0),
    "method that gives a view": lambda x: x.reshape(3, 2),
    "astype": lambda x: x.astype(int),
    "item": lambda x: x.item(3),
    "tolist": lambda x: x.tolist(),
    "at": lambda x: x.at[0, 0].set(9.0),
    "negative": operator.neg,
    "absolute": abs,
    "sum with an array": lambda x: x + X,
    "sum with itself": lambda x: x + x,
    "sum with a number": lambda x: 1 + x,
    "sum with a plain array": lambda x: X - x,
    "matrix product": lambda x: x @ X.T,
    "reflected product": lambda x: X.T @ x,
    "power": lambda x: x**2,
    "quotient": lambda x: 1.0 / (x + 10.0),
    "divmod": lambda x: divmod(x, 2.0),
    "reflected divmod": lambda x: divmod(2.0, x + 10.0),
    "comparison": lambda x: x > 0,
    "equality": lambda x: x == X,
    "bits": lambda x: (x > 0) & (x < 2),
    "round": lambda x: round(x[0, 0]),
    "concatenate": lambda x: np.concatenate([x, x]),
    "stack of ours": lambda x: jnp.stack([x, X]),
    "where": lambda x: jnp.where(x > 0, x, 0.0),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "dlpack": np.from_dlpack,
    "interface": lambda x: x.__array_interface__["shape"],
    "device": lambda x: x.device,
    "device_put": tapeless.device_put,
    "device_get": tapeless.device_get,
    "typeof": tapeless.typeof,
    "tree": lambda x: tapeless.tree.map(lambda a: a + 1, {"a": x}),
    "jit": jit(lambda x: x * 2.0),
    "grad": tapeless.grad(lambda x: jnp.sum(x**2)),
    "vjp": lambda x: tapeless.vjp(lambda x: x**2, x)[0],
    "vmap": tapeless.vmap(lambda x: x[0]),
    "pmap": lambda x: tapeless.pmap(lambda x: x * 2.0)(x[:1]),
    "jacobian": tapeless.jacfwd(lambda x: x[0] * 2.0),
    "lax": lambda x: tapeless.lax.dynamic_slice(x, (0, 1), (2, 2)),
    "nn": lambda x: tapeless.nn.relu(x),
    "linalg": lambda x: jnp.linalg.norm(x),
    "random": lambda x: tapeless.random.normal(tapeless.random.key(0), (2, 3)) + x,
    "isinstance": lambda x: (isinstance(x, np.ndarray), isinstance(x, tapeless.Array)),
    "a plain array with it": lambda x: np.add(X, 1.0, out=np.empty((2, 3))) + x,
    "assignment of it": lambda x: np.zeros((3, 2, 3)).__setitem__(1, x),
    "eval_shape": lambda x: tapeless.eval_shape(lambda x: x + 1, x),
    "ravel": lambda x: tapeless.flatten_util.ravel_pytree({"x": x})[0],
}


def equal(a, b):
    assert a.__class__ is type(b)
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            equal(x, y)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            equal(a[key], b[key])
    else:
        np.testing.assert_array_equal(a, b)
    return True


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_a_look_gives_what_an_array_gives(look):
    assert equal(look(pending(X)), look(X.copy().view(Array)))


NUMBERS = {
    "float": float,
    "int": int,
    "complex": complex,
    "bool": bool,
    "format": lambda x: format(x, ".3f"),
    "round": round,
    "truth": lambda x: x > 1 and "yes",
    "range": lambda x: list(range(3))[x.astype(int)],
    "sum": lambda x: sum([x, x]),
}


@pytest.mark.parametrize("look", NUMBERS.values(), ids=NUMBERS)
def test_numbers(look):
    assert look(pending(2.5)) == look(np.array(2.5).view(Array))


def test_an_integer_is_an_index():
    assert [1, 2, 3][pending(1)] == 2


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python asks for the buffer since 3.12")
def test_memoryview():
    assert memoryview(pending(X)).tolist() == X.tolist()


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ipow"])
def test_operators_in_place_give_new_arrays(name):
    x = pending(X)
    y = getattr(operator, name)(x, 2.0)
    assert type(y) is Array
    np.testing.assert_array_equal(x, X)


def test_elements_can_be_set():
    x = pending(X)
    x[0, 0] = 7.0
    x[1] = pending(X[0])
    np.testing.assert_array_equal(x, [[7.0, -1.0, 0.0], [-2.0, -1.0, 0.0]])


def test_it_is_no_key():
    with pytest.raises(TypeError, match="unhashable"):
        hash(pending(X))


@pytest.mark.parametrize("name", ["foo", "__cuda_array_interface__", "_repr_html_"])
def test_what_no_array_has_is_not_waited_for(name):
    x = pending(X)
    assert not hasattr(x, name)
    assert not x.is_ready()


def test_what_is_known_is_not_waited_for():
    x = pending(X)
    assert x.dtype == np.float64
    assert str(x.device) == "cpu:0"
    assert not x.committed
    assert not x.is_deleted()
    assert not x.is_ready()


def test_it_fits_where_arrays_are_read_from_outside():
    x = pending(X)
    for program in (jit(lambda y: x + y), tapeless.grad(lambda y: jnp.sum(x * y))):
        np.testing.assert_array_equal(program(X), program(X))
    np.testing.assert_array_equal(jit(lambda y: x * y)(X), X * X)


def test_a_key_that_is_pending_counts_as_used():
    key = pending(np.array(tapeless.random.key(3)))
    tapeless.random.normal(key)
    with pytest.warns(tapeless.random.KeyReuseWarning):
        tapeless.random.normal(key)
