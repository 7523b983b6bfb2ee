"""Integers of a fixed width in compiled code: compared by value, shifted by any count.

greater(x, -1), x of uint8      becomes      0 > -1
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Let, Literal
from tapeless.transforms.python_text.python_source import number, template

INT = np.dtype(int)
COMPARISONS = {
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "equal": "==",
    "not_equal": "!=",
}
SHIFTS = {"left_shift": "<<", "right_shift": ">>"}
BITS = 64  # of integers while they are shifted
KINDS = "biufc"


def compared(s: Let, operands: Any) -> Any:
    """The text of a comparison. What an integer dtype does not hold is compared as if with zero."""
    text = f"{{0}} {COMPARISONS[s.op.name]} {{1}}"
    for k, a in enumerate(s.args):
        if isinstance(a, Literal) and not fits(a, s.args[1 - k].type.dtype):
            sign = 1 if a.value > 0 else -1
            return template(text, {str(k): number(sign), str(1 - k): number(0)})
    dtype = _common(s.args)
    if dtype.kind == "f" and all(a.type.dtype.kind in "iu" for a in s.args):
        each = {str(k): operands.one(k, a.type.dtype) for k, a in enumerate(s.args)}
        return template(text, each)  # signed and unsigned ones of 64 bits
    return template(text, operands.natural(dtype))


def fits(a: Atom, dtype: np.dtype[Any]) -> bool:
    """Whether an atom is no constant integer of Python's beyond the range of an integer dtype."""
    if dtype.kind not in "iu" or not (isinstance(a, Literal) and a.type.weak):
        return True
    limits = np.iinfo(dtype)
    return not isinstance(a.value, int) or limits.min <= a.value <= limits.max


def _common(args: tuple[Atom, ...]) -> np.dtype[Any]:
    """The dtype in which values are compared."""
    strong = [a.type.dtype for a in args if not a.type.weak] or [a.type.dtype for a in args]
    made = np.result_type(*strong)
    for a in args:
        have, wanted = a.type.dtype.kind, made.kind
        if a.type.weak and KINDS.index(have) > KINDS.index(wanted):
            made = a.type.dtype if have != "i" else np.result_type(made, INT)
        elif a.type.weak and have == "i" and wanted in "iu" and not isinstance(a, Literal):
            made = np.result_type(made, INT)
    return made


def shifted(s: Let, operands: Any) -> Any:
    """The text of a shift. A count of all bits and more leaves none of them, as in NumPy."""
    out, count, sign = s.outs[0].type.dtype, s.args[1], SHIFTS[s.op.name]
    holes = operands.natural(out)
    if isinstance(count, Literal) and 0 <= count.value < BITS:
        return template(f"{{0}} {sign} {{1}}", holes)
    if sign == ">>" and out.kind == "i":
        return template(f"{{0}} >> ({{1}} if 0 <= {{1}} < {BITS} else {BITS - 1})", holes)
    nothing = number(0 if out == INT else out.type(0))
    text = f"{{0}} {sign} {{1}} if 0 <= {{1}} < {BITS} else {{2}}"
    return template(text, {**holes, "2": nothing})
