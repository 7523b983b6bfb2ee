"""Records a call, in a staged run, of a function that has a derivative rule of its own.

The call is recorded as one closed operation. Forward mode runs the rule in its place. Reverse mode
puts the forward part of the rule in its place; the transpose of its tangent is the backward part.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from tapeless import tree
from tapeless.staging.subprogram import (
    Subprogram,
    as_program_value,
    conform_cotangent,
    continuing,
    fresh_input,
    is_value,
    leaf_type,
    refuse_shared,
    stored_to,
    symbol,
)
from tapeless.transforms.analysis.free_variables import close
from tapeless.transforms.analysis.undefined_values import may_lack
from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import current
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Type,
    Var,
    outputs,
    statements,
)
from tapeless.transforms.core.operation import Op, types_given
from tapeless.transforms.core.substitution import retype
from tapeless.transforms.errors import ArgumentTypeError, UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.numpy.creation import zero
from tapeless.transforms.optimize.inline_calls import closed_operation


class Ruled(Protocol):
    """A function with a rule."""

    __name__: str
    kind: str
    fun: Callable[..., Any]

    def refuse_stores(self) -> None:
        """Refuses a function that stores to its arguments, where the rule cannot know of that."""

    def forward(self, call: RuleCall, primals: list[Atom], dots: list[Any]) -> list[Any]:
        """Records the tangents of the results in the open block."""

    def reverse(self, call: RuleCall, s: Let) -> Let:
        """The statement that takes the place of `s` where the program is run backwards."""


class RuleCall:
    """One call in a staged run: what its statement stands for, and its arguments as a tree."""

    def __init__(self, custom: Ruled, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.custom, self.run = custom, trace()
        self.likes, self.structure = tree.flatten((list(args), kwargs))
        self.dynamic = [
            k
            for k, x in enumerate(self.likes)
            if is_value(x) and isinstance(x, (Symbol, np.ndarray))
        ]
        self.inputs = [fresh_input(self.likes[k])[0] for k in self.dynamic]
        self.value = self.record()

    def tree(self, atoms: Any, leaf: Callable[[Any, Any], Any] | None = None) -> list[Any]:
        """The arguments with the given atoms; or with what `leaf` makes of them."""
        make = symbol if leaf is None else leaf
        values = [x if leaf is None else leaf(None, x) for x in self.likes]
        for k, a in zip(self.dynamic, atoms, strict=False):
            values[k] = make(a, self.likes[k])
        return as_program_value(tree.unflatten(self.structure, values))  # type: ignore[no-any-return]

    def positions(self, argnums: tuple[int, ...]) -> list[int]:
        """Which of the inputs belong to the arguments at `argnums`."""
        place = {leaf: k for k, leaf in enumerate(self.dynamic)}
        sizes = [len(tree.leaves(a)) for a in tree.unflatten(self.structure, self.likes)[0]]
        starts = [sum(sizes[:n]) for n in range(len(sizes))]
        leaves = [j for n in argnums for j in range(starts[n], starts[n] + sizes[n])]
        return [place[j] for j in leaves if j in place]

    def record(self) -> Any:
        """Stages the function and records it as one operation; its value."""
        args, kwargs = self.tree(self.inputs)
        argument_leaves = tree.leaves((args, kwargs))
        with self.run.recording() as journal:
            region = Subprogram(self.custom.fun, args, kwargs)
        stored = [k for k in self.dynamic if stored_to(argument_leaves[k])]
        cells = {id(argument_leaves[k].base_cell()) for k in stored}
        if any(
            loc.key[0] != "cell" or loc.key[1] not in cells
            for loc, _ in journal.changed_locations()
        ):
            self.run.rollback(journal)
            raise UnsupportedError(
                f"{self.custom.__name__} writes to an object from outside, and has a "
                f"{self.custom.kind} rule",
                "return the value instead",
            )
        if stored:
            self.custom.refuse_stores()
            refuse_shared(self.likes, argument_leaves)
            region.add([argument_leaves[k] for k in stored])
        self.result = region.structure
        self.result_likes = region.leaves
        dynamic = [(k, a) for k, a in enumerate(region.atoms) if a is not None and _is_result(a)]
        self.kept = kept = [k for k, _ in dynamic]
        results = [a for _, a in dynamic]
        block = close(region.body, results)
        extra = [v for v in block.params if v not in self.inputs]
        self.block = block = replace(block, params=(*self.inputs, *extra))
        outs = tuple(Var(a.type, a.name if isinstance(a, Var) else "") for a in results)
        op = closed_operation(f"@{self.custom.__name__}", block, self.jvp, self.reverse)
        if outs:
            self.run.let(outs, op, block.params, {})
        values = list(region.leaves)
        for k, out in zip(kept, outs, strict=True):
            values[k] = symbol(out, region.leaves[k])
        value = as_program_value(tree.unflatten(region.structure, values))
        if not stored:
            return value
        for k, new in zip(stored, value[1], strict=True):
            self.likes[k].write(new.value())
        return value[0]

    def jvp(self, primals: Any, dots: Any, outs: tuple[Var, ...], params: Any) -> Any:
        with continuing(self.run):
            return tuple(self.custom.forward(self, list(primals), list(dots)))

    def reverse(self, s: Let) -> Let:
        return self.custom.reverse(self, s)

    # -- what a rule returns

    def results(self, value: Any, what: str) -> list[Atom]:
        """The leaves of a value that must be built like what the function returns."""
        leaves, structure = tree.flatten(value)
        if structure != self.result:
            raise ArgumentTypeError(
                f"{what} of {self.custom.__name__} must be built like what the function returns: "
                f"{tree.structure_text(tree.unflatten(self.result, self.result_likes))}, "
                f"not {tree.structure_text(value)}"
            )
        what = f"{what} of {self.custom.__name__}"
        kinds = [leaf_type(self.result_likes[k]) for k in self.kept]
        pairs = zip(self.kept, kinds, strict=True)
        return [conform_cotangent(leaves[k], kind, what, self.own_lengths) for k, kind in pairs]

    @functools.cached_property
    def own_lengths(self) -> frozenset[Any]:
        """Those that the function finds out, and that a rule in its place cannot refer to."""
        inner = [v for s in statements(self.block) for v in outputs(s)]
        return _lengths(inner) - _lengths(self.block.params)


def _lengths(arrays: Iterable[Var]) -> frozenset[Any]:
    shapes = [getattr(v.type, "shape", ()) for v in arrays]
    return frozenset().union(*(dims.symbols(n) for shape in shapes for n in shape))


def _is_result(a: Atom) -> bool:
    """Whether a rule has a say about an atom; literals without derivative are constants."""
    return isinstance(a, Var) or a.type.differentiable


def zero_like(x: Any) -> Any:
    """The tangent or cotangent of a leaf that has none."""
    if not is_value(x):
        return None
    kind = leaf_type(x)
    return symbol(zero(kind if kind.differentiable else Type(np.dtype(float), kind.shape)), x)


# -- reverse mode


class BackwardRule:
    """The backward part of a rule: from cotangents of the results, and what it reads of the forward
    part, to cotangents of the inputs (`bars`, by position)."""

    def __init__(
        self, name: str, body: Iterable[Statement], cts: list[Var], bars: dict[int, Atom]
    ) -> None:
        self.name, self.at = name, list(bars)
        block = close(body, bars.values())
        self.read = [v for v in block.params if v not in cts]
        self.op = closed_operation(f"{name}_bwd", replace(block, params=(*self.read, *cts)))

    def exports(self, body: Iterable[Statement]) -> list[Var]:
        """What the backward part reads of these statements."""
        inner = {v for s in body for v in outputs(s)}
        return [v for v in self.read if v in inner]

    def replacing(
        self, s: Let, forward: Block, exports: list[Var], check: Callable[[list[Any]], None]
    ) -> Let:
        """The statement of the forward part, which also returns `exports`. Its tangent is one
        linear statement, and that transposes to the backward part."""
        extra = close(forward.body, forward.results).params
        unread = tuple(Var(a.type) for a in s.args)  # these arguments only bring their tangents
        block = replace(forward, params=(*unread, *extra))
        lacking = may_lack(forward)
        new: dict[Any, Any] = {}
        for v in sorted(exports, key=lambda v: bool(getattr(v.type, "shape", ()))):  # lengths first
            new[v] = Var(retype(v.type, new), v.name, v.origin, partial=v in lacking)
        saved = [new[v] for v in exports]
        read: list[Atom] = [new.get(v, v) for v in self.read]

        def jvp(primals: Any, dots: Any, outs: tuple[Var, ...], params: Any) -> Any:
            mine = list(dots[: len(s.args)])
            others = [d for v, d in zip(extra, dots[len(s.args) :], strict=True) if v not in s.args]
            check([*mine, *others])
            return (*self.linear(s, mine, read), *(None for _ in saved))

        op = closed_operation(f"{self.name}_fwd", block, jvp)
        return Let((*s.outs, *saved), op, (*s.args, *extra), {}, s.origin)

    def linear(self, s: Let, dots: list[Any], read: list[Atom]) -> list[Var | None]:
        """Records the linear statement; the tangents of the results."""
        at = [k for k in self.at if dots[k] is not None]
        tangents = [
            Var(v.type, v.name and f"{v.name}_dot") if v.type.differentiable else None
            for v in s.outs
        ]
        real = tuple(v for v in tangents if v is not None)
        if not at or not real:
            return [None] * len(tangents)

        def pull(ct: Any, args: Any, used: Any, params: Any) -> tuple[Var, ...]:
            results = self.op.block.results
            bars = tuple(Var(a.type, getattr(a, "name", "")) for a in results)
            cts = ct if isinstance(ct, tuple) else (ct,)
            current().let(bars, self.op, (*read, *cts), {})
            bar_of = dict(zip(self.at, bars, strict=True))
            return tuple(bar_of[k] for k in at)

        op = Op(f"{self.name}_linear", types_given, transpose=pull)
        current().let(real, op, tuple(dots[k] for k in at), {})
        return tangents
