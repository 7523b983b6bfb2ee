"""A store to the result of a function is seen in its argument where NumPy gives a view."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import AliasError, ArgumentError

M = np.arange(1.0, 7.0).reshape(2, 3)

FUNCTIONS = {
    "item": lambda m: m[1],
    "slice": lambda m: m[:, ::2],
    "backwards": lambda m: m[-1][::-1],
    "ellipsis": lambda m: m[..., 1],
    "new axis": lambda m: m[:, None],
    "list": lambda m: m[[0, 1]],
    "mask": lambda m: m[np.array([True, False])],
    "T": lambda m: m.T,
    "mT": lambda m: m.mT,
    "transpose": lambda m: np.transpose(m),
    "swapaxes": lambda m: m.swapaxes(0, 1),
    "moveaxis": lambda m: np.moveaxis(m, 0, 1),
    "rollaxis": lambda m: np.rollaxis(m, 1),
    "reshape": lambda m: m.reshape(3, 2),
    "reshape of T": lambda m: m.T.reshape(6),
    "reshape of a slice": lambda m: m[:, :2].reshape(-1),
    "reshape of rows": lambda m: m[:1].reshape(-1),
    "reshape of a step": lambda m: m[:, ::2].reshape(2, 1, 2),
    "ravel": lambda m: m.ravel(),
    "ravel of T": lambda m: m.T.ravel(),
    "ravel of T in Fortran's order": lambda m: m.T.ravel(order="F"),
    "ravel of a column": lambda m: m[:, 1].ravel(),
    "ravel of a row": lambda m: m[1].ravel(),
    "reshape of a column": lambda m: m[:, 1].reshape(2, 1),
    "flatten": lambda m: m.flatten(),
    "squeeze": lambda m: m[:1].squeeze(),
    "expand_dims": lambda m: np.expand_dims(m, 1),
    "atleast_3d": lambda m: np.atleast_3d(m),
    "asarray": lambda m: np.asarray(m),
    "array": lambda m: np.array(m),
    "array with ndmin": lambda m: np.array(m, ndmin=3),
    "array without copy": lambda m: np.array(m, copy=None),
    "copy": lambda m: m.copy(),
    "np.copy": lambda m: np.copy(m),
    "astype": lambda m: m.astype(float),
    "astype without copy": lambda m: m.astype(float, copy=False),
    "astype of others": lambda m: m.astype(np.float32, copy=False),
    "ascontiguousarray": lambda m: np.ascontiguousarray(m),
    "ascontiguousarray of T": lambda m: np.ascontiguousarray(m.T),
    "flip": lambda m: np.flip(m, 1),
    "rot90": lambda m: np.rot90(m),
    "real": lambda m: m.real,
    "split": lambda m: np.split(m, 3, axis=1)[1],
    "array_split": lambda m: np.array_split(m, 2, axis=1)[0],
    "vsplit": lambda m: np.vsplit(m, 2)[1],
    "unstack": lambda m: np.unstack(m)[1],
    "vstack": lambda m: np.vstack([m]),
    "concatenate": lambda m: np.concatenate([m]),
    "stack": lambda m: np.stack([m]),
    "take": lambda m: np.take(m, 0, axis=0),
    "tile": lambda m: np.tile(m, 1),
    "roll": lambda m: np.roll(m, 0),
    "sum over nothing": lambda m: m.sum(axis=()),
    "plus": lambda m: +m,
    "times one": lambda m: m * 1,
    "where": lambda m: np.where(True, m, 0.0),
    "diagonal": lambda m: np.diagonal(m),
    "diag": lambda m: np.diag(m),
    "broadcast_to": lambda m: np.broadcast_to(m[0], (2, 3)),
    "broadcast_to itself": lambda m: np.broadcast_to(m, (2, 3)),
    "broadcast_to of a number": lambda m: np.broadcast_to(2.0, (2, 3)),
    "ravel of doubled T": lambda m: (m.T * 2).ravel(),
    "ravel of a sum": lambda m: (m[::-1] + m).ravel(),
    "ravel of a product": lambda m: (m[:, ::-1] * m[:, [0, 1, 2]]).ravel(),
}


@pytest.mark.parametrize("made", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("start", [lambda m: m, lambda m: m * 1.0], ids=["argument", "own"])
def test_stores_are_seen_where_numpy_gives_a_view(made, start):
    def program(m):
        base = start(m)
        part = made(base)
        part[...] = part * 10.0 + 1.0
        base[0, 0] += 0.5
        return np.sum(base * np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])), part

    try:
        expected = program(M.copy())
    except ValueError:
        with pytest.raises(ValueError, match="read-only"):
            tapeless.grad(program, has_aux=True)(M)
        return
    slope, part = tapeless.grad(program, has_aux=True)(M)
    np.testing.assert_array_equal(part, expected[1])
    for at in np.ndindex(M.shape):
        moved = M.copy()
        moved[at] += 1.0  # the programs are linear
        assert slope[at] == pytest.approx(program(moved)[0] - expected[0])


def raveled(a):
    a.ravel()[1] = 5.0
    return np.sum(a * a)


def reshaped(a):
    a.reshape(-1)[1] = 5.0
    return np.sum(a * a)


def ravel_of_part(a):
    a[-1:].ravel()[0] = 5.0
    return np.sum(a * a)


def ravel_of_sums(a):
    b = a[::-1] + a
    c = (a[:, ::-1] * 2.0).T
    b.ravel()[1] = 7.0 * a[0, 0]
    c.ravel()[1] = 5.0 * a[0, 1]
    return np.sum(b * b) + np.sum(c * a.T)


def flattened_by_pairs(a):
    a.reshape(a.shape[0], -1)[0, 0] = 5.0
    return np.sum(a * a)


LAYOUTS = {
    "rows": M,
    "columns": np.asfortranarray(M),
    "transposed": np.ascontiguousarray(M.T).T,
    "every second": np.repeat(M, 2, axis=1)[:, ::2],
    "backwards": M[::-1],
    "one row": M[:1],
    "rows of more": np.repeat(M, 2, axis=0)[::2],
}


@pytest.mark.parametrize("function", [raveled, reshaped, ravel_of_part, flattened_by_pairs])
def test_the_memory_order_of_an_argument_is_seen(function):
    slopes = tapeless.value_and_grad(function)
    for name, a in [*LAYOUTS.items(), *LAYOUTS.items()]:
        base = (a.base if a.base is not None else a).copy(order="K")
        same = np.ndarray(a.shape, float, base, _offset(a), a.strides)
        value, slope = slopes(a)
        assert value == function(same), name
        np.testing.assert_array_equal(slope, np.where(same == a, 2 * a, 0.0), err_msg=name)


def _offset(a):
    whole = a if a.base is None else a.base
    return a.__array_interface__["data"][0] - whole.__array_interface__["data"][0]


@pytest.mark.parametrize("name", LAYOUTS)
def test_what_is_computed_by_element_keeps_the_order_of_the_axes(name):
    a = LAYOUTS[name]
    value, _ = tapeless.value_and_grad(ravel_of_sums)(a)
    assert value == pytest.approx(ravel_of_sums(a))


def test_programs_that_do_not_store_serve_all_memory_orders():
    slope = tapeless.grad(lambda a: np.sum(a.ravel() ** 2))
    slope(M)
    text = slope.source()
    slope(np.asfortranarray(M))
    assert slope.source() is text


# -- arguments that share memory, or may not be overwritten


def first_stored(a, b):
    a[0] = 3.0
    return np.sum(a * b)


def test_arguments_that_share_memory_are_refused_where_one_is_stored_to():
    slope, x = tapeless.grad(first_stored), np.arange(1.0, 5.0)
    np.testing.assert_array_equal(slope(x, x.copy()), [0.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(slope(x[:2], x[2:]), [0.0, 4.0])
    for a, b in ((x, x), (x[:3], x[1:])):
        with pytest.raises(ArgumentError, match="'a' and 'b' share memory"):
            slope(a, b)
    product = tapeless.grad(lambda a, b: np.sum(a * b))
    np.testing.assert_array_equal(product(x, x), x)


def test_an_array_given_twice_inside_a_program_is_refused_too():
    def nested(x):
        return np.sum(tapeless.grad(first_stored)(x, x))

    with pytest.raises(ArgumentError, match="share memory"):
        tapeless.grad(nested)(np.ones(3))


def test_a_read_only_argument_is_not_stored_to():
    slope, x = tapeless.grad(raveled), M.copy()
    slope(x)
    x.flags.writeable = False
    with pytest.raises(AliasError, match="assignment destination is read-only"):
        slope(x)
    np.testing.assert_array_equal(tapeless.grad(lambda a: np.sum(a * a))(x), 2 * M)


def test_nested_derivatives_leave_arrays_of_the_program_alone():
    def outer(x):
        y = 2.0 * x
        slope = tapeless.grad(lambda a, b: second_stored(a, b))(x, y)
        return np.sum(slope * y)

    def second_stored(a, b):
        b[0] = a[0]
        return np.sum(a * b)

    x = np.array([0.5, -1.0])
    # slope = (2 a[0], b[1]), and y stays 2 x
    np.testing.assert_allclose(tapeless.grad(outer)(x), [8 * x[0], 8 * x[1]])


def test_the_rest_of_a_reshape_may_be_nothing():
    """The lengths of both arguments are equal, which only their values say."""

    def stored(x, y):
        z = np.zeros_like(y)
        z[1:] = y[1:] * x[:-1]
        z.reshape(x.shape[0], -1)[0, 0] = x[1] ** 2
        return z

    x = np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(tapeless.jvp(stored, (x, 3 * x), (x, 0 * x))[1], [2, -1.5, -6])
