"""Data-dependent control flow: branches and loop bodies are staged once, as blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.builder import NeedStatic, atom, size_of
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    While,
)
from tapeless.transforms.errors import (
    AliasError,
    Signal,
    StructureError,
    UndefinedError,
    UnsupportedError,
)
from tapeless.transforms.frontend.staged_list import StagedList, start_tail
from tapeless.transforms.frontend.symbols import CellLocation, Symbol, trace, wrap
from tapeless.transforms.frontend.trace import Journal, Location
from tapeless.transforms.frontend.values import (
    MISSING,
    ContentsLocation,
    Diverged,
    FrameLocation,
    ListContents,
    Spec,
    contains_symbol,
    convert,
    join,
    join_types,
    put_together,
    take_apart,
)
from tapeless.transforms.ops import elementwise

INT = Type(np.dtype(int), (), True)


class Unreachable(Signal):
    """The block that is being staged ends by raising."""


class Unrollable(Signal):
    """A loop body has no stable types; the loop must be unrolled."""


@dataclass(frozen=True)
class Template:
    """Text with values that are known when the program runs."""

    parts: tuple[Any, ...]

    def __add__(self, other: Any) -> Template:
        return Template((*self.parts, *(other.parts if isinstance(other, Template) else (other,))))

    def __radd__(self, other: str) -> Template:
        return Template((other, *self.parts))

    def __str__(self) -> str:
        return "".join(p if isinstance(p, str) else "<?>" for p in self.parts)


def effect_parts(values: Any, args: list[Atom]) -> Any:
    """A print argument or message as nested tuples in which atoms are numbered."""
    if isinstance(values, Template):
        return (
            "text",
            tuple(
                p if isinstance(p, str) else (effect_parts(p[0], args), p[1], _spec(p[2], args))
                for p in values.parts
            ),
        )
    if contains_symbol(values) and not isinstance(values, Symbol):
        if isinstance(values, dict):
            return ("dict", tuple((k, effect_parts(v, args)) for k, v in values.items()))
        return (type(values).__name__, tuple(effect_parts(v, args) for v in values))
    if isinstance(values, Symbol):
        args.append(values.value())
        return ("atom", len(args) - 1)
    return ("value", values)


def _spec(spec: Any, args: list[Atom]) -> Any:
    return spec if isinstance(spec, str) else effect_parts(spec, args)


def raise_(exc: Any, cause: Any = None) -> None:
    kind = exc if isinstance(exc, type) else type(exc)
    depth = len(trace().journals)
    for level, kinds in reversed(trace().handlers):
        if issubclass(kind, kinds()):
            if level == depth:  # whether it is raised does not depend on data
                raise exc from cause
            raise UnsupportedError(
                f"whether this {kind.__name__} is raised depends on the contents of arrays, "
                "and an except clause catches it",
                "write it as if and else",
            )
    if depth == 1 and not _has_symbols(exc):
        raise exc from cause
    args: list[Atom] = []
    parts = () if isinstance(exc, type) else tuple(effect_parts(a, args) for a in exc.args)
    trace().emit(Effect("raise", tuple(args), {"type": kind, "parts": parts}, trace().origin))
    raise Unreachable


def _has_symbols(exc: Any) -> bool:
    return any(contains_symbol(a) or isinstance(a, Template) for a in getattr(exc, "args", ()))


# -- tests


def truth(value: Any) -> Any:
    """A test as Python sees it: a bool, or a symbol of type bool."""
    if isinstance(value, StagedList) and value.tail is not None:
        value = value.length() > 0
    if not isinstance(value, Symbol):
        return bool(value)
    if value.type.shape:
        total = dims.product(value.type.shape)
        if total != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        value = value.item()
    if value.type.dtype.kind != "b":
        value = wrap(elementwise.not_equal(value.value(), 0))
    if isinstance(value, Symbol) and isinstance(value.cell and value.cell.atom, Literal):
        return bool(value.cell.atom.value)  # type: ignore[union-attr]
    return value


# -- branches


@dataclass
class Ended:
    """One staged branch: its statements and what it left in the locations that it wrote."""

    body: list[Statement]
    finals: dict[tuple[Any, ...], tuple[Location, Spec]]
    raised: bool


def _final(location: Location) -> Spec:
    value = location.get()
    if isinstance(location, CellLocation):
        return Spec("leaf", value, atom=value)
    return _entry_spec(location, value)


def run_branch(body: Callable[[], Any]) -> tuple[Ended, Any]:
    t = trace()
    raised, result = False, None
    with t.recording() as journal, t.block() as statements:
        try:
            result = body()
            result = take_apart(result)
        except Unreachable:
            raised = True
        finals = {} if raised else {k: (loc, _final(loc)) for k, (loc, _) in journal.old.items()}
    t.rollback(journal)
    return Ended(statements, finals, raised), result


def branch(test: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> None:
    choose(test, then, orelse, statement=True)


def choose(
    test: Any, then: Callable[[], Any], orelse: Callable[[], Any], statement: bool = False
) -> Any:
    """Runs one side if the test is known, else stages both and joins what they leave."""
    known = truth(test)
    if not isinstance(known, Symbol):
        return then() if known else orelse()
    t = trace()
    origin = t.origin
    test_atom = known.value()
    t.tests.append(test_atom)
    logged = [(tail, len(tail.log)) for tail in t.tails]
    try:
        (a, value_a), (b, value_b) = run_branch(then), run_branch(orelse)
    finally:
        t.tests.pop()
    for tail, mark in logged:
        if len(tail.log) > mark:
            tail.length = None
    t.origin = origin
    if a.raised and b.raised:
        t.emit(
            If(
                (),
                test_atom,
                Block((), tuple(a.body), ()),
                Block((), tuple(b.body), ()),
                None,
                origin,
            )
        )
        raise Unreachable
    grown = _grown_lists(a, b)
    if grown:
        for target, element in grown:
            t.touch(ContentsLocation(target))
            start_tail(target, element)
        return choose(test, then, orelse, statement)
    merge = Merge(test_atom, a, b)
    keys = dict.fromkeys([*a.finals, *b.finals])
    joined: list[tuple[Location, Any]] = []
    for key in keys:
        location = (a.finals.get(key) or b.finals[key])[0]
        x = a.finals[key][1] if key in a.finals else _final(location)
        y = b.finals[key][1] if key in b.finals else _final(location)
        joined.append((location, merge.value(x, y, location)))
    value = None if statement else merge.value(value_a, value_b, None)
    merge.emit(origin)
    for location, new in joined:
        t.touch(location)
        location.set(new)
        if isinstance(location, CellLocation):
            t.written(location.cell)
    return value


def _grown_lists(a: Ended, b: Ended) -> list[tuple[StagedList, Spec]]:
    """Lists that got longer in a branch: they must be stacks before it. With an element that was added."""
    found = []
    for key, (location, final) in {**a.finals, **b.finals}.items():
        if (
            not isinstance(location, ContentsLocation)
            or not isinstance(location.obj, StagedList)
            or location.obj.tail is not None
        ):
            continue
        before = _final(location)
        sides = [e.finals[key][1] if key in e.finals else before for e in (a, b) if not e.raised]
        if len({len(s.children) for s in sides}) > 1:
            longest = max(sides, key=lambda s: len(s.children))
            element = longest.children[-1]
            if element.kind != "static":
                found.append((location.obj, element))
    return found


class Merge:
    """Builds the outputs of an `If` while the values of both branches are joined."""

    def __init__(self, test: Atom, a: Ended, b: Ended) -> None:
        self.test, self.a, self.b = test, a, b
        self.outs: list[Var] = []
        self.results: tuple[list[Atom], list[Atom]] = ([], [])
        self.made: dict[tuple[int, int], Any] = {}
        self.flags: dict[bool, Symbol] = {}

    def value(self, x: Spec, y: Spec, location: Location | None) -> Any:
        if self.a.raised or self.b.raised:
            x = y = y if self.a.raised else x
        try:
            if isinstance(location, CellLocation):
                assert x.atom is not None and y.atom is not None
                return self.atom(x.atom, y.atom, location.cell)
            if (x.value is MISSING and y.kind == "leaf") or (y.value is MISSING and x.kind == "leaf"):
                return self.maybe(x, y, location)
            return join(x, y, self.leaf)
        except StructureError as e:
            if location is None:
                raise
            what = (
                f"'{location.name}' " if location.name and location.name != "return_value" else ""
            )
            origin = trace().origin
            where = f" on line {origin.line}" if origin else ""
            kind = (
                "the results"
                if location.name == "return_value"
                else "the values of " + (what or "a variable")
            )
            diverged = Diverged(
                f"{kind.strip()} after the branches{where} do not fit together: {e.problem}"
            )
            if isinstance(location, ContentsLocation):
                raise StructureError(diverged.reason, diverged.hint) from None
            return diverged

    def atom(self, p: Atom, q: Atom, hint: Any = None) -> Atom:
        if p is q or ((isinstance(p, Literal) and p == q) and not (self.a.raised or self.b.raised)):
            return p
        kind = join_types(p.type, q.type)
        out = Var(
            kind, p.name if isinstance(p, Var) and isinstance(q, Var) and p.name == q.name else ""
        )
        if not out.name:
            out.name = next((x.name for x in (p, q) if isinstance(x, Var) and x.name), "")
        self.outs.append(out)
        for side, (ended, value) in enumerate(((self.a, p), (self.b, q))):
            with _reopened(ended.body):
                self.results[side].append(
                    Literal(None, kind) if ended.raised else convert(value, kind)
                )
        return out

    def leaf(self, x: Spec, y: Spec) -> Any:
        if x.value is y.value and not (self.a.raised or self.b.raised):
            return x.value
        key = (id(x.value), id(y.value))
        if key not in self.made:
            assert x.atom is not None and y.atom is not None
            merged = self.atom(x.atom, y.atom)
            made = wrap(merged) if isinstance(merged, Var) else merged.value
            if isinstance(made, Symbol):
                for source in (x.value, y.value):
                    if isinstance(source, Symbol) and source.mutable:
                        made.is_array = True
                        trace().link(made.cell, source.base_cell())
                flags = [undefined_flag(v) for v in (x.value, y.value)]
                if any(f is not None for f in flags):
                    name = next(
                        v.undefined[0] for v in (x.value, y.value) if undefined_flag(v) is not None
                    )
                    p, q = (atom(True) if f is None else f for f in flags)
                    made.undefined = (name, self.atom(p, q))
            self.made[key] = made
        return self.made[key]

    def maybe(self, x: Spec, y: Spec, location: Location | None) -> Any:
        """A variable that only one branch sets: using it where it is not set raises at run time."""
        missing_then = x.value is MISSING
        known = y if missing_then else x
        assert known.atom is not None
        dead = Literal(None, known.atom.type)
        out = self.atom(dead if missing_then else known.atom, known.atom if missing_then else dead)
        symbol = wrap(out)
        name = location.name if location else "a variable"
        flag = self.flag(not missing_then)
        before = undefined_flag(known.value)
        if before is None:
            symbol.undefined = (name, flag.value())
        else:
            symbol.undefined = (
                name,
                self.atom(atom(False), before) if missing_then else self.atom(before, atom(False)),
            )
        return symbol

    def flag(self, when_then: bool) -> Symbol:
        if when_then not in self.flags:
            self.flags[when_then] = wrap(self.atom(atom(when_then), atom(not when_then)))
        return self.flags[when_then]

    def emit(self, origin: Any) -> None:
        t = trace()
        blocks = [
            Block((), tuple(e.body), tuple(r))
            for e, r in zip((self.a, self.b), self.results, strict=True)
        ]
        t.emit(If(tuple(self.outs), self.test, blocks[0], blocks[1], None, origin))
        for out, p, q in zip(self.outs, *self.results, strict=True):
            t.parents[out] = ("if", None, (self.test, p, q))


def undefined_flag(value: Any) -> Atom | None:
    """The truth value that says whether a variable is defined, where that is not certain."""
    if isinstance(value, Symbol) and value.undefined is not None:
        return value.undefined[1]  # type: ignore[no-any-return]
    return None


class _reopened:
    """Statements recorded inside are appended to a block that was closed before."""

    def __init__(self, body: list[Statement]) -> None:
        self.body = body

    def __enter__(self) -> None:
        trace().blocks.append(self.body)

    def __exit__(self, *what: Any) -> None:
        trace().blocks.pop()


def short_circuit(parts: tuple[Callable[[], Any], ...], conjunction: bool) -> Any:
    """`and` / `or`: Python's values, and nothing is evaluated that Python would not evaluate."""
    value = parts[0]()
    if len(parts) == 1:
        return value
    known = truth(value)
    rest = parts[1:]
    if not isinstance(known, Symbol):
        return short_circuit(rest, conjunction) if known == conjunction else value
    if conjunction:
        return choose(
            known, lambda: short_circuit(rest, conjunction), lambda: _as_test(value, False)
        )
    return choose(known, lambda: _as_test(value, True), lambda: short_circuit(rest, conjunction))


def _as_test(value: Any, result: bool) -> Any:
    return result if isinstance(value, Symbol) and value.type.dtype.kind == "b" else value


# -- loops


@dataclass
class Sequence:
    """Something a rolled loop can run over: `count` items, the k-th made by `item`.

    For a range, `span` is (start, stop, step) and items are the indices themselves.
    """

    span: tuple[Atom, Atom, Atom]
    item: Callable[[Any], Any]
    is_range: bool = False

    @property
    def count(self) -> dims.Size:
        start, stop, step = (size_of(a) for a in self.span)
        if step == 1:
            return dims.maximum(stop - start, 0)
        if isinstance(step, int) and step > 1:
            return dims.maximum((stop - start + (step - 1)) // step, 0)
        if isinstance(step, int) and step < 0:
            return dims.maximum((start - stop + (-step - 1)) // -step, 0)
        return dims.symbol("count", 0)


def sequence(iterable: Any) -> Sequence | None:
    """The rolled form of an iterable; None if it can only be run through as Python does."""
    if isinstance(iterable, Sequence):
        return iterable
    if isinstance(iterable, range):
        return Sequence(
            (atom(iterable.start), atom(iterable.stop), atom(iterable.step)), lambda k: k, True
        )
    if isinstance(iterable, Symbol):
        if not iterable.type.shape:
            raise TypeError("iteration over a 0-d array")
        return counted(iterable.type.shape[0], lambda k: iterable[k])
    if isinstance(iterable, StagedList) and iterable.tail is not None:
        arrays = iterable.arrays()
        return counted(arrays[0].type.shape[0], iterable.element)
    return None


def counted(n: dims.Size, item: Callable[[Any], Any]) -> Sequence:
    return Sequence((atom(0), builder.size_atom(n), atom(1)), item)


def for_loop(
    iterable: Any,
    body: Callable[[Any], Any],
    frame: Any,
    stop: str | None,
    name: str,
    retried: bool = False,
) -> None:
    t = trace()
    seq = sequence(iterable)
    concrete = isinstance(iterable, range) or (
        seq is not None
        and isinstance(seq.count, int)
        and all(isinstance(a, Literal) for a in seq.span)
    )
    if seq is None:
        _run_items(
            list(iterable) if not isinstance(iterable, (list, tuple)) else iterable,
            body,
            frame,
            stop,
        )
        return
    key = loop_key(body)
    why = t.decisions.unroll.get(key)
    trips = seq.count if concrete else None
    if why is None and trips != 0 and trips != 1:
        try:
            Roll(seq, body, frame, stop, name, key).run()
            return
        except Plain:
            why = ""
        except Unrollable as e:
            why = str(e)
            if not retried and _runs(seq):
                _peel(seq, body, frame, stop, name, why, key)
                return
    if not concrete:
        _need_count(seq, why or "its length must be known", key)
    if why:
        t.note(f"the loop on line {key[1]} is unrolled: {why}")
    items = (seq.item(_wrapped_index(seq, k)) for k in range(int(trips)))  # type: ignore[arg-type]
    _run_items(items, body, frame, stop)


def _runs(seq: Sequence) -> bool:
    """Whether the loop makes a pass, in this call at least (a guard then says so)."""
    count, t = seq.count, trace()
    if dims.at_least(count, 1):
        return True
    known = t.value(count)
    if known is None or known < 1:
        return False
    t.guard(">=", count, 1)
    return True


def _peel(
    seq: Sequence,
    body: Callable[[Any], Any],
    frame: Any,
    stop: str | None,
    name: str,
    why: str,
    key: Any,
) -> None:
    """The first pass apart from the others, where they differ in types or aliases."""
    trace().note(f"the first pass of the loop on line {key[1]} is apart from the others: {why}")
    start, end, step = seq.span
    following = Sequence((add_atoms(start, step), end, step), seq.item, seq.is_range)
    body(seq.item(wrap(start)))

    def rest() -> None:
        for_loop(following, body, frame, stop, name, retried=True)

    flag = truth(getattr(frame, stop)) if stop else False
    if isinstance(flag, Symbol):
        branch(flag, lambda: None, rest)
    elif not flag:
        rest()


def add_atoms(a: Atom, b: Atom) -> Atom:
    return elementwise.add(a, b)  # type: ignore[no-any-return]


def _wrapped_index(seq: Sequence, k: int) -> int:
    start, _, step = (a.value for a in seq.span)  # type: ignore[union-attr]
    return int(start + k * step)


def _need_count(seq: Sequence, why: str, key: Any) -> None:
    for a in seq.span:
        if isinstance(a, Var):
            raise NeedStatic(
                a,
                f"the loop on line {key[1]} must be unrolled ({why}), so its length must be known",
            )
    raise UnsupportedError(f"the loop on line {key[1]} can be neither rolled nor unrolled: {why}")


def loop_key(body: Any) -> tuple[str, int, str]:
    code = body.__code__
    return (code.co_filename, code.co_firstlineno, code.co_name)


def _run_items(items: Any, body: Callable[[Any], Any], frame: Any, stop: str | None) -> None:
    """Runs a loop as Python does; a data-dependent break makes the later passes conditional."""
    source = iter(items)

    def run() -> None:
        for item in source:
            body(item)
            if stop is None:
                continue
            flag = truth(getattr(frame, stop))
            if isinstance(flag, Symbol):
                branch(flag, lambda: None, run)
                return
            if flag:
                return

    run()


class Plain(Signal):
    """A loop that does nothing with symbols: Python runs it."""


class Aliases:
    """Which arrays the variables of a rolled loop may share memory with at the start of a pass:
    those that they stand for before the loop, and those that a pass leaves in them."""

    def __init__(self) -> None:
        self.began = 0
        self.outer: dict[Any, set[Any]] = {}  # of (location, leaf): cells older than the loop
        self.pairs: set[frozenset[Any]] = set()  # leaves that a pass leaves in the same memory
        self.entered: dict[Any, dict[Any, None]] = {}  # leaves by the memory they have at first
        self.place: dict[Var, Any] = {}
        self.cells: dict[Any, Any] = {}

    def start(self, key: Any, entry: Spec, params: list[Var]) -> None:
        for k, (value, param) in enumerate(zip(_leaf_values(entry), params, strict=True)):
            self.place[param] = (key, k)
            if isinstance(value, Symbol) and value.mutable:
                base = value.base_cell()
                self.outer.setdefault((key, k), set()).add(base)
                mates = self.entered.setdefault(base, {})
                self.pairs |= {frozenset(((key, k), mate)) for mate in mates if mate != (key, k)}
                mates[key, k] = None

    def install(self, param: Var, symbol: Symbol) -> None:
        place = self.place.get(param)
        if place is not None:
            self.cells[place] = symbol.cell
            for cell in self.outer.get(place, ()):
                trace().link(symbol.cell, cell)

    def leave(self, param: Var, out: Var) -> None:
        if param in self.place:
            self.place[out] = self.place[param]

    def link(self) -> None:
        for pair in self.pairs:
            if all(place in self.cells for place in pair):
                trace().link(*(self.cells[place] for place in pair))

    def end(self, finals: dict[Any, Spec]) -> bool:
        """Notes what a pass left; True if that is news."""
        before = sum(map(len, self.outer.values())) + len(self.pairs)
        bases: dict[Any, list[Any]] = {}
        for key, final in finals.items():
            for k, value in enumerate(_leaf_values(final)):
                if (key, k) in self.cells and isinstance(value, Symbol) and value.mutable:
                    base = value.base_cell()
                    bases.setdefault(base, []).append((key, k))
                    near = {base} if base.birth < self.began else trace().links.get(base, set())
                    self.outer.setdefault((key, k), set()).update(
                        c for c in near if c.birth < self.began
                    )
        self.pairs |= {frozenset(pair) for v in bases.values() for pair in combinations(v, 2)}
        return sum(map(len, self.outer.values())) + len(self.pairs) > before


def _leaf_values(spec: Spec) -> Iterator[Any]:
    if spec.kind == "leaf":
        yield spec.value
    for c in spec.children:
        yield from _leaf_values(c)


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
        poisoned, began = dict(t.poisoned), next(t.serials)
        self.aliases.began = began
        overwritten: dict[Any, str] = {}  # in a pass, and so at the start of the next
        for _ in range(12):
            t.poisoned = dict(poisoned)
            entries = self.entries()
            t.poisoned |= overwritten
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
                else _entry_spec(loc, value)
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
            finals = {k: (loc, _final(loc)) for k, (loc, _) in journal.old.items()}
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
        for key, loc in self.locations.items():
            if isinstance(loc, CellLocation) and results[key][0] is not params[key][0]:
                t.written(loc.cell)
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
        from tapeless.transforms.core.rewriting import substitute

        until = not (isinstance(flag, Literal) and not flag.value)
        if self.seq is not None:
            results = (flag, *yields) if until else tuple(yields)
            body = substitute(Block((index, *carries), tuple(statements), results), swap)
            if not _depends_on_program(body, inits, self.seq):
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
            if not _depends_on_program(body, inits, None) and not _depends_on_program(
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


def _entry_spec(loc: Location, value: Any) -> Spec:
    if isinstance(value, ListContents):
        return value.spec()
    return Spec("static", value) if isinstance(value, Diverged) else take_apart(value)


def _same_type(a: Any, b: Any) -> bool:
    if isinstance(a, StackType) or isinstance(b, StackType):
        return bool(a == b)
    return a.dtype == b.dtype and a.shape == b.shape and a.weak == b.weak


def _depends_on_program(block: Block, inits: Any, seq: Sequence | None) -> bool:
    """Whether a loop reads anything that is not known now, or has effects."""
    from tapeless.transforms.core.language import free_variables, statements

    if any(isinstance(a, Var) for a in inits) or free_variables(block):
        return True
    if seq is not None and any(isinstance(a, Var) for a in seq.span):
        return True
    return any(
        isinstance(s, Effect) or (s.outs and getattr(s.outs[0].type, "shape", ()))
        for s in statements(block)
    )


def depends_on(wanted: Atom, params: set[Var]) -> bool:
    seen: set[Var] = set()
    left = [wanted]
    definitions, parents = trace().definitions, trace().parents
    while left:
        a = left.pop()
        if not isinstance(a, Var) or a in seen:
            continue
        seen.add(a)
        if a in params:
            return True
        if a in parents:
            left += parents[a][2]
        elif a in definitions:
            let = definitions[a]
            left += let.args
            if let.op.name == "size_value":
                left += [s.var for s in dims.symbols(let.params["size"]) if s.var is not None]
    return False


def can_be_known(wanted: Atom) -> bool:
    """Whether a value depends on nothing but integer inputs and sizes of inputs."""
    t = trace()
    seen: set[Var] = set()
    left = [wanted]
    while left:
        a = left.pop()
        if not isinstance(a, Var) or a in seen:
            continue
        seen.add(a)
        if a in t.definitions:
            let = t.definitions[a]
            left += let.args
            if let.op.name == "size_value":
                for symbol in dims.symbols(let.params["size"]):
                    if symbol.var is not None:
                        left.append(symbol.var)
                    elif symbol not in t.decisions.homes:
                        return False
        elif a in t.parents:
            left += t.parents[a][2]
        elif (
            a.type.shape
            or a.type.dtype.kind not in "iu"
            or a.size is None
            or not dims.symbols(a.size) & set(t.decisions.homes)
        ):
            return False
    return True


def _writes(test: Callable[[], Any]) -> bool:
    """Whether evaluating a test changes variables, as `while (x := f(x)) > 0` does."""
    t = trace()
    with t.recording() as journal, t.block():
        truth(test())
        found = bool(journal.old)
    t.rollback(journal)
    return found


def _while_by_flag(test: Callable[[], Any], body: Any, frame: Any, key: Any) -> None:
    """while test: body      as      going = test; while going: body; going = test"""
    name = f"going_{key[1]}"
    setattr(frame, name, truth(test()))

    def following() -> None:
        body()
        setattr(frame, name, truth(test()))

    following.__code__ = following.__code__.replace(co_filename=key[0], co_firstlineno=key[1])
    while_loop(lambda: getattr(frame, name), following, frame, None)


def while_loop(test: Any, body: Any, frame: Any, stop: str | None) -> None:
    t = trace()
    key = loop_key(body)
    why = t.decisions.unroll.get(key)

    def condition() -> Any:
        if stop is None:
            return test()
        flag = getattr(frame, stop)
        if isinstance(flag, Symbol):
            return short_circuit((lambda: wrap(elementwise.logical_not(flag.value())), test), True)
        return False if flag else test()

    if why is None:
        try:
            if _writes(condition):
                _while_by_flag(condition, body, frame, key)
                return
            first = truth(condition())
            if not isinstance(first, Symbol) and not first:
                return
            Roll(None, body, frame, None, "", key, condition).run()
            return
        except Plain:
            why = ""
        except Unrollable as e:
            why = str(e)
    if why:
        t.note(f"the loop on line {key[1]} is unrolled: {why}")
    for _ in range(100_000):
        going = truth(condition())
        if isinstance(going, Symbol):
            raise NeedStatic(
                going.value(),
                f"the loop on line {key[1]} must be unrolled ({why}), so its test must be known",
            )
        if not going:
            return
        body()
    raise UnsupportedError(f"the loop on line {key[1]} runs more than 100,000 passes while staging")


__all__ = ["FrameLocation", "Journal"]
