"""Splits a function at a point of a staged run into its value and its derivative there.

The derivative is linear: `PullBack` takes cotangents of the value to cotangents of the arguments,
`PushForward` tangents of the arguments to tangents of the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.staging.argument_checks import (
    as_numbers,
    check_leaf,
    differentiable,
    like_leaves,
    with_aux,
)
from tapeless.staging.derivative_blocks import LinearizedBlock, VjpOfBlock, cotangent_variable
from tapeless.staging.emitted_names import base_name
from tapeless.staging.subprogram import (
    Subprogram,
    as_program_value,
    conform_cotangent,
    emit_all,
    fresh_input,
    is_value,
    leaf_type,
    refuse_shared,
)
from tapeless.transformations.cotangent_references import adding
from tapeless.transformations.custom_rule_calls import zero_like
from tapeless.transforms.core.language import Atom, Block, Statement, Var
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.frontend.arrays.symbols import Symbol, wrap


class ValueTree:
    """A tree of values; its differentiable leaves have tangents and cotangents."""

    def __init__(self, value: Any) -> None:
        self.likes, self.structure = tree.flatten(value)
        self.smooth = [k for k, x in enumerate(self.likes) if differentiable(x)]
        self.kinds = [leaf_type(self.likes[k]) for k in self.smooth]

    def leaves(self, value_given: Any, what: str, other: str) -> list[Any]:
        """The leaves that matter of a tangent or cotangent; refuses one that is built otherwise."""
        flat = like_leaves(self.structure, value_given, f"{what}s", f"the {other}s")
        leaves = [flat[k] for k in self.smooth]
        for value, kind in zip(leaves, self.kinds, strict=True):
            check_leaf(value, kind, what, f"its {other}")
        return as_numbers(leaves)  # type: ignore[no-any-return]

    def tree(self, leaves: Iterable[Any], zero: Callable[[Any], Any]) -> Any:
        """The tree with `leaves` at the differentiable leaves and a zero at the others."""
        remaining = iter(leaves)
        smooth = set(self.smooth)
        pairs = enumerate(self.likes)
        return tree.unflatten(
            self.structure, [next(remaining) if k in smooth else zero(x) for k, x in pairs]
        )

    def concrete(self) -> ValueTree:
        """The same side without the values, which need not live on."""
        self.likes = [_shadow(x) for x in self.likes]
        return self


def _shadow(x: Any) -> Any:
    """An array of the same type and shape that takes no memory; other leaves as they are."""
    return np.broadcast_to(x.dtype.type(0), x.shape) if isinstance(x, np.ndarray) else x


def plain_zero(x: Any) -> Any:
    """The tangent or cotangent of a leaf without derivative, outside of staged runs."""
    if not is_value(x):
        return None
    return np.zeros(np.shape(x)) if isinstance(x, np.ndarray) else 0.0


class Half:
    """What both derivatives have in common.

    given    variables for what the derivative is linear in
    body     its statements, which read values of the forward part
    results  the atoms that it returns
    """

    kind = ""

    def __init__(
        self,
        fun: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        has_aux: bool,
        title: str = "",
    ) -> None:
        self.name = base_name(fun)
        self.arguments = ValueTree(list(args))
        likes = self.arguments.likes
        pairs = [fresh_input(x) if differentiable(x) else (None, x) for x in likes]
        new = tree.unflatten(self.arguments.structure, [s for _, s in pairs])
        region = Subprogram(fun, as_program_value(new), kwargs)
        refuse_shared(likes, [s for _, s in pairs])
        self.value, self.aux = with_aux(region.value, has_aux, title or self.kind, fun)
        self.returned = ValueTree(self.value)
        ends = (region.atoms[k] for k in self.returned.smooth)  # those of aux come behind
        results = [a for a in ends if a is not None]
        self.given: list[Var] = []
        self.body: list[Statement] = []
        self.results: list[Atom] = []
        self.split(region.block([v for v, _ in pairs if v is not None], results))

    def split(self, block: Block) -> None:
        """Records the forward part; sets `given`, `body` and `results`."""
        raise NotImplementedError

    def apply(self, leaves: list[Any], what: str) -> list[Any]:
        """The results for the leaves that are given, recorded in the open block."""
        pairs = zip(self.given, leaves, strict=True)
        leaf_of = {v: conform_cotangent(x, v.type, what) for v, x in pairs}
        block, _ = refresh(Block((), tuple(self.body), tuple(self.results)), leaf_of)
        emit_all(block.body)
        return [wrap(a) for a in block.results]


class PullBack(Half):
    """Called with a cotangent; returns a tuple with a cotangent for each argument."""

    kind = "vjp"

    def split(self, block: Block) -> None:
        self.given = [cotangent_variable(a) for a in block.results]
        reverse = VjpOfBlock(block, self.given)
        emit_all(reverse.forward)
        self.body, self.results = reverse.back, reverse.bars

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        leaves = self.returned.leaves(cotangent, "vjp: the cotangent", "result")
        cotangents = self.apply(leaves, "vjp: a cotangent")
        return tuple(self.arguments.tree(cotangents, zero_like))

    __staged_call__ = __call__

    def with_refs(self, *refs: Any) -> Callable[[Any], Any]:
        """The pull-back with references to which cotangents are added."""
        return adding(self, refs)


class PushForward(Half):
    """Called with a tangent for each argument; returns the tangent of the value."""

    kind = "linearize"

    def split(self, block: Block) -> None:
        ahead = LinearizedBlock(block)
        emit_all(ahead.forward)
        self.given, self.body = ahead.dots, ahead.body
        self.results = ahead.tangents

    def __call__(self, *tangents: Any) -> Any:
        leaves = self.arguments.leaves(list(tangents), "linearize: the tangent", "primal")
        return self.returned.tree(self.apply(leaves, "linearize: a tangent"), no_tangent)

    __staged_call__ = __call__


def no_tangent(x: Any) -> Any:
    """The tangent of a leaf of the result that has none: a float zero, or the object itself."""
    if not is_value(x):
        return x
    return zero_like(x) if isinstance(x, Symbol) else plain_zero(x)
