"""Printed expressions have NumPy's values, at the edges of dtypes, too."""

import math
import operator

import numpy as np
import pytest

from tapeless.transforms.c_text.values import NotPrintedError
from tests.transforms.cuda.compiled import evaluated, pairs, printed

I8 = [-(2**63), -(2**63) + 1, -7, -2, -1, 0, 1, 2, 3, 7, 2**31, 2**63 - 1]
U8 = [0, 1, 2, 7, 2**31, 2**32, 2**63, 2**64 - 1]
I4 = [-(2**31), -3, -1, 0, 1, 3, 2**31 - 1]
U4 = [0, 1, 3, 2**31, 2**32 - 1]
F8 = [-math.inf, -7.5, -2.0, -1.0, -0.5, -0.0, 0.0, 5e-324, 0.5, 1.0, 3.0, 7.5, math.inf, math.nan]
VALUES = {"i8": I8, "u8": U8, "i4": I4, "u4": U4, "f8": F8, "f4": F8, "?": [False, True]}
VALUES |= {"i1": [-128, -1, 0, 5, 127], "u1": [0, 1, 128, 255], "i2": [-32768, -1, 0, 32767]}
VALUES |= {"u2": [0, 1, 65535]}
SIGNS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
SIGNS |= {"//": operator.floordiv, "%": operator.mod}
BITS = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
ORDERS |= {"==": operator.eq, "!=": operator.ne}


def widened(dtype):
    """The dtype in which loop form computes with integers."""
    kind = np.dtype(dtype).kind
    return {"i": "i8", "b": "i8", "u": "u8"}.get(kind, dtype)


def check(cases, expected, folder):
    results = evaluated(cases, folder)
    for (text, values), found, want in zip(cases, results, expected, strict=True):
        assert found.dtype == want.dtype, text
        with np.errstate(all="ignore"):
            same = (found == want) | ((found != found) & (want != want))
        if found.dtype.kind == "f":
            same &= (np.signbit(found) == np.signbit(want)) | (want != want)
        k = np.argmin(same)
        shown = {n: x[k] for n, x in values.items()}
        assert same.all(), f"{text} of {shown} is {found[k]}, not {want[k]}"


@pytest.mark.parametrize("dtype", ["i8", "u8", "i4", "u4", "i1", "u1", "i2", "u2"])
def test_arithmetic_of_integers_wraps_and_divides_as_numpy(dtype, tmp_path):
    a, b = pairs(VALUES[dtype], VALUES[dtype], dtype, dtype)
    x, y = a.astype(widened(dtype)), b.astype(widened(dtype))
    with np.errstate(all="ignore"):
        signs = {s: f for s, f in (SIGNS | BITS).items() if s != "/"}
        expected = [f(x, y) for f in signs.values()] + [
            a / b if dtype[1] < "4" and False else x / y
        ]
    cases = [(f"a {sign} b", {"a": a, "b": b}) for sign in (*signs, "/")]
    check(cases, expected, tmp_path)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_arithmetic_of_floats(dtype, tmp_path):
    a, b = pairs(VALUES[dtype], VALUES[dtype], dtype, dtype)
    with np.errstate(all="ignore"):
        expected = [f(a, b) for f in SIGNS.values()]
    check([(f"a {s} b", {"a": a, "b": b}) for s in SIGNS], expected, tmp_path)


@pytest.mark.parametrize("integer", ["i8", "u8", "i4", "u4", "i2", "u1", "?"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_an_integer_beside_a_float_is_converted_as_numpy_does(integer, dtype, tmp_path):
    a, b = pairs(VALUES[integer], VALUES[dtype], integer, dtype)
    with np.errstate(all="ignore"):
        expected = [f(a, b) for s, f in SIGNS.items() if s not in ("//", "%")]
    check([(f"a {s} b", {"a": a, "b": b}) for s in "+-*/"], expected, tmp_path)


MIXED = ["i8", "u8", "i4", "u4", "i2", "u2", "i1", "u1", "?"]


@pytest.mark.parametrize("first", MIXED)
def test_comparisons_of_integers_are_by_value(first, tmp_path):
    cases, expected = [], []
    for second in MIXED:
        if {np.dtype(first).kind, np.dtype(second).kind} == {"b", "u"}:
            continue  # loop form converts one of them
        a, b = pairs(VALUES[first], VALUES[second], first, second)
        for sign, f in ORDERS.items():
            cases.append((f"a {sign} b", {"a": a, "b": b}))
            expected.append(np.array([f(int(x), int(y)) for x, y in zip(a, b, strict=True)]))
    check(cases, expected, tmp_path)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_comparisons_of_floats(dtype, tmp_path):
    a, b = pairs(VALUES[dtype], VALUES[dtype], dtype, dtype)
    check(
        [(f"a {s} b", {"a": a, "b": b}) for s in ORDERS],
        [f(a, b) for f in ORDERS.values()],
        tmp_path,
    )


def test_arithmetic_of_booleans_is_of_integers(tmp_path):
    a, b = pairs([False, True], [False, True], "?", "?")
    x, y = a.astype("i8"), b.astype("i8")
    texts = {"a + b": x + y, "a * b": x * y, "a - b": x - y, "a & b": a & b, "a | b": a | b}
    texts |= {"a ^ b": a ^ b, "a and b": a & b, "a or b": a | b, "not a": ~a}
    check([(t, {"a": a, "b": b}) for t in texts], [*texts.values()], tmp_path)


@pytest.mark.parametrize("to", ["i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "f8", "f4", "?"])
def test_conversions_of_integers(to, tmp_path):
    name = "bool_" if to == "?" else np.dtype(to).name
    cases, expected = [], []
    for have in ["i8", "u8", "i4", "u4", "i2", "u1", "?"]:
        a = np.array(VALUES[have], have)
        cases.append((f"np.{name}(a)", {"a": a}))
        expected.append(a.astype(to))
    check(cases, expected, tmp_path)


@pytest.mark.parametrize("to", ["i8", "i4", "u8", "u4", "u1", "f8", "f4", "?"])
def test_conversions_of_floats_that_fit(to, tmp_path):
    a = np.array([0.0, -0.0, 0.5, 1.0, 100.7, -1.0, -3.9] if to != "?" else F8, "f8")
    name = "bool_" if to == "?" else np.dtype(to).name
    with np.errstate(all="ignore"):
        expected = a.astype(to)
    check([(f"np.{name}(a)", {"a": a})], [expected], tmp_path)


def test_shifts_and_complements(tmp_path):
    a, b = pairs([-(2**63), -5, -1, 0, 1, 9, 2**62], [0, 1, 5, 63], "i8", "i8")
    u, v = pairs(U8, [0, 1, 5, 63], "u8", "u8")
    cases = [("a << b", {"a": a, "b": b}), ("a >> b", {"a": a, "b": b}), ("~a", {"a": a})]
    cases += [("a << b", {"a": u, "b": v}), ("a >> b", {"a": u, "b": v}), ("~a", {"a": u})]
    check(cases, [a << b, a >> b, ~a, u << v, u >> v, ~u], tmp_path)


def test_powers_that_are_written_in_the_text(tmp_path):
    x = np.array([-7.5, -2.0, -0.5, -0.0, 0.0, 0.5, 1.0, 3.0, math.inf, -math.inf, math.nan])
    k = np.array([-9, -1, 0, 1, 2, 5], "i8")
    cases = [(f"x ** {n}", {"x": x}) for n in (0, 1, 2, 3, 4, 7, 10)]
    expected = [np.prod([x] * n, axis=0) if n else np.ones_like(x) for n in (0, 1, 2, 3, 4)]
    cases, rest = cases[:5], cases[5:]
    cases += [(f"k ** {n}", {"k": k}) for n in (0, 1, 2, 3, 5, 10)]
    expected += [k**n for n in (0, 1, 2, 3, 5, 10)]
    check(cases, expected, tmp_path)
    for (_, values), n, found in zip(rest, (7, 10), evaluated(rest, tmp_path), strict=True):
        np.testing.assert_allclose(found, values["x"] ** n, rtol=1e-14)


def test_powers_of_halves_and_others(tmp_path):
    x = np.array([-math.inf, -2.0, -0.0, 0.0, 0.25, 1.0, 7.0, math.inf, math.nan])
    powers = (0.5, -0.5, 1.5, -1.5, 2.5, -1.0, -2.0, 0.3, -3.7)
    cases = [(f"x ** {n}", {"x": x}) for n in powers]
    for n, found in zip(powers, evaluated(cases, tmp_path), strict=True):
        want = np.array([_power(v, n) for v in x])
        np.testing.assert_allclose(found, want, rtol=1e-15, err_msg=str(n))


def _power(x, n):
    with np.errstate(all="ignore"):
        return np.float64(x) ** np.float64(n)


def test_choices_extremes_and_signs(tmp_path):
    a, b = pairs(F8, F8, "f8", "f8")
    k, m = pairs(I8, I8, "i8", "i8")
    largest = np.where(np.isnan(a), a, np.maximum(a, b))
    cases = [("a if a > b or a != a else b", {"a": a, "b": b})]
    expected = [np.where((a > b) | np.isnan(a), a, b)]
    assert np.array_equal(largest[~np.isnan(b)], expected[0][~np.isnan(b)], equal_nan=True)
    cases += [("max(k, m)", {"k": k, "m": m}), ("min(k, m + 1 - 1)", {"k": k, "m": m})]
    expected += [np.maximum(k, m), np.minimum(k, m)]
    cases += [("abs(a)", {"a": a}), ("sign(a)", {"a": a}), ("-a", {"a": a}), ("abs(k)", {"k": k})]
    expected += [np.abs(a), np.sign(a), -a, np.abs(k)]
    cases += [("isnan(a)", {"a": a}), ("isinf(a)", {"a": a}), ("isfinite(a + 0.0)", {"a": a})]
    expected += [np.isnan(a), np.isinf(a), np.isfinite(a)]
    cases += [("isnan(-a)", {"a": a}), ("heaviside(a, b)", {"a": a, "b": b})]
    expected += [np.isnan(a), np.heaviside(a, b)]
    check(cases, expected, tmp_path)


def test_constants(tmp_path):
    x = np.array([0.0])
    texts = {"np.inf": np.inf, "-np.inf": -np.inf, "np.nan": np.nan, "1e300": 1e300, "0.1": 0.1}
    texts |= {
        "-0.0": -0.0,
        "np.float32(0.1)": np.float32(0.1),
        "-9223372036854775808": np.int64(-(2**63)),
    }
    texts |= {"18446744073709551615": np.uint64(2**64 - 1), "np.uint64(5)": np.uint64(5)}
    texts |= {
        "np.float32(np.inf)": np.float32(np.inf),
        "True": np.True_,
        "4294967296": np.int64(2**32),
    }
    texts |= {"np.int64(7) - 2147483648": np.int64(7 - 2**31), "np.float64(3) / 2": np.float64(1.5)}
    check([(t, {"x": x}) for t in texts], [np.array([v]) for v in texts.values()], tmp_path)


FUNCTIONS = "exp expm1 log log10 log1p log2 sqrt sin cos tan asin acos atan sinh cosh tanh asinh"
FUNCTIONS += " acosh atanh erf erfc lgamma gamma floor ceil trunc rint fabs cbrt exp2"


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_functions_of_one_float(dtype, tmp_path):
    scipy = pytest.importorskip("scipy.special")
    x = np.array([-2.5, -0.75, -0.0, 0.0, 0.3, 0.999, 1.0, 2.5, 30.0], dtype)
    names = FUNCTIONS.split()
    others = {"lgamma": scipy.gammaln, "gamma": scipy.gamma, "erf": scipy.erf, "erfc": scipy.erfc}
    others |= {n: getattr(np, "arc" + n[1:]) for n in names if n.startswith("a")}
    found = evaluated([(f"{n}(x)", {"x": x}) for n in names], tmp_path)
    for name, value in zip(names, found, strict=True):
        with np.errstate(all="ignore"):
            want = (others.get(name) or getattr(np, name))(x)
        if name == "gamma":
            want[x == 0] = np.copysign(np.inf, x[x == 0])
        assert value.dtype == np.dtype(dtype)
        np.testing.assert_allclose(
            value, want, rtol=2e-14 if dtype == "f8" else 3e-6, atol=1e-15, err_msg=name
        )


def test_functions_of_two_floats(tmp_path):
    a, b = pairs([-7.5, -1.0, -0.0, 0.5, 3.0], [-2.0, 0.5, 3.0, 7.0], "f8", "f8")
    names = ["atan2", "hypot", "copysign", "fmax", "fmin", "fmod", "nextafter", "logaddexp"]
    names.append("logaddexp2")
    others = {"atan2": np.arctan2}
    found = evaluated([(f"{n}(a, b)", {"a": a, "b": b}) for n in names], tmp_path)
    for name, value in zip(names, found, strict=True):
        want = others.get(name, getattr(np, name, None))(a, b)
        np.testing.assert_allclose(value, want, rtol=1e-15, atol=1e-15, err_msg=name)


@pytest.mark.parametrize("dtype", ["c16", "c8"])
def test_complex_numbers(dtype, tmp_path):
    parts = [-2.5, -0.0, 0.0, 1.0, 3.0]
    values = [complex(x, y) for x in parts for y in parts]
    a, b = pairs(values, values, dtype, dtype)
    tolerance = 1e-14 if dtype == "c16" else 1e-5
    cases = [(f"a {s} b", {"a": a, "b": b}) for s in "+-*/"]
    with np.errstate(all="ignore"):
        expected = [a + b, a - b, a * b, a / b]
        for name in ("exp", "log", "sqrt"):
            cases.append((f"np.{name}(a)", {"a": a}))
            expected.append(getattr(np, name)(a))
    cases += [("a.real", {"a": a}), ("a.imag", {"a": a}), ("a.conjugate()", {"a": a})]
    cases += [("-a", {"a": a}), ("a == b", {"a": a, "b": b}), ("a != b", {"a": a, "b": b})]
    cases += [
        ("abs(a)", {"a": a}),
        ("a ** 3", {"a": a}),
        ("a if a.real > 0 else b", {"a": a, "b": b}),
    ]
    expected += [a.real, a.imag, a.conjugate(), -a, a == b, a != b, np.abs(a), a * a * a]
    expected.append(np.where(a.real > 0, a, b))
    for (text, _), found, want in zip(cases, evaluated(cases, tmp_path), expected, strict=True):
        assert found.dtype == want.dtype, text
        np.testing.assert_allclose(found, want, rtol=tolerance, atol=tolerance, err_msg=text)


def test_bits_of_numbers(tmp_path):
    a = np.array([1.5, -0.0, 7.0])
    u = a.view("u8")
    s = a.astype("f4")
    cases = [("a.view(np.uint64)", {"a": a}), ("u.view(np.float64)", {"u": u})]
    cases += [("a.view(np.int64)", {"a": a}), ("s.view(np.uint32)", {"s": s})]
    check(cases, [u, a, a.view("i8"), s.view("u4")], tmp_path)


@pytest.mark.parametrize(
    ("text", "dtypes"),
    [
        ("a ** b", {"a": "i8", "b": "i8"}),
        ("a % b", {"a": "c16", "b": "c16"}),
        ("unknown(a)", {"a": "f8"}),
        ("a if a > 0 else k", {"a": "i8", "k": "u8"}),
        ("a & b", {"a": "f8", "b": "f8"}),
        ("sin(a, a)", {"a": "f8"}),
        ("a @ a", {"a": "f8"}),
        ("missing + 1", {"a": "f8"}),
        ("a + b", {"a": "?", "b": "u1"}),
        ("np.int64(z)", {"z": "c16"}),
    ],
)
def test_what_is_not_known_is_refused(text, dtypes):
    with pytest.raises(NotPrintedError):
        printed(text, dtypes)
