"""Represents array variables as references: which memory they stand for, told apart while the
program runs.

Branches and loops carry arrays as values. Where that cannot say what a store changes, the program
is staged again, and they carry which of several arrays a variable stands for, and where in it:

    y = a if test else b          y is a choice: y[0] = 1 stores to `a` or to `b`
    for row in a: last = row      last is a[k], with k carried on
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, atom_of_size, size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Block, If, Literal, Statement, Type, Var
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import AliasError
from tapeless.transforms.frontend.arrays.symbols import Symbol, atoms, view_of, wrap
from tapeless.transforms.frontend.trace.cells import Value
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.join import convert, join_types
from tapeless.transforms.frontend.values.structure import Reference, Structure, is_reference
from tapeless.transforms.ops.numpy import indexing
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal
from tapeless.transforms.ops.primitives.new_arrays import zero

MOST = 32  # arrays of which a variable may be one; each use of it is a test for each


class GuardedRef(Symbol):
    """One of two arrays: the first if `test` holds. With a number, `test` is whether the integer
    `test` is that number."""

    __slots__ = ("count", "number", "options", "test")

    def __init__(self, test: Atom, options: tuple[Value, Value], number: int | None = None) -> None:
        self.count = sum(getattr(o, "count", 1) for o in options)
        if self.count > MOST:
            raise AliasError(
                f"an array is one of more than {MOST}, as tests on data say",
                "copy the array where it gets its second name",
            )
        first, second = (o.type for o in options)
        kind: Any = join_types(first, second)
        super().__init__(None, is_array=True, kind=kind)
        self.test, self.options, self.number = test, options, number
        lengths = zip(kind.shape, first.shape, second.shape, strict=True)
        shape = tuple(n if n in (a, b) else self.length(a, b) for n, a, b in lengths)
        self.kind = Type(kind.dtype, shape, kind.weak)

    def length(self, first: Size, second: Size) -> Size:
        """That of an axis which is not as long in both."""
        sides = [lambda n=n: [atom_of_size(n)] for n in (first, second)]
        return size_of(choose_atoms(self.holds(), *sides)[0])

    def holds(self) -> Atom:
        return self.test if self.number is None else equal(self.test, atom(self.number))

    def memory(self) -> set[Any]:
        return set().union(*(o.memory() for o in self.options))

    @property
    def frozen(self) -> bool:
        return any(o.frozen for o in self.options)

    def present(self) -> Atom:
        return choose_atoms(self.holds(), *(lambda o=o: [o.present()] for o in self.options))[0]

    def write(self, new: Atom) -> None:
        t = trace()
        sides = []
        for option in self.options:
            with t.recording() as journal, t.block() as body:
                option.write(new)
                after = {k: (loc, loc.get()) for k, (loc, _) in journal.old.items()}
            t.rollback(journal)
            sides.append((body, after))
        places = {k: loc for _, after in sides for k, (loc, _) in after.items()}
        results = [
            [after[k][1] if k in after else loc.get() for k, loc in places.items()]
            for _, after in sides
        ]
        outs = emit_if(self.holds(), [body for body, _ in sides], results)
        for loc, out in zip(places.values(), outs, strict=True):
            t.touch(loc)
            loc.set(out)


def choose_atoms(test: Atom, *sides: Callable[[], list[Atom]]) -> list[Atom]:
    """What the first side gives if `test` holds, else the second."""
    t = trace()
    if isinstance(test, Literal):
        return sides[0 if test.value else 1]()
    bodies, results = [], []
    for side in sides:
        with t.block() as body:
            results.append(side())
        bodies.append(body)
    return emit_if(test, bodies, results)


def emit_if(test: Atom, bodies: list[list[Statement]], results: list[list[Atom]]) -> list[Atom]:
    t = trace()
    outs = []
    for k, (p, q) in enumerate(zip(*results, strict=True)):
        kind = join_types(p.type, q.type)
        for body, side in zip(bodies, results, strict=True):
            t.blocks.append(body)
            side[k] = convert(side[k], kind)
            t.blocks.pop()
        name = next((a.name for a in (p, q) if isinstance(a, Var) and a.name), "")
        outs.append(Var(kind, name))
        t.parents[outs[-1]] = ("if", None, (test, results[0][k], results[1][k]))
    blocks = [Block((), tuple(b), tuple(r)) for b, r in zip(bodies, results, strict=True)]
    t.emit(If(tuple(outs), test, blocks[0], blocks[1], None, t.origin))
    return [*outs]


def dummy_value(kind: Type) -> Atom:
    """A value that is never looked at."""
    hints = trace().hints
    if any(s not in hints for n in kind.shape for s in dims.symbols(n)):
        raise AliasError(
            "an array whose size is known only in a branch or loop is one of several that a "
            "variable may stand for",
            "copy the array where it gets its second name",
        )
    return zero(kind)


# -- parts of one array


class ViewRef(Reference):
    """A part of an array in a cell, or all of it; the positions are the leaves."""

    @staticmethod
    def build(spec: Structure, children: list[Any]) -> Symbol:
        template, leaves = spec.keys[1], iter(children)
        steps = tuple(
            (op, tuple(atom(atoms(next(leaves))) for _ in range(n)), params)
            for op, n, params in template
        )
        return view_of(root_of(spec.value), steps, spec.value.type)


def root_of(value: Value) -> Value:
    return value if value.parent is None else value.parent


def part(value: Symbol) -> Structure:
    """A reference as a spec: references to the same part of the same cell have the same keys."""
    root = root_of(value)
    if isinstance(root, GuardedRef):
        return Structure(ViewRef, value, (id(value), ()))
    steps = [_general(step) for step in value.chain]
    template = tuple((op, len(rest), params) for op, rest, params in steps)
    positions = [Structure("leaf", wrap(a), atom=a) for _, rest, _ in steps for a in rest]
    return Structure(ViewRef, value, (root.cell, template), tuple(positions))


def _general(step: Any) -> Any:
    """An index step whose integers are arguments."""
    op, rest, params = step
    if op is not indexing.index:
        return step
    atoms: list[Atom] = []

    def move_slot(e: Any) -> Any:
        if isinstance(e, slice):
            bounds = (e.start, e.stop, e.step)
            return slice(*(move_slot(b) if isinstance(b, indexing.Slot) else b for b in bounds))
        if e is None:
            return e
        atoms.append(rest[e.k] if isinstance(e, indexing.Slot) else atom(e))
        return indexing.Slot(len(atoms) - 1)

    key = tuple(map(move_slot, params["key"]))
    return op, tuple(atoms), {"key": key}


def by_reference(spec: Structure) -> Structure:
    """The spec with references in the place of arrays; not of those that stand for lists, which are
    arrays of what a list held when it was looked at."""
    if spec.kind == "leaf":
        value = spec.value
        array = isinstance(value, Symbol) and value.mutable and value.listing is None
        return part(value) if array and not value.undefined else spec
    return replace(spec, children=tuple(map(by_reference, spec.children)))


def by_value(spec: Structure) -> Structure:
    """A reference as an array of its own."""
    return Structure("leaf", spec.value, atom=spec.value.present())


def references(spec: Structure) -> Iterator[Structure]:
    if is_reference(spec):
        yield spec
        return
    for c in spec.children:
        yield from references(c)


def with_references(spec: Structure, new: Iterator[Structure]) -> Structure:
    """The spec with other references."""
    if is_reference(spec):
        return next(new)
    return replace(spec, children=tuple(with_references(c, new) for c in spec.children))


# -- one of several, told by a number


@dataclass(frozen=True, eq=False)
class MixedSpec(Structure):
    parts: tuple[Structure, ...] = ()


class IndexedRef(Reference):
    """A number, an array of its own (if the number can be that of none), positions in the parts."""

    @staticmethod
    def build(spec: Structure, children: list[Any]) -> Symbol:
        assert isinstance(spec, MixedSpec)
        leaves = iter(children)
        number = atom(atoms(next(leaves)))
        last: list[Symbol] = [next(leaves)] if spec.keys[0] is not None else []
        options = [ViewRef.build(p, [next(leaves) for _ in p.children]) for p in spec.parts]
        *others, value = options + last
        for k, option in reversed([*enumerate(others)]):
            value = GuardedRef(number, (option, value), k)
        return value


@dataclass
class RefTargets:
    """What a variable of a loop stands for: one of the parts of arrays that are older than the
    loop, or an array of its own."""

    parts: list[Structure]
    own: Type | None = None
    lengths: set[Size] = field(default_factory=set)  # of `own`, that differ from pass to pass

    def add(self, value: Symbol, began: int) -> bool:
        """Makes room for a reference; True if there was none."""
        if isinstance(root_of(value), GuardedRef):
            options = [self.add(o, began) for o in options_of(value)]
            return any(options)
        spec = part(value)
        if spec.keys[0].birth < began:
            if self.find(spec) is not None:
                return False
            self.parts.append(spec)
            return True
        before = self.own
        self.own = value.type if before is None else join_types(before, value.type, self.lengths)  # type: ignore[assignment]
        return self.own != before

    def find(self, spec: Structure) -> int | None:
        return next((k for k, p in enumerate(self.parts) if p.keys == spec.keys), None)

    def spec(self, value: Symbol) -> Structure:
        """A reference as a number, an array of its own, and the positions in all parts."""
        atoms = self.express(value)
        leaves = [Structure("leaf", wrap(a), atom=a) for a in atoms]
        if self.own is not None:
            own = Symbol(atoms[1], is_array=True)
            trace().memory.share(own.cell, value.memory() - {p.keys[0] for p in self.parts})
            leaves[1] = Structure("leaf", own, atom=atoms[1])
        keys = (self.own, *(p.keys for p in self.parts))
        return MixedSpec(IndexedRef, value, keys, tuple(leaves), None, tuple(self.parts))

    def express(self, value: Symbol) -> list[Atom]:
        root = root_of(value)
        if isinstance(root, GuardedRef):
            a, b = options_of(value)
            return choose_atoms(root.holds(), lambda: self.express(a), lambda: self.express(b))
        spec = part(value)
        at = self.find(spec)
        atoms = [atom(len(self.parts) if at is None else at)]
        if self.own is not None:
            atoms.append(dummy_value(self.own) if at is not None else value.present())
        for k, p in enumerate(self.parts):
            atoms += spec.leaves() if k == at else [atom(0) for _ in p.children]
        return atoms


def is_choice(value: Any) -> bool:
    """Whether it is one of two arrays, or a part of one."""
    return isinstance(value, Symbol) and isinstance(root_of(value), GuardedRef)


def options_of(value: Symbol) -> tuple[Symbol, Symbol]:
    """The two arrays that a choice, or a part of a choice, stands for."""
    root = root_of(value)
    assert isinstance(root, GuardedRef)
    if root is value:
        return root.options  # type: ignore[return-value]
    a, b = (view_of(o, value.chain, value.type) for o in root.options)
    return a, b


def references_that_escape(spec: Structure, began: int) -> Structure:
    """What a pass leaves in a variable that it made: parts of arrays that are older than the loop
    stay references."""

    def escaping(r: Structure) -> Structure:
        targets = RefTargets([])
        targets.add(r.value, began)
        if not targets.parts:
            return by_value(r)
        return r if targets.own is None and len(targets.parts) == 1 else targets.spec(r.value)

    return with_references(spec, map(escaping, references(spec)))


class LoopReferences:
    """The references of a loop that stand for other memory in other passes."""

    def __init__(self) -> None:
        self.targets: dict[Any, dict[int, RefTargets]] = {}  # by location and place in its value

    def spec(self, key: Any, spec: Structure) -> Structure:
        """A spec in which these references are numbers."""
        targets = self.targets.get(key, {})
        indexed_references = enumerate(references(spec))
        return with_references(
            spec, (targets[j].spec(r.value) if j in targets else r for j, r in indexed_references)
        )

    def meet(self, key: Any, entry: Structure, final: Structure, began: int) -> bool:
        """Notes what references stand for at the end of a pass; True if that is news."""
        mine, news = self.targets.setdefault(key, {}), False
        for j, (e, f) in enumerate(zip(references(entry), references(final), strict=False)):
            if j not in mine and e.keys != f.keys:
                mine[j] = RefTargets([])
                mine[j].add(e.value, began)
                news = True
            if j in mine:
                news = mine[j].add(f.value, began) or news
        return news
