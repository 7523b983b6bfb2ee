"""Says what an explanation's numbers depend on: sizes of a call that others may have.

x.shape[0] == y.shape[0] + 1      leaves one size that is free, x.shape[0]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeless.dispatch.specialisation import Specialisation
from tapeless.explain.formulas import Formulas, SizeFormula
from tapeless.explain.size_formulas import SizeFormulas
from tapeless.explain.work import Work
from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size, Symbol
from tapeless.transforms.core.language import Block
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import ArgumentError

if TYPE_CHECKING:
    from tapeless.transforms.frontend.staging.stage import Staged

Relation = tuple[str, Size, Size]
Value = Callable[[Any], Any]  # the number that a formula is


@dataclass(frozen=True)
class FreeSize:
    """A size of arguments that may be another in another call.

    names  what it is: the lengths and integers that are equal to it
    value  in the call at hand
    least  what it must be at least, for the same code; None where nothing says it
    """

    names: tuple[str, ...]
    value: int
    least: int | None


@dataclass(frozen=True)
class Requirement:
    """A relation of sizes for which the same code is run; of other sizes other code is made."""

    text: str
    relation: str  # "==", "!=" or ">="
    left: Any  # formulas
    right: Any


@dataclass(frozen=True)
class BySize:
    """The numbers of an explanation as formulas of sizes.

    table         the steps of the formulas
    sizes         what they depend on, in the order in which the table numbers them
    requirements  for which sizes the formulas hold
    arguments     the arrays of the call: name, dtype, formulas of the lengths of axes
    work          operations and bytes of the whole
    peak_memory   the most bytes at once
    """

    table: Formulas
    sizes: tuple[FreeSize, ...]
    requirements: tuple[Requirement, ...]
    arguments: tuple[tuple[str, str, tuple[Any, ...]], ...]
    work: Work
    peak_memory: Any

    def evaluated(self, sizes: Mapping[str, int] | None = None) -> Value:
        """What gives the number of a formula; sizes that are not named are those of the call.

        Raises ArgumentError for a name that no free size has.
        """
        named = sizes or {}
        names = [name for size in self.sizes for name in size.names]
        for name in named:
            if name not in names:
                raise ArgumentError(
                    f"no size that may be chosen is called {name!r}",
                    f"these are: {', '.join(names) or 'none'}",
                )
        return self.table.evaluate_at(
            [next((named[x] for x in s.names if x in named), s.value) for s in self.sizes]
        )


class CallSizes:
    """The sizes of one call, and formulas of all others by those that are free.

    of_call  what the sizes are in the call
    """

    def __init__(self, specialisation: Specialisation, of_call: Mapping[Symbol, int]) -> None:
        staged = specialisation.staged
        self.table = Formulas()
        self.of_call = of_call
        lower = [(">=", dims.single(x), x.lower) for x in of_call if x.lower is not None]
        fixed = [("==", dims.single(x), n) for x, n in of_call.items() if _is_fixed(staged, x)]
        relations: list[Relation] = [*_same_homes(staged), *fixed, *staged.sizes, *lower]
        self.by_others = _solve_equations(relations, of_call)
        self.free = [x for x in of_call if x not in self.by_others]
        self.relations = relations

    def lengths(self) -> dict[Symbol, SizeFormula]:
        """A formula for each size."""
        numbers = self.of_free_sizes()
        return {x: numbers.evaluate(self.of_free(dims.single(x))) for x in self.of_call}

    def of_free_sizes(self) -> SizeFormulas:
        """What gives the formulas of expressions in free sizes."""
        free = {x: self.table.size(k) for k, x in enumerate(self.free)}
        return SizeFormulas(self.table, Block((), (), ()), free, {})

    def of_free(self, size: Size) -> Size:
        return dims.substitute(size, self.by_others.get)

    def sizes(self) -> tuple[FreeSize, ...]:
        """The free sizes."""
        return tuple(
            FreeSize(
                tuple(dict.fromkeys(y.name for y in self.of_call if self.is_same(y, x))),
                self.of_call[x],
                max(self.bounds(x), default=None),
            )
            for x in self.free
        )

    def is_same(self, size: Symbol, free: Symbol) -> bool:
        return self.of_free(dims.single(size)) == dims.single(free)

    def bounds(self, symbol: Symbol) -> Iterator[int]:
        """What a size must be at least, by the relations that are about nothing else."""
        for relation, a, b in self.relations:
            difference = self.of_free(a) - self.of_free(b)
            if relation == ">=" and _is_lower_bound(difference, symbol):
                yield -dict(dims.terms_of(difference)).get((), 0)

    def requirements(self) -> Iterator[Requirement]:
        """The relations that not all free sizes have."""
        numbers = self.of_free_sizes()
        for relation, a, b in dict.fromkeys(self.relations):
            difference = self.of_free(a) - self.of_free(b)
            symbols = dims.symbols(difference)
            if not symbols or (relation == ">=" and _is_lower_bound(difference, *symbols)):
                continue
            sides = numbers.evaluate(self.of_free(a)), numbers.evaluate(self.of_free(b))
            if None not in sides:
                text = " ".join(str(x) for x in _sorted_relation(relation, a, b))
                yield Requirement(text, relation, *sides)


def _is_fixed(staged: Staged, size: Symbol) -> bool:
    """Whether the code was made for one value of a size, which is then no part of it."""
    home, axis = staged.decisions.homes.get(size, (None, 0))
    if axis >= 0:
        return (home, axis) in staged.decisions.axes
    return isinstance(home, int) and staged.leaves[home].static


def _same_homes(staged: Staged) -> Iterator[Relation]:
    """Sizes that are the same axis of the same argument: each attempt at staging has its own."""
    first: dict[tuple[Any, int], Symbol] = {}
    for size, home in staged.decisions.homes.items():
        same = first.setdefault(home, size)
        if same is not size:
            yield "==", dims.single(size), dims.single(same)


def _sorted_relation(relation: str, a: Size, b: Size) -> tuple[Size, str, Size]:
    left_side, right_side = dims.sides(a, b)
    return left_side, relation, right_side


def _is_lower_bound(difference: Size, *symbols: Symbol) -> bool:
    """Whether that a difference is not negative says how large one size is at least.

    >>> n, m = dims.symbol("n"), dims.symbol("m")
    >>> _is_lower_bound(n - 3, *n.symbols), _is_lower_bound(n - m, *n.symbols)
    (True, False)
    """
    parts = dict(dims.terms_of(difference))
    parts.pop((), None)
    return len(symbols) == 1 and parts == {symbols: 1}


def _solve_equations(
    relations: Sequence[Relation], of_call: Mapping[Symbol, int]
) -> dict[Symbol, Size]:
    """Sizes that equations give by others, the later ones by earlier ones."""
    solved: dict[Symbol, Size] = {}
    for relation, a, b in relations:
        if relation != "==":
            continue
        difference = dims.substitute(a, solved.get) - dims.substitute(b, solved.get)
        symbol = _solvable(difference, of_call)
        if symbol is None or not dims.symbols(difference) <= of_call.keys():
            continue
        rest = difference - dims.single(symbol) * _coefficient(difference, symbol)
        value = rest * -_coefficient(difference, symbol)
        solved = {x: dims.substitute(size, {symbol: value}.get) for x, size in solved.items()} | {
            symbol: value
        }
    return solved


def _solvable(difference: Size, of_call: Mapping[Symbol, int]) -> Symbol | None:
    """The latest size that is only once in a sum, by itself."""
    candidates = [
        x
        for x in of_call
        if abs(_coefficient(difference, x)) == 1
        and x not in dims.symbols(difference - dims.single(x) * _coefficient(difference, x))
    ]
    return candidates[-1] if candidates else None


def _coefficient(size: Size, symbol: Symbol) -> int:
    return dict(dims.terms_of(size)).get((symbol,), 0)


def argument_formulas(
    specialisation: Specialisation, numbers: SizeFormulas
) -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    """The arrays among the arguments, each with its dtype and the formulas of its lengths."""
    for leaf in specialisation.staged.leaves:
        if leaf.var is not None and leaf.var.type.shape:
            lengths = tuple(numbers.evaluate(n) for n in leaf.var.type.shape)
            yield leaf.name, leaf.var.type.dtype.name, lengths
