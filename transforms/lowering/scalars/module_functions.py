"""Functions that a module has once (`ops/written_once.py`), for single numbers of a kernel.

erf_inv(x)      becomes, for each element,      inverse_error(x)
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Let, Literal
from tapeless.transforms.lowering.scalars.operations import literal
from tapeless.transforms.ops.primitives import erfinv_coefficients
from tapeless.transforms.ops.primitives.module_functions import PARITY, ROTATIONS
from tapeless.transforms.python_text.python_source import template

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
#: Names that a module with one of the functions has.
NAMES = ("four_rounds", "random_word", "inverse_error", "inverse_error_single")

HELPERS = {
    "random_word": (ROUNDS, RANDOM_WORD),
    "inverse_error": (INVERSE_ERROR,),
    "inverse_error_single": (INVERSE_ERROR_SINGLE,),
}
WORK = {"threefry2x32": 100, "erf_inv": 60}  # in additions


def function_of(s: Let) -> str | None:
    """The function that stands for an operation, for operands of these dtypes."""
    have = tuple(a.type.dtype for a in s.args)
    match s.op.name:
        case "threefry2x32":
            return "random_word"
        case "erf_inv":
            return "inverse_error" if have[0].itemsize == 8 else "inverse_error_single"
    return None


def called(
    s: Let, values: list[ast.expr], imports: set[tuple[str, str]], helpers: dict[str, None]
) -> ast.expr:
    """The call of the function; notes what the module must have for it."""
    name = function_of(s)
    assert name is not None
    helpers |= dict.fromkeys(text.strip() for text in HELPERS[name])
    if name != "random_word":
        imports |= {("math", "log"), ("math", "sqrt")}
    holes = {
        str(k): literal(a.value, a.type.dtype) if isinstance(a, Literal) else value
        for k, (a, value) in enumerate(zip(s.args, values, strict=True))
    }
    return template(f"{name}({', '.join(f'{{{k}}}' for k in holes)})", holes)  # type: ignore[no-any-return]
