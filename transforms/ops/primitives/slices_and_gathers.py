"""Reads and writes parts of arrays: slices give views, index arrays gather and scatter."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom, atom_of_size, current, defining_statement
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import ShapeError, UnevenError
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched
from tapeless.transforms.ops.primitives.batched_keys import batched_part, slices_vary
from tapeless.transforms.ops.primitives.constant_folding import is_number
from tapeless.transforms.ops.primitives.index_keys import Key as Key
from tapeless.transforms.ops.primitives.index_keys import Slot as Slot
from tapeless.transforms.ops.primitives.index_keys import compose as compose
from tapeless.transforms.ops.primitives.index_keys import is_advanced as is_advanced
from tapeless.transforms.ops.primitives.index_keys import is_turn, key_text, without_full_slices
from tapeless.transforms.ops.primitives.index_keys import may_repeat as may_repeat
from tapeless.transforms.ops.primitives.index_keys import result_shape as result_shape
from tapeless.transforms.ops.primitives.new_arrays import batch_of, zero
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    batch_first,
    batch_size,
    broadcast_to,
    cast_to,
    front,
    jvp_of_linear,
    reshape,
)


def _index_infer(x: Atom, *rest: Atom, key: Key) -> Type:
    return Type(x.type.dtype, result_shape(x.type.shape, key, rest))


def _index_source(args: Any, params: Params) -> str:
    return f"{{0}}[{key_text(without_full_slices(params['key']), 1)}]"


def _index_add(total: Atom, ct: Atom, args: Atoms, params: Params) -> Atom:
    let = defining_statement(ct, broadcast_to)
    if let is not None and not let.args[0].type.shape:  # each element gets the same
        ct = let.args[0]
    return add_at(total, ct, *args[1:], **params)  # type: ignore[no-any-return]


def _index_simplify(args: Atoms, params: Params) -> Atom | None:
    key = params["key"]
    let = defining_statement(args[0])
    if let is not None and let.op is index:
        composed = compose(let.params["key"], let.args[1:], key, args[1:])
        if composed is not None:
            return index(let.args[0], *composed[1], key=composed[0])  # type: ignore[no-any-return]
    whole = all(e == slice(None) for e in key) and (key or not args[0].type.shape)
    return args[0] if whole else None


def _index_put(base: Atom, new: Atom, rest: Atoms, params: Params) -> Any:
    return index(new, **params) if is_turn(params["key"]) else update(base, new, *rest, **params)


def _read_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched | None:
    if slices_vary(params["key"], axes[1:]):
        return None
    part = batched_part(args[0], axes[0], params["key"], args[1:], axes[1:])
    if part is None:
        raise UnevenError(
            "vmap: how many elements a mask selects differs between the elements of the batch",
            "use np.where, which keeps the shape",
        )
    return part.place_batch_axis(read(part.x, part.key, part.rest))


index = Op(
    "index",
    _index_infer,
    _index_source,
    accumulate=_index_add,
    view=True,
    put=_index_put,
    simplify=_index_simplify,
    batch=_read_batch,
)
gather = Op(
    "gather",
    _index_infer,
    _index_source,
    accumulate=_index_add,
    costly=True,
    batch=_read_batch,
)
index.jvp, gather.jvp = jvp_of_linear(index), jvp_of_linear(gather)


def _store_infer(x: Atom, v: Atom, *rest: Atom, key: Key) -> Type:
    target = result_shape(x.type.shape, key, rest)
    have = v.type.shape
    while len(have) > len(target) and have[0] == 1:
        have = have[1:]
    fits = len(have) <= len(target) and all(
        a in (1, b) or current().is_one(a, b) or current().may_fit(a, b)
        for a, b in zip(have[::-1], target[::-1], strict=False)
    )
    if not fits:
        raise ShapeError(
            f"could not broadcast a value of shape {v.type.shape} into a part of shape {target}",
            "store a number or an array of that shape",
        )
    return x.type  # type: ignore[no-any-return]


def _update_source(args: Any, params: Params) -> str:
    return f"{{0}}[{key_text(without_full_slices(params['key']), 2)}] = {{1}}"


def _add_at_source(args: Atoms, params: Params) -> str:
    if may_repeat(params["key"], args[2:]):
        key = key_text(params["key"], 2)
        key = f"({key})" if len(params["key"]) > 1 else key
        if ":" in key:
            key = "np.s_[" + key.strip("()") + "]"
        return f"np.add.at({{0}}, {key}, {{1}})"
    return f"{{0}}[{key_text(without_full_slices(params['key']), 2)}] += {{1}}"


def _update_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    x, v = tangents[:2]
    if (x is None and v is None) or not primals[0].type.differentiable:
        return (None,)
    base = zero(primals[0].type) if x is None else x
    return (update(base, atom(0.0) if v is None else v, *primals[2:], **params),)


def _update_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    key, rest = params["key"], args[2:]
    value = None
    if linear[1]:
        value = read(ct, key, rest)
        if may_repeat(key, rest):
            value = select(last_store(*rest, key=key, shape=args[0].type.shape), value, 0.0)
    return (update(ct, 0.0, *rest, key=key) if linear[0] else None, value, *[None] * len(rest))


def _add_at_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    x, v = tangents[:2]
    if (x is None and v is None) or not primals[0].type.differentiable:
        return (None,)
    if v is None:
        return (x,)
    return (add_at(zero(primals[0].type) if x is None else x, v, *primals[2:], **params),)


def _add_at_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    value = read(ct, params["key"], args[2:]) if linear[1] else None
    return (ct if linear[0] else None, value, *[None] * (len(args) - 2))


def _update_simplify(args: Atoms, params: Params) -> Any:
    """x[:] = v is v, in the shape and dtype of x."""
    x, v = args[:2]
    t, have = x.type, v.type.shape
    whole = all(e == slice(None) for e in params["key"])
    suits = len(have) <= t.ndim and all(
        n in (1, m) for n, m in zip(have[::-1], t.shape[::-1], strict=False)
    )
    if not (whole and suits and t.shape):
        return None
    if is_number(v, 0):
        return zero(t)
    if v.type.dtype.kind == "c" != t.dtype.kind:
        return None
    return broadcast_to(cast_to(v, t.dtype), shape=t.shape)


def _store_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched | None:
    (x, v, *rest), (axis, place, *places) = args, axes
    key = params["key"]
    if slices_vary(key, places):
        return None
    if axis is None:
        x, axis = batch_of(x, batch_size(args, axes)), 0
    ndim = len(result_shape(_shape_without(x, axis), key, _elements(rest, places)))
    part = batched_part(x, axis, key, tuple(rest), places)
    if part is None:
        return _masked_store(op, x, axis, v, place, key, rest, places)
    stored = op(part.x, part.fit_value(v, place, ndim), *part.rest, key=part.key)
    return stored, axis if part.x is x else 0


def _shape_without(x: Atom, axis: int) -> tuple[Size, ...]:
    return (*x.type.shape[:axis], *x.type.shape[axis + 1 :])


def _elements(rest: Any, axes: Any) -> Atoms:
    """Stand-ins for the indices of one element, of which only the type counts."""
    pairs = zip(rest, axes, strict=True)
    return tuple(a if k is None else Var(a.type.with_shape(_shape_without(a, k))) for a, k in pairs)


def _masked_store(
    op: Op, x: Atom, axis: int, v: Atom, place: Any, key: Key, rest: Any, places: Any
) -> Batched:
    """x[mask] = v, where the mask depends on the element of the batch."""
    tail = key[1:]
    x, mask = front(x, axis), rest[0]
    inner = x.type.ndim - mask.type.ndim  # axes that the mask leaves alone
    plain = len(rest) == 1 and isinstance(key[0], Slot) and all(e == slice(None) for e in tail)
    if not plain or v.type.ndim - (place is not None) > inner:
        raise UnevenError(
            "vmap: how many elements a mask selects differs between the elements of the batch",
            "store one value for all, or use np.where",
        )
    chosen = front(mask, places[0])
    chosen = reshape(chosen, shape=(*chosen.type.shape, *(1,) * inner))
    value = cast_to(batch_first(v, place, x.type.ndim - 1), x.type.dtype)
    return select(chosen, add(x, value) if op is add_at else value, x), 0


update: Op = Op(
    "update",
    _store_infer,
    _update_source,
    _update_jvp,
    _update_transpose,
    inplace=True,
    simplify=_update_simplify,
    batch=_store_batch,
)
add_at = Op(
    "add_at",
    _store_infer,
    _add_at_source,
    _add_at_jvp,
    _add_at_transpose,
    inplace=True,
    batch=_store_batch,
)
#: Where places of elements begin among the arguments of an operation.
FIRST_PLACE = {index: 1, gather: 1, update: 2, add_at: 2}


def _last_store_infer(*rest: Atom, key: Key, shape: tuple[Size, ...]) -> Type:
    return Type(np.dtype(bool), result_shape(shape, key, rest))


def _last_store_source(args: Atoms, params: Params) -> Any:
    key = key_text(params["key"], 0)
    key = f"np.s_[{key}]" if ":" in key or "," in key else key
    return ("last_store({shape}, " + key + ")", LAST_STORE)


LAST_STORE = '''
def last_store(shape, key):
    """Which elements of a fancy store survive: where an index repeats, the last one wins."""
    winner = np.empty(shape, int)
    order = np.arange(winner[key].size).reshape(winner[key].shape)
    winner[key] = order
    return winner[key] == order
'''

last_store = Op("last_store", _last_store_infer, _last_store_source)


def read(x: Atom, key: Key, rest: Atoms) -> Atom:
    op = gather if is_advanced(key, rest) else index
    return op(x, *rest, key=key)  # type: ignore[no-any-return]


def part(x: Atom, axis: int, start: Size, stop: Size) -> Atom:
    """x[..., start:stop, ...] along `axis`."""
    key, rest = part_key(x.type.shape[axis], axis, start, stop)
    return index(x, *rest, key=key)  # type: ignore[no-any-return]


def part_key(
    n: Size, axis: int, start: Size, stop: Size, step: int = 1
) -> tuple[tuple[slice, ...], list[Atom]]:
    """The key of [..., start:stop:step, ...] along an axis of length n, and what it refers to."""
    rest: list[Atom] = []

    def bound(size: Size) -> Any:
        if isinstance(size, int):
            return size
        if isinstance(from_end := size - n, int) and from_end < 0:
            return from_end
        rest.append(atom_of_size(size))
        return Slot(len(rest) - 1)

    low = None if start == 0 else bound(start)
    high = None if stop == n else bound(stop)
    return (*(slice(None),) * axis, slice(low, high, None if step == 1 else step)), rest
