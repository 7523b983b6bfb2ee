"""Checks sizes that an operation relies on to be equal, and that nothing says are: NumPy finds out
when the program runs, and so must compiled code, before it reads anything.

z = x + y, x of n numbers, y of m      becomes      check(m == n); z = x + y, both of n
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom_of_size, building, current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    While,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.size_inequalities import Facts, Relation, Relied, facts_of
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.numpy.bits import bits
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal
from tapeless.transforms.ops.primitives.elementwise import conjugate, imag, real
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import cast, copy
from tapeless.transforms.ops.primitives.slices_and_gathers import (
    Slot,
    add_at,
    index,
    result_shape,
    update,
)
from tapeless.transforms.optimize.dead_code import dead_code

Sizes = dict[dims.Symbol, Size]

#: Its argument, whose sizes have been checked to be those of `shape`.
fitted = Op("fitted", lambda x, *, shape: Type(x.type.dtype, shape), "{0}", view=True)
BROADCAST = frozenset([cast, copy, select, real, imag, conjugate, bits])


def canonical(size: Size, sizes: Sizes) -> Size:
    """The size in terms of symbols that no equality replaces.

    Notes what a symbol stands for in the end, so that chains of equalities stay short.
    """
    if isinstance(size, int) or sizes.keys().isdisjoint(size.symbols):
        return size
    root: Size = size
    while (further := dims.substitute(root, sizes.get)) != root:
        root = further
    symbol = single_symbol(size)
    if symbol in sizes:
        sizes[symbol] = root
    return root


def equal_sizes(relations: Iterable[tuple[str, Size, Size]]) -> Sizes:
    """Symbols that the program relies on to equal another size."""
    equal_to: Sizes = {}
    for relation, a, b in relations:
        if relation == "==":
            relate(equal_to, a, b)
    return equal_to


def relate_differences(sizes: Sizes, relations: Iterable[tuple[str, Size, Size]]) -> None:
    """Notes n == m where a program relies on n - m == 0: what comes after `Fitting`, which makes
    the checks of the printed program, may know it."""
    for relation, a, b in relations:
        if relation == "==":
            relate(sizes, *dims.sides(canonical(a, sizes), canonical(b, sizes)))


def relate(sizes: Sizes, a: Size, b: Size) -> bool:
    """Notes that two sizes are equal; whether that could be noted. A size that an argument tells
    stands for one that only the program knows."""
    a, b = canonical(a, sizes), canonical(b, sizes)
    if a == b:
        return True
    pairs = [(single_symbol(x), y) for x, y in ((b, a), (a, b))]
    for symbol, y in sorted(pairs, key=lambda pair: pair[0] is not None and pair[0].given):
        if symbol is not None and symbol not in dims.symbols(y):
            sizes[symbol] = y
            return True
    return False


def single_symbol(size: Size) -> dims.Symbol | None:
    in_size = dims.symbols(size)
    if len(in_size) == 1:
        (x,) = in_size
        if size == dims.single(x):
            return x
    return None


class Fitting:
    """`sizes` are the equalities that hold in the whole program; `checks` make sure of new ones.

    hints    sizes in the call that the program is made for
    relations  what the program relies on
    facts    what they and its loops say of the order of sizes
    implied  the equalities that follow from the relations
    relied   equalities that hold in that call, and must hold in each: ("==", a, b)

    The printed program compares sizes by itself, so that it is also safe where nothing else checks
    its calls.
    """

    def __init__(
        self, sizes: Sizes, hints: Mapping[dims.Symbol, int], relations: Iterable[Relation] = ()
    ) -> None:
        self.sizes, self.hints, self.relations = sizes, hints, list(relations)
        self.implied = dict(sizes)
        relate_differences(self.implied, self.relations)
        self.facts = Facts()
        self.checks: list[Statement] = []
        self.lengths: dict[Any, Size] = {}  # what is the value of a size
        self.integers: dict[Var, Let] = {}  # what computes integers, which may be lengths
        self.relied: list[tuple[str, Size, Size]] = []
        self.arguments: frozenset[Any] = frozenset()  # of the program
        self.dropped = False  # whether a check was left out
        self.compared: set[frozenset[Size]] = set()  # sizes that a check before tells are equal

    def run(self, block: Block) -> Block:
        self.arguments = frozenset(block.params)
        self.facts = facts_of(self.relations, block)
        checked = replace(block, body=tuple(self.body(block.body, True)))
        return dead_code(checked) if self.dropped else checked

    def inner(self, block: Block) -> Block:
        return replace(block, body=tuple(self.body(block.body, False)))

    def body(self, body: tuple[Statement, ...], top: bool) -> Iterator[Statement]:
        compared = set(self.compared)
        yield from self.statements(body, top)
        self.compared = compared

    def statements(self, body: tuple[Statement, ...], top: bool) -> Iterator[Statement]:
        for s in body:
            match s:
                case Let():
                    yield from self.let(s, top)
                case If():
                    yield replace(s, then=self.inner(s.then), orelse=self.inner(s.orelse))
                case For():
                    self.carries(s.carries, s.inits, s.yields)
                    if top and s.each:
                        self.elements(s)
                    yield replace(s, body=self.inner(s.body))
                case While():
                    self.carries(s.body.params, s.inits, s.body.results)
                    yield replace(s, test=self.inner(s.test), body=self.inner(s.body))
                case Effect(kind="check"):
                    a, b = (self.lengths.get(x) for x in s.args)
                    if (a is not None and b is not None) and (
                        self.is_compared(a, b) or self.mask_fits_ahead(s, a, b, top)
                    ):
                        self.dropped = True
                    else:
                        yield s
                case _:
                    yield s

    def mask_fits_ahead(self, s: Effect, a: Size, b: Size, top: bool) -> bool:
        """Whether a check ahead of the program tells that a mask fits."""
        are_given = dims.is_given(a) and dims.is_given(b)
        return bool(s.params.get("mask")) and are_given and self.equal_ahead(a, b, s, top)

    def is_compared(self, a: Size, b: Size) -> bool:
        """Whether a check of two sizes tells nothing new: they are equal, as two counts of one mask
        are, or a check before has compared them. Otherwise notes that this one does."""
        pair = frozenset((self.canon(a), self.canon(b)))
        if len(pair) == 1 or pair in self.compared:
            return True
        self.compared.add(pair)
        return False

    def carries(self, params: Any, inits: Any, yields: Any) -> None:
        """Arrays whose size might change from pass to pass, and does not in this call."""
        for p, init, y in zip(params, inits, yields, strict=True):
            if not isinstance(p.type, Type):
                continue
            for n, first, after in zip(p.type.shape, init.type.shape, y.type.shape, strict=True):
                if single_symbol(n) is None or dims.is_given(n) or not dims.is_given(first):
                    continue
                if after == n or (dims.is_given(after) and self.rely(first, after)):
                    relate(self.sizes, n, first)

    def elements(self, s: For) -> None:
        """Arrays of which a loop over a batch reads one element a pass are as long as the batch."""
        stop: Any = s.stop.value if isinstance(s.stop, Literal) else self.lengths.get(s.stop)
        for t in s.body.body if stop is not None else ():
            if not (isinstance(t, Let) and t.op is index and s.index in t.args):
                continue
            key, slot = t.params["key"], Slot(t.args.index(s.index) - 1)
            if slot in key and None not in key:
                n = t.args[0].type.shape[key.index(slot)]
                if dims.is_given(n) and dims.is_given(stop):
                    self.check_equal(n, stop, t)

    def rely(self, a: Size, b: Size, at: Let | Effect | None = None) -> bool:
        """Whether two sizes are equal in this call; the program is for such calls only then."""
        if self.equal(a, b):
            return True
        length = dims.evaluate(a, self.hints)
        if length is None or length != dims.evaluate(b, self.hints):
            return False
        if self.check_equal(a, b, at):
            self.relied.append(("==", a, b))
            return True
        return False

    def let(self, s: Let, top: bool) -> Iterator[Statement]:
        if s.op is size_value:
            self.lengths[s.outs[0]] = s.params["size"]
        if s.op is index:
            self.part(s)
        integers = (v for v in s.outs if isinstance(v.type, Type) and v.type.dtype.kind in "iu")
        self.integers.update(dict.fromkeys(integers, s))
        args = list(s.args)
        for k, wanted in self.required_shapes(s):
            a = args[k]
            have = a.type.shape
            pairs = [(n, m) for n, m in zip(have, wanted, strict=True) if not self.equal(n, m)]
            if not pairs:
                continue
            are_given = all(dims.is_given(n) and dims.is_given(m) for n, m in pairs)
            if are_given and all(self.equal_ahead(n, m, s, top) for n, m in pairs):
                continue
            fitted_operand = Var(Type(a.type.dtype, wanted), a.name if isinstance(a, Var) else "")
            for n, m in pairs:
                if not self.is_compared(n, m):
                    yield from comparison(n, m, s.origin)
            yield Let((fitted_operand,), fitted, (a,), {"shape": wanted}, s.origin)
            args[k] = fitted_operand
        yield replace(s, args=tuple(args))

    def equal_ahead(self, n: Size, m: Size, s: Let | Effect, top: bool) -> bool:
        """Whether a check ahead of the program tells that two sizes of a statement are equal.

        top  whether the statement runs in each call
        """
        if canonical(n, self.implied) == canonical(m, self.implied):
            return self.check_equal(*dims.sides(self.canon(n), self.canon(m)), s)
        return self.check_equal(n, m, s) if top else self.rely(n, m, s)

    def check_equal(self, n: Size, m: Size, at: Let | Effect | None) -> bool:
        """Notes that two sizes of a statement are equal, with a check where that is new; whether it
        could be."""
        if self.equal(n, m):
            return True
        noted = relate(self.sizes, n, m)
        params = at.params if isinstance(at, Effect) else None
        self.checks += comparison(n, m, at and at.origin, params) if noted else []
        return noted

    def canon(self, size: Size) -> Size:
        return canonical(size, self.sizes)

    def equal(self, a: Size, b: Size) -> bool:
        return self.canon(a) == self.canon(b)

    def required_shapes(self, s: Let) -> Iterator[tuple[int, tuple[Size, ...]]]:
        """The shapes that arguments must have, with their own axes of length one."""
        if s.op.elementwise or s.op in BROADCAST:
            space = s.outs[0].type.shape
            for k, a in enumerate(s.args):
                yield k, _broadcast_lengths(a, space)
        elif s.op in (update, add_at):
            yield from self.stored_shape(s)
        elif s.op is matmul and s.args[1].type.ndim <= 2:
            a, b = s.args
            yield 1, (a.type.shape[-1], *b.type.shape[1:])

    def stored_shape(self, s: Let) -> Iterator[tuple[int, tuple[Size, ...]]]:
        """The shape of the part that a value is stored to, where inputs or its arrays say it."""
        if s.args[1].type.shape:
            space = self.part_shape(s, s.args[2:])
            told = sizes_in([a.type for a in s.args[:2]])
            is_told = all(x.given or x in told for x in sizes_in(space))
            if len(s.args[1].type.shape) <= len(space) and is_told:
                yield 1, _broadcast_lengths(s.args[1], space)

    def part(self, s: Let) -> None:
        """Notes how long a part is that is read, where inputs say it: the pass that recorded it
        knew less of them."""
        have = s.outs[0].type.shape
        if all(map(dims.is_given, have)):
            return
        for n, m in zip(have, self.part_shape(s, s.args[1:]), strict=True):
            if self.varies(n) and not self.varies(m):
                relate(self.sizes, n, m)

    def varies(self, size: Size) -> bool:
        """Whether a size may be another one elsewhere in the program."""
        return not all(x.given or x.var in self.arguments for x in dims.symbols(size))

    def part_shape(self, s: Let, rest: tuple[Atom, ...]) -> tuple[Size, ...]:
        """The shape of the part of an array that a statement reads or stores to."""
        relied = Relied(self.facts.map(self.canon), self.canon)
        relied.definitions = self.integers
        with building(relied):
            return result_shape(s.args[0].type.shape, s.params["key"], rest)


def _broadcast_lengths(a: Atom, space: tuple[Size, ...]) -> tuple[Size, ...]:
    have: tuple[Size, ...] = a.type.shape
    lead = len(space) - len(have)
    return tuple(n if n == 1 else space[k + lead] for k, n in enumerate(have))


def comparison(
    n: Size, m: Size, origin: Any, params: dict[str, Any] | None = None
) -> Iterator[Statement]:
    """The check that two sizes are equal, wherever they are found in the end."""
    atoms: list[Any] = []
    for size in (n, m):
        size_var = Var(size_value.infer(size=size))
        yield Let((size_var,), size_value, (), {"size": size})
        atoms.append(size_var)
    yield Effect("check", tuple(atoms), params or {}, origin)


def check_equal(n: Size, m: Size, params: dict[str, Any] | None = None) -> None:
    """Records that check."""
    b = current()
    for s in comparison(n, m, b.origin, params):
        b.emit(s)


def check_mask(x: Atom, axis: int, mask: Atom) -> None:
    """Records the checks that a mask is as long as the axes of an array that it selects from, the
    first of which is `axis`: NumPy raises an error of its own where it is not. A mask of no
    elements fits any axis, and selects nothing."""
    b = current()
    for n, m in zip(x.type.shape[axis:], mask.type.shape, strict=False):
        if n == m or m == 0:
            continue
        if dims.is_given(m):  # in calls of other code it is 0
            check_equal(n, m, {"mask": True})
            continue
        length, of_mask = atom_of_size(n), atom_of_size(m)
        fitting = select(equal(of_mask, 0), length, of_mask)
        b.emit(Effect("check", (length, fitting), {"mask": True}, b.origin))
