"""Simplifies stores into arrays, and reads of what was stored.

x[k] = v; y = x[k]                           becomes      y = v
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.builder import current, defining_statement
from tapeless.transforms.core.language import Atom, Let, Var
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.ops.primitives import (
    joining,
    new_arrays,
    shapes,
    slices_and_gathers,
    stacks,
)
from tapeless.transforms.ops.primitives.arithmetic import add, neg, sub
from tapeless.transforms.ops.primitives.constant_folding import is_number
from tapeless.transforms.ops.primitives.index_keys import without_full_slices
from tapeless.transforms.optimize.algebra.facts import Uses, fits, is_read_once, is_zeros


def added_to_zeros(s: Let, uses: Uses) -> Any:
    """x[i] += v is x[i] = v where x is still zero."""
    x, v = s.args[:2]
    if slices_and_gathers.may_repeat(s.params["key"], s.args[2:]) or v.type.dtype.kind == "b":
        return None
    while (
        let := defining_statement(x, slices_and_gathers.update, slices_and_gathers.add_at)
    ) is not None:
        if not are_disjoint_stores(let, s):
            return None
        x = let.args[0]
    zeros = defining_statement(x, new_arrays.zeros) is not None
    return slices_and_gathers.update(*s.args, **s.params) if zeros else None


def added_zeros(s: Let, uses: Uses) -> Any:
    """x[i] += 0 does nothing."""
    x, v = s.args[:2]
    return x if is_number(v, 0) or is_zeros(v) else None


def are_disjoint_stores(a: Let, b: Let) -> bool:
    """Whether two stores are sure to write different elements: by known places on an axis."""
    pairs = zip(a.params["key"], b.params["key"], strict=False)
    whole = (int, slice)
    for p, q in pairs:
        if type(p) is int and type(q) is int and p != q and (p < 0) == (q < 0):
            return True
        if not isinstance(p, whole) or not isinstance(q, whole):
            return False  # the axes that follow may be others
    return False


def made_of_elements(s: Let, uses: Uses) -> Any:
    """x = zeros(2); x[0] = a; x[1] = b is x = array([a, b])."""
    shape = s.args[0].type.shape
    if len(shape) != 1 or not isinstance(shape[0], int) or not 1 < shape[0] <= 6:
        return None
    stored: dict[int, Atom] = {}
    store: Let | None = s
    while store is not None:
        (k, *_), x, v = store.params["key"], store.args[0], store.args[1]
        if type(k) is not int or v.type.shape or v.type.dtype != x.type.dtype:
            return None
        stored.setdefault(k % shape[0], v)
        if store is not s and not is_read_once(store.outs[0], uses):
            return None
        store = defining_statement(x, slices_and_gathers.update)
    if len(stored) < shape[0] or defining_statement(x, new_arrays.zeros) is None:
        return None
    elements = [stored[k] for k in range(shape[0])]
    return joining.array(*elements, shape=shape, dtype=s.args[0].type.dtype)


def copied_once(s: Let, uses: Uses) -> Any:
    """A copy of what nobody else reads is the thing itself."""
    (x,) = s.args
    let = current().definitions.get(x) if isinstance(x, Var) and not x.name else None
    return x if let is not None and is_read_once(x, uses) and not let.op.view else None


def same_place(a: Let, b: Let) -> bool:
    """Whether two reads or stores name the same elements of an array."""
    rests = [
        s.args[1 if s.op in (slices_and_gathers.index, slices_and_gathers.gather) else 2 :]
        for s in (a, b)
    ]
    return (
        without_full_slices(a.params["key"]) == without_full_slices(b.params["key"])
        and rests[0] == rests[1]
    )


def stored_part(s: Let, uses: Uses) -> Any:
    """x[k] = x[k] + v is x[k] += v; x[k] = (x[k] with [j] = v) is x[k, j] = v. So with masks."""
    x, v = s.args[:2]
    if (
        same := defining_statement(v, slices_and_gathers.index, slices_and_gathers.gather)
    ) is not None and _is_part_of(same, s):
        return x
    let = defining_statement(v, add, sub, slices_and_gathers.update, slices_and_gathers.add_at)
    if let is None or not is_read_once(v, uses):
        return None
    a, b = let.args[:2]
    for old, new in ((a, b), (b, a)) if let.op is add else ((a, b),):
        if (composed := _of_selected(old, let, s)) is not None:
            return let.op(x, new, *composed[1], key=composed[0])
        part = defining_statement(old, slices_and_gathers.index) or _gathered_part(old, let)
        if part is None or not _is_part_of(part, s):
            continue
        if let.op in (slices_and_gathers.update, slices_and_gathers.add_at):
            composed = slices_and_gathers.compose(
                s.params["key"], s.args[2:], let.params["key"], let.args[2:]
            )
            return None if composed is None else let.op(x, new, *composed[1], key=composed[0])
        if v.type == part.outs[0].type and v.type.dtype == x.type.dtype:
            if let.op is sub and new.type.weak and _is_narrow(x):
                return None  # x[i] -= 5 of unsigned numbers: there is no -5
            added = neg(_in_dtype_of(x, new)) if let.op is sub else new
            return slices_and_gathers.add_at(x, added, *s.args[2:], **s.params)
    return None


def stored_item(s: Let, uses: Uses) -> Any:
    """items[k] = items[k] does nothing."""
    x, k, v = s.args[:3]
    let = defining_statement(v, stacks.peek)
    return x if let is not None and let.args == (x, k) else None


def _is_narrow(x: Atom) -> bool:
    return x.type.dtype.kind in "iu" and x.type.dtype != INT.dtype


def _in_dtype_of(x: Atom, value: Atom) -> Atom:
    """A value before it is negated: the opposite of a small integer may be none of its dtype."""
    same = value.type.weak or value.type.dtype == x.type.dtype
    return value if same else shapes.cast(value, dtype=x.type.dtype)


def _gathered_part(old: Atom, sum_: Let) -> Let | None:
    """What x[mask] + v is the sum of: no place is named twice."""
    part = defining_statement(old, slices_and_gathers.gather) if sum_.op in (add, sub) else None
    repeats = part is not None and slices_and_gathers.may_repeat(part.params["key"], part.args[1:])
    return None if repeats else part


def _is_part_of(part: Let, store: Let) -> bool:
    return part.args[0] is store.args[0] and same_place(part, store)


def _of_selected(old: Atom, store: Let, back: Let) -> Any:
    """The key and atoms of x[mask, k] for x[mask] = (x[mask] with [:, k] = v)."""
    part = defining_statement(old, slices_and_gathers.gather)
    if part is None or part.args[0] is not back.args[0] or part.args[1:] != back.args[2:]:
        return None
    same = without_full_slices(part.params["key"]) == without_full_slices(back.params["key"])
    if not same or store.op not in (slices_and_gathers.update, slices_and_gathers.add_at):
        return None
    return places_of_selected(part, store.params["key"], store.args[2:])


def places_of_selected(part: Let, key: slices_and_gathers.Key, rest: tuple[Atom, ...]) -> Any:
    """The key and atoms of x[mask, k] for x[mask][:, k], where one number names a place for all."""
    mask, *more = part.args[1:]
    plain = not more and mask.type.dtype.kind == "b" and mask.type.ndim == 1
    if (
        not plain
        or without_full_slices(part.params["key"]) != (slices_and_gathers.Slot(0),)
        or key[:1] != (slice(None),)
    ):
        return None
    numbers = [e for e in key[1:] if isinstance(e, (int, slices_and_gathers.Slot))]
    slices = [e for e in key[1:] if e == slice(None)]
    if not numbers or len(numbers) + len(slices) + 1 < len(key) or any(a.type.shape for a in rest):
        return None
    moved = [
        slices_and_gathers.Slot(e.k + 1) if isinstance(e, slices_and_gathers.Slot) else e
        for e in key[1:]
    ]
    return (slices_and_gathers.Slot(0), *moved), (mask, *rest)


def read_of_selected(s: Let, uses: Uses) -> Any:
    """x[mask][:, k] is x[mask, k]: nothing else is copied."""
    part = defining_statement(s.args[0], slices_and_gathers.gather)
    if part is None:
        return None
    places = places_of_selected(part, s.params["key"], s.args[1:])
    if places is None:
        return None
    gathered = slices_and_gathers.gather(part.args[0], *places[1], key=places[0])
    gathered.type = s.outs[0].type
    return gathered


def stored_twice(s: Let, uses: Uses) -> Any:
    """x[k] = u; x[k] = v is x[k] = v."""
    before = defining_statement(s.args[0], slices_and_gathers.update, slices_and_gathers.add_at)
    if before is None or not is_read_once(s.args[0], uses) or not same_place(before, s):
        return None
    return slices_and_gathers.update(before.args[0], *s.args[1:], **s.params)


def read_after_store(s: Let, uses: Uses) -> Any:
    """x[k] = v; y = x[k] is y = v."""
    store = defining_statement(s.args[0], slices_and_gathers.update)
    if store is None or not same_place(store, s):
        return None
    v = store.args[1]
    return v if fits(v, s.outs[0].type) and v.type.weak == s.outs[0].type.weak else None
