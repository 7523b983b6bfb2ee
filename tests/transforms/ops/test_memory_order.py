"""order='K' and order='A' read elements as they lie in memory, which views and layouts decide."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.errors import UnsupportedError
from tests.transforms.ops.agreement import check_slopes, check_values

M = np.arange(6.0).reshape(2, 3)
F = np.asfortranarray(M)
CUBE = np.arange(24.0).reshape(2, 3, 4)

READ = {
    "turned": lambda m: m.T.ravel("K"),
    "flattened": lambda m: m.T.flatten("K"),
    "flattened by A": lambda m: m.T.flatten("A"),
    "reshaped by A": lambda m: m.T.reshape((2, 3), order="A"),
    "a function": lambda m: np.ravel(m, order="A"),
    "as columns": lambda m: np.asfortranarray(m).ravel("K"),
    "as rows": lambda m: np.ascontiguousarray(m.T).ravel("K"),
    "required": lambda m: np.require(m, requirements=["F"]).ravel("K"),
    "computed": lambda m: (m.T * 2).ravel("K"),
    "of an einsum": lambda m: np.einsum("ij->ji", m).flatten("A"),
    "reversed": lambda m: m[::-1].T.ravel("K"),
    "reversed by A": lambda m: m[::-1].T.ravel("A"),
    "a column between": lambda m: m[:, None].T.ravel("K"),
    "like": lambda m: (np.zeros_like(m.T) + m.T).ravel("K"),
    "a copy": lambda m: m.T.copy().ravel("K"),
    "a copy that keeps": lambda m: np.copy(m.T).ravel("A"),
    "a copy by columns": lambda m: m.copy("F").ravel("K"),
    "an array by columns": lambda m: np.array(m, order="F").ravel("K"),
    "of another type": lambda m: m.T.astype(np.float32).ravel("K"),
    "of another type by rows": lambda m: m.T.astype(np.float32, order="C").ravel("K"),
}


def filled(m):
    e = np.zeros((3, 2), order="F")
    e[...] = m.T
    return e.ravel("K")


def filled_like(m):
    e = np.empty_like(m.T)
    e[...] = m.T
    return e.ravel("K")


def doubled(m):
    for _ in range(3):
        m = m * 2
    return m.T.ravel("K")


READ |= {"filled": filled, "filled like": filled_like, "of a loop": doubled}


@pytest.mark.parametrize("name", READ)
def test_elements_as_they_lie(name):
    check_values(READ[name], M)
    check_values(READ[name], F)


@pytest.mark.parametrize("name", [n for n in READ if "type" not in n])
def test_slopes(name):
    check_slopes(READ[name], M)


def test_three_axes():
    check_values(lambda m: m.transpose(1, 2, 0).ravel("K"), CUBE)
    check_slopes(lambda m: m.transpose(2, 0, 1)[:, :, ::-1].ravel("K"), CUBE)


STORES = {
    "turned": lambda m: m.T.ravel("K"),
    "by A": lambda m: m.ravel("A"),
    "reshaped": lambda m: m.T.reshape(-1, order="A"),
    "as columns": lambda m: np.asfortranarray(m).ravel("K"),
    "as rows": lambda m: np.ascontiguousarray(m.T).ravel("K"),
    "flattened": lambda m: m.T.flatten("K"),
    "a copy": lambda m: m.T.copy().ravel("K"),
}


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize("m", [M, F], ids=["rows", "columns"])
def test_stores(name, m):
    part = STORES[name]

    def store(a):
        part(a)[1] = 99.0
        return a * 1

    check_values(store, m)


def test_each_order_has_its_program():
    f = jit(lambda m: m.ravel("K"))
    for m in (M, F, M, F):
        np.testing.assert_array_equal(f(m), m.ravel("K"))


def test_elements_of_a_batch_are_arrays_of_their_own():
    def f(m):
        return m.T.ravel("K")

    for run in (vmap(f), jit(vmap(f))):
        np.testing.assert_array_equal(run(CUBE), [f(m) for m in CUBE])


@pytest.mark.parametrize(
    "f",
    [
        lambda m: m[:, [0, 1]].ravel("K"),
        lambda m: np.einsum("ij,kj->ki", m, m).flatten("A"),
        lambda m: np.broadcast_to(m[0], (2, 3)).ravel("K"),
    ],
)
def test_where_the_order_is_not_known(f):
    for run in (jit(f), grad(lambda m: f(m).sum())):
        with pytest.raises(UnsupportedError, match="whose order in memory is not known"):
            run(M)


def test_one_of_several_results():
    s = np.array([[4.0, 1.0], [1.0, 3.0]])
    check_values(lambda a: np.linalg.eigh(a)[1].ravel() ** 2, s)
    check_slopes(lambda a: np.linalg.eigh(a + a.T)[1].ravel() ** 2, s)


def test_columns_that_are_picked_lie_one_after_another():
    def f(m):
        b = m[:, [0, 1]]
        line = b.reshape(-1)  # a copy
        line[1] = 9.0
        return line

    check_values(f, M)
