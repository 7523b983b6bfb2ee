"""Which results of NumPy functions are views of an argument, and of which part of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import size_atom
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Let, Var
from tapeless.transforms.frontend.layouts import Order, is_view, lies_in_order
from tapeless.transforms.frontend.trace import trace
from tapeless.transforms.ops import indexing, shapes
from tapeless.transforms.ops.arithmetic import add
from tapeless.transforms.ops.keys import Key, Slot, bound, clamp, is_advanced
from tapeless.transforms.ops.shapes import Atoms
from tapeless.transforms.ops.table import FUNCTIONS, METHODS

Step = tuple[Any, tuple[Any, ...], dict[str, Any]]  # an operation, its other arguments, its params


def _rules(functions: str, methods: str) -> set[Any]:
    """The rules of functions of NumPy and of methods of arrays, by their names."""
    found = [getattr(np, name, None) for name in functions.split()]
    return {FUNCTIONS[f] for f in found if f in FUNCTIONS} | {METHODS[m] for m in methods.split()}


#: Their results are views of an argument where their operations are.
VIEWS = _rules(
    "asarray asanyarray ascontiguousarray reshape ravel transpose permute_dims matrix_transpose "
    "squeeze expand_dims atleast_1d atleast_2d atleast_3d moveaxis swapaxes rollaxis broadcast_to "
    "broadcast_arrays flip flipud fliplr rot90 diagonal diag real imag split array_split vsplit "
    "hsplit dsplit unstack",
    "reshape transpose ravel squeeze swapaxes diagonal view",
) | {indexing.get, FUNCTIONS[np.linalg.diagonal], FUNCTIONS[np.linalg.matrix_transpose]}
#: They copy what does not lie in order.
IN_ORDER = _rules("ravel ascontiguousarray", "ravel")
READ_ONLY = _rules("broadcast_to broadcast_arrays", "")
#: A view if the argument is as they want it, which is not known here.
PERHAPS = _rules("asfortranarray require", "")


def path(made: Var, known: Any) -> tuple[Var, list[Let]] | None:
    """The view operations that lead from one of the known values to `made`."""
    lets: list[Let] = []
    at: Any = made
    definitions = trace().definitions
    while at not in known:
        let = definitions.get(at) if isinstance(at, Var) else None
        if let is None or not let.op.view:
            return None
        lets.append(let)
        at = let.args[0]
    return at, lets[::-1]


def verdict(rule: Any, made: Var, lets: list[Let]) -> tuple[bool | None, set[Order]]:
    """Whether NumPy gives a view (None: if none can say), and what of the inputs says so."""
    if rule in PERHAPS:
        return None, set()
    strict = rule in IN_ORDER
    last = lets[-1] if lets and lets[-1].op is shapes.reshape else None
    if strict and last is None:
        return lies_in_order(made)
    used: set[Order] = set()
    for s in lets:
        if s.op is shapes.reshape:
            found, orders = is_view(s, strict and s is last)
            used |= orders
            if not found:
                return found, used
    return True, used


def joined(chain: tuple[Step, ...], shape: tuple[Size, ...]) -> tuple[Step, ...]:
    """A chain of views of an array of this shape, in which consecutive index steps are one."""
    steps: list[Step] = []
    for op, rest, params in chain:
        if op is indexing.index and steps and steps[-1][0] is indexing.index:
            first, then = (steps[-1][2]["key"], steps[-1][1]), (params["key"], rest)
            made = indexing.compose(*first, *then)
            if made is None and len(steps) == 1:
                made = inside(*first, *then, shape)
            if made is not None:
                steps[-1] = (op, made[1], {"key": made[0]})
                continue
        steps.append((op, rest, params))
    return tuple(steps)


def inside(first: Key, rest: Atoms, then: Key, then_rest: Atoms, shape: tuple[Size, ...]) -> Any:
    """The key and atoms of x[first][then] where `then` is known to name places of the part."""
    values, later, key = [*rest], list(then), []
    if None in (*first, *then) or is_advanced(first, rest) or is_advanced(then, then_rest):
        return None

    def entry(size: Size, n: Size) -> Any:
        if isinstance(size, int):
            return size
        beyond = size - n
        if isinstance(beyond, int) and beyond < 0:
            return beyond
        values.append(size_atom(size))
        return Slot(len(values) - 1)

    whole = slice(None)
    for e, n in zip((*first, *(whole,) * (len(shape) - len(first))), shape, strict=True):
        if not isinstance(e, slice):
            key.append(e)
            continue
        f = later.pop(0) if later else whole
        start, stop = _ends(e, n, values)
        if start is None or stop is None:
            return None
        if isinstance(f, slice):
            low, high = _ends(f, stop - start, then_rest)
            if low is None or high is None:
                return None
            low, high = start + low, start + high
            ends = (None if low == 0 else entry(low, n), None if high == n else entry(high, n))
            key.append(slice(*ends))
        else:
            place = _place(f, stop - start, then_rest)
            if place is None:
                return None
            if isinstance(f, Slot) and isinstance(start, int):
                values.append(add(then_rest[f.k], start))
                key.append(Slot(len(values) - 1))
            else:
                key.append(entry(start + place, n))
    return tuple(key), tuple(values)


def _ends(e: slice, n: Size, rest: Any) -> tuple[Size | None, Size | None]:
    """Where a slice of an axis of length n starts and stops; None where that is not known."""
    if e.step not in (None, 1):
        return None, None
    start, stop = bound(e.start, rest), bound(e.stop, rest)
    return 0 if start is None else clamp(start, n), n if stop is None else clamp(stop, n)


def _place(e: Any, n: Size, rest: Atoms) -> Size | None:
    """An index as a place in 0 to n - 1, where it is known to be one."""
    at = bound(e, rest)
    if isinstance(at, int) and at < 0:
        return clamp(at, n)
    return at if clamp(at, n - 1) == at else None
