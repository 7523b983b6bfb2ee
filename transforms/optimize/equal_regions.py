"""Finds branches and loops that compute what an earlier one has computed.

for i in range(8): x = step(x)      and      for j in range(8): y = step(y)      from x = y = a
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

from tapeless.transforms.analysis.structural_hash import StructuralForm
from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Effect,
    For,
    If,
    Let,
    Type,
    While,
    blocks,
    statements,
)

Region = If | For | While


def earlier_twin(
    s: Region, available: dict[Any, Any], outside: Collection[dims.Symbol] | None = None
) -> Region | None:
    """The branch or loop that computes the same; `available` holds those before, and gets this one.

    outside  sizes that are known around the region: others may have other names in each; None if
             that is not known
    """
    head = s.inits if not isinstance(s, If) else (s.test,)
    key = (type(s), head, len(s.outs))
    if not s.outs or not _may_be_shared(s):
        return None
    new = _Candidate(s)
    for twin in available.get(key, ()):
        if _compute_the_same(twin.form, new.form, outside):
            return twin.region  # type: ignore[no-any-return]
    available[key] = (*available.get(key, ()), new)
    return None


class _Candidate:
    """A region, and its form once another one is compared with it."""

    def __init__(self, region: Region) -> None:
        self.region = region

    @cached_property
    def form(self) -> StructuralForm:
        return StructuralForm([self.region])


def _may_be_shared(s: Region) -> bool:
    """Whether one run does for two: it makes no lists, which are stored to, and draws, prints and
    calls nothing."""
    inside = [t for b in blocks(s) for t in statements(b)]
    return all(isinstance(v.type, Type) for v in s.outs) and all(
        t.op.pure if isinstance(t, Let) else t.kind in ("blank", "check", "raise")
        for t in inside
        if isinstance(t, (Let, Effect))
    )


def _compute_the_same(
    first: StructuralForm, second: StructuralForm, outside: Collection[dims.Symbol] | None
) -> bool:
    if first.key != second.key or first.inputs != second.inputs:
        return False
    pairs = zip(first.symbols, second.symbols, strict=True)
    return all(m == n or (outside is not None and not {m, n} & {*outside}) for m, n in pairs)
