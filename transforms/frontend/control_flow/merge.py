"""Joins what the two arms of a branch leave: the outputs of an `If`."""

from __future__ import annotations

from dataclasses import replace
from difflib import SequenceMatcher
from itertools import combinations
from typing import Any

from tapeless.transforms.core.builder import NeedStatic, atom
from tapeless.transforms.core.language import Atom, Block, If, Literal, StackType, Var, outputs
from tapeless.transforms.errors import StructureError
from tapeless.transforms.frontend.arrays.number_types import record_types
from tapeless.transforms.frontend.arrays.symbols import Symbol, atoms, view_of, wrap
from tapeless.transforms.frontend.control_flow.branch_side import StagedArm, appending_to
from tapeless.transforms.frontend.control_flow.lists_by_branch import align_lists
from tapeless.transforms.frontend.control_flow.optional_values import halves, lacks, optional
from tapeless.transforms.frontend.control_flow.truth import same_meaning, sure, undefined_flag
from tapeless.transforms.frontend.heap.alias_sets import may_overlap
from tapeless.transforms.frontend.heap.coded_constants import ColumnConstants, constants_in
from tapeless.transforms.frontend.heap.list_columns import may_be_list
from tapeless.transforms.frontend.heap.lists import StagedList, from_arrays
from tapeless.transforms.frontend.heap.locations import ContentsLocation
from tapeless.transforms.frontend.heap.references import GuardedRef, by_reference, dummy_value
from tapeless.transforms.frontend.source.tree_building import RESULT
from tapeless.transforms.frontend.trace.cells import CellLocation, MaybeUndefined, Value
from tapeless.transforms.frontend.trace.dependence import can_be_known
from tapeless.transforms.frontend.trace.journals import Location
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import Carrying, Either, fit, has_identity
from tapeless.transforms.frontend.values.container_aliases import mutable, record_aliases
from tapeless.transforms.frontend.values.join import convert, join, join_types
from tapeless.transforms.frontend.values.structure import (
    MISSING,
    Incompatible,
    RowsOf,
    Structure,
    by_identity,
    flatten,
    is_in_stacks,
    is_reference,
    list_of_array,
    rebuild,
    unflatten,
)
from tapeless.transforms.frontend.values.structure_errors import differing, differs
from tapeless.transforms.frontend.values.text import ChosenText, Text
from tapeless.transforms.frontend.values.uneven_contents import FlaggedContents, UnevenContents
from tapeless.transforms.ops.primitives.new_arrays import zeros

#: What happens to a run of items ("equal", ...), and where it begins and ends on each side.
Opcode = tuple[str, int, int, int, int]


def loop_of_arrays(*values: Any) -> Any:
    """The innermost loop, which may decide that an axis of one of these arrays has length one; None
    for arrays that stand for lists."""
    are_lists = any(own_attribute(v, "listing") is not None for v in values)
    return None if are_lists else next(reversed(trace().loops.rolling), None)


class Merge:
    """Builds the outputs of an `If` while the values of both branches are joined."""

    def __init__(self, test: Atom, a: StagedArm, b: StagedArm) -> None:
        self.test, self.a, self.b = test, a, b
        sides = [(a, b), (b, a)]  # what is made on one side, where the other one raises
        self.kept = {v for e, o in sides if o.raised for s in e.body for v in outputs(s)}
        self.outs: list[Var] = []
        self.results: tuple[list[Atom], list[Atom]] = ([], [])
        self.made: dict[tuple[int, int], Any] = {}
        self.carrying: dict[int, Carrying] = {}  # by side
        self.arrays: list[tuple[Any, Any, Any]] = []  # cells of those made, and those of both sides
        self.name = ""  # of the variable that is joined
        self.whole = ""  # of that which has what is joined in it
        self.fresh = False  # whether what is joined is in no variable yet
        self.contents: tuple[Any, ...] = ()
        self.flags: dict[bool, Symbol] = {}
        self.later: list[Any] = []  # what needs the outputs
        self.like: list[Structure] = []  # lives as long as the ids of what is in it are used

    def value(self, x: Structure, y: Structure, location: Location | None) -> Any:
        if self.a.raised or self.b.raised:
            side = int(self.a.raised)
            x = y = self.with_objects(side, (x, y)[side])
        self.fresh = location is None
        # what a container holds, as a container of its own
        self.contents = (x.value, y.value) if isinstance(location, ContentsLocation) else ()
        named = x.kind == "leaf" or (is_in_stacks(x) and len(x.children) == 1)
        name = location.name if location is not None and named else ""
        self.name = name if name != RESULT else ""
        self.whole = getattr(location, "name", "").removeprefix(".") if location else ""
        self.whole = self.whole if self.whole != RESULT else ""
        try:
            if trace().identities and isinstance(location, ContentsLocation):
                contents = self.uneven(x, y, getattr(location.obj, "name", ""))
                if contents is not None:
                    return contents
            for side in (x.value, y.value):
                if isinstance(side, Incompatible):
                    return side
            if not isinstance(location, CellLocation):
                x, y = self.with_like_lists(x, y)
            if isinstance(location, CellLocation):
                assert x.atom is not None
                assert y.atom is not None
                return self.atom(x.atom, y.atom, location.cell)
            if self.may_lack(x, y) or self.may_lack(y, x):
                return self.maybe(x, y, location)
            if getattr(location, "name", "") == RESULT and (
                x.value is MISSING or y.value is MISSING
            ):
                return self.result(*((1, y) if x.value is MISSING else (0, x)))
            codes = self.one_of_constants if trace().decisions.codes else None
            choice = self.one_of if trace().identities else codes
            if not self.contents:
                x, y = self.empty_like(0, x, y), self.empty_like(1, y, x)
            return join(x, y, self.leaf, self.container, self.text, self.absent, choice)
        except StructureError as e:
            if not can_be_known(self.test) and fit(x.value, y.value):
                return Either(wrap(self.test), self.carry(0, x.value), self.carry(1, y.value))
            if location is None:
                self.decide(e.problem, e.hint)
                raise
            what = f"'{location.name}' " if location.name and location.name != RESULT else ""
            origin = trace().origin
            where = f" on line {origin.line}" if origin else ""
            kind = (
                "the results"
                if location.name == RESULT
                else "the values of " + (what or "a variable")
            )
            diverged = Incompatible(
                f"{kind.strip()} after the branches{where} do not fit together: {e.problem}",
                e.hint or Incompatible.hint,
                test=self.test if can_be_known(self.test) else None,
            )
            if isinstance(location, ContentsLocation):
                if isinstance(location.obj, (dict, set)):
                    differs(location.obj, x, y)
                reason = f"{differing(location.obj, x, y, e.problem)}, after the branches{where}"
                raise replace(diverged, reason=reason).refusal() from None
            return diverged

    def decide(self, problem: str, hint: str) -> None:
        """Sides that do not fit together are no trouble if the test can be known while staging."""
        if can_be_known(self.test):
            raise NeedStatic(self.test, problem, hint)

    def atom(self, p: Atom, q: Atom, hint: Any = None, loop: Any = None) -> Atom:
        if (p is q and p not in self.kept) or (
            (isinstance(p, Literal) and p == q) and not (self.a.raised or self.b.raised)
        ):
            return p
        kind = join_types(p.type, q.type, loop=loop)
        out = Var(kind, self.name)
        self.name = ""  # what follows, such as a flag, is no value of the variable
        if not out.name:
            names = [x.name if isinstance(x, Var) else "" for x in (p, q)]
            needs_name = self.fresh and names[0] != names[1]
            out.name = "" if needs_name else names[0] or names[1]
        self.outs.append(out)
        if isinstance(p, Literal) and isinstance(q, Literal) and out.type.dtype.kind == "b":
            same_meaning(self.test, out, when=bool(p.value))
        for side, (ended, value) in enumerate(((self.a, p), (self.b, q))):
            with appending_to(ended.body):
                self.results[side].append(
                    Literal(None, kind) if ended.raised else convert(value, kind)
                )
        record_types(out, [v for v, side in ((p, self.a), (q, self.b)) if not side.raised])
        return out

    def leaf(self, x: Structure, y: Structure) -> Any:
        if x.value is y.value and not (self.a.raised or self.b.raised):
            return x.value
        if is_reference(x):
            return self.reference(x, y)
        key = (id(x.value), id(y.value))
        if key not in self.made:
            assert x.atom is not None
            assert y.atom is not None
            merged = self.atom(x.atom, y.atom, loop=loop_of_arrays(x.value, y.value))
            if isinstance(merged.type, StackType):
                self.made[key] = Symbol(merged)
                return self.made[key]
            symbol = wrap(merged) if isinstance(merged, Var) else merged.value
            if isinstance(symbol, Symbol):
                for source in (x.value, y.value):
                    if isinstance(source, Symbol) and source.mutable:
                        symbol.is_array = True
                        symbol.read_only = symbol.read_only or source.frozen
                        trace().memory.share(symbol.cell, source.memory())
                if symbol.is_array:
                    self.arrays.append((symbol.cell, x.value, y.value))
                symbol.undefined = self.absence(x.value, y.value)
                symbol.listing = list_of_array(x, y)
                for source in (x.value, y.value):
                    may_be_list(symbol, source)
            self.made[key] = symbol
        return self.made[key]

    def container(self, x: Structure, y: Structure, children: Any) -> Any:
        """One that is older than the test stays itself, for what changed in it is joined too."""
        key = (id(x.value), id(y.value))
        if key not in self.made:
            same_object = x.value is y.value
            if (
                same_object
                and not any(x.value is c for c in self.contents)
                and mutable(x.value)
                and not isinstance(x.value, Text)
                and trace().birth(x.value) <= min(self.a.began, self.b.began)
            ):
                self.made[key] = x.value
            elif same_object or is_reference(x) or not mutable(x.value):
                self.made[key] = self.after_the_branch(x, children(), unflatten)
            else:
                rebuilt = self.after_the_branch(x, children(), rebuild)
                if is_in_stacks(y):
                    rebuilt.tail.numbers.update(y.keys[0].tail.numbers)
                self.made[key] = record_aliases(rebuilt, x.value, y.value, event=self)
        return self.made[key]

    def with_like_lists(self, x: Structure, y: Structure) -> tuple[Structure, Structure]:
        """What both sides leave, with lists in stacks on both where they are so on one, or where
        one is longer than the other."""
        moves = trace().decisions.moves_lists and not can_be_known(self.test)
        x, y = align_lists(x, y, (self.a.body, self.b.body), moves)
        self.like += (x, y)
        return x, y

    def empty_like(self, side: int, x: Structure, other: Structure) -> Structure:
        """An empty list on one side, where a loop filled the one on the other side, as such."""
        if not isinstance(x.value, StagedList) or x.keys or x.children:
            return x
        tail = x.value.tail  # a list by identity shows none of its items
        if list.__len__(x.value) or (tail is not None and tail.length != 0):
            return x
        listing = own_attribute(other.value, "listing") if other.kind == "leaf" else None
        rows = other.keys[0] if other.keys and isinstance(other.keys[0], RowsOf) else None
        if (listing is None and rows is None) or any(a.type.ndim != 1 for a in other.leaves()):
            return x
        with appending_to((self.a, self.b)[side].body):
            dtypes = [a.type.dtype for a in other.leaves()]
            columns = [wrap(zeros(shape=(0,), dtype=dtype)) for dtype in dtypes]
            if rows is not None:
                return replace(other, value=x.value, children=tuple(map(flatten, columns)))
            assert listing is not None
            weak = [t.weak for t in listing.items]
            return flatten(from_arrays(listing.spec, columns, weak))

    def after_the_branch(self, x: Structure, children: Any, build: Any) -> Any:
        """A container of values that the branch gives; where it is made by statements, these come
        after the branch."""
        with trace().block() as later:
            built = build(x, children)
        self.later += later
        return built

    def one_of(self, x: Structure, y: Structure) -> Any:
        """One of two containers or objects, told apart when the program runs; None for values."""
        a, b = x.value, y.value
        if not (has_identity(a) or has_identity(b)) or any(a is c or b is c for c in self.contents):
            return None
        if a is b:
            raised = self.a.raised or self.b.raised
            return self.carry(int(self.a.raised), a) if raised else a
        if not all(v is None or has_identity(v) for v in (a, b)):
            return None
        key = (id(a), id(b))
        if key not in self.made:
            self.made[key] = Either(wrap(self.test), self.carry(0, a), self.carry(1, b))
        return self.made[key]

    def one_of_constants(self, x: Structure, y: Structure) -> Any:
        """One of two objects or functions, where lists keep such by number; None for values."""
        a, b = x.value, y.value
        constant = all(spec.kind in ("static", Either) for spec in (x, y))
        if not constant or a is b or not fit(a, b) or can_be_known(self.test):
            return None
        key = (id(a), id(b))
        if key not in self.made:
            numbered = self.told_by_number(a, b)
            self.made[key] = (
                Either(wrap(self.test), self.carry(0, a), self.carry(1, b))
                if numbered is None
                else numbered
            )
        return self.made[key]

    def told_by_number(self, a: Any, b: Any) -> Any:
        """One of more than two objects that are older than the test, told apart by one number;
        None of others."""
        options = {id(c): c for value in (a, b) for c in constants_in(value)}
        began = min(self.a.began, self.b.began)
        if len(options) < 3 or any(trace().birth(c) > began for c in options.values()):
            return None
        column, numbers = ColumnConstants(), []
        for value, ended in ((a, self.a), (b, self.b)):
            with appending_to(ended.body):
                numbers.append(atom(atoms(column.number_of(value))))
        number = wrap(self.atom(*numbers))
        with trace().block() as later:
            selected = column.constant_of(number)
        self.later += later
        return selected

    def by_flags(self, x: Structure, y: Structure) -> FlaggedContents | None:
        """What a list holds that got items on one side; None if it is as long on both."""
        first, second = _items_and_flags(x), _items_and_flags(y)
        if first is None or second is None:
            return None
        plain = not any(isinstance(s.value, FlaggedContents) for s in (x, y))
        if plain and len(first.items) == len(second.items):
            return None
        if self.a.raised or self.b.raised:
            side, contents = (1, second) if self.a.raised else (0, first)
            items = [self.carry(side, item) for item in contents.items]
            flags = [self.only_on(side, flag) for flag in contents.flags]
            return FlaggedContents(tuple(items), tuple(flags))
        items, flags = [], []
        for kind, p, i, q, j in _common_items(first, second):
            if kind == "equal":
                items += first.items[p:i]
                flags += map(self.either_flag, first.flags[p:i], second.flags[q:j])
                continue
            for side, contents, part in ((0, first, slice(p, i)), (1, second, slice(q, j))):
                items += [self.carry(side, item) for item in contents.items[part]]
                flags += [self.only_on(side, flag) for flag in contents.flags[part]]
        return FlaggedContents(tuple(items), tuple(flags))

    def either_flag(self, a: Any, b: Any) -> Any:
        """A truth value that is one on one side and another on the other."""
        if a is b:
            return a
        merged = self.atom(atom(atoms(a)), atom(atoms(b)))
        return wrap(merged) if isinstance(merged, Var) else merged.value

    def only_on(self, side: int, flag: Any) -> Any:
        """A truth value of one side, which is False on the other if that ends."""
        present = atom(atoms(flag))
        other = present if self.a.raised or self.b.raised else atom(False)
        merged = self.atom(*((other, present) if side else (present, other)))
        return wrap(merged) if isinstance(merged, Var) else merged.value

    def uneven(self, x: Structure, y: Structure, name: str) -> Any:
        """What a list of this name holds that is longer on one side; None if it is as long on
        both."""
        raised = self.a.raised or self.b.raised
        by_tests = isinstance(x.value, (UnevenContents, FlaggedContents))
        if x.value is y.value and by_tests and not raised:
            return x.value
        if not trace().decisions.lengths:
            return self.by_flags(x, y)
        first, second = _items_and_lengths(x), _items_and_lengths(y)
        if first is None or second is None:
            return None
        possible = first.lengths | second.lengths
        if len(possible) == 1:
            return None
        sides: list[list[Structure]] = []
        lengths: list[Atom] = []
        for contents, ended in ((first, self.a), (second, self.b)):
            with appending_to(ended.body):
                sides.append([by_reference(by_identity(v)) for v in contents.items])
                lengths.append(atom(atoms(contents.length)))
        pairs = zip(*sides, strict=False)
        parts = (self.leaf, self.container, self.text, self.absent, self.one_of)
        common = [join(p, q, *parts) for p, q in pairs]
        longer = int(len(sides[1]) > len(sides[0]))
        rest = [self.carry(longer, spec.value) for spec in sides[longer][len(common) :]]
        self.name = f"{name}_length" if name else ""
        return UnevenContents((*common, *rest), wrap(self.atom(*lengths)), possible)

    def absence(self, x: Any, y: Any) -> MaybeUndefined | None:
        """What is joined may be missing where one of the sides may."""
        sides = [self.absence_on(side, v) for side, v in enumerate((x, y))]
        absences = [a for a in sides if a is not None]
        if any(a.none for a in absences):
            sides = [a if a is None or a.none or a.name != RESULT else None for a in sides]
            absences = [a for a in sides if a is not None]
        if not absences:
            return None
        flags = [atom(True) if a is None or a.flag is None else a.flag for a in sides]
        return absences[0]._replace(flag=self.atom(*flags), none=same_kind(absences))

    def absence_on(self, side: int, value: Any) -> MaybeUndefined | None:
        """What is the matter with a value on one side, unless the test says that nothing is."""
        flag = undefined_flag(value)
        return None if flag is None or flag in sure(self.test, not side) else value.undefined

    def text(self, x: Structure, y: Structure) -> Any:
        """The string of the side that is taken."""
        if x.kind == "static" and y.kind == "static" and x.value == y.value:
            return x.value
        return ChosenText(wrap(self.test), self.export_text(x, 0), self.export_text(y, 1))

    def export_text(self, x: Structure, side: int) -> Any:
        """A text chosen inside of a branch, as one that is known after it."""
        if x.kind == "static":
            return x.value
        test = x.children[0].atom
        assert test is not None
        exported = self.one_sided(side, test)
        parts = [self.export_text(c, side) for c in x.children[1:]]
        same = exported is test and [*map(id, parts)] == [id(c.value) for c in x.children[1:]]
        return x.value if same else ChosenText(wrap(exported), *parts)

    def reference(self, x: Structure, y: Structure) -> Any:
        """An array that is one on one side and another on the other."""
        if self.a.raised or self.b.raised:
            return self.export_array(int(self.a.raised), x.value)
        return self.choice(
            self.test, (self.export_array(0, x.value), self.export_array(1, y.value))
        )

    def choice(
        self, test: Atom, options: tuple[Symbol, Symbol], number: int | None = None
    ) -> GuardedRef:
        """One of two arrays; what says how long it is comes after the branch."""
        with trace().block() as later:
            reference = GuardedRef(test, options, number)
        self.later += later
        return reference

    def export_array(self, side: int, value: Value) -> Symbol:
        """An array of one side as it is known after the branch."""
        if (side, id(value)) not in self.made:
            self.made[side, id(value)] = exported = self.carried_out(side, value)
            may_be_list(exported, value)
        return self.made[side, id(value)]  # type: ignore[no-any-return]

    def carry(self, side: int, value: Any) -> Any:
        """A function or object of one side as it is known after the branch. What several of them
        hold is carried once."""
        ended = (self.a, self.b)[side]

        def leaf(symbol: Symbol) -> Any:
            carried = symbol_of_side(symbol)
            if carried is not symbol and symbol.undefined is not None:
                flag = symbol.undefined.flag
                flag = None if flag is None else self.one_sided(side, flag)
                carried.undefined = symbol.undefined._replace(flag=flag)
            return carried

        def symbol_of_side(symbol: Symbol) -> Any:
            if isinstance(symbol.type, StackType):
                return Symbol(self.one_sided(side, symbol.value()))
            if symbol.mutable:
                return self.export_array(side, symbol)
            if symbol.cell is not None and symbol.cell.birth <= ended.began:
                return symbol
            with appending_to(ended.body):
                spec = flatten(symbol)
            may_be_stored = trace().identities or symbol.type.dtype.kind == "b"
            if may_be_stored and spec.atom is not None:  # in a list that moves into a stack later
                return wrap(self.one_sided(side, spec.atom))
            return self.known_on(side, spec)

        if side not in self.carrying:
            self.carrying[side] = Carrying(ended.began, leaf)
        return self.carrying[side].value(value)

    def with_objects(self, side: int, spec: Structure) -> Structure:
        """A value of one side, where the other raises, with its objects and functions as they are
        known after the branch."""
        if spec.kind == "static":
            carried = self.carry(side, spec.value)
            return spec if carried is spec.value else replace(spec, value=carried)
        children = tuple(self.with_objects(side, c) for c in spec.children)
        same = all(c is d for c, d in zip(children, spec.children, strict=True))
        return spec if same else replace(spec, children=children)

    def carried_out(self, side: int, value: Value) -> Value:
        if isinstance(value, GuardedRef):
            test = self.one_sided(side, value.test)
            a, b = (self.export_array(side, o) for o in value.options)
            return self.choice(test, (a, b), value.number)
        if value.parent is not None:
            root = self.export_array(side, value.parent)
            chain = tuple(
                (op, tuple(self.one_sided(side, a) for a in rest), params)
                for op, rest, params in value.chain
            )
            return view_of(root, chain, value.type)
        assert value.cell is not None
        ended = (self.a, self.b)[side]
        if value.cell.birth <= ended.began:
            return value
        exported = Symbol(self.one_sided(side, value.cell.atom), is_array=True)
        trace().memory.share(exported.cell, value.memory())
        if value.cell in ended.stale:  # a stale one stays so
            ended.stale[exported.cell] = ended.stale[value.cell]
        exported.read_only = value.read_only
        return exported

    def one_sided(self, side: int, value: Atom) -> Atom:
        """A value of one side, which is not looked at on the other."""
        inner = {v for s in (self.a, self.b)[side].body for v in outputs(s)}
        if value not in inner:
            return value
        other: Atom
        if isinstance(value.type, StackType):
            other = Literal(None, value.type)
        else:
            with appending_to((self.b, self.a)[side].body):
                other = dummy_value(value.type)
        return self.atom(*((value, other) if side == 0 else (other, value)))

    def may_lack(self, x: Structure, y: Structure) -> bool:
        """Whether a variable has a value on the side of `y` only, told apart by run-time values."""
        if x.value is None and can_be_known(self.test):
            return False
        return is_absent(x) and (y.kind == "leaf" or is_reference(y))

    def absent(self, x: Structure, y: Structure) -> Any:
        """What is None on one side, or may be; None for what cannot be."""
        if can_be_known(self.test):
            return None
        if self.may_lack(x, y) or self.may_lack(y, x):
            return self.maybe(x, y, None, self.whole)
        if not lacks(x, y):
            return None
        (p, missing), (q, other) = halves(x), halves(y)
        flag = self.atom(p, q)
        if missing is None or other is None:
            side, present_side = (1, other) if missing is None else (0, missing)
            assert present_side is not None  # else both are None
            value = self.result(side, present_side)
        else:
            value = join(missing, other, self.leaf, self.container, self.text, self.absent)
        return optional(value, flag)

    def maybe(
        self, x: Structure, y: Structure, location: Location | None, full_structure: str = ""
    ) -> Any:
        """A variable that only one branch sets, or that is None on the other: using it where it has
        no value raises at run time. `whole` is the variable that it is in."""
        missing_then = is_absent(x)
        present = y if missing_then else x
        symbol = self.known_on(int(missing_then), present)
        none = (x if missing_then else y).value is None
        name = location.name if location and not (none and location.name == RESULT) else ""
        flag = self.flag(not missing_then).value()
        name, owner = name or full_structure or "the result", location.owner if location else ""
        absent = MaybeUndefined(name, flag, none, trace().origin, owner)
        before = self.absence_on(int(missing_then), present.value)
        if before is not None and not (none and before.name == RESULT):
            same_kind([absent, before])
            sides = (atom(False), before.flag) if missing_then else (before.flag, atom(False))
            absent = absent._replace(flag=self.atom(*sides))
        symbol.undefined = absent
        return symbol

    def known_on(self, side: int, defined: Structure) -> Any:
        """The value of a variable that is set on one side only."""
        if is_reference(defined):
            return view_of(self.export_array(side, defined.value), (), defined.value.type)
        assert defined.atom is not None
        dead = Literal(None, defined.atom.type)
        symbol = wrap(self.atom(*((dead, defined.atom) if side else (defined.atom, dead))))
        if isinstance(defined.value, Symbol) and defined.value.mutable:
            symbol.is_array, symbol.read_only = True, defined.value.frozen
            trace().memory.share(symbol.cell, defined.value.memory())
            symbol.listing = defined.value.listing
            may_be_list(symbol, defined.value)
        return symbol

    def result(self, side: int, defined: Structure) -> Any:
        """What one side returns; the other side goes on, and sets a result later."""
        if defined.kind == "leaf" or is_reference(defined):
            value, absence = self.known_on(side, defined), self.absence_on(side, defined.value)
            if absence is not None and absence.flag is not None:
                flags = (atom(True), absence.flag) if side else (absence.flag, atom(True))
                value.undefined = absence._replace(flag=self.atom(*flags))
            return value
        if defined.kind == "static":
            return self.carry(side, defined.value)
        copied = unflatten(defined, [self.result(side, c) for c in defined.children])
        return copied if copied is defined.value else record_aliases(copied, defined.value)

    def flag(self, when_then: bool) -> Symbol:
        if when_then not in self.flags:
            self.flags[when_then] = wrap(self.atom(atom(when_then), atom(not when_then)))
        return self.flags[when_then]

    def keep_apart(self) -> None:
        """Arrays that are apart on both sides are so after the branch."""
        t = trace()
        cells = [(array, _cell(a), _cell(b)) for array, a, b in self.arrays]
        for array, a, b in cells:
            for c in t.memory.apart.get(a, set()) | t.memory.apart.get(b, set()):
                if c is not array and t.memory.are_apart(a, c) and t.memory.are_apart(b, c):
                    t.memory.keep_apart(array, c)
        for (first, a, b), (other, c, d) in combinations(self.arrays, 2):
            if not (_may_overlap(a, c) or _may_overlap(b, d)):
                t.memory.keep_apart(first, other)

    def emit(self, origin: Any) -> None:
        self.keep_apart()
        t = trace()
        blocks = [
            Block((), tuple(e.body), tuple(r))
            for e, r in zip((self.a, self.b), self.results, strict=True)
        ]
        t.emit(If(tuple(self.outs), self.test, blocks[0], blocks[1], None, origin))
        for s in self.later:
            t.emit(s)
        for out, p, q in zip(self.outs, *self.results, strict=True):
            t.parents[out] = ("if", None, (self.test, p, q))


def _items_and_flags(contents: Structure) -> FlaggedContents | None:
    """The items of a list, and which are there; None of one that loops filled."""
    if isinstance(contents.value, FlaggedContents):
        return contents.value
    if contents.kind is not tuple or contents.keys[0] != id(None):
        return None
    return FlaggedContents(contents.value, (True,) * len(contents.value))


def _common_items(a: FlaggedContents, b: FlaggedContents) -> list[Opcode]:
    """Which runs of items two sides have in common, and what is between these."""
    first, second = [*map(id, a.items)], [*map(id, b.items)]
    return [*SequenceMatcher(None, first, second, autojunk=False).get_opcodes()]


def _items_and_lengths(contents: Structure) -> UnevenContents | None:
    """The items of a list, and how many there may be; None of one that loops filled."""
    if isinstance(contents.value, UnevenContents):
        return contents.value
    if contents.kind is not tuple or contents.keys[0] != id(None):
        return None
    n = len(contents.value)
    return UnevenContents(contents.value, n, frozenset({n}))


def _may_overlap(a: Any, b: Any) -> bool:
    both = isinstance(a, Symbol) and isinstance(b, Symbol)
    return both and may_overlap(a, b)


def _cell(value: Any) -> Any:
    """The cell that an array is in, or a part of; None for what is none."""
    if not isinstance(value, Symbol):
        return None
    return value.cell if value.parent is None else _cell(value.parent)


def is_absent(spec: Structure) -> bool:
    return spec.kind == "static" and (spec.value is None or spec.value is MISSING)


def same_kind(absences: list[MaybeUndefined]) -> bool:
    """Whether what is missing is None; StructureError if it is None here and unset there."""
    if len({a.none for a in absences}) > 1:
        raise StructureError(f"'{absences[0].name}' may be unset or None", "set it before")
    return absences[0].none
