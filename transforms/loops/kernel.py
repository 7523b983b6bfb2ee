"""A run of statements as the text of one compiled function: loops over scalars.

y = x * x; s = sum(y)      becomes      for i in range(x.shape[0]): s = plus(s, x[i] * x[i])
"""

from __future__ import annotations

import ast
import itertools
import keyword
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Effect,
    For,
    If,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    While,
    blocks,
    operands,
    outputs,
    statements,
)
from tapeless.transforms.errors import Signal
from tapeless.transforms.jvp import is_dead
from tapeless.transforms.loops import scalars
from tapeless.transforms.loops.arrange import Arrangement, Item, through
from tapeless.transforms.loops.memory import Memory
from tapeless.transforms.loops.stacks import Capacity
from tapeless.transforms.loops.stages import OVERWRITES, Stage
from tapeless.transforms.loops.views import Entry, Place, Span, entries_of, is_view
from tapeless.transforms.ops.parts import Slot
from tapeless.transforms.ownership import has_memory
from tapeless.transforms.text import number, template, to_source
from tapeless.transforms.wrapping import WIDTH, wrap

INDICES = "ijklmn"
PLUS = '''
@njit(fastmath={"reassoc", "contract"})
def plus(a, b):
    """a + b; a loop that adds up in this way may do so in any order."""
    return a + b
'''
MULTIPLIED = '''
@njit(fastmath={"reassoc", "contract"})
def plus_product(total, a, b):
    """total + a * b; a loop that adds up in this way may do so in any order."""
    return total + a * b
'''


class NotCompiled(Signal):
    """A run of statements has no loop form; the driver runs them."""


@dataclass(frozen=True)
class Buffer:
    """An array that holds the elements of a value along these of its axes."""

    name: str
    axes: tuple[int, ...]


@dataclass
class Kernel:
    """A finished kernel: its text, and what the driver passes and gets."""

    name: str
    text: str
    arguments: list[Atom | Size]
    scratch: list[tuple[Var, Type]]  # arrays that the driver makes first
    results: tuple[Var, ...]  # scalars that it returns
    same: dict[Var, Var]  # values that are found in the memory of another variable
    imports: set[tuple[str, str]]
    helpers: dict[str, None]


@dataclass
class Names:
    """Names that are not taken yet."""

    taken: set[str] = field(default_factory=set)

    def new(self, stem: str) -> str:
        stem = stem if stem.isidentifier() else "t"
        for k in itertools.count(1):
            name = stem if k == 1 else f"{stem}_{k}"
            if name not in self.taken and not keyword.iskeyword(name):
                self.taken.add(name)
                return name
        raise AssertionError


class Writer:
    """Writes one kernel. `live` are the variables that are read after the run."""

    def __init__(self, name: str, memory: Memory, analysis: Any, names: Names) -> None:
        self.kernel_name, self.memory, self.names = name, memory, names
        self.equal, self.canon, self.stage = analysis.equal, analysis.canon, analysis.stage
        self.analysis = analysis
        self.bound: dict[Stage, dict[int, ast.expr]] = {}
        self.var_bound: dict[Var, dict[int, ast.expr]] = {}  # of what loops carry
        self.stacks: dict[Var, ast.Name] = {}
        self.becomes: dict[Any, Var] = {}  # what a loop begins with, and its carry
        self.checked: set[tuple[Let, int]] = set()  # indices that are known to be in bounds
        self.into: dict[Var, Var] = {}  # values that are written to the memory of a carry
        self.home: dict[Var, Buffer] = {}
        self.local: dict[Var, ast.expr] = {}
        self.folded_reads: dict[Var, bool] = {}
        self.weight: dict[Var, int] = {}
        self.summing: set[Stage] = set()
        self.params: dict[Any, str] = {}
        self.scratch: dict[Var, Type] = {}
        self.filled: set[Var] = set()
        self.sizes: dict[Size, tuple[Any, int]] = {}
        self.imports: set[tuple[str, str]] = set()
        self.helpers: dict[str, None] = {}
        self.lines: list[str] = []
        self.depth, self.line, self.loops = 1, 0, 0
        self.uses: dict[Var, int] = {}
        self.indices: list[str] = []  # names of loop variables that are free again
        self.live: set[Var] = set()
        self.ranges: dict[Var, tuple[Size, Size]] = {}

    # -- the whole function

    def run(self, body: list[Statement], live: set[Var]) -> Kernel:
        self.live = live
        self.count_uses(body)
        defined = {v for s in body for v in outputs(s)}
        for s in body:
            for v in sorted(self.memory.needs(s), key=self.memory.order.__getitem__):
                if v not in defined and getattr(v.type, "shape", ()) and not self.seen_through(v):
                    self.know_sizes(v)
        made = [v for v in defined_in_order(body) if v in live]
        for v in made:
            if not isinstance(v.type, Type):
                raise NotCompiled
            if v.type.shape and not self.seen_through(v):
                self.keep(v)
        self.body(body, live)
        results = tuple(v for v in made if not v.type.shape)
        if results:
            values = [to_source(self.atom(v)) for v in results]
            self.put(f"return {', '.join(values)}")
        ours = {v: self.params.pop(v) for v in self.scratch}
        self.params |= ours
        head = wrap(f"def {self.kernel_name}({', '.join(self.params.values())}):")
        decorator = '@njit(nogil=True, error_model="numpy")'
        same = {v: self.memory.cell(v) for v in made if self.memory.cell(v) is not v}
        return Kernel(
            self.kernel_name,
            "\n".join([decorator, *head, *(self.lines or ["    pass"])]),
            list(self.params),
            list(self.scratch.items()),
            results,
            same,
            self.imports,
            self.helpers,
        )

    def seen_through(self, v: Var) -> bool:
        """Whether a value is never made: a view, or a constant that is written where it is read."""
        s = self.memory.defs.get(self.memory.cell(v))
        return isinstance(s, Let) and (s in self.memory.inline or is_view(s))

    def count_uses(self, body: Iterable[Statement]) -> None:
        for s in body:
            for a in operands(s):
                self.use(a)
            for v in s.params.values() if isinstance(s, Let) else ():
                for x in _size_vars(v):
                    self.uses[x] = 2
            for b in blocks(s):
                self.count_uses(b.body)
                for a in b.results:
                    self.use(a)

    def use(self, a: Any) -> None:
        if isinstance(a, Var):
            self.uses[a] = self.uses.get(a, 0) + 1

    # -- arrays

    def keep(self, v: Var) -> None:
        """Gives a value memory of its own: an array that the driver makes."""
        cell = self.memory.cell(v)
        if cell in self.home or self.analysis.defined_outside(cell):
            return
        self.home[cell] = self.allocate(cell, tuple(range(cell.type.ndim)), cell)

    def allocate(self, v: Var, axes: tuple[int, ...], own: Var | None = None) -> Buffer:
        shape = tuple(self.analysis.spelled(v.type.shape[k]) for k in axes)
        if not all(map(self.analysis.outside, shape)):
            raise NotCompiled
        made = own or Var(Type(v.type.dtype, shape), v.name)
        made.name = made.name or "out"
        self.scratch[made] = Type(v.type.dtype, shape)
        return Buffer(self.param(made), axes)

    def param(self, a: Any) -> str:
        if a not in self.params:
            stem = a.name if isinstance(a, Var) else str(a)
            self.params[a] = self.names.new(stem if stem.isidentifier() else "n")
            if isinstance(a, Var) and getattr(a.type, "shape", ()):
                self.know_sizes(a)
        return self.params[a]

    def know_sizes(self, v: Var) -> None:
        for k, n in enumerate(v.type.shape):
            self.sizes.setdefault(self.canon(n), (v, k))

    def buffer(self, cell: Var) -> Buffer:
        found = self.home.get(cell)
        if found is None and cell in self.analysis.unset and cell in self.analysis.inside:
            bound = self.var_bound.get(cell, {})
            axes = tuple(k for k in range(cell.type.ndim) if k not in bound)
            found = self.home[cell] = self.allocate(cell, axes)
        if found is None:
            found = Buffer(self.param(cell), tuple(range(cell.type.ndim)))
        return found

    # -- expressions

    def atom(self, a: Atom) -> ast.expr:
        """A single number."""
        return self.element(a, [])

    def element(self, a: Atom, index: list[ast.expr]) -> ast.expr:
        if isinstance(a, Literal):
            return number(0 if a.value is None else a.value)
        if a in self.local:
            return self.local[a]
        cell = self.memory.cell(a)
        if cell in self.local:
            return self.local[cell]
        if cell in self.home:
            return self.home_element(self.home[cell], index)
        s = self.memory.defs.get(cell)
        if isinstance(s, Let) and s in self.memory.inline:
            stage = self.stage(s)
            assert stage is not None
            return self.value(stage, index)
        if isinstance(s, Let) and is_view(s):
            return self.element(s.args[0], self.base_index(s, entries_of(s), index, 1))
        if not cell.type.shape:
            return ast.Name(self.param(cell), ast.Load())
        return self.home_element(self.buffer(cell), index)

    def place(self, a: Atom, index: list[ast.expr]) -> ast.expr:
        """An element of memory that is stored to."""
        assert isinstance(a, Var)
        cell = self.memory.cell(a)
        s = self.memory.defs.get(cell)
        if cell not in self.home and isinstance(s, Let) and is_view(s):
            return self.place(s.args[0], self.base_index(s, entries_of(s), index, 1))
        self.local.pop(cell, None)
        self.local.pop(a, None)
        return self.home_element(self.buffer(cell), index)

    def home_element(self, home: Buffer, index: list[ast.expr]) -> ast.expr:
        return subscript(home.name, [index[k] for k in home.axes])

    def base_index(
        self, s: Let, entries: Any, index: list[ast.expr], first: int
    ) -> list[ast.expr]:
        """The index into argument 0 for an index into the part."""
        rest, shape = s.args[first:], s.args[0].type.shape
        return [self.entry(e, n, index, rest) for e, n in zip(entries, shape, strict=True)]

    def entry(self, e: Entry, n: Size, index: list[ast.expr], rest: tuple[Atom, ...]) -> ast.expr:
        if isinstance(e, Span):
            at = number(0) if e.axis is None else index[e.axis]
            start = self.start(e, n, rest)
            if abs(e.step) != 1:
                at = template(f"{{0}} * {abs(e.step)}", {"0": at})
            return shifted(start, at, e.step > 0)
        if isinstance(e.at, int):
            return number(e.at) if e.at >= 0 else self.size(n + e.at)
        where = [number(0) if k is None else index[k] for k in e.axes]
        return self.element(rest[e.at.k], where)

    def start(self, e: Span, n: Size, rest: tuple[Atom, ...]) -> ast.expr:
        if e.start is None:
            return self.size(n - 1)
        if isinstance(e.start, int):
            if e.start >= 0:
                return number(e.start)
            low = n + e.start
            return self.size(low if dims.at_least(low, 0) else dims.maximum(low, 0))
        a = rest[e.start.k]
        value = self.atom(a)
        if self.never_negative(self.as_size(a)):
            return value
        holes = {"0": value, "1": self.size(n)}
        return template("{0} if {0} >= 0 else max({0} + {1}, 0)", holes)  # type: ignore[no-any-return]

    def value(self, stage: Stage, index: list[ast.expr]) -> ast.expr:
        """What the stage computes at an index of its space, in the dtype of its result."""
        s = stage.let
        out = s.outs[0].type.dtype
        match s.op.name:
            case "zeros" | "empty":
                return scalars.literal(0, out)
            case "ones":
                return scalars.literal(1, out)
            case "full":
                return self.converted(s.args[0], [], out)
            case "arange":
                return self.arange(s, index[0], out)
            case "eye" | "tri":
                sign = "==" if s.op.name == "eye" else "<="
                test = shifted(index[0], number(s.params["k"]), True)
                holes = {"0": index[1], "1": test}
                one, zero = scalars.literal(1, out), scalars.literal(0, out)
                holes |= {"2": one, "3": zero}
                return template(f"{{2}} if {{0}} {sign} {{1}} else {{3}}", holes)  # type: ignore[no-any-return]
            case "size_value":
                return self.size(s.params["size"])
            case "index" | "gather":
                return self.element(s.args[0], self.base_index(s, stage.entries, index, 1))
            case "matmul":
                values = [self.read(stage, k, index) for k in (0, 1)]
                return template("{0} * {1}", {"0": values[0], "1": values[1]})  # type: ignore[no-any-return]
        if stage.stores:
            return self.converted(s.args[1], self.at(stage, 1, index), out)
        if stage.reduced:
            value = self.read(stage, 0, index)
            return scalars.cast(value, s.args[0].type.dtype, out)
        values = [self.read(stage, k, index) for k in range(len(s.args))]
        return scalars.spelled(s, values, self.imports)

    def read(self, stage: Stage, k: int, index: list[ast.expr]) -> ast.expr:
        return self.element(stage.let.args[k], self.at(stage, k, index))

    def at(self, stage: Stage, k: int, index: list[ast.expr]) -> list[ast.expr]:
        axes = stage.maps[k] or ()
        return [number(0) if axis is None else index[axis] for axis in axes]

    def converted(self, a: Atom, index: list[ast.expr], dtype: np.dtype[Any]) -> ast.expr:
        if isinstance(a, Literal):
            return scalars.literal(a.value, dtype)
        return scalars.cast(self.element(a, index), a.type.dtype, dtype)

    def arange(self, s: Let, index: ast.expr, out: np.dtype[Any]) -> ast.expr:
        start, _, step = s.args
        if step != Literal(1, step.type):
            index = template("{0} * {1}", {"0": index, "1": self.converted(step, [], out)})
        else:
            index = scalars.cast(index, scalars.INT, out)
        first = self.converted(start, [], out)
        return shifted(first, index, True)

    # -- sizes

    def size(self, size: Size) -> ast.expr:
        size = self.canon(size)
        if isinstance(size, int):
            return number(size)
        if size in self.sizes:
            v, axis = self.sizes[size]
            name = self.param(v) if v not in self.home else self.home[v].name
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
            if f.var is not None:
                return self.atom(f.var)
            if single in self.sizes:
                v, axis = self.sizes[single]
                name = self.param(v) if v not in self.home else self.home[v].name
                return template(f"{name}.shape[{axis}]", {})  # type: ignore[no-any-return]
            if not self.analysis.outside(single):
                raise NotCompiled
            return ast.Name(self.param(single), ast.Load())
        holes = {"0": self.size(f.left), "1": self.size(f.right)}
        return template("max({0}, {1})" if f.kind == "max" else f"{{0}} {f.kind} {{1}}", holes)  # type: ignore[no-any-return]

    def as_size(self, a: Atom) -> Size:
        """The integer as an expression in sizes and loop variables."""
        if isinstance(a, Literal):
            return int(a.value)
        s = self.memory.defs.get(a)
        if isinstance(s, Let):
            if s.op.name == "size_value":
                return self.canon(s.params["size"])
            if s.op.name in ("add", "sub", "mul") and all(
                x.type.dtype == scalars.INT for x in s.args
            ):
                left, right = (self.as_size(x) for x in s.args)
                if s.op.name == "mul":
                    return left * right
                return left + right if s.op.name == "add" else left - right
        if a.size is None:
            a.size = dims.symbol(a.name or "n", None, a)
        return self.canon(a.size)

    def bounds(self, size: Size) -> tuple[Size, Size]:
        """The least and the largest value that loop variables give to a size."""
        low = high = size
        for v, (first, last) in reversed(self.ranges.items()):
            symbol = self.as_size(v)
            (x,) = dims.symbols(symbol) or (None,)
            if x is None:
                continue
            if _coefficient(low, x) > 0:
                low = dims.substitute(low, lambda y, x=x, first=first: first if y == x else None)
            elif _coefficient(low, x) < 0:
                low = dims.substitute(low, lambda y, x=x, last=last: last if y == x else None)
            if _coefficient(high, x) > 0:
                high = dims.substitute(high, lambda y, x=x, last=last: last if y == x else None)
            elif _coefficient(high, x) < 0:
                high = dims.substitute(high, lambda y, x=x, first=first: first if y == x else None)
        return low, high

    def never_negative(self, size: Size) -> bool:
        return dims.at_least(self.bounds(size)[0], 0)

    # -- lines

    def put(self, text: str, origin: Any = None) -> None:
        pad = "    " * self.depth
        note = ""
        if origin is not None and origin.line != self.line:
            note, self.line = f"# line {origin.line}", origin.line
        lines = wrap(pad + text)
        if note and len(lines[0]) + len(note) + 2 > WIDTH:
            lines.insert(0, pad + note)
        elif note:
            lines[0] += f"  {note}"
        self.lines += lines

    def nested(self, head: str, origin: Any = None) -> Indent:
        self.put(head, origin)
        return Indent(self)

    # -- bodies

    def open_axes(self, stage: Stage) -> list[int]:
        bound = self.bound.get(stage, {})
        return [k for k, n in enumerate(stage.space) if k not in bound and n != 1]

    def index_of(self, stage: Stage) -> list[ast.expr]:
        bound = self.bound.get(stage, {})
        return [bound.get(k, number(0)) for k in range(len(stage.space))]

    def body(
        self,
        body: Iterable[Statement],
        live: set[Var],
        into: Iterable[tuple[Var, Var]] = (),
    ) -> None:
        """Writes statements. `into` are values that may take the memory of a carry, if nothing
        reads that any more."""
        body = [s for s in body if not self.skipped(s)]
        defined = {v for s in body for v in outputs(s)}
        body = [s for s in body if not self.checked_first(s, defined)]
        items = Arrangement(
            self.memory, self.equal, self.stage, self.open_axes, lambda v: self.var_bound.get(v, {})
        ).run(body)
        self.redirect(items, into)
        self.chain(items)
        for k, item in enumerate(items):
            later = set(live).union(*(other.needs for other in items[k + 1 :]))
            if item.size is not None:
                self.nest(item, later)
            else:
                self.statement(item.statements[0], items[k + 1 :], later)

    def skipped(self, s: Statement) -> bool:
        if isinstance(s, Effect):
            return s.kind in ("blank", "errstate")
        if not isinstance(s, Let):
            return False
        if s in self.memory.inline or s.op.name == "empty":
            return True
        return is_view(s) and not any(isinstance(e, Place) for e in entries_of(s) or ())

    def checked_first(self, s: Statement, defined: set[Var]) -> bool:
        """Checks the indices that are known before the statements; whether no more is to be done."""
        if not isinstance(s, Let):
            return False
        stage = self.stage(s)
        first = 2 if s.op.name in ("update", "add_at") else 1
        entries = stage.entries if stage is not None else entries_of(s) if is_view(s) else ()
        known = [
            e
            for e in entries or ()
            if isinstance(e, Place)
            and not (isinstance(e.at, Slot) and s.args[first + e.at.k] in defined)
        ]
        scalar = [e for e in known if isinstance(e.at, int) or not s.args[first + e.at.k].type.shape]
        if scalar:
            self.check_index(s, entries, first, None, set(map(id, scalar)))
        return is_view(s) and not self.memory.needs(s) & defined

    def redirect(self, items: list[Item], into: Iterable[tuple[Var, Var]]) -> None:
        for y, p in into:
            k = next((k for k, item in enumerate(items) if y in item.vars), None)
            if k is None or p not in self.home or y in self.home or y in self.live:
                continue
            if any(p in other.reads for other in items[k + 1 :]):
                continue
            if self.elementwise(items[k], y, p):
                self.into[y] = p
                self.home[y] = self.home[p]

    def chain(self, items: list[Item]) -> None:
        """What a loop begins with is made in the memory of its carry, if nobody else reads it."""
        for item in items:
            for s in item.statements:
                if not isinstance(s, For | While):
                    continue
                carries = s.carries if isinstance(s, For) else s.body.params
                for k, (p, a, out) in enumerate(zip(carries, s.inits, s.outs, strict=True)):
                    if not (has_memory(p) and isinstance(a, Var) and self.uses.get(a) == 1):
                        continue
                    stage = self.stage(self.memory.defs[a]) if a in self.memory.defs else None
                    made = stage is not None and stage.let in self.statements_of(items)
                    if not made or self.memory.in_place(s, k) or a in self.home:
                        continue
                    if stage in item.axes or stage.stores or stage.let in self.memory.inline:  # type: ignore[union-attr]
                        continue
                    self.home[a] = self.home.get(out) or self.allocate(p, self.free_of(p))
                    self.becomes[a] = p

    def statements_of(self, items: list[Item]) -> set[Any]:
        return {s for item in items for s in item.statements}

    def elementwise(self, item: Item, y: Var, p: Var) -> bool:
        """Whether an element of p is read only for the same element of y, and before it is made."""
        maker = self.stage(self.memory.defs[y])
        if maker is None or maker not in item.axes or maker.reduced or maker.stores:
            return False
        order = item.statements.index(maker.let) if maker.let in item.statements else -1
        if order < 0 or not all(isinstance(s, Let) for s in item.statements):
            return False
        for k, s in enumerate(item.statements):
            stage = self.stage(s)
            if stage is None or not self.memory.reads(s) & {p}:
                continue
            if k > order or stage.space != maker.space or stage.reduced:
                return False
            for a, axes in zip(s.args, stage.maps, strict=False):
                at = stage.entries_axes() if axes is None else axes
                if any(e != maker.out for e in through(self.memory, a, at, p)):
                    return False
        return True

    def nest(self, item: Item, later: set[Var]) -> None:
        self.hold_rows(item, later)
        for stage in [g for g in item.axes if g.let in item.statements]:
            v = self.memory.cell(stage.var)
            if item.axes[stage] in stage.reduced:
                if stage not in self.summing:
                    self.start_sum(stage, v)
            elif not stage.stores and stage not in self.summing:
                wanted = {stage.var, v} & later or self.viewed_later(v, later)
                if v not in self.home and (wanted or v in self.analysis.targets):
                    self.home[v] = self.allocate(v, self.free_axes(stage))
        name = self.index_name()
        if item.size is None:
            raise AssertionError
        at = ast.Name(name, ast.Load())
        with self.nested(f"for {name} in range({to_source(self.size(item.size))}):"):
            self.loops += 1
            for stage, axis in item.axes.items():
                self.bound.setdefault(stage, {})[axis] = at
            for v, axis in item.vars.items():
                self.var_bound.setdefault(v, {})[axis] = at
            before = set(self.local)
            self.body(item.statements, set())
            for v in set(self.local) - before:
                del self.local[v]
            self.loops -= 1
        self.indices.append(name)
        for stage, axis in item.axes.items():
            v = self.memory.cell(stage.var)
            if axis in stage.reduced and v in self.local and v in self.home:
                index = [number(0) if k is None else self.index_of(stage)[k] for k in stage.out]
                target = self.home_element(self.home[v], index)
                self.put(f"{to_source(target)} = {to_source(self.local[v])}")

    def index_name(self) -> str:
        """The name of a loop variable, again that of a loop which has ended."""
        stem = INDICES[self.loops % len(INDICES)]
        for name in self.indices:
            if name.partition("_")[0] == stem:
                self.indices.remove(name)
                return name
        return self.names.new(stem)

    def hold_rows(self, item: Item, later: set[Var]) -> None:
        """Memory for what is stored to and read in one nest only: a row of it is enough."""
        used = {self.memory.base(v) for v in later if getattr(v.type, "shape", ())}
        for cell in item.writes & self.analysis.unset:
            if cell in self.home or self.analysis.defined_outside(cell):
                continue
            row = cell not in used and cell in item.cells and self.rows_only(item, cell)
            bound = self.var_bound.get(cell, {})
            axes = [k for k in range(cell.type.ndim) if k not in bound]
            if row:
                axes.remove(item.cells[cell])
                item.vars.setdefault(cell, item.cells[cell])
            self.home[cell] = self.allocate(cell, tuple(axes))

    def rows_only(self, item: Item, cell: Var) -> bool:
        axis = item.cells[cell]
        return all(
            e[axis] == at
            for stage, at in item.axes.items()
            for a, axes in zip(stage.let.args, stage.maps, strict=False)
            for e in through(
                self.memory, a, stage.entries_axes() if axes is None else axes, cell
            )
        )

    def viewed_later(self, v: Var, later: set[Var]) -> bool:
        return any(self.memory.base(a) is v for a in later if getattr(a.type, "shape", ()))

    def free_axes(self, stage: Stage) -> tuple[int, ...]:
        """The axes of the result that no loop around has bound."""
        bound = self.bound.get(stage, {})
        return tuple(k for k, axis in enumerate(stage.out) if axis is None or axis not in bound)

    def start_sum(self, stage: Stage, v: Var) -> None:
        """Sets the result of a reduction to what it starts with."""
        self.summing.add(stage)
        s = stage.let
        name = "sum" if s.op.name == "matmul" else s.op.name
        if name in ("max", "min"):
            self.refuse_empty(stage)
        first = scalars.identity(name, v.type.dtype)
        bound = self.bound.get(stage, {})
        free = [k for k in stage.out if k is not None and k not in bound and stage.space[k] != 1]
        if not free:
            total = self.names.new(v.name or "total")
            self.local[v] = ast.Name(total, ast.Load())
            self.put(f"{total} = {to_source(first)}", s.origin)
            return
        if v not in self.home:
            self.home[v] = self.allocate(v, self.free_axes(stage))
        self.fill(v, stage, first)

    def fill(self, v: Var, stage: Stage, first: ast.expr) -> None:
        bound = self.bound.get(stage, {})
        index = [number(0) if k is None else bound.get(k) for k in stage.out]
        self.over([n for n in v.type.shape], index, lambda at: self.set(v, at, first))

    def over(self, shape: list[Size], index: list[Any], write: Any) -> None:
        """Loops over the axes that have no index yet, then what `write` writes there."""
        open_ = [k for k, e in enumerate(index) if e is None]
        if not open_:
            write(index)
            return
        k = open_[0]
        if shape[k] == 1:
            self.over(shape, [*index[:k], number(0), *index[k + 1 :]], write)
            return
        name = self.index_name()
        with self.nested(f"for {name} in range({to_source(self.size(shape[k]))}):"):
            self.loops += 1
            self.over(shape, [*index[:k], ast.Name(name, ast.Load()), *index[k + 1 :]], write)
            self.loops -= 1
        self.indices.append(name)

    def set(self, v: Var, index: list[ast.expr], value: ast.expr) -> None:
        target = self.home_element(self.buffer(v), index)
        if to_source(target) != to_source(value):
            self.put(f"{to_source(target)} = {to_source(value)}")

    def refuse_empty(self, stage: Stage) -> None:
        full = "maximum" if stage.let.op.name == "max" else "minimum"
        for k in sorted(stage.reduced):
            n = stage.space[k]
            if isinstance(n, int) and n > 0 or dims.at_least(n, 1):
                continue
            with self.nested(f"if {to_source(self.size(n))} == 0:"):
                self.put(
                    f'raise ValueError("zero-size array to reduction operation {full} which has '
                    'no identity")'
                )

    # -- statements

    def statement(self, s: Statement, after: list[Item], later: set[Var]) -> None:
        match s:
            case Let():
                if is_view(s):
                    self.check_index(s, entries_of(s), 1)
                    return
                stage = self.stage(s)
                if stage is None:
                    self.stack(s, after)
                else:
                    self.single(stage, after, later)
            case If():
                self.branch(s)
            case For():
                self.for_(s)
            case While():
                self.while_(s)
            case Effect():
                self.effect(s)

    def stack(self, s: Let, after: list[Item]) -> None:
        """A stack is an array, and the number of its elements that are taken."""
        if s.op.name == "new_stack":
            self.new_stack(s.outs[0], [t for item in after for t in item.statements])
            return
        cell = self.memory.cell(s.args[0])  # type: ignore[arg-type]
        if cell not in self.stacks:
            raise NotCompiled
        top = self.stacks[cell]
        match s.op.name:
            case "push":
                self.set(cell, [top], self.converted(s.args[1], [], cell.type.item.dtype))
                self.put(f"{top.id} += 1")
            case "pop":
                self.put(f"{top.id} -= 1", s.origin)
                name = self.names.new(s.outs[1].name or "t")
                self.put(f"{name} = {to_source(self.home_element(self.home[cell], [top]))}")
                self.local[s.outs[1]] = ast.Name(name, ast.Load())
            case "stack_length":
                name = self.names.new(s.outs[0].name or "count")
                self.put(f"{name} = {top.id}", s.origin)
                self.local[s.outs[0]] = ast.Name(name, ast.Load())

    def new_stack(self, v: Var, after: list[Statement]) -> None:
        count = Capacity(
            self.memory, self.as_size, lambda size: self.bounds(size)[1], self.ranges
        ).of(after, v)
        if count is None or self.loops or not self.analysis.outside(count):
            raise NotCompiled
        made = Var(Type(v.type.item.dtype, (count,)), v.name or "saved")
        self.home[v] = self.allocate(made, (0,), made)
        top = self.names.new(f"{v.name}_top" if v.name else "top")
        self.stacks[v] = ast.Name(top, ast.Load())
        self.put(f"{top} = 0")

    def single(self, stage: Stage, after: list[Item], later: set[Var]) -> None:
        s = stage.let
        index = self.index_of(stage)
        if s.op.name in ("index", "gather"):
            self.check_index(s, stage.entries, 1, index)
        if stage.stores:
            self.store(stage, index)
            return
        v = self.memory.cell(stage.var)
        if stage in self.summing:
            self.add(stage, v, index)
            return
        if stage.reduced:  # along axes of length one only
            value = self.value(stage, index)
        else:
            self.check_division(stage)
            value = self.value(stage, index)
        if v in self.analysis.targets and v.type.shape and v not in self.home:
            self.home[v] = self.allocate(v, self.free_axes(stage))
        if v in self.home:
            read_here = any(stage.var in item.needs or v in item.needs for item in after)
            if read_here and not isinstance(value, ast.Name):
                value = self.named(stage, value)
            target = self.home_element(self.home[v], [number(0) if k is None else index[k] for k in stage.out])
            self.put(f"{to_source(target)} = {to_source(value)}", s.origin)
            if read_here:
                self.local[v] = value
            return
        if s.op.name == "empty":
            return
        if self.foldable(stage, after, later):
            self.local[v] = value
            self.folded_reads[v] = self.loads(stage)
            self.weight[v] = 1 + sum(self.weight.get(a, 0) for a in s.args if isinstance(a, Var))
        else:
            self.local[v] = self.named(stage, value)

    def named(self, stage: Stage, value: ast.expr) -> ast.expr:
        if isinstance(value, ast.Constant):
            return value
        name = self.names.new(stage.var.name or "t")
        self.put(f"{name} = {to_source(value)}", stage.let.origin)
        return ast.Name(name, ast.Load())

    def foldable(self, stage: Stage, after: list[Item], later: set[Var]) -> bool:
        """Whether the value is used once, by what follows here, before memory changes."""
        v = stage.var
        if (v.name and not v.name.endswith(("_bar", "_dot"))) or self.uses.get(v, 0) != 1:
            return False
        if 1 + sum(self.weight.get(a, 0) for a in stage.let.args if isinstance(a, Var)) > 5:
            return False
        loads = self.loads(stage)
        for item in after:
            t = item.statements[0]
            if item.size is not None or not isinstance(t, Let):
                return False
            if v in operands(t):
                return t.op.name not in scalars.REPEATING and not is_view(t) and not (
                    t.op.name in ("index", "gather") or t.op.name in ("update", "add_at") and v in t.args[2:]
                )
            if loads and (item.writes or t.outs[0] in self.into):
                return False
        return v in self.live and self.loops == 0

    def loads(self, stage: Stage) -> bool:
        return bool(self.memory.reads(stage.let)) or any(
            self.folded_reads.get(a, False) for a in stage.let.args if isinstance(a, Var)
        )

    def add(self, stage: Stage, v: Var, index: list[ast.expr]) -> None:
        """One more element of a reduction."""
        s = stage.let
        if v in self.local:
            total = self.local[v]
        else:
            total = self.home_element(
                self.home[v], [number(0) if k is None else index[k] for k in stage.out]
            )
        holes = {"0": total}
        match s.op.name:
            case "matmul":
                self.helpers[MULTIPLIED.strip()] = None
                holes["1"], holes["2"] = (self.read(stage, k, index) for k in (0, 1))
                made = template("plus_product({0}, {1}, {2})", holes)
            case "sum" if v.type.dtype.kind == "f":
                self.helpers[PLUS.strip()] = None
                made = template("plus({0}, {1})", {**holes, "1": self.value(stage, index)})
            case name:
                value: Any = self.value(stage, index)
                if name in ("max", "min") and not isinstance(value, ast.Name):
                    value = self.named(stage, value)
                holes["1"] = value
                made = scalars.combined(name, v.type.dtype, holes)
        self.put(f"{to_source(total)} = {to_source(made)}", s.origin)

    def store(self, stage: Stage, index: list[ast.expr]) -> None:
        s = stage.let
        first = 1 if s.op.name in OVERWRITES else 2
        self.check_index(s, stage.entries, first, index)
        value = self.value(stage, index)
        target = self.place(s.args[0], self.base_index(s, stage.entries, index, first))
        sign = "="
        if s.op.name == "add_at":
            sign = "+="
        elif s.op.name in OVERWRITES:
            sign = s.op.name.split()[1]
        dtype = s.outs[0].type.dtype
        if sign != "=" and dtype.kind in "iu" and dtype != scalars.INT:
            holes = {"0": target, "1": value}
            value, sign = scalars.made(dtype, template(f"{{0}} {sign[0]} {{1}}", holes)), "="
        elif sign != "=" and isinstance(value, ast.UnaryOp) and sign in ("+=", "-="):
            if isinstance(value.op, ast.USub):
                value, sign = value.operand, "-=" if sign == "+=" else "+="
        self.put(f"{to_source(target)} {sign} {to_source(value)}", s.origin)

    # -- checks

    def check_index(
        self,
        s: Let,
        entries: Any,
        first: int,
        index: list[ast.expr] | None = None,
        only: set[int] | None = None,
    ) -> None:
        """Raises IndexError where an element is not there, unless it is known to be."""
        rest, shape = s.args[first:], s.args[0].type.shape
        if not self.analysis.boundscheck:
            return
        for axis, (e, n) in enumerate(zip(entries, shape, strict=True)):
            if isinstance(e, Span) or (s, axis) in self.checked:
                continue
            if only is not None:
                if id(e) not in only:
                    continue
                self.checked.add((s, axis))
            if isinstance(e.at, int):
                need = e.at + 1 if e.at >= 0 else -e.at
                if not dims.at_least(n, need):
                    test = f"{to_source(self.size(n))} < {need}"
                    self.refuse(test, axis)
                continue
            a = rest[e.at.k]
            if not a.type.shape:
                low, high = self.bounds(self.as_size(a))
                at_end = dims.at_least(self.canon(n) - 1 - high, 0)
                if at_end and dims.at_least(low, 0):
                    continue
                value = self.atom(a)
            else:
                where = [number(0) if k is None else (index or [])[k] for k in e.axes]
                value = self.element(a, where)
            holes = {"0": value, "1": self.size(n)}
            self.refuse(to_source(template("not -{1} <= {0} < {1}", holes)), axis)

    def refuse(self, test: str, axis: int) -> None:
        with self.nested(f"if {test}:"):
            self.put(f'raise IndexError("index is out of bounds for axis {axis}")')

    def check_division(self, stage: Stage) -> None:
        """Python's own numbers cannot be divided by zero."""
        s = stage.let
        if s.op.name not in ("truediv", "floordiv", "mod") or not s.outs[0].type.weak:
            return
        divisor = s.args[1]
        if isinstance(divisor, Literal) and divisor.value:
            return
        if dims.at_least(self.as_size(divisor), 1) if divisor.type.dtype.kind == "i" else False:
            return
        with self.nested(f"if {to_source(self.atom(divisor))} == 0:"):
            what = "float division" if "f" in [a.type.dtype.kind for a in s.args] else "division"
            self.put(f'raise ZeroDivisionError("{what} by zero")')

    def effect(self, s: Effect) -> None:
        match s.kind:
            case "check":
                a, b = (to_source(self.atom(x)) for x in s.args)
                with self.nested(f"if {a} != {b}:", s.origin):
                    message = "operands could not be broadcast together: the lengths differ"
                    self.put(f'raise ValueError("{message}")')
            case "raise":
                values = [repr(value) for _, value in s.params["parts"]]
                self.put(f"raise {s.params['type'].__name__}({', '.join(values)})", s.origin)
            case _:
                raise NotCompiled

    # -- branches and loops

    def assign(self, pairs: list[tuple[str, ast.expr]]) -> None:
        """name = value for each pair, as if at once."""
        left = {n: v for n, v in pairs if to_source(v) != n}
        reads = {n: {x.id for x in ast.walk(v) if isinstance(x, ast.Name)} for n, v in left.items()}
        while left:
            free = [n for n in left if not any(n in reads[m] for m in left if m != n)]
            if not free:
                values = ", ".join(map(to_source, left.values()))
                self.put(f"{', '.join(left)} = {values}")
                return
            self.put(f"{free[0]} = {to_source(left.pop(free[0]))}")

    def scalar_text(self, a: Atom, like: Var) -> ast.expr:
        return self.converted(a, [], like.type.dtype)

    def branch(self, s: If) -> None:
        scalar_outs = []
        for v, a, b in zip(s.outs, s.then.results, s.orelse.results, strict=True):
            if not isinstance(v.type, Type):
                if self.memory.cell(v) is v:
                    raise NotCompiled
                continue
            if self.uses.get(v, 0) == 0 and v not in self.live:
                continue
            if not v.type.shape:
                name = self.names.new(v.name or "t")
                scalar_outs.append((v, name, a, b))
            elif self.memory.cell(v) is v and v not in self.home:
                self.home[v] = self.allocate(v, self.free_of(v))
        test = to_source(self.atom(s.test))
        sides = []
        for k, side in enumerate((s.then, s.orelse)):
            before, self.lines = self.lines, []
            local = dict(self.local)
            with Indent(self, False):
                live = {a for a in side.results if isinstance(a, Var)}
                self.body(side.body, live)
                for v, a in zip(s.outs, side.results, strict=True):
                    if v in self.home and isinstance(v.type, Type) and v.type.shape and self.memory.cell(v) is v:
                        if not is_dead(a):
                            self.copy_into(v, a)
                self.assign([(n, self.scalar_text((a, b)[k], v)) for v, n, a, b in scalar_outs])
            self.local = local
            made, self.lines = self.lines, before
            sides.append(made)
        then, orelse = sides
        if then:
            self.put(f"if {test}:", s.origin)
            self.lines += then
            if orelse:
                self.put("else:")
                self.lines += orelse
        elif orelse:
            self.put(f"if not ({test}):", s.origin)
            self.lines += orelse
        for v, name, _, _ in scalar_outs:
            self.local[v] = ast.Name(name, ast.Load())

    def free_of(self, v: Var) -> tuple[int, ...]:
        bound = self.var_bound.get(v, {})
        return tuple(k for k in range(v.type.ndim) if k not in bound)

    def copy_into(self, v: Var, a: Atom) -> None:
        bound = self.var_bound.get(v, {})
        self.over(
            list(v.type.shape),
            [bound.get(k) for k in range(v.type.ndim)],
            lambda at: self.set(v, at, scalars.cast(self.element(a, at), a.type.dtype, v.type.dtype)),
        )

    def enter(self, s: For | While, carries: tuple[Var, ...]) -> list[tuple[str, Var]]:
        """Sets the carries before the first pass; the names of those that are numbers."""
        names = []
        starts = []
        for k, (p, init) in enumerate(zip(carries, s.inits, strict=True)):
            if not isinstance(p.type, Type):
                if not self.memory.in_place(s, k):
                    raise NotCompiled
            elif not p.type.shape:
                name = self.names.new(p.name or "t")
                starts.append((name, self.scalar_text(init, p)))
                names.append((name, p))
            elif not self.memory.in_place(s, k):
                if self.becomes.get(init) is p:
                    self.home[p] = self.home[init]
                    continue
                kept = self.home.get(s.outs[k])
                self.home[p] = kept or self.allocate(p, self.free_of(p))
                if not is_dead(init):
                    self.copy_into(p, init)
        self.assign(starts)
        for name, p in names:
            self.local[p] = ast.Name(name, ast.Load())
        return names

    def moves(self, s: For | While, carries: Any, after: Any) -> list[tuple[Var, Var]]:
        """Which value becomes which carry, where that is another array."""
        return [
            (y, p)
            for k, (p, y) in enumerate(zip(carries, after, strict=True))
            if has_memory(p)
            and isinstance(y, Var)
            and self.uses[y] and list(after).count(y) == 1
            and not self.memory.in_place(s, k)
        ]

    def leave(self, s: For | While, carries: Any, names: list[tuple[str, Var]], after: Any) -> None:
        """Sets the carries for the next pass."""
        moved = [
            (p, y)
            for k, (p, y) in enumerate(zip(carries, after, strict=True))
            if has_memory(p) and not self.memory.in_place(s, k)
        ]
        cells = {p for p, _ in moved}
        for k, (p, y) in enumerate(moved):
            base = self.memory.base(y)
            if base in cells and base is not p:
                kept = Var(p.type, p.name)
                self.home[kept] = self.allocate(p, self.free_of(p))
                self.var_bound[kept] = self.var_bound.get(p, {})
                self.copy_into(kept, y)
                moved[k] = (p, kept)
        for p, y in moved:
            if not is_dead(y) and self.into.get(y) is not p:
                self.copy_into(p, y)
        values = {p: y for p, y in zip(carries, after, strict=True)}
        self.assign([(n, self.scalar_text(values[p], p)) for n, p in names])

    def finish(self, s: For | While, carries: Any, names: list[tuple[str, Var]]) -> None:
        text = {p: n for n, p in names}
        for p, v in zip(carries, s.outs, strict=True):
            if p in text:
                self.local[v] = ast.Name(text[p], ast.Load())
            elif isinstance(v.type, Type) and self.memory.cell(v) is v:
                self.home[v] = self.home[p]

    def for_(self, s: For) -> None:
        names = self.enter(s, s.carries)
        count = None
        if s.count is not None:
            count = self.names.new(s.count.name or "count")
            self.put(f"{count} = 0")
        index = self.names.new(s.index.name if s.index.name != "_" and s.index.name else "i")
        head = f"for {index} in {self.span(s)}:"
        self.local[s.index] = ast.Name(index, ast.Load())
        start, stop = self.as_size(s.start), self.as_size(s.stop)
        if s.step == Literal(1, s.step.type):
            self.ranges[s.index] = (start, stop - 1)
        before = dict(self.local)
        with self.nested(head, s.origin):
            live = {a for a in s.body.results if isinstance(a, Var)}
            self.body(s.body.body, live, self.moves(s, s.carries, s.yields))
            if count is not None:
                self.put(f"{count} += 1")
            flag = self.atom(s.body.results[0]) if s.until else None
            if flag is not None and not isinstance(flag, (ast.Name, ast.Constant)):
                name = self.names.new("done")
                self.put(f"{name} = {to_source(flag)}")
                flag = ast.Name(name, ast.Load())
            self.leave(s, s.carries, names, s.yields)
            if flag is not None:
                with self.nested(f"if {to_source(flag)}:"):
                    self.put("break")
        self.ranges.pop(s.index, None)
        self.local = before
        self.finish(s, s.carries, names)
        if s.count is not None and count is not None:
            self.local[s.count] = ast.Name(count, ast.Load())

    def span(self, s: For) -> str:
        start, stop, step = (self.atom(a) for a in (s.start, s.stop, s.step))
        if not s.reverse:
            text = [to_source(e) for e in (start, stop, step)]
            if text[2] != "1":
                return f"range({', '.join(text)})"
            return f"range({text[1]})" if text[0] == "0" else f"range({text[0]}, {text[1]})"
        if not isinstance(s.step, Literal):
            raise NotCompiled
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

    def while_(self, s: While) -> None:
        carries = s.body.params
        names = self.enter(s, carries)
        for p, q in zip(s.test.params, carries, strict=True):
            if q in self.local:
                self.local[p] = self.local[q]
            elif q in self.home:
                self.home[p] = self.home[q]
        before = dict(self.local)
        with self.nested("while True:", s.origin):
            mark = len(self.lines)
            self.body(s.test.body, {a for a in s.test.results if isinstance(a, Var)})
            test = self.atom(s.test.results[0])
            if len(self.lines) == mark:
                pad = "    " * (self.depth - 1)
                self.lines[-1] = self.lines[-1].replace(
                    f"{pad}while True:", f"{pad}while {to_source(test)}:"
                )
            else:
                with self.nested(f"if not ({to_source(test)}):"):
                    self.put("break")
            live = {a for a in s.body.results if isinstance(a, Var)}
            self.body(s.body.body, live, self.moves(s, carries, s.body.results))
            self.leave(s, carries, names, s.body.results)
        self.local = before
        self.finish(s, carries, names)


class Indent:
    """A suite of lines, one level deeper; `pass` if nothing is written."""

    def __init__(self, writer: Writer, filled: bool = True) -> None:
        self.writer, self.filled = writer, filled
        self.start = len(writer.lines)

    def __enter__(self) -> None:
        self.start = len(self.writer.lines)
        self.writer.depth += 1

    def __exit__(self, *_: Any) -> None:
        w = self.writer
        if self.filled and len(w.lines) == self.start:
            w.put("pass")
        w.depth -= 1


def subscript(name: str, index: list[ast.expr]) -> ast.expr:
    inside = ", ".join(f"{{{k}}}" for k in range(len(index))) or "()"
    return template(f"{name}[{inside}]", {str(k): e for k, e in enumerate(index)})  # type: ignore[no-any-return]


def shifted(start: ast.expr, at: ast.expr, forward: bool) -> ast.expr:
    """start + at or start - at, without zeros."""
    if isinstance(at, ast.Constant) and at.value == 0:
        return start
    if forward and isinstance(start, ast.Constant) and start.value == 0:
        return at
    if forward and isinstance(start, ast.Constant) and not isinstance(at, ast.Constant):
        return template("{1} + {0}", {"0": start, "1": at})  # type: ignore[no-any-return]
    return template(f"{{0}} {'+' if forward else '-'} {{1}}", {"0": start, "1": at})  # type: ignore[no-any-return]


def defined_in_order(body: Iterable[Statement]) -> list[Var]:
    return [v for s in body for v in outputs(s)]


def _size_vars(value: Any) -> list[Var]:
    if isinstance(value, dims.Dim):
        return [x.var for x in dims.symbols(value) if x.var is not None]
    if isinstance(value, tuple):
        return [x for v in value for x in _size_vars(v)]
    return []


def _coefficient(size: Size, x: dims.Symbol) -> int:
    """The factor of a symbol that stands alone; 0 if it does not."""
    if isinstance(size, int):
        return 0
    return next((c for factors, c in size.terms if factors == (x,)), 0)


__all__ = ["Kernel", "Names", "NotCompiled", "Writer", "statements"]
