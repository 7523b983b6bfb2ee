"""Describes keys of arrays: what x[key] names, with slots for values that are known at run time
only.
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import broadcast, current, same_value, size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Var
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import ShapeError
from tapeless.transforms.ops.primitives.shapes import Atoms


@dataclass(frozen=True)
class Slot:
    """Stands in a key for the k-th atom that follows the array (and the value) in the arguments.

    once    its elements differ: none of them names a place twice
    within  all of its elements are places of the axis, from 0 on; as an end of a slice, it is one
            of the places, or their number
    """

    k: int
    once: bool = False
    within: bool = False

    def __repr__(self) -> str:
        marks = "".join(f", {mark}" for mark in ("once", "within") if getattr(self, mark))
        return f"Slot({self.k}{marks})"


Key = tuple[Any, ...]  # of int, slice, None, Slot
WHOLE, TURNED = slice(None), slice(None, None, -1)


def _entry(e: Any, rest: Atoms) -> Any:
    return rest[e.k] if isinstance(e, Slot) else e


def is_advanced(key: Key, rest: Atoms) -> bool:
    slots = [rest[e.k].type for e in key if isinstance(e, Slot)]
    return any(t.shape or t.dtype.kind == "b" for t in slots)


def result_shape(shape: tuple[Size, ...], key: Key, rest: Atoms) -> tuple[Size, ...]:
    """The shape of x[key]; advanced entries go where NumPy puts them."""
    out: list[Size] = []
    fancy: list[tuple[Size, ...]] = []
    axis = 0
    for e in key:
        value = _entry(e, rest)
        if e is None:
            out.append(1)
            continue
        if isinstance(e, slice):
            out.append(slice_size(shape[axis], e, rest))
            axis += 1
            continue
        if isinstance(value, Var) and value.type.dtype.kind == "b":
            fancy.append((dims.symbol("count", 0, upper=dims.product(value.type.shape)),))
            axis += value.type.ndim
        elif isinstance(value, Var) and value.type.shape:
            fancy.append(value.type.shape)
            axis += 1
        else:
            fancy.append(())
            axis += 1
            if not is_advanced(key, rest):
                continue
    if not is_advanced(key, rest):
        return (*out, *shape[axis:])
    at = advanced_place(key)
    try:
        chosen = broadcast(*fancy)
    except ShapeError:
        shapes = " ".join(f"({', '.join(map(str, s))},)" for s in fancy)
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}"
        ) from None
    return (*out[:at], *chosen, *out[at:], *shape[axis:])


def advanced_place(key: Key) -> int:
    """Where NumPy puts the axes of index arrays: in their place if they stand together (integers
    count as such arrays), else in front."""
    places = [k for k, e in enumerate(key) if e is not None and not isinstance(e, slice)]
    together = places == list(range(places[0], places[0] + len(places)))
    return places[0] if together else 0


def _in_terms_of(start: Size | None, stop: Size | None) -> Size | None:
    """The end of a slice, in which values that are computed as those of its start are these, as in
    x[starts[k] : starts[k] + 1]."""
    if start is None or stop is None:
        return stop
    for x in dims.symbols(stop):
        for y in dims.symbols(start):
            if x.var is not None and y.var is not None and same_value(x.var, y.var):
                same = {x: dims.single(y)}
                stop = dims.substitute(stop, same.get)
    return stop


def slice_size(n: Size, s: slice, rest: Atoms) -> Size:
    """How many elements a slice of an axis of length n has; a new symbol where none can say."""
    start, stop, step = (bound(b, rest) for b in (s.start, s.stop, s.step))
    stop = _in_terms_of(start, stop)
    step = 1 if step is None else step
    if isinstance(n, int) and all(isinstance(b, (int, type(None))) for b in (start, stop, step)):
        return len(range(*slice(start, stop, step).indices(n)))
    if step == -1 and start is None and stop is None:
        return n
    if not isinstance(step, int) or step == 0:
        return dims.symbol("length", 0, upper=n)
    if step < 0:
        backward = _backward_length(n, start, stop)
        if backward is None:
            return dims.symbol("length", 0, upper=n)
        return (backward + (-step - 1)) // -step
    low = 0 if start is None else clamp(start, n)
    high = n if stop is None else clamp(stop, n)
    if low == 0 and high == n:
        length: Size | None = n
    elif low is not None and high is not None:
        length = current().length(low, high)
    else:
        length = _length(n, start, stop)
    if length is None:
        low, high = _position(start, n, 0), _position(stop, n, n)
        length = None if low is None or high is None else current().length(low, high)
    if length is None:
        return dims.symbol("length", 0, upper=_max_length(start, stop, n))
    return length if step == 1 else (length + (step - 1)) // step


def _length(n: Size, start: Any, stop: Any) -> Size | None:
    """How many elements of n a slice from a known place has, or up to one, whatever n is."""
    start = 0 if start is None else start
    if not isinstance(start, int) or not isinstance(stop, (int, type(None))):
        return None
    if start >= 0 and (stop is None or stop < 0):
        return dims.maximum(n + (stop or 0) - start, 0)
    if start == 0 or stop is None:
        return dims.minimum(n, -start if stop is None else stop)
    return None


def _backward_length(n: Size, start: Size | None, stop: Size | None) -> Size | None:
    """How many of n elements lie between the ends of a slice that runs backwards, the first one
    included; None where none can say."""
    high = n if start is None else _position_behind(start, n)
    low = 0 if stop is None else _position_behind(stop, n)
    return None if low is None or high is None else current().length(low, high)


def _position_behind(b: Size, n: Size) -> Size | None:
    """The position after that of an element, if that can be said."""
    position = clamp(b, n)
    return None if position is None else clamp(position + 1, n)


def _max_length(start: Any, stop: Any, n: Size) -> Size:
    """How many of n elements x[start:stop] has at most, as x[i:i + 1] has one.

    >>> i, n = dims.symbol("i"), dims.symbol("n")
    >>> _max_length(i, i + 1, n), _max_length(i, 9, n)
    (1, n)
    """
    most = n if start is None or stop is None else stop - start
    return max(most, 0) if isinstance(most, int) else n


def _position(b: Any, n: Size, default: Size) -> Size | None:
    """Where a slice of n elements starts or stops, if a bound is known to count from one end."""
    if b is None:
        return default
    if dims.at_least(b, 0):
        return dims.minimum(b, n)
    return dims.maximum(n + b, 0) if dims.at_least(-b, 1) else None


def bound(b: Any, rest: Atoms) -> Any:
    b = _entry(b, rest)
    return b if b is None or isinstance(b, (int, dims.Dim)) else size_of(b)


def clamp(b: Size, n: Size) -> Size | None:
    """`b` as a position in 0..n, if that can be said."""
    if isinstance(b, int) and b < 0:
        b = n + b
        return b if current().not_negative(b) else None
    if dims.at_least(b, 0) and dims.at_least(n, b):
        return b
    return current().clamp(b, n)


def key_text(key: Key, first: int) -> str:
    def entry_text(e: Any) -> str:
        if isinstance(e, Slot):
            return f"{{{first + e.k}}}"
        if isinstance(e, slice):
            parts = ["" if b is None else entry_text(b) for b in (e.start, e.stop)]
            return ":".join(parts) + ("" if e.step is None else f":{entry_text(e.step)}")
        return "np.newaxis" if e is None else str(e)

    return ", ".join(map(entry_text, key)) or "..."


def is_element(key: Key, rest: Atoms, ndim: int) -> bool:
    """Whether a key names a single element of an array."""
    whole = len(key) == ndim and all(isinstance(e, (int, Slot)) for e in key)
    return whole and not any(a.type.shape for a in rest)


def is_turn(key: Key) -> bool:
    """Whether x[key] is x with axes turned, and nothing else."""
    return TURNED in key and all(e in (WHOLE, TURNED) for e in key)


def without_full_slices(key: Key) -> Key:
    """Without full slices at the end, which say nothing."""
    while len(key) > 1 and key[-1] == slice(None):
        key = key[:-1]
    return key


def without_unnamed(key: Key, rest: Atoms) -> tuple[Key, Atoms]:
    """The key, and of the atoms those that it names, in their order.

    >>> without_unnamed((Slot(2), slice(None, Slot(0))), ("n", "k", "i"))
    ((Slot(1), slice(None, Slot(0), None)), ('n', 'i'))
    """
    bounds = [b for e in key if isinstance(e, slice) for b in (e.start, e.stop, e.step)]
    named = sorted({e.k for e in (*key, *bounds) if isinstance(e, Slot)})
    if len(named) == len(rest):
        return key, rest

    def renumber(e: Any) -> Any:
        if isinstance(e, Slot):
            return Slot(named.index(e.k), e.once, e.within)
        if isinstance(e, slice):
            return slice(renumber(e.start), renumber(e.stop), renumber(e.step))
        return e

    return tuple(map(renumber, key)), tuple(rest[k] for k in named)


def compose(first: Key, first_rest: Atoms, then: Key, then_rest: Atoms) -> Any:
    """The key and atoms of x[first][then]; None where one key cannot say it."""
    if is_advanced(then, then_rest) and not _moves_along(first, then_rest):
        return None

    def shift_slots(e: Any) -> Any:
        if isinstance(e, Slot):
            return Slot(e.k + len(first_rest), e.once, e.within)
        if isinstance(e, slice):
            return slice(shift_slots(e.start), shift_slots(e.stop), shift_slots(e.step))
        return e

    later = list(map(shift_slots, then))
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
        entry = following if e == slice(None) else compose_entries(e, following)
        if entry is None:
            return None
        key.append(entry)
    return (*key, *later), (*first_rest, *then_rest)


def compose_entries(e: slice, then: Any) -> Any:
    """The entry that says x[e][then] for every length of x, with the same IndexError; None where
    none does, or the ends of a slice are not known.

    >>> compose_entries(slice(1, 4), 2), compose_entries(slice(1, None), slice(2, 5))
    (3, slice(3, 6, None))
    >>> compose_entries(slice(1, -1), slice(None, -1)), compose_entries(slice(None, -1), -1)
    (slice(1, -2, None), -2)
    >>> compose_entries(slice(1, 4), -1), compose_entries(slice(1, 4), 3)
    (None, None)
    """
    if then == slice(None):
        return e
    ends = (e.start, e.stop, *((then.start, then.stop) if isinstance(then, slice) else (then,)))
    if e.step not in (None, 1) or not all(x is None or type(x) is int for x in ends):
        return None
    start, stop = e.start or 0, e.stop
    if start < 0:
        return None
    if not isinstance(then, slice):
        if then < 0:
            counts_from_stop = start == 0 and (stop is None or stop < 0)
            return (stop or 0) + then if counts_from_stop else None
        return start + then if stop is None or stop > start + then else None
    first, last = then.start or 0, then.stop
    if then.step not in (None, 1) or first < 0:
        return None
    both = [x for x in (stop, last) if x is not None]
    if all(x < 0 for x in both):
        return slice(start + first or None, sum(both) if both else None)
    if any(x < 0 for x in both):
        return None
    stops = [x for x in (stop, None if last is None else start + last) if x is not None]
    return slice(start + first or None, min(stops))


def _moves_along(first: Key, rest: Atoms) -> bool:
    """Whether arrays that pick from x[first] may pick from x: each from one axis, and no number of
    `first` would be taken for one of them, which moves axes."""
    masks = [a for a in rest if a.type.dtype.kind == "b"]
    return all(isinstance(e, slice) for e in first) and all(a.type.ndim == 1 for a in masks)


def may_repeat(key: Key, rest: Atoms) -> bool:
    """Whether one element can be named twice: integer arrays can."""
    slots = [rest[e.k].type for e in key if isinstance(e, Slot)]
    if any(isinstance(e, Slot) and e.once for e in key) and all(t.ndim < 2 for t in slots):
        return False
    return any(t.shape and t.dtype.kind != "b" for t in slots)
