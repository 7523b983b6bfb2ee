"""Calls functions that are not staged: by their rule, on symbols, or when the program runs."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from typing import Any

from tapeless.transforms.core.builder import NeedStatic
from tapeless.transforms.errors import TapelessError, UnsupportedError
from tapeless.transforms.frontend.arrays.foreign_arrays import has_foreign, is_foreign
from tapeless.transforms.frontend.effects.foreign_calls import refuse_kept
from tapeless.transforms.frontend.effects.linear_external_calls import call_outside
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.heap.locations import before_change
from tapeless.transforms.frontend.trace.dependence import need_integers
from tapeless.transforms.frontend.trace.provenance import may_change, qualified_name
from tapeless.transforms.frontend.trace.trace import CannotRoll, trace
from tapeless.transforms.frontend.values.text import Text


def require_program_order(method: Any) -> None:
    """Objects of Python's library change in the order of the program, and are not put back."""
    if may_change(method.__self__):
        what = (
            f"calls {qualified_name(method)}, which may change an object that is made outside of it"
        )
        trace().only_once(what, "use lists, dicts and arrays", trace().birth(method.__self__))


def before_native_change(name: str, args: tuple[Any, ...]) -> None:
    """C code may change the containers that it is given, such as heapq.heappop."""
    for a in args:
        if isinstance(a, StagedList) and a.tail is not None:
            why = f"{name}() gets a list that it fills"
            trace().decisions.unroll_all(dict.fromkeys(a.tail.loops, why))
            if trace().loops.rolling:
                raise CannotRoll(why)
            raise UnsupportedError(
                f"{name}() of a list that was filled in a loop", "make it an array with np.array"
            )
        before_change(a)


class MethodByName:
    """What calls a method of an object by its name."""

    def __init__(self, this: Any, name: str) -> None:
        self.__name__, self.__module__ = name, f"{type(this).__module__}.{type(this).__qualname__}"

    def __call__(self, this: Any, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(this, self.__name__)(*args, **kwargs)


def is_for_library(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a program that is traced calls a library's function, as it is about objects of
    libraries; functions of Python's are not about what containers hold."""
    if not trace().observing:
        return False
    root = (getattr(f, "__module__", None) or "builtins").partition(".")[0].removeprefix("_")
    look = is_foreign if root in sys.stdlib_module_names else has_foreign
    return any(map(look, (*args, *kwargs.values())))


def _has_functions(values: Iterable[Any]) -> bool:
    """Whether there are functions among values, or in their lists: they may read the program's;
    classes are dtypes."""
    return any(_has_functions(v) if isinstance(v, (list, tuple)) else _enters(v) for v in values)


def _enters(value: Any) -> bool:
    return callable(value) and not isinstance(value, type)


def by_rule(rule: Callable[..., Any], f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a rule gives; what the function gives where the rule does not know its options and a
    program is traced."""
    if not trace().observing or _has_functions((*args, *kwargs.values())):
        return rule(*args, **kwargs)
    try:
        with trace().undone_by_errors():
            return rule(*args, **kwargs)
    except UnsupportedError:
        return call_outside(f, args, kwargs)


def rule_or_external_call(
    rule: Callable[[], Any], f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What a rule gives; where there is none and a program is traced, what the function gives."""
    try:
        return rule()
    except (NeedStatic, UnsupportedError):
        if not trace().observing:
            raise
        return call_outside(f, args, kwargs)


def _is_text(value: Any) -> bool:
    """Whether it is text that only the program knows, or a list or tuple with such text."""
    return (
        any(map(_is_text, value)) if isinstance(value, (list, tuple)) else isinstance(value, Text)
    )


def call_opaque(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Runs a function that has no rule on symbols, which it may pass on but not look into."""
    refuse_kept(f)
    try:
        return f(*args, **kwargs)
    except TapelessError:
        raise
    except Exception as e:
        need_integers(qualified_name(f), (*args, *kwargs.values()))
        of_module = type(e).__module__ != "builtins"  # struct.error and its like
        ours = str(getattr(f, "__module__", "")).startswith("tapeless.")  # it knows symbols
        looks = of_module or isinstance(e, (TypeError, AttributeError)) or any(map(_is_text, args))
        if ours or not looks:
            raise
        raise UnsupportedError(
            f"{qualified_name(f)} has no rule, and cannot take a value that is known only when the"
            f" program runs ({e})",
            "write it with NumPy functions, or call it outside and pass in what it gives",
        ) from e


def call_with_functions(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function without a rule gives for functions of the program. They may hold values,
    which compiled code cannot take; it has errors of its own for that."""
    try:
        rule = functools.partial(call_opaque, f, args, kwargs)
        return rule_or_external_call(rule, f, args, kwargs)
    except TapelessError:
        raise
    except Exception:  # noqa: BLE001  # it may be any that the library makes of our refusal
        return call_outside(f, args, kwargs)
