"""Lets compiled loops raise errors whose text tells of data: kernels give a number and the values,
the function that calls them raises the error.

raise ValueError(f"{x[i]} < 0")      becomes      raise KernelError(0, x[i])     in the kernel
                                                  raise ValueError(f"{x_i} < 0")  in its caller
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Block, Effect, Let, Type, Var
from tapeless.transforms.emit.module import Text, function_text, unused_name
from tapeless.transforms.lowering.scalars.operations import DTYPES
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


class UserErrors:
    """The errors that kernels of a program give by their numbers."""

    def __init__(self) -> None:
        self.effects: dict[Any, Effect] = {}

    def number(self, s: Effect) -> int:
        types = tuple(a.type if isinstance(a, Var) else a for a in s.args)
        key = (s.params["type"], repr(s.params["parts"]), types, s.origin)
        self.effects.setdefault(key, s)
        return list(self.effects).index(key)

    def decorator(self, name: str, taken: Iterable[str]) -> tuple[str, list[Text]]:
        """What stands above the function `name` that calls the kernels, and what that needs."""
        helpers = [text.strip() for text in HELPERS]
        functions: list[Text] = [("\n\n\n".join(helpers), [], {"import functools"})]
        names: list[str] = []
        for s in self.effects.values():
            names.append(unused_name(f"{name}_error", {*taken, *names}))
            functions.append(function_text(names[-1], _raising(s), ""))
        return f"@raising({', '.join(names)})\n", functions


def told_by_kernels(s: Effect) -> bool:
    """Whether all that an error tells of are numbers that kernels have."""
    return s.kind == "raise" and all(
        isinstance(a.type, Type) and not a.type.shape and a.type.dtype in DTYPES for a in s.args
    )


def values_of(s: Effect) -> list[Var]:
    """What a kernel gives with an error."""
    return list(dict.fromkeys(a for a in s.args if isinstance(a, Var)))


def _raising(s: Effect) -> Block:
    """A program that raises an error. Kernels give numbers of Python's in place of NumPy's."""
    given = {v: Var(Type(v.type.dtype, (), True), v.name) for v in values_of(s)}
    in_text = all(map(_is_in_text, s.params["parts"]))
    lets = {
        v: Let((Var(v.type, v.name),), cast, (w,), {"dtype": v.type.dtype})
        for v, w in given.items()
        if not (v.type.weak or (in_text and v.type.dtype in ALIKE))
    }
    args = [lets[a].outs[0] if a in lets else given.get(a, a) for a in s.args]
    effect = Effect("raise", tuple(args), s.params, s.origin)
    return Block(tuple(given.values()), (*lets.values(), effect), ())


def _is_in_text(part: Any) -> bool:
    """Whether an argument of an error shows values in text only, and not by `repr`."""
    kind, value = part
    if kind != "text":
        return kind == "value"  # type: ignore[no-any-return]
    fields = [piece for piece in value if not isinstance(piece, str)]
    return all(inner[0] == "atom" and conversion != "r" for inner, conversion, _ in fields)
