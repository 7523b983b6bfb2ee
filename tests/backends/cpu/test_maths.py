"""Functions of `math` in kernels: SIMD versions are called, accurate, and right at the edges."""

import math
import platform
import re
import warnings

import mpmath
import numpy as np
import pytest

from tapeless.backends import cache
from tapeless.backends.cpu import load
from tapeless.backends.cpu.numba import math_functions
from tapeless.backends.cpu.runtime import simd_libraries
from tests.backends.cpu.text import module

NAMES = sorted(name for name in simd_libraries.ARITY if hasattr(math, name))
UNARY = [name for name in NAMES if simd_libraries.ARITY[name] == 1]
BINARY = [name for name in NAMES if simd_libraries.ARITY[name] == 2]
ULPS = {"f8": 4, "f4": 5}  # measured: 3.0 and 4.0
NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh"}
NUMPY |= {"acosh": "arccosh", "atanh": "arctanh", "atan2": "arctan2", "pow": "power"}
HAS_SIMD = pytest.mark.skipif(
    simd_libraries.tag() == "none", reason="no SIMD library on this machine"
)
X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="looks for code of x86")


def over(name, dtype="f8", options="nogil=True"):
    """`name` over arrays, compiled."""
    names = ["x", "y"][: simd_libraries.ARITY[name]]
    args = ", ".join(names)
    items = ", ".join(f"{n}[i]" for n in names)
    f = load(
        "f",
        f"from math import {name}\nfrom numba import njit\n"
        + module(
            f"""
            @njit({options})
            def f({args}, out):
                for i in range(x.shape[0]):
                    out[i] = {name}({items})
            """
        ),
    )

    def apply(*xs):
        xs = [np.asarray(x, dtype) for x in xs]
        out = np.empty_like(xs[0])
        f(*xs, out)
        return out

    return apply


def points(name, dtype, rng, count=1200):
    """Numbers all over the domain of a function of one argument."""
    bits = rng.integers(0, 2 ** (64 if dtype == "f8" else 32), count // 3, dtype="u8")
    anything = bits.astype("u8" if dtype == "f8" else "u4").view(dtype)
    near = np.concatenate([1 + rng.normal(size=count // 6) * 1e-3, rng.uniform(-1, 1, count // 6)])
    wide = rng.choice([-1, 1], count // 3) * 10.0 ** rng.uniform(-12, 3, count // 3)
    x = np.concatenate([anything, near.astype(dtype), wide.astype(dtype)])
    x = x[np.isfinite(x)]
    if name in ("asin", "acos", "atanh"):
        return x[np.abs(x) < 1]
    if name == "acosh":
        return np.abs(x) + 1
    if name in ("log", "log2", "log10"):
        return np.abs(x)
    if name == "log1p":
        return x[x > -1]
    return x[np.abs(x) < {"sin": 1e5, "cos": 1e5, "tan": 1e5, "erfc": 30}.get(name, np.inf)]


def exact(name, *xs):
    """By mpmath, to far more digits than needed."""
    known = {
        "exp2": lambda x: mpmath.power(2, x),
        "log2": lambda x: mpmath.log(x, 2),
        "log10": mpmath.log10,
        "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
        "pow": mpmath.power,
    }
    with mpmath.workdps(60):
        return known.get(name, getattr(mpmath, name, None))(*map(mpmath.mpf, xs))


def off_by(got, name, xs, dtype):
    """The worst error in units of the last place of the exact values."""
    info, worst = np.finfo(dtype), 0.0
    for y, *args in zip(got.tolist(), *(x.tolist() for x in xs), strict=True):
        want = exact(name, *args)
        if abs(want) > info.max or abs(want) < info.tiny:
            continue  # overflow and denormal numbers have tests of their own
        with mpmath.workdps(60):
            last = mpmath.mpf(2) ** (mpmath.floor(mpmath.log(abs(want), 2)) - info.nmant)
            worst = max(worst, float(abs(want - mpmath.mpf(y)) / last))
    return worst


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", UNARY)
def test_accuracy(name, dtype, rng):
    x = points(name, dtype, rng)
    x = x[: len(x) // 8 * 8]
    assert len(x) > 300
    assert off_by(over(name, dtype)(x), name, (x,), dtype) <= ULPS[dtype]


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", BINARY)
def test_accuracy_of_two_arguments(name, dtype, rng):
    x, y = (10.0 ** rng.uniform(-3, 3, 400) for _ in range(2))
    if name == "pow":
        y = rng.uniform(-9, 9, 400)
    x, y = x.astype(dtype), y.astype(dtype)
    assert off_by(over(name, dtype)(x, y), name, (x, y), dtype) <= ULPS[dtype]


SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, np.inf, -np.inf, np.nan, 1e300, -1e300, 5e-324, 1e-310]
)


def like_numpy(name, *xs):
    function = getattr(np, NUMPY.get(name, name), None)
    if function is None:
        return np.array([getattr(math, name)(x) for x in xs[0].tolist()], xs[0].dtype)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        return function(*xs)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", UNARY)
def test_special_values(name, dtype):
    """In each place of a vector, and alone."""
    f = over(name, dtype)
    with np.errstate(over="ignore", under="ignore"):
        special = SPECIAL.astype(dtype)
    want = like_numpy(name, special)
    for x, y in zip(special, want, strict=True):
        for n in (1, 67):
            got = f(np.full(n, x))
            if np.isfinite(y) and y:
                np.testing.assert_allclose(got, y, rtol=1e-6 if dtype == "f4" else 1e-15)
            else:
                np.testing.assert_array_equal(got, y)
                assert np.isnan(y) or (np.signbit(got) == np.signbit(y)).all(), x


@pytest.mark.parametrize("name", BINARY)
def test_special_pairs(name):
    x, y = (a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL))
    want = like_numpy(name, x, y)
    got = over(name)(x, y)
    np.testing.assert_allclose(got, want, rtol=1e-14)
    known = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))


def newest_code():
    """The object code that was written or read last."""
    paths = cache.compiled_code_folder().glob("f_*.object")
    return max(paths, key=lambda p: p.stat().st_mtime_ns).read_bytes().split(b"\n", 3)[3]


PLAIN, FAST = "nogil=True", "nogil=True, fastmath={'contract', 'reassoc'}"
SIMD = re.compile(rb"__svml_|_ZGV[a-z]N|tapeless_(sin|cos|exp)f?\d")


@HAS_SIMD
@pytest.mark.parametrize(("dtype", "options"), [("f8", PLAIN), ("f4", PLAIN), ("f8", FAST)])
@pytest.mark.parametrize("name", NAMES)
def test_simd_versions_are_called(name, options, dtype):
    x = np.full(100, 0.5)
    over(name, dtype, options)(*[x] * simd_libraries.ARITY[name])
    assert SIMD.search(newest_code())


LOOPS = {
    "two axes": "for i in range(x.shape[0]):\n    for j in range(x.shape[1]):\n"
    "        out[i, j] = exp(x[i, j])",
    "strided": "for i in range(x.shape[0]):\n    for j in range(x.shape[1]):\n"
    "        out[i, j] = exp(x[i, x.shape[1] - 1 - j])",
    "chosen": "for i in range(x.shape[0]):\n    for j in range(x.shape[1]):\n"
    "        out[i, j] = log(x[i, j]) if x[i, j] > 0.5 else x[i, j]",
    "mixed": "for i in range(x.shape[0]):\n    for j in range(x.shape[1]):\n"
    "        out[i, j] = pow(x[i, j], 3) + sin(j)",
    "into a buffer": "s = 0.0\nrow = np.empty(64)\nfor i in range(x.shape[0]):\n"
    "    for j in range(64):\n        row[j] = tanh(x[i, j])\n    for j in range(64):\n"
    "        s += row[j]\nout[0, 0] = s",
}


@HAS_SIMD
@pytest.mark.parametrize("how", LOOPS)
def test_loops_that_are_vectorised(how, tmp_path, monkeypatch, rng):
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path))
    body = LOOPS[how].replace("\n", "\n    ")
    f = load("f", module(f"@njit(nogil=True)\ndef f(x, out):\n    {body}\n"))
    x, out = rng.uniform(0.1, 1.0, (7, 64)), np.zeros((7, 64))
    f(x, out)
    assert SIMD.search(newest_code())
    want = {
        "two axes": np.exp(x),
        "strided": np.exp(x[:, ::-1]),
        "chosen": np.where(x > 0.5, np.log(x), x),
        "mixed": x**3 + np.sin(np.arange(64)),
    }
    if how in want:
        np.testing.assert_allclose(out, want[how], rtol=1e-14, atol=1e-15)
    else:
        np.testing.assert_allclose(out[0, 0], np.tanh(x).sum(), rtol=1e-13)


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        (("f4",), "f4"),
        (("f8",), "f8"),
        (("i8",), "f8"),
        (("i2",), "f8"),
        (("?",), "f8"),
        (("f4", "f4"), "f4"),
        (("f4", "i2"), "f4"),
        (("f4", "i8"), "f8"),
        (("f4", "f8"), "f8"),
        (("i8", "i8"), "f8"),
    ],
)
def test_types_of_results(kinds, wanted):
    name = "exp" if len(kinds) == 1 else "pow"
    args = ", ".join("ab"[: len(kinds)])
    f = load("f", module(f"@njit\ndef f({args}):\n    return {name}({args})\n"))
    got = f(*(np.dtype(k).type(1) for k in kinds))
    assert np.dtype(type(got)) == wanted


def test_complex_numbers_are_refused():
    f = load("f", module("@njit\ndef f(v):\n    return exp(v)\n"))
    with pytest.raises(NotImplementedError):
        f(1j)


@X86
def test_variants_fit_the_cpu():
    """LLVM chooses by the number of lanes alone."""
    none = simd_libraries.variants("exp", False, frozenset())
    avx2 = simd_libraries.variants("exp", False, frozenset({"+avx2"}))
    wide = {f"+avx512{x}" for x in ("f", "dq", "bw", "vl")}
    best = simd_libraries.variants("exp", False, frozenset({"+avx2", *wide}))
    partly = simd_libraries.variants("exp", False, frozenset({"+avx2", "+avx512f"}))
    assert all(v.lanes == 2 for v in none)
    assert {v.lanes for v in avx2} <= {2, 4}
    assert {v.lanes for v in best} <= {2, 4, 8}
    assert partly == avx2
    if "numpy" in simd_libraries.tag() and best != avx2:
        assert "__svml_exp8" in [v.symbol for v in best]
    assert not [
        v for v in simd_libraries.variants("cos", True, frozenset(wide)) if "svml" in v.symbol
    ]


def test_every_function_has_a_place():
    assert {f.__name__ for f in math_functions.VECTOR} == set(NAMES)
    assert math_functions.vectorised_function(math.exp) is math_functions.VECTOR[math.exp]
    assert math_functions.vectorised_function([math.exp]) == [math.exp]
    with pytest.raises(NotImplementedError):
        math_functions.VECTOR[math.exp](1.0)
