"""Hoists tests for 64 bits, of integers that change by the same in each pass, out of the loop, to
both of its ends.

for j in range(m): s += a[i * m + j]      becomes      test i * m, i * m + 0 and i * m + (m - 1)
                                                       for j in range(m): s += a[i * m + j]

A test in each pass would keep the loop from running on vectors.
"""

from __future__ import annotations

from collections.abc import Iterator

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Effect, For, Let, Var, statements
from tapeless.transforms.lowering.kernels.bounds_checks import TOO_LONG, Checks, overflow_test
from tapeless.transforms.lowering.schedule.dependences import variables_inside
from tapeless.transforms.ops.primitives.arithmetic import add, mul, sub
from tapeless.transforms.python_text.python_source import write_template


class IntegersAhead(Checks):
    """Tests of integers that all passes of a loop compute."""

    def is_silent(self, s: For) -> bool:
        """Whether each pass of a loop is made to its end, and nothing in it is seen, or raised by
        the user, before what is tested ahead."""
        acts = (isinstance(t, Effect) or _acts(t) for t in statements(s.body))
        return not s.until and s.index in self.ranges and not any(acts)

    def check_integers_ahead(self, s: For) -> None:
        """Tests what `check_overflow` would test in each pass. Later operands are right where those
        before them are, so that each test sees what the passes would see at the ends."""
        changing = variables_inside(s)
        exact: set[Var] = {s.index}
        for t in s.body.body:
            if not self.steps_evenly(t, s.index, changing, exact):
                continue
            assert isinstance(t, Let)
            exact.add(t.outs[0])
            if not self.stays_small(t):
                self.test_at_ends(t, s)
                self.tested_ahead_of_loops.add(t)

    def steps_evenly(self, t: object, index: Var, changing: set[Var], exact: set[Var]) -> bool:
        """Whether an integer is a sum of what does not change and of a multiple of the index."""
        if not isinstance(t, Let) or t.op not in (add, sub, mul):
            return False
        kinds = [a.type for a in (*t.args, *t.outs)]
        if any(k.shape or not k.weak or k.dtype.kind != "i" for k in kinds):
            return False
        if any(a in changing and a not in exact for a in t.args if isinstance(a, Var)):
            return False
        (at,) = dims.symbols(self.as_size(index))
        size = self.as_size(t.outs[0])
        if not all(x == at or self.is_known(x, changing) for x in dims.symbols(size)):
            return False
        return is_linear(size, at) and all(is_linear(self.as_size(a), at) for a in t.args)

    def is_known(self, x: dims.Symbol, changing: set[Var]) -> bool:
        """Whether a size is known before the loop that makes what is changing."""
        if x.var is not None:
            return x.var not in changing
        if x in self.analysis.lengths:  # of a slice
            return self.analysis.lengths[x][0].outs[0] not in changing
        return x in self.measured or self.analysis.is_known(dims.single(x))

    def test_at_ends(self, t: Let, s: For) -> None:
        (at,) = dims.symbols(self.as_size(s.index))
        first, last = self.ranges[s.index]
        test = overflow_test(t)
        assert test is not None
        passes = "" if dims.at_least(last, first) else "{2} < {3} and "
        for operands in dict.fromkeys(self.operands_at(t, at, end) for end in (first, last)):
            holes = [self.size(n) for n in (*operands, first, last + 1)]
            with self.suite(f"if {write_template(passes + test, *holes)}:", t.origin):
                self.put(f'raise OverflowError("{TOO_LONG}")')

    def operands_at(self, t: Let, at: dims.Symbol, end: Size) -> tuple[Size, ...]:
        return tuple(value_at(self.as_size(a), at, end) for a in t.args)


def value_at(size: Size, at: dims.Symbol, value: Size) -> Size:
    """A size for a value of one of its symbols."""
    return dims.substitute(size, lambda x: value if x == at else None)


def is_linear(size: Size, at: dims.Symbol) -> bool:
    """Whether a size is a multiple of a symbol, with a factor that does not know it, and a rest.

    >>> i, n = (dims.symbol(name) for name in "in")
    >>> [is_linear(size, *dims.symbols(i)) for size in (3, i, n * i - 1, i * i, (i + 1) // 2)]
    [True, True, True, False, False]
    """
    return all(_is_linear_term(factors, at) for factors, _ in dims.terms_of(size))


def _is_linear_term(factors: tuple[dims.Factor, ...], at: dims.Symbol) -> bool:
    inner = [f for f in factors if f != at]
    return len(factors) - len(inner) < 2 and at not in _symbols(inner)


def _symbols(factors: list[dims.Factor]) -> Iterator[dims.Symbol]:
    for f in factors:
        yield from dims.symbols(dims.single(f))


def _acts(s: object) -> bool:
    return isinstance(s, Let) and not s.op.pure
