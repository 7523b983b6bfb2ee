"""Knows what the values of a driver are called in C, and where their numbers are.

n, x of n numbers      becomes      x_0, Strided("x", lengths (x_0,))
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tapeless.transforms.c.growing_lists import ROOM, TOO_LONG
from tapeless.transforms.c.kernel import reserved_names
from tapeless.transforms.c.strided import Strided, product_of, sum_of
from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.expressions import product
from tapeless.transforms.c_text.renaming import ascii_name, words
from tapeless.transforms.c_text.statements import Error
from tapeless.transforms.c_text.values import CValue, NotPrintedError, c_type, cast, constant
from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import TAPE, Atom, Literal, Statement, Type, Var
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT, Dtype

#: Functions that lengths are written with.
OF_LENGTHS = frozenset(["floor_div", "floor_mod", "fourier_room", "larger_i64", "smaller_i64"])


def stored_dtype(kind: Type) -> Dtype:
    """The dtype of numbers in C: tapes are places in memory."""
    return INT if kind.dtype == TAPE.dtype else kind.dtype


class DriverScope:
    """Names, sizes and the lines written so far.

    work      arrays that the function needs besides its arguments: name, dtype, lengths
    at_entry  names of integers that are known before the function runs
    """

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.lines: list[str] = []
        self.depth = 1
        self.errors: list[Error] = []
        self.views: dict[Var, Strided] = {}
        self.numbers: dict[Var, CValue] = {}
        self.sizes: dict[dims.Symbol, CValue] = {}
        self.same: dict[str, str] = {}  # lengths that are equal, with one that stands for them
        self.least: dict[str, int] = {}  # how long axes are at least, which is tested first
        self.variable: set[str] = set()  # numbers that change
        self.work: list[tuple[str, Dtype, tuple[CValue, ...]]] = []
        self.at_entry: set[str] = set()

    # -- names and sizes

    def fresh(self, stem: str) -> str:
        """A name that nothing else has."""
        stem = ascii_name(stem).lstrip("_") or "k"  # C has names with underscores for itself
        stem = f"{stem}_" if reserved_names([stem]) & {stem} else stem
        second = f"{stem}_2"
        between = (
            "" if reserved_names([second]) & {second} else "_"
        )  # result_2 is a name of kernels
        name, k = stem, 2
        while name in self.taken or reserved_names([name]) & {name}:
            name, k = f"{stem}{between}{k}", k + 1
        self.taken.add(name)
        return name

    def know(self, v: Var, view: Strided) -> None:
        self.views[v] = view
        for n, value in zip(v.type.shape, view.lengths, strict=True):
            self.learn(n, value)

    def learn(self, size: Size, value: CValue) -> None:
        """A length that has a name of its own."""
        match dims.terms_of(size):
            case [((dims.Symbol() as symbol,), 1)]:
                self.sizes.setdefault(symbol, value)

    def size(self, size: Size) -> CValue:
        """A length as an expression of C: what is added comes before what is taken away."""
        total, terms = constant(0), sorted(dims.terms_of(size), key=lambda term: term[1] < 0)
        for factors, coefficient in terms:
            term = constant(abs(coefficient))
            for factor in factors:
                term = product_of(term, self.factor(factor))
            if coefficient > 0:
                total = sum_of(total, term)
            else:
                total = arithmetic.binary(ast.Sub(), total, term)
        return total

    def has(self, symbol: dims.Symbol) -> bool:
        """Whether a length has an expression in C."""
        return symbol in self.sizes or symbol.var in self.numbers

    def factor(self, factor: dims.Factor) -> CValue:
        if isinstance(factor, dims.Symbol):
            if factor in self.sizes:
                return self.sizes[factor]
            if factor.var in self.numbers:
                return cast(self.numbers[factor.var], INT)
            raise NotPrintedError("a length that depends on values")
        a, b = self.size(factor.left), self.size(factor.right)
        if factor.kind in dims.CALLED:
            return arithmetic.extreme(factor.kind, [a, b])
        return arithmetic.binary(ast.FloorDiv() if factor.kind == "//" else ast.Mod(), a, b)

    def python_size(self, size: Size) -> str:
        """A length as an expression of Python, of what the arguments are called in C."""

        def text(factor: dims.Factor) -> str:
            if isinstance(factor, dims.Symbol):
                return self.factor(factor).text
            a, b = self.python_size(factor.left), self.python_size(factor.right)
            called = factor.kind in dims.CALLED
            return f"{factor.kind}({a}, {b})" if called else f"(({a}) {factor.kind} ({b}))"

        terms = [
            " * ".join([*([str(c)] if c != 1 or not factors else []), *map(text, factors)])
            for factors, c in dims.terms_of(size)
        ]
        return " + ".join(terms) or "0"

    def relate(self, a: str, b: str) -> None:
        """Notes that two lengths are equal, which is tested first."""
        a, b = self.standing(a), self.standing(b)
        if a != b:
            self.same[a] = b

    def standing(self, text: str) -> str:
        """The length that stands for those that are equal to this one."""
        while text in self.same:
            text = self.same[text]
        return text

    def are_equal_lengths(self, some: Sequence[CValue], others: Sequence[CValue]) -> bool:
        """Whether lengths are equal."""
        texts, more = ([self.standing(n.text) for n in lengths] for lengths in (some, others))
        return texts == more

    def lengths_of(self, shape: Sequence[Size]) -> tuple[CValue, ...]:
        return tuple(map(self.size, shape))

    # -- text

    def put(self, text: str, s: Statement | None = None) -> None:
        note = s.origin.note.replace("#", "//") if s is not None and s.origin is not None else ""
        self.lines.append("  " * self.depth + text + f"  {note}" * bool(note))

    @contextmanager
    def braces(self, head: str, s: Statement | None = None) -> Iterator[None]:
        self.put(f"{head} {{", s)
        self.depth += 1
        yield
        self.depth -= 1
        self.put("}")

    def code(self, error: Error) -> int:
        """The number of an error, from 1."""
        if error not in self.errors:
            self.errors.append(error)
        return self.errors.index(error) + 1

    def number(self, a: Atom) -> CValue:
        if isinstance(a, Literal):
            return constant(0) if a.type == TAPE else constant(a.value, a.type.dtype)
        if a not in self.numbers:
            raise NotPrintedError("a number outside of kernels")
        return self.numbers[a]

    def view(self, a: Atom) -> Strided:
        if not isinstance(a, Var) or a not in self.views:
            raise NotPrintedError("an array outside of kernels")
        return self.views[a]

    def set(self, v: Var, value: CValue, s: Statement | None) -> None:
        """A number with a name of its own."""
        name = self.fresh(v.name or "t")
        dtype = stored_dtype(v.type)
        self.put(f"const {c_type(dtype)} {name} = {cast(value, dtype).text};", s)
        self.numbers[v] = CValue(name, dtype, natural=value.natural)

    # -- memory

    def is_known(self, lengths: Sequence[CValue]) -> bool:
        """Whether memory of these lengths can be made before the function runs."""
        return words(product(lengths).text) <= self.at_entry | OF_LENGTHS

    def allocate(self, stem: str, dtype: Dtype, lengths: Sequence[CValue]) -> str:
        """Memory for an array, by name; if its length depends on values, for `room` numbers."""
        name = self.fresh(stem)
        if self.is_known(lengths):
            self.work.append((name, dtype, tuple(lengths)))
        else:
            self.check_room(lengths)
            self.work.append((name, dtype, (ROOM,)))
        return name

    def check_room(self, lengths: Sequence[CValue]) -> None:
        """Leaves with an error if there is no room for so many numbers."""
        test = arithmetic.compare(ast.Gt(), product(lengths), ROOM).text
        self.put(f"if ({test}) return {self.code(TOO_LONG)};")

    def place_for(self, v: Var, lengths: Sequence[CValue]) -> str:
        """Where the numbers of a new array are."""
        return self.allocate(v.name or "t", stored_dtype(v.type), lengths)

    def make(self, v: Var, lengths: Sequence[CValue] | None = None) -> Strided:
        """Memory for a new array."""
        lengths = self.lengths_of(v.type.shape) if lengths is None else tuple(lengths)
        view = Strided.row_by_row(self.place_for(v, lengths), stored_dtype(v.type), lengths)
        self.know(v, view)
        return view
