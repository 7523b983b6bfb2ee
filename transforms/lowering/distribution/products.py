"""Finds products in the passes of a loop that can be made for all passes at once.

y = x @ matrix       becomes      ys = xs @ matrix, where xs holds x of each pass, row by row
total += outer(a, b) becomes      total += a_rows.T @ b_rows, where these hold a and b of each pass
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Atom, For, Let, Statement, Type, Var
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.arithmetic import add, mul, sub
from tapeless.transforms.ops.primitives.shapes import reshape, transpose

Definitions = Mapping[Atom, Let]


@dataclass(frozen=True)
class PassProduct:
    """A product, in each pass, of a value of the pass and a matrix that stays.

    let     the statement
    value   the vector or matrix of the pass
    matrix  what stays
    matrix_first  whether the matrix is the left operand
    """

    let: Let
    value: Var
    matrix: Atom
    matrix_first: bool

    @property
    def multiplications(self) -> dims.Size:
        """How many numbers are multiplied in a pass."""
        return dims.product([*self.let.outs[0].type.shape, self.value.type.shape[-1]])

    def of_rows(self, rows: Atom) -> Atom:
        """The products of all passes, recorded in the open block.

        rows  the values of all passes, along axis 0
        """
        matrix = transpose(self.matrix, axes=(1, 0)) if self.matrix_first else self.matrix
        return matmul(rows, matrix)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Term:
    """One outer product, or product a.T @ b, that each pass adds to a total, or subtracts."""

    a: Var
    b: Var
    negative: bool

    @property
    def multiplications(self) -> dims.Size:
        """How many numbers are multiplied in a pass."""
        return dims.product([*self.a.type.shape, self.b.type.shape[-1]])

    def add_products(self, total: Atom, a_rows: Atom, b_rows: Atom) -> Atom:
        """The total after all passes, recorded in the open block."""
        a, b = (_as_matrix(rows) for rows in (a_rows, b_rows))
        products = matmul(transpose(a, axes=(1, 0)), b)
        return (sub if self.negative else add)(total, products)  # type: ignore[no-any-return]


def _as_matrix(rows: Atom) -> Atom:
    """The rows of the matrices of all passes as those of one matrix."""
    shape = rows.type.shape
    if len(shape) == 2:
        return rows
    return reshape(rows, shape=(dims.product(shape[:-1]), shape[-1]))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Sum:
    """A carry to which a loop only adds, and what it adds.

    carry    its place among the carries
    terms    the products among what is added
    others   what else is added, each with whether it is subtracted
    within   the statements that add, and those that make the products
    """

    carry: int
    terms: list[Term]
    others: list[tuple[Atom, bool]]
    within: frozenset[Statement]

    def of_all(self, total: Atom, rows_of: Callable[[Var], Atom]) -> Atom:
        """The total after all passes, recorded in the open block."""
        for term in self.terms:
            total = term.add_products(total, rows_of(term.a), rows_of(term.b))
        return total


def has_products(loop: For) -> bool:
    """Whether a loop has statements that may be products of all passes."""
    matrices = any(map(_is_matrix, (c.type for c in loop.carries)))
    return matrices or any(isinstance(s, Let) and s.op is matmul for s in loop.body.body)


def products(loop: For, inside: set[Var]) -> Iterator[PassProduct]:
    """The products of a value of a pass and a matrix from outside of the loop."""
    for s in loop.body.body:
        if not isinstance(s, Let) or s.op is not matmul or not of_one_dtype(s):
            continue
        a, b = s.args
        if a in inside and b not in inside and b.type.ndim == 2 and a.type.ndim <= 2:
            yield PassProduct(s, a, b, matrix_first=False)  # type: ignore[arg-type]
        elif a not in inside and b in inside and a.type.ndim == 2 and b.type.ndim == 1:
            yield PassProduct(s, b, a, matrix_first=True)  # type: ignore[arg-type]


def of_one_dtype(s: Let) -> bool:
    """Whether a library multiplies the operands as they are."""
    dtype = s.outs[0].type.dtype
    return dtype.kind in "fc" and dtype.itemsize > 2 and all(a.type.dtype == dtype for a in s.args)


def sums(loop: For, inside: set[Var]) -> Iterator[Sum]:
    """The carries to which a loop adds products that it uses for nothing else."""
    definitions: dict[Atom, Let] = {
        v: s for s in loop.body.body if isinstance(s, Let) for v in s.outs
    }
    uses = reads_of(loop.body)
    for k, (carry, result) in enumerate(zip(loop.carries, loop.yields, strict=True)):
        types = carry.type, result.type, loop.inits[k].type
        if uses[carry] != 1 or not _is_matrix(carry.type) or any(t != carry.type for t in types):
            continue
        added = Addends(definitions, uses, inside)
        if added.add(result, carry, negative=False) and added.totals == 1 and added.terms:
            yield Sum(k, added.terms, added.others, frozenset(added.within))


def _is_matrix(t: object) -> bool:
    return isinstance(t, Type) and t.ndim == 2 and t.dtype.kind in "fc"


def _have_same_shape(a: Atom, b: Atom) -> bool:
    """Whether arrays are added without stretching one of them."""
    pairs = zip(a.type.shape, b.type.shape, strict=False)
    return a.type.ndim == b.type.ndim and all(n == m or 1 not in (n, m) for n, m in pairs)


class Addends:
    """What is added to a carry, found by going back from the value that the next pass gets."""

    def __init__(self, definitions: Definitions, uses: Counter[Var], inside: set[Var]) -> None:
        self.definitions, self.uses, self.inside = definitions, uses, inside
        self.totals = 0
        self.terms: list[Term] = []
        self.others: list[tuple[Atom, bool]] = []
        self.within: list[Statement] = []

    def add(self, a: Atom, carry: Var, negative: bool) -> bool:
        """Notes what a value is a sum of; False if that is not a total and what is added to it."""
        if a is carry:
            self.totals += 1
            return not negative
        s = self.definitions.get(a)
        if s is None or self.uses[s.outs[0]] != 1 or not _have_same_shape(a, carry):
            self.others.append((a, negative))
            return True
        if s.op in (add, sub):
            self.within.append(s)
            first, second = s.args
            return self.add(first, carry, negative) and self.add(
                second, carry, negative != (s.op is sub)
            )
        factors = self.factors(s)
        if factors is None or a.type.dtype != carry.type.dtype:
            self.others.append((a, negative))
        else:
            self.within.append(s)
            self.terms.append(Term(*factors, negative))
        return True

    def factors(self, s: Let) -> tuple[Var, Var] | None:
        """a and b of outer(a, b), or of a.T @ b."""
        if len(s.args) != 2 or not of_one_dtype(s):
            return None
        a, b = s.args
        if s.op is matmul and b.type.ndim == 2:
            matrix = self.transpose_operand(a)
            return (
                self.varying_pair(matrix, b)
                if matrix is not None and matrix.type.ndim == 2
                else None
            )
        if s.op is mul:
            column, row = self.column(a), self.column(b)
            if column is not None and b.type.ndim == 1:
                return self.varying_pair(column, b)
            if row is not None and a.type.ndim == 1:
                return self.varying_pair(row, a)
        return None

    def varying_pair(self, a: Atom, b: Atom) -> tuple[Var, Var] | None:
        """The two, if each pass has others."""
        return (a, b) if a in self.inside and b in self.inside else None  # type: ignore[return-value]

    def transpose_operand(self, a: Atom) -> Atom | None:
        """The matrix whose transpose one is."""
        s = self.definitions.get(a)
        return s.args[0] if s is not None and s.op is transpose else None

    def column(self, a: Atom) -> Atom | None:
        """The vector that a column is made of."""
        s = self.definitions.get(a)
        if s is None or s.op is not reshape or s.args[0].type.ndim != 1:
            return None
        return s.args[0] if a.type.shape == (s.args[0].type.shape[0], 1) else None
