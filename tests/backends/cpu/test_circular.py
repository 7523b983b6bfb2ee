"""Sine and cosine of our own: nearly exact in every place of a vector, and both in one call."""

import re

import numpy as np
import pytest

from tapeless.backends.cpu import load
from tapeless.backends.cpu.llvm import compile as direct
from tapeless.backends.cpu.runtime import simd_libraries
from tests.backends.cpu.test_maths import HAS_SIMD, newest_code, off_by, over
from tests.backends.cpu.text import module

WORST = {"f8": 0.8, "f4": 1.6}  # units of the last place; measured: 0.73 and 1.55
FUSED = pytest.mark.skipif(
    not {"+fma", "+neon"} & set(direct._features().split(",")), reason="no fused multiply-add"
)
OURS = re.compile(rb"tapeless_((?:sin|cos)+f?\d*)\0")


def loop(body, before="", header="x, s, c"):
    inner = "\n".join(f"{' ' * 8}{line}" for line in body.split("; "))
    text = f"@njit(nogil=True)\ndef f({header}):\n    {before}\n"
    return text + f"    for i in range(x.shape[0]):\n{inner}\n"


def both(dtype):
    """Sine and cosine of arrays by one kernel."""
    f = load("f", module(loop("s[i] = sin(x[i]); c[i] = cos(x[i])")), apart=True)

    def apply(x):
        x = np.asarray(x, dtype)
        found = {"sin": np.empty_like(x), "cos": np.empty_like(x)}
        f(x, *found.values())
        return found

    return apply


def points(dtype, rng):
    """Numbers of all sizes for which there is a formula, and multiples of pi / 2, where most digits
    cancel."""
    most = 12 if dtype == "f8" else 5
    sizes = 10.0 ** np.linspace(-9, most, 8)
    spread = [size * rng.uniform(-1, 1, 160) for size in sizes]
    turns = np.concatenate([np.arange(-80, 80), *(rng.integers(1, s, 80) for s in sizes[-3:])])
    near = (turns * (np.pi / 2)).astype(dtype)
    return np.concatenate([*spread, near, np.nextafter(near, 0), np.nextafter(near, 9e30)])


@FUSED
@HAS_SIMD
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_nearly_exact(name, dtype, rng):
    x = points(dtype, rng).astype(dtype)
    x = x[: len(x) // 32 * 32]
    alone, pair = over(name, dtype)(x), both(dtype)(x)[name]
    assert off_by(alone, name, (x,), dtype) < WORST[dtype]
    np.testing.assert_array_equal(pair, alone)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan, -0.0, 1e20, -2e5, 3e13, 1e-42])
def test_special_values_beside_others(special, dtype, rng):
    """In any place of a vector, and at the end of a loop."""
    for place in (0, 3, 31, 64, 66):
        x = rng.normal(size=67).astype(dtype)
        x[place] = special
        for name, got in both(dtype)(x).items():
            with np.errstate(invalid="ignore"):
                want = getattr(np, name)(x.astype("f8"))
            eps = 4 * np.finfo(dtype).eps
            np.testing.assert_allclose(got, want, rtol=eps, atol=1e-45)
            known = ~np.isnan(want)
            np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))


def called():
    return {name.decode() for name in OURS.findall(newest_code())}


@FUSED
@HAS_SIMD
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_one_call_for_both(dtype, tmp_path, monkeypatch):
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path))
    both(dtype)(np.ones(100))
    single = "f" * (dtype == "f4")
    names = called()
    assert any(re.fullmatch(rf"sincos{single}\d+", name) for name in names)
    assert all(name.startswith("sincos") for name in names)


@FUSED
@HAS_SIMD
def test_both_of_what_is_read_after_a_store(tmp_path, monkeypatch, rng):
    """Kernels that share no memory read the same number twice."""
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path))
    f = load(
        "f",
        module(loop("c[i] = c[i] * cos(x[i]); x[i] = x[i] + sin(x[i])", "", "x, c")),
        apart=True,
    )
    x, c = rng.normal(size=(2, 50))
    want = x + np.sin(x), c * np.cos(x)
    f(x, c)
    np.testing.assert_allclose((x, c), want, rtol=1e-14)
    assert called()
    assert all(name.startswith("sincos") for name in called())


@FUSED
@HAS_SIMD
def test_written_in_place_of_calls(tmp_path, monkeypatch):
    """A call in each pass would fetch the constants anew, and save all registers."""
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path))
    texts, externals = [], direct._externals
    monkeypatch.setattr(direct, "_externals", lambda m: texts.append(str(m)) or externals(m))
    over("sin")(np.ones(100))
    (text,) = texts
    assert re.search(r"call .*@llvm\.fma\.v\d+f64", text)
    assert re.search(r"call .*@tapeless_sin\d+_far", text)
    assert not re.search(r"call .*@tapeless_sin\d+\(", text)


@HAS_SIMD
def test_only_what_is_called_comes_along(tmp_path, monkeypatch):
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path))
    over("exp")(np.ones(100))
    assert not called()
    over("sin")(np.ones(100))
    assert {name.rstrip("0123456789") for name in called()} <= {"sin"}


@pytest.mark.parametrize("body", ["s[i] = sin(2 * x[i]); c[i] = cos(x[i])", "s[i] = sin(x[i])"])
def test_not_of_other_numbers(body, tmp_path, monkeypatch, rng):
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path))
    x = rng.normal(size=40)
    s, c = np.zeros((2, 40))
    load("f", module(loop(body)), apart=True)(x, s, c)
    np.testing.assert_allclose(s, np.sin(2 * x if "2 *" in body else x), rtol=1e-14)
    assert not any(name.startswith("sincos") for name in called())


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_kernels_that_numba_compiles(dtype, rng):
    """`//` of floats is left to Numba."""
    f = load("f", module(loop("s[i] = sin(x[i]) // 0.25; c[i] = cos(x[i])")))
    x = rng.normal(size=100).astype(dtype)
    s, c = np.empty_like(x), np.empty_like(x)
    f(x, s, c)
    np.testing.assert_array_equal(s, np.sin(x) // 0.25)
    np.testing.assert_allclose(c, np.cos(x), rtol=1e-6)


def test_without_simd_libraries_all_places_are_alike(monkeypatch, tmp_path):
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TAPELESS_VECMATH", "none")
    simd_libraries._libraries.cache_clear()
    try:
        found = both("f4")(np.full(67, 0.7))
        assert {len(set(x.tolist())) for x in found.values()} == {1}
        assert not [name for name in called() if name[-1].isdigit()]
    finally:
        simd_libraries._libraries.cache_clear()
