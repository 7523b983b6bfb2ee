"""Names what a specialisation was made for: types, values, lengths, what is read from outside."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import Any

from tapeless.dispatch.specialisation import Specialisation
from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Var
from tapeless.transforms.frontend.trace.recorded_reads import SIMPLE
from tapeless.transforms.ops.primitives.callbacks import CALLABLE

LONGEST = 40  # characters of a value that is written out


def made_for(specialisation: Specialisation) -> Iterator[str]:
    """One line for each fact that a call has to share to run the same code."""
    staged = specialisation.staged
    for k, leaf in enumerate(staged.leaves):
        if leaf.var is not None:
            yield f"{leaf.name}: {_type_text(leaf.var)}"
        else:
            value = dict(specialisation.static).get(k, leaf.value)
            yield f"{leaf.name} = {_show_value(value)}"
    yield from (f"{c.name}, read from outside: {_element(c.var)}" for c in staged.captured)
    for k, axis, n in specialisation.axes:
        yield f"{staged.leaves[k].name}.shape[{axis}] = {n}"
    yield from (" ".join((str(a), r, str(b))) for r, a, b in map(_sides, staged.sizes))
    for guard in specialisation.guards:
        if isinstance(guard.value, (*SIMPLE, tuple, FunctionType)):
            yield f"{guard.name} = {_show_value(guard.value)}"


def _type_text(v: Var) -> str:
    """The dtype of a parameter, and the axes that have length one."""
    kind = v.type
    if not kind.shape:
        python = {"i": "int", "f": "float", "c": "complex", "b": "bool"}
        return python[kind.dtype.kind] if kind.weak else _element(v)
    axes = ", ".join(str(n) if isinstance(n, int) else "n" for n in kind.shape)
    return f"{kind.dtype.name}[{axes}]"


def _element(v: Var) -> str:
    """The dtype of an element; what is called has none."""
    return "a generator or function" if v.type == CALLABLE else v.type.dtype.name


def _sides(relation: tuple[str, Any, Any]) -> tuple[str, Any, Any]:
    kind, a, b = relation
    return kind, *dims.sides(a, b)


def _show_value(value: Any) -> str:
    text = repr(value)
    simple = isinstance(value, (*SIMPLE, tuple, list, dict)) and len(text) <= LONGEST
    return text if simple else f"this {type(value).__name__}"
