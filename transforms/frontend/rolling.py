"""A loop whose body is staged once, with the variables that it writes as block arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.builder import NeedStatic, atom, size_of
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Literal,
    StackType,
    Type,
    Var,
    While,
)
from tapeless.transforms.core.rewriting import substitute
from tapeless.transforms.errors import (
    AliasError,
    Signal,
    StructureError,
    UndefinedError,
)
from tapeless.transforms.frontend.aliases import Aliases
from tapeless.transforms.frontend.branches import final_spec
from tapeless.transforms.frontend.dependence import depends_on, depends_on_program
from tapeless.transforms.frontend.effects import Unreachable
from tapeless.transforms.frontend.sequences import Sequence
from tapeless.transforms.frontend.staged_list import StagedList, start_tail
from tapeless.transforms.frontend.symbols import CellLocation, Symbol, trace, wrap
from tapeless.transforms.frontend.trace import Location
from tapeless.transforms.frontend.truth import truth, undefined_flag
from tapeless.transforms.frontend.values import (
    MISSING,
    ContentsLocation,
    Diverged,
    Spec,
    convert,
    entry_spec,
    join,
    join_types,
    put_together,
)
from tapeless.transforms.ops import elementwise

INT = Type(np.dtype(int), (), True)


class Unrollable(Signal):
    """A loop body has no stable types; the loop must be unrolled."""


class Plain(Signal):
    """A loop that does nothing with symbols: Python runs it."""


class Roll:
    """Stages the body of a loop once: what it writes is found by staging it, becomes carries, and
    the types of the carries are joined to a fixed point."""

    def __init__(
        self,
        seq: Sequence | None,
        body: Any,
        frame: Any,
        stop: str | None,
        name: str,
        key: Any,
        test: Any = None,
    ) -> None:
        self.seq, self.body, self.frame, self.stop, self.name, self.key, self.test = (
            seq,
            body,
            frame,
            stop,
            name,
            key,
            test,
        )
        self.locations: dict[Any, Location] = {}
        self.types: dict[Any, list[Any]] = {}
        self.growing: list[Any] = []
        self.unchanged: list[Any] = []
        self.maybe: list[Any] = []
        self.marks: list[
            Any
        ] = []  # (tail, elements logged, length) of the lists at the start of a pass
        self.lengths: dict[int, Any] = {}
        self.grew: set[int] = set()
        self.aliases = Aliases()

    def run(self) -> None:
        t = trace()
        poisoned, notes = dict(t.poisoned), list(t.notes)
        undo: list[tuple[Location, Any]] = []
        with t.recording() as journal:
            start = len(t.blocks[-1])
            t.rolling += 1
            try:
                self._run()
            except (
                Unrollable,
                Plain,
                NeedStatic,
                StructureError,
                AliasError,
                UndefinedError,
                Unreachable,
            ) as e:
                t.rollback(journal)
                del t.blocks[-1][start:]
                t.poisoned, t.notes = poisoned, notes
                for tail in t.tails:
                    tail.length = self.lengths.get(id(tail), tail.length)
                if isinstance(e, NeedStatic) and not self.mine(e.atom):
                    raise
                if isinstance(e, (Unrollable, Plain)):
                    raise
                raise Unrollable(getattr(e, "problem", str(e)) or "it always raises") from e
            finally:
                t.rolling -= 1
            undo = [(loc, loc.get()) for loc, _ in journal.old.values()]
            t.rollback(journal)
        for loc, value in undo:
            t.touch(loc)
            loc.set(value)

    def mine(self, wanted: Atom) -> bool:
        """Whether a value depends on this loop's passes."""
        return depends_on(wanted, self.params)

    def _run(self) -> None:
        t = trace()
        self.params: set[Var] = set()
        poisoned = dict(t.poisoned)
        overwritten: dict[Any, str] = {}  # in a pass, and so at the start of the next
        for _ in range(12):
            t.poisoned = dict(poisoned)
            entries = self.entries()
            t.poisoned |= overwritten
            began = self.aliases.began = next(t.serials)
            attempt = self.attempt(entries)
            before = len(overwritten)
            overwritten = {
                c: why for c, why in t.poisoned.items() if c not in poisoned and c.birth < began
            }
            if len(overwritten) == before and attempt is not None:
                self.finish(*attempt)
                return
        raise Unrollable("the types of its variables do not settle")

    def entries(self) -> dict[Any, Spec]:
        found = {}
        for key, loc in self.locations.items():
            value = loc.get()
            found[key] = (
                Spec("leaf", value, atom=value)
                if isinstance(loc, CellLocation)
                else entry_spec(loc, value)
            )
        return found

    def attempt(self, entries: dict[Any, Spec]) -> Any:
        t = trace()
        params: dict[Any, list[Var]] = {}
        for key, spec in entries.items():
            leaves = list(spec.leaves())
            kinds = self.types.setdefault(key, [a.type for a in leaves])
            if len(kinds) != len(leaves):
                kinds = self.types[key] = [a.type for a in leaves]
            name = self.locations[key].name
            params[key] = [
                Var(k, (a.name if isinstance(a, Var) else "") or name)
                for k, a in zip(kinds, leaves, strict=True)
            ]
            self.params |= set(params[key])
            self.aliases.start(key, spec, params[key])
        self.marks = []
        for tail in t.tails:
            before = self.lengths.setdefault(id(tail), tail.length)
            tail.length = None if id(tail) in self.grew else before
            self.marks.append((tail, len(tail.log), before))
        index = Var(
            INT, self.name if self.name and self.seq is not None and self.seq.is_range else "i"
        )
        self.params.add(index)
        self.bound(index)
        test_results: Any = None
        with t.recording() as journal, t.block() as statements:
            self.journal = journal
            for key, loc in self.locations.items():
                if entries[key].value is MISSING:
                    continue
                t.touch(loc)
                journal.old.setdefault(loc.key, (loc, loc.get()))
                loc.set(self.install(loc, entries[key], params[key]))
            self.aliases.link()
            if self.test is not None:
                with t.recording() as test_journal, t.block() as test_statements:
                    test = truth(self.test())
                    test_atom = test.value() if isinstance(test, Symbol) else atom(test)
                    if test_journal.old:
                        raise Unrollable("its test changes variables")
                if not isinstance(test, Symbol) and not test:
                    raise Unrollable("its test is false")
                test_results = (test_statements, test_atom)
                self.body()
            else:
                assert self.seq is not None
                self.body(self.seq.item(Symbol(index)))
            flag = truth(getattr(self.frame, self.stop)) if self.stop else False
            flag_atom = flag.value() if isinstance(flag, Symbol) else atom(flag)
            finals = {k: (loc, final_spec(loc)) for k, (loc, _) in journal.old.items()}
            again = False
            results: dict[Any, list[Atom]] = {}
            for key, (loc, final) in finals.items():
                if key not in self.locations:
                    again = True
                    self.locations[key] = loc
                elif self.settle(key, loc, entries[key], final, params[key], results):
                    again = True
            if self.aliases.end({key: final for key, (_, final) in finals.items()}):
                again = True
        t.rollback(journal)
        for tail, mark, _ in self.marks:
            if len(tail.log) > mark and id(tail) not in self.grew:
                self.grew.add(id(tail))
                again = True
        if self.growing:
            for target, element in self.growing:
                self.start_tail(target, element)
            self.growing.clear()
            again = True
        if again:
            return None
        for key in self.locations:
            results.setdefault(key, list(params[key]))
        return entries, params, index, statements, finals, results, test_results, flag_atom

    def bound(self, index: Var) -> None:
        """Tells the trace between which values the index lies."""
        if self.seq is None:
            return
        start, _, step = (size_of(a) for a in self.seq.span)
        if isinstance(step, int) and dims.at_least(self.seq.count, 0):
            last = start + (self.seq.count - 1) * step
            (symbol,) = dims.symbols(builder.var_size(index))
            trace().bounds[symbol] = (start, last) if step > 0 else (last, start)

    def start_tail(self, target: StagedList, element: Any) -> None:
        trace().touch(ContentsLocation(target))
        start_tail(target, element)

    def install(self, loc: Location, spec: Spec, params: list[Var]) -> Any:
        """The value of a location at the start of a pass: the entry value with parameters as leaves."""
        left = iter(params)
        if isinstance(loc, CellLocation):
            return next(left)
        if isinstance(loc, ContentsLocation) and isinstance(loc.obj, list):
            return tuple(self.rebuild(c, left) for c in spec.children)
        return self.rebuild(spec, left)

    def rebuild(self, spec: Spec, left: Any) -> Any:
        if spec.kind == "leaf":
            param = next(left)
            made = Symbol(param)
            if undefined_flag(spec.value) is not None:
                made.undefined = spec.value.undefined
            if isinstance(spec.value, Symbol) and spec.value.mutable:
                made.is_array = True
                self.aliases.install(param, made)
            return made
        if spec.kind == "static":
            return spec.value
        return put_together(spec, [self.rebuild(c, left) for c in spec.children])

    def settle(
        self,
        key: Any,
        loc: Location,
        entry: Spec,
        final: Spec,
        params: list[Var],
        results: dict[Any, list[Atom]],
    ) -> bool:
        """Compares what a pass began with and left; True if it must be staged again with wider types."""
        if isinstance(loc, ContentsLocation) and isinstance(loc.obj, list):
            grown = self.grown(loc, entry, final)
            if grown:
                return True
        if entry.value is MISSING:
            if (
                final.value is MISSING
                or final.kind == "static"
                or isinstance(final.value, Diverged)
            ):
                results[key] = []
                return False
            results[key] = list(final.leaves())
            return False
        if final.value is MISSING or isinstance(final.value, Diverged):
            raise Unrollable(f"'{loc.name}' is not set after each pass")
        if isinstance(loc, CellLocation):
            pairs: list[tuple[Atom, Atom]] = [(entry.atom, final.atom)]  # type: ignore[list-item]
        else:
            pairs = []
            try:
                join(entry, final, lambda a, b: pairs.append((a.atom, b.atom)))
            except StructureError as e:
                raise Unrollable(
                    f"'{loc.name}' changes from pass to pass: {e}" if loc.name else str(e)
                ) from None
        changed = False
        kinds = self.types[key]
        results[key] = []
        for k, (_, new) in enumerate(pairs):
            try:
                joined = join_types(kinds[k], new.type)
            except StructureError as e:
                raise Unrollable(f"'{loc.name}' changes from pass to pass: {e}") from None
            if not _same_type(joined, kinds[k]):
                kinds[k] = joined
                changed = True
            else:
                results[key].append(convert(new, kinds[k]))
        return changed

    def grown(self, loc: Any, entry: Spec, final: Spec) -> bool:
        """A list that got longer by appending: its elements move to stacks before the loop."""
        target = loc.obj
        n = len(entry.children)
        if not isinstance(target, StagedList) or entry.keys[0] != id(None):
            return False
        if target.tail is not None:  # a branch or an inner loop made it a stack
            self.growing = [*self.growing, (target, target.tail.spec)]
            return True
        if len(final.children) <= n:
            return False
        element = final.children[n]
        if element.kind == "static":
            raise Unrollable(f"a list of {element.describe()} grows in it")
        self.growing = [*self.growing, (target, element)]
        return True

    def finish(
        self,
        entries: Any,
        params: Any,
        index: Var,
        statements: Any,
        finals: Any,
        results: Any,
        test_results: Any,
        flag: Atom,
    ) -> None:
        t = trace()
        carries: list[Var] = []
        inits: list[Atom] = []
        yields: list[Atom] = []
        outs: list[Var] = []
        after: list[tuple[Location, Any]] = []
        certain = self.seq is not None and dims.at_least(self.seq.count, 1)
        ran: Var | None = None
        for key, loc in self.locations.items():
            entry = entries[key]
            news = results[key]
            if entry.value is MISSING:
                final = finals.get(key, (loc, entry))[1]
                if not news:
                    after.append((loc, final.value))
                    continue
                if not certain and ran is None:
                    ran = self.ran(carries, inits, yields, outs)
                made = [
                    Var(_final_type(a.type), (a.name if isinstance(a, Var) else "") or loc.name)
                    for a in news
                ]
                for a, m in zip(news, made, strict=True):
                    carries.append(Var(a.type, m.name))
                    inits.append(Literal(None, a.type))
                    yields.append(a)
                    outs.append(m)
                after.append((loc, self.after(loc, final, made, ran)))
                continue
            spec = entry
            made = []
            for k, (leaf, param) in enumerate(zip(spec.leaves(), params[key], strict=True)):
                if news[k] is param:  # not changed by the loop
                    made.append(None)
                    self.unchanged.append((param, leaf))
                    continue
                out = Var(_final_type(param.type), param.name)
                self.aliases.leave(param, out)
                carries.append(param)
                inits.append(convert(leaf, param.type))
                yields.append(news[k])
                outs.append(out)
                made.append(out)
            final = finals.get(key, (loc, entry))[1]
            value = self.after_entry(loc, spec, final, made)
            flag_before = undefined_flag(spec.value)
            if (
                flag_before is not None
                and isinstance(value, Symbol)
                and value is not spec.value
                and not certain
            ):
                if ran is None:
                    ran = self.ran(carries, inits, yields, outs)
                self.maybe.append((value, spec.value.undefined[0], flag_before, ran))
            after.append((loc, value))
        self.emit(statements, carries, inits, yields, outs, index, test_results, flag)
        self.measure()
        for value, name, flag_before, did_run in self.maybe:
            value.undefined = (name, elementwise.logical_or(flag_before, did_run))
        for loc, value in after:
            t.touch(loc)
            loc.set(value)

    def measure(self) -> None:
        """How long lists are now that got the same number of elements in each pass."""
        for tail, mark, before in self.marks:
            added = tail.log[mark:]
            if not added:
                tail.length = before
            elif (
                self.seq is not None
                and self.stop is None
                and before is not None
                and all(j is self.journal for j, _ in added)
            ):
                tail.length = before + sum(n for _, n in added) * self.seq.count
            else:
                tail.length = None

    def ran(
        self, carries: list[Var], inits: list[Atom], yields: list[Atom], outs: list[Var]
    ) -> Var:
        """A carry that says whether the loop made a pass."""
        made = Var(Type(np.dtype(bool), (), True), "ran")
        carries.append(Var(made.type, "ran"))
        inits.append(atom(False))
        yields.append(atom(True))
        outs.append(made)
        return made

    def after(self, loc: Location, final: Spec, made: list[Var], ran: Var | None) -> Any:
        left = iter(made)
        value = self.fill(final, left)
        if isinstance(value, Symbol) and ran is not None:
            value.undefined = (loc.name, ran)
        return value

    def after_entry(self, loc: Location, entry: Spec, final: Spec, made: list[Any]) -> Any:
        left = iter(made)
        if isinstance(loc, CellLocation):
            out = next(left)
            return entry.atom if out is None else out
        if isinstance(loc, ContentsLocation) and isinstance(loc.obj, list):
            return tuple(self.fill(c, left) for c in entry.children)
        return self.fill(entry, left)

    def fill(self, spec: Spec, left: Any) -> Any:
        if spec.kind == "leaf":
            out = next(left)
            if out is None:
                return spec.value
            made = wrap(out)
            if isinstance(made, Symbol) and isinstance(spec.value, Symbol) and spec.value.mutable:
                made.is_array = True
                trace().link(made.cell, spec.value.base_cell())
                self.aliases.install(out, made)
            return made
        if spec.kind == "static":
            return spec.value
        return put_together(spec, [self.fill(c, left) for c in spec.children])

    def emit(
        self,
        statements: Any,
        carries: Any,
        inits: Any,
        yields: Any,
        outs: Any,
        index: Var,
        test_results: Any,
        flag: Atom,
    ) -> None:
        t = trace()
        swap = dict(self.unchanged)
        body = Block((), tuple(statements), tuple(yields))
        until = not (isinstance(flag, Literal) and not flag.value)
        if self.seq is not None:
            results = (flag, *yields) if until else tuple(yields)
            body = substitute(Block((index, *carries), tuple(statements), results), swap)
            if not depends_on_program(body, inits, self.seq):
                raise Plain
            count = Var(INT, "count") if until else None
            t.emit(
                For(
                    tuple(outs),
                    *self.seq.span,
                    tuple(inits),
                    body,
                    False,
                    until,
                    count,
                    None,
                    t.origin,
                )
            )
            sources: tuple[Atom, ...] = (*self.seq.span, *inits)
        else:
            test_statements, test_atom = test_results
            test = substitute(Block(tuple(carries), tuple(test_statements), (test_atom,)), swap)
            body = substitute(Block(tuple(carries), tuple(statements), tuple(yields)), swap)
            if not depends_on_program(body, inits, None) and not depends_on_program(
                test, inits, None
            ):
                raise Plain
            fresh = {c: Var(c.type, c.name) for c in carries}
            test = substitute(
                Block(tuple(fresh[c] for c in carries), test.body, test.results), fresh
            )
            t.emit(While(tuple(outs), tuple(inits), test, body, t.origin))
            sources = tuple(inits)
        for out, result in zip(outs, yields, strict=True):
            t.parents[out] = ("loop", self.key, (*sources, result))


def _final_type(t: Any) -> Any:
    """The type after the loop of a value whose sizes differ from pass to pass: the last sizes have new names."""
    if isinstance(t, StackType):
        return t
    joined, hints = trace().joined, trace().hints
    shape = []
    for s in t.shape:
        fresh = s in joined or any(x.var is None and x not in hints for x in dims.symbols(s))
        shape.append(dims.symbol("n", 0) if fresh else s)
    return Type(t.dtype, tuple(shape), t.weak)


def _same_type(a: Any, b: Any) -> bool:
    if isinstance(a, StackType) or isinstance(b, StackType):
        return bool(a == b)
    return a.dtype == b.dtype and a.shape == b.shape and a.weak == b.weak
