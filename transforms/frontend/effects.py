"""What a program does besides computing: text that it prints, exceptions that it raises."""

from __future__ import annotations

import string
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    Let,
    Literal,
    Var,
    statements,
)
from tapeless.transforms.errors import (
    Signal,
    UnsupportedError,
)
from tapeless.transforms.frontend.symbols import Symbol
from tapeless.transforms.frontend.trace import trace
from tapeless.transforms.frontend.values import (
    contains_symbol,
)


class Unreachable(Signal):
    """The block that is being staged ends by raising."""


@dataclass(frozen=True)
class Template:
    """Text with values that are known when the program runs."""

    parts: tuple[Any, ...]

    def __add__(self, other: Any) -> Template:
        return Template((*self.parts, *(other.parts if isinstance(other, Template) else (other,))))

    def __radd__(self, other: str) -> Template:
        return Template((other, *self.parts))

    def __str__(self) -> str:
        return "".join(p if isinstance(p, str) else "<?>" for p in self.parts)


CONVERSIONS: dict[int, Callable[[Any], Any]] = {
    -1: lambda value: value,
    ord("r"): repr,
    ord("s"): str,
    ord("a"): ascii,
}


def formatted(*parts: Any) -> Any:
    """An f-string of texts and (value, conversion, spec): a template if it shows symbols."""
    flat: list[Any] = []
    for p in parts:
        if isinstance(p, str):
            flat.append(p)
            continue
        value, conversion, spec = p
        if contains_symbol(value) or isinstance(value, Template):
            flat.append((value, conversion, spec))
        else:
            flat.append(format(CONVERSIONS[conversion](value), spec))
    if all(isinstance(p, str) for p in flat):
        return "".join(flat)
    return Template(tuple(flat))


def format_method(text: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """str.format."""
    parts: list[Any] = []
    position = 0
    for literal, field, spec, conversion in string.Formatter().parse(text):
        parts.append(literal)
        if field is None:
            continue
        key: Any = field
        if not field:
            key, position = position, position + 1
        value = args[int(key)] if isinstance(key, int) or key.isdigit() else kwargs[key]
        parts.append((value, ord(conversion) if conversion else -1, spec or ""))
    return formatted(*parts)


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
    if contains_symbol(values) and not isinstance(values, Symbol):
        if isinstance(values, dict):
            return ("dict", tuple((k, effect_parts(v, args)) for k, v in values.items()))
        return (type(values).__name__, tuple(effect_parts(v, args) for v in values))
    if isinstance(values, Symbol):
        args.append(values.value())
        return ("atom", len(args) - 1)
    return ("value", values)


def _spec(spec: Any, args: list[Atom]) -> Any:
    return spec if isinstance(spec, str) else effect_parts(spec, args)


def raise_(exc: Any, cause: Any = None) -> None:
    kind = exc if isinstance(exc, type) else type(exc)
    depth = len(trace().journals)
    for level, kinds in reversed(trace().handlers):
        if issubclass(kind, kinds()):
            if level == depth:  # whether it is raised does not depend on data
                raise exc from cause
            raise UnsupportedError(
                f"whether this {kind.__name__} is raised depends on the contents of arrays, "
                "and an except clause catches it",
                "write it as if and else",
            )
    if depth == 1 and not _has_symbols(exc):
        raise exc from cause
    args: list[Atom] = []
    parts = () if isinstance(exc, type) else tuple(effect_parts(a, args) for a in exc.args)
    trace().emit(Effect("raise", tuple(args), {"type": kind, "parts": parts}, trace().origin))
    raise Unreachable


def _has_symbols(exc: Any) -> bool:
    return any(contains_symbol(a) or isinstance(a, Template) for a in getattr(exc, "args", ()))


DIVISIONS = ("truediv", "floordiv", "mod", "remainder")
FACTORISATIONS = ("solve", "inv", "cholesky", "eigh", "svd", "pinv", "qr", "least_squares")


def refuse_caught(body: Block, kinds: Callable[[], Any]) -> None:
    """Refuses a try statement that would catch what an operation in it may raise: that is known
    only when the program runs."""
    for s in statements(body):
        error = _may_raise(s) if isinstance(s, Let) else None
        if error is not None and issubclass(error, kinds()):
            raise UnsupportedError(
                f"whether this raises {error.__name__} depends on the contents of arrays, "
                "and an except clause catches it",
                "test for it with if and else",
            )


def _may_raise(s: Let) -> type[Exception] | None:
    """The error by which an operation may fail on some contents of its operands."""
    if s.op.name in FACTORISATIONS:
        return np.linalg.LinAlgError
    if s.op.name in DIVISIONS and all(a.type.weak for a in s.args):
        return None if isinstance(s.args[1], Literal) else ZeroDivisionError
    return IndexError if s.op.name in ("index", "update") and _indices(s) else None


def _indices(s: Let) -> bool:
    rest = s.args[2:] if s.op.name == "update" else s.args[1:]
    return any(isinstance(a, Var) for a in rest)
