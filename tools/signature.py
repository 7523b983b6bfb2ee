"""Makes the arguments of a function: from a description, else from its defaults and annotations."""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import itertools
import sys
import types
import typing
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.tools.arguments import parse
from tapeless.tools.errors import UsageError

SCALAR, VECTOR = "f8", "f8[3]"
TELL = '--args describes them: --args "f8[100,3], f8, i8=5"'


def example_arguments(function: Callable[..., Any], described: str | None) -> tuple[Any, ...]:
    """Positional arguments to stage the function with; a float scalar where nothing is known."""
    if described is None:
        told = itertools.takewhile(lambda p: not _opaque(p.default), _positional(function))
        return tuple(_example(function, parameter) for parameter in told)
    values = parse(described)
    try:
        inspect.signature(function).bind(*values)
    except TypeError as error:
        takes = ", ".join(parameter_names(function))
        raise UsageError(
            f"--args describes {len(values)} arguments: {error}",
            f"{_name(function)} takes ({takes})",
        ) from None
    return values


def taken_for_numbers(function: Callable[..., Any]) -> list[str]:
    """Names of the positional parameters of which neither a default nor an annotation tells what
    they are like."""
    nothing = inspect.Parameter.empty
    return [
        p.name for p in _positional(function) if p.default is nothing and p.annotation is nothing
    ]


def positions(function: Callable[..., Any], names: str) -> tuple[int, ...]:
    """Where the parameters stand whose names, separated by commas, are given."""
    parameters = parameter_names(function)
    wanted = [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in parameters:
            raise UsageError(
                f"{_name(function)} has no positional parameter {name!r}",
                f"--wrt takes some of {', '.join(parameters)}",
            )
    if len(set(wanted)) < len(wanted):
        raise UsageError(f"--wrt {names} names a parameter twice", "name each once")
    return tuple(parameters.index(name) for name in wanted)


def parameter_names(function: Callable[..., Any]) -> list[str]:
    """Names of the positional parameters."""
    return [parameter.name for parameter in _positional(function)]


def _positional(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        raise UsageError(
            f"{_name(function)} does not tell its parameters", "wrap it in a Python function"
        ) from None
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            raise UsageError(
                f"{_name(function)} needs the keyword {parameter.name!r}",
                "wrap it in a function that passes it",
            )
    return [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _opaque(default: Any) -> bool:
    """Whether a default is an object that is best left to the function itself."""
    plain = (bool, int, float, complex, str, tuple, list, dict, np.ndarray, np.generic, type(None))
    return default is not inspect.Parameter.empty and not isinstance(default, plain)


def _example(function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    default, annotation = parameter.default, _resolve_annotation(function, parameter.annotation)
    if default is not parameter.empty and not (default is None and _alternatives(annotation)):
        return default
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        return object_of(annotation)
    try:
        (value,) = parse(_description(annotation))
    except UsageError:
        if default is None:
            return None
        kind = annotation if typing.get_args(annotation) else getattr(annotation, "__name__", None)
        raise UsageError(
            f"{_name(function)} does not tell what {parameter.name!r} is like:"
            f" it is annotated as {kind or annotation}",
            TELL,
        ) from None
    return value


def object_of(kind: type) -> Any:
    """An object of a dataclass, whose fields are defaults, or are what their annotations say."""
    fields = inspect.signature(kind).parameters.values()
    return kind(**{p.name: _example(kind, p) for p in fields if p.default is p.empty})


def _resolve_annotation(function: Callable[..., Any], annotation: Any) -> Any:
    """What an annotation that is text, as all are under `from __future__ import annotations`,
    stands for in its module; the text if that says nothing."""
    scope = getattr(inspect.unwrap(function), "__globals__", None)
    if scope is None:  # of a class
        scope = vars(sys.modules.get(function.__module__, builtins))
    while isinstance(annotation, str):
        try:
            value = eval(annotation, scope)  # as typing.get_type_hints does
        except (SyntaxError, NameError, TypeError, AttributeError, LookupError, ValueError):
            return annotation
        if value is annotation:
            return annotation
        annotation = value
    return annotation


def _alternatives(annotation: Any) -> list[Any]:
    """The types of a union but None; [] if it is none."""
    if typing.get_origin(annotation) not in (typing.Union, types.UnionType):
        return []
    return [kind for kind in typing.get_args(annotation) if kind is not type(None)]


def _description(annotation: Any) -> str:
    """A type or its name as a description of an argument: float, "f8[3]", np.ndarray, NDArray,
    tuple[float, float], float | None."""
    if annotation is inspect.Parameter.empty:
        return SCALAR
    if kinds := _alternatives(annotation):
        return _description(kinds[0])
    if typing.get_origin(annotation) is tuple:
        return f"({', '.join(map(_description, typing.get_args(annotation)))})"
    annotation = getattr(annotation, "__forward_arg__", annotation)
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "?")
    return VECTOR if "ndarray" in text.lower() else text.strip("'\"")


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", None) or repr(function)
