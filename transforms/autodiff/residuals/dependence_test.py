"""Tests whether the elements of an array that were read or stored are unchanged after a later
store.

for t in range(1, n): y[t] = f(y[t - 1])      in later passes t' > t, so y[t'] is not y[t - 1]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field

from tapeless.transforms.autodiff.residuals.definitions import Definitions, Path
from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size, Symbol
from tapeless.transforms.core.language import Atom, For, If, Let, Literal, Var, While
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.primitives.index_keys import Key, Slot

Range = tuple[Size, Size]  # the first and the last position along an axis
Bounds = dict[Symbol, tuple[Size, Size, int]]  # start, stop and step of the indices of loops


@dataclass
class Case:
    """When a store may come after an access: what the indices around it are then, and between which
    bounds they lie, with those around the access."""

    moved: dict[Symbol, Size]
    bounds: Bounds
    written: dict[Let, list[Range]] = field(default_factory=dict)  # by the store
    known: dict[tuple[Size, int], bool] = field(default_factory=dict)

    def after_passes(self, place: Range) -> Range:
        first, last = place
        return dims.substitute(first, self.moved.get), dims.substitute(last, self.moved.get)

    def at_least(self, a: Size, b: int) -> bool:
        """Whether a >= b is certain, whatever the indices of loops in it are: each lies a number of
        steps behind its start, and in front of its stop."""
        if (a, b) not in self.known:
            self.known[a, b] = self._at_least(a, b)
        return self.known[a, b]

    def _at_least(self, a: Size, b: int) -> bool:
        inner = [x for x in self.bounds if x in dims.symbols(a)][-1:]
        if not inner:
            return dims.at_least(a, b)
        start, stop, step = self.bounds[inner[0]]
        more = dims.symbol("more", 0)
        ends = (start + step * more, stop - 1 - more if step > 0 else stop + 1 + more)
        return any(self._at_least(dims.substitute(a, {inner[0]: k}.get), b) for k in ends)

    def are_disjoint(self, interval: Range, other: Range) -> bool:
        """Whether the places along an axis differ; negative ones would count from its end."""
        inside = self.at_least(interval[0], 0) and self.at_least(other[0], 0)
        return inside and (
            self.at_least(other[0] - interval[1], 1) or self.at_least(interval[0] - other[1], 1)
        )


class Places:
    """`size` gives the size that an integer stands for."""

    def __init__(self, primal: Definitions, size: Callable[[Atom], Size]) -> None:
        self.primal, self.size = primal, size
        self.bounds: Bounds = {}
        self.cases: dict[tuple[Path, Path, bool, int, bool], list[Case] | None] = {}

    def enter(self, s: For) -> None:
        """Notes the range of a loop's index."""
        step = self.size(s.step)
        if isinstance(step, int):
            self.bounds[self.index(s)] = (self.size(s.start), self.size(s.stop), step)

    def index(self, s: For) -> Symbol:
        (symbol,) = dims.symbols(self.size(s.index))
        return symbol

    def plain(self, a: Atom) -> bool:
        """Whether an integer is made of lengths and the indices of loops."""
        number = not a.type.shape
        return number and all(x.given or x in self.bounds for x in dims.symbols(self.size(a)))

    def is_untouched(
        self,
        access: Let,
        rest: tuple[Atom, ...],
        stores: Iterable[Let],
        around: int = 0,
        before: bool = False,
    ) -> bool:
        """Whether all stores leave alone what was read or stored, whenever they come after that; or
        before.

        rest    the positions in the key of the access
        around  of how many of the loops and branches around each pass has an array of its own
        """
        read = list(self.ranges(access.args[0].type.shape, access.params["key"], rest))
        return all(self.passes_by(access.outs[0], read, store, around, before) for store in stores)

    def passes_by(self, v: Var, read: list[Range], store: Let, around: int, before: bool) -> bool:
        here, there = (self.primal.path[x] for x in (v, store.outs[0]))
        behind = (self.primal.order[store.outs[0]] > self.primal.order[v]) != before
        key = (here, there, behind, around, before)
        if key not in self.cases:
            self.cases[key] = self.cases_of_order(here, there, behind, around, before)
        cases = self.cases[key]
        if cases is None:
            return False
        for case in cases:
            if store not in case.written:
                shape, places = store.args[0].type.shape, store.args[2:]
                disjoint = self.ranges(shape, store.params["key"], places)
                case.written[store] = list(map(case.after_passes, disjoint))
            if not any(map(case.are_disjoint, read, case.written[store])):
                return False
        return True

    def cases_of_order(
        self, here: Path, there: Path, behind: bool, around: int, before: bool
    ) -> list[Case] | None:
        """In which passes a store comes after an access, or before; None where that is not known.

        behind  whether it does so in the same pass
        """
        same = [s for s, _ in here[:around] if isinstance(s, For)]  # passes
        shared: list[For] = []
        for (s, k), (t, m) in zip(here[around:], there[around:], strict=False):
            if s is not t or k != m:
                behind &= not (s is t and isinstance(s, If))  # of the two sides one is taken
                break
            if isinstance(s, While):
                return None
            if isinstance(s, For):
                shared.append(s)
        cases = [self.case(here, there, same + shared[:k], s, before) for k, s in enumerate(shared)]
        return cases + [self.case(here, there, same + shared, None, before)] * behind

    def case(
        self, here: Path, there: Path, same: list[For], later: For | None, before: bool
    ) -> Case:
        """The passes of the loops `same` are the same, and that of `later` comes after, or
        before."""
        around = [self.index(s) for s, _ in here if isinstance(s, For)]
        bounds = {x: self.bounds[x] for x in around if x in self.bounds}
        moved: dict[Symbol, Size] = {}
        for s, _ in there:
            if not isinstance(s, For) or s in same:
                continue
            old = self.index(s)
            index = Symbol(old.name)
            if old in self.bounds:
                start, stop, step = self.bounds[old]
                start, stop = (dims.substitute(x, moved.get) for x in (start, stop))
                if s is later:
                    now = dims.single(old)
                    start, stop = (start, now) if s.reverse != before else (now + step, stop)
                bounds[index] = (start, stop, step)
            moved[old] = dims.single(index)
        return Case(moved, bounds)

    # -- the positions of a key

    def ranges(self, shape: tuple[Size, ...], key: Key, rest: tuple[Atom, ...]) -> Iterator[Range]:
        """Which positions of each axis a key names, up to the first axis with an index array."""
        axes = iter(shape)
        for e in key:
            if e is None:
                continue
            n = next(axes)
            if isinstance(e, slice):
                yield self.span(n, e, rest)
                continue
            a = rest[e.k] if isinstance(e, Slot) else e
            if isinstance(a, Var) and (a.type.shape or a.type.dtype.kind == "b"):
                return
            k = self.position(n, a)
            yield k, k
        yield from ((0, n - 1) for n in axes)

    def span(self, n: Size, e: slice, rest: tuple[Atom, ...]) -> Range:
        if not isinstance(e.step, (int, type(None))) or (e.step or 1) < 0:
            return 0, n - 1
        start, stop = (rest[k.k] if isinstance(k, Slot) else k for k in (e.start, e.stop))
        first = 0 if start is None else self.position(n, start)
        end = n if stop is None else self.position(n, stop)
        counted = isinstance(end, int) or Case({}, self.bounds).at_least(end, 0)
        return first, (end if counted or isinstance(stop, (int, Literal)) else n) - 1

    def position(self, n: Size, a: Atom | int) -> Size:
        k = a if isinstance(a, int) else self.size(a)
        return n + k if isinstance(k, int) and k < 0 else k
