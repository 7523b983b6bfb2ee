"""Sine, cosine, tanh and exp that are written out in C: beside 100 digits and the C library."""

import ctypes
import math
import subprocess

import mpmath
import numpy as np
import pytest

from tapeless import grad
from tapeless.transformations.compilation.jit_to_c import JitToC
from tapeless.transforms.c.inline_functions import with_inline_functions
from tests.transforms.c.compiled import SANITIZERS, STRICT, needs_compiler, normal

FUSED = ["-march=native"]
#: In units in the last place
LARGEST_ERRORS = {"sin": 0.8, "cos": 0.8, "tanh": 2.0, "exp": 0.54}


def waves(x):
    return np.sin(x), np.cos(x), np.tanh(x), np.exp(x)


@pytest.fixture(scope="module", params=["fused", "fast", "plain"])
def functions(request, tmp_path_factory):
    """The functions of an array, compiled with and without fused multiply-adds."""
    needs_compiler()
    folder = tmp_path_factory.mktemp(request.param)
    flags = {"fused": FUSED, "fast": [*FUSED, "-ffast-math"], "plain": []}[request.param]
    files = JitToC(waves).files((np.ones(9),), {}, waves(np.ones(9)), (np.ones(9),), inline=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    # linked by itself: -ffast-math would make the whole process take subnormal numbers for zero
    for command in (["-O2", "-fPIC", *STRICT, *flags, "-c"], ["-shared", "-o", "waves.so"]):
        file = "waves.c" if "-c" in command else "waves.o"
        subprocess.run(["gcc", *command, file, "-lm"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "waves.so"))

    def call(x):
        outs = [np.empty_like(x) for _ in LARGEST_ERRORS]
        number = library.waves(x.ctypes, ctypes.c_int64(x.size), *(out.ctypes for out in outs))
        assert number == 0
        return dict(zip(LARGEST_ERRORS, outs, strict=True))

    return request.param, call


def of_size(name, x):
    """Those of the numbers that a function has a normal value for."""
    return x[np.abs(x) < 708] if name == "exp" else x


def units(values, exact):
    """Errors in units in the last place of the exact values."""
    return [
        float(abs(mpmath.mpf(float(v)) - e) / np.spacing(abs(float(e)) or 5e-324))
        for v, e in zip(values, exact, strict=True)
    ]


def arguments():
    rng = np.random.default_rng(0)
    near = np.pi / 4 * np.arange(1, 200)
    parts = [
        rng.uniform(-1, 1, 400),
        rng.uniform(-30, 30, 400),
        rng.uniform(-708, 708, 400),
        np.log(2) / 128 * np.arange(-151, 150, 2),  # between two numbers of the table
        rng.uniform(-1, 1, 200) * 10.0 ** rng.uniform(-320, 13, 200),
        *(near, np.nextafter(near, 0), np.nextafter(near, 1e9)),
        rng.uniform(0.9e13, 1e13, 50),
        [1.5707963267948966, 11.0, 22.0, 355.0, 5.2e12],  # near multiples of pi / 2
        [5e-324, -5e-324, 2.2250738585072014e-308, 1e-8, 0.9e-8, 19.9, 20.1, 22.5, 710.0],
    ]
    return np.concatenate([np.asarray(p, float) for p in parts])


@pytest.mark.parametrize("name", LARGEST_ERRORS)
def test_errors_are_small(functions, name):
    flags, call = functions
    x = of_size(name, arguments())
    with mpmath.workdps(100):
        exact = [getattr(mpmath, name)(mpmath.mpf(float(a))) for a in x]
        errors = units(call(x)[name], exact)
    # -ffast-math takes the last corrections for zero
    bound = LARGEST_ERRORS[name] + (0.4 if flags == "fast" else 0)
    assert max(errors) <= bound, x[np.argmax(errors)]


@pytest.mark.parametrize("name", LARGEST_ERRORS)
def test_large_numbers_are_left_to_the_library(functions, name):
    _, call = functions
    x = np.concatenate(
        [[1e13, -1e13, 6381956970095103.0 * 2.0**797], 10.0 ** normal(50) ** 2 * 1e14]
    )
    with np.errstate(over="ignore"):
        expected = np.exp(x) if name == "exp" else [getattr(math, name)(a) for a in x]
    np.testing.assert_array_equal(call(x)[name], expected)


def test_exponentials_near_the_ends_of_the_range(functions):
    flags, call = functions
    x = np.array([707.9, 708.1, 709.78, 709.79, -707.9, -708.1, -708.4, -709.0, -745.1, -745.2])
    if flags == "fast":  # numbers that are not normal may be zero
        x = x[np.abs(x) < 708.2]
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(call(x)["exp"], np.exp(x), rtol=3e-16)


def test_special_numbers_are_those_of_numpy(functions):
    flags, call = functions
    if flags == "fast":
        pytest.skip("-ffast-math promises that there are none")
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324])
    with np.errstate(invalid="ignore"):
        for name, values in call(x).items():
            expected = getattr(np, name)(x)
            np.testing.assert_array_equal(values, expected)
            np.testing.assert_array_equal(
                np.signbit(values[:4]) & (x[:4] == 0), np.signbit(expected[:4]) & (x[:4] == 0)
            )


def swing(u):
    x, v, total = 0.3, 0.0, 0.0
    for k in range(u.shape[0]):
        x, v = x + 0.1 * v, v + 0.1 * (np.tanh(u[k]) - np.sin(x) * np.cos(v))
        total = total + x * x
    return total


@pytest.mark.parametrize("flags", [[], FUSED])
def test_gradients_are_right(flags, tmp_path):
    needs_compiler()
    args = (normal(20),)
    f = grad(swing)
    files = JitToC(f).files(args, {}, f(*args), args, inline=True)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    sources = [name for name in files if name.endswith(".c")]
    command = ["gcc", *STRICT, *SANITIZERS, *flags, *sources, "-o", "test", "-lm"]
    for run in (command, ["./test"]):
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert " sin(" not in files["swing_grad.c"].partition("#endif")[2]


def told(x):
    if x > 5.0:
        raise ValueError("sin(x) of a large x")
    return np.exp(x) * np.sin(x) + np.log(x)


def test_texts_and_other_functions_stay():
    module = with_inline_functions(JitToC(told).module_for((1.0,), {}))
    assert "sin(x) of a large x" in module.source
    assert "exp_f64(x) * sin_f64(x)" in module.source
    assert "tanh" not in module.source
    assert "+ log(x)" in module.source


def plain(x):
    return 2.0 * x


def test_programs_without_them_stay():
    module = JitToC(plain).module_for((1.0,), {})
    assert with_inline_functions(module) is module
