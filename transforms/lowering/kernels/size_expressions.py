"""Spells sizes and integers in a kernel, and keeps what is known of them."""

from __future__ import annotations

import ast
from typing import Any

from tapeless.transforms.analysis.suggested_names import word_for
from tapeless.transforms.core import dims, scalar_form
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, For, Let, Literal, Var
from tapeless.transforms.lowering.kernels.writer_base import Lines, NotCompiled
from tapeless.transforms.lowering.schedule.dependences import is_array
from tapeless.transforms.lowering.schedule.view_indices import ViewSpan, entries_of
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot
from tapeless.transforms.python_text.python_source import number, template, to_source


class Extents(Lines):
    """Parameters of the kernel, and sizes as axes of those."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.params: dict[Any, str] = {}
        self.sizes: dict[Size, tuple[Any, int]] = {}
        self.local: dict[Var, ast.expr] = {}  # numbers in variables
        self.ranges: dict[Var, tuple[Size, Size]] = {}  # first and last values of loop variables
        self.natural: set[dims.Symbol] = set()  # arguments that are not negative in this call
        self.ends: dict[Var, tuple[Size, Size]] = {}  # between which loop variables stay
        self.starts: dict[tuple[Let, int], ast.expr] = {}  # where slices start
        self.measured: dict[dims.Symbol, ast.expr] = {}  # how long they are
        self.measuring: set[dims.Symbol] = set()

    def atom(self, a: Atom) -> ast.expr:
        """A single number."""
        raise NotImplementedError

    def param(self, a: Any) -> str:
        if a not in self.params:
            stem = a.name or self.word(a) if isinstance(a, Var) else str(a)
            self.params[a] = self.names.new(stem if stem.isidentifier() else "n")
            if is_array(a):
                self.know_sizes(a)
        return self.params[a]

    def word(self, a: Var) -> str:
        """What to call an array that has no name: a number may be a length."""
        let = self.memory.defs.get(a)
        word = word_for(let) if isinstance(let, Let) else ""
        return word or ("array" if is_array(a) else "")

    def know_sizes(self, v: Var) -> None:
        for k, n in enumerate(v.type.shape):
            self.sizes.setdefault(self.canon(n), (v, k))

    def size(self, size: Size) -> ast.expr:
        size = self.canon(size)
        if isinstance(size, int):
            return number(size)
        if size in self.sizes:
            v, axis = self.sizes[size]
            name = self.param(v)
            return template(f"{name}.shape[{axis}]", {})  # type: ignore[no-any-return]
        total: Any = None
        for factors, c in sorted(size.terms, key=lambda t: (not t[0], t[1] < 0)):
            parts = [self.factor(f) for f in factors]
            if abs(c) != 1 or not parts:
                parts.insert(0, number(abs(c)))
            term = parts[0]
            for p in parts[1:]:
                term = template("{0} * {1}", {"0": term, "1": p})
            if total is None:
                total = template("-{0}", {"0": term}) if c < 0 else term
            else:
                total = template(f"{{0}} {'-' if c < 0 else '+'} {{1}}", {"0": total, "1": term})
        return total  # type: ignore[no-any-return]

    def factor(self, f: Any) -> ast.expr:
        if isinstance(f, dims.Symbol):
            single = dims.single(f)
            if f.var is not None and self.is_at_hand(f.var):
                return self.atom(f.var)
            if single in self.sizes:
                v, axis = self.sizes[single]
                name = self.param(v)
                return template(f"{name}.shape[{axis}]", {})  # type: ignore[no-any-return]
            if f in self.measured:
                return self.measured[f]
            if f in self.analysis.lengths and not self.analysis.is_known(single):
                s, axis = self.analysis.lengths[f]
                if f not in self.measuring and self.in_scope(s):
                    self.measuring.add(f)  # a part of what has the same length does not tell it
                    try:
                        return self.length(s, axis)
                    finally:
                        self.measuring.discard(f)
            if f.var is not None or not self.analysis.is_known_outside(single):
                raise NotCompiled(f"the length {f} is known only while the loop runs")
            return ast.Name(self.param(single), ast.Load())
        holes = {"0": self.size(f.left), "1": self.size(f.right)}
        called = f.kind in dims.CALLED
        return template(f"{f.kind}({{0}}, {{1}})" if called else f"{{0}} {f.kind} {{1}}", holes)  # type: ignore[no-any-return]

    def is_at_hand(self, v: Var) -> bool:
        """Whether an integer is known here: of lengths that arrays show, it may be gone."""
        return v in self.local or (v in self.memory.order and v not in self.analysis.closed)

    def in_scope(self, s: Let) -> bool:
        """Whether the bounds of a slice have the values that they had there."""
        return (
            all(
                not isinstance(a, Var)
                or is_array(a)
                or a in self.local
                or (self.analysis.defined_outside(a) and a not in self.analysis.closed)
                for a in s.args[1:]
            )
            and s.outs[0] in self.analysis.inside
        )

    def length(self, s: Let, axis: int) -> ast.expr:
        """The number of elements of a slice whose bounds the program computes."""
        first = 2 if s.op.name in ("update", "add_at") else 1
        entries = self.entries_of(s)
        e, n, rest = entries[axis], s.args[0].type.shape[axis], s.args[first:]
        low, high = self.starts.get((s, axis)) or self.start(e, n, rest), self.size(n)
        if e.step < 0 or (isinstance(e.stop, int) and e.stop < 0 and not isinstance(n, int)):
            raise NotCompiled("a slice runs backwards, or ends at a distance from an unknown end")
        if e.stop is not None:
            stop = ViewSpan(0, e.stop)
            size = self.as_size(rest[e.stop.k]) if isinstance(e.stop, Slot) else e.stop
            within = isinstance(e.stop, Slot) and e.stop.within
            within = within or dims.at_least(self.canon(n) - self.bounds(size)[1], 0)
            end = self.start(stop, n, rest)
            high = end if within else template("min({0}, {1})", {"0": end, "1": high})
        holes = {"0": high, "1": low}
        zero = isinstance(low, ast.Constant) and low.value == 0
        length = high if zero else template("max({0} - {1}, 0)", holes)
        if e.step > 1:
            length = template(f"({{0}} + {e.step - 1}) // {e.step}", {"0": length})
        return length

    def entries_of(self, s: Let) -> Any:
        stage = self.stage(s)
        return entries_of(s) if stage is None else stage.entries

    def start(self, e: ViewSpan, n: Size, rest: tuple[Atom, ...]) -> ast.expr:
        if e.start is None:
            return self.size(n - 1)
        if isinstance(e.start, int):
            if e.start >= 0:
                return number(e.start)
            low = n + e.start
            return self.size(low if self.analysis.not_negative(low) else dims.maximum(low, 0))
        a = rest[e.start.k]
        value = self.atom(a)
        if a.type.dtype.kind == "u":
            return scalar_form.cast(value, a.type.dtype, scalar_form.INT)
        if e.start.within or self.never_negative(self.as_size(a)):
            return value
        holes = {"0": value, "1": self.size(n)}
        return template("{0} if {0} >= 0 else max({0} + {1}, 0)", holes)  # type: ignore[no-any-return]

    def span(self, s: For) -> str:
        start, stop, step = (self.atom(a) for a in (s.start, s.stop, s.step))
        if not s.reverse:
            text = [to_source(e) for e in (start, stop, step)]
            if text[2] != "1":
                return f"range({', '.join(text)})"
            return f"range({text[1]})" if text[0] == "0" else f"range({text[0]}, {text[1]})"
        if not isinstance(s.step, Literal):
            way_out = "write the step of the range as a constant"
            raise NotCompiled("a loop with a step that is not constant runs backwards", way_out)
        width = int(s.step.value)
        holes = {"0": start, "1": stop}
        if width == 1:
            last = self.size_or(template("{0} - 1", {"0": stop}), self.as_size(s.stop) - 1)
            end = self.size_or(template("{0} - 1", {"0": start}), self.as_size(s.start) - 1)
            return f"range({to_source(last)}, {to_source(end)}, -1)"
        count = f"(({{1}} - {{0}} + {width - (1 if width > 0 else -1)}) // {width})"
        last = template(f"{{0}} + ({count} - 1) * {width}", holes)
        end = template(f"{{0}} - {width}", holes)
        return f"range({to_source(last)}, {to_source(end)}, {-width})"

    def size_or(self, text: ast.expr, size: Size) -> ast.expr:
        return number(size) if isinstance(size, int) else text

    def as_size(self, a: Atom) -> Size:
        """The integer as an expression in sizes and loop variables."""
        if isinstance(a, Literal):
            return int(a.value)
        s = self.memory.defs.get(a)
        if isinstance(s, Let):
            if s.op.name == "size_value":
                size: Size = self.canon(s.params["size"])
                return size
            if s.op.name in ("add", "sub", "mul") and all(
                x.type.dtype == scalar_form.INT and not self.analysis.is_hidden(x) for x in s.args
            ):
                left, right = (self.as_size(x) for x in s.args)
                if s.op.name == "mul":
                    return left * right
                return left + right if s.op.name == "add" else left - right
        if a.size is None:
            a.size = dims.symbol(a.name or "n", None, a)
        canonical: Size = self.canon(a.size)
        return canonical

    def bounds(self, size: Size) -> tuple[Size, Size]:
        """The least and the largest value that loop variables give to a size."""
        low = high = size
        for v, (first, last) in reversed(self.ranges.items()):
            low, high = self.extremes(v, low, high, first, last)
        return low, high

    def extremes(self, v: Var, low: Size, high: Size, first: Size, last: Size) -> tuple[Size, Size]:
        """The least and the largest value of two sizes for those of a loop variable. It stays in
        what does not rise or fall with it for sure."""
        for x in dims.symbols(self.as_size(v)):
            low = _substitute(low, x, {1: first, -1: last}.get(self.direction(low, x)))
            high = _substitute(high, x, {1: last, -1: first}.get(self.direction(high, x)))
        return low, high

    def direction(self, size: Size, x: dims.Symbol) -> int:
        """1 where a size rises with a symbol, -1 where it falls; 0 where that is not known."""
        signs = set()
        for factors, c in dims.terms_of(size):
            others = [f for f in factors if f != x]
            if any(x in dims.symbols(dims.single(f)) for f in others):
                return 0
            if len(others) < len(factors):
                linear = len(others) == len(factors) - 1 and all(map(self.is_natural, others))
                signs.add((1 if c > 0 else -1) if linear else 0)
        return signs.pop() if len(signs) == 1 else 0

    def is_natural(self, f: dims.Factor) -> bool:
        """Whether a factor is not negative for sure."""
        if f in self.natural or self.analysis.not_negative(dims.single(f)):
            return True
        ends = self.ranges.get(f.var) if isinstance(f, dims.Symbol) else None
        return ends is not None and self.never_negative(ends[0])

    def never_negative(self, size: Size) -> bool:
        low = self.bounds(size)[0]
        return bool(self.analysis.not_negative(low)) or all(
            c >= 0
            and all(
                f in self.natural or self.analysis.not_negative(dims.single(f)) for f in factors
            )
            for factors, c in dims.terms_of(low)
        )


def _substitute(size: Size, x: dims.Symbol, value: Size | None) -> Size:
    """The size for a value of a symbol, if there is one."""
    return dims.substitute(size, lambda y: value if y == x else None)
