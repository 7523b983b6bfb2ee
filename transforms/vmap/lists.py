"""Batches lists that loops fill: each item holds the values of all elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from tapeless.transforms.core.builder import defining_statement
from tapeless.transforms.core.dims import Size, lower_bound
from tapeless.transforms.core.language import (
    TAPE,
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    StackType,
    Statement,
    Var,
    While,
    outputs,
    statements,
)
from tapeless.transforms.errors import UnevenError
from tapeless.transforms.ops.primitives import new_arrays, stacks
from tapeless.transforms.ops.primitives.axis_lengths import length_if_set
from tapeless.transforms.ops.primitives.new_arrays import (
    batch_of,
    new_stack,
    stack_length,
    zero_items,
    zeros_of_items,
)
from tapeless.transforms.ops.primitives.shapes import cast, front, move
from tapeless.transforms.ops.primitives.stacks import add_stacks, pop, push
from tapeless.transforms.vmap.fallback_loop import over_batch

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch

#: What may be done with lists that have grown by different numbers of elements: what backward loops
#: do, which take back for each element what was put there for it.
LAST_ITEM = (push, pop, zeros_of_items, add_stacks)


def batched_list(batch: Batch, stack: Atom) -> Any:
    """A list without batch as one that can hold a batch."""
    kind = batch.kind(stack.type)
    if isinstance(stack, Literal):
        return Literal(stack.value, kind)
    if stack in batch.tried:
        return Var(kind)
    let = defining_statement(stack)
    if let is not None and let.op is new_stack:
        return new_stack(item=kind.item)
    if isinstance(kind.item, StackType):
        raise UnevenError(
            "vmap: values that depend on the element of the batch are put into a list of lists "
            "that was filled with others before",
            "use an array",
        )
    if kind.item == TAPE:
        _refuse_tape()
    if let is not None and let.op is zero_items:
        return zero_items(let.args[0], shape=kind.item.shape, dtype=kind.item.dtype)
    spread_var = Var(kind)

    def item(k: Var) -> list[Atom]:
        return [stacks.push(spread_var, batch_of(stacks.peek(stack, k), batch.size))]

    start = (new_stack(item=kind.item),)
    count = length_if_set if _may_lack(stack) else stack_length
    return over_batch(count(stack), item, start, (spread_var,))[0]


def _may_lack(stack: Var) -> bool:
    """Whether a branch may have given a list, or what its zeros are like, no value."""
    let = defining_statement(stack)
    return stack.partial or (let is not None and let.op is new_arrays.zero_tape)


def whole_value(batch: Batch, a: Atom) -> tuple[Any, int | None]:
    """A list or tape for all elements; what calls keep stays what all of them share."""
    value, axis = batch.value(a)
    return (value, axis) if _keeps_tapes(a) else (batch.front(a), 0)


def _keeps_tapes(a: Atom) -> bool:
    kind = a.type
    while isinstance(kind, StackType):
        kind = kind.item
    return bool(kind == TAPE)


def _refuse_tape() -> NoReturn:
    raise UnevenError(
        "vmap: calls that depend on the element of the batch and others are kept in one list",
        "let all of them depend on it",
    )


def spread_changed(batch: Batch, block: Block) -> None:
    """Lists that a block changes hold batches from then on: its elements may be a part of all."""
    for v in _changed_lists(block):
        value, axis = batch.value(v)
        if axis is None:
            batch.env[v] = (batched_list(batch, value), 0)


def _changed_lists(block: Block) -> list[Var]:
    """The lists from around a block that the lists which it makes were made from."""
    defined = {v for s in statements(block) for v in outputs(s)}
    sources: dict[Any, list[Any]] = {}
    for s in statements(block):
        for v, *handed in _handed_on(s):
            if isinstance(v.type, StackType):
                sources.setdefault(v, []).extend(handed)
    changed = dict.fromkeys(a for a in block.results if a in defined)
    waiting = list(changed)
    while waiting:
        more = dict.fromkeys(a for a in sources.get(waiting.pop(0), ()) if a not in changed)
        changed |= more
        waiting += more
    around = (a for a in changed if isinstance(a, Var) and a not in defined and a not in sources)
    return [v for v in around if isinstance(v.type, StackType) and not _keeps_tapes(v)]


def _handed_on(s: Statement) -> Iterator[tuple[Any, ...]]:
    """Variables that a statement makes, with what they may be made from."""
    match s:
        case Let():
            yield from ((v, *s.args) for v in s.outs)
        case If():
            yield from zip(s.outs, s.then.results, s.orelse.results, strict=True)
        case For() | While():
            yields = s.yields if isinstance(s, For) else s.body.results
            params = s.carries if isinstance(s, For) else s.body.params
            for p, a, y, v in zip(params, s.inits, yields, s.outs, strict=True):
                yield from ((p, a, y), (v, a, y))


def is_about_lengths(batch: Batch, s: Let) -> bool:
    """Whether a statement asks how many items an uneven list has, or makes as many zeros."""
    asks = s.op is stack_length and s.args[0] in batch.uneven
    return asks or (s.op is zero_items and s.args[0] in batch.lengths)


def keep_length(batch: Batch, s: Let) -> None:
    """Zeros are made for the items that there are; nothing else needs to know their number."""
    if s.op is stack_length:
        batch.lengths[s.outs[0]] = batch.value(s.args[0])[0]
        return
    (v,) = s.outs
    batch.env[v] = (zeros_of_items(batch.lengths[s.args[0]]), 0)
    batch.uneven.add(v)


def refuse_uneven() -> NoReturn:
    raise UnevenError(
        "vmap: a list grows by different numbers of items for the elements of the batch",
        "use an array with a place for each, or np.where",
    )


def apply(batch: Batch, s: Let, args: Any, axes: Any) -> list[Any]:
    uneven = any(a in batch.uneven for a in s.args)
    if uneven and s.op not in LAST_ITEM:
        refuse_uneven()
    if uneven:
        batch.uneven |= {v for v in s.outs if isinstance(v.type, StackType)}
    return _list_operation(batch, s, args, axes)


def _list_operation(batch: Batch, s: Let, args: Any, axes: Any) -> list[Any]:
    stack = args[0]
    if axes[0] is None and isinstance(stack.type, StackType):
        stack = batched_list(batch, stack)
    match s.op:
        case stacks.push:
            return [(stacks.push(stack, _item(batch, stack, s.args[1], args[1], axes[1])), 0)]
        case stacks.pop | stacks.pop_of_list:
            rest, item = s.op.bind(stack)
            return [(rest, 0), (item, 0)]
        case stacks.to_array if axes[0] is not None:
            return [(_as_array(stack, s.params["size"]), 1)]
        case stacks.peek if axes[1] is None:
            return [(stacks.peek(stack, args[1]), 0)]
        case stacks.set_item | stacks.add_item if axes[1] is None:
            values = zip(s.args[2:], args[2:], axes[2:], strict=True)
            return [(s.op(stack, args[1], *(_item(batch, stack, *v) for v in values)), 0)]
        case stacks.shift if axes[1] is None:
            return [(stacks.shift(stack, args[1]), 0)]
        case stacks.unshift if axes[1] is None:
            item = stack.type.item
            return [(stacks.unshift(stack, args[1], shape=item.shape, dtype=item.dtype), 0)]
        case new_arrays.zeros_of_items:
            return [(zeros_of_items(stack), 0)]
        case stacks.add_stacks:
            other = args[1] if axes[1] is not None else batched_list(batch, args[1])
            return [(stacks.add_stacks(stack, other), 0)]
        case stacks.concatenate_items:
            like = args[1] if axes[1] is not None else batched_list(batch, args[1])
            return [(stacks.concatenate_items(stack, like, axis=s.params["axis"] + 1), 0)]
        case stacks.split_items:
            like = args[1] if axes[1] is not None else batched_list(batch, args[1])
            whole = batch_of(stack, batch.size) if axes[0] is None else front(stack, axes[0])
            return [(stacks.split_items(whole, like, axis=s.params["axis"] + 1), 0)]
        case stacks.unstack:
            return [(stacks.unstack(move(stack, (axes[0],), (1,))), 0)]
    raise UnevenError(
        f"vmap of {s.op.name}, an operation on lists that are filled in loops", "use an array"
    )


def _as_array(stack: Atom, size: Size) -> Any:
    """The items as an array: of an empty list NumPy does not know that they were batches."""
    filled = (lower_bound(size) or 0) > 0
    sides = None if filled else stack.type.item.shape
    return stacks.to_array(stack, size=size, sides=sides)


def _item(batch: Batch, stack: Atom, was: Any, value: Any, axis: Any) -> Any:
    """An item of a list: a number of Python's gets the dtype of the others."""
    if isinstance(was.type, StackType):
        return value if axis is not None else batched_list(batch, value)
    if was.type == TAPE:
        return value if axis is not None else _refuse_tape()
    item = batch_of(value, batch.size) if axis is None else front(value, axis)
    dtype = stack.type.item.dtype
    return item if item.type.dtype == dtype else cast(item, dtype=dtype)
