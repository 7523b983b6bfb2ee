"""Writes branches, loops of the user and effects of a kernel."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Collection
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Effect,
    For,
    If,
    Let,
    Statement,
    Type,
    Var,
    While,
    blocks,
    is_undefined,
)
from tapeless.transforms.lowering.kernels.bounds_checks import TOO_LONG
from tapeless.transforms.lowering.kernels.swapped_buffers import Exchanged
from tapeless.transforms.lowering.kernels.writer_base import Indent, NotCompiled
from tapeless.transforms.lowering.rewrite.array_routines import helpers, is_routine
from tapeless.transforms.lowering.schedule.element_loops import over_batch, raises_constant
from tapeless.transforms.lowering.schedule.fusion import FusedNest
from tapeless.transforms.lowering.schedule.independent_passes import joins_of_independent_passes
from tapeless.transforms.lowering.schedule.user_errors import values_of
from tapeless.transforms.lowering.schedule.view_indices import entries_of, is_view
from tapeless.transforms.memory.aliasing import has_memory
from tapeless.transforms.python_text.line_breaking import else_lines
from tapeless.transforms.python_text.python_source import template, to_source, write_template
from tapeless.transforms.python_text.tree_walk import names_in

FEW = 3  # numbers that a branch sets, for which machine code need not jump

#: The lines of one side of a branch, and its values of the numbers that the branch chooses.
Side = tuple[list[str], list[ast.expr]]


def _overflow_test(lines: list[str]) -> tuple[ast.expr | None, int] | None:
    """The test of integers that lines begin with, if any, and how many lines that is; None if they
    do more than to set numbers afterwards."""
    condition, count = None, 0
    body = ast.parse(textwrap.dedent("\n".join(lines))).body
    match body:
        case [
            ast.If(test=test, body=[ast.Raise(exc=ast.Call(func=ast.Name("OverflowError")))]),
            *_,
        ]:
            condition, count = test, body[0].end_lineno or 0
            body = body[1:]
    simple = all(isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) for s in body)
    return (condition, count) if simple and len(body) <= FEW else None


class Control(Exchanged):
    """Statements that share no loop, one by one."""

    tells = False  # whether it gives errors of the user's by their numbers

    def statement(self, s: Statement, after: list[FusedNest], later: set[Var]) -> None:
        for cell in self.memory.writes(s) if blocks(s) else ():
            self.local.pop(cell, None)  # what is overwritten inside is read anew
        match s:
            case Let():
                if is_view(s):
                    self.check_index(s, entries_of(s), 1)
                    return
                stage = self.stage(s)
                if is_routine(s):
                    self.routine(s)
                elif stage is None:
                    self.stack(s, after)
                else:
                    self.single(stage, after, later)
            case If():
                self.branch(s, after, later)
            case For():
                self.for_(s)
            case While():
                self.while_(s)
            case Effect():
                self.effect(s)

    def effect(self, s: Effect) -> None:
        match s.kind:
            case "check":
                test = write_template("{0} != {1}", *map(self.atom, s.args))
                with self.suite(f"if {test}:", s.origin):
                    self.put(f'raise {s.error}("{s.message}")')
            case "raise":
                self.put(f"raise {self.error(s)}", s.origin)
            case _:
                raise NotCompiled(f"the effect {s.kind!r} is done by Python")

    def error(self, s: Effect) -> str:
        """An error as compiled code makes it."""
        if raises_constant(s):
            values = [self.error_text(part, s.args) for part in s.params["parts"]]
            return f"{s.params['type'].__name__}({', '.join(values)})"
        self.tells = True
        values = [to_source(self.atom(v)) for v in values_of(s)]
        return f"KernelError({', '.join([str(self.analysis.errors.number(s)), *values])})"

    def error_text(self, part: Any, args: Any) -> str:
        """What an error says."""
        kind, value = part
        if kind == "atom":
            return to_source(self.atom(args[value]))
        if kind == "tuple":
            inner = [self.error_text(p, args) for p in value]
            return "(" + ", ".join(inner) + ("," if len(inner) == 1 else "") + ")"
        return repr(value)

    def routine(self, s: Let) -> None:
        """A call that overwrites its first argument."""
        self.helpers |= helpers(s.op.name)
        self.put(f"{s.op.name}({', '.join(map(self.array_name, s.args))})", s.origin)
        self.local.pop(self.memory.cell(s.args[0]), None)  # type: ignore[arg-type]

    def assign(self, pairs: list[tuple[str, ast.expr]]) -> None:
        """name = value for each pair, as if at once."""
        pending = {n: v for n, v in pairs if to_source(v) != n}
        reads = {n: names_in(v) for n, v in pending.items()}
        while pending:
            free = [n for n in pending if not any(n in reads[m] for m in pending if m != n)]
            if not free:
                values = ", ".join(map(to_source, pending.values()))
                self.put(f"{', '.join(pending)} = {values}")
                return
            self.put(f"{free[0]} = {to_source(pending.pop(free[0]))}")

    def scalar_text(self, a: Atom, like: Var) -> ast.expr:
        return self.element_as(a, [], like.type.dtype)

    def branch(self, s: If, after: list[FusedNest], later: set[Var]) -> None:
        self.grow_before_branch(s)
        numbers = self.branch_results(s)
        test = self.atom(s.test)
        carry_names = {v: name for v in numbers if (name := self.carry_name(v, later))}
        sides = [self.side(s, k, numbers, carry_names) for k in (0, 1)]
        if numbers and any(lines for lines, _ in sides):
            sides = self.tested_ahead(test, sides, s.origin)
        if len(numbers) == 1 and not any(lines for lines, _ in sides):
            (_, then), (_, orelse) = sides
            value = _conditional(test, then[0], orelse[0], numbers[0])
            self.keep_number(numbers[0], value, after, later)
            return
        names = [
            carry_names.get(v) or self.names.new(v.name or self.names.nameless) for v in numbers
        ]
        written = []
        for lines, values in sides:
            before, self.lines = self.lines, lines
            with Indent(self, False):
                self.assign(list(zip(names, values, strict=True)))
            self.lines = before
            written.append(lines)
        self.put_branch(to_source(test), written[0], written[1], s.origin)
        for v, name in zip(numbers, names, strict=True):
            self.local[v] = ast.Name(name, ast.Load())

    def tested_ahead(self, test: ast.expr, sides: list[Side], origin: Any) -> list[Side]:
        """The sides of a branch that does nothing but to choose numbers, without the integers that
        they test first. These are tested ahead of the branch: machine code needs no jump then."""
        tests = [_overflow_test(lines) for lines, _ in sides]
        checks = [check for check in tests if check is not None]
        if len(checks) < len(sides) or all(condition is None for condition, _ in checks):
            return sides
        shorter = []
        texts = "{1} and {0}", "{1} and not {0}"  # the rare condition first
        for text, (condition, count), (lines, values) in zip(texts, checks, sides, strict=True):
            if condition is not None:
                with self.suite(f"if {write_template(text, test, condition)}:", origin):
                    self.put(f'raise OverflowError("{TOO_LONG}")')
            shorter.append((lines[count:], values))
        return shorter

    def branch_results(self, s: If) -> list[Var]:
        """The results that are numbers; arrays get memory."""
        numbers = []
        for v in s.outs:
            if not isinstance(v.type, Type):
                if self.memory.cell(v) is v:
                    raise NotCompiled("a branch decides which of two lists goes on")
            elif self.uses.get(v, 0) == 0 and v not in self.live:
                continue
            elif not v.type.shape:
                numbers.append(v)
            elif self.memory.cell(v) is v and v not in self.home:
                self.home[v] = self.allocate(v, self.free_of(v))
        return numbers

    def side(
        self, s: If, k: int, numbers: list[Var], carried: Collection[Var]
    ) -> tuple[list[str], list[ast.expr]]:
        """The lines of one side, and its values of the numbers; those that are known may take the
        names of carries."""
        block = (s.then, s.orelse)[k]
        before, self.lines = self.lines, []
        kept = dict(self.local), dict(self.starts), dict(self.measured), self.carry_of
        results = zip(s.outs, block.results, strict=True)
        self.carry_of = {a: self.carry_of[v] for v, a in results if v in carried}
        arrays = [
            (a, v)
            for v, a in zip(s.outs, block.results, strict=True)
            if has_memory(v) and v in self.home and self.memory.cell(v) is v and not is_undefined(a)
        ]
        variables = [(a, v) for a, v in arrays if isinstance(a, Var)]
        into = [(a, v) for a, v in variables if self.of_a_kind(a.type, v.type)]
        chosen = {a for t in block.body if isinstance(t, If) for a in t.outs}
        for a, v in into:
            if a in chosen and self.memory.cell(a) is a and a not in self.home:
                self.home[a], self.into[a] = self.home[v], v
        with Indent(self, False):
            self.body(block.body, {a for a in block.results if isinstance(a, Var)}, into)
            for memory, v in arrays:
                if not (isinstance(memory, Var) and self.into.get(memory) is v):
                    self.copy_into(v, memory)
        result_of = dict(zip(s.outs, block.results, strict=True))
        values = [self.scalar_text(result_of[v], v) for v in numbers]
        self.local, self.starts, self.measured, self.carry_of = kept
        lines, self.lines = self.lines, before
        return lines, values

    def put_branch(self, test: str, then: list[str], orelse: list[str], origin: Any) -> None:
        if then:
            self.put(f"if {test}:", origin)
            self.lines += then
            self.lines += else_lines(orelse, self.depth)
        elif orelse:
            self.put(f"if not {test}:" if test.isidentifier() else f"if not ({test}):", origin)
            self.lines += orelse

    def keep_number(self, v: Var, value: ast.expr, after: list[FusedNest], later: set[Var]) -> None:
        """A number that takes no statement to compute."""
        if not after and self.uses.get(v) == 1 and not self.carry_name(v, later):
            self.local[v] = value
            return
        name = self.carry_name(v, later) or self.names.new(v.name or self.names.nameless)
        self.put(f"{name} = {to_source(value)}")
        self.local[v] = ast.Name(name, ast.Load())

    def enter(
        self, s: For | While, carries: tuple[Var, ...], after: tuple[Atom, ...]
    ) -> list[tuple[str, Var]]:
        """Sets the carries before the first pass; the names of those that are numbers."""
        names = []
        starts = []
        renewed = self.reallocated_carries(s, self.moved_carries(s, carries, after))
        for k, (p, init) in enumerate(zip(carries, s.inits, strict=True)):
            if not isinstance(p.type, Type):
                if not self.memory.in_place(s, k):
                    raise NotCompiled("a list is another one from pass to pass")
            elif not p.type.shape:
                name = self.name_of_init(init, p) or self.names.new(p.name or self.names.nameless)
                starts.append((name, self.scalar_text(init, p)))
                names.append((name, p))
            elif not self.memory.in_place(s, k):
                kept = self.home.get(s.outs[k])
                may_be_init = p not in renewed or kept is None
                if may_be_init and isinstance(init, Var) and self.becomes.get(init) is p:
                    self.home[p] = self.home[init]
                else:
                    memory = None if p in renewed else kept
                    self.home[p] = memory or self.allocate(p, self.free_of(p))
                    if not is_undefined(init):
                        self.copy_into(p, init)
                if kept is not None and kept.name == self.home[p].name:
                    self.lent.add(p)
        self.assign(starts)
        for name, p in names:
            self.local[p] = ast.Name(name, ast.Load())
        return names

    def name_of_init(self, init: Atom, p: Var) -> str | None:
        """The variable that a carry starts from, which it can be itself: nothing else reads that,
        and each pass of the loops around sets it anew."""
        if not isinstance(init, Var) or self.uses.get(init) != 1 or init in self.live:
            return None
        e = self.local.get(init)
        if not isinstance(e, ast.Name) or e.id not in self.names.of_suites[-1]:
            return None
        if init.type.dtype != p.type.dtype or p.type.dtype.kind not in "fc":
            return None
        others = (x for v, x in self.local.items() if v is not init)
        shared = any(isinstance(x, ast.Name) and x.id == e.id for o in others for x in ast.walk(o))
        return None if shared else e.id

    def carried_numbers(self, carries: Any, after: Any) -> dict[Any, Var]:
        """Numbers that become carries."""
        return {
            y: p
            for p, y in zip(carries, after, strict=True)
            if isinstance(p.type, Type) and not p.type.shape and y.type.dtype == p.type.dtype
        }

    def moves(self, s: For | While, carries: Any, after: Any) -> list[tuple[Var, Var]]:
        """Which value becomes which carry, where that is another array."""
        return [
            (y, p)
            for k, (p, y) in enumerate(zip(carries, after, strict=True))
            if has_memory(p)
            and isinstance(y, Var)
            and self.uses[y]
            and list(after).count(y) == 1
            and not self.memory.in_place(s, k)
        ]

    def leave(self, s: For | While, carries: Any, names: list[tuple[str, Var]], after: Any) -> None:
        """Sets the carries for the next pass."""
        every = self.moved_carries(s, carries, after)
        exchanged = self.exchanged_carries(every)
        rings = self.buffer_rings(s, [(p, y) for p, y in every if p not in exchanged])
        swapped = {*exchanged, *(p for ring in rings for p in ring)}
        moved = [(p, y) for p, y in every if p not in swapped]
        cells = {p for p, _ in moved}
        for k, (p, y) in enumerate(moved):
            base = self.memory.base(y)
            alone = isinstance(y, Var) and base is p and self.memory.cell(y) is p
            if base in cells and not alone:
                kept = Var(p.type, p.name)
                self.copy_of[kept] = p
                self.home[kept] = self.allocate(p, self.free_of(p))
                self.var_bound[kept] = self.var_bound.get(p, {})
                self.copy_into(kept, y)
                moved[k] = (p, kept)
        for p, y in moved:
            if not is_undefined(y) and not (isinstance(y, Var) and self.into.get(y) is p):
                self.copy_into(p, y)
        values = dict(zip(carries, after, strict=True))
        self.assign([(n, self.scalar_text(values[p], p)) for n, p in names])
        self.exchange(exchanged, rings)

    def finish(self, s: For | While, carries: Any, names: list[tuple[str, Var]]) -> None:
        text = {p: n for n, p in names}
        for p, v in zip(carries, s.outs, strict=True):
            if p in text:
                self.local[v] = ast.Name(text[p], ast.Load())
            elif isinstance(v.type, Type) and self.memory.cell(v) is v:
                if v in self.home and self.home[v].name != self.home[p].name:
                    self.copy_into(v, p)
                else:
                    self.home[v] = self.home[p]

    def for_(self, s: For) -> None:
        names = self.enter(s, s.carries, s.yields)
        count = None
        if s.count is not None:
            count = self.names.new(s.count.name or "count")
            self.put(f"{count} = 0")
        index = self.names.new(s.index.name if s.index.name != "_" and s.index.name else "i")
        passes = self.span(s)
        if self.are_apart(s):
            passes = passes.replace("range", "apart", 1)
        head = f"for {index} in {passes}:"
        self.passes_of[passes] = self.as_size(s.stop) - self.as_size(s.start)
        self.local[s.index] = ast.Name(index, ast.Load())
        span = self.span_of(s)
        if span is not None:
            self.ranges[s.index] = span
        self.ends[s.index] = self.as_size(s.start), self.as_size(s.stop)
        tested = self.check_ahead(s)
        self.grow_before_loop(s.inits)
        before = dict(self.local), dict(self.starts), dict(self.measured), self.carry_of
        self.carry_of = self.carried_numbers(s.carries, s.yields)
        self.batches += over_batch(s)
        with self.suite(head, s.origin):
            live = {a for a in s.body.results if isinstance(a, Var)}
            self.body(s.body.body, live, self.moves(s, s.carries, s.yields))
            if count is not None:
                self.put(f"{count} += 1")
            flag = self.atom(s.body.results[0]) if s.until else None
            if flag is not None and not self.stays(flag, s, names):
                name = self.names.new("done")
                self.put(f"{name} = {to_source(flag)}")
                flag = ast.Name(name, ast.Load())
            self.leave(s, s.carries, names, s.yields)
            if flag is not None:
                with self.suite(f"if {to_source(flag)}:"):
                    self.put("break")
        self.batches -= over_batch(s)
        self.ranges.pop(s.index, None)
        self.ends.pop(s.index)
        for key in tested:
            self.refused.pop(key, None)
        self.local, self.starts, self.measured, self.carry_of = before
        self.finish(s, s.carries, names)
        if s.count is not None and count is not None:
            self.local[s.count] = ast.Name(count, ast.Load())

    def are_apart(self, s: For) -> bool:
        """Whether threads of a GPU may share the passes of a loop inside of a kernel."""
        if not self.analysis.target.separate or not s.carries or s.reverse:
            return False
        return joins_of_independent_passes(self.memory, s, lambda addition: False, set()) == {}

    def stays(self, flag: ast.expr, s: For, names: list[tuple[str, Var]]) -> bool:
        """Whether a flag is the same after the carries have got their next values."""
        if not isinstance(flag, ast.Name):
            return isinstance(flag, ast.Constant)
        after = dict(zip(s.carries, s.yields, strict=True))
        return all(n != flag.id or to_source(self.scalar_text(after[p], p)) == n for n, p in names)

    def while_(self, s: While) -> None:
        carries = s.body.params
        names = self.enter(s, carries, s.body.results)
        for p, q in zip(s.test.params, carries, strict=True):
            if q in self.local:
                self.local[p] = self.local[q]
            elif q in self.home:
                self.home[p] = self.home[q]
        before = dict(self.local), dict(self.starts), dict(self.measured), self.carry_of
        self.carry_of = {}
        with self.suite("while True:", s.origin):
            mark = len(self.lines)
            self.body(s.test.body, {a for a in s.test.results if isinstance(a, Var)})
            test = self.atom(s.test.results[0])
            if len(self.lines) == mark:
                pad = "    " * (self.depth - 1)
                self.lines[-1] = self.lines[-1].replace(
                    f"{pad}while True:", f"{pad}while {to_source(test)}:"
                )
            else:
                with self.suite(f"if not ({to_source(test)}):"):
                    self.put("break")
            self.carry_of = self.carried_numbers(carries, s.body.results)
            live = {a for a in s.body.results if isinstance(a, Var)}
            self.body(s.body.body, live, self.moves(s, carries, s.body.results))
            self.leave(s, carries, names, s.body.results)
        self.local, self.starts, self.measured, self.carry_of = before
        self.finish(s, carries, names)


def _conditional(test: ast.expr, then: ast.expr, orelse: ast.expr, out: Var) -> ast.expr:
    """then if test else orelse; of flags, and and or."""
    holes = {"0": test, "1": then, "2": orelse}
    text = "{1} if {0} else {2}"
    if out.type.dtype.kind == "b":
        left, right = (e.value if isinstance(e, ast.Constant) else None for e in (then, orelse))
        forms: dict[Any, str] = {(None, False): "{0} and {1}", (False, None): "not {0} and {2}"}
        forms |= {(True, None): "{0} or {2}", (None, True): "not {0} or {1}"}
        text = forms.get((left, right), text)
    return template(text, holes)  # type: ignore[no-any-return]
