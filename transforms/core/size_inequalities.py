"""What a program relies on of the order of sizes: with n >= 4, x[:-3] ends with element n - 4."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import Builder
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.ternary import Ternary

Relation = tuple[str, Size, Size]


def facts_of(relations: Iterable[Relation]) -> list[Size]:
    """Sizes that are not negative."""
    return [a - b for relation, a, b in relations if relation == ">="]


def not_negative(size: Size, facts: Iterable[Size]) -> bool:
    """Whether that is certain, or follows from one of the facts."""
    return dims.at_least(size, 0) or any(dims.at_least(size - f, 0) for f in facts)


def settled(size: Size, facts: Iterable[Size]) -> Size:
    """The size without maxima of which one side is known."""
    if isinstance(size, int):
        return size
    total: Size = 0
    for factors, c in size.terms:
        term: Size = c
        for f in factors:
            term = term * _larger(f, facts)
        total = total + term
    return total


def _larger(f: dims.Factor, facts: Iterable[Size]) -> Size:
    if isinstance(f, dims.Quotient) and f.kind == "max":
        for a, b in ((f.left, f.right), (f.right, f.left)):
            if not_negative(a - b, facts):
                return a
    return dims.single(f)


class Relied(Builder):
    """Parts have the lengths that the facts give them; `canon` spells sizes that are equal in one
    way."""

    def __init__(self, facts: Sequence[Size], canon: Callable[[Size], Size] | None = None) -> None:
        super().__init__()
        self.facts, self.canon = facts, canon

    def not_negative(self, size: Size) -> bool:
        return not_negative(size if self.canon is None else self.canon(size), self.facts)

    def length(self, low: Size, high: Size) -> Size:
        size = high - low
        return size if self.not_negative(size) else super().length(low, high)

    def at_least(self, a: Size, b: Size) -> Ternary:
        return Ternary.TRUE if self.not_negative(a - b) else super().at_least(a, b)

    def clamp(self, bound: Size, n: Size) -> Size | None:
        return bound if self.not_negative(bound) and self.not_negative(n - bound) else None
