"""Parts of arrays, read and written: slices give views, index arrays gather and scatter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, broadcast, current, size_atom, size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.core.op import Op
from tapeless.transforms.errors import ShapeError
from tapeless.transforms.ops.elementwise import is_number, select
from tapeless.transforms.ops.fresh import zero
from tapeless.transforms.ops.shapes import Atoms, Params, broadcast_to, cast_to


@dataclass(frozen=True)
class Slot:
    """Stands in a key for the k-th atom that follows the array (and the value) in the arguments."""

    k: int


Key = tuple[Any, ...]  # of int, slice, None, Slot


def _entry(e: Any, rest: Atoms) -> Any:
    return rest[e.k] if isinstance(e, Slot) else e


def is_advanced(key: Key, rest: Atoms) -> bool:
    slots = [rest[e.k].type for e in key if isinstance(e, Slot)]
    return any(t.shape or t.dtype.kind == "b" for t in slots)


def result_shape(shape: tuple[Size, ...], key: Key, rest: Atoms) -> tuple[Size, ...]:
    """The shape of x[key]; advanced entries go where NumPy puts them."""
    out: list[Size] = []
    fancy: list[tuple[Size, ...]] = []
    places: list[int] = []
    axis = 0
    for position, e in enumerate(key):
        value = _entry(e, rest)
        if e is None:
            out.append(1)
            continue
        if isinstance(e, slice):
            out.append(slice_size(shape[axis], e, rest))
            axis += 1
            continue
        if isinstance(value, Var) and value.type.dtype.kind == "b":
            fancy.append((dims.symbol("count", 0),))
            axis += value.type.ndim
        elif isinstance(value, Var) and value.type.shape:
            fancy.append(value.type.shape)
            axis += 1
        else:
            fancy.append(())
            axis += 1
            if not is_advanced(key, rest):
                continue
        places.append(position)
        if len(places) == 1:
            first = len(out)
    if not is_advanced(key, rest):
        return (*out, *shape[axis:])
    together = places == list(range(places[0], places[0] + len(places)))
    at = first if together else 0
    return (*out[:at], *broadcast(*fancy), *out[at:], *shape[axis:])


def slice_size(n: Size, s: slice, rest: Atoms) -> Size:
    """How many elements a slice of an axis of length n has; a new symbol where none can say."""
    start, stop, step = (_bound(b, rest) for b in (s.start, s.stop, s.step))
    step = 1 if step is None else step
    if isinstance(n, int) and all(isinstance(b, (int, type(None))) for b in (start, stop, step)):
        return len(range(*slice(start, stop, step).indices(n)))
    if step == -1 and start is None and stop is None:
        return n
    if not isinstance(step, int) or step <= 0:
        return dims.symbol("length", 0)
    low = 0 if start is None else _clamp(start, n)
    high = n if stop is None else _clamp(stop, n)
    if low is None or high is None:
        return dims.symbol("length", 0)
    length = current().length(low, high)
    return length if step == 1 else (length + (step - 1)) // step


def _bound(b: Any, rest: Atoms) -> Any:
    b = _entry(b, rest)
    return b if b is None or isinstance(b, (int, dims.Dim)) else size_of(b)


def _clamp(b: Size, n: Size) -> Size | None:
    """`b` as a position in 0..n, if that can be said."""
    if isinstance(b, int) and b < 0:
        b = n + b
        return b if dims.at_least(b, 0) else None
    if dims.at_least(b, 0) and dims.at_least(n, b):
        return b
    return current().clamp(b, n)


def _index_infer(x: Atom, *rest: Atom, key: Key) -> Type:
    return Type(x.type.dtype, result_shape(x.type.shape, key, rest))


def key_text(key: Key, first: int) -> str:
    def one(e: Any) -> str:
        if isinstance(e, Slot):
            return f"{{{first + e.k}}}"
        if isinstance(e, slice):
            parts = ["" if b is None else one(b) for b in (e.start, e.stop)]
            return ":".join(parts) + ("" if e.step is None else f":{one(e.step)}")
        return "np.newaxis" if e is None else str(e)

    return ", ".join(map(one, key)) or "..."


def _trim(key: Key) -> Key:
    """Without full slices at the end, which say nothing."""
    while len(key) > 1 and key[-1] == slice(None):
        key = key[:-1]
    return key


def _index_source(args: Any, params: Params) -> str:
    return f"{{0}}[{key_text(_trim(params['key']), 1)}]"


def _index_jvp(op: Any) -> Any:
    def jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
        return (None,) if tangents[0] is None else (op(tangents[0], *primals[1:], **params),)

    return jvp


def _index_add(total: Atom, ct: Atom, args: Atoms, params: Params) -> Atom:
    return add_at(total, ct, *args[1:], **params)  # type: ignore[no-any-return]


def compose(first: Key, first_rest: Atoms, then: Key, then_rest: Atoms) -> Any:
    """The key and atoms of x[first][then], both basic; None where one key cannot say it."""

    def moved(e: Any) -> Any:
        if isinstance(e, Slot):
            return Slot(e.k + len(first_rest))
        if isinstance(e, slice):
            return slice(moved(e.start), moved(e.stop), moved(e.step))
        return e

    later = list(map(moved, then))
    key: list[Any] = []
    for e in first:
        if not isinstance(e, slice):
            if e is None:
                return None
            key.append(e)
            continue
        while later and later[0] is None:
            key.append(later.pop(0))
        following = later.pop(0) if later else slice(None)
        if slice(None) not in (e, following):
            return None
        key.append(following if e == slice(None) else e)
    return (*key, *later), (*first_rest, *then_rest)


def _index_simplify(args: Atoms, params: Params) -> Atom | None:
    key = params["key"]
    let = current().definitions.get(args[0]) if isinstance(args[0], Var) else None
    if let is not None and let.op is index:
        made = compose(let.params["key"], let.args[1:], key, args[1:])
        if made is not None:
            return index(let.args[0], *made[1], key=made[0])  # type: ignore[no-any-return]
    whole = all(e == slice(None) for e in key) and (key or not args[0].type.shape)
    return args[0] if whole else None


index = Op(
    "index",
    _index_infer,
    _index_source,
    accumulate=_index_add,
    view=True,
    put=lambda base, new, rest, params: update(base, new, *rest, **params),
    simplify=_index_simplify,
)
gather = Op("gather", _index_infer, _index_source, accumulate=_index_add, costly=True)
index.jvp, gather.jvp = _index_jvp(index), _index_jvp(gather)


def _store_infer(x: Atom, v: Atom, *rest: Atom, key: Key) -> Type:
    target = result_shape(x.type.shape, key, rest)
    have = v.type.shape
    while len(have) > len(target) and have[0] == 1:
        have = have[1:]
    fits = len(have) <= len(target) and all(
        a == 1 or a == b or (b != 1 and current().may_fit(a, b))
        for a, b in zip(have[::-1], target[::-1], strict=False)
    )
    if not fits:
        raise ShapeError(
            f"could not broadcast a value of shape {v.type.shape} into a part of shape {target}"
        )
    return x.type  # type: ignore[no-any-return]


def _update_source(args: Any, params: Params) -> str:
    return f"{{0}}[{key_text(_trim(params['key']), 2)}] = {{1}}"


def _add_at_source(args: Atoms, params: Params) -> str:
    if may_repeat(params["key"], args[2:]):
        key = key_text(params["key"], 2)
        key = f"({key})" if len(params["key"]) > 1 else key
        if ":" in key:
            key = "np.s_[" + key.strip("()") + "]"
        return f"np.add.at({{0}}, {key}, {{1}})"
    return f"{{0}}[{key_text(_trim(params['key']), 2)}] += {{1}}"


def may_repeat(key: Key, rest: Atoms) -> bool:
    """Whether one element can be named twice: integer arrays can."""
    slots = [rest[e.k].type for e in key if isinstance(e, Slot)]
    return any(t.shape and t.dtype.kind != "b" for t in slots)


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


update: Op = Op(
    "update",
    _store_infer,
    _update_source,
    _update_jvp,
    _update_transpose,
    inplace=True,
    simplify=_update_simplify,
)
add_at = Op("add_at", _store_infer, _add_at_source, _add_at_jvp, _add_at_transpose, inplace=True)


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
    rest: list[Atom] = []

    def bound(size: Size) -> Any:
        if isinstance(size, int):
            return size
        rest.append(size_atom(size))
        return Slot(len(rest) - 1)

    full = stop == x.type.shape[axis]
    s = slice(None if start == 0 else bound(start), None if full else bound(stop))
    return index(x, *rest, key=(*(slice(None),) * axis, s))  # type: ignore[no-any-return]
