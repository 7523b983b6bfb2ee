"""Defines elementwise functions that are too long to be written out wherever they are used.

An emitted module has each of them once, as a function, and calls it:

    x = erf_inv(2.0 * uniform - 1.0)

Compiled code has them for single numbers, each a function of the module, too.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import broadcast
from tapeless.transforms.core.language import Atom, Let, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.scalar_form import ModuleNeeds, Operands, ScalarForm
from tapeless.transforms.ops.primitives import erfinv_coefficients
from tapeless.transforms.ops.primitives.arithmetic import mul
from tapeless.transforms.ops.primitives.dtypes import conform
from tapeless.transforms.ops.primitives.elementwise import exp
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.python_text.python_source import template

PARITY = 0x1BD11BDA  # of the key schedule, from Skein
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
BLOCK = 1 << 15  # numbers that are worked on at a time: with temporaries they stay in the cache
WORD, COUNT = np.dtype(np.uint32), np.dtype(np.uint64)

THREEFRY = f'''
def threefry2x32(key0, key1, count):
    """64 random bits for each 64-bit count and key of two uint32 words: Threefry-2x32 (Salmon et
    al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011)."""
    turns = {ROTATIONS}
    blocks = np.nditer(  # which stay in the cache
        [key0, key1, count, None],
        ["external_loop", "buffered", "zerosize_ok"],
        [["readonly"]] * 3 + [["writeonly", "allocate"]],
        buffersize={BLOCK},
    )
    for k0, k1, n, out in blocks:
        keys = (k0, k1, k0 ^ k1 ^ np.uint32({PARITY:#x}))
        x = (n >> np.uint64(32)).astype(np.uint32) + k0
        y = n.astype(np.uint32) + k1
        low = np.empty_like(y)
        for k in range(5):
            for turn in turns[k % 2]:
                x += y
                np.right_shift(y, np.uint32(32 - turn), out=low)
                y <<= np.uint32(turn)
                y |= low
                y ^= x
            x += keys[(k + 1) % 3]
            y += keys[(k + 2) % 3] + np.uint32(k + 1)
        np.left_shift(x, np.uint64(32), out=out)
        out |= y
    return blocks.operands[3]
'''

UNIT = '''
def unit_of(bits):
    """Numbers in [0, 1), each of the upper 52 of 64 random bits."""
    made = bits >> np.uint64(12)
    made |= np.uint64(0x3ff0000000000000)  # the mantissas of numbers in [1, 2)
    made = made.view(np.float64)
    made -= 1.0
    return made
'''


def _coefficient_lines(coefficients: Iterable[Any]) -> str:
    text = ", ".join(repr(float(c)) if isinstance(c, float) else str(c) for c in coefficients)
    return textwrap.fill(text, 92, initial_indent=" " * 8, subsequent_indent=" " * 8)


ERF_INV = f'''
def erf_inv(x):
    """The inverse of the error function between -1 and 1 (M. Giles, "Approximating the erfinv
    function", GPU Computing Gems, 2012)."""
    near = [
{_coefficient_lines(erfinv_coefficients.DOUBLE_CENTRE)},
    ]
    far = [
{_coefficient_lines(erfinv_coefficients.DOUBLE_TAIL)},
    ]
    farther = [
{_coefficient_lines(erfinv_coefficients.DOUBLE_FAR)},
    ]
    blocks = np.nditer(  # which stay in the cache
        [x, None],
        ["external_loop", "buffered", "zerosize_ok"],
        [["readonly"], ["writeonly", "allocate"]],
        buffersize={BLOCK},
    )
    for u, out in blocks:
        w = -np.log(1 - u * u)
        v = w - 3.125
        out[...] = near[0]
        for c in near[1:]:
            out *= v
            out += c
        outside = w >= 6.25  # few
        root = np.sqrt(w[outside])
        tails = np.polyval(far, root - 3.25), np.polyval(farther, root - 5)
        out[outside] = np.where(w[outside] < 16, *tails)
        out *= u
    return blocks.operands[1]
'''
ERF_INV_SINGLE = f'''
def erf_inv_single(x):
    """The inverse of the error function between -1 and 1, of float32 (M. Giles, "Approximating the
    erfinv function", GPU Computing Gems, 2012)."""
    near = [
{_coefficient_lines(erfinv_coefficients.SINGLE_CENTRE)},
    ]
    far = [
{_coefficient_lines(erfinv_coefficients.SINGLE_TAIL)},
    ]
    blocks = np.nditer(  # which stay in the cache
        [x, None],
        ["external_loop", "buffered", "zerosize_ok"],
        [["readonly"], ["writeonly", "allocate"]],
        buffersize={BLOCK},
    )
    for u, out in blocks:
        w = -np.log(1 - u * u)
        v = w - np.float32(2.5)
        out[...] = near[0]
        for c in np.float32(near[1:]):
            out *= v
            out += c
        outside = w >= 5  # few
        out[outside] = np.polyval(np.float32(far), np.sqrt(w[outside]) - 3)
        out *= u
    return blocks.operands[1]
'''


# -- the same for single numbers, in compiled code

ROUNDS = '''
@njit(forceinline=True)
def four_rounds(x, y, a, b, c, d):
    """Four rounds of the block cipher Threefry-2x32, which turn words by these numbers of bits."""
    x = np.uint32(x + y)
    y = np.uint32(np.uint32(np.uint32(y << a) | np.uint32(y >> np.uint32(32 - a))) ^ x)
    x = np.uint32(x + y)
    y = np.uint32(np.uint32(np.uint32(y << b) | np.uint32(y >> np.uint32(32 - b))) ^ x)
    x = np.uint32(x + y)
    y = np.uint32(np.uint32(np.uint32(y << c) | np.uint32(y >> np.uint32(32 - c))) ^ x)
    x = np.uint32(x + y)
    y = np.uint32(np.uint32(np.uint32(y << d) | np.uint32(y >> np.uint32(32 - d))) ^ x)
    return x, y
'''


def _stage(k: int) -> str:
    turns = ", ".join(f"np.uint32({turn})" for turn in ROTATIONS[k % 2])
    first, second = f"key{(k + 1) % 3}", f"key{(k + 2) % 3}"
    return f"""\
    x, y = four_rounds(x, y, {turns})
    x, y = np.uint32(x + {first}), np.uint32(y + np.uint32({second} + np.uint32({k + 1})))
"""


RANDOM_WORD = f'''
@njit(forceinline=True)
def random_word(key0, key1, count):
    """64 random bits for a 64-bit count and a key of two uint32 words: Threefry-2x32 (Salmon et
    al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011)."""
    key2 = np.uint32(np.uint32(key0 ^ key1) ^ np.uint32({PARITY:#x}))
    x = np.uint32(np.uint32(count >> np.uint64(32)) + key0)
    y = np.uint32(np.uint32(count) + key1)
{"".join(map(_stage, range(5)))}\
    return np.uint64(np.uint64(np.uint64(x) << np.uint64(32)) | np.uint64(y))
'''


def _number(c: Any) -> str:
    return f"np.float32({c!s})" if isinstance(c, np.float32) else repr(c)


def _steps(letter: str, coefficients: Any) -> list[str]:
    """Horner's rule for a polynomial in `fourth`, a line for each product."""
    first, *rest = map(_number, coefficients)
    values = [first, *[letter] * len(rest)]
    return [f"{letter} = {v} * fourth + {c}" for v, c in zip(values, rest, strict=False)]


def _polynomial(name: str, coefficients: Any, x: str) -> str:
    """Lines that set a variable to the value of a polynomial.

    By Horner's rule each product would wait for the one before: every fourth coefficient makes a
    polynomial in x**4, and the four are computed side by side.
    """
    up = coefficients[::-1]
    steps = [line for k, letter in enumerate("abcd") for line in _steps(letter, up[k::4][::-1])]
    lines = [f"s = {x}", "square = s * s", "fourth = square * square", *steps]
    lines.append(f"{name} = (a + b * s) + (c + d * s) * square")
    return "\n".join(f"    {line.replace('+ -', '- ')}" for line in lines)


INVERSE_ERROR = f'''
@njit(error_model="numpy", forceinline=True)
def inverse_error(x):
    """The inverse of the error function between -1 and 1 (M. Giles, "Approximating the erfinv
    function", GPU Computing Gems, 2012)."""
    w = -log(1 - x * x)
    root = sqrt(w)
{_polynomial("near", erfinv_coefficients.DOUBLE_CENTRE, "w - 3.125")}
{_polynomial("far", erfinv_coefficients.DOUBLE_TAIL, "root - 3.25")}
{_polynomial("farther", erfinv_coefficients.DOUBLE_FAR, "root - 5.0")}
    value = near if w < 6.25 else (far if w < 16.0 else farther)
    return value * x
'''
INVERSE_ERROR_SINGLE = f'''
@njit(error_model="numpy", forceinline=True)
def inverse_error_single(x):
    """The inverse of the error function between -1 and 1, of float32 (M. Giles, "Approximating the
    erfinv function", GPU Computing Gems, 2012)."""
    w = -log(np.float32(1) - x * x)
{_polynomial("near", erfinv_coefficients.SINGLE_CENTRE, "w - np.float32(2.5)")}
{_polynomial("far", erfinv_coefficients.SINGLE_TAIL, "sqrt(w) - np.float32(3)")}
    value = near if w < np.float32(5) else far
    return value * x
'''
#: Names that a compiled module with one of the functions has.
NAMES = ("four_rounds", "random_word", "inverse_error", "inverse_error_single")


def _inverse_error(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
    single = s.args[0].type.dtype.itemsize < 8
    name = "inverse_error_single" if single else "inverse_error"
    module.imports |= {("math", "log"), ("math", "sqrt")}
    module.helpers[(INVERSE_ERROR_SINGLE if single else INVERSE_ERROR).strip()] = None
    return template(f"{name}({{0}})", operands.convert("own", s.outs[0].type.dtype))


def _function(text: str) -> Any:
    """The function that a text defines: the same in our own code and in emitted modules."""
    namespace: dict[str, Any] = {"np": np, "__name__": __name__}
    exec(text, namespace)
    return namespace[text.split("(")[0].removeprefix("\ndef ")]


# -- 64 random bits: (uint32, uint32, uint64) to uint64


def _threefry_infer(key0: Atom, key1: Atom, count: Atom) -> Type:
    have = tuple(a.type.dtype for a in (key0, key1, count))
    if have != (WORD, WORD, COUNT):
        raise TypeError(f"threefry2x32 takes uint32, uint32 and uint64, not {have}")
    return Type(COUNT, broadcast(key0.type.shape, key1.type.shape, count.type.shape))


threefry2x32 = _function(THREEFRY)
threefry = Op(
    "threefry2x32",
    _threefry_infer,
    lambda args, params: ("threefry2x32({0}, {1}, {2})", THREEFRY),
    costly=True,
    elementwise=True,
    scalar=ScalarForm(
        "random_word({0}, {1}, {2})", "own", helpers=(ROUNDS, RANDOM_WORD), exact=True, work=100
    ),
)

# -- uniform numbers: uint64 to float64


def _unit_infer(bits: Atom) -> Type:
    if bits.type.dtype != COUNT:
        raise TypeError(f"unit_of takes uint64, not {bits.type.dtype}")
    return Type(np.dtype(np.float64), bits.type.shape)


unit_of = _function(UNIT)
unit = Op(
    "unit_of",
    _unit_infer,
    lambda args, params: ("unit_of({0})", UNIT),
    elementwise=True,
    finite="always",
)

# -- the inverse error function between -1 and 1: float32 or float64


def _erf_inv_infer(x: Atom) -> Type:
    if x.type.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"erf_inv takes float32 or float64, not {x.type.dtype}")
    return Type(x.type.dtype, x.type.shape)


def _erf_inv_source(args: Any, params: Any) -> tuple[str, str]:
    if args[0].type.dtype.itemsize < 8:
        return "erf_inv_single({0})", ERF_INV_SINGLE
    return "erf_inv({0})", ERF_INV


def _erf_inv_jvp(primals: Any, tangents: Any, outs: Any, params: Any) -> tuple[Any]:
    y = outs[0]
    slope = math.sqrt(math.pi) / 2 * exp(y * y)
    return (conform(mul(tangents[0], slope), y.type),)


erf_inv = _function(ERF_INV)
erf_inv_single = _function(ERF_INV_SINGLE)
inverse_erf = Op(
    "erf_inv",
    _erf_inv_infer,
    _erf_inv_source,
    _erf_inv_jvp,
    costly=True,
    elementwise=True,
    scalar=ScalarForm(
        _inverse_error, imports=(("math", "log"), ("math", "sqrt")), exact=True, work=60
    ),
)


def _rule(op: Op) -> Callable[..., Any]:
    return lambda *args: op(*map(as_array, args))


#: The functions that a staged run meets.
OURS: dict[Any, Any] = {
    threefry2x32: _rule(threefry),
    unit_of: _rule(unit),
    erf_inv: _rule(inverse_erf),
}
