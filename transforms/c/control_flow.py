"""Writes loops and branches that run kernels: those of the driver.

for t in range(n): x = step(x)      becomes      for (i64 t = 0; t < n; t++) { step(x, y); x = y; }

What passes hand on has memory of its own, which keeps its place: each pass copies into it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from tapeless.transforms.c.driver_scope import stored_dtype
from tapeless.transforms.c.growing_lists import ROOM
from tapeless.transforms.c.lists import OTHER_LENGTH, DriverLists, ListInC, has_memory
from tapeless.transforms.c.memory_roots import MemoryRoots
from tapeless.transforms.c.strided import Strided
from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.renaming import words
from tapeless.transforms.c_text.statements import Error
from tapeless.transforms.c_text.values import SHIFT, CValue, NotPrintedError, c_type, cast, constant
from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
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
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT
from tapeless.transforms.lowering.sizes.size_equalities import single_symbol

Home = CValue | Strided | ListInC  # where what several places of the program give is


class ControlFlow(DriverLists):
    """Loops and branches outside of kernels."""

    roots: MemoryRoots

    def statement(self, s: Statement) -> None:
        raise NotImplementedError

    def statements(self, block: Block) -> None:
        """The statements of a block; an error names the line of the innermost one."""
        for s in block.body:
            try:
                self.statement(s)
            except NotPrintedError as e:
                e.origin = e.origin or s.origin
                raise

    # -- what is handed on

    def home(self, v: Var) -> Home:
        """A variable, or memory, for what several places of the program give."""
        if isinstance(v.type, StackType):
            self.lists[v] = self.new_list(v.type, v.name)
            return self.lists[v]
        if not isinstance(v.type, Type) or stored_dtype(v.type).kind not in "biufc":
            raise NotPrintedError("what is no number outside of kernels")
        if v.type.shape:
            lengths = tuple(map(self.length_of_home, v.type.shape))
            if not {n.text for n in lengths} & self.variable:
                return self.make(v, lengths)
            view = Strided.row_by_row(self.place_for(v, (ROOM,)), stored_dtype(v.type), lengths)
            self.know(v, view)
            return view
        name = self.fresh(v.name or "t")
        dtype = stored_dtype(v.type)
        self.put(f"{c_type(dtype)} {name} = {cast(constant(0), dtype).text};")
        self.numbers[v] = CValue(name, dtype)
        self.variable.add(name)
        return self.numbers[v]

    def length_of_home(self, size: Size) -> CValue:
        """A length, which gets a variable if it differs from place to place."""
        symbol = single_symbol(size)
        if symbol is None or self.has(symbol):
            return self.size(size)
        name = self.fresh(symbol.name if symbol.name.isidentifier() else "n")
        self.put(f"i64 {name} = 0;")
        self.variable.add(name)
        return CValue(name, INT, natural=True)

    def name(self, v: Var, home: Home) -> None:
        """Another variable of the program in the same place."""
        if isinstance(home, ListInC):
            self.lists[v] = home
            return
        if isinstance(home, Strided):
            self.know(v, home)
            return
        self.numbers[v] = home
        if v.size is not None:
            self.learn(v.size, home)

    def hand_on(self, homes: Sequence[Home], values: Sequence[Atom]) -> None:
        """Values are stored where their homes are, as if at once."""
        pairs = [(h, a) for h, a in zip(homes, values, strict=True) if not self.is_there(h, a)]
        places = {name for home, _ in pairs for name in self.places(home)}
        held = [self.copy_of(a) if self.reads(a) & places else a for _, a in pairs]
        for (home, _), a in zip(pairs, held, strict=True):
            self.store(home, a)

    def copy_of(self, a: Atom) -> Atom:
        """A value that is stored elsewhere first, for its place is about to change."""
        assert isinstance(a, Var)
        held = Var(a.type, "held")
        if isinstance(a.type, StackType):
            self.lists[held] = self.new_list(a.type, "held")
            self.copy_list(self.list_of(a), self.lists[held])
        elif a.type.shape:
            view = self.view(a)
            lengths = tuple(map(self.lasting, view.lengths))
            self.copy(replace(view, lengths=lengths), self.make(held, lengths))
        else:
            self.set(held, self.number(a), None)
        return held

    def lasting(self, n: CValue) -> CValue:
        """A length as it is now, under a name of its own if others change theirs."""
        if not words(n.text) & self.variable:
            return n
        name = self.fresh("n")
        self.put(f"const i64 {name} = {n.text};")
        return CValue(name, INT, natural=True)

    def store(self, home: Home, a: Atom) -> None:
        if isinstance(a, Literal) and a.value is None:
            return  # nobody reads it
        if isinstance(home, ListInC):
            self.copy_list(self.list_of(a), home)
            return
        if isinstance(home, CValue):
            self.put(f"{home.text} = {cast(self.number(a), home.dtype).text};")
            return
        view = self.view(a)
        pairs = [*zip(view.lengths, home.lengths, strict=True)]
        changing = [(n, m) for n, m in pairs if m.text in self.variable]
        for n, m in pairs:
            if (n, m) not in changing and not self.are_equal_lengths([n], [m]):
                self.check_equal(n, m)
        if changing:
            self.check_room(view.lengths)
        for n, m in changing:
            self.put(f"{m.text} = {n.text};")
        self.copy(replace(view, lengths=home.lengths), home)

    def check_equal(self, n: CValue, m: CValue) -> None:
        """A test of lengths that are equal by their types, which are not seen to be by their
        texts."""
        differ = arithmetic.compare(ast.NotEq(), n, m)
        if differ.known is True:
            raise NotPrintedError("an array whose length changes from pass to pass")
        if differ.known is None:
            self.put(f"if ({differ.text}) return {self.code(OTHER_LENGTH)};")

    def is_there(self, home: Home, a: Atom) -> bool:
        """Whether a value is where it belongs."""
        if isinstance(a, Literal):
            return a.value is None
        if isinstance(home, ListInC):
            return self.list_of(a) == home
        if isinstance(home, CValue):
            return self.number(a).text == home.text
        return self.view(a) == home

    def reads(self, a: Atom) -> set[str]:
        """The names in the text of a value."""
        if isinstance(a, Literal):
            return set()
        if isinstance(a.type, StackType):
            return self.places(self.list_of(a))
        if not a.type.shape:
            return words(self.number(a).text)
        view = self.view(a)
        texts = (x.text for x in (*view.strides, *view.lengths))
        return words(" ".join([view.pointer, *texts]))

    def places(self, home: Home) -> set[str]:
        """The names whose values change where something is stored to a home."""
        match home:
            case ListInC():
                return {home.memory, home.top, home.starts} - {""}
            case Strided():
                return {home.memory, *({n.text for n in home.lengths} & self.variable)}
        return {home.text}

    def memory_of(self, v: Var) -> Strided | ListInC:
        """Where an array or a list is."""
        return self.lists[v] if isinstance(v.type, StackType) else self.view(v)

    # -- statements

    def branch(self, s: If) -> None:
        before = dict(self.sizes)
        homes = [
            self.home_of_branches(v, a, b, s)
            for v, a, b in zip(s.outs, s.then.results, s.orelse.results, strict=True)
        ]
        test = self.number(s.test)
        with self.braces(f"if ({test.text})", s), self.lengths_inside(before):
            self.statements(s.then)
            self.hand_on(homes, s.then.results)
        if s.orelse.body or not all(map(self.is_there, homes, s.orelse.results)):
            with self.braces("else"), self.lengths_inside(before):
                self.statements(s.orelse)
                self.hand_on(homes, s.orelse.results)

    @contextmanager
    def lengths_inside(self, before: Mapping[dims.Symbol, CValue]) -> Iterator[None]:
        """Lengths that a block finds out are its own: what it gives may be as long by the same
        name, which stands for another number until the block has ended."""
        outside, self.sizes = self.sizes, dict(before)
        yield
        self.sizes = outside

    def home_of_branches(self, v: Var, a: Atom, b: Atom, s: If) -> Home:
        """A home for what either branch gives; memory that both only store to is one."""
        root = self.roots.root_of(a) if has_memory(v) else None
        if root is None or root is not self.roots.root_of(b):
            return self.home(v)
        if root not in self.views and root not in self.lists:
            return self.home(v)
        self.name(v, self.memory_of(root))
        return self.memory_of(root)

    def homes_of_carries(self, s: For | While) -> list[Home]:
        """Homes for what passes hand on, with what the first pass gets."""
        homes: list[Home] = []
        for k, (v, a) in enumerate(zip(s.outs, s.inits, strict=True)):
            if has_memory(v) and isinstance(a, Var) and self.roots.in_place(s, k):
                home = self.memory_of(a)  # passes store to it, where it is
                self.name(v, home)
                homes.append(home)
                continue
            homes.append(self.changing(v, a) or self.home(v))
            if not self.is_there(homes[-1], a):
                self.store(homes[-1], a)
        return homes

    def changing(self, v: Var, a: Atom) -> Strided | None:
        """Memory for what a loop gives that is as long as a known size in the end, but not before;
        None for others."""
        if not isinstance(v.type, Type) or not v.type.shape or not isinstance(a, Var):
            return None
        if any(not self.has(x) for n in v.type.shape for x in dims.symbols(n)):
            return None
        lengths, first = list(self.lengths_of(v.type.shape)), self.view(a).lengths
        if self.are_equal_lengths(lengths, first):
            return None
        for k, (n, m) in enumerate(zip(lengths, first, strict=True)):
            if not self.are_equal_lengths([n], [m]):
                name = self.fresh("n")
                self.put(f"i64 {name} = 0;")
                self.variable.add(name)
                lengths[k] = CValue(name, INT, natural=True)
        dtype = stored_dtype(v.type)
        memory = self.allocate(v.name or "t", dtype, (ROOM,))  # a result may be too short
        return Strided.row_by_row(memory, dtype, lengths)

    def settle(self, outs: Sequence[Var], homes: Sequence[Home]) -> None:
        """What a loop gives is as long as its type says."""
        for v, home in zip(outs, homes, strict=True):
            if isinstance(home, Strided) and not (v in self.views and self.views[v] == home):
                lengths = self.lengths_of(v.type.shape)
                self.know(v, Strided.row_by_row(home.memory, home.dtype, lengths))

    def for_loop(self, s: For) -> None:
        homes = self.homes_of_carries(s)
        for v, home in zip(s.carries, homes, strict=True):
            self.name(v, home)
        start, stop, step = (cast(self.number(a), INT) for a in (s.start, s.stop, s.step))
        if step.known not in (1, -1):
            raise NotPrintedError("a loop by other steps than 1 outside of kernels")
        count = None
        if s.count is not None:
            count = self.home(s.count)
        index = self.fresh(s.index.name or "k")
        self.name(s.index, CValue(index, INT, natural=step.known == 1 and start.natural))
        head = _head(index, start, stop, int(step.known), s.reverse)
        with self.braces(head, s), self.lengths_inside(self.sizes):
            if isinstance(count, CValue):
                self.put(f"{count.text}++;")
            self.statements(s.body)
            ends = self.unchanging(s.body.results[0]) if s.until else None
            self.hand_on(homes, s.yields)
            if ends is not None:
                self.put(f"if ({ends.text}) break;")
        self.settle(s.outs, homes)

    def unchanging(self, a: Atom) -> CValue:
        """A number as it is now, under a name of its own if others change theirs."""
        if isinstance(a, Var) and self.reads(a) & self.variable:
            a = self.copy_of(a)
        return self.number(a)

    def while_loop(self, s: While) -> None:
        homes = self.homes_of_carries(s)
        for params in (s.test.params, s.body.params):
            for v, home in zip(params, homes, strict=True):
                self.name(v, home)
        with self.braces("for (;;)", s), self.lengths_inside(self.sizes):
            self.statements(s.test)
            self.put(
                f"if ({arithmetic.unary(ast.Not(), self.number(s.test.results[0])).text}) break;"
            )
            self.statements(s.body)
            self.hand_on(homes, s.body.results)
        self.settle(s.outs, homes)

    def raise_user_error(self, s: Effect) -> None:
        """An error of the user's: its number is returned."""
        parts = s.params["parts"]
        told = tuple(value if kind == "value" else ... for kind, value in parts)
        error: Error = (s.params["type"].__qualname__, told)
        self.put(f"return {self.code(error)};", s)


def _head(index: str, start: CValue, stop: CValue, step: int, reverse: bool) -> str:
    """The first line of a loop by steps of 1 or -1."""
    if reverse:
        unit = constant(step)
        start, stop = (arithmetic.binary(ast.Sub(), x, unit) for x in (stop, start))
        step = -step
    sign, by = ("<", "++") if step > 0 else (">", "--")
    return f"for (i64 {index} = {start.text}; {index} {sign} {stop.operand(SHIFT)}; {index}{by})"
