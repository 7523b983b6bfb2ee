"""Stacks: what loops of unknown length save. Transposing a push gives a pop, and the other way round."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.language import Atom, StackType, Type, Var
from tapeless.transforms.core.op import Op


def _new_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: dict[str, Any]) -> Any:
    return (None,)


def _push_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Any) -> Any:
    from tapeless.transforms.ops.creation import zero

    if not outs[0].type.differentiable or tangents == (None, None):
        return (None,)
    stack, value = tangents
    return (push(zero(primals[0].type) if stack is None else stack, zero(primals[1].type) if value is None else value),)


def _pop_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Any) -> Any:
    return (None, None) if tangents[0] is None else pop.bind(tangents[0])


def _push_transpose(ct: Atom, args: Any, linear: Any, params: Any) -> tuple[Any, ...]:
    return pop.bind(ct)


def _pop_transpose(ct: tuple[Any, ...], args: Any, linear: Any, params: Any) -> tuple[Any, ...]:
    return (push(*ct),)


def _pop_infer(stack: Atom) -> tuple[StackType, Type]:
    return stack.type, stack.type.item


new_stack = Op("new_stack", lambda *, item: StackType(item), "[]", _new_jvp)
push = Op("push", lambda stack, value: stack.type, "{0}.append({1})", _push_jvp, _push_transpose, inplace=True)
pop = Op("pop", _pop_infer, "{0}.pop()", _pop_jvp, _pop_transpose, inplace=True)

add_stacks = Op("add_stacks", lambda a, b: a.type, "[p + q for p, q in zip({0}, {1})]",
                lambda primals, tangents, outs, params: (_sum_of(tangents),),
                lambda ct, args, linear, params: (ct, ct), costly=True)


def _sum_of(tangents: tuple[Any, ...]) -> Any:
    a, b = tangents
    return b if a is None else a if b is None else add_stacks(a, b)
