"""Reading and writing parts of arrays: basic indexing gives views, index arrays gather and scatter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, broadcast, current, size_atom, size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Literal, Type, Var
from tapeless.transforms.core.op import Op
from tapeless.transforms.errors import ShapeError


@dataclass(frozen=True)
class Slot:
    """Stands in a key for the k-th atom that follows the array (and the value) in the arguments."""

    k: int


Key = tuple[Any, ...]  # of int, slice, None, Slot


def _entry(e: Any, rest: tuple[Atom, ...]) -> Any:
    return rest[e.k] if isinstance(e, Slot) else e


def is_advanced(key: Key, rest: tuple[Atom, ...]) -> bool:
    return any(isinstance(e, Slot) and (rest[e.k].type.shape or rest[e.k].type.dtype.kind == "b") for e in key)


def result_shape(shape: tuple[Size, ...], key: Key, rest: tuple[Atom, ...]) -> tuple[Size, ...]:
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


def slice_size(n: Size, s: slice, rest: tuple[Atom, ...]) -> Size:
    """How many elements a slice of an axis of length n has; a new symbol where it cannot be said."""
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
    length = dims.maximum(high - low, 0)
    return length if step == 1 else (length + (step - 1)) // step


def _bound(b: Any, rest: tuple[Atom, ...]) -> Any:
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


def _index_source(args: Any, params: dict[str, Any]) -> str:
    return f"{{0}}[{key_text(_trim(params['key']), 1)}]"


def _index_jvp(op: Any) -> Any:
    def jvp(primals: tuple[Atom, ...], tangents: tuple[Any, ...], outs: Any, params: dict[str, Any]) -> Any:
        return (None,) if tangents[0] is None else (op(tangents[0], *primals[1:], **params),)

    return jvp


def _index_add(total: Atom, ct: Atom, args: tuple[Atom, ...], params: dict[str, Any]) -> Atom:
    return add_at(total, ct, *args[1:], **params)  # type: ignore[no-any-return]


def compose(first: Key, first_rest: tuple[Atom, ...], then: Key, then_rest: tuple[Atom, ...]) -> Any:
    """The key and atoms of x[first][then], both basic; None where one key cannot say it."""
    rest = [*first_rest, *then_rest]

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
        nxt = later.pop(0) if later else slice(None)
        if e == slice(None):
            key.append(nxt)
        elif nxt == slice(None):
            key.append(e)
        else:
            return None
    return (*key, *later), tuple(rest)


def _index_simplify(args: tuple[Atom, ...], params: dict[str, Any]) -> Atom | None:
    key = params["key"]
    let = current().definitions.get(args[0]) if isinstance(args[0], Var) else None
    if let is not None and let.op is index:
        made = compose(let.params["key"], let.args[1:], key, args[1:])
        if made is not None:
            return index(let.args[0], *made[1], key=made[0])  # type: ignore[no-any-return]
    return args[0] if all(e == slice(None) for e in key) and (key or not args[0].type.shape) else None


index = Op("index", _index_infer, _index_source, accumulate=_index_add, view=True,
           put=lambda base, new, rest, params: update(base, new, *rest, **params), simplify=_index_simplify)
gather = Op("gather", _index_infer, _index_source, accumulate=_index_add, costly=True)
index.jvp, gather.jvp = _index_jvp(index), _index_jvp(gather)


def _store_infer(x: Atom, v: Atom, *rest: Atom, key: Key) -> Type:
    target = result_shape(x.type.shape, key, rest)
    have = v.type.shape
    while len(have) > len(target) and have[0] == 1:
        have = have[1:]
    if len(have) > len(target):
        raise ShapeError(f"could not broadcast a value of shape {v.type.shape} into a part of shape {target}")
    for a, b in zip(have[::-1], target[::-1], strict=False):
        if a == 1 or a == b:
            continue
        if b == 1 or not current().same_size(a, b):
            raise ShapeError(f"could not broadcast a value of shape {v.type.shape} into a part of shape {target}")
    return x.type  # type: ignore[no-any-return]


def _update_source(args: Any, params: dict[str, Any]) -> str:
    return f"{{0}}[{key_text(_trim(params['key']), 2)}] = {{1}}"


def _add_at_source(args: tuple[Atom, ...], params: dict[str, Any]) -> str:
    if may_repeat(params["key"], args[2:]):
        key = key_text(params["key"], 2)
        key = f"({key})" if len(params["key"]) > 1 else key
        if ":" in key:
            key = "np.s_[" + key.strip("()") + "]"
        return f"np.add.at({{0}}, {key}, {{1}})"
    return f"{{0}}[{key_text(_trim(params['key']), 2)}] += {{1}}"


def may_repeat(key: Key, rest: tuple[Atom, ...]) -> bool:
    """Whether one element can be named twice: integer arrays can."""
    return any(isinstance(e, Slot) and rest[e.k].type.shape and rest[e.k].type.dtype.kind != "b" for e in key)


def _update_jvp(primals: tuple[Atom, ...], tangents: tuple[Any, ...], outs: Any, params: dict[str, Any]) -> Any:
    from tapeless.transforms.ops.creation import zero

    x, v = tangents[:2]
    if x is None and v is None:
        return (None,)
    if not primals[0].type.differentiable:
        return (None,)
    return (update(zero(primals[0].type) if x is None else x, atom(0.0) if v is None else v, *primals[2:], **params),)


def _update_transpose(ct: Atom, args: tuple[Atom, ...], linear: tuple[bool, ...], params: dict[str, Any]) -> tuple[Any, ...]:
    key, rest = params["key"], args[2:]
    value = None
    if linear[1]:
        value = read(ct, key, rest)
        if may_repeat(key, rest):
            from tapeless.transforms.ops.elementwise import select

            value = select(last_store(*rest, key=key, shape=args[0].type.shape), value, 0.0)
    return (update(ct, 0.0, *rest, key=key) if linear[0] else None, value, *[None] * len(rest))


def _add_at_jvp(primals: tuple[Atom, ...], tangents: tuple[Any, ...], outs: Any, params: dict[str, Any]) -> Any:
    from tapeless.transforms.ops.creation import zero

    x, v = tangents[:2]
    if (x is None and v is None) or not primals[0].type.differentiable:
        return (None,)
    if v is None:
        return (x,)
    return (add_at(zero(primals[0].type) if x is None else x, v, *primals[2:], **params),)


def _add_at_transpose(ct: Atom, args: tuple[Atom, ...], linear: tuple[bool, ...], params: dict[str, Any]) -> tuple[Any, ...]:
    value = read(ct, params["key"], args[2:]) if linear[1] else None
    return (ct if linear[0] else None, value, *[None] * (len(args) - 2))


update = Op("update", _store_infer, _update_source, _update_jvp, _update_transpose, inplace=True)
add_at = Op("add_at", _store_infer, _add_at_source, _add_at_jvp, _add_at_transpose, inplace=True)


def _last_store_infer(*rest: Atom, key: Key, shape: tuple[Size, ...]) -> Type:
    return Type(np.dtype(bool), result_shape(shape, key, rest))


def _last_store_source(args: tuple[Atom, ...], params: dict[str, Any]) -> Any:
    key = key_text(params["key"], 0)
    return ("last_store({shape}, " + (f"np.s_[{key}]" if ":" in key or "," in key else key) + ")", LAST_STORE)


LAST_STORE = '''
def last_store(shape, key):
    """Which elements of a fancy store survive: where an index repeats, the last one wins."""
    winner = np.empty(shape, int)
    order = np.arange(winner[key].size).reshape(winner[key].shape)
    winner[key] = order
    return winner[key] == order
'''

last_store = Op("last_store", _last_store_infer, _last_store_source)


def read(x: Atom, key: Key, rest: tuple[Atom, ...]) -> Atom:
    return (gather if is_advanced(key, rest) else index)(x, *rest, key=key)  # type: ignore[no-any-return]


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


def normalize(key: Any, ndim: int) -> tuple[Key, tuple[Atom, ...]]:
    """A user's key as a template of full length and the atoms in it."""
    from tapeless.transforms.ops.creation import as_array

    entries = list(key) if isinstance(key, tuple) else [key]
    rest: list[Atom] = []

    def slot(value: Atom) -> Any:
        if isinstance(value, Literal) and value.type.dtype.kind in "iu":
            return int(value.value)
        rest.append(value)
        return Slot(len(rest) - 1)

    def bound(b: Any) -> Any:
        return slot(b) if isinstance(b, (Var, Literal)) else None if b is None else int(b)

    used = sum(_axes_taken(e) for e in entries)
    if used > ndim:
        raise IndexError(f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed")
    if sum(e is Ellipsis for e in entries) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if not any(e is Ellipsis for e in entries):
        entries.append(Ellipsis)
    at = next(k for k, e in enumerate(entries) if e is Ellipsis)
    entries[at:at + 1] = [slice(None)] * (ndim - used)
    out: list[Any] = []
    for e in entries:
        if isinstance(e, slice):
            out.append(slice(bound(e.start), bound(e.stop), bound(e.step)))
        elif e is None or (isinstance(e, (int, np.integer)) and not isinstance(e, (bool, np.bool_))):
            out.append(e if e is None else int(e))
        elif isinstance(e, (Var, Literal)):
            out.append(slot(e))
        elif isinstance(e, (list, tuple)):
            made = as_array(e)
            out.append(slot(made if made.type.shape != (0,) else as_array([], int)))
        else:
            raise IndexError("only integers, slices, ellipsis, None and integer or boolean arrays are valid indices")
    for e in out:
        if isinstance(e, Slot) and rest[e.k].type.dtype.kind not in "iub":
            raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return tuple(out), tuple(rest)


def _axes_taken(e: Any) -> int:
    if e is None or e is Ellipsis:
        return 0
    if isinstance(e, Var) and e.type.dtype.kind == "b":
        return e.type.ndim
    return 1


def get(x: Atom, key: Any) -> Atom:
    template, rest = normalize(key, x.type.ndim)
    check_bounds(x, template)
    return read(x, template, rest)


def check_bounds(x: Atom, key: Key) -> None:
    axis = 0
    for e in key:
        if isinstance(e, int) and isinstance(x.type.shape[axis], int) and not -x.type.shape[axis] <= e < x.type.shape[axis]:
            raise IndexError(f"index {e} is out of bounds for axis {axis} with size {x.type.shape[axis]}")
        if e is None:
            continue
        axis += 1
        if isinstance(e, Slot):
            return


def _take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Atom:
    from tapeless.transforms.ops.creation import as_array
    from tapeless.transforms.ops.shapes import _ravel, axis_of

    a, where = as_array(a), as_array(indices)
    if axis is None:
        return get(_ravel(a), where)
    k = axis_of(axis, a.type.ndim)
    return get(a, (*(slice(None),) * k, where))


NUMPY = {np.take: _take}
METHODS = {"take": _take}
