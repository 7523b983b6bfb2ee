"""Inlines operations that stand for whole blocks: the pass writes the blocks out.

    y = f(x), where f is {s = sin(x); return s * 2}      becomes      s = sin(x); y = s * 2

A function with a derivative rule of its own is recorded as one such statement: `linearize` and
`jvp` then find the rule, not the inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.activity import dependents
from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Type,
    Var,
    with_blocks,
)
from tapeless.transforms.core.operation import Op, types_given
from tapeless.transforms.core.substitution import refresh, substitute
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.linalg.spectral_functions import products, spectral
from tapeless.transforms.ops.numerics.even_functions import (
    magnitude_squared,
    parts_squared,
    sloped,
)
from tapeless.transforms.ops.primitives.function_calls import acts
from tapeless.transforms.ops.primitives.identities import again, identity, python_number, stopped


def with_shape(a: Var, shape: tuple[Size, ...]) -> Var:
    """The same array, whose sizes have other names."""
    renamed = Var(Type(a.type.dtype, shape, a.type.weak), a.name)
    builder.current().let((renamed,), identity, (a,), {})
    return renamed


@dataclass(eq=False)
class Closed(Op):
    """An operation that is a block.

    name     that of the user's function after an @: no operation of ours is called so
    block    what it stands for: its parameters are the arguments, and it reads nothing else
    reverse  from a statement with this operation to the one that takes its place where the
             program is differentiated backwards
    """

    block: Block = Block((), (), ())
    reverse: Callable[[Let], Let] | None = None


def closed_operation(name: str, block: Block, jvp: Any = None, reverse: Any = None) -> Closed:
    """The operation `name` that stands for a block without free variables."""
    pure = not acts(block)
    return Closed(name, types_given, jvp=jvp, costly=True, pure=pure, block=block, reverse=reverse)


def expand(body: Iterable[Statement], rules: bool = True) -> list[Statement]:
    """The statements with closed operations written out; without `rules`, not those with a rule."""
    expanded: list[Statement] = []
    for s in body:
        match s:
            case Let(op=Closed() as op) if rules or op.reverse is None:
                expanded += _inline(s, op, rules)
            case Let() if rules and s.op is spectral:
                expanded += _record_expansion(s, products)
            case Let() if rules and s.params.get("free"):
                expanded.append(replace(s, params={**s.params, "free": False}))
            case Let() if rules and s.op in (stopped, sloped, python_number):
                expanded.append(Let(s.outs, identity, s.args[:1], {}, s.origin))
            case Let() if rules and s.op is magnitude_squared:
                expanded += _record_expansion(s, lambda s: parts_squared(s.args[0]))
            case _:
                expanded.append(with_blocks(s, lambda b: _expand_block(b, rules)))
    return expanded


def written_out(block: Block) -> Block:
    """The block with all closed operations written out, also those with a rule."""
    return replace(block, body=tuple(expand(block.body)))


def expand_linear(block: Block, tangents: Iterable[Var]) -> Block:
    """The block with operations that get tangents written out: what is linear in these needs no
    rule, and a rule that calls its own function for them would never come to an end."""
    dependent = dependents(block, tangents)

    def expand_statements(body: Iterable[Statement]) -> list[Statement]:
        expanded: list[Statement] = []
        for s in body:
            if isinstance(s, Let) and isinstance(s.op, Closed) and not dependent.isdisjoint(s.args):
                expanded += expand([s])
            else:
                expanded.append(
                    with_blocks(s, lambda b: replace(b, body=tuple(expand_statements(b.body))))
                )
        return expanded

    return replace(block, body=tuple(expand_statements(block.body)))


def forget(block: Block) -> Block:
    """The block without other names: nothing has to tell values apart any more."""
    new: dict[Var, Atom] = {}
    return substitute(_without_names(block, new), new)


def _without_names(block: Block, new: dict[Var, Atom]) -> Block:
    body: list[Statement] = []
    for s in block.body:
        match s:
            case Let() if s.op in (again, identity):
                a = s.args[0]
                new[s.outs[0]] = new.get(a, a) if isinstance(a, Var) else a
            case _:
                body.append(with_blocks(s, lambda b: _without_names(b, new)))
    return replace(block, body=tuple(body))


def _expand_block(block: Block, rules: bool) -> Block:
    return replace(block, body=tuple(expand(block.body, rules)))


def _record_expansion(s: Let, written: Callable[[Let], Atom]) -> list[Statement]:
    """The statements that an operation stands for, such as the products of matrices of a function
    of a Hermitian matrix."""
    with builder.building(builder.Builder()) as b:
        b.origin = s.origin
        value = written(s)
    return [*b.blocks[0], Let(s.outs, identity, (value,), {}, s.origin)]


def argument_lengths(params: Iterable[Var], args: Iterable[Atom]) -> dict[Any, Any]:
    """The lengths of arguments by those of parameters: in a part of the program that runs again,
    forwards or backwards, they have other names."""
    length_of: dict[Any, Any] = {}
    for p, a in zip(params, args, strict=True):
        for n, m in zip(getattr(p.type, "shape", ()), getattr(a.type, "shape", ()), strict=True):
            (name, *more) = dims.symbols(n) or [None]
            if n != m and name is not None and not more and n == dims.single(name):
                length_of.setdefault(name, m)
    return length_of


def _inline(s: Let, op: Closed, rules: bool) -> list[Statement]:
    argument_of: dict[Any, Any] = dict(zip(op.block.params, s.args, strict=True))
    block, _ = refresh(
        replace(op.block, params=()), {**argument_lengths(op.block.params, s.args), **argument_of}
    )
    named = [
        Let((v,), identity, (a,), {}, s.origin) for v, a in zip(s.outs, block.results, strict=True)
    ]
    return [*expand(block.body, rules), *named]
