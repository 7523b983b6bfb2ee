"""Stages print as an effect of the program."""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Effect
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.builtins.formatting import text_of
from tapeless.transforms.frontend.control_flow.branches import for_each_option
from tapeless.transforms.frontend.effects.effects import effect_parts
from tapeless.transforms.frontend.effects.foreign_calls import record, refuse_file
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.container_aliases import MUTABLE
from tapeless.transforms.frontend.values.text import Text
from tapeless.transforms.python_text.literals import is_literal


def print_(
    hooks: Any, *values: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False
) -> None:
    refuse_file(file)
    if file is not None or flush or isinstance(sep, Text) or isinstance(end, Text):
        arguments = {
            "sep": (sep, " "),
            "end": (end, "\n"),
            "file": (file, None),
            "flush": (flush, False),
        }
        record(
            "print", "sys", values, {k: v for k, (v, usual) in arguments.items() if v is not usual}
        )
        return
    shown = (hooks.call(str, v) if _is_object(v) else text_of(v, "s") for v in values)
    shown = (str(v) if isinstance(v, NAMED) and not is_literal(v) else v for v in shown)
    for_each_option(functools.partial(_print_texts, sep, end), *shown)


def _print_texts(sep: Any, end: Any, *shown: Any) -> None:
    args: list[Any] = []
    parts = tuple(effect_parts(v, args) for v in shown)
    trace().emit(
        Effect("print", tuple(args), {"parts": parts, "sep": sep, "end": end}, trace().place())
    )


#: What is shown by its name.
NAMED = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc, np.dtype)


def _is_object(x: Any) -> bool:
    """Whether it is shown by a text of its class, or as where it is in memory."""
    return hasattr(x, "__dict__") and not isinstance(x, (Symbol, Text, Either, *MUTABLE, tuple))
