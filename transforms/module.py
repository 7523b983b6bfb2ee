"""A staged run to the text of a module: parameters, results and the function between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.core.language import Block, Var
from tapeless.transforms.emit import emit_function
from tapeless.transforms.frontend.values import Spec
from tapeless.transforms.text import quoted

PLAIN = (bool, int, float, complex, str, bytes, type(None))


def is_plain(spec: Spec) -> bool:
    """Whether a result can be written with Python's own containers and constants."""
    if spec.kind == "leaf":
        return True
    if spec.kind == "static":
        return isinstance(spec.value, PLAIN)
    builtin = spec.kind in (tuple, dict) or issubclass(spec.kind, list)
    keys = spec.kind is not dict or all(isinstance(k, PLAIN) for k in spec.keys)
    return builtin and keys and all(map(is_plain, spec.children))


def result_text(spec: Spec, values: list[str]) -> str:
    left = iter(values)
    return _text(spec, left)


def _text(spec: Spec, left: Any) -> str:
    if spec.kind == "leaf":
        return next(left)  # type: ignore[no-any-return]
    if spec.kind == "static":
        return quoted(spec.value)
    parts = [_text(c, left) for c in spec.children]
    if spec.kind is dict:
        entries = [f"{quoted(k)}: {v}" for k, v in zip(spec.keys, parts, strict=True)]
        return "{" + ", ".join(entries) + "}"
    if issubclass(spec.kind, list):
        return "[" + ", ".join(parts) + "]"
    return "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"


def rebuild(spec: Spec, left: Any) -> Any:
    """A result with other containers, from its leaves."""
    if spec.kind == "leaf":
        return next(left)
    if spec.kind == "static":
        return spec.value
    children = [rebuild(c, left) for c in spec.children]
    if issubclass(spec.kind, dict):
        return dict(zip(spec.keys, children, strict=True))
    if hasattr(spec.kind, "_fields"):
        return spec.kind(*children)
    if issubclass(spec.kind, list):
        return children
    if issubclass(spec.kind, tuple):
        return tuple(children)
    made = object.__new__(spec.kind)
    for name, child in zip(spec.keys, children, strict=True):
        object.__setattr__(made, name, child)
    return made


def flat_text(values: list[str]) -> str:
    return "(" + ", ".join(values) + ("," if len(values) == 1 else "") + ")"


def write_module(
    name: str,
    block: Block,
    arguments: list[str],
    unpack: list[tuple[Var, str]],
    result: Callable[[list[str]], str],
    doc: str,
) -> str:
    """The whole text of a module with one public function."""
    return join_module(
        [emit_function(name, block, ", ".join(arguments), unpack, result, doc, set(arguments))]
    )


def join_module(functions: list[tuple[str, list[str], set[str]]]) -> str:
    text = [t for t, _, _ in functions]
    helpers = list(dict.fromkeys(h for _, hs, _ in functions for h in hs))
    imports = sorted({"import numpy as np", *(i for _, _, more in functions for i in more)})
    return "\n".join(imports) + "\n\n\n" + "\n\n\n".join([*helpers, *text]) + "\n"
