"""Adds cotangents that a pull-back returns to references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless import tree
from tapeless.ref import Ref


def adding(pull: Callable[[Any], Any], refs: tuple[Any, ...]) -> Callable[[Any], Any]:
    """A pull-back that adds cotangents to the references given, and returns the other ones."""
    if not refs:
        return pull

    def pull_and_add(cotangent: Any) -> Any:
        return tree.map(_added_to, refs, pull(cotangent), is_leaf=_is_reference)

    return pull_and_add


def _is_reference(x: Any) -> bool:
    return x is None or isinstance(x, Ref)


def _added_to(reference: Any, cotangent: Any) -> Any:
    if reference is None:
        return cotangent
    reference[...] += cotangent
    return reference
