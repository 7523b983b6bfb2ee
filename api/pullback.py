"""vjp and linearize: a function at a point, and its derivative there as another function."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
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
from tapeless.transformed import (
    Specialisation,
    Transformed,
    base_name,
    check_callable,
    parameters,
    unused,
)
from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import active, size_atom
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Type,
    Var,
    blocks,
    outputs,
)
from tapeless.transforms.core.rewriting import refresh, replace_symbols
from tapeless.transforms.emit import emit_function
from tapeless.transforms.errors import ArgumentTypeError, UnsupportedError
from tapeless.transforms.expand import close, expand, forget
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
        whole = close(expand(pull.body), pull.results)
        params = dict.fromkeys([*whole.params, *pull.cts])
        block = forget(simplify(dataclasses.replace(whole, params=tuple(params))))
        block = close(*self.sized(block, pull.cts))
        self.read = [v for v in block.params if v not in pull.cts]
        self.block = dataclasses.replace(block, params=(*self.read, *pull.cts))

    def sized(self, block: Block, cts: list[Var]) -> Any:
        """The block with lengths that it cannot read off an array as variables of their own."""
        read = [v for v in close(block.body, block.results).params if v not in cts]
        known = _axes([*read, *cts]) | (_axes(_made(block)) - trace().hints.keys())
        wanted = dict.fromkeys(s for s in _sizes(block) if s.var is None and s not in known)
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
        shared = {
            leaf_atom(x) for x in tree.leaves((self.pull.value, self.pull.aux)) if is_value(x)
        }
        found = []
        for v in self.read:
            root = _root(v)
            private = root in trace().definitions and root not in map(_root, shared)
            found.append(
                Symbol(v) if private or not getattr(v.type, "shape", ()) else Symbol(copy(v))
            )
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


def _axes(variables: Iterable[Var]) -> set[dims.Symbol]:
    """Sizes that are the length of an axis of one of the variables."""
    found: set[dims.Symbol] = set()
    for v in variables:
        for size in getattr(v.type, "shape", ()):
            found |= {s for s in dims.symbols(size) if size == dims.Dim((((s,), 1),))}
    return found


def _made(block: Block) -> list[Var]:
    inner = [v for s in block.body for b in blocks(s) for v in (*b.params, *_made(b))]
    return [*inner, *(v for s in block.body for v in outputs(s))]


class Vjp(Transformed):
    """The forward part of vjp, (value, residuals); its module also has the backward part."""

    suffix = "fwd"

    def __init__(self, fun: Callable[..., Any], has_aux: bool = False) -> None:
        self.has_aux = has_aux
        check_callable(fun, "vjp")
        super().__init__(fun)

    def describe(self) -> str:
        return f"{base_name(self.fun)} and what its derivative needs"

    def staged(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        pull = PullBack(self.fun, args, kwargs, self.has_aux)
        self.plan = Plan(pull, f"{base_name(self.fun)}_bwd")
        residuals = tuple(self.plan.residuals())
        return (pull.value, pull.aux, residuals) if self.has_aux else (pull.value, residuals)

    def write(
        self, staged: Staged, block: Block, arguments: list[str], paths: list[str]
    ) -> tuple[str, bool]:
        names, unpack = parameters(staged, arguments, paths)
        flat = bool(staged.writes) or not is_plain(staged.result)
        result = flat_text if flat else functools.partial(result_text, staged.result)
        signature = ", ".join(names)
        forward = emit_function(
            self.__name__, block, signature, unpack, result, self.doc(), set(names)
        )
        doc = f"Cotangents of the arguments of {base_name(self.fun)}."
        return join_module([forward, self.plan.text(doc)]), flat

    def compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        made = super().compile(args, kwargs)
        made.plan = self.plan
        del self.plan
        return made

    def at(self, *primals: Any) -> Any:
        """(value, pull) or (value, pull, aux) at a point."""
        made = self.specialise(primals, {})
        found = made(primals, {})
        pull = VjpFunction(made, primals, found[0], found[-1])
        return (found[0], pull, found[1]) if self.has_aux else (found[0], pull)


class VjpFunction:
    """Takes a cotangent built like the result; returns a tuple with a cotangent for each primal.

    Leaves without derivative have the cotangent 0.0 (an array of zeros for integer arrays, None for
    other objects). It may be called many times, also inside functions that are transformed.
    """

    def __init__(self, made: Specialisation, primals: Any, value: Any, residuals: Any) -> None:
        self.made, self.residuals = made, residuals
        self.plan: Plan = made.plan
        pull = self.plan.pull
        self.name, self.smooth = pull.name, pull.smooth
        likes, self.outputs = tree.flatten(value)
        self.kinds = [leaf_type(likes[k]) for k in self.smooth]
        self.likes = [None] * len(likes)
        leaves, self.inputs = tree.flatten(list(primals))
        self.others = [
            None if not is_value(x) else np.zeros(np.shape(x)) if np.ndim(x) else 0.0
            for x in leaves
        ]

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        given = check_cotangents(self, cotangent)
        bars = iter(self.staged(given) if active() else self.run(given))
        pairs = zip(self.plan.pull.bars, self.others, strict=True)
        found = [other if isinstance(b, _Other) else next(bars) for b, other in pairs]
        return tuple(tree.unflatten(self.inputs, found))

    def __staged_call__(self, cotangent: Any) -> tuple[Any, ...]:
        return self(cotangent)

    def run(self, given: list[Any]) -> Any:
        back = self.made.run.__globals__[self.plan.name]
        kinds = zip(given, self.kinds, strict=True)
        cts = [c if k.weak or isinstance(c, np.ndarray) else k.dtype.type(c) for c, k in kinds]
        return back(*self.residuals, *cts)

    def staged(self, given: list[Any]) -> list[Any]:
        if not all(map(is_value, self.residuals)):
            raise UnsupportedError(
                f"the pull-back of {self.name} holds what a while loop saved, and is called in a "
                "function that is transformed",
                "call vjp inside that function",
            )
        known = dict(zip(self.plan.read, map(leaf_atom, self.residuals), strict=True))
        known |= {
            v: matched(c, v.type, "vjp: a cotangent")
            for v, c in zip(self.plan.pull.cts, given, strict=True)
        }
        block, _ = refresh(Block((), self.plan.block.body, self.plan.block.results), known)
        put(block.body)
        return [wrap(a) for a in block.results]

    def source(self) -> str:
        """The emitted module: the forward function and the backward function."""
        return self.made.text

    def __repr__(self) -> str:
        return f"<pull-back of {self.name}>"


class Linearized:
    """A derivative at a point: takes tangents of the primals, returns the tangent of the value."""

    def __init__(self, jvp: Jvp, primals: tuple[Any, ...]) -> None:
        self.jvp, self.primals = jvp, primals

    def __call__(self, *tangents: Any) -> Any:
        if len(tangents) != len(self.primals):
            raise ArgumentTypeError(
                f"linearize: {len(self.primals)} primals need as many tangents, not {len(tangents)}"
            )
        return self.jvp(*self.primals, *tangents)[1]

    def __staged_call__(self, *tangents: Any) -> Any:
        return self(*tangents)

    def source(self) -> str:
        """The emitted module of the derivative."""
        return self.jvp.source()

    def __repr__(self) -> str:
        return f"<derivative of {base_name(self.jvp.fun)} at a point>"
