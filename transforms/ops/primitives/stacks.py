"""Defines stacks, which loops of unknown length save to: transposing a push gives a pop, and
back."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import TAPE, Atom, Literal, StackType, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.ops.primitives.new_arrays import new_stack as new_stack
from tapeless.transforms.ops.primitives.new_arrays import (
    no_tangent,
    zero_item_text,
    zero_items_text,
    zero_of,
)
from tapeless.transforms.ops.primitives.new_arrays import stack_length as stack_length
from tapeless.transforms.ops.primitives.new_arrays import zero_items as zero_items
from tapeless.transforms.ops.primitives.shapes import linear


def _zero_if_none(primal: Atom, tangent: Any) -> Atom:
    """A tangent, zero if there is none."""
    return zero_of(primal) if tangent is None else tangent


def _push_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Any) -> Any:
    if not outs[0].type.differentiable:
        return (None,)
    return (push(*(_zero_if_none(p, t) for p, t in zip(primals, tangents, strict=True))),)


def _pop_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Any) -> Any:
    return (None, None) if tangents[0] is None else pop.bind(tangents[0])


def _push_transpose(ct: Atom, args: Any, linear: Any, params: Any) -> tuple[Any, ...]:
    return pop.bind(ct)


def _pop_transpose(ct: Any, args: Any, linear: Any, params: Any) -> tuple[Any, ...]:
    return (push(*ct),)


def _item(stack: Atom) -> Type:
    """The type of one item: others need not be as long, unless inputs say so."""
    item: Type = stack.type.item
    fixed = item == TAPE or isinstance(item, StackType)
    return item if fixed else item.with_shape(dims.of_its_own(item.shape))


def _pop_infer(stack: Atom) -> tuple[StackType, Type]:
    return stack.type, _item(stack)


push = Op(
    "push",
    lambda stack, value: stack.type,
    "{0}.append({1})",
    _push_jvp,
    _push_transpose,
    inplace=True,
)
#: A pop that the user wrote; others take back what was pushed, in the opposite order.
pop_of_list = Op("pop", _pop_infer, "{0}.pop()", _pop_jvp, _pop_transpose, inplace=True)
pop = Op("pop", _pop_infer, "{0}.pop()", _pop_jvp, _pop_transpose, inplace=True)
POPS = (pop, pop_of_list)


def _add_stacks_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Any) -> Any:
    a, b = tangents
    return (b if a is None else a if b is None else add_stacks(a, b),)


PLUS = '''
def plus(p, q):
    """The sum of what two tapes hold, part by part; None stands for zero."""
    if p is None or q is None:
        return q if p is None else p
    return type(p)(map(plus, p, q)) if isinstance(p, (tuple, list)) else p + q
'''


def _add_stacks_source(args: Any, params: Any) -> Any:
    if args[0].type.item == TAPE:
        return "plus({0}, {1})", PLUS
    return "[p + q for p, q in zip({0}, {1})]"


add_stacks = Op(
    "add_stacks",
    lambda a, b: a.type,
    _add_stacks_source,
    _add_stacks_jvp,
    lambda ct, args, linear, params: (ct, ct),
    costly=True,
)


def _peek_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Any) -> Any:
    return (None if tangents[0] is None else peek(tangents[0], primals[1]),)


def _peek_accumulate(total: Atom, ct: Atom, args: Any, params: Any) -> Any:
    return add_item(total, args[1], ct)


peek = Op(
    "peek",
    lambda stack, k: _item(stack),
    "{0}[{1}]",
    _peek_jvp,
    accumulate=_peek_accumulate,
)


def _put_item(name: str, source: Any, back: Any) -> Op:
    """An operation that stores into an item of a stack; `back` gives the cotangents. Where items
    differ in length, the one that was there is the last argument of what is linear."""

    def jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Any) -> Any:
        if tangents[0] is None and tangents[2] is None:
            return (None,)
        pairs = zip(primals[:3], tangents, strict=False)
        stack, _, value = (_zero_if_none(p, t) for p, t in pairs)
        was = primals[3:]
        if not was and not all(x.given for x in sizes_in(primals[0].type)):
            was = (peek(primals[0], primals[1]),)
        return (op(stack, primals[1], value, *was),)

    op = Op(name, lambda stack, k, value, *was: stack.type, source, jvp, back, inplace=True)
    return op


def _set_item_back(ct: Atom, args: Any, linear: Any, params: Any) -> tuple[Any, ...]:
    item = peek(ct, args[1])  # read before it is overwritten, which so needs no copy
    like = args[3] if len(args) > 3 else item
    return set_item(ct, args[1], zero_of(like)), None, item, *(None for _ in args[3:])


def _add_item_back(ct: Atom, args: Any, linear: Any, params: Any) -> tuple[Any, ...]:
    return ct, None, peek(ct, args[1]), *(None for _ in args[3:])


def _add_item_source(args: Any, params: Any) -> str:
    return "{0}[{1}] = {0}[{1}] + {2}" if args[0].type.item.shape else "{0}[{1}] += {2}"


set_item = _put_item("set_item", "{0}[{1}] = {2}", _set_item_back)
add_item = _put_item("add_item", _add_item_source, _add_item_back)


def _to_array_infer(stack: Atom, *, size: Size, sides: Any = None) -> Type:
    item = _item(stack)
    return Type(item.dtype, (size, *item.shape))


def _to_array_source(args: Any, params: Any) -> str:
    """`sides` are those of items, given where an empty list stands for an array of them, too."""
    kind = args[0].type.item.dtype
    text = "np.array({0})" if kind == np.dtype(float) else f"np.array({{0}}, np.{kind.name})"
    sides = [f"{{sides_{k}}}" for k in range(len(params.get("sides") or ()))]
    return f"{text}.reshape(({', '.join(['len({0})', *sides])}))" if sides else text


to_array: Op = linear(
    "to_array",
    _to_array_infer,
    _to_array_source,
    lambda ct, args, linear, params: (unstack(ct, weak=args[0].type.item.weak),),
    costly=True,
    word="array",
    of_results=("size",),
)
unstack: Op = linear(
    "unstack",
    lambda x, *, weak=False: StackType(Type(x.type.dtype, x.type.shape[1:], weak)),
    lambda args, params: "{0}.tolist()" if params.get("weak") else "list({0})",
    lambda ct, args, linear, params: (_array_of_rows(ct, args[0].type),),
    word="items",
)


def _array_of_rows(items: Atom, like: Type) -> Atom:
    """The array of a list of rows, of which there may be none."""
    size, *sides = like.shape
    empty = bool(sides) and not dims.is_given(size)
    more = {"sides": tuple(sides)} if empty and all(map(dims.is_given, sides)) else {}
    return to_array(items, size=size, **more)  # type: ignore[no-any-return]


def _concatenate_items_infer(stack: Atom, like: Atom, *, axis: int) -> Type:
    item = _item(stack)
    shape = (*item.shape[:axis], dims.symbol("n", 0), *item.shape[axis + 1 :])
    return Type(item.dtype, shape)


def _axis_text(params: Any) -> str:
    return f", axis={params['axis']}" if params["axis"] else ""


def _split_source(args: Any, params: Any) -> str:
    lengths = "[len(p) for p in {1}]"
    if params["axis"]:
        lengths = f"[p.shape[{params['axis']}] for p in {{1}}]"
    return f"np.split({{0}}, np.cumsum({lengths})[:-1]{_axis_text(params)})"


#: Items that need not be equally long, end to end; those of `like` are as long.
concatenate_items: Op = linear(
    "concatenate_items",
    _concatenate_items_infer,
    lambda args, params: f"np.concatenate({{0}}{_axis_text(params)})",
    lambda ct, args, linear, params: (split_items(ct, args[1], **params), None),
    costly=True,
)
#: An array in parts that are as long as the items of `like`.
split_items: Op = linear(
    "split_items",
    lambda x, like, *, axis: StackType(like.type.item),
    _split_source,
    lambda ct, args, linear, params: (concatenate_items(ct, args[1], **params), None),
    costly=True,
)
#: A list without its first k items, which it has.
shift: Op = linear(
    "shift",
    lambda stack, k: stack.type,
    lambda args, params: "del {0}[0]" if _is_one(args[1]) else "del {0}[:{1}]",
    lambda ct, args, linear, params: (_with_zeros_first(ct, args[1]), None),
    inplace=True,
)


def _with_zeros_first(stack: Atom, k: Atom) -> Any:
    item = stack.type.item
    return unshift(stack, k, shape=item.shape, dtype=item.dtype)


def _is_one(k: Atom) -> bool:
    return isinstance(k, Literal) and bool(k.value == 1)


def _unshift_source(args: Any, params: Any) -> str:
    if _is_one(args[1]):
        return f"{{0}}.insert(0, {zero_item_text(params)})"
    return f"{{0}}[:0] = {zero_items_text(params).replace('{0}', '{1}')}"


#: A list with k zeros in front of its items.
unshift: Op = linear(
    "unshift",
    lambda stack, k, *, shape, dtype: stack.type,
    _unshift_source,
    lambda ct, args, linear, params: (shift(ct, args[1]), None),
    inplace=True,
)

# -- segments: arrays of one shape, the numbers of which lie end to end in a list

#: A list with the numbers of an array at its end.
extend = Op(
    "extend",
    lambda stack, value: stack.type,
    "{0}.extend(np.ravel({1}))",
    no_tangent,
    inplace=True,
)
#: The array of a number, which counts from the end if it is negative. `error` is the text of the
#: IndexError where there is none; None where that cannot be.
segment = Op(
    "segment",
    lambda stack, k, *, shape, error: stack.type.item.with_shape(shape),
    "np.reshape({0}, (-1, *{shape}))[{1}]",
    no_tangent,
)
#: A list that has another array in the place of one, or the sum of both.
set_segment, add_segment = (
    Op(
        f"{verb}_segment",
        lambda stack, k, value, *, shape, error: stack.type,
        f"np.reshape({{0}}, (-1, *{{shape}}))[{{1}}] {sign} {{2}}",
        no_tangent,
        inplace=True,
    )
    for verb, sign in (("set", "="), ("add", "+="))
)
#: A list without so many numbers at its end.
truncate = Op(
    "truncate", lambda stack, *, count: stack.type, "del {0}[-{count}:]", no_tangent, inplace=True
)

# -- lists in memory of their own, which are written anew

#: A list without its items; one with those of another list in their place, with so many zeros, and
#: with the sums of its items and those of another one.
clear = Op("clear", lambda stack: stack.type, "{0}.clear()", no_tangent, inplace=True)
refill = Op("refill", lambda stack, items: stack.type, "{0}[:] = {1}", no_tangent, inplace=True)
refill_zeros = Op(
    "refill_zeros",
    lambda stack, count, *, shape, dtype: stack.type,
    lambda args, params: f"{{0}}[:] = {zero_items_text(params).replace('{0}', '{1}')}",
    no_tangent,
    inplace=True,
)
add_items = Op(
    "add_items",
    lambda stack, items: stack.type,
    "{0}[:] = [p + q for p, q in zip({0}, {1})]",
    no_tangent,
    inplace=True,
)

#: What makes lists shorter at their end, and all that changes them.
SHORTENING = frozenset([*POPS, truncate])
STORING_ITEMS = [set_item, add_item, set_segment, add_segment, refill, refill_zeros, add_items]
CHANGING = frozenset([push, extend, *SHORTENING, *STORING_ITEMS, shift, unshift, clear])
