"""Tests where the arrays of a call lie in memory: in which order, writable, apart from each other.

Arrays have the numbers of what the emitted function is given: the leaves of the arguments come
first, then what is read from outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless.lazy_import import lazy_module
from tapeless.staging.pending_arrays import PendingArray
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import ArgumentError

if TYPE_CHECKING:
    from tapeless.transforms.frontend.arrays import memory_layout
    from tapeless.transforms.frontend.staging.stage import Staged
else:
    memory_layout = lazy_module("tapeless.transforms.frontend.arrays.memory_layout")


@dataclass(frozen=True)
class MemoryRequirements:
    """What a program relies on about where arrays lie.

    orders  arrays in a known order: number, and "C", "F" or strides
    stored  arrays that it stores to, which must be writable
    apart   pairs of an array that it stores to and another one that it reads: they must not share
            memory
    names   of arrays, by their numbers
    """

    orders: tuple[tuple[int, Any], ...] = ()
    stored: tuple[int, ...] = ()
    apart: tuple[tuple[int, int], ...] = ()
    names: tuple[str, ...] = ()

    @classmethod
    def of_staged(cls, staged: Staged) -> MemoryRequirements:
        """Those of a staged program."""
        if not (staged.orders or staged.overwritten):
            return NO_REQUIREMENTS
        inputs: list[Any] = [*staged.leaves, *staged.captured]
        numbers = {x.var: k for k, x in enumerate(inputs) if x.var is not None}
        stored = sorted(numbers[v] for v in staged.overwritten)
        read = sorted(numbers[v] for v in staged.read() if v in numbers) if stored else []
        return cls(
            tuple((numbers[order.var], order.strides) for order in staged.orders),
            tuple(stored),
            tuple((k, other) for k in stored for other in read if other != k),
            tuple(x.name for x in inputs),
        )

    def hold(self, inputs: Sequence[Any]) -> bool:
        """Whether arrays have these orders and are writable where they must be."""
        return not any(self.failures(inputs))

    def failures(self, inputs: Sequence[Any]) -> Iterator[str]:
        """What does not hold, in words."""
        for k, order in self.orders:
            if memory_layout.order_of(inputs[k]) != order:
                yield f"{self.names[k]} has another order of axes in memory"
        for k in self.stored:
            if not inputs[k].flags.writeable:
                yield f"{self.names[k]} is read-only"

    def refuse_overlap(self, inputs: Sequence[Any]) -> None:
        """Refuses arrays that share memory if the program stores to one and reads another."""
        for k, other in self.apart:
            if isinstance(inputs[other], np.ndarray) and overlap(inputs[k], inputs[other]):
                a, b = self.names[k], self.names[other]
                raise ArgumentError(
                    f"'{a}' and '{b}' share memory, and the function stores to '{a}'",
                    f"pass a copy of one of them: {b}.copy()",
                )


NO_REQUIREMENTS = MemoryRequirements()


def overlap(a: Any, b: Any) -> bool:
    """Whether two arrays share memory."""
    pending = [x for x in (a, b) if type(x) is PendingArray]
    if pending and not any(x.is_shared() for x in pending):  # what is computed lies in new memory
        return a is b
    work: Any = 10_000  # any limit will do; the stubs of NumPy know two
    try:
        return np.may_share_memory(a, b) and np.shares_memory(a, b, max_work=work)
    except np.exceptions.TooHardError:
        return True
