"""Bounds lengths that differ from pass to pass of a loop: by those before the loop and its passes,
by the sides of branches, and by what integers that a program keeps can be.

for i in range(n): v = np.append(v, i)      v, of k elements before the loop, has n + k at most
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    While,
    is_undefined,
    statements,
)
from tapeless.transforms.core.size_inequalities import Relation
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.schedule.analysis import greatest, slopes
from tapeless.transforms.lowering.schedule.dependences import Dependences, size_of_atom
from tapeless.transforms.lowering.sizes.size_equalities import single_symbol
from tapeless.transforms.ops.primitives.axis_lengths import axis_size
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.new_arrays import empty, new_stack, zeros
from tapeless.transforms.ops.primitives.slices_and_gathers import index, update
from tapeless.transforms.ops.primitives.stacks import POPS, push

Shown = AbstractSet[object]  # variables that have a value, and lengths that their types show

Ends = list[tuple[Size, Size]]
Bound = tuple[Size, Size]  # at any time, and as a pass begins

MANY = 1 << 24  # elements of memory for arrays that passes make longer
MOST = 20  # lengths that are replaced by bounds, one after another


@dataclass
class Bounds:
    """The greatest values of lengths, and of the integers that are kept in arrays and lists.

    hints     the sizes of this call
    greatest  of the lengths that loops and branches make
    relied    what is relied on of sizes: that loops do not make too many passes
    """

    program: Block
    hints: Mapping[dims.Symbol, int] = field(default_factory=dict)
    greatest: dict[dims.Symbol, Size] = field(default_factory=dict)
    relied: list[Relation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.memory = Dependences()
        self.memory.learn(self.program)
        self.kept = KeptNumbers(self.program)

    def upper_bound(self, size: Size, shown: Shown) -> Size | None:
        """A size that is at least as large, made of symbols that are shown, and of none that a
        loop or branch makes; None if none is known."""
        for _ in range(MOST):
            hidden = [x for x in dims.symbols(size) if x in self.greatest or not is_shown(x, shown)]
            if not hidden:
                return size
            least, most = self.range_of(hidden[0], shown)
            growth = slopes(size, hidden[0])
            if most is None or growth is None or (least is None and growth[0] < 0):
                return None
            larger = greatest(size, {hidden[0]: (0 if least is None else least, most)})
            if hidden[0] in dims.symbols(larger):
                return None
            size = larger
        return None

    def range_of(self, x: dims.Symbol, shown: Shown) -> tuple[Size | None, Size | None]:
        """The least and the greatest value of a length, an integer or a loop index; None for what
        is not known."""
        loop = self.memory.indices.get(x.var)
        if isinstance(loop, For) and isinstance(loop.step, Literal):
            start, stop = (size_of_atom(self.memory, a) for a in (loop.start, loop.stop))
            return (start, stop - 1) if loop.step.value > 0 else (stop + 1, start)
        most = self.greatest.get(x, x.upper)
        if x not in self.greatest and x.var is not None:
            stored = self.bound_of_number(x.var, shown)
            most = most if stored is None else stored
        if most is not None:
            dims.learn_upper(x, most)
        return 0 if x.lower is None and x.var is None else x.lower, most

    def bound_of_number(self, a: Atom, shown: Shown) -> Size | None:
        """A bound of an integer."""
        if isinstance(a, Literal):
            return a.value if type(a.value) is int else None
        s = self.memory.defs.get(a)
        if not isinstance(s, Let):
            return None
        if s.op is size_value:
            return self.upper_bound(s.params["size"], shown)
        if s.op is axis_size:
            return self.upper_bound(s.args[0].type.shape[s.params["axis"]], shown)
        if s.op is index or s.op in POPS:
            return self.bound_of_stored(s.args[0], shown)
        return None

    def bound_of_stored(self, memory: Atom, shown: Shown) -> Size | None:
        """A bound of all integers that are stored in an array or pushed to a list."""
        total: Size = 0
        for value in self.kept.values_in(memory):
            most = None if value is None else self.bound_of_number(value, shown)
            if most is None:
                return None
            total = dims.maximum(total, most)
        return total

    def learn_names(self, s: Let, shown: Shown) -> None:
        """Bounds the lengths that an array gets under another name."""
        for v in s.outs if s.op is identity else ():
            for axis, x in changing_axes(v, shown):
                most = self.upper_bound(
                    s.args[0].type.shape[axis], {*shown, *sizes_in([a.type for a in s.args])}
                )
                if most is not None:
                    self.greatest[x] = most

    def learn_branch(self, s: If, shown: Shown) -> None:
        """Bounds the lengths of results that differ between the sides."""
        for v, *sides in zip(s.outs, s.then.results, s.orelse.results, strict=True):
            for axis, x in changing_axes(v, shown):
                arrays = [a for a in sides if not is_undefined(a)]
                most = largest([self.upper_bound(a.type.shape[axis], shown) for a in arrays])
                if most is not None:
                    self.greatest[x] = most

    def greatest_length(
        self, s: For | While, x: dims.Symbol, ends: Ends, shown: Shown
    ) -> Bound | None:
        """How long arrays can be that a loop carries, at any time and as a pass begins; None if
        nothing says.

        x      their length in a pass
        ends   that before the loop and at the end of the pass, of each array
        shown  the lengths that there are before the loop
        """
        return self.greatest_lengths(s, {x: ends}, shown)[x]

    def greatest_lengths(
        self, s: For | While, ends: Mapping[dims.Symbol, Ends], shown: Shown
    ) -> dict[dims.Symbol, Bound | None]:
        """The same of arrays that become each other: all that one of them can be."""
        nothing: dict[dims.Symbol, Bound | None] = dict.fromkeys(ends)
        pairs = [pair for each in ends.values() for pair in each]
        start = largest([self.upper_bound(first, shown) for first, _ in pairs])
        if start is None:
            return nothing
        longest = dims.symbol("n", 0)
        (x,) = dims.symbols(longest)
        this_pass = dict.fromkeys(ends, longest)
        growth: Size = 0  # in a pass
        for _, size in pairs:
            after = self.after_pass(size, x, this_pass, shown)
            if after is None:
                return nothing
            if x not in dims.symbols(after):
                start = dims.maximum(start, after)
                continue
            least = dims.lower_bound(longest - after)
            growth = dims.maximum(growth, after - longest if least is None else -least)
        if growth == 0:
            return dict.fromkeys(ends, (start, start))
        if x in dims.symbols(growth) or not isinstance(s, For):
            return nothing
        most = start + growth * self.passes(s)
        if not self.is_moderate(most):
            return nothing
        return dict.fromkeys(ends, (most, most - growth))

    def is_moderate(self, most: Size) -> bool:
        """Whether memory is made for so many elements, as passes may end early, or not append."""
        size = self.upper_bound(most, frozenset(self.program.params))
        count = None if size is None else dims.evaluate(size, self.hints)
        if size is None or count is None or count > MANY:
            return False
        if not isinstance(size, int):
            self.relied.append((">=", MANY, size))
        return True

    def after_pass(
        self,
        after: Size,
        longest: dims.Symbol,
        this_pass: Mapping[dims.Symbol, Size],
        shown: Shown,
    ) -> Size | None:
        """A bound of a length at the end of a pass, by the longest one of those in `this_pass`."""
        whole = dims.single(longest)
        if dims.at_least(whole - dims.substitute(after, this_pass.get), 0):
            return whole
        most = self.upper_bound(after, {*shown, *this_pass})
        return None if most is None else dims.substitute(most, this_pass.get)

    def passes(self, s: For) -> Size:
        """How many passes a loop makes at most."""
        start, stop = (size_of_atom(self.memory, a) for a in (s.start, s.stop))
        if isinstance(s.step, Literal) and s.step.value > 0:
            return dims.maximum(stop - start + (int(s.step.value) - 1), 0) // int(s.step.value)
        if isinstance(s.step, Literal):
            return dims.maximum(start - stop - int(s.step.value) - 1, 0) // -int(s.step.value)
        return dims.maximum(dims.maximum(stop - start, start - stop), 0)


class KeptNumbers:
    """Which integers the arrays and lists of a program hold, by the values that share memory."""

    def __init__(self, program: Block) -> None:
        self.joined: dict[Var, Var] = {}
        self.stored: list[tuple[Var, Atom | None]] = [(v, None) for v in program.params]
        for s in statements(program):
            self.learn(s)

    def learn(self, s: Statement) -> None:
        match s:
            case For():
                self.join_rows(s.outs, s.inits, s.carries, s.yields)
            case While():
                self.join_rows(s.outs, s.inits, s.body.params, s.body.results)
                self.join_rows(s.outs, s.test.params)
            case If():
                self.join_rows(s.outs, s.then.results, s.orelse.results)
            case Let() if s.op in (update, push):
                self.join_rows(s.outs, s.args[:1])
                self.stored.append((s.outs[0], s.args[1]))
            case Let() if s.op in POPS:
                self.join_rows(s.outs[:1], s.args[:1])
            case Let() if s.op not in (empty, zeros, new_stack):
                self.stored += [(v, None) for v in s.outs]

    def join_rows(self, outs: tuple[Var, ...], *rows: Iterable[Atom]) -> None:
        for row in rows:
            for v, a in zip(outs, row, strict=True):
                if isinstance(a, Var):
                    self.joined[self.root(v)] = self.root(a)
                elif not is_undefined(a):
                    self.stored.append((v, None))

    def root(self, v: Var) -> Var:
        while (other := self.joined.get(v, v)) is not v:
            v = other
        return v

    def values_in(self, memory: Atom) -> list[Atom | None]:
        """What is stored in the memory of a value; None stands for what nobody knows."""
        if not isinstance(memory, Var):
            return [None]
        root = self.root(memory)
        return [a for v, a in self.stored if self.root(v) is root]


def largest(sizes: Iterable[Size | None]) -> Size | None:
    """The largest of several sizes; None if there is none, or one is not known."""
    total: Size | None = None
    for k, size in enumerate(sizes):
        if size is None:
            return None
        total = size if k == 0 or total is None else dims.maximum(total, size)
    return total


def changing_axes(v: Var, shown: Shown) -> list[tuple[int, dims.Symbol]]:
    """The axes whose length is one that nothing before shows, and those lengths."""
    if not isinstance(v.type, Type):
        return []
    pairs = [(k, single_symbol(n)) for k, n in enumerate(v.type.shape)]
    return [(k, x) for k, x in pairs if x is not None and not is_shown(x, shown)]


def is_shown(x: dims.Symbol, shown: Shown) -> bool:
    """Whether a length can be read."""
    return x.given or (x in shown if x.var is None else x.var in shown)
