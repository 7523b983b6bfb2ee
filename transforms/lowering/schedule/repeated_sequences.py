"""Finds the sequences that repeat in a long one, and cuts it so that they are pieces of their own.

a b c d b c e      becomes      a | b c | d | b c | e

The pair that stands next to each other most often becomes a symbol of its own, again and again, as
in N. J. Larsson and A. Moffat, "Off-line dictionary-based compression", 2000. A symbol is a piece,
or its two parts are, whichever takes less to write once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

FEWEST = 4  # weight of a piece that is worth being one
GAIN = 1.3  # how much less the parts of a sequence weigh, written once, than the sequence itself


def repeated_pieces(sequence: Sequence[Hashable], weights: Sequence[int], most: int) -> list[range]:
    """The pieces of a sequence, as ranges of places; those between repeated ones, and these, weigh
    no more than `most`, if one of their members does not.

    >>> repeated_pieces("abcdebcdf", [3] * 9, 20)
    [range(0, 1), range(1, 4), range(4, 5), range(5, 8), range(8, 9)]
    >>> repeated_pieces("abcd", [3] * 4, 6)
    [range(0, 2), range(2, 4)]
    """
    grammar = _Grammar(sequence, weights, most)
    pieces = [piece for symbol in grammar.symbols for piece in grammar.pieces(symbol)]
    counts = Counter(pieces)
    ranges: list[range] = []
    start = end = weight = 0
    for piece in pieces:
        heavy = grammar.weight(piece)
        repeated = counts[piece] > 1 and heavy >= FEWEST
        if end > start and (repeated or weight + heavy > most):
            ranges.append(range(start, end))
            start, weight = end, 0
        end, weight = end + grammar.length(piece), weight + heavy
        if repeated:
            ranges.append(range(start, end))
            start, weight = end, 0
    return [*ranges, range(start, end)] if end > start else ranges


class _Grammar:
    """The sequence as symbols, each of one member or of two other symbols.

    symbols  the sequence as it is written in the end
    rules    the two symbols that one stands for
    """

    def __init__(self, sequence: Sequence[Hashable], weights: Sequence[int], most: int) -> None:
        numbers: dict[Hashable, int] = {}
        self.symbols = [numbers.setdefault(x, len(numbers)) for x in sequence]
        self.most = most
        self.rules: dict[int, tuple[int, int]] = {}
        self.weights = dict(zip(self.symbols, weights, strict=True))
        self.lengths = dict.fromkeys(self.symbols, 1)
        while (pair := self.most_frequent_pair()) is not None:
            self.replace(pair)

    def weight(self, symbol: int) -> int:
        return self.weights[symbol]

    def length(self, symbol: int) -> int:
        return self.lengths[symbol]

    def most_frequent_pair(self) -> tuple[int, int] | None:
        """The pair that is there most often, and first; None if there is none twice."""
        counts: Counter[tuple[int, int]] = Counter()
        previous = None
        for pair in zip(self.symbols, self.symbols[1:], strict=False):
            if pair == previous and pair[0] == pair[1]:
                previous = None  # the second of three alike overlaps the first
                continue
            counts[pair] += 1
            previous = pair
        pair, count = max(counts.items(), key=lambda x: x[1], default=(None, 0))
        return pair if count > 1 else None

    def replace(self, pair: tuple[int, int]) -> None:
        left, right = pair
        symbol = len(self.weights)
        self.rules[symbol] = pair
        self.weights[symbol] = self.weights[left] + self.weights[right]
        self.lengths[symbol] = self.lengths[left] + self.lengths[right]
        symbols: list[int] = []
        place = 0
        while place < len(self.symbols):
            both = tuple(self.symbols[place : place + 2]) == pair
            symbols.append(symbol if both else self.symbols[place])
            place += 2 if both else 1
        self.symbols = symbols

    def pieces(self, symbol: int) -> list[int]:
        """The symbols that are pieces where this one stands."""
        if symbol not in self.rules:
            return [symbol]
        parts = [piece for part in self.rules[symbol] for piece in self.pieces(part)]
        once = sum(max(FEWEST, self.weight(part)) for part in dict.fromkeys(parts))
        small = self.weight(symbol) <= self.most and self.weight(symbol) <= once * GAIN
        return [symbol] if small else parts
