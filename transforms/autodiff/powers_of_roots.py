"""Gives products and powers of roots the derivative of one power of what the root is of.

    m = abs(z); y = m**2      becomes      m = abs(z); y = m**2, sloped as z.real**2 + z.imag**2

A root has no derivative where its argument is 0: the chain rule meets infinity times 0, or the
slope 0 that was chosen for a magnitude (`abs` of complex numbers, `hypot`, `norm`), and a
derivative of higher order comes out wrong. Powers of it may have one: |z|**2 is a polynomial. So
have functions of a magnitude that are even, such as its cosine.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.builder import Builder, building
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    with_blocks,
)
from tapeless.transforms.core.language import statements as all_statements
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.linalg.einsum import einsum
from tapeless.transforms.ops.linalg.norms import norm
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.numerics.even_functions import (
    SLOPES_BY_SQUARE,
    magnitude_squared,
    sloped,
)
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg
from tapeless.transforms.ops.primitives.dtypes import conform
from tapeless.transforms.ops.primitives.elementwise import (
    absolute,
    cbrt,
    float_power,
    hypot,
    power,
    sqrt,
    square,
)
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.shapes import broadcast_to, cast, reshape, transpose
from tapeless.transforms.ops.primitives.shapes import sum as add_up
from tapeless.transforms.ops.primitives.slices_and_gathers import gather, index

MOST = 8  # statements that a factor is followed through
MAGNITUDES = (absolute, hypot, norm)
ROOTS = (*MAGNITUDES, sqrt, cbrt, power, float_power)
MOVES = (index, gather, reshape, transpose, broadcast_to, cast, identity)
PRODUCTS = (mul, square, power, float_power, sqrt, cbrt, matmul, einsum)


@dataclass(frozen=True)
class PowerFactor:
    """base ** exponent.

    key        tells bases apart
    root       the exponent is that of a root of the base, or of a power of one
    magnitude  the square root of the base, where it is the square of a magnitude
    """

    key: Any
    base: Callable[[], Any]
    exponent: float
    root: bool = False
    magnitude: Any = None

    @property
    def smooth(self) -> bool:
        """Whether the power has a derivative where the base is 0."""
        return self.exponent >= 1


def powers_of_roots(block: Block) -> Block:
    """The block in which powers of roots have slopes of their own."""
    if not any(isinstance(s, Let) and _is_root(s) for s in all_statements(block)):
        return block
    return replace(block, body=tuple(_rewritten(block.body, DefinedStatements({}, {}, {}))))


def _is_root(s: Let) -> bool:
    if s.op in (power, float_power):
        return isinstance(s.args[1], Literal) and s.args[1].value % 1 != 0
    return s.op in ROOTS and (s.op is not absolute or s.args[0].type.dtype.kind == "c")


@dataclass(frozen=True)
class DefinedStatements:
    """What variables are defined by, and which of them are known to be equal."""

    defined: dict[Any, Let]
    first: dict[Any, Var]  # of each computation the variable that it was first given to
    number: dict[Any, Var]  # of variables that another one equals, that one

    def inner(self) -> DefinedStatements:
        return DefinedStatements(dict(self.defined), dict(self.first), dict(self.number))

    def add(self, s: Let) -> None:
        self.defined.update(dict.fromkeys(s.outs, s))
        if s.op.pure and len(s.outs) == 1:
            equal = self.first.setdefault(self.key(s), s.outs[0])
            self.number[s.outs[0]] = equal

    def key(self, s: Let) -> Any:
        """The same for statements that compute the same."""
        return s.op, self.equals(s.args), str(s.params)

    def equal(self, a: Atom) -> Any:
        """The first value that is known to equal this one."""
        return self.number.get(a, a)

    def equals(self, args: tuple[Atom, ...]) -> tuple[Any, ...]:
        return tuple(map(self.equal, args))


def _rewritten(body: Iterable[Statement], definitions: DefinedStatements) -> Iterator[Statement]:
    for s in body:
        replacement: list[Statement] = [s]
        if isinstance(s, Let) and s.op is sloped:  # it was found before: it is found again
            replacement = [Let(s.outs, identity, s.args[:1], {}, s.origin)]
        elif isinstance(s, Let) and (s.op in PRODUCTS or s.op in SLOPES_BY_SQUARE):
            replacement = Powers(definitions).rewritten(s)
        for new in replacement:
            if isinstance(new, Let):
                definitions.add(new)
            yield with_blocks(
                new, lambda b: replace(b, body=tuple(_rewritten(b.body, definitions.inner())))
            )


class Powers:
    """Reads values as products of powers, and writes them with one power of each base."""

    def __init__(self, definitions: DefinedStatements) -> None:
        self.known, self.defined = definitions, definitions.defined

    def rewritten(self, s: Let) -> list[Statement]:
        """The statement, with slopes of its own where it is a power of a root."""
        if not _is_real(s.outs[0]):
            return [s]
        with building(Builder()) as b:
            b.origin = s.origin
            b.definitions.update(self.defined)
            smooth = self.smooth(s)
            if smooth is None or smooth.type.shape != s.outs[0].type.shape:
                return [s]
            value = Var(s.outs[0].type, s.outs[0].name, s.origin)
            by_square = SLOPES_BY_SQUARE.get(s.op)
            args = (value, conform(smooth, value.type), *(s.args if by_square else ()))
        plain = replace(s, outs=(value,))
        return [plain, *b.blocks[0], Let(s.outs, sloped, args, {"slope": by_square}, s.origin)]

    def smooth(self, s: Let) -> Any:
        """What has the derivative of the statement's value: a product of powers, or the square that
        an even function is taken of."""
        if s.op in SLOPES_BY_SQUARE:
            return self.product(self.powers(self.factors(s.args[0], 0), 2.0))
        if s.op in (matmul, einsum):
            return self.inner_product(s)
        return self.product(self.factors_of(s, 0))

    def inner_product(self, s: Let) -> Any:
        """The sum of the squares of a vector of magnitudes."""
        letters = s.params.get("subscripts", "i,i->" if s.args[0].type.ndim == 1 else "")
        if len(s.args) != 2 or not _is_inner(letters):
            return None
        a, b = s.args
        if a.type.shape != b.type.shape:
            return None
        squares = self.product([*self.factors(a, 0), *self.factors(b, 0)])
        axes = tuple(range(a.type.ndim))
        return None if squares is None else add_up(squares, axes=axes, keepdims=False)

    # -- the factors of a value

    def factors(self, a: Atom, depth: int) -> list[PowerFactor]:
        """The powers that a value is the product of; itself, if it is none."""
        let = self.defined.get(a) if isinstance(a, Var) and depth < MOST else None
        if let is None or len(let.outs) > 1:
            return [PowerFactor(self.known.equal(a), lambda: a, 1.0)]
        return self.factors_of(let, depth + 1)

    def factors_of(self, s: Let, depth: int) -> list[PowerFactor]:
        (out, *_), a = s.outs, s.args[0] if s.args else None
        itself = [PowerFactor(self.known.equal(out), lambda: out, 1.0)]
        if a is None or not _is_real(out):
            return itself
        if s.op is mul:
            return _merge_powers(f for x in s.args for f in self.factors(x, depth))
        if s.op is neg:
            return [PowerFactor(-1.0, lambda: -1.0, 1.0), *self.factors(a, depth)]
        if s.op is sloped:
            return self.factors(a, depth)
        if s.op in MOVES:
            return self.factors_of_view(s, self.factors(a, depth)) or itself
        if s.op in MAGNITUDES and _is_root(s):
            squared = functools.partial(self.magnitude_squared, s, depth)
            return [PowerFactor(self.known.key(s), squared, 0.5, True, lambda: out)]
        exponent = _exponent(s)
        if exponent is None or not _is_real(a):
            return itself
        return self.powers(self.factors(a, depth), exponent) or itself

    def factors_of_view(self, s: Let, factors: list[PowerFactor]) -> list[PowerFactor]:
        """The factors of a view; a view of one power of a root is a power of a view."""
        if len(factors) != 1 or not factors[0].root:
            return []
        (f,) = factors

        def view(x: Any) -> Any:
            return s.op(x, *s.args[1:], **s.params)

        return [
            replace(
                f,
                key=(s.op, self.known.equals(s.args[1:]), str(s.params), f.key),
                base=lambda: view(f.base()),
                magnitude=f.magnitude and (lambda: view(f.magnitude())),
            )
        ]

    def powers(self, factors: list[PowerFactor], exponent: float) -> list[PowerFactor]:
        """A power of a product as a product of powers; none where signs would be lost."""
        if exponent % 1 == 0:
            return [replace(f, exponent=f.exponent * exponent) for f in factors]
        if len(factors) != 1:
            return []
        (f,) = factors
        if f.exponent % 2 == 0 and not f.root:
            return [self.power_of_magnitude(f, exponent)]
        return [replace(f, exponent=f.exponent * exponent, root=True)]

    def power_of_magnitude(self, f: PowerFactor, exponent: float) -> PowerFactor:
        """(x**2)**0.5 is not x but its magnitude."""
        half = f.exponent * exponent / 2
        return PowerFactor(
            (absolute, f.key),
            lambda: square(f.base()),
            half,
            True,
            lambda: absolute(f.base()),
        )

    def magnitude_squared(self, s: Let, depth: int) -> Any:
        """The square of a magnitude, which is smooth."""
        squares = [self.square_of(a, depth) for a in s.args]
        if s.op is norm:
            return add_up(squares[0], **s.params)
        return add(*squares) if s.op is hypot else squares[0]

    def square_of(self, a: Atom, depth: int) -> Any:
        """The square of a value, without the root that it may be."""
        if a.type.dtype.kind == "c":
            return magnitude_squared(a)
        smooth = self.product(self.powers(self.factors(a, depth), 2.0))
        return square(a) if smooth is None else smooth

    # -- and their product again

    def product(self, factors: list[PowerFactor]) -> Any:
        """The product with one power of each base; None if no root is in it, or none that the
        other factors make smooth."""
        merged = _merge_powers(factors)
        if not any(f.root and f.smooth for f in merged):
            return None
        result: Any = None
        for f in merged:
            value = _power(f)
            result = value if result is None else mul(result, value)
        return result


def _merge_powers(factors: Iterable[PowerFactor]) -> list[PowerFactor]:
    """One power of each base."""
    merged: dict[Any, PowerFactor] = {}
    for f in factors:
        merged[f.key] = _times(merged[f.key], f) if f.key in merged else f
    return list(merged.values())


def _times(f: PowerFactor, g: PowerFactor) -> PowerFactor:
    """The product of two powers of one base."""
    own = f if f.root else g
    return replace(own, exponent=f.exponent + g.exponent)


def _power(f: PowerFactor) -> Any:
    """A power of the base; half an odd number of times a magnitude keeps the magnitude."""
    if f.magnitude and f.exponent % 1:
        whole = f.exponent // 1
        rest = power(f.magnitude(), 2 * (f.exponent - whole))
        return mul(_whole_power(f.base(), whole), rest) if whole else rest
    return _whole_power(f.base(), f.exponent)


def _whole_power(x: Any, exponent: float) -> Any:
    return x if exponent == 1 else power(x, int(exponent) if exponent % 1 == 0 else exponent)


def _exponent(s: Let) -> float | None:
    """The positive number that a statement takes a power by."""
    fixed = {square: 2.0, sqrt: 0.5, cbrt: 1 / 3}.get(s.op)
    if s.op in (power, float_power) and isinstance(s.args[1], Literal):
        value = s.args[1].value
        return float(value) if isinstance(value, (int, float)) and value > 0 else None
    return fixed


def _is_real(a: Atom) -> bool:
    """Whether an atom is a float or an array of floats."""
    return isinstance(a.type, Type) and a.type.dtype.kind == "f"


def _is_inner(subscripts: str) -> bool:
    """Whether an einsum is the inner product of two operands with the same axes."""
    operands, _, out = subscripts.partition("->")
    a, _, b = operands.partition(",")
    return bool(a) and a == b and not out and len(set(a)) == len(a)
