"""Prints how functions are called, as the API pages show it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

WIDTH = 80
#: Of defaults that have no other text than where they lie in memory.
ADDRESS = re.compile(r"<[^<>]* at 0x\w+>")


def shown(name: str, value: Any) -> str:
    """How it is called; one parameter a line where it is long."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [
        p.replace(annotation=_annotation(p.annotation))
        for p in signature.parameters.values()
        if p.name != "self"
    ]
    returned = _annotation(signature.return_annotation)
    signature = signature.replace(parameters=parameters, return_annotation=returned)
    line = ADDRESS.sub("...", f"{name}{signature}")
    if len(line) <= WIDTH:
        return line
    parts = [f"    {ADDRESS.sub('...', part)},\n" for part in _parts(signature)]
    return f"{name}(\n{''.join(parts)}){str(signature.replace(parameters=()))[2:]}"


class _Text(str):
    """An annotation that is shown without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _annotation(given: Any) -> Any:
    """The annotation as text; none where it says nothing."""
    if given in ("Any", "None", Any, None):
        return inspect.Signature.empty
    return _Text(given) if isinstance(given, str) else given


def _parts(signature: inspect.Signature) -> Iterator[str]:
    """The parameters, with the marks between those by position and those by name."""
    before = None
    for parameter in signature.parameters.values():
        if before is parameter.POSITIONAL_ONLY and parameter.kind is not before:
            yield "/"
        starred = before in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            yield "*"
        yield str(parameter)
        before = parameter.kind
