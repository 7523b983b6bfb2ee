"""Emits functions that raise errors of the user's for the numbers and values that kernels give.

raise KernelError(0, x[i])      becomes      raise ValueError(f"{x_i} < 0"), in the kernel's caller
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Block, Effect, Let, Type, Var
from tapeless.transforms.emit.module import Text, function_text, unused_name
from tapeless.transforms.lowering.schedule.user_errors import UserErrors, values_of
from tapeless.transforms.ops.primitives.shapes import cast

#: Dtypes whose numbers are the same text as those of Python.
ALIKE = (np.dtype(np.float64), np.dtype(np.int64))
HELPERS = (
    '''
class KernelError(Exception):
    """An error that a kernel comes to: which of the function's, and the values in its text."""
''',
    '''
def raising(*errors):
    """Makes a function raise its errors where kernels come to them."""

    def decorated(function):
        @functools.wraps(function)
        def called(*args):
            try:
                return function(*args)
            except KernelError as e:
                number, *values = e.args
            errors[number](*values)

        return called

    return decorated
''',
)


def raising_decorator(
    errors: UserErrors, name: str, taken: Iterable[str]
) -> tuple[str, list[Text]]:
    """What stands above the function `name` that calls the kernels, and what that needs."""
    helpers = [text.strip() for text in HELPERS]
    functions: list[Text] = [("\n\n\n".join(helpers), [], {"import functools"})]
    names: list[str] = []
    for s in errors.effects.values():
        names.append(unused_name(f"{name}_error", {*taken, *names}))
        functions.append(function_text(names[-1], _raising(s), ""))
    return f"@raising({', '.join(names)})\n", functions


def _raising(s: Effect) -> Block:
    """A program that raises an error. Kernels give numbers of Python's in place of NumPy's."""
    plain = {v: Var(Type(v.type.dtype, (), True), v.name) for v in values_of(s)}
    in_text = all(map(_is_in_text, s.params["parts"]))
    values: dict[Atom, Atom] = {}
    casts: list[Let] = []
    for v, w in plain.items():
        values[v] = w
        if not (v.type.weak or (in_text and v.type.dtype in ALIKE)):
            values[v] = x = Var(v.type, v.name)
            casts.append(Let((x,), cast, (w,), {"dtype": v.type.dtype}))
    args = tuple(values.get(a, a) for a in s.args)
    effect = Effect("raise", args, s.params, s.origin)
    return Block(tuple(plain.values()), (*casts, effect), ())


def _is_in_text(part: Any) -> bool:
    """Whether an argument of an error shows values in text only, and not by `repr`."""
    kind, value = part
    if kind != "text":
        return kind == "value"  # type: ignore[no-any-return]
    fields = [piece for piece in value if not isinstance(piece, str)]
    return all(inner[0] == "atom" and conversion != "r" for inner, conversion, _ in fields)
