"""Stacks, which loops of unknown length save to: transposing a push gives a pop, and back."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.language import Atom, StackType, Type, Var
from tapeless.transforms.core.op import Op
from tapeless.transforms.ops.fresh import new_stack as new_stack
from tapeless.transforms.ops.fresh import zero


def _push_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Any) -> Any:
    if not outs[0].type.differentiable or tangents == (None, None):
        return (None,)
    filled = [zero(p.type) if t is None else t for p, t in zip(primals, tangents, strict=True)]
    return (push(*filled),)


def _pop_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Any) -> Any:
    return (None, None) if tangents[0] is None else pop.bind(tangents[0])


def _push_transpose(ct: Atom, args: Any, linear: Any, params: Any) -> tuple[Any, ...]:
    return pop.bind(ct)


def _pop_transpose(ct: Any, args: Any, linear: Any, params: Any) -> tuple[Any, ...]:
    return (push(*ct),)


def _pop_infer(stack: Atom) -> tuple[StackType, Type]:
    return stack.type, stack.type.item


push = Op(
    "push",
    lambda stack, value: stack.type,
    "{0}.append({1})",
    _push_jvp,
    _push_transpose,
    inplace=True,
)
pop = Op("pop", _pop_infer, "{0}.pop()", _pop_jvp, _pop_transpose, inplace=True)


def _add_stacks_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Any) -> Any:
    a, b = tangents
    return (b if a is None else a if b is None else add_stacks(a, b),)


add_stacks = Op(
    "add_stacks",
    lambda a, b: a.type,
    "[p + q for p, q in zip({0}, {1})]",
    _add_stacks_jvp,
    lambda ct, args, linear, params: (ct, ct),
    costly=True,
)
