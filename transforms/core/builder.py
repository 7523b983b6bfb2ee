"""Records statements into nested blocks; operations called on atoms write into the open one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    ARITHMETIC,
    Atom,
    Let,
    Literal,
    Origin,
    Statement,
    Type,
    Var,
)
from tapeless.transforms.core.operation import Op, opened, recorder
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.ternary import Ternary, compare
from tapeless.transforms.errors import ArgumentTypeError, ShapeError, Signal


class Builder:
    """A stack of open blocks. `origin` is given to every statement that is recorded."""

    def __init__(self) -> None:
        self.blocks: list[list[Statement]] = [[]]
        self.origin: Origin | None = None
        self.definitions: dict[Var, Let] = {}

    def emit(self, statement: Statement) -> None:
        self.blocks[-1].append(statement)

    def bind(self, op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> tuple[Atom, ...]:
        """Records an operation on atoms, unless it is known to equal one that is there."""
        atoms = tuple([a if type(a) is Var else atom(a) for a in args])
        if op.simplify is not None:
            simplified = op.simplify(atoms, params)
            if simplified is not None:
                return (simplified,)
        types = op.infer(*atoms, **params)
        outs = tuple(map(Var, types)) if isinstance(types, tuple) else (Var(types),)
        self.let(outs, op, atoms, params)
        return outs

    def let(
        self, outs: tuple[Var, ...], op: Any, args: tuple[Atom, ...], params: Mapping[str, Any]
    ) -> None:
        statement = Let(outs, op, args, dict(params), self.origin)
        for v in outs:
            v.origin = v.origin or self.origin
            self.definitions[v] = statement
        self.emit(statement)

    @contextmanager
    def block(self) -> Iterator[list[Statement]]:
        """Statements recorded inside go to the list that is given."""
        self.blocks.append([])
        try:
            yield self.blocks[-1]
        finally:
            self.blocks.pop()

    def same_size(self, a: Size, b: Size) -> bool:
        """Whether two sizes that are not the same expression are equal; a pass may rely on it."""
        return not (isinstance(a, int) and isinstance(b, int))

    def is_one(self, size: Size, other: Size) -> bool:
        return size == 1

    def lacks_extent(self, size: Size) -> bool:
        return size == 1

    def is_sure(self, a: Size, b: Size) -> bool:
        """Whether of two sizes that are equal the first is as well known as the other."""
        return True

    def may_fit(self, a: Size, b: Size) -> bool:
        """Whether a value of size `a` can be stored into a part of size `b`, as far as is known;
        NumPy checks the rest when the program runs."""
        return not (isinstance(a, int) and isinstance(b, int))

    def in_bounds(self, index: int, size: Size, length: Callable[[], Atom]) -> bool:
        """Whether an index is one of an axis of this length, as far as a pass must know; `length`
        gives it as a value."""
        return True

    def decides(self, error: Exception, fails: Callable[[], Atom]) -> bool:
        """Whether it is known here that an operation does not fail, as an except clause catches it;
        raises the error where it does."""
        return False

    def not_negative(self, size: Size) -> bool:
        """Whether a pass may rely on a size not to be negative."""
        return dims.at_least(size, 0)

    def value(self, size: Size) -> int | None:
        """What a size is in the call that is being staged; None where nobody knows."""
        return size if isinstance(size, int) else None

    def constant_value(self, a: Atom) -> Any:
        """What is computed of constants only, as an array; None of other values."""
        return None

    def guard(self, relation: str, a: Size, b: Size) -> None:
        """Notes a fact about sizes of the call that is being staged: the program is for calls of
        which it is true, too."""

    def length(self, low: Size, high: Size) -> Size:
        """The number of elements of low:high."""
        return dims.maximum(high - low, 0)

    def at_least(self, a: Size, b: Size) -> Ternary:
        """Whether a >= b; a pass may rely on the answer."""
        return compare("ge", a, b)

    def equals(self, a: Size, b: Size) -> Ternary:
        """Whether a == b; a pass may rely on the answer."""
        return compare("eq", a, b)

    def in_scope(self, v: Var) -> bool:
        """Whether the integer that a length in a type names can be read."""
        return True

    def require(self, value: Atom, why: str, hint: str = "") -> Any:
        """The Python value of a variable, on which the program then relies; raises NeedStatic where
        there is none."""
        raise NeedStatic(value, why, hint)

    def clamp(self, bound: Size, n: Size) -> Size | None:
        """`bound` as a position in an axis of length n, where a pass may rely on it. It says where
        a slice begins or ends; `at_least` says which of two lengths is the larger one."""
        return None


@contextmanager
def building(b: Builder) -> Iterator[Builder]:
    before, opened.builder = opened.builder, b
    try:
        yield b
    finally:
        opened.builder = before


current: Callable[[], Builder] = recorder


def active() -> bool:
    return opened.builder is not None


WEAK = {t: Type(np.dtype(t), (), True) for t in (bool, int, float, complex)}


def atom(value: Any) -> Atom:
    """A Python or NumPy scalar as a literal; atoms as they are; sizes as integer atoms."""
    if isinstance(value, (Var, Literal)):
        return value
    if type(value) in WEAK:
        return Literal(value, WEAK[type(value)])
    if isinstance(value, np.generic):
        return Literal(value, Type(value.dtype))
    if isinstance(value, dims.Dim):
        return atom_of_size(value)
    if isinstance(value, int):  # a member of an IntEnum
        return atom(int(value))
    raise ArgumentTypeError(
        f"{type(value).__name__}, where a number or an array is needed",
        "pass numbers and arrays of numbers; arrays of objects have no rules",
    )


def atom_of_size(size: Size) -> Atom:
    """An integer atom with the value of `size`."""
    if isinstance(size, int):
        return atom(size)
    symbols = dims.symbols(size)
    if len(symbols) == 1:
        (only,) = symbols
        whole = size == dims.Dim((((only,), 1),))
        if only.var is not None and whole and current().in_scope(only.var):
            return only.var  # type: ignore[no-any-return]
    return size_value(size=size)  # type: ignore[no-any-return]


def size_of(value: Atom | int) -> Size:
    """The size that an integer atom stands for."""
    if isinstance(value, int):
        return value
    if isinstance(value, Literal):
        return int(value.value)
    size = _computed_size(value, size_of)
    return var_size(value) if size is None else size


def axis_length(value: Atom) -> Size | None:
    """The size that an atom was made from; None for an integer that is not made from lengths."""
    if isinstance(value, Literal):
        return value.value if type(value.value) is int else None
    return _computed_size(value, axis_length)


def defining_statement(a: Atom, *ops: Op) -> Let | None:
    """The operation that made a value, if it is in sight; with `ops`, if it is one of them."""
    if type(a) is not Var:
        return None
    let: Let | None = opened.builder.definitions.get(a)  # rules ask this thousands of times
    return let if let is None or not ops or let.op in ops else None


def same_value(a: Atom, b: Atom, most: int = 100) -> bool:
    """Whether two values are computed in the same way, as far as `most` pairs of them tell."""
    pending, compared = [(a, b)], set[tuple[Atom, Atom]]()
    while pending:
        pair = a, b = pending.pop()
        if a == b or pair in compared:
            continue
        if not (isinstance(a, Var) and isinstance(b, Var)) or len(compared) == most:
            return False
        compared.add(pair)
        s, t = defining_statement(a), defining_statement(b)
        if s is None or t is None or s.op is not t.op or not s.op.pure:
            return False
        if s.params != t.params or len(s.args) != len(t.args) or s.outs.index(a) != t.outs.index(b):
            return False
        pending += zip(s.args, t.args, strict=True)
    return True


def _computed_size(value: Var, of: Callable[[Atom], Size | None]) -> Size | None:
    """The size of a variable that is a length, or is computed from integers."""
    let = current().definitions.get(value)
    if let is None:
        return None
    if let.op is size_value:
        return let.params["size"]  # type: ignore[no-any-return]
    if let.op.of_sizes is None or any(
        a.type.dtype.kind not in "iu" for a in (*let.args, *let.outs)
    ):
        return None
    sizes = [of(x) for x in let.args]
    size: Size | None = None if None in sizes else let.op.of_sizes(*sizes)
    return size


def var_size(value: Var, lower: int | None = None) -> Size:
    """The size that an integer variable stands for, which is `lower` at least."""
    if value.size is None:
        value.size = dims.symbol(value.name or "n", lower, value)
    return value.size  # type: ignore[no-any-return]


class NeedStatic(Signal):
    """Python needs the value of `atom` while staging; the staged run decides what to do."""

    def __init__(self, atom: Atom, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.atom, self.why, self.hint = atom, why, hint


def static(value: Any, why: str) -> Any:
    """The Python value of a literal or plain object; NeedStatic for a variable."""
    if isinstance(value, Var):
        size = size_of(value) if value.type.dtype.kind in "iu" and not value.type.shape else None
        if isinstance(size, int):
            return size
        return _python_integer(current().require(value, why))
    return _python_integer(value.value if isinstance(value, Literal) else value)


def _python_integer(value: Any) -> Any:
    """An integer of NumPy's as one of Python's, of which lengths are made."""
    return int(value) if isinstance(value, np.integer) else value


#: A rule that branches on a value needs it: an object that is there is not thereby true.
ARITHMETIC["bool"] = lambda a: static(a, "whether it is true decides what is computed")


def broadcast(*shapes: tuple[Size, ...]) -> tuple[Size, ...]:
    """NumPy's broadcasting of shapes; raises ShapeError where NumPy would raise."""
    if not any(shapes):
        return ()
    rank = max(map(len, shapes))
    out: list[Size] = [1] * rank
    for shape in shapes:
        for k, size in enumerate(shape, rank - len(shape)):
            out[k] = join(out[k], size, shapes)
    return tuple(out)


def stretch(shape: tuple[Size, ...], target: tuple[Size, ...]) -> None:
    """Raises ShapeError where NumPy cannot broadcast a shape to the target; where only the run says
    so, it is checked then."""
    for a, n in zip(reversed(shape), reversed(target), strict=False):
        if a not in (1, n) and not (current().is_one(a, n) or current().same_size(a, n)):
            break
    else:
        if len(shape) <= len(target):
            return
    raise ShapeError(
        f"could not broadcast input array from shape {shape} into shape {target}",
        "take an element or a row of it first, or reshape it",
    )


def join(a: Size, b: Size, shapes: tuple[tuple[Size, ...], ...] = ()) -> Size:
    b_ = current()
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if b_.is_one(a, b):
        return b
    if b_.is_one(b, a):
        return a
    if not b_.same_size(a, b):
        shown = " and ".join("(" + ", ".join(map(str, s)) + ")" for s in shapes) or f"{a} and {b}"
        raise ShapeError(
            f"operands could not be broadcast together with shapes {shown}",
            "from the last axis on, lengths must be equal or 1: add an axis, as in x[:, None]",
        )
    return a if isinstance(a, int) or (not isinstance(b, int) and b_.is_sure(a, b)) else b
