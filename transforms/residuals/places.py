"""Whether what was read from an array, or stored to it, is still there after another store.

for t in range(1, n): y[t] = f(y[t - 1])      in later passes t' > t, so y[t'] is not y[t - 1]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size, Symbol
from tapeless.transforms.core.language import Atom, For, If, Let, Var, While
from tapeless.transforms.ops.keys import Key, Slot
from tapeless.transforms.residuals.primal import Primal

Range = tuple[Size, Size]  # the first and the last position along an axis
Bounds = dict[Symbol, tuple[Size, Size, int]]  # start, stop and step of the indices of loops


class Places:
    """`size` gives the size that an integer stands for."""

    def __init__(self, primal: Primal, size: Callable[[Atom], Size]) -> None:
        self.primal, self.size = primal, size
        self.bounds: Bounds = {}

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

    def passes_by(self, access: Let, rest: tuple[Atom, ...], store: Let) -> bool:
        """Whether a store leaves alone what was read or stored, whenever it comes after that.

        `rest` are the positions in the key of the access."""
        v, w = access.outs[0], store.outs[0]
        shared: list[For] = []
        behind = self.primal.order[w] > self.primal.order[v]
        for (s, k), (t, m) in zip(self.primal.path[v], self.primal.path[w], strict=False):
            if s is not t or k != m:
                behind &= not (s is t and isinstance(s, If))  # of the two sides one is taken
                break
            if isinstance(s, While):
                return False
            if isinstance(s, For):
                shared.append(s)
        cases = [(shared[:k], s) for k, s in enumerate(shared)] + [(shared, None)] * behind
        read = list(self.ranges(access.args[0].type.shape, access.params["key"], rest))
        return all(self.apart(v, read, store, same, later) for same, later in cases)

    def apart(
        self, v: Var, read: list[Range], store: Let, same: list[For], later: For | None
    ) -> bool:
        """Whether the places differ, where the passes of the loops `same` are the same and that of
        `later` comes after."""
        loops = [self.index(s) for s, _ in self.primal.path[v] if isinstance(s, For)]
        bounds = {x: self.bounds[x] for x in loops if x in self.bounds}
        moved = self.moved(store, same, later, bounds)
        shape = store.args[0].type.shape
        written = self.ranges(shape, store.params["key"], store.args[2:])
        for (first, last), (low, high) in zip(read, written, strict=False):
            low, high = (dims.substitute(x, moved.get) for x in (low, high))
            if (
                at_least(first, 0, bounds)
                and at_least(low, 0, bounds)
                and (at_least(low - last, 1, bounds) or at_least(first - high, 1, bounds))
            ):
                return True
        return False

    def moved(
        self, store: Let, same: list[For], later: For | None, bounds: Bounds
    ) -> dict[Symbol, Size]:
        """The indices of the loops around a store, in the pass in which it is made."""
        new: dict[Symbol, Size] = {}
        for s, _ in self.primal.path[store.outs[0]]:
            if not isinstance(s, For) or s in same:
                continue
            old = self.index(s)
            made = Symbol(old.name)
            if old in self.bounds:
                start, stop, step = self.bounds[old]
                start, stop = (dims.substitute(x, new.get) for x in (start, stop))
                if s is later:
                    here = dims.single(old)
                    start, stop = (start, here) if s.reverse else (here + step, stop)
                bounds[made] = (start, stop, step)
            new[old] = dims.single(made)
        return new

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
        return first, (n if stop is None else self.position(n, stop)) - 1

    def position(self, n: Size, a: Atom | int) -> Size:
        k = a if isinstance(a, int) else self.size(a)
        return n + k if isinstance(k, int) and k < 0 else k


def at_least(a: Size, b: int, bounds: Bounds) -> bool:
    """Whether a >= b is certain, whatever the indices of loops in it are: each lies a number of
    steps behind its start, and in front of its stop."""
    indices = [x for x in bounds if x in dims.symbols(a)]
    if not indices:
        return dims.at_least(a, b)
    start, stop, step = bounds[indices[-1]]
    more = dims.symbol("more", 0)
    ends = (start + step * more, stop - 1 - more if step > 0 else stop + 1 + more)
    return any(at_least(dims.substitute(a, {indices[-1]: k}.get), b, bounds) for k in ends)
