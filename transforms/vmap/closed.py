"""Functions with a derivative rule of their own, under vmap: the rule is batched as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeless.transforms.core.language import Let
from tapeless.transforms.errors import UnsupportedError

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch


def apply(batch: Batch, s: Let, args: Any, axes: Any) -> list[Any]:
    raise UnsupportedError("vmap of a function with a derivative rule of its own")
