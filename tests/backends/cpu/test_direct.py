"""Kernels that are compiled without Numba do what their text does as Python."""

import textwrap

import numpy as np
import pytest

from tapeless.backends.cpu import load
from tapeless.backends.cpu.llvm import compile as direct
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.lowering.kernels import matrix_products, reductions, scratch

HELPERS = (
    reductions.PLUS,
    reductions.MULTIPLIED,
    matrix_products.PRODUCT,
    matrix_products.MATRIX,
    scratch.SCRATCH,
)
HEAD = (
    "import math\nfrom math import exp, floor, isfinite, isinf, isnan, sqrt\nimport numpy as np\n"
)
HEAD += "from numba import njit\n" + "".join(HELPERS)
KERNEL = '@njit(nogil=True, error_model="numpy")\ndef f({}):\n{}\n'


@pytest.fixture
def alone(monkeypatch):
    """What was compiled without Numba, and what was not."""
    monkeypatch.setenv("TAPELESS_DISABLE_CACHE", "1")
    found, real = [], direct.compile_kernel

    def spy(*args):
        found.append(real(*args))
        return found[-1]

    monkeypatch.setattr(direct, "compile_kernel", spy)
    return found


def module(parameters, body, more=""):
    return HEAD + more + KERNEL.format(parameters, textwrap.indent(textwrap.dedent(body), " " * 4))


def listed(expressions):
    """The expressions of a text, between bars and lines."""
    return [e.strip() for e in expressions.replace("\n", "|").split("|") if e.strip()]


def as_python(text):
    """The function of a module, as Python runs it."""
    values = {}
    text = text.replace("from numba import njit", "njit = lambda f=None, **o: f or (lambda g: g)")
    exec(compile(text, "<text>", "exec"), values)
    return values["f"]


def agrees(alone, text, *args):
    """Both ways, on copies of the arguments."""
    ours = [x.copy("K") if isinstance(x, np.ndarray) else x for x in args]
    theirs = [x.copy("K") if isinstance(x, np.ndarray) else x for x in args]
    with np.errstate(all="ignore"):
        wanted = as_python(text)(*theirs)
    got = load("f", text)(*ours)
    assert [made is None for made in alone] == [False]
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=4e-7 if "float32" in text else 1e-12)
    if wanted is None:
        assert got is None
    else:
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    return got


X = np.array([-2.5, -1.0, -0.0, 0.5, 3.0, np.nan, np.inf])
WORDS = np.array([7, -7, 3, -3, 0, 2**62, -(2**62)])

OF_FLOATS = """
    a ** b | a ** 0.5 | abs(a) ** -3 | np.float32(a) ** 2 | math.lgamma(abs(a) + 0.5)
    a + b | a - b | a * b | a / b | -a | +a | abs(a) | max(a, b) | min(a, b, 0.25) | a ** 2 | a ** 5
    a < b | a <= b | a > b | a >= b | a == b | a != b | a < b < 3.0 | not a | a if a > b else b
    isnan(a) | isinf(a) | isfinite(a) | a > 0.0 and b > 0.0 | a > 0.0 or b > 0.0 or a < -2.0
    np.floor(a) | np.ceil(a) | np.trunc(a) | np.rint(a) | math.fabs(a) | math.copysign(a, b)
    np.float32(a) | np.float64(np.float32(a)) | np.bool_(a) | 1 if a > 0.0 else 0.5 | plus(a, b)
    plus_product(a, b, 2.0) | np.inf if a != a else -np.inf | exp(min(a, 2.0)) | sqrt(abs(a))
    a // b | a % b | np.float32(a) // np.float32(b) | a % -2.0 | -0.5 // a
    np.sign(a) | np.fmax(a, b) | np.fmin(a, b) | np.fmod(a, b) | np.heaviside(a, b)
    np.nextafter(a, b) | np.logaddexp(a, b) | np.logaddexp2(a, b) | np.exp2(a)
    np.cbrt(a) | np.sqrt(abs(a)) | np.logaddexp(np.float32(a), np.float32(b))
"""


@pytest.mark.parametrize("e", listed(OF_FLOATS))
def test_expressions_of_floats(e, alone):
    text = module(
        "x, out",
        f"""
        for i in range(x.shape[0]):
            for j in range(x.shape[0]):
                a = x[i]
                b = x[j]
                out[i, j] = {e}
        """,
    )
    agrees(alone, text, X, np.zeros((7, 7)))


OF_WORDS = """
    a + b | a - b | a * 3 | -a | ~a | abs(a) | a & b | a | b; a ^ b; a << 3; a >> 2; a // 4; a // -4
    a % 4; a % -4; a // b if b != 0 else 0; a % b if b != 0 else 0; a / 8; max(a, b); min(a, 2)
    a ** 2 if abs(a) < 10 else 1; a < b; a == b; 0 <= a < 5; float(a); np.int64(a) + 1; a % 3 == 0
    np.uint64(a) >> np.uint64(60); np.int64(np.uint32(a)); np.int64(np.int8(a)); (a > 0) + (b > 0)
    (a > 0) ^ (b > 0); (a > 0) & (b > 0); int(a / 8); bool(a)
"""


@pytest.mark.parametrize(
    "e",
    [e.strip() for e in OF_WORDS.replace(" | ", ";").replace("\n", ";").split(";") if e.strip()],
)
def test_expressions_of_integers(e, alone):
    e = e.replace("np.uint64(a)", "np.uint64(a & 4611686018427387904)")
    e = e.replace("np.uint32(a)", "np.uint32(a & 4294967295)")
    e = e.replace("np.int8(a)", "np.int8(a % 100)")
    text = module(
        "x, out",
        f"""
        for i in range(x.shape[0]):
            for j in range(x.shape[0]):
                a = int(x[i])
                b = int(x[j])
                out[i, j] = {e}
        """,
    )
    words = WORDS[:5] if any(s in e for s in ("+ b", "- b", "* 3", "<<")) else WORDS
    agrees(alone, text, words, np.zeros((len(words), len(words))))


def test_division_of_integers_by_zero_and_of_the_least_one(alone):
    text = module("a, b", "return a // b, a % b")
    f = load("f", text)
    assert f(7, 0) == (0, 0)
    assert f(-7, 2) == (-4, 1)
    assert f(-(2**63), -1)[1] == 0
    assert [made is None for made in alone] == [False]


CONTROL = {
    "a dtype that changes": (
        "total = 0\nfor i in range(n):\n    total = total * 0.5 + i\nreturn total",
        9,
    ),
    "one that changes in a branch": ("v = 1\nif n > 3:\n    v = 0.5\nreturn v, n", 9),
    "and does not": ("v = 1\nif n > 30:\n    v = 0.5\nreturn v + 1, n", 9),
    "a name used twice": ("t = n // 2\nu = t * 0.5\nt = u + 0.25\nreturn t, u", 9),
    "break and continue": (
        "k = 0\nfor i in range(n):\n    if i % 2 == 0:\n        continue\n"
        "    if i > 6:\n        break\n    k += i\nreturn k, i",
        20,
    ),
    "while": (
        "k = 0\nwhile n > 1:\n    n = n // 2 if n % 2 == 0 else 3 * n + 1\n    k += 1\nreturn k",
        27,
    ),
    "while and break": (
        "k = 0\nwhile True:\n    k += 1\n    if k * k > n:\n        break\nreturn k",
        50,
    ),
    "steps": (
        "k = 0\nfor d in range(-n, n + 1):\n    if d != 0:\n"
        "        for i in range(3, 3 + 2 * n, d):\n            k = 3 * k + i\n"
        "        for i in range(n, -n, d):\n            k = 3 * k - i\nreturn k",
        3,
    ),
    "backwards": ("k = 0\nfor i in range(n - 1, -1, -2):\n    k = 10 * k + i\nreturn k", 7),
    "bounds that change": (
        "k = 0\nm = n\nfor i in range(m):\n    m = 2\n    k += i\nreturn k, m",
        7,
    ),
    "an index that changes": (
        "k = 0\nfor i in range(n):\n    i = 2 * i\n    k += i\nreturn k, i",
        7,
    ),
    "returns inside": ("for i in range(n):\n    if i * i > n:\n        return i\nreturn -1.5", 20),
    "nested": (
        "k = 0.0\nfor i in range(n):\n    s = 0\n    for j in range(i):\n        s += j\n"
        "    k = k + s / 3\nreturn k, s",
        6,
    ),
    "numbers that are written": ("k = 0\nfor g in (4, 2, 7):\n    k = 10 * k + g * n\nreturn k", 1),
    "tuples": ("a, b = n, 1\nfor _ in range(5):\n    a, b = b, a + b\nreturn a, b", 3),
}


@pytest.mark.parametrize("name", CONTROL)
def test_control(name, alone):
    body, n = CONTROL[name]
    agrees(alone, module("n", body), n)


def test_a_test_is_not_looked_at_further_than_it_decides(alone):
    text = module(
        "x, n",
        """
        k = 0
        while k < n and x[k] > 0.0:
            k += 1
        return k
        """,
    )
    x = np.ones(1 << 10)
    f = load("f", text)
    assert f(x[:10], 10) == 10
    assert [made is None for made in alone] == [False]


PLACES = [
    "x[i, j]",
    "x[-1, j]",
    "x[i - 1, j]",
    "x[i, -j - 1]",
    "x.T[j, i]",
    "x[i][j]",
    "x[1:, 1:][i - 2, j]",
]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "u1", "u8", "?"])
@pytest.mark.parametrize("place", PLACES)
def test_elements(place, dtype, alone, rng):
    body = "for i in range(2):\n    for j in range(3):\n"
    body += (
        f"        out[i, j] = {place}\n        x[i, j] = y[0]\nreturn x.size, x.ndim, x.shape[1]"
    )
    text = module("x, y, out", body)
    x = rng.integers(0, 100, (4, 6)).astype(dtype)
    for view in (x, np.asfortranarray(x), x.repeat(2, axis=1)[::-1, ::2]):
        alone.clear()
        agrees(alone, text, view, np.array([1], dtype), np.zeros((2, 3)))


def test_unaligned_and_read_only_arrays(alone):
    raw = np.zeros(81, np.uint8)[1:].view(np.float64)
    raw[:] = np.arange(10)
    text = module("x, out", "for i in range(x.shape[0]):\n    out[i] = x[i] * 2.0")
    out = np.zeros(10)
    load("f", text)(raw, out)
    np.testing.assert_array_equal(out, 2 * np.arange(10.0))
    fixed = np.arange(10.0)
    fixed.flags.writeable = False
    load("f", text)(fixed, out)
    with pytest.raises(ValueError, match="read-only"):
        load("f", text)(out, fixed)


def test_functions_of_the_module(alone):
    more = """
@njit(error_model="numpy")
def halved(x, k):
    if x[k] < 0:
        raise ValueError("below zero")
    x[k] = x[k] / 2
    return x[k], k + 1
"""
    text = module("x", "a, k = halved(x, 0)\nb, k = halved(x, k)\nreturn a, b, k", more)
    agrees(alone, text, np.array([3.0, 5.0, 7.0]))
    with pytest.raises(ValueError, match="below zero"):
        load("f", text)(np.array([3.0, -5.0]))


def test_products_and_arrays_of_a_kernel(alone, rng):
    text = module(
        "a, b, out, n",
        """
        t = scratch((a.shape[0], b.shape[1]), np.float64)
        row = scratch((b.shape[1],), np.float64)
        one = scratch((1, 1), np.float64)
        product(a, b, t)
        product(a.T, t, out)
        for j in range(b.shape[1]):
            row[j] = 0.0
        for i in range(t.shape[0]):
            for j in range(t.shape[1]):
                row[j] = plus(row[j], t[i, j])
        product(matrix(row, 1, b.shape[1]), matrix(row, b.shape[1], 1), one)
        if n > 3:
            raise IndexError("index is out of bounds for axis 0")
        return row[0], one[0, 0]
        """,
    )
    a, b = rng.standard_normal((5, 3)), rng.standard_normal((3, 4))
    agrees(alone, text, a, b, np.zeros((3, 4)), 1)
    with pytest.raises(IndexError, match="out of bounds for axis 0"):
        load("f", text)(a, b, np.zeros((3, 4)), 4)


def test_what_it_does_not_know_is_left_to_numba(alone):
    f = load("f", module("x", "return x[0] ** x[1] + len([1, 2])"))
    assert f(np.array([2.0, 3.0])) == 10
    assert alone == [None]


def test_what_nobody_knows_is_refused(alone):
    with pytest.raises(UnsupportedError, match="cannot be compiled"):
        load("f", module("x", "return x.no_such_name"))(np.ones(3))
    assert alone == [None]


def test_settings_of_numba_are_left_to_it(alone, monkeypatch):
    monkeypatch.setenv("NUMBA_OPT", "1")
    assert load("f", module("a", "return a + 1"))(1) == 2
    assert alone == [None]


def test_results_of_numpys_types(alone):
    f = load("f", module("a", "return np.float32(a), a, np.int64(2), a > 1"))
    found = f(1.5)
    assert found == (1.5, 1.5, 2, True)
    assert [type(x) for x in found] == [np.float32, float, int, bool]
    assert alone != [None]


def test_unsigned_constants_of_64_bits(alone):
    body = """
    for i in range(x.shape[0]):
        x[i] = np.uint64(x[i] ^ np.uint64(18446744073709551615)) % np.uint64(9223372036854775808)
    """
    agrees(alone, module("x", body), np.array([0, 1, 2**63, 2**64 - 1], np.uint64))


def test_a_step_of_zero_is_an_error(alone):
    body = "k = 0\nfor i in range(0, 9, n):\n    k += i\nreturn k"
    f = load("f", module("n", body))
    assert f(4) == 12
    with pytest.raises(ValueError, match="arg 3 must not be zero"):
        f(0)
    assert [made is None for made in alone] == [False]


def test_the_body_of_a_loop_is_compiled_once(alone, monkeypatch):
    texts, real = [], direct._externals
    monkeypatch.setattr(direct, "_externals", lambda made: texts.append(str(made)) or real(made))
    body = "a = 0.0\nfor i in range(x.shape[0]):\n    a = 0.5 * a + x[i]\nreturn a"
    agrees(alone, module("x", body), np.linspace(-2, 0, 9))
    assert texts[-1].count(" fmul double") == 1
