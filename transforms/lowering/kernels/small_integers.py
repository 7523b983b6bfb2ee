"""Assumes that integers have 64 bits for sure where lengths and arguments are small in this call.

a[i * n + j]      becomes      the same without tests, for calls with n up to 2**28 and no others

The kernel relies on that, and a call with larger numbers gets one that tests. It also tells the
compiler, by a line in front: loops over such places then run on vectors.
"""

from __future__ import annotations

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.lowering.kernels.element_access import Elements

SHORT = 1 << 28  # that lengths and arguments are at most; products of two stay far below 2**63
LIMIT = 1 << 62  # half of what a word holds: one more or less is no matter


class SmallIntegers(Elements):
    """`relied` notes what is taken for granted, of the arguments that are in `short`."""

    def stays_below(self, size: Size) -> bool:
        """Whether the magnitude of a sum of products is small for all calls like this one."""
        if self.analysis.target.library != "NumPy":
            return False  # of a program that is not compiled again for other calls, or on a GPU
        small: set[dims.Symbol] = set()
        most = self.magnitude_bound(size, small)
        if most is None or most >= LIMIT:
            return False
        for x in sorted(small, key=lambda x: x.uid):
            self.rely_on_limits(x)
        return True

    def magnitude_bound(self, size: Size, small: set[dims.Symbol]) -> int | None:
        """A bound of the magnitude, where these are at most `SHORT`; None if there is none."""
        total = 0
        for factors, c in dims.terms_of(size):
            bound = abs(c)
            for f in factors:
                magnitude = self.most_of_factor(f, small)
                if magnitude is None:
                    return None
                bound *= magnitude
            total += bound
        return total

    def most_of_factor(self, f: dims.Factor, small: set[dims.Symbol]) -> int | None:
        if isinstance(f, dims.Quotient):
            return self.larger(f.left, f.right, small)
        if f.var in self.ends:
            return self.larger(*self.ends[f.var], small)
        hint = self.analysis.hints.get(f)
        if hint is None or abs(hint) > SHORT:
            return None
        small.add(f)
        return SHORT

    def larger(self, a: Size, b: Size, small: set[dims.Symbol]) -> int | None:
        """A bound of what lies between two sizes."""
        x, y = self.magnitude_bound(a, small), self.magnitude_bound(b, small)
        return None if x is None or y is None else max(x, y)

    def rely_on_limits(self, x: dims.Symbol) -> None:
        n, natural = dims.single(x), self.analysis.hints[x] >= 0
        for relation in ((">=", SHORT, n), (">=", n, 0 if natural else -SHORT)):
            if relation not in self.relied and not (relation[1] == n and x.lower is not None):
                self.relied.append(relation)
        if natural and x.var is not None:
            self.natural.add(x)
            self.short[x.var] = None

    def lines_of_limits(self) -> list[str]:
        """The lines that tell how large such arguments are, which come by other names."""
        lines = []
        for v in self.short:
            if v in self.params:
                name, self.params[v] = self.params[v], self.names.new(self.params[v])
                lines.append(f"    {name} = min(max({self.params[v]}, 0), {SHORT})")
        return lines
