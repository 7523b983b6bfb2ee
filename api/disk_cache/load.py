"""Loads a specialisation that another process staged and wrote to disk."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless.disk_cache.kept_results import changes_of
from tapeless.dispatch.memory_requirements import NO_REQUIREMENTS, MemoryRequirements
from tapeless.dispatch.specialisation import Specialisation, always_miss
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.frontend.trace.recorded_reads import Guard

if TYPE_CHECKING:
    from tapeless.transforms.frontend.values.structure import Structure


@dataclass(frozen=True)
class Record:
    """What is kept of a specialisation whose function stores to nothing from outside but arrays.

    text       the emitted module
    static     leaves whose values are known: number, value
    axes       axes whose lengths are known: leaf, axis, length
    relations  of sizes, as expressions of leaves (`a0`) and their shapes (`s0`); arrays from
               outside have the numbers after those of the leaves
    guards     what is read from outside, see `kept_reads.py`
    captured   arrays and numbers from outside that the function gets
    memory     where arrays lie: the parts of `MemoryRequirements`
    result     how the value is put together, see `kept_results.py`; None for what is returned as
               it is
    changes    what becomes of containers of the caller
    outside    containers that are read from outside: name, reader
    apart      no kernel gets an array in the memory of another one that it stores to
    keys       leaves with random keys that each call uses
    twice      reports of keys that a call uses twice: message, file, line
    slow       reports of slow loops: message, file, line
    outline    what the backend knows of the text
    """

    text: str
    static: tuple[tuple[int, str], ...]
    axes: tuple[tuple[int, int, int], ...]
    relations: tuple[str, ...]
    guards: tuple[Any, ...]
    captured: tuple[Any, ...]
    memory: tuple[Any, ...]
    result: Any
    changes: tuple[Any, ...]
    outside: tuple[Any, ...]
    apart: bool
    keys: tuple[int, ...]
    twice: tuple[tuple[str, str, int], ...]
    slow: tuple[tuple[str, str, int], ...]
    outline: Any

    def holds(self, leaves: Sequence[Any]) -> bool:
        """Whether numbers and lengths of these leaves, which have the types that it was made for,
        are those that it knows."""
        return all(_is(ast.literal_eval(value), leaves[k]) for k, value in self.static) and all(
            leaves[k].shape[axis] == n for k, axis, n in self.axes
        )

    def requirements(self) -> MemoryRequirements:
        """Where arrays must lie."""
        orders, stored, apart, names = self.memory
        if not (orders or stored):
            return NO_REQUIREMENTS
        return MemoryRequirements(
            tuple((k, tuple(o) if isinstance(o, list) else o) for k, o in orders),
            tuple(stored),
            tuple(map(tuple, apart)),
            tuple(names),
        )


def _is(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(a == b)


def relations_hold(relations: tuple[str, ...]) -> Callable[[Sequence[Any]], bool]:
    """Whether leaves are related in these ways."""
    return value_of(" and ".join(relations) or "True")


@functools.cache
def value_of(text: str) -> Callable[[Sequence[Any]], Any]:
    """An expression of leaves and their shapes as a function of the leaves."""
    text = re.sub(r"\ba(\d+)\b", r"leaves[\1]", text)
    text = re.sub(r"\bs(\d+)\b", r"leaves[\1].shape", text)
    return eval(f"lambda leaves: {text}")  # type: ignore[no-any-return]


def _with_user_names(text: str, names: Sequence[str]) -> str:
    """An expression of leaves and their shapes with the user's names."""
    text = re.sub(r"\bint\(a(\d+)\)", lambda m: names[int(m[1])], text)
    return re.sub(r"\bs(\d+)\b", lambda m: f"{names[int(m[1])]}.shape", text)


@dataclass(frozen=True)
class Reads:
    """What a record refers to, in this process.

    guards    what is looked at in each call
    captured  arrays and numbers from outside, with their types
    outside   containers that are read from outside
    result    how the value is put together
    """

    guards: list[Guard]
    captured: list[tuple[Callable[[], Any], Any]]
    outside: list[tuple[str, Any]]
    result: Structure | None


class Recalled(Specialisation):
    """The function of a record. What else staging makes is made again where somebody asks for it.

    reads  what is read from outside, in this process
    again  stages for arguments like those of the first call
    """

    def __init__(
        self,
        record: Record,
        run: Callable[..., Any],
        reads: Reads,
        keywords: tuple[str, ...],
        again: Callable[[], Specialisation],
    ) -> None:
        self.record, self.again = record, again
        self.run, self.text, self.keywords = run, record.text, keywords
        self.flat, self.returned, self.functional = reads.result is not None, None, False
        self.result, self.changes = reads.result, changes_of(record.changes)
        self.writes, self.held, self.outside = [], [], reads.outside
        self.static = [(k, ast.literal_eval(value)) for k, value in record.static]
        self.axes, self.guards = list(record.axes), reads.guards
        self.keys, self.twice, self.slow = record.keys, record.twice, record.slow
        self.captured, self.memory = reads.captured, record.requirements()
        self.captured_names = tuple(name for name, *_ in record.captured)
        self.sizes: Any = record.relations
        self.takes_args = self.is_plain = not (self.flat or reads.captured)
        self.enter = always_miss

    def relations(self) -> list[str] | None:
        return [*self.record.relations]

    def sizes_hold(self, leaves: Any) -> bool:
        return relations_hold(self.record.relations)(self.inputs(leaves))

    def unmet_relations(
        self, leaves: Sequence[Any], names: Sequence[str]
    ) -> Iterator[tuple[str, str, str, Any, Any]]:
        inputs, names = self.inputs(leaves), [*names, *self.captured_names]
        for text in self.record.relations:
            if not relations_hold((text,))(inputs):
                left, relation, right = re.split(" (==|!=|>=) ", text)
                numbers = [value_of(side)(inputs) for side in (left, right)]
                yield relation, *(_with_user_names(side, names) for side in (left, right)), *numbers

    @functools.cached_property
    def specialisation(self) -> Specialisation:
        """The specialisation as staging makes it."""
        return self.again()

    @property
    def staged(self) -> Any:  # type: ignore[override]
        """The staged run."""
        return self.specialisation.staged

    @property
    def simplified(self) -> Any:  # type: ignore[override]
        """The program that was emitted."""
        return self.specialisation.simplified


class StandIn:
    """Remembers type, lengths and memory order of an array, and none of its elements."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.dtype, self.shape, self.strides = array.dtype, array.shape, array.strides
        self.writeable = array.flags.writeable

    def array(self) -> np.ndarray[Any, Any]:
        """An array like it, of zeros."""
        reach = [(n - 1) * step for n, step in zip(self.shape, self.strides, strict=True)]
        low = sum(min(0, r) for r in reach) if 0 not in self.shape else 0
        high = sum(max(0, r) for r in reach) if 0 not in self.shape else 0
        memory = np.zeros(high - low + self.dtype.itemsize, np.uint8)
        like: np.ndarray[Any, Any] = np.ndarray(self.shape, self.dtype, memory, -low, self.strides)
        like.flags.writeable = self.writeable
        return like


def stand_in(x: Any) -> Any:
    return StandIn(x) if isinstance(x, np.ndarray) else x


def arrays(x: Any) -> Any:
    return x.array() if isinstance(x, StandIn) else x
