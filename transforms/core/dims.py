"""Represents axis lengths: integers, or canonical integer expressions over named sizes.

>>> n = symbol("n", lower=2)
>>> (n + 1) - 1 == n, n - n, maximum(n - 2, 0)
(True, 0, n - 2)
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, Union

from tapeless.transforms.dataclass import dataclass

Size = Union[int, "Dim"]
_uids = itertools.count()


@dataclass(frozen=True, eq=False)
class Symbol:
    """A size nobody computes: an axis of an input, or the value of an integer variable (`var`)."""

    name: str
    lower: int | None = None
    var: Any = None
    given: bool = False  # by an input: the same everywhere in the program
    upper: Size | None = None  # as of a part: it is no longer than the whole
    uid: int = field(default_factory=lambda: next(_uids))

    def __str__(self) -> str:
        return self.name


CALLED = ("max", "min")  # kinds that are written as calls


@dataclass(frozen=True)
class Quotient:
    """Floor division, remainder, maximum or minimum of two sizes that does not simplify."""

    kind: str  # "//", "%", "max", "min"
    left: Size
    right: Size

    def __str__(self) -> str:
        if self.kind in CALLED:
            return f"{self.kind}({self.left}, {self.right})"
        return f"({self.left}) {self.kind} ({self.right})"


Factor = Symbol | Quotient


def _order(factor: Factor) -> tuple[Any, ...]:
    """Symbols by age, then quotients by what they are made of: names need not be different."""
    if isinstance(factor, Symbol):
        return (factor.uid,)
    parts = [[([*map(_order, f)], c) for f, c in terms_of(s)] for s in (factor.left, factor.right)]
    return (1 << 60, factor.kind, parts)


@dataclass(frozen=True)
class Dim:
    """A polynomial with integer coefficients; `terms` maps sorted factors to coefficients."""

    terms: tuple[tuple[tuple[Factor, ...], int], ...]

    @functools.cached_property
    def symbols(self) -> frozenset[Symbol]:
        factors = [f for product, _ in self.terms for f in product]
        inner = [symbols(f.left) | symbols(f.right) for f in factors if isinstance(f, Quotient)]
        return frozenset(f for f in factors if isinstance(f, Symbol)).union(*inner)

    def __hash__(self) -> int:
        return self.hash_of_terms

    @functools.cached_property
    def hash_of_terms(self) -> int:
        return hash(self.terms)

    def __add__(self, other: Size) -> Size:
        if type(other) is int and other == 0:
            return self
        sums = dict(self.terms)
        for factors, coefficient in terms_of(other):
            sums[factors] = sums.get(factors, 0) + coefficient
        return _canonical(sums)

    def __mul__(self, other: Size) -> Size:
        products: dict[tuple[Factor, ...], int] = {}
        for left, a in self.terms:
            for right, b in terms_of(other):
                key = left + right
                key = tuple(sorted(key, key=_order)) if left and right else key
                products[key] = products.get(key, 0) + a * b
        return _canonical(products)

    def __neg__(self) -> Size:
        return Dim(tuple((factors, -c) for factors, c in self.terms))

    def __sub__(self, other: Size) -> Size:
        return self + (-other)

    def __rsub__(self, other: Size) -> Size:
        return (-self) + other

    __radd__ = __add__
    __rmul__ = __mul__

    def __floordiv__(self, other: Size) -> Size:
        if isinstance(other, int) and other > 0:
            return _divide_by_number(self, other)
        exact = _divide_exactly(self, other)
        return single(Quotient("//", self, other)) if exact is None else exact

    def __rfloordiv__(self, other: int) -> Size:
        return 0 if other == 0 else single(Quotient("//", other, self))

    def __mod__(self, other: Size) -> Size:
        if isinstance(other, int) and other > 0 and all(c % other == 0 for _, c in self.terms):
            return 0
        if _divide_exactly(self, other) is not None:
            return 0
        return single(Quotient("%", self, other))

    def __rmod__(self, other: int) -> Size:
        return 0 if other == 0 else single(Quotient("%", other, self))

    def __str__(self) -> str:
        text = ""
        for factors, c in sorted(self.terms, key=lambda t: (not t[0], t[1] < 0)):
            body = "*".join(
                ([] if abs(c) == 1 and factors else [str(abs(c))])
                + [_factor_text(f, len(factors) == 1 == c) for f in factors]
            )
            text += ((" - " if c < 0 else " + ") if text else ("-" if c < 0 else "")) + body
        return text

    __repr__ = __str__


def _factor_text(factor: Factor, alone: bool) -> str:
    bare = alone or isinstance(factor, Symbol) or factor.kind in CALLED
    return str(factor) if bare else f"({factor})"


def terms_of(size: Size) -> tuple[tuple[tuple[Factor, ...], int], ...]:
    """The products that a size is the sum of, with their coefficients."""
    return size.terms if isinstance(size, Dim) else (((), int(size)),)


def _canonical(terms: Mapping[tuple[Factor, ...], int]) -> Size:
    nonzero = {f: c for f, c in terms.items() if c}
    if not any(nonzero):
        return nonzero.get((), 0)
    if len(nonzero) == 1:
        return Dim(tuple(nonzero.items()))
    return Dim(tuple(sorted(nonzero.items(), key=lambda t: [_order(f) for f in t[0]])))


def single(factor: Factor) -> Dim:
    return Dim((((factor,), 1),))


def _divide_by_number(size: Dim, k: int) -> Size:
    """`size // k`, with what k divides taken out: what is left has a constant in (-k, 0].

    >>> n = symbol("n")
    >>> (4 * n + 2) // 2, (n + 1) // 2, (2 * n + 3) // 2
    (2*n + 1, (n - 1) // (2) + 1, n + 1)
    """
    whole: dict[tuple[Factor, ...], int] = {}
    remaining: dict[tuple[Factor, ...], int] = {}
    for factors, c in size.terms:
        if c % k == 0 or not factors:
            whole[factors] = -(-c // k)
            c -= whole[factors] * k
        remaining[factors] = c
    rest = _canonical(remaining)
    quotient: Size = rest // k if isinstance(rest, int) else single(Quotient("//", rest, k))
    return _canonical(whole) + quotient


def _divide_exactly(size: Dim, by: Size) -> Size | None:
    """`size / by` where it is a polynomial, too, else None: long division by leading terms.

    >>> n, m, k = symbol("n"), symbol("m"), symbol("k")
    >>> (n - k + 1) * m * k // (n * m - k * m + m), (n + 1) // (n - 1)
    (k, (n + 1) // (n - 1))
    """
    if by == 0:
        return None
    divisor, c = _leading_term(by)
    quotient: Size = 0
    remainder: Size = size
    while remainder != 0:
        leading, coefficient = _leading_term(remainder)
        factors = _divide_products(leading, divisor)
        if factors is None or coefficient % c:
            return None
        term = product(map(single, factors)) * (coefficient // c)
        quotient, remainder = quotient + term, remainder - term * by
    return quotient


def _leading_term(size: Size) -> tuple[tuple[Factor, ...], int]:
    """The largest term by degree, then by factors: the graded lexicographic order."""
    return min(terms_of(size), key=lambda t: (-len(t[0]), [_order(f) for f in t[0]]))


def _divide_products(
    factors: tuple[Factor, ...], divisor: tuple[Factor, ...]
) -> list[Factor] | None:
    """The factors of a product divided by another one; None where it lacks one of them."""
    remaining = list(factors)
    for f in divisor:
        if f not in remaining:
            return None
        remaining.remove(f)
    return remaining


def symbol(
    name: str,
    lower: int | None = None,
    var: Any = None,
    given: bool = False,
    upper: Size | None = None,
) -> Dim:
    return single(Symbol(name, lower, var, given, upper))


def learn_upper(x: Symbol, upper: Size) -> None:
    """Notes that a size is at most `upper` in all programs that it is in.

    >>> n, k = symbol("n", 0), symbol("k", 0)
    >>> learn_upper(*symbols(k), n)
    >>> at_least(n, k)
    True
    """
    if x.upper is None:
        object.__setattr__(x, "upper", upper)


def of_its_own(shape: tuple[Size, ...]) -> tuple[Size, ...]:
    """The sizes of one of several values, which need be as long as the others only where inputs
    say so.

    >>> n = symbol("n", given=True)
    >>> of_its_own((3, n)) == (3, n), of_its_own((symbol("k"),)) == of_its_own((symbol("k"),))
    (True, False)
    """
    return tuple(n if is_given(n) else symbol("n", 0) for n in shape)


def is_given(size: Size) -> bool:
    """Whether inputs say a size, which is then the same everywhere in the program."""
    return all(x.given for x in symbols(size))


def lower_bound(size: Size) -> int | None:
    """The least value that the bounds of its symbols allow; None where there is none."""
    bound = _termwise_bound(size)
    return bound if bound is not None else _bound_by_sides(size)


def _bound_by_sides(size: Size) -> int | None:
    """A bound by max(a, b) >= a and -min(a, b) >= -a, and the same of b; by the lesser of -a and -b
    for -max(a, b), and of a and b for min(a, b); by a // k > a / k - 1 and -(a // k) >= -a / k; and
    by -length >= -n for a part of n.

    >>> n = symbol("n", 0)
    >>> minimum(maximum(symbol("length", 0, upper=n) - 1, 0), n)
    max(length - 1, 0)
    """
    bounds = list[int | None]()
    for factors, c in terms_of(size):
        f = factors[0] if len(factors) == 1 else None
        if isinstance(f, Symbol) and c < 0 and isinstance(f.upper, Dim):
            bounds.append(lower_bound(size + (f.upper - single(f)) * c))
        if not isinstance(f, Quotient):
            continue
        if f.kind == ("max" if c > 0 else "min"):
            bounds += [lower_bound(size + (side - single(f)) * c) for side in (f.left, f.right)]
        elif f.kind in CALLED:
            both = [lower_bound(size + (side - single(f)) * c) for side in (f.left, f.right)]
            bounds.append(None if None in both else min(both))  # type: ignore[type-var]
        elif f.kind == "//" and isinstance(k := f.right, int) and k > 0:
            dividend = f.left - (k - 1) if c > 0 else f.left
            multiple = lower_bound((size - single(f) * c) * k + dividend * c)
            bounds.append(None if multiple is None else -(-multiple // k))
    return max((b for b in bounds if b is not None), default=None)


def _termwise_bound(size: Size) -> int | None:
    total = 0
    for factors, c in terms_of(size):
        bounds = [_factor_bound(f) for f in factors]
        if not factors:
            total += c
            continue
        upper = factors[0].upper if c < 0 and isinstance(factors[0], Symbol) else None
        if isinstance(upper, int) and len(factors) == 1:
            total += c * upper
            continue
        if c < 0 or any(b is None or b < 0 for b in bounds):
            return None
        for b in bounds:
            c *= b or 0
        total += c
    return total


def _factor_bound(factor: Factor) -> int | None:
    if isinstance(factor, Symbol):
        return factor.lower
    if factor.kind == "max":
        bounds = [b for b in (lower_bound(factor.left), lower_bound(factor.right)) if b is not None]
        return max(bounds, default=None)
    if factor.kind == "min":
        least = lower_bound(factor.left), lower_bound(factor.right)
        return None if None in least else min(least)  # type: ignore[type-var]
    left, right = lower_bound(factor.left), lower_bound(factor.right)
    if (
        factor.kind == "//"
        and left is not None
        and isinstance(factor.right, int)
        and factor.right > 0
    ):
        return left // factor.right
    return 0 if left is not None and left >= 0 and (right or 0) > 0 else None


def at_least(a: Size, b: Size) -> bool:
    """Whether a >= b is certain."""
    bound = lower_bound(a - b)
    return bound is not None and bound >= 0


def sides(a: Size, b: Size) -> tuple[Size, Size]:
    """Two sizes that compare as a and b do, without differences: n - m and 0 are n and m.

    >>> n, m = symbol("n"), symbol("m")
    >>> sides(n - m, 0)
    (n, m)
    """
    left: Size = 0
    right: Size = 0
    for factors, c in terms_of(a - b):
        term = product(map(single, factors)) * abs(c)
        left, right = (left + term, right) if c > 0 else (left, right + term)
    return left, right


def compare(kind: str, a: Size, b: Size) -> bool | None:
    """A comparison, by the name of its operator; None where it is not certain.

    >>> n = symbol("n", lower=2)
    >>> compare("eq", n, 1), compare("gt", n, 1), compare("lt", n, 3)
    (False, True, None)
    """
    if kind in ("lt", "gt", "ne"):
        opposite = compare({"lt": "ge", "gt": "le", "ne": "eq"}[kind], a, b)
        return None if opposite is None else not opposite
    if kind == "eq":
        apart = at_least(a, b + 1) or at_least(b, a + 1)
        return True if a == b else False if apart else None
    high, low = (a, b) if kind == "ge" else (b, a)
    return True if at_least(high, low) else False if at_least(low, high + 1) else None


def maximum(a: Size, b: Size) -> Size:
    """The larger of two sizes.

    >>> maximum(2 * symbol("n") - 2, 0)
    2*max(n - 1, 0)
    """
    if at_least(a, b):
        return a
    return b if at_least(b, a) else _extremum("max", a, b)


def minimum(a: Size, b: Size) -> Size:
    if at_least(a, b):
        return b
    return a if at_least(b, a) else _extremum("min", a, b)


def _extremum(kind: str, a: Size, b: Size) -> Size:
    """What does not simplify, without the factor that all terms have."""
    k = math.gcd(*(c for size in (a, b) for _, c in terms_of(size)))
    return single(Quotient(kind, a // k, b // k)) * k if k > 1 else single(Quotient(kind, a, b))


def product(sizes: Iterable[Size]) -> Size:
    total: Size = 1
    for s in sizes:
        total = total * s
    return total


def symbols(size: Size) -> frozenset[Symbol]:
    return size.symbols if isinstance(size, Dim) else frozenset()


def substitute(size: Size, get: Callable[[Symbol], Size | None]) -> Size:
    """Replace each symbol by `get(symbol)`; None keeps it."""
    if isinstance(size, int) or all(get(x) is None for x in size.symbols):
        return size
    total: Size = 0
    for factors, c in size.terms:
        term: Size = c
        for f in factors:
            if isinstance(f, Symbol):
                new = get(f)
                term = term * (single(f) if new is None else new)
            else:
                term = term * combine(f.kind, substitute(f.left, get), substitute(f.right, get))
        total = total + term
    return total


def combine(kind: str, left: Size, right: Size) -> Size:
    if kind in CALLED:
        return maximum(left, right) if kind == "max" else minimum(left, right)
    return left // right if kind == "//" else left % right


def evaluate(size: Size, values: Mapping[Symbol, int]) -> int | None:
    """The number that `size` is under `values`; None where a symbol is missing, or for none."""
    try:
        got = substitute(size, values.get)
    except ZeroDivisionError:  # on a side that is not taken
        return None
    return got if isinstance(got, int) else None
