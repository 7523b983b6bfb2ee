"""vjp and linearize: a function at a point, and its derivative there as another function."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.autodiff import Jvp, check_leaf, differentiable, like_leaves, with_aux
from tapeless.region import (
    Region,
    Reverse,
    cotangent,
    fresh_input,
    is_value,
    leaf_atom,
    leaf_type,
    matched,
    owned,
    put,
    symbol,
)
from tapeless.transformed import Transformed, base_name, parameters, unused
from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import active, size_atom
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    Let,
    Literal,
    Type,
    Var,
    blocks,
    outputs,
)
from tapeless.transforms.core.rewriting import refresh, replace_symbols
from tapeless.transforms.emit import emit_function
from tapeless.transforms.errors import ArgumentTypeError
from tapeless.transforms.expand import close, expand
from tapeless.transforms.frontend.stage import Staged
from tapeless.transforms.frontend.symbols import Symbol, trace, wrap
from tapeless.transforms.module import flat_text, is_plain, join_module, result_text
from tapeless.transforms.ops.creation import zero
from tapeless.transforms.ops.shapes import copy
from tapeless.transforms.residuals import sizes_in
from tapeless.transforms.simplify import simplify


class PullBack:
    """Cotangents of the results to cotangents of the arguments, inside a staged run.

    block  its parameters are `read`, the residuals, and then `cts`
    """

    def __init__(self, fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any], has_aux: bool):
        self.name = base_name(fun)
        leaves, self.inputs = tree.flatten(list(args))
        pairs = [fresh_input(x) if differentiable(x) else (None, x) for x in leaves]
        region = Region(fun, owned(tree.unflatten(self.inputs, [s for _, s in pairs])), kwargs)
        self.value, self.aux = with_aux(region.value, has_aux, "vjp", fun)
        self.likes, self.outputs = tree.flatten(self.value)
        self.smooth = [k for k, x in enumerate(self.likes) if differentiable(x)]
        self.kinds = [leaf_type(self.likes[k]) for k in self.smooth]
        results = [leaf_atom(self.likes[k]) for k in self.smooth]
        self.cts = [cotangent(a) for a in results]
        self.variables = [v for v, _ in pairs]
        inner = [v for v in self.variables if v is not None]
        reverse = Reverse(region.block(inner, results), self.cts)
        put(reverse.forward)
        bars = iter(reverse.bars)
        self.bars = [_nothing(x) if v is None else next(bars) for v, x in pairs]
        self.body = reverse.back
        self.results = [a for a in self.bars if not isinstance(a, _Other)]

    def __staged_call__(self, ct: Any) -> Any:
        given = check_cotangents(self, ct)
        kinds = zip(self.cts, given, strict=True)
        known = {v: matched(c, v.type, "vjp: a cotangent") for v, c in kinds}
        block, _ = refresh(Block((), tuple(self.body), tuple(self.results)), known)
        put(block.body)
        bars = iter(block.results)
        found = [b.value if isinstance(b, _Other) else wrap(next(bars)) for b in self.bars]
        return tuple(tree.unflatten(self.inputs, found))

    def __call__(self, ct: Any) -> Any:
        return self.__staged_call__(ct)


@dataclasses.dataclass
class _Other:
    """What stands for the cotangent of a leaf without derivative."""

    value: Any


def _nothing(x: Any) -> _Other:
    if isinstance(x, Symbol) and x.type.shape:
        return _Other(symbol(zero(Type(np.dtype(float), x.type.shape)), x))
    return _Other(0.0 if is_value(x) else None)


def check_cotangents(pull: Any, ct: Any) -> list[Any]:
    """The leaves of a cotangent that matter; refuses one that is not built like the result."""
    wanted = tree.unflatten(pull.outputs, pull.likes)
    flat = like_leaves(pull.outputs, ct, wanted, "vjp: the cotangent", f"what {pull.name} returns")
    chosen = [flat[k] for k in pull.smooth]
    for value, kind in zip(chosen, pull.kinds, strict=True):
        check_leaf(value, kind, "vjp: a cotangent", "its result")
    return chosen


# -- at top level


class Plan:
    """The backward function of one specialisation: what it reads, and its block."""

    def __init__(self, pull: PullBack, name: str) -> None:
        self.pull, self.name = pull, name
        block = simplify(Block(tuple(pull.cts), tuple(expand(pull.body)), tuple(pull.results)))
        block = close(*self.sized(block, pull.cts))
        self.read = [v for v in block.params if v not in pull.cts]
        self.block = dataclasses.replace(block, params=(*self.read, *pull.cts))

    def sized(self, block: Block, cts: list[Var]) -> Any:
        """The block with lengths that it cannot read off an array as variables of their own."""
        free = [v for v in close(block.body, block.results).params if v not in cts]
        shown = _shown([*free, *cts], block)
        wanted = dict.fromkeys(s for s in _sizes(block) if s.var is None and s not in shown)
        names: dict[dims.Symbol, dims.Size] = {}
        for s in wanted:
            a = size_atom(dims.Dim((((s,), 1),)))
            a.name = "n"  # type: ignore[union-attr]
            a.size = dims.symbol("n", 0, a)  # type: ignore[union-attr]
            names[s] = a.size  # type: ignore[union-attr]
        block = replace_symbols(block, names)
        return block.body, block.results

    def residuals(self) -> list[Any]:
        """What the forward function returns for the backward one; copies of what others can see."""
        shared = {leaf_atom(x) for x in tree.leaves((self.pull.value, self.pull.aux)) if is_value(x)}
        found = []
        for v in self.read:
            root = _root(v)
            private = root in trace().definitions and root not in map(_root, shared)
            found.append(Symbol(v) if private or not getattr(v.type, "shape", ()) else Symbol(copy(v)))
        return found

    def text(self, doc: str) -> tuple[str, list[str], set[str]]:
        """The backward function as emitted text."""
        names: list[str] = []
        for v in self.block.params:
            stem = v.name if v.name.isidentifier() else "value"
            names.append(unused(stem, names))
        unpack = list(zip(self.block.params, names, strict=True))
        return emit_function(
            self.name, self.block, ", ".join(names), unpack, flat_text, doc, set(names)
        )


def _root(a: Atom) -> Atom:
    """The variable whose memory a view shows."""
    while True:
        let = trace().definitions.get(a) if isinstance(a, Var) else None
        if let is None or not (let.op.view or let.op.name in ("identity", "again")):
            return a
        a = let.args[0]


def _sizes(block: Block) -> list[dims.Symbol]:
    found: list[dims.Symbol] = []
    for s in block.body:
        if isinstance(s, Let):
            for value in s.params.values():
                found += sorted(sizes_in(value), key=lambda x: x.uid)
        for b in blocks(s):
            found += _sizes(b)
    return found


def _shown(variables: list[Var], block: Block) -> set[dims.Symbol]:
    """Sizes that are the length of an axis of one of the variables, or are made in the block."""
    inner = [v for s in block.body for v in outputs(s)]
    shown: set[dims.Symbol] = set()
    for v in variables:
        for size in getattr(v.type, "shape", ()):
            only = dims.symbols(size)
            if len(only) == 1 and size == dims.Dim((((next(iter(only)), 1 * 0 + 1),)) if False else _single(next(iter(only))).terms):
                shown |= only
    del inner
    return shown


def _single(s: dims.Symbol) -> dims.Dim:
    return dims.Dim((((s,), 1),))
