"""Writes loops and branches that run kernels: those of the driver.

for t in range(n): x = step(x)      becomes      for (i64 t = 0; t < n; t++) { step(x, y); x = y; }

What passes hand on has memory of its own, which keeps its place: each pass copies into it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tapeless.transforms.c.array_operations import ArrayOperations
from tapeless.transforms.c.strided import Strided
from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.renaming import words
from tapeless.transforms.c_text.statements import Error
from tapeless.transforms.c_text.values import SHIFT, NotPrintedError, Value, c_type, cast, constant
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
    outputs,
)
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT
from tapeless.transforms.ops.primitives.slices_and_gathers import update


class ControlFlow(ArrayOperations):
    """Loops and branches outside of kernels."""

    def statement(self, s: Statement) -> None:
        raise NotImplementedError

    def statements(self, block: Block) -> None:
        """The statements of a block; an error names the line of the innermost one."""
        for s in block.body:
            try:
                self.statement(s)
            except NotPrintedError as e:
                if s.origin is not None and "line " not in str(e):
                    raise NotPrintedError(f"{e} ({s.origin.note.strip('# ')})") from e
                raise

    # -- what is handed on

    def home(self, v: Var) -> Value | Strided:
        """A variable, or memory, for what several places of the program give."""
        if not isinstance(v.type, Type) or v.type.dtype.kind not in "biuf":
            raise NotPrintedError("a list, or complex numbers, outside of kernels")
        if v.type.shape:
            return self.make(v)
        name = self.fresh(v.name or "t")
        self.put(f"{c_type(v.type.dtype)} {name} = {constant(0, v.type.dtype).text};")
        self.numbers[v] = Value(name, v.type.dtype)
        self.variable.add(name)
        return self.numbers[v]

    def name(self, v: Var, home: Value | Strided) -> None:
        """Another variable of the program in the same place."""
        if isinstance(home, Strided):
            self.know(v, home)
            return
        self.numbers[v] = home
        if v.size is not None:
            self.learn(v.size, home)

    def hand_on(self, homes: Sequence[Value | Strided], values: Sequence[Atom]) -> None:
        """Values are stored where their homes are, as if at once."""
        pairs = [(h, a) for h, a in zip(homes, values, strict=True) if not self.is_there(h, a)]
        places = {_place(home) for home, _ in pairs}
        held = [self.kept(a) if self.reads(a) & places else a for _, a in pairs]
        for (home, _), a in zip(pairs, held, strict=True):
            self.store(home, a)

    def kept(self, a: Atom) -> Atom:
        """A value that is stored elsewhere first, for its place is about to change."""
        assert isinstance(a, Var)
        held = Var(a.type, "held")
        if a.type.shape:
            self.copy(self.view(a), self.make(held))
        else:
            self.set(held, self.number(a), None)
        return held

    def store(self, home: Value | Strided, a: Atom) -> None:
        if isinstance(a, Literal) and a.value is None:
            return  # nobody reads it
        if isinstance(home, Value):
            self.put(f"{home.text} = {cast(self.number(a), home.dtype).text};")
            return
        view = self.view(a)
        if not self.alike(view.lengths, home.lengths):
            raise NotPrintedError("an array whose length changes from pass to pass")
        self.copy(view, home)

    def is_there(self, home: Value | Strided, a: Atom) -> bool:
        """Whether a value is where it belongs."""
        if isinstance(a, Literal):
            return a.value is None
        if isinstance(home, Value):
            return self.number(a).text == home.text
        return self.view(a) == home

    def reads(self, a: Atom) -> set[str]:
        """The names in the text of a value."""
        if isinstance(a, Literal):
            return set()
        if not a.type.shape:
            return words(self.number(a).text)
        view = self.view(a)
        texts = (x.text for x in (*view.strides, *view.lengths))
        return words(" ".join([view.pointer, *texts]))

    # -- statements

    def branch(self, s: If) -> None:
        homes = [
            self.chosen(v, a, b, s)
            for v, a, b in zip(s.outs, s.then.results, s.orelse.results, strict=True)
        ]
        test = self.number(s.test)
        with self.braces(f"if ({test.text})", s):
            self.statements(s.then)
            self.hand_on(homes, s.then.results)
        if s.orelse.body or not all(map(self.is_there, homes, s.orelse.results)):
            with self.braces("else"):
                self.statements(s.orelse)
                self.hand_on(homes, s.orelse.results)

    def chosen(self, v: Var, a: Atom, b: Atom, s: If) -> Value | Strided:
        """A home for what either branch gives; memory that both only store to is one."""
        root = in_place_root(s.then, a) if v.type.shape else None
        if root is None or root is not in_place_root(s.orelse, b) or root not in self.views:
            return self.home(v)
        self.know(v, self.views[root])
        return self.views[root]

    def carried(
        self, outs: Sequence[Var], inits: Sequence[Atom], carries: Sequence[Var], body: Block
    ) -> list[Value | Strided]:
        """Homes for what passes hand on, with what the first pass gets."""
        homes: list[Value | Strided] = []
        yields = body.results[len(body.results) - len(carries) :]
        for v, a, carry, after in zip(outs, inits, carries, yields, strict=True):
            if v.type.shape and in_place_root(body, after) is carry:
                home = self.view(a)  # passes store to it, where it is
                self.know(v, home)
                homes.append(home)
                continue
            homes.append(self.home(v))
            if not self.is_there(homes[-1], a):
                self.store(homes[-1], a)
        return homes

    def for_loop(self, s: For) -> None:
        homes = self.carried(s.outs, s.inits, s.carries, s.body)
        for v, home in zip(s.carries, homes, strict=True):
            self.name(v, home)
        start, stop, step = (cast(self.number(a), INT) for a in (s.start, s.stop, s.step))
        if step.known not in (1, -1):
            raise NotPrintedError("a loop by other steps than 1 outside of kernels")
        count = None
        if s.count is not None:
            count = self.home(s.count)
        index = self.fresh(s.index.name or "k")
        self.name(s.index, Value(index, INT, natural=step.known == 1 and start.natural))
        with self.braces(_head(index, start, stop, int(step.known), s.reverse), s):
            if isinstance(count, Value):
                self.put(f"{count.text}++;")
            self.statements(s.body)
            ends = self.unchanging(s.body.results[0]) if s.until else None
            self.hand_on(homes, s.yields)
            if ends is not None:
                self.put(f"if ({ends.text}) break;")

    def unchanging(self, a: Atom) -> Value:
        """A number as it is now, under a name of its own if others change theirs."""
        if isinstance(a, Var) and self.reads(a) & self.variable:
            a = self.kept(a)
        return self.number(a)

    def while_loop(self, s: While) -> None:
        homes = self.carried(s.outs, s.inits, s.body.params, s.body)
        for params in (s.test.params, s.body.params):
            for v, home in zip(params, homes, strict=True):
                self.name(v, home)
        with self.braces("for (;;)", s):
            self.statements(s.test)
            self.put(
                f"if ({arithmetic.unary(ast.Not(), self.number(s.test.results[0])).text}) break;"
            )
            self.statements(s.body)
            self.hand_on(homes, s.body.results)

    def raised(self, s: Effect) -> None:
        """An error of the user's: its number is returned."""
        parts = s.params["parts"]
        told = tuple(value if kind == "value" else ... for kind, value in parts)
        error: Error = (s.params["type"].__qualname__, told)
        self.put(f"return {self.code(error)};", s)


def _place(home: Value | Strided) -> str:
    return home.text if isinstance(home, Value) else home.memory


def _head(index: str, start: Value, stop: Value, step: int, reverse: bool) -> str:
    """The first line of a loop by steps of 1 or -1."""
    if reverse:
        unit = constant(step)
        start, stop = (arithmetic.binary(ast.Sub(), x, unit) for x in (stop, start))
        step = -step
    sign, by = ("<", "++") if step > 0 else (">", "--")
    return f"for (i64 {index} = {start.text}; {index} {sign} {stop.at(SHIFT)}; {index}{by})"


def in_place_root(block: Block, a: Atom) -> Var | None:
    """The variable around a block, or a parameter of it, whose memory a result is in, if nothing
    but stores to that memory are between."""
    makers = {v: (s, k) for s in block.body for k, v in enumerate(outputs(s))}
    while isinstance(a, Var) and a in makers:
        s, k = makers[a]
        match s:
            case Let(op=op, args=(old, *_)) if op is update:
                a = old
            case For() | While():
                inner = s.body.results[len(s.body.results) - len(s.inits) :]
                params = s.carries if isinstance(s, For) else s.body.params
                if k >= len(s.inits) or in_place_root(s.body, inner[k]) is not params[k]:
                    return None
                a = s.inits[k]
            case If():
                root = in_place_root(s.then, s.then.results[k])
                if root is None or root is not in_place_root(s.orelse, s.orelse.results[k]):
                    return None
                a = root
            case _:
                return None
    return a if isinstance(a, Var) else None
