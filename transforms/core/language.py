"""Defines the core language: a typed, structured program in single-assignment form. This file is
all of it.

A `Program` has parameters, a body of statements and results. Array values are immutable here:
`x[i] = v` is `x2 = update(x, v, i)`. Containers never reach core, only their leaves do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless.transforms.core.dims import Size
from tapeless.transforms.dataclass import dataclass

if TYPE_CHECKING:
    from tapeless.transforms.core.operation import Op


@dataclass(frozen=True)
class Type:
    """dtype, shape, and whether it is a Python scalar (`weak`: NEP 50 lets it adapt to arrays)."""

    dtype: np.dtype[Any]
    shape: tuple[Size, ...] = ()
    weak: bool = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def differentiable(self) -> bool:
        return self.dtype.kind in "fcO"

    def with_shape(self, shape: tuple[Size, ...]) -> Type:
        return Type(self.dtype, tuple(shape), self.weak and not shape)

    def __str__(self) -> str:
        shape = "[" + ", ".join(map(str, self.shape)) + "]" if self.shape else ""
        return ("py" if self.weak else "") + self.dtype.str.lstrip("<>|=") + shape


@dataclass(frozen=True)
class StackType:
    """A last-in first-out store of values of one type, for loops whose length is not known."""

    item: Type

    @property
    def differentiable(self) -> bool:
        return self.item.differentiable

    def __str__(self) -> str:
        return f"stack({self.item})"


#: What the forward part of a called function keeps for its backward part, as one value.
TAPE = Type(np.dtype(object))

#: What a tape of tangents holds in the place of an integer or a flag: None, which nobody reads.
NOTHING = Type(np.dtype("V"))


@dataclass(frozen=True)
class Origin:
    """The user's line that a statement comes from, and the `named_scope`s that it was in."""

    file: str
    line: int
    function: str = ""
    scope: str = ""

    @property
    def note(self) -> str:
        """The comment that says so in emitted code."""
        return f"# line {self.line}" + f", {self.scope}" * bool(self.scope)


#: +, -, *, / and ** of atoms inside rules, and their truth; `ops.arithmetic`, `ops.elementwise`
#: and `builder` fill it.
ARITHMETIC: dict[str, Callable[..., Atom]] = {}


class Arithmetic:
    """Lets a rule say `1 - y * y` of atoms."""

    def __add__(self, other: Any) -> Atom:
        return ARITHMETIC["add"](self, other)

    def __radd__(self, other: Any) -> Atom:
        return ARITHMETIC["add"](other, self)

    def __sub__(self, other: Any) -> Atom:
        return ARITHMETIC["sub"](self, other)

    def __rsub__(self, other: Any) -> Atom:
        return ARITHMETIC["sub"](other, self)

    def __mul__(self, other: Any) -> Atom:
        return ARITHMETIC["mul"](self, other)

    def __rmul__(self, other: Any) -> Atom:
        return ARITHMETIC["mul"](other, self)

    def __truediv__(self, other: Any) -> Atom:
        return ARITHMETIC["truediv"](self, other)

    def __rtruediv__(self, other: Any) -> Atom:
        return ARITHMETIC["truediv"](other, self)

    def __pow__(self, other: Any) -> Atom:
        return ARITHMETIC["power"](self, other)

    def __neg__(self) -> Atom:
        return ARITHMETIC["neg"](self)

    def __bool__(self) -> bool:
        return bool(ARITHMETIC["bool"](self))


@dataclass(eq=False)
class Var(Arithmetic):
    """A value with a name; its identity is the object, its name only a wish of the emitter."""

    type: Any
    name: str = ""
    origin: Origin | None = None
    size: Any = None  # the size symbol that stands for this integer, once one was needed
    partial: bool = False  # one side of a branch gives it, or its primal, no value
    primal: Any = None  # of a tangent that is partial, a stack or a tape: what it belongs to

    def __repr__(self) -> str:
        return self.name or f"v{id(self) % 10000}"


@dataclass(frozen=True)
class Literal(Arithmetic):
    """A scalar constant; `value` None means: undefined, never read."""

    value: Any
    type: Any

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Literal)
            and type(self.value) is type(other.value)
            and (self.value == other.value or self.value != self.value)
            and repr(self.value) == repr(other.value)  # -0.0 is not 0.0, and nan is nan
            and self.type == other.type
        )

    def __hash__(self) -> int:
        return hash(self.value) if self.value == self.value else 0

    def __repr__(self) -> str:
        return repr(self.value)


Atom = Var | Literal


@dataclass(frozen=True, eq=False)
class Block:
    """Statements with parameters and results; they may read every variable of the scopes around."""

    params: tuple[Var, ...]
    body: tuple[Statement, ...]
    results: tuple[Atom, ...]


@dataclass(frozen=True, eq=False)
class Let:
    """outs = op(args, params)."""

    outs: tuple[Var, ...]
    op: Op
    args: tuple[Atom, ...]
    params: dict[str, Any]
    origin: Origin | None

    def __init__(
        self,
        outs: tuple[Var, ...],
        op: Op,
        args: tuple[Atom, ...],
        params: dict[str, Any] | None = None,
        origin: Origin | None = None,
    ) -> None:
        # thousands are made: a frozen dataclass's own __init__ takes three times as long
        params = {} if params is None else params
        self.__dict__.update(outs=outs, op=op, args=args, params=params, origin=origin)


@dataclass(frozen=True, eq=False)
class If:
    """outs = results of `then` if test else results of `orelse`."""

    outs: tuple[Var, ...]
    test: Atom
    then: Block
    orelse: Block
    mirror: Any = None  # in a linear or transposed program: the statement whose choices it repeats
    origin: Origin | None = None


@dataclass(frozen=True, eq=False)
class For:
    """for body.params[0] in range(start, stop, step); the other params carry values on.

    With `until`, the first result of the body is a flag that ends the loop after this pass, and
    `count` is the number of passes made. `reverse` runs the same indices backwards. `each` says
    that the passes are those of the elements of a batch.
    """

    outs: tuple[Var, ...]
    start: Atom
    stop: Atom
    step: Atom
    inits: tuple[Atom, ...]
    body: Block
    reverse: bool = False
    until: bool = False
    count: Var | None = None
    mirror: Any = None
    origin: Origin | None = None
    each: bool = False

    @property
    def index(self) -> Var:
        return self.body.params[0]

    @property
    def carries(self) -> tuple[Var, ...]:
        return self.body.params[1:]

    @property
    def yields(self) -> tuple[Atom, ...]:
        return self.body.results[1:] if self.until else self.body.results


@dataclass(frozen=True, eq=False)
class While:
    """Carries go through `body` while `test` (a block with the same parameters) gives true."""

    outs: tuple[Var, ...]
    inits: tuple[Atom, ...]
    test: Block
    body: Block
    origin: Origin | None = None


@dataclass(frozen=True, eq=False)
class Effect:
    """Something that happens: print, raise, check. `params` say how the args are put together."""

    kind: str
    args: tuple[Atom, ...]
    params: dict[str, Any] = field(default_factory=dict)
    origin: Origin | None = None

    @property
    def outs(self) -> tuple[Var, ...]:
        return ()

    @property
    def error(self) -> str:
        """The class of the error of a check that fails: NumPy's of a mask that does not fit."""
        return "IndexError" if self.params.get("mask") else "ValueError"

    @property
    def message(self) -> str:
        """What a check that fails says: that two lengths differ, one of which may depend on
        run-time values."""
        if self.params.get("mask"):
            return "boolean index did not match indexed array: the lengths differ"
        stretched = "; one that run-time values decide is not stretched, even if it is 1: take its "
        stretched += "element, v[0], or np.resize(v, n)"
        why = stretched * self.params.get("by_data", False)
        return f"operands could not be broadcast together: the lengths differ{why}"


Statement = Let | If | For | While | Effect


@dataclass(frozen=True, eq=False)
class Program:
    """A closed block with a name."""

    name: str
    block: Block


class Function:
    """A closed block that the operation `call` enters by name, also from inside: recursion.

    derived  its transforms, each of which is made once
    """

    def __init__(self, name: str, build: Callable[[], Block]) -> None:
        self.name, self.build = name, build
        self.derived: dict[Any, Any] = {}

    @functools.cached_property
    def block(self) -> Block:
        return self.build()

    def __repr__(self) -> str:
        return self.name


def blocks(statement: Statement) -> tuple[Block, ...]:
    if type(statement) is Let:  # nearly all are
        return ()
    match statement:
        case If(then=then, orelse=orelse):
            return (then, orelse)
        case For(body=body):
            return (body,)
        case While(test=test, body=body):
            return (test, body)
        case _:
            return ()


def with_blocks(s: Statement, f: Callable[[Block], Block]) -> Statement:
    """A statement with other blocks."""
    if type(s) is Let:  # most are
        return s
    match s:
        case If():
            return replace(s, then=f(s.then), orelse=f(s.orelse))
        case For():
            return replace(s, body=f(s.body))
        case While():
            return replace(s, test=f(s.test), body=f(s.body))
    return s


def operands(statement: Statement) -> tuple[Atom, ...]:
    """The atoms a statement reads itself, outside its blocks."""
    if type(statement) is Let:
        return statement.args
    match statement:
        case Let(args=args) | Effect(args=args):
            return args
        case If(test=test):
            return (test,)
        case For(start=start, stop=stop, step=step, inits=inits):
            return (start, stop, step, *inits)
        case While(inits=inits):
            return inits
        case _:
            raise TypeError(statement)


def outputs(statement: Statement) -> tuple[Var, ...]:
    if type(statement) is For and statement.count is not None:
        return (*statement.outs, statement.count)
    return statement.outs


def statements(block: Block) -> Iterator[Statement]:
    """Every statement, outer before inner."""
    for s in block.body:
        yield s
        if type(s) is not Let:
            for b in blocks(s):
                yield from statements(b)


def all_blocks(block: Block) -> list[Block]:
    """The block and all blocks of statements in it."""
    return [block, *(b for s in statements(block) for b in blocks(s))]


def is_about_lists(s: Let) -> bool:
    """Whether an operation takes or gives lists."""
    return any(isinstance(a.type, StackType) for a in (*s.args, *s.outs))


def has_effect(s: Statement) -> bool:
    """Whether it must not be done twice, nor where Python does not do it."""
    return isinstance(s, Effect) or (isinstance(s, Let) and not s.op.pure)


def free_variables(block: Block) -> dict[Var, None]:
    """Variables read but not defined inside, in order of first use."""
    variables: dict[Var, None] = {}
    _free(block, set(), variables)
    return variables


def _free(block: Block, defined: set[Var], variables: dict[Var, None]) -> None:
    defined = defined | set(block.params)
    for s in block.body:
        for a in operands(s):
            if isinstance(a, Var) and a not in defined:
                variables[a] = None
        for b in blocks(s):
            _free(b, defined, variables)
        defined |= set(outputs(s))
    for a in block.results:
        if isinstance(a, Var) and a not in defined:
            variables[a] = None


def is_undefined(a: Atom) -> bool:
    """Whether a result stands for a value that is never looked at."""
    return isinstance(a, Literal) and a.value is None
