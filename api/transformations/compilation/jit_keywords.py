"""Tells type checkers the keyword arguments of `jit`, which its docstring describes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from tapeless.staging.device_list import Device


class JitKeywords(TypedDict, total=False):
    """The keyword arguments of `jit`."""

    static_argnums: int | Sequence[int] | None
    static_argnames: str | Sequence[str] | None
    donate_argnums: int | Sequence[int] | None
    device: str | Device | None
    fastmath: bool | None
    boundscheck: bool
    parallel: bool
    in_shardings: Any
    out_shardings: Any
    donate_argnames: str | Sequence[str] | None
    keep_unused: bool
    backend: str | None
    inline: bool
    compiler_options: Any
