"""Runs a linear program backwards: from cotangents of its outputs to cotangents of its inputs.

y_dot = x_dot * c      becomes      x_bar = y_bar * c
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tapeless.transforms.analysis.slopes import has_zeros, on_side, zeros_of
from tapeless.transforms.analysis.zero_masks import chosen_by_branch
from tapeless.transforms.autodiff.kept_zeros import kept_zeros
from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.builder import NeedStatic, defining_statement
from tapeless.transforms.core.language import (
    TAPE,
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    free_variables,
    is_undefined,
)
from tapeless.transforms.errors import InternalError
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.ops.numpy.creation import cast_to, zero
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.function_calls import (
    add_if_set,
    add_tapes,
    is_call,
    unbundle,
)
from tapeless.transforms.ops.primitives.new_arrays import zero_of
from tapeless.transforms.ops.primitives.shapes import sum_to
from tapeless.transforms.ops.primitives.stacks import add_stacks
from tapeless.transforms.optimize.inline_calls import with_shape

Cotangents = dict[Var, Any]


def transpose(
    body: Iterable[Statement], inputs: list[Var], outputs: list[tuple[Var, Atom]]
) -> list[Atom]:
    """Records the backward statements in the open block; returns the cotangents of `inputs`."""
    env: Cotangents = {}
    for v, ct in outputs:
        _accumulate(env, v, ct)
    _block(list(body), env, set(inputs))
    return [_cotangent_or_zero(env.get(v), v) for v in inputs]


def _cotangent_or_zero(ct: Any, v: Var) -> Atom:
    """The cotangent of a linear variable, zero if it has none."""
    if ct is not None:
        return ct  # type: ignore[no-any-return]
    return zero(v.type) if v.primal is None else zero_of(v.primal)


def _bar(v: Var) -> str:
    return v.name.removesuffix("_dot") + "_bar" if v.name else ""


def sum_to_operand(ct: Atom, kind: Any) -> Atom:
    """A cotangent summed over broadcast axes and cast: what the linear operation did, undone."""
    if isinstance(kind, StackType) or kind == TAPE:
        return ct
    if ct.type.dtype != kind.dtype:
        if ct.type.dtype.kind == "c" and kind.dtype.kind == "f":
            ct = FUNCTIONS[np.real](ct)
        ct = cast_to(ct, kind.dtype)
    return sum_to(ct, kind)


def _accumulate(env: Cotangents, v: Var, ct: Atom) -> None:
    ct = sum_to_operand(ct, v.type)
    old = env.get(v)
    stacked = isinstance(v.type, StackType)
    plus = add_stacks if stacked else add_tapes if v.type == TAPE else add
    if v.partial and plus is add and any(map(_may_lack, (old, ct))):
        plus = add_if_set
    new = ct if old is None else plus(old, ct)
    if plus is add_if_set and isinstance(new, Var):
        new.partial = True
    if isinstance(new, Var) and not new.name:
        new.name = _bar(v)
    env[v] = new


def _may_lack(ct: Any) -> bool:
    """Whether a cotangent comes from a tape or a call, to which values go that may not be there."""
    let = defining_statement(ct) if isinstance(ct, Var) else None
    return let is not None and (let.op in (unbundle, add_if_set) or is_call(let))


def _linear_variables(body: list[Statement], linear: set[Var]) -> set[Var]:
    """All variables that depend on the linear ones."""
    variables = set(linear)
    for s in body:
        if isinstance(s, Let):
            if any(a in variables for a in s.args if isinstance(a, Var)):
                variables |= set(s.outs)
        elif isinstance(s, (If, For)):
            variables |= set(s.outs)
    return variables


def _block(body: list[Statement], env: Cotangents, linear: set[Var]) -> None:
    linear = _linear_variables(body, linear)
    b = builder.current()
    for s in body:
        if isinstance(s, Effect):
            b.emit(s)
        if isinstance(s, Let) and not any(v in linear for v in s.outs):
            b.emit(s)
            for v in s.outs:
                b.definitions[v] = s
    for s in reversed(body):
        b.origin = s.origin
        match s:
            case Let() if s.outs[0] in linear:
                _let(s, env, linear)
            case Let() | Effect():
                pass
            case If():
                _branch(s, env, linear)
            case For():
                _loop(s, env, linear)
            case _:
                raise TypeError(s)


def _let(s: Let, env: Cotangents, linear: set[Var]) -> None:
    cts = [env.pop(v, None) for v in s.outs]
    if all(c is None for c in cts):
        return
    used = tuple(isinstance(a, Var) and a in linear for a in s.args)
    if s.op.accumulate is not None and used[0]:
        (target,) = s.args[:1]
        assert isinstance(target, Var)
        total = _cotangent_or_zero(env.get(target), target)
        new = s.op.accumulate(total, cts[0], s.args, s.params)
        if isinstance(new, Var) and not new.name:
            new.name = _bar(target)
        env[target] = new
        return
    if s.op.transpose is None:
        raise InternalError(f"the operation {s.op.name} is used linearly but has no transpose")
    if len(s.outs) > 1:
        cotangents = s.op.transpose(
            tuple(_cotangent_or_zero(c, v) for c, v in zip(cts, s.outs, strict=True)),
            s.args,
            used,
            s.params,
        )
    else:
        cotangents = _transpose_let(s, cts[0], used)
    for a, ct, on in zip(s.args, cotangents, used, strict=True):
        if on and ct is not None:
            assert isinstance(a, Var)
            _accumulate(env, a, ct)


def _transpose_let(s: Let, ct: Atom, used: tuple[bool, ...]) -> Any:
    """The cotangents of a linear operation; an exact zero stays one where it is scaled."""
    assert s.op.transpose is not None
    body = builder.current().blocks[-1]
    start = len(body)
    return kept_zeros(body, start, [ct], s.op.transpose(ct, s.args, used, s.params))


def _free_linear(blocks: tuple[Block, ...], linear: set[Var]) -> list[Var]:
    variables: dict[Var, None] = {}
    for block in blocks:
        variables |= {v: None for v in free_variables(block) if v in linear}
    return list(variables)


def _results(block: Block, cts: list[Any], env: Cotangents) -> None:
    for a, ct in zip(block.results, cts, strict=True):
        if ct is not None and isinstance(a, Var):
            _accumulate(env, a, ct)


def _branch(s: If, env: Cotangents, linear: set[Var]) -> None:
    cts = [env.pop(v, None) for v in s.outs]
    if all(c is None for c in cts):
        return
    b = builder.current()
    free = _free_linear((s.then, s.orelse), linear)
    before = {f: env.get(f) for f in free}
    sides: list[tuple[list[Statement], Cotangents]] = []
    for block in (s.then, s.orelse):
        with b.block() as statements, on_side(s.test, block is s.then):
            inner: Cotangents = dict(before)
            _results(
                block,
                [
                    c if (isinstance(a, Var) and a in linear) or _inner(a, block) else None
                    for a, c in zip(block.results, cts, strict=True)
                ],
                inner,
            )
            _block(list(block.body), inner, linear)
        sides.append((statements, inner))
    changed = [f for f in free if any(inner.get(f) is not before[f] for _, inner in sides)]
    outs = [Var(f.type, _bar(f)) for f in changed]
    branches = []
    for statements, inner in sides:
        b.blocks.append(statements)
        branches.append(Block((), tuple(statements), ()))
        results = tuple(_final_cotangent(inner.get(f), f) for f in changed)
        b.blocks.pop()
        branches[-1] = Block((), tuple(statements), results)
    b.emit(If(tuple(outs), s.test, branches[0], branches[1], s.mirror, s.origin))
    for k, (f, out) in enumerate(zip(changed, outs, strict=True)):
        out.partial = any(getattr(side.results[k], "partial", False) for side in branches)
        chosen_by_branch(out, s.test, *(inner.get(f) for _, inner in sides))
        env[f] = out


def _final_cotangent(ct: Any, f: Var) -> Atom:
    """The cotangent after a branch; a variable that may have no value there may have no size."""
    has_given_shape = isinstance(f.type, Type) and all(map(dims.is_given, f.type.shape))
    if ct is not None or not f.partial or has_given_shape:
        return _cotangent_or_zero(ct, f)
    return Literal(None, f.type) if f.primal is None else zero_of(f.primal)


def _inner(a: Atom, block: Block) -> bool:
    """Whether a result is computed in the block itself."""
    return isinstance(a, Var) and any(a in s.outs for s in block.body)


def _loop(s: For, env: Cotangents, linear: set[Var]) -> None:
    cts = [env.pop(v, None) for v in s.outs]
    live = [c is not None for c in cts]
    if not any(live):
        return
    b = builder.current()
    params = s.carries
    free = _free_linear((s.body,), linear)
    inner_linear = linear | set(params)
    gets: list[Var] = []
    starts = _carry_types(s)
    zeros = [0] * len(live)
    while True:
        carried = [
            Var(kind, _bar(p)) if on else None
            for p, kind, on in zip(params, starts, live, strict=True)
        ]
        for c, may in zip(carried, zeros, strict=True):
            has_zeros(c, may)
        sums = [Var(f.type, _bar(f)) for f in gets]
        with b.block() as statements:
            inner: Cotangents = dict(zip(gets, sums, strict=True))
            _results(
                s.body, [_with_sizes(c, y) for c, y in zip(carried, s.yields, strict=True)], inner
            )
            _block(list(s.body.body), inner, inner_linear)
            new_live = [on or inner.get(p) is not None for on, p in zip(live, params, strict=True)]
            new_gets = [f for f in free if inner.get(f) is not None]
            new_zeros = [0 if inner.get(p) is None else zeros_of(inner[p]) for p in params]
            if new_live == live and len(new_gets) == len(gets) and new_zeros == zeros:
                ins = [
                    _cotangent_or_zero(inner.get(p), p)
                    for p, on in zip(params, live, strict=True)
                    if on
                ]
                totals = [inner[f] for f in gets]
                break
        live, gets, zeros = new_live, new_gets, new_zeros
    inits = [_cotangent_or_zero(c, v) for c, v, on in zip(cts, s.outs, live, strict=True) if on]
    inits += [_cotangent_or_zero(env.get(f), f) for f in gets]
    kinds = [(_type_at(a), _bar(p)) for a, p, on in zip(s.inits, params, live, strict=True) if on]
    outs = [
        Var(*variable_fields) for variable_fields in (*kinds, *((f.type, _bar(f)) for f in gets))
    ]
    body = Block(
        (s.index, *(c for c in carried if c is not None), *sums), tuple(statements), (*ins, *totals)
    )
    b.emit(
        For(
            tuple(outs),
            s.start,
            s.stop,
            s.step,
            tuple(inits),
            body,
            not s.reverse,
            mirror=s.mirror,
            origin=s.origin,
        )
    )
    for init, end, out in zip(inits, (*ins, *totals), outs, strict=True):
        out.partial = getattr(init, "partial", False)
        has_zeros(out, zeros_of(init) | zeros_of(end))
    for f, out in zip(gets, outs[len(kinds) :], strict=True):
        env[f] = out
    inits_of = [a for a, on in zip(s.inits, live, strict=True) if on]
    for a, out in zip(inits_of, outs, strict=False):
        if isinstance(a, Var) and a in linear:
            _accumulate(env, a, out)


def _carry_types(s: For) -> list[Any]:
    """Types of the cotangents at the start of a backward pass: where sizes differ from pass to
    pass, those that the pass left behind."""
    fresh: dict[tuple[Any, Any], Any] = {}
    types = []
    for p, y in zip(s.carries, s.yields, strict=True):
        kind = p.type
        if isinstance(kind, Type) and isinstance(y.type, Type) and kind.shape != y.type.shape:
            pairs = zip(kind.shape, y.type.shape, strict=True)
            shape = [
                m if _tells(m, n) else fresh.setdefault((n, m), dims.symbol("n", 0))
                for n, m in pairs
            ]
            kind = Type(kind.dtype, tuple(shape), kind.weak)
        types.append(kind)
    return types


def _tells(later: dims.Size, size: dims.Size) -> bool:
    """Whether a length after a pass says what it was before: it goes on by a number."""
    return later == size or (isinstance(later - size, int) and not isinstance(size, int))


def _type_at(init: Atom) -> Any:
    """The type of the cotangent of what a loop starts with; of nothing, it may have any length."""
    kind = init.type
    nothing = is_undefined(init) and isinstance(kind, Type)
    return kind.with_shape(dims.of_its_own(kind.shape)) if nothing else kind


def _with_sizes(ct: Atom | None, y: Atom) -> Any:
    """A cotangent with the sizes of the value that it belongs to, which are the same."""
    if not (isinstance(ct, Var) and isinstance(y.type, Type)) or ct.type.shape == y.type.shape:
        return ct
    return with_shape(ct, y.type.shape)


__all__ = ["Literal", "NeedStatic", "Type", "transpose"]
