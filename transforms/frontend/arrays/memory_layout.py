"""Computes the strides of arrays while staging: they decide whether a reshape is a view or a copy,
as in NumPy.

    a.T.reshape(-1)      copies, since the rows of a.T do not follow each other in memory
    a[:2].reshape(-1)    is a view, if the elements of `a` lie in order

Strides are counted in elements and may be sizes, so what is found holds for all lengths.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Type, Var
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.linalg.einsum import einsum
from tapeless.transforms.ops.numpy import indexing
from tapeless.transforms.ops.numpy.diagonals import diagonal
from tapeless.transforms.ops.primitives import shapes
from tapeless.transforms.ops.primitives.identities import again, identity
from tapeless.transforms.ops.primitives.index_keys import advanced_place, is_advanced

UNKNOWN, SAME = "?", "="  # an order that none can say; the memory of another array
Shape = tuple[Size, ...]
Strides = tuple[Size, ...]


@dataclass(frozen=True)
class Order:
    """The memory order of an input, which a program relies on: "C", "F", or its strides."""

    var: Var
    strides: Any

    def holds(self, array: np.ndarray[Any, Any]) -> bool:
        return bool(order_of(array) == self.strides)


def order_of(array: np.ndarray[Any, Any]) -> Any:
    if array.flags.c_contiguous:
        return "C"
    return "F" if array.flags.f_contiguous else array.strides


def c_order(shape: Shape) -> Strides:
    return tuple(dims.product(shape[k + 1 :]) for k in range(len(shape)))


def f_order(shape: Shape) -> Strides:
    return c_order(shape[::-1])[::-1]


def equal(a: Size, b: Size) -> bool | None:
    """Whether two sizes are equal, which the program then relies on; None if none can say."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    t = trace()
    x, y = t.value(a), t.value(b)
    if a == b or x is None or y is None:
        return True if a == b else None
    if x == y:
        t.guard("==", a, b)
    else:
        t.guard(">=", *((a, b + 1) if x > y else (b, a + 1)))
    return x == y


def real_axes(shape: Shape, strides: Strides) -> list[tuple[Size, Size]] | None:
    """(length, stride) of the axes that are longer than one; None if none can say."""
    t, axes = trace(), []
    for n, stride in zip(shape, strides, strict=True):
        if n == 1:
            continue
        if not dims.at_least(n, 2):
            length = t.value(n)
            if length is None:
                return None
            if length < 2:
                t.guard("==", n, length)
                continue
            t.guard(">=", n, 2)
        axes.append((n, stride))
    return axes


def in_order(shape: Shape, strides: Strides) -> bool | None:
    """Whether the elements follow each other without gaps."""
    axes = real_axes(shape, strides)
    if axes is None:
        return None
    after = [dims.product(n for n, _ in axes[k + 1 :]) for k in range(len(axes))]
    return _all(equal(stride, size) for (_, stride), size in zip(axes, after, strict=True))


def _all(answers: Iterable[bool | None]) -> bool | None:
    for answer in answers:
        if not answer:
            return answer
    return True


def strides_of_reshape(shape: Shape, strides: Strides, new: Shape) -> Strides | bool | None:
    """The strides of a view of another shape; False where NumPy copies; None if none can say."""
    if 0 in shape:
        return c_order(new)
    axes = real_axes(shape, strides)
    if axes is None:
        return None
    new_axes = [n for n in new if n != 1]
    strides_found: list[Size] = []
    while axes:
        group, sizes = [axes.pop(0)], [new_axes.pop(0)] if new_axes else []
        complete = True
        while not _known_equal(dims.product(n for n, _ in group), dims.product(sizes)):
            complete = bool(axes or new_axes)
            if not complete:
                break  # the numbers of elements are equal, but maybe also those of parts
            if _smaller(group, sizes, axes, new_axes):
                group.append(axes.pop(0))
            else:
                sizes.append(new_axes.pop(0))
        follows = _all(equal(a[1], b[0] * b[1]) for a, b in pairwise(group))
        if not follows:
            return follows if complete else None
        strides_found += [inner * group[-1][1] for inner in c_order(tuple(sizes))]
    strides_found += [
        1 for _ in new_axes
    ]  # nothing is left of the elements: these are axes of length 1
    places = iter(strides_found)
    return tuple(1 if n == 1 else next(places) for n in new)


def _known_equal(a: Size, b: Size) -> bool:
    """Whether two sizes are seen to be equal, which the program then relies on."""
    x, y = trace().value(a), trace().value(b)
    if a != b and x is not None and x == y:
        trace().guard("==", a, b)
    return a == b or (x is not None and x == y)


def _smaller(group: Any, sizes: Any, axes: Any, stride: Any) -> bool:
    """Whether a group of old axes must grow, rather than that of new ones."""
    if not axes or not stride:
        return bool(axes)
    t = trace()
    old, new = t.value(dims.product(n for n, _ in group)), t.value(dims.product(sizes))
    return old is None or new is None or old < new


# -- the strides of the values of a program


class Layouts:
    """Finds the strides of values, and which orders of inputs that relies on."""

    def __init__(self) -> None:
        self.used: set[Order] = set()
        self.known: dict[Atom, Strides | None] = {}

    def strides_of(self, a: Atom) -> Strides | None:
        if a not in self.known:
            self.known[a] = self.compute_strides(a)
        return self.known[a]

    def compute_strides(self, a: Atom) -> Strides | None:
        t = trace()
        shape = a.type.shape
        if len([n for n in shape if n != 1]) == 0:
            return c_order(shape)
        if not isinstance(a, Var):
            return None
        if a in t.orders.chosen:
            return self.strides_in_order(shape, *t.orders.chosen[a])
        if a in t.inputs:
            return self.of_input(a, t.inputs[a])
        if a in t.loops.flows:
            t.orders.asked.add(a)
            return self.common(t.loops.flows[a])
        if a in t.definitions:
            return self.of_result(t.definitions[a], a.type.shape)
        if t.parents.get(a, ("",))[0] == "if":
            return self.common(t.parents[a][2][1:])
        return c_order(shape) if len(shape) == 1 else None

    def strides_in_order(self, shape: Shape, order: str, like: Atom | None) -> Strides | None:
        """The strides of a new array in an order of the user's choice, or in that of another; or of
        the memory of another, which holds something else now."""
        if order == SAME:
            return self.strides_of(like)  # type: ignore[arg-type]
        if like is not None:
            order = self.order(like) if like.type.ndim == len(shape) else "C"
        strides_rule = {"C": c_order, "F": f_order}.get(order)
        return None if strides_rule is None else strides_rule(shape)

    def of_input(self, a: Var, array: np.ndarray[Any, Any]) -> Strides | None:
        order = order_of(array)
        self.used.add(Order(a, order))
        if isinstance(order, str):
            return (c_order if order == "C" else f_order)(a.type.shape)
        whole_items = all(n % array.itemsize == 0 for n in order)
        return tuple(n // array.itemsize for n in order) if whole_items else None

    def common(self, sources: Iterable[Atom]) -> Strides | None:
        layouts = [self.strides_of(a) for a in sources]
        return layouts[0] if all(f == layouts[0] for f in layouts) else None

    def of_result(self, s: Let, shape: Shape) -> Strides | None:
        """The strides of a result of this shape."""
        x = s.args[0] if s.args else None
        if s.op.inplace:
            assert x is not None
            return self.strides_of(x)
        if s.op.view:
            assert x is not None
            strides = self.strides_of(x)
            return None if strides is None else self.strides_of_view(s, strides)
        values = [a for a in s.args if isinstance(a.type, Type)]
        arrays = [a for a in values if sum(n != 1 for n in a.type.shape) > 1]
        orders = {self.order(a) for a in arrays}
        if len(shape) == 1 or (orders <= {"C"} and not _turns(s)):
            return c_order(shape)
        keeps = s.op.elementwise or s.op in (shapes.copy, shapes.cast)
        if not keeps or any(a.type.ndim != len(shape) for a in arrays):
            return None
        ranks = {self.rank(a) for a in arrays}  # which decides, for what NumPy computes by element
        return {"C": c_order, "F": f_order}[ranks.pop()](shape) if ranks in ({"C"}, {"F"}) else None

    def order(self, a: Atom) -> str:
        strides = self.strides_of(a)
        if strides is None:
            return ""
        if in_order(a.type.shape, strides):
            return "C"
        return "F" if in_order(a.type.shape[::-1], strides[::-1]) else ""

    def rank(self, a: Atom) -> str:
        """The order of the axes by their strides."""
        strides = self.strides_of(a)
        axes = None if strides is None else real_axes(a.type.shape, strides)
        steps = [magnitude(stride) for _, stride in axes or ()]
        if not steps or 0 in steps:
            return ""
        for order, falling in (("C", steps), ("F", steps[::-1])):
            if all(not_less(a, b) for a, b in pairwise(falling)):
                return order
        return ""

    def strides_of_view(self, s: Let, strides: Strides) -> Strides | None:
        """The strides of a view."""
        shape, new = s.args[0].type.shape, s.outs[0].type.shape
        if s.op is shapes.transpose:
            return tuple(strides[k] for k in s.params["axes"])
        if s.op is shapes.reshape:
            new_strides = strides_of_reshape(shape, strides, new)
            return (
                c_order(new)
                if new_strides is False
                else new_strides
                if isinstance(new_strides, tuple)
                else None
            )
        if s.op is indexing.index:
            return _sliced_strides(s.params["key"], strides)
        if s.op is shapes.broadcast_to:
            lead = len(new) - len(shape)
            pairs = zip(shape, new[lead:], strides, strict=True)
            return (*(0,) * lead, *(stride if n == m else 0 for n, m, stride in pairs))
        if s.op is diagonal:
            return (*strides[:-2], strides[-2] + strides[-1])
        return strides if s.op in (identity, again) else None


def _turns(s: Let) -> bool:
    """Whether the result may be in another order though the arguments are in order: what
    np.einsum makes, and m[:, places], whose columns lie one after another."""
    if s.op is einsum:
        return True
    rest = s.args[1:]
    picks = s.op in (indexing.index, indexing.gather) and is_advanced(s.params["key"], rest)
    return picks and advanced_place(s.params["key"]) > 0


def magnitude(stride: Size) -> Size:
    """The absolute value of a stride; 0 if none can say."""
    size = trace().value(stride)
    return 0 if size is None else stride if size > 0 else -stride


def not_less(a: Size, b: Size) -> bool:
    x, y = trace().value(a), trace().value(b)
    if x is None or y is None or x < y:
        return False
    if not dims.at_least(a, b):
        trace().guard(">=", a, b)
    return True


def _sliced_strides(key: Any, strides: Strides) -> Strides | None:
    remaining = iter(strides)
    sliced_strides: list[Size] = []
    for e in key:
        if e is None:
            sliced_strides.append(1)
            continue
        stride = next(remaining)
        if isinstance(e, slice):
            if not (e.step is None or isinstance(e.step, int)):
                return None
            sliced_strides.append(stride * (1 if e.step is None else e.step))
    return (*sliced_strides, *remaining)


def lies_in_order(a: Atom) -> tuple[bool | None, set[Order]]:
    """Whether the elements of a value lie in order, and the orders of inputs that says so."""
    layouts = Layouts()
    strides = layouts.strides_of(a)
    return (None if strides is None else in_order(a.type.shape, strides)), layouts.used


def is_view(s: Let, strict: bool) -> tuple[bool | None, set[Order]]:
    """Whether NumPy gives a view for a reshape; `strict`: for one that copies unless the elements
    lie in order."""
    if strict:
        return lies_in_order(s.args[0])
    shape, new = s.args[0].type.shape, s.outs[0].type.shape
    long = [n for n in shape if n != 1]
    if len(long) < 2 or long == [n for n in new if n != 1]:
        return True, set()
    layouts = Layouts()
    strides = layouts.strides_of(s.args[0])
    new_strides = None if strides is None else strides_of_reshape(shape, strides, new)
    return (new_strides if new_strides is None else bool(new_strides)), layouts.used
