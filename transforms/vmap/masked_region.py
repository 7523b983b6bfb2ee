"""Represents the part of a batch for which a branch is taken, or a loop goes on.

if x > 0: y = f(x)      becomes      y[x > 0] = f(x[x > 0])

Inside another vmap, where masks may differ from element to element, shapes must not depend on them:
the elements that do not take part then compute with the values of one that does.
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Literal, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.numpy.argmax import argmax
from tapeless.transforms.ops.numpy.reductions import count_nonzero
from tapeless.transforms.ops.primitives.arithmetic import truediv
from tapeless.transforms.ops.primitives.elementwise import power
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import batch_first, front
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, gather, index, update
from tapeless.transforms.vmap.python_integers import (
    may_be_no_integer,
    may_divide_by_zero,
    may_grow,
)

#: An element whose values stand in for others: it has no derivative, as these are never used.
example = Op(
    "example",
    lambda x, k: Type(x.type.dtype, x.type.shape[1:]),
    "{0}[{1}]",
    batch=lambda op, args, axes, params: index.batch(index, args, axes, {"key": (Slot(0),)}),  # type: ignore[misc]
)


def is_calm(statements: Any) -> bool:
    """Whether a branch may be computed also where it is not taken."""
    return all(isinstance(s, Let) and _calm(s) for s in statements)


def _calm(s: Let) -> bool:
    if s.op is index:
        return len(s.args) == 1 and is_in_bounds(s)
    if may_grow(s) or may_divide_by_zero(s) or may_be_no_integer(s):
        return False
    if s.op in (truediv, power):
        condition = s.args[1]
        return isinstance(condition, Literal) and (
            condition.value != 0 if s.op is truediv else condition.value in (0, 1, 2, 3, 4)
        )
    return s.op.speculative


def is_in_bounds(s: Let) -> bool:
    """Whether places that are constants are there, as far as is known; first and last ones are."""
    entries = [e for e in s.params["key"] if e is not None]
    lengths = s.args[0].type.shape
    return all(
        not isinstance(k, int) or k in (0, -1) or dims.at_least(n, k + 1 if k > 0 else -k)
        for k, n in zip(entries, lengths, strict=False)
    )


@dataclass(frozen=True)
class MaskedElements:
    """The elements under a mask, of a batch of `size`."""

    mask: Atom
    size: Size

    @classmethod
    def of_mask(cls, mask: Atom) -> MaskedElements:
        return cls(mask, dims.symbol("n", 0))

    def with_run_time_count(self) -> MaskedElements:
        """The same where nothing that is read shows how many elements there are."""
        return MaskedElements(
            self.mask, size_of(count_nonzero(self.mask, axes=(0,), keepdims=False))
        )

    def enter(self, value: Atom, axis: int) -> tuple[Any, int]:
        """What the region sees of a batched value."""
        gathered = gather(value, self.mask, key=(*(slice(None),) * axis, Slot(0)))
        shape = list(value.type.shape)
        shape[axis] = self.size
        gathered.type = value.type.with_shape(tuple(shape))
        return gathered, axis

    def leave(self, old: Any, new: Atom, axis: int | None) -> Any:
        """A batched value, batch first, after its part in the region became `new`."""
        new = front(new, axis)
        if old is None:
            shape = (*self.mask.type.shape, *new.type.shape[1:])
            old = empty(shape=shape, dtype=new.type.dtype)
        return update(old, new, self.mask, key=(Slot(0),))


@dataclass(frozen=True)
class FilledElements(MaskedElements):
    """The same with all elements, where those outside of the mask are like one inside."""

    first: Atom | None = None

    @classmethod
    def of_mask(cls, mask: Atom) -> FilledElements:
        return cls(mask, mask.type.shape[0], argmax(mask, axis=0, keepdims=False))

    def with_run_time_count(self) -> MaskedElements:
        return self

    def enter(self, value: Atom, axis: int) -> tuple[Any, int]:
        x = front(value, axis)
        return select(self._mask(x), x, example(x, self.first)), 0

    def leave(self, old: Any, new: Atom, axis: int | None) -> Any:
        if old is None:
            return front(new, axis)
        return select(self._mask(old), front(new, axis), old)

    def _mask(self, x: Atom) -> Any:
        return batch_first(self.mask, 0, x.type.ndim - 1)
