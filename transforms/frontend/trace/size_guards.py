"""Compares sizes as the call at hand shows them, and notes what the program relies on then.

x + y, of n and of m numbers, 3 in this call      becomes      add(x, y), with the guard n == m
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import Builder, atom_of_size
from tapeless.transforms.core.dims import Size, Symbol
from tapeless.transforms.core.language import Atom, Effect, Var
from tapeless.transforms.core.size_inequalities import least_in_loops
from tapeless.transforms.core.ternary import Ternary
from tapeless.transforms.frontend.trace.handlers import Handlers
from tapeless.transforms.ops.primitives.comparisons_and_rounding import less


class SizeGuards(Builder):
    """A builder that decides about sizes.

    hints        the sizes and integers that the inputs have in the call that is being staged
    guards       facts about input sizes that the program relies on: (relation, a, b)
    bounds       least and largest values of loop indices
    sums         of how many items, as run-time values say
    equal_sizes  which of two found equal is taken
    joined       sizes that differ from pass to pass, or by branch
    perhaps_one  those of them that are one in some passes, and the loop that decides so
    """

    def __init__(self, decisions: Any = None) -> None:
        super().__init__()
        self.decisions = decisions
        self.handlers = Handlers()
        self.hints: dict[Symbol, int] = {}
        self.guards: list[tuple[str, Size, Size]] = []
        self.bounds: dict[Symbol, tuple[Size, Size]] = {}
        self.sums: dict[Atom, Size] = {}
        self.equal_sizes: dict[frozenset[Size], Size] = {}
        self.joined: set[Size] = set()
        self.perhaps_one: dict[Size, Any] = {}

    def value(self, size: Size) -> int | None:
        return dims.evaluate(size, self.hints)

    def guard(self, relation: str, a: Size, b: Size) -> None:
        if (relation, a, b) not in self.guards:
            self.guards.append((relation, a, b))

    def same_size(self, a: Size, b: Size) -> bool:
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        difference = self.value(a - b)
        if difference is not None:  # also where loop indices cancel
            self.guard("==" if difference == 0 else "!=", a - b, 0)
            return difference == 0
        self.must_not_be_one(a, b)
        x, y = self.value(a), self.value(b)
        if x is None or y is None:
            if any(self.is_over(s.var) for s in dims.symbols(a) | dims.symbols(b)):
                return True  # what a list kept is as long as it was then
            self.handlers.refuse_undecided(ValueError)
            sizes = atom_of_size(a), atom_of_size(b)
            self.emit(Effect("check", sizes, {"by_data": True}, self.origin))
            return True
        self.guard("==" if x == y else "!=", a, b)
        return x == y

    def is_over(self, v: Var | None) -> bool:
        """Whether the block in which an integer was computed has ended."""
        let = None if v is None else self.definitions.get(v)
        return let is not None and not any(let in block for block in self.blocks)

    def may_be_one(self, size: Size, like: Size) -> None:
        """Notes that a size is one where another one is."""
        for loop in self.loops_from_one(like):
            self.perhaps_one[size] = loop

    def must_not_be_one(self, a: Size, b: Size) -> None:
        """An axis that is one in some passes may be stretched there to another length, unless that
        changes in the same loop: then these passes are apart."""
        of_a, of_b = self.loops_from_one(a), self.loops_from_one(b)
        for loop in of_a ^ of_b:
            self.decisions.stretches(loop)

    def loops_from_one(self, size: Size) -> set[Any]:
        """The loops that decide whether a size is one."""
        symbols = map(dims.single, dims.symbols(size))
        return {self.perhaps_one[s] for s in symbols if s in self.perhaps_one}

    def may_fit(self, a: Size, b: Size) -> bool:
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None:
            return self.same_size(a, b)
        self.must_not_be_one(a, b)
        self.handlers.refuse_undecided(ValueError)
        named = dims.symbols(a) | dims.symbols(b)
        if all(s.given or s.var is not None for s in named):  # a mask does not say how many it has
            sizes = atom_of_size(a), atom_of_size(b)
            self.emit(Effect("check", sizes, {"by_data": True}, self.origin))
        return True

    def in_bounds(self, index: int, size: Size, length: Callable[[], Atom]) -> bool:
        if self.handlers.innermost(IndexError) is None:
            return True
        n, least = self.value(size), max(index + 1, -index)
        if n is None:
            error = IndexError(f"index {index} is out of bounds")
            self.handlers.decides(error, lambda: less(length(), least))
            return True
        self.guard(">=", *((size, least) if n >= least else (least - 1, size)))
        return n >= least

    def is_one(self, size: Size, other: Size) -> bool:
        """An axis that happens to have length one in this call: its origins are made static."""
        if other != 1:
            self.must_not_be_one(size, other)
        if isinstance(size, int) or self.value(size) != 1 or self.value(other) == 1:
            return False
        self.decisions.fix_sizes(dims.symbols(size))
        return True

    def lacks_extent(self, size: Size) -> bool:
        """An axis of length one, also where only this call says so."""
        self.must_not_be_one(size, 1)
        return size == 1 or (self.value(size) is not None and self.same_size(size, 1))

    def is_sure(self, a: Size, b: Size) -> bool:
        """Lengths of inputs are known better than what run-time values say."""
        homes = self.decisions.homes
        return dims.symbols(a) <= homes.keys() or not dims.symbols(b) <= homes.keys()

    def extreme(self, size: Size, largest: bool) -> Size:
        """A bound of an expression in loop indices, in terms of sizes of inputs."""
        return least_in_loops(size, self.bounds.get, -1 if largest else 1)  # type: ignore[arg-type]

    def not_negative(self, size: Size) -> bool:
        """Whether this call shows that a size is not negative; then others are to show it, too."""
        least = self.extreme(size, False)
        lower_bound = self.value(least)
        if lower_bound is None or lower_bound < 0:
            return False
        if not dims.at_least(least, 0):
            self.guard(">=", least, 0)
        return True

    def length(self, low: Size, high: Size) -> Size:
        """max(high - low, 0), without the maximum where this call shows that it is not needed."""
        size = high - low
        return size if self.not_negative(size) else dims.maximum(size, 0)

    def at_least(self, a: Size, b: Size) -> Ternary:
        """Also where this call shows it, for all passes of the loops around; a guard says so."""
        answer = super().at_least(a, b)
        if answer is not Ternary.UNKNOWN:
            return answer
        least, most = (self.extreme(a - b, largest) for largest in (False, True))
        low, high = self.value(least), self.value(most)
        if low is not None and low >= 0:
            self.guard(">=", *((a, b) if least == a - b else (least, 0)))
            return Ternary.TRUE
        if high is not None and high < 0:
            self.guard(">=", *((b, a + 1) if most == a - b else (-most, 1)))
            return Ternary.FALSE
        return answer

    def equals(self, a: Size, b: Size) -> Ternary:
        answer = super().equals(a, b)
        difference = self.value(a - b)
        if answer is not Ternary.UNKNOWN or difference is None:
            return answer
        self.guard("!=" if difference else "==", a, b)
        return Ternary(int(difference == 0))

    def clamp(self, bound: Size, n: Size) -> Size | None:
        least, most = self.extreme(bound, False), self.extreme(bound, True)
        if least != bound or most != bound:
            length, low, high = self.value(n), self.value(least), self.value(most)
            if length is None or low is None or high is None:
                return None
            if high < 0 <= length + low:  # from the end
                self.guard(">=", -most, 1)
                self.guard(">=", n + least, 0)
                return n + bound
            if low < 0 or high > length:
                return None
            self.guard(">=", least, 0)
            self.guard(">=", n, most)
            return bound
        b, length = self.value(bound), self.value(n)
        if b is None or length is None:
            return None
        if 0 <= b <= length:
            self.guard(">=", bound, 0)
            self.guard(">=", n, bound)
            return bound
        if b > length:
            self.guard(">=", bound, n)
            return n
        if -b <= length:  # from the end
            self.guard(">=", -bound, 1)
            self.guard(">=", n + bound, 0)
            return n + bound
        return None
