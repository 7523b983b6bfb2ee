"""Stages what a program does besides computing: text that it prints, exceptions that it raises."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import NeedStatic
from tapeless.transforms.core.language import Atom, Block, Effect, If, Statement, statements
from tapeless.transforms.errors import (
    Signal,
    UnsupportedError,
)
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.effects.exception_handlers import is_always_caught
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.trace.observation import Unobservable, python_value
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.container_aliases import MUTABLE
from tapeless.transforms.frontend.values.structure import has_symbols
from tapeless.transforms.frontend.values.text import (
    ChosenText,
    ComputedText,
    ExternalText,
    Template,
    Text,
)
from tapeless.transforms.python_text.literals import is_literal

STOPPED = "generator raised StopIteration"  # Python's words


class Unreachable(Signal):
    """The block that is being staged ends by raising."""


def effect_parts(values: Any, args: list[Atom]) -> Any:
    """A print argument or message as nested tuples in which atoms are numbered."""
    if isinstance(values, Template):
        return (
            "text",
            tuple(
                p if isinstance(p, str) else (effect_parts(p[0], args), p[1], _spec(p[2], args))
                for p in values.parts
            ),
        )
    if isinstance(values, ComputedText):
        return ("made", (values.form, tuple(effect_parts(v, args) for v in values.values)))
    if isinstance(values, ChosenText):
        values = ComputedText("{0} if {1} else {2}", (values.yes, values.test, values.no))
        return effect_parts(values, args)
    if isinstance(values, Symbol):
        args.append(values.value())
        return ("atom", len(args) - 1)
    if isinstance(values, ExternalText):
        return ("value", values.need("print"))
    if not has_symbols(values):
        # what the program changes later is shown as it is now
        shown = copy.deepcopy(values) if isinstance(values, (*MUTABLE, tuple)) else values
        if is_literal(shown):
            return ("value", shown)
    if type(values) is dict and all(map(is_literal, values)):
        return ("dict", tuple((k, effect_parts(v, args)) for k, v in values.items()))
    if type(values) not in (tuple, list, StagedList):
        raise not_shown(values)
    kind = "tuple" if isinstance(values, tuple) else "list"
    return (kind, tuple(effect_parts(v, args) for v in values))


def not_shown(value: Any) -> UnsupportedError:
    return UnsupportedError(
        f"an object of type {type(value).__name__} is shown in text, or is in an error",
        "show its values, or give its class a __str__ or __repr__",
    )


def _spec(spec: Any, args: list[Atom]) -> Any:
    return spec if isinstance(spec, str) else effect_parts(spec, args)


def in_generator(f: Callable[..., Any], *args: Any) -> Any:
    """Calls what runs in a generator, which StopIteration leaves as a RuntimeError."""
    handlers = trace().handlers
    handlers.generators.append(len(handlers.open))
    try:
        return f(*args)
    except StopIteration as e:
        raise RuntimeError(STOPPED) from e
    finally:
        handlers.generators.pop()


def raise_(exc: Any, cause: Any = None) -> None:
    kind = exc if isinstance(exc, type) else type(exc)
    if trace().handlers.leaves_generator(kind):
        kind, exc = RuntimeError, RuntimeError(STOPPED)
    if trace().tracing and _has_symbols(exc):
        exc = _with_values(exc)
    if is_always_caught(kind):
        raise exc from cause
    if len(trace().journals) == 1 and not _has_symbols(exc):
        _refuse_after_effects(exc)
        raise exc from cause
    if "<locals>" in kind.__qualname__:
        raise UnsupportedError(
            f"{kind.__name__}, which is raised under a test on data, is a class made in a function",
            "define it at the top of a module",
        )
    args: list[Atom] = []
    parts = () if isinstance(exc, type) else tuple(effect_parts(a, args) for a in exc.args)
    trace().emit(Effect("raise", tuple(args), {"type": kind, "parts": parts}, trace().place()))
    raise Unreachable


def _with_values(exc: Any) -> Any:
    """An error as it is in the call at hand, on whose values a program is traced."""
    values = copy.copy(exc)
    with contextlib.suppress(Unobservable):
        values.args = tuple(map(_value, exc.args))
        return values
    return exc


def _value(x: Any) -> Any:
    run = trace()
    if isinstance(x, Text):
        return x.text_in_call()
    if isinstance(x, Symbol) and run.call.values is not None:
        a = x.value()
        value = run.call.values.value(a)
        return np.array(value) if x.mutable else python_value(value, a.type)
    if isinstance(x, (list, tuple)):
        parts = [_value(v) for v in x]
        return tuple(parts) if isinstance(x, tuple) else parts
    return x


def _refuse_after_effects(exc: Any) -> None:
    """What a function prints, or raises for some values, before the error that it raises in all
    cases would be lost; lengths and integers that decide it are made known."""
    for s in trace().blocks[0]:
        inside = [*statements(Block((), (s,), ()))]
        if _prints(inside) and trace().tracing and (values := trace().call.values) is not None:
            values.perform(s)
        elif _prints(inside) or (_raises(inside) and not trace().tracing):
            why = (
                f"the function raises {exc!r} in all cases, after it prints or may raise another "
                "error by data"
            )
            if isinstance(s, If):
                raise NeedStatic(s.test, why, "call it as it is")
            raise UnsupportedError(why, "call it as it is")


def _prints(body: list[Statement]) -> bool:
    return any(isinstance(s, Effect) and s.kind == "print" for s in body)


def _raises(body: list[Statement]) -> bool:
    return any(isinstance(s, Effect) and s.kind == "raise" for s in body)


def _has_symbols(exc: Any) -> bool:
    return not isinstance(exc, type) and any(map(has_symbols, exc.args))
