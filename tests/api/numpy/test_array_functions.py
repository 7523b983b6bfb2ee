"""tapeless.numpy: names and keywords of jax.numpy, the same values eagerly and compiled."""

import pickle

import numpy as np
import pytest

import tapeless
import tapeless.numpy as jnp
from tapeless import grad, jit, vmap
from tapeless.staging.jax_arrays import Array
from tapeless.transforms.errors import ArgumentError, UnsupportedError

NAN = np.nan
X = np.array([3, 1, 3, 0, 2])
F = np.array([0.5, -1.0, 2.0, 0.25])
UNIQUE = ([0, 1, 2, 3], [3, 1, 4, 0], [3, 1, 3, 0, 2], [1, 1, 1, 2])
M = np.array([[4.0, 1.0], [0.0, 3.0]])

#: (name, arguments, keywords, the value by hand)
CALLS = [
    ("nonzero", (X,), {"size": 6, "fill_value": -1}, ([0, 1, 2, 4, -1, -1],)),
    ("nonzero", (X,), {"size": 2}, ([0, 1],)),
    ("nonzero", (M,), {"size": 4, "fill_value": (7, 8)}, ([0, 0, 1, 7], [0, 1, 1, 8])),
    ("flatnonzero", (M,), {"size": 2}, [0, 1]),
    ("argwhere", (M,), {"size": 4}, [[0, 0], [0, 1], [1, 1], [0, 0]]),
    ("where", (X > 1,), {"size": 4, "fill_value": 9}, ([0, 2, 4, 9],)),
    ("where", (X > 1, F[0], -1.0), {}, [0.5, -1.0, 0.5, -1.0, 0.5]),
    ("extract", (X > 1, X * 10), {"size": 4}, [30, 30, 20, 0]),
    ("compress", ([True, False], M), {"size": 1}, [4.0]),
    ("compress", ([True, False], M, 1), {"size": 2}, [[4.0, 0.0], [0.0, 0.0]]),
    ("mask_indices", (2, np.triu), {"size": 3}, ([0, 0, 1], [0, 1, 1])),
    ("bincount", (X,), {"length": 6}, [1, 1, 1, 2, 0, 0]),
    ("bincount", (X,), {"length": 2}, [1, 1]),
    ("bincount", (X, X * 0.5), {"length": 4}, [0.0, 0.5, 1.0, 3.0]),
    ("repeat", (F[:2], [2, 1]), {"total_repeat_length": 4}, [0.5, 0.5, -1.0, -1.0]),
    ("repeat", (F[:2], [2, 1]), {"total_repeat_length": 2}, [0.5, 0.5]),
    ("repeat", (M, 2), {"axis": 1, "total_repeat_length": 3}, [[4, 4, 1], [0, 0, 3]]),
    ("unique", (X,), {"size": 3}, [0, 1, 2]),
    ("unique", (X,), {"size": 6, "fill_value": -1}, [0, 1, 2, 3, -1, -1]),
    ("unique", (X,), {"size": 5}, [0, 1, 2, 3, 0]),
    ("unique", (X, True, True, True), {"size": 4}, UNIQUE),
    ("unique_all", (X,), {"size": 4}, UNIQUE),
    ("unique_counts", (X,), {"size": 5}, ([0, 1, 2, 3, 0], [1, 1, 1, 2, 0])),
    ("unique_inverse", (X,), {"size": 4}, ([0, 1, 2, 3], [3, 1, 3, 0, 2])),
    ("unique_values", (X,), {"size": 4}, [0, 1, 2, 3]),
    ("union1d", (X, [7, 1]), {"size": 6}, [0, 1, 2, 3, 7, 0]),
    ("intersect1d", (X, [3, 0, 8]), {"size": 3}, [0, 3, 0]),
    ("setdiff1d", (X, [3, 8]), {"size": 4}, [0, 1, 2, 0]),
    ("setxor1d", (X, [3, 8]), {"size": 5}, [0, 1, 2, 8, 0]),
    ("take", (F, [1, 9, -1]), {"mode": "fill"}, [-1.0, NAN, 0.25]),
    ("take", (F, [1, 9, -9]), {"mode": "fill", "fill_value": 7.0}, [-1.0, 7.0, 7.0]),
    ("take", (F, [1, 9, -9]), {"mode": "clip"}, [-1.0, 0.25, 0.5]),
    ("take", (F, [1, 9, -9]), {"mode": "wrap"}, [-1.0, -1.0, 0.25]),
    ("take", (M, [1, 0]), {"axis": 1}, [[1.0, 4.0], [3.0, 0.0]]),
    ("take_along_axis", (M, [[1], [5]]), {"axis": 1, "mode": "fill"}, [[1.0], [NAN]]),
    ("take_along_axis", (M, [[1], [5]]), {"axis": 1, "mode": "clip"}, [[1.0], [3.0]]),
    ("take_along_axis", (M, [[-1], [0]]), {"axis": 1}, [[1.0], [0.0]]),
    ("put", (F, [0, 2], 9.0), {"inplace": False}, [9.0, -1.0, 9.0, 0.25]),
    ("put", (F, [0, 7], 9.0), {"inplace": False, "mode": "clip"}, [9.0, -1.0, 2.0, 9.0]),
    ("place", (F, F > 0, [1.0, 2.0]), {"inplace": False}, [1.0, -1.0, 2.0, 1.0]),
    ("put_along_axis", (M, [[1], [0]], 7.0, 1), {"inplace": False}, [[4.0, 7.0], [7.0, 3.0]]),
    ("fill_diagonal", (M, 9.0), {"inplace": False}, [[9.0, 1.0], [0.0, 9.0]]),
    ("argsort", (X,), {"descending": True}, [0, 2, 4, 1, 3]),
    ("argsort", (X,), {"descending": True, "stable": False}, [2, 0, 4, 1, 3]),
    ("argsort", (M, None), {}, [2, 1, 3, 0]),
    ("sort", (X,), {"descending": True}, [3, 3, 2, 1, 0]),
    ("sort", (M,), {"axis": 0, "descending": True}, [[4.0, 3.0], [0.0, 1.0]]),
    ("sum", (X.astype(np.int8),), {"promote_integers": False}, np.int8(9)),
    ("sum", (X,), {"where": X > 1, "initial": 100}, 108),
    ("prod", (F,), {"axis": 0, "keepdims": True}, [-0.25]),
    ("astype", (F, np.int32), {}, np.array([0, -1, 2, 0], np.int32)),
    ("dstack", ([F, F],), {"dtype": np.float32}, np.dstack([F, F]).astype(np.float32)),
    ("polymul", ([0.0, 1.0], [0.0, 0.0, 2.0]), {}, [0.0, 0.0, 0.0, 2.0]),
    ("polydiv", ([1.0, 2.0, 3.0, 5.0], [1.0, 1.0]), {}, ([1.0, 1.0, 2.0], [0.0, 0.0, 0.0, 3.0])),
    ("ravel_multi_index", ((X[1:4:2], X[1:4:2]), (2, 2)), {"dtype": np.int32}, np.int32([3, 0])),
    ("dot", (M, F[:2]), {"preferred_element_type": np.float32}, np.array([1.0, -3.0], np.float32)),
    ("vdot", (F, F), {"precision": "highest"}, F @ F),
    ("inner", (M, M), {}, M @ M.T),
    ("matmul", (M, M), {}, M @ M),
    ("matvec", (M, F[:2]), {}, [1.0, -3.0]),
    ("vecmat", (F[:2], M), {}, F[:2] @ M),
    ("vecdot", (M, M), {}, [17.0, 9.0]),
    ("tensordot", (M, M), {"axes": 1}, M @ M),
    ("einsum", ("ij,jk,k->i", M, M, F[:2]), {}, M @ M @ F[:2]),
    ("convolve", (F, [1.0, 2.0]), {"mode": "valid"}, [0.0, 0.0, 4.25]),
    ("correlate", (F, [1.0, 2.0]), {}, [-1.5, 3.0, 2.5]),
    ("zeros", (2,), {"device": None}, [0.0, 0.0]),
    ("searchsorted", ([1.0, 2.0], F), {"method": "sort"}, [0, 0, 1, 0]),
    ("delete", (F, 1), {"assume_unique_indices": True}, [0.5, 2.0, 0.25]),
    ("polyval", (F, 2.0), {"unroll": 4}, 4.25),
    ("linalg.cholesky", (M,), {}, np.linalg.cholesky((M + M.T) / 2)),
    ("linalg.cholesky", (M,), {"upper": True}, np.linalg.cholesky((M + M.T) / 2).T),
    ("linalg.eigh", (M,), {}, tuple(np.linalg.eigh((M + M.T) / 2))),
    ("linalg.eigvalsh", (M,), {}, np.linalg.eigvalsh((M + M.T) / 2)),
    ("linalg.pinv", (M,), {"rtol": 1e-9}, np.linalg.pinv(M)),
    ("linalg.pinv", (M * [[1.0], [0.0]],), {"rtol": 1e-9}, np.linalg.pinv(M * [[1.0], [0.0]])),
    ("linalg.matrix_rank", (M,), {"rtol": 0.9}, 1),
    ("linalg.slogdet", (M,), {"method": "qr"}, (1.0, np.log(12.0))),
    ("linalg.svd", (M,), {"compute_uv": False}, np.linalg.svdvals(M)),
    ("linalg.lstsq", (np.ones((3, 1)), F[:3]), {}, ([0.5], [4.5], 1, [np.sqrt(3.0)])),
    ("linalg.vecdot", (M, M), {}, [17.0, 9.0]),
    ("fft.fftfreq", (4,), {"dtype": np.float32}, np.array([0, 0.25, -0.5, -0.25], np.float32)),
    ("fft.rfftfreq", (4, 0.5), {}, [0.0, 0.5, 1.0]),
]  # fmt: skip


def found(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


def same(actual, expected):
    if isinstance(expected, tuple):
        assert len(actual) == len(expected)
        for a, b in zip(actual, expected, strict=True):
            same(a, b)
        return
    expected = np.asarray(expected)
    if expected.dtype.itemsize != 8:
        assert np.asarray(actual).dtype == expected.dtype
    assert np.shape(actual) == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-14)


calls = pytest.mark.parametrize(("name", "args", "kwargs", "expected"), CALLS)


@calls
def test_values(name, args, kwargs, expected):
    made = found(jnp, name)(*args, **kwargs)
    same(made, expected)
    assert all(type(leaf) is Array for leaf in tapeless.tree.leaves(made))


@calls
def test_values_while_staging(name, args, kwargs, expected):
    function = found(jnp, name)
    places = [k for k, a in enumerate(args) if isinstance(a, np.ndarray)]

    def program(*arrays):
        given = list(args)
        for k, a in zip(places, arrays, strict=True):
            given[k] = a
        return function(*given, **kwargs)

    # of vmap of one element: staged, and emitted as NumPy code
    made = vmap(program)(*(args[k][None] for k in places)) if places else jit(program)()
    same(tapeless.tree.map(lambda x: x[0], made) if places else made, expected)


#: Through singular values, which some builds of jaxlib cannot compute.
BY_SVD = ("linalg.lstsq", "linalg.matrix_rank", "linalg.pinv", "linalg.svd")


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "expected"), [c for c in CALLS if c[0] not in BY_SVD]
)
def test_values_are_those_of_jax(name, args, kwargs, expected):
    jax = pytest.importorskip("jax", reason="compares with jax.numpy")
    if name in ("linalg.slogdet", "mask_indices"):
        kwargs = {k: v for k, v in kwargs.items() if k != "method"}
    with jax.enable_x64(True):
        function = found(jax.numpy, name)
        given = [
            jax.numpy.asarray(a) if isinstance(a, (np.ndarray, list)) and name != "dstack" else a
            for a in args
        ]
        if name == "mask_indices":
            given[1] = jax.numpy.triu
        same(tuple(x) if isinstance(x := function(*given, **kwargs), tuple) else x, expected)


def test_every_name_of_jax():
    jax = pytest.importorskip("jax", reason="compares with jax.numpy")
    for theirs, ours in (
        (jax.numpy, jnp),
        (jax.numpy.linalg, jnp.linalg),
        (jax.numpy.fft, jnp.fft),
    ):
        names = {name for name in dir(theirs) if not name.startswith("_")}
        lacking = {name for name in names if not hasattr(ours, name)}
        foreign = {n for n in lacking if "no such type" in refusal(ours, n)}
        assert lacking - foreign == set()


def refusal(module, name):
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    return str(caught.value)


def test_names_that_are_not_there():
    assert refusal(jnp, "nothing") == "module 'tapeless.numpy' has no attribute 'nothing'"
    assert refusal(jnp, "bfloat16") == (
        "tapeless.numpy.bfloat16: NumPy has no such type, so there is none here"
    )
    assert "no attribute 'lu'" in refusal(jnp.linalg, "lu")
    assert "no attribute 'dct'" in refusal(jnp.fft, "dct")


def test_a_star_import_has_all_names():
    names = {}
    exec("from tapeless.numpy import *", names)
    assert {"sin", "linalg", "float32", "vectorize", "where"} <= set(names)


def test_functions_are_numpys_while_staging():
    def model(x):
        return jnp.sum(jnp.where(x > 0, jnp.exp(x), 0.0)) + jnp.linalg.norm(x)

    assert "np.linalg.norm" in grad(model).source(F)
    assert "jnp" not in grad(model).source(F)
    np.testing.assert_allclose(
        grad(model)(F), np.where(F > 0, np.exp(F), 0.0) + F / np.linalg.norm(F)
    )


def test_functions_of_higher_order():
    rows = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(vmap(jnp.mean)(rows), rows.mean(axis=1))
    np.testing.assert_allclose(jit(jnp.cumsum)(F), np.cumsum(F))
    np.testing.assert_allclose(grad(jnp.prod)(F), np.prod(F) / F)
    np.testing.assert_allclose(
        jnp.piecewise(F, [F < 0], [lambda v: v**2, lambda v: v]), np.where(F < 0, F**2, F)
    )
    np.testing.assert_allclose(jnp.apply_along_axis(np.sum, 1, rows), rows.sum(axis=1))


def test_methods_of_ufuncs():
    assert jnp.add.nin == 2
    assert isinstance(jnp.add, jnp.ufunc)
    same(jnp.add.reduce(M), M.sum(axis=0))
    same(jnp.multiply.outer(F, F), np.multiply.outer(F, F))
    same(jit(lambda a: jnp.multiply.outer(a, a))(F), np.multiply.outer(F, F))
    same(jnp.add.at(F, [0, 0], 1.0), [2.5, -1.0, 2.0, 0.25])
    same(jnp.negative.at(F, [0]), [-0.5, -1.0, 2.0, 0.25])
    assert F[0] == 0.5
    with pytest.raises(ValueError, match="leave inplace out"):
        jnp.add.at(F, 0, 1.0, inplace=True)


def test_functions_say_what_they_are():
    assert repr(jnp.linalg.inv) == "<function tapeless.numpy.linalg.inv>"
    assert jnp.sin.__name__ == "sin"
    assert "Trigonometric sine" in jnp.sin.__doc__
    for function in (jnp.sin, jnp.where, jnp.linalg.inv, jnp.fft.fft):
        assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: jnp.put(F, 0, 1.0), ArgumentError, r"jnp\.put changes no array in place"),
        (lambda: jnp.take(F, 0, mode="odd"), ArgumentError, "mode is 'odd'"),
        (lambda: jnp.take(F, 9), IndexError, "out of bounds"),
        (lambda: jnp.sort(F, kind="heapsort"), UnsupportedError, "kind= or order="),
        (lambda: jnp.argsort(F, order="x"), UnsupportedError, "kind= or order="),
        (
            lambda: jnp.put_along_axis(F, X[:1], 0.0, 0, False, mode="drop"),
            ArgumentError,
            "put_along_axis with mode='drop'",
        ),
        (lambda: jnp.unique(M, axis=0, size=2), UnsupportedError, "axis= and size="),
        (
            lambda: jnp.intersect1d(X, X, return_indices=True, size=2),
            UnsupportedError,
            "return_indices and size=",
        ),
        (lambda: jnp.linalg.svd(M, subset_by_index=(0, 1)), UnsupportedError, "slice what"),
    ],
)
def test_mistakes(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_clip_takes_one_bound():
    x = jnp.array([-1.0, 2.0, 0.5])
    for made, want in (
        (jnp.clip(x, 0.0), [0, 2, 0.5]),
        (jnp.clip(x, max=1.0), [-1, 1, 0.5]),
        (jnp.clip(x, a_min=0, a_max=1), [0, 1, 0.5]),
        (jnp.clip(x), [-1, 2, 0.5]),
        (jit(lambda x: jnp.clip(x, None, 1.0))(x), [-1, 1, 0.5]),
        (grad(lambda x: jnp.clip(x, 0.0).sum())(x), [0, 1, 1]),
    ):
        np.testing.assert_array_equal(made, want)
    assert jnp.clip(x) is not x


def test_count_nonzero_by_place():
    np.testing.assert_array_equal(jnp.count_nonzero(jnp.array([[1, 0], [2, 3]]), 0, True), [[2, 1]])
