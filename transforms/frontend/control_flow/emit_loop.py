"""Emits a `For` or `While` from the staged pass that stands for every pass; its carried variables
become results.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any

import numpy as np

from tapeless.transforms.analysis.free_variables import defined_variables
from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    While,
    free_variables,
    is_undefined,
)
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.core.substitution import retype, substitute
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import Signal
from tapeless.transforms.frontend.arrays.number_types import record_types
from tapeless.transforms.frontend.arrays.symbols import Symbol, view_of, wrap
from tapeless.transforms.frontend.control_flow.loop_ranges import Sequence
from tapeless.transforms.frontend.control_flow.truth import may_be_none
from tapeless.transforms.frontend.heap.alias_sets import Aliases
from tapeless.transforms.frontend.heap.list_columns import may_be_list
from tapeless.transforms.frontend.heap.locations import ContentsLocation
from tapeless.transforms.frontend.source.tree_building import RESULT
from tapeless.transforms.frontend.trace.cells import CellLocation, MaybeUndefined
from tapeless.transforms.frontend.trace.dependence import depends_on_program
from tapeless.transforms.frontend.trace.journals import Location
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.attribute_names import attributes, is_record
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.container_aliases import LoopAliases
from tapeless.transforms.frontend.values.join import convert
from tapeless.transforms.frontend.values.structure import (
    MISSING,
    Incompatible,
    Structure,
    loop_copy_of,
    suggested_name,
)

BOOL = Type(np.dtype(bool), (), True)


class NothingSymbolic(Signal):
    """A loop that does nothing with symbols: Python runs it."""


@dataclass
class StagedPass:
    """One pass as it was staged: what it began with and, by location, what it left."""

    entries: dict[Any, Structure]
    params: dict[Any, list[Var]]
    index: Var
    statements: list[Statement] = field(default_factory=list)
    test: tuple[list[Statement], Atom] | None = None  # of a while loop
    flag: Atom | None = None  # whether the loop breaks off after this pass
    finals: dict[Any, tuple[Location, Structure]] = field(default_factory=dict)
    results: dict[Any, list[Atom]] = field(default_factory=dict)

    def final(self, key: Any) -> Structure:
        return self.finals[key][1] if key in self.finals else self.entries[key]


class LoopEmitter:
    """Collects what goes from pass to pass, emits the loop and sets the variables."""

    def __init__(
        self, seq: Sequence | None, staged: StagedPass, aliases: Aliases, standing: LoopAliases
    ) -> None:
        self.seq, self.staged, self.aliases, self.standing = seq, staged, aliases, standing
        self.carries: list[Var] = []
        self.inits: list[Atom] = []
        self.yields: list[Atom] = []
        self.outs: list[Var] = []
        self.unchanged: dict[Var, Atom] = {}
        self.after: list[tuple[Location, Any]] = []
        self.later: list[Statement] = []  # of what depends on the results
        self.certain = seq is not None and dims.at_least(seq.count, 1)
        self.ran: Var | None = None
        self.kept = False  # a loop although it does nothing with symbols

    def collect(self, locations: dict[Any, Location], loop: Any) -> None:
        for key, loc in locations.items():
            if self.staged.entries[key].value is MISSING:
                final = self.staged.final(key).value
                if isinstance(final, Either) and final.may_be(MISSING):
                    why = f"'{loc.name}' gets an object in some passes only, and is read later"
                    self.after.append((loc, Incompatible(why, loop=loop)))
                    continue
                self.collect_new(key, loc)
            else:
                self.collect_carried(key, loc)

    def collect_new(self, key: Any, loc: Location) -> None:
        """A variable that the loop makes: its value is that of the last pass."""
        final, news = self.staged.final(key), self.staged.results[key]
        if not news:
            self.after.append((loc, self.after_a_pass(loc, final.value)))
            return
        ran = None if self.certain else self.did_run()
        alone = final.kind == "leaf"
        variables = [
            Var(self.final_type(a.type), suggested_name(loc.name, a, alone=alone)) for a in news
        ]
        for new, out in zip(news, variables, strict=True):
            param = Var(self.final_type(new.type), out.name)  # of the pass before: of other sizes
            self.carry(param, Literal(None, param.type), new, out)
        with trace().block() as statements:
            value = self.fill(final, iter(variables))
        self.later += statements
        if isinstance(value, Symbol) and value is final.value and ran is not None:
            value = view_of(value, (), value.type)
        if ran is not None and any(map(may_be_none, _symbols(value))):
            value = self.after_a_pass(loc, value)
        elif ran is not None:
            for leaf in _symbols(value):
                leaf.undefined = MaybeUndefined(loc.name, ran, owner=loc.owner)
            if _has_tail(value):
                value = self.after_a_pass(loc, value)
        self.after.append((loc, value))

    def after_a_pass(self, loc: Location, value: Any) -> Any:
        """What cannot say itself, when the program runs, whether it was set by a pass."""
        if value is MISSING or isinstance(value, Incompatible) or loc.name == RESULT:
            return value  # a result is looked at where a flag says that there is one
        passes = self.passes()
        if passes is None:
            return Incompatible(
                f"'{loc.name}' is set only if the loop makes a pass", "set it before the loop"
            )
        return value if passes else MISSING

    def passes(self) -> bool | None:
        """Whether the loop makes a pass, in this call; None if run-time values say so."""
        if self.certain or self.seq is None:
            return self.certain or None
        passes = trace().value(self.seq.count)
        if passes is not None:
            trace().guard(">=" if passes else "==", self.seq.count, 1 if passes else 0)
        return passes if passes is None else bool(passes)

    def collect_carried(self, key: Any, loc: Location) -> None:
        """A variable that is there before the loop."""
        entry, news = self.staged.entries[key], self.staged.results[key]
        variables: list[Var | None] = []
        for k, (leaf, param) in enumerate(
            zip(entry.leaves(), self.staged.params[key], strict=True)
        ):
            if news[k] is param:  # not changed by the loop
                variables.append(None)
                self.unchanged[param] = leaf
                continue
            out = Var(self.final_type(param.type), param.name)
            self.aliases.leave(param, out)
            self.carry(param, convert(leaf, param.type), news[k], out)
            record_types(out, (news[k],) if self.certain else (leaf, news[k]))
            variables.append(out)
        with trace().block() as statements:
            value = self.value_after(loc, entry, iter(variables))
        self.later += statements
        final_value = self.staged.final(key).value
        if (
            self.standing.certain(entry.value, final_value)
            and (passes := self.passes()) is not None
        ):
            value = final_value if passes else entry.value
        self.after.append((loc, value))

    def carry(self, param: Var, init: Atom, new: Atom, out: Var) -> None:
        self.carries.append(param)
        self.inits.append(init)
        self.yields.append(new)
        self.outs.append(out)
        trace().loops.flows[out] = (new,) if is_undefined(init) else (init, new)

    def final_type(self, t: Any) -> Any:
        """The type in the next pass, and after the loop, of a value whose sizes differ from pass to
        pass: they get names of their own."""
        if isinstance(t, StackType):
            return t
        shape = [self.final_size(n) if self.of_a_pass(n) else n for n in t.shape]
        return Type(t.dtype, tuple(shape), t.weak)

    def final_size(self, size: dims.Size) -> dims.Size:
        final = dims.symbol("n", 0)
        trace().may_be_one(final, size)
        return final

    def of_a_pass(self, size: dims.Size) -> bool:
        """Whether a size may differ from pass to pass."""
        return any(
            x not in trace().hints and x not in self.sizes_before
            if x.var is None
            else x.var in self.variables_of_pass
            for x in dims.symbols(size)
        )

    @functools.cached_property
    def sizes_before(self) -> set[dims.Symbol]:
        """The sizes that there are before the loop."""
        params = {p for row in self.staged.params.values() for p in row}
        tests = self.staged.test[0] if self.staged.test else []
        read = free_variables(Block((), (*tests, *self.staged.statements), ()))
        before = [a for spec in self.staged.entries.values() for a in spec.leaves()]
        return set(sizes_in([a.type for a in (*before, *read) if a not in params]))

    @functools.cached_property
    def variables_of_pass(self) -> set[Var]:
        """The variables that each pass gives a value."""
        variables = {
            self.staged.index,
            *defined_variables(Block((), tuple(self.staged.statements), ())),
        }
        for key, params in self.staged.params.items():
            pairs = zip(params, self.staged.results[key], strict=False)
            variables |= {p for p, final_value in pairs if final_value is not p}
        return variables

    def did_run(self) -> Var:
        """A carry that says whether the loop made a pass."""
        if self.ran is None:
            self.ran = Var(BOOL, "ran")
            self.carry(Var(BOOL, "ran"), atom(False), atom(True), self.ran)
        return self.ran

    def value_after(self, loc: Location, entry: Structure, outputs: Iterator[Var | None]) -> Any:
        if isinstance(loc, CellLocation):
            out = next(outputs)
            return entry.atom if out is None else out
        if isinstance(loc, ContentsLocation) and isinstance(loc.obj, list):
            return tuple(self.fill(c, outputs) for c in entry.children)
        return self.fill(entry, outputs)

    def fill(self, spec: Structure, outputs: Iterator[Var | None]) -> Any:
        if spec.kind == "leaf":
            out = next(outputs)
            if out is None:
                may_be_list(spec.value, spec.value)
                return spec.value
            value = wrap(out)
            if isinstance(value, Symbol) and isinstance(spec.value, Symbol) and spec.value.mutable:
                value.is_array, value.listing = True, spec.value.listing
                may_be_list(value, spec.value)
                self.aliases.settle(out, value, spec.value, self.certain)
            return value
        if spec.kind == "static":
            return spec.value
        return loop_copy_of(spec, [self.fill(c, outputs) for c in spec.children], self.standing)

    def emit(self, key: Any) -> None:
        t = trace()
        self.kept = key in t.decisions.kept
        sources = self.emit_while() if self.seq is None else self.emit_for(self.seq)
        for out, result in zip(self.outs, self.yields, strict=True):
            t.parents[out] = ("loop", key, (*sources, result))

    def emit_for(self, seq: Sequence) -> tuple[Atom, ...]:
        t, flag = trace(), self.staged.flag
        assert flag is not None
        until = not (isinstance(flag, Literal) and not flag.value)
        results = (flag, *self.yields) if until else tuple(self.yields)
        body = self.block((self.staged.index, *self.carries), self.staged.statements, results)
        if not (self.kept or depends_on_program(body, self.inits, seq)):
            raise NothingSymbolic
        count = Var(INT, "count") if until else None
        t.emit(
            For(
                tuple(self.outs),
                *seq.span,
                tuple(self.inits),
                body,
                until=until,
                count=count,
                origin=t.origin,
            )
        )
        return (*seq.span, *self.inits)

    def emit_while(self) -> tuple[Atom, ...]:
        t = trace()
        assert self.staged.test is not None
        statements, going = self.staged.test
        test = self.block(tuple(self.carries), statements, (going,))
        body = self.block(tuple(self.carries), self.staged.statements, tuple(self.yields))
        idle = not any(depends_on_program(b, self.inits, None) for b in (body, test))
        if idle and not self.kept:
            raise NothingSymbolic
        fresh = {c: Var(c.type, c.name) for c in self.carries}
        test = substitute(Block(tuple(fresh.values()), test.body, test.results), fresh)
        t.emit(While(tuple(self.outs), tuple(self.inits), test, body, t.origin))
        return tuple(self.inits)

    def block(
        self, params: tuple[Var, ...], statements: list[Statement], results: tuple[Atom, ...]
    ) -> Block:
        block = Block(params, tuple(statements), results)
        sizes = {v: a for v, a in self.unchanged.items() if v.size is not None}
        if sizes:  # types name what is one value in all passes
            for v in (*params, *defined_variables(block), *self.outs):
                v.type = retype(v.type, sizes)
        return substitute(block, self.unchanged)

    def set_variables(self) -> None:
        for s in self.later:
            trace().emit(s)
        t = trace()
        for loc, new in self.after:
            t.touch(loc)
            loc.set(new)


def _has_tail(value: Any) -> bool:
    """Whether there is a list whose length run-time values decide in a value."""
    return own_attribute(value, "tail") is not None or any(map(_has_tail, _members(value)))


def _symbols(value: Any) -> Iterator[Symbol]:
    """The symbols that a value is made of, but those of lists of run-time length."""
    if isinstance(value, Symbol):
        yield value
    elif own_attribute(value, "tail") is None:
        for child in _members(value):
            yield from _symbols(child)


def _members(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    if is_record(value):
        return [getattr(value, name) for name in attributes(value)]
    return value if isinstance(value, (list, tuple)) else ()
