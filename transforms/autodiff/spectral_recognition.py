"""Recognises functions of a matrix in products of its eigenvectors and functions of its
eigenvalues, before the program is differentiated.

    w, v = eigh(a); y = (v * exp(w)) @ v.T    becomes    w, v = eigh(a); y = spectral(a, w, v, exp)
    w, v = eig(a); y = (v * exp(w)) @ inv(v)  becomes    w, v = eig(a); y = spectral(a, w, v, exp)

Where eigenvalues coincide, only the product as a whole has a derivative (`ops.spectral_functions`).
Products are read as one contraction over labelled axes, so it does not matter whether `@`, `*`,
`einsum`, sums or transposes wrote them, and what stands between. If nothing else reads the vectors,
derivatives of the eigenvalues do not depend on how vectors of equal values are turned, either.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from tapeless.transforms.autodiff.contractions import (
    Label,
    LabelledFactor,
    broadcast_labels,
    broadcast_operand_labels,
    product,
    reshaped_labels,
)
from tapeless.transforms.autodiff.eigenvalue_functions import Scalars
from tapeless.transforms.autodiff.free_vectors import VECTORS, with_free_vectors
from tapeless.transforms.core.builder import Builder, atom, building
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Literal,
    Statement,
    Var,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.linalg.eigen import eig
from tapeless.transforms.ops.linalg.einsum import einsum
from tapeless.transforms.ops.linalg.factorisations import eigh
from tapeless.transforms.ops.linalg.products import conjugate_if_complex, matmul
from tapeless.transforms.ops.linalg.solve import inv, solve
from tapeless.transforms.ops.linalg.spectral_functions import ScalarFunction, spectral
from tapeless.transforms.ops.numpy.diagonals import diag
from tapeless.transforms.ops.primitives.arithmetic import mul, truediv
from tapeless.transforms.ops.primitives.elementwise import conjugate, power, square
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.shapes import broadcast_to, reshape, transpose
from tapeless.transforms.ops.primitives.shapes import sum as add_up
from tapeless.transforms.optimize.dead_code import dead_code

MOST = 16  # factors of one contraction


@dataclass(frozen=True)
class Eigenvectors:
    """The factor that holds eigenvectors, or the inverse of their matrix: those of which matrix,
    and where they stand."""

    let: Let
    factor: LabelledFactor
    is_inverse: bool = False

    @property
    def lead(self) -> tuple[Label, ...]:
        return self.factor.labels[:-2]

    @property
    def row(self) -> Label:
        return self.factor.labels[-1 if self.is_inverse else -2]

    @property
    def column(self) -> Label:
        return self.factor.labels[-2 if self.is_inverse else -1]


def spectral_functions(block: Block) -> Block:
    """The block with functions of matrices in place of the products that make them."""
    if not any(isinstance(s, Let) and (s.op in VECTORS or s.op is eig) for s in statements(block)):
        return block
    results = (*block.results, *_read_elsewhere(block))
    body = tuple(_rewritten(block.body, {}))
    whole = with_free_vectors(dead_code(replace(block, body=body, results=results)))
    return replace(whole, results=whole.results[: len(block.results)])


def _read_elsewhere(block: Block) -> list[Var]:
    """What the block computes and does not need: what goes along beside a derivative is read by
    others."""
    needed = {v for s in dead_code(block).body for v in outputs(s)}
    return [v for s in block.body for v in outputs(s) if v not in needed]


def _rewritten(body: Iterable[Statement], defined: dict[Any, Let]) -> Iterator[Statement]:
    defined = dict(defined)
    for s in body:
        replacement: list[Statement] = [s]
        if isinstance(s, Let) and s.op in (matmul, einsum, add_up):
            replacement = Contraction(defined).rewritten(s)
        for new in replacement:
            if isinstance(new, Let):
                defined.update(dict.fromkeys(new.outs, new))
            yield with_blocks(new, lambda b: replace(b, body=tuple(_rewritten(b.body, defined))))


class Contraction:
    """Reads a value as a sum of products of elements, over labels that the value does not have."""

    def __init__(self, defined: dict[Any, Let]) -> None:
        self.defined, self.fresh = defined, itertools.count()
        self.same: dict[Label, Label] = {}  # labels of one axis of a diagonal matrix
        self.inverses: list[Statement] = []  # of eigenvectors, where systems are solved with them

    def rewritten(self, s: Let) -> list[Statement]:
        """The statement, with spectral functions for what it contracts of eigenvectors."""
        (out,) = s.outs
        labels = tuple(next(self.fresh) for _ in out.type.shape)
        factors = self.factors_of_operands(s, labels, False)
        if factors is None or not 2 <= len(factors) <= MOST:
            return [s]
        with building(Builder()) as b:
            b.origin = s.origin
            b.definitions.update(self.defined)
            statements = self.with_spectral_functions(self.unify_labels(factors), labels)
            value = None if statements is None else product(statements, labels, out.type.dtype)
        if value is None:
            return [s]
        return [*self.inverses, *b.blocks[0], Let((out,), identity, (value,), {}, s.origin)]

    # -- the factors

    def factors(self, a: Atom, labels: tuple[Label, ...], conj: bool) -> list[LabelledFactor]:
        """What a value is the product of; itself, if no eigenvectors are in it."""
        let = self.defined.get(a) if isinstance(a, Var) else None
        if let is not None and let.op is broadcast_to:
            return self.factors(let.args[0], broadcast_operand_labels(let.args[0], labels, a), conj)
        if let is not None and let.op is diag and let.params["k"] == 0:
            self.same[labels[1]] = labels[0]
            return self.factors(let.args[0], labels[:1], conj)
        if let is not None and let.op not in (eigh, eig, inv):
            same = dict(self.same)
            inside = self.factors_of_operands(let, labels, conj)
            if inside is not None and len(inside) <= MOST and any(map(self.eigenvectors, inside)):
                return inside
            self.same = same
        return [LabelledFactor(a, labels, conj)]

    def factors_of_operands(
        self, s: Let, labels: tuple[Label, ...], conj: bool
    ) -> list[LabelledFactor] | None:
        """The factors of the operands of a product."""
        if s.op in (power, square) and (s.op is square or _is_two(s.args[1])):
            twice = (self.factors(s.args[0], labels, conj) for _ in range(2))
            return list(itertools.chain.from_iterable(twice))
        if s.op is truediv:
            over = LabelledFactor(
                s.args[1], broadcast_operand_labels(s.args[1], labels, s.outs[0]), conj, True
            )
            return [
                *self.factors(
                    s.args[0], broadcast_operand_labels(s.args[0], labels, s.outs[0]), conj
                ),
                over,
            ]
        if s.op is solve and self.of_eigenvectors(s.args[0]):
            s = self.as_product(s)
        places = self.operand_labels(s, labels)
        if places is None:
            return None
        conj ^= s.op is conjugate
        pairs = zip(s.args, places, strict=True)
        return [f for a, place in pairs for f in self.factors(a, place, conj)]

    def of_eigenvectors(self, a: Atom) -> bool:
        let = self.defined.get(a) if isinstance(a, Var) else None
        return let is not None and let.op is eig and a is let.outs[1]

    def as_product(self, s: Let) -> Let:
        """A system as the product with the inverse of its matrix."""
        with building(Builder()) as b:
            b.origin = s.origin
            inverse: Any = inv(s.args[0])
        let: Any = b.blocks[0][0]
        self.defined[inverse] = let
        self.inverses.append(let)
        return replace(s, op=matmul, args=(inverse, s.args[1]), params={})

    def operand_labels(self, s: Let, labels: tuple[Label, ...]) -> list[tuple[Label, ...]] | None:
        """The labels of each operand of a statement that multiplies, adds up or moves elements."""
        if s.op is mul:
            return [broadcast_operand_labels(a, labels, s.outs[0]) for a in s.args]
        if s.op in (conjugate, identity):
            return [labels]
        if s.op is transpose:
            axes = s.params["axes"]
            return [tuple(labels[axes.index(k)] for k in range(len(axes)))]
        if s.op is add_up and not s.params["keepdims"]:
            remaining = iter(labels)
            axes = range(s.args[0].type.ndim)
            return [tuple(next(self.fresh if k in s.params["axes"] else remaining) for k in axes)]
        if s.op is reshape:
            return reshaped_labels(s.args[0].type.shape, s.params["shape"], labels)
        if s.op is einsum:
            return self.einsum_labels(s.params["subscripts"], labels)
        return self.matmul_labels(s, labels) if s.op is matmul else None

    def einsum_labels(self, subscripts: str, labels: tuple[Label, ...]) -> list[tuple[Label, ...]]:
        operand_letters, _, out = subscripts.partition("->")
        of_letter = dict(zip(out, labels, strict=True))
        for letter in operand_letters.replace(",", ""):
            if letter not in of_letter:
                of_letter[letter] = next(self.fresh)
        return [tuple(of_letter[x] for x in letters) for letters in operand_letters.split(",")]

    def matmul_labels(self, s: Let, labels: tuple[Label, ...]) -> list[tuple[Label, ...]]:
        a, b = s.args
        shared = next(self.fresh)
        own = (a.type.ndim > 1) + (b.type.ndim > 1)
        lead, ends = labels[: len(labels) - own], labels[len(labels) - own :]
        rows = ends[: a.type.ndim > 1]
        columns = ends[len(rows) :]
        whole = s.outs[0].type.shape[: len(lead)]
        return [
            (*broadcast_labels(a.type.shape[:-2], lead, whole), *rows, shared),
            (*broadcast_labels(b.type.shape[:-2], lead, whole), shared, *columns),
        ]

    def unify_labels(self, factors: list[LabelledFactor]) -> list[LabelledFactor]:
        def label(x: Label) -> Label:
            while x in self.same:
                x = self.same[x]
            return x

        return [replace(f, labels=tuple(map(label, f.labels))) for f in factors]

    # -- spectral functions

    def eigenvectors(self, f: LabelledFactor) -> Eigenvectors | None:
        let = self.defined.get(f.value) if isinstance(f.value, Var) and not f.inverted else None
        is_inverse = let is not None and let.op is inv
        vectors: Any = let.args[0] if let is not None and is_inverse else f.value
        let = self.defined.get(vectors)
        if let is None or let.op not in (eigh, eig) or vectors is not let.outs[1]:
            return None
        return Eigenvectors(let, f, is_inverse)

    def with_spectral_functions(
        self, factors: list[LabelledFactor], labels: tuple[Label, ...]
    ) -> list[LabelledFactor] | None:
        """The factors, with one in place of those that contract two matrices of eigenvectors."""
        recognised = False
        while (step := self.one_spectral_function(factors, labels)) is not None:
            factors, recognised = step, True
        return factors if recognised else None

    def one_spectral_function(
        self, factors: list[LabelledFactor], labels: tuple[Label, ...]
    ) -> list[LabelledFactor] | None:
        vectors = [v for v in map(self.eigenvectors, factors) if v is not None]
        for v, other in itertools.combinations(vectors, 2):
            if _is_right_side(v, other):
                v, other = other, v
            if not _are_two_sides(v, other) or v.column in labels:
                continue
            others = [f for f in factors if f is not v.factor and f is not other.factor]
            between = [f for f in others if v.column in f.labels]
            value = self.spectral_function(v, between)
            if value is not None:
                rest = [f for f in others if v.column not in f.labels]
                return [*rest, LabelledFactor(value, (*v.lead, v.row, other.row))]
        return None

    def spectral_function(self, v: Eigenvectors, between: list[LabelledFactor]) -> Any:
        """The function of a matrix that the factors between its eigenvectors make; None if some
        depend on the position of an eigenvalue, and not only on the eigenvalue."""
        scalars = Scalars(self.defined, v.let.outs[0], (*v.lead, v.column))
        with building(Builder()) as b:
            result: Any = atom(v.let.outs[0].type.dtype.type(1))
            for f in between:
                value = scalars.scalar_of(f.value, f.labels)
                if value is None:
                    return None
                value = conjugate_if_complex(value) if f.conjugated else value
                result = truediv(result, value) if f.inverted else mul(result, value)
        body = tuple(s for s in b.blocks[0] if isinstance(s, Let))
        function = ScalarFunction((scalars.eigenvalue, *scalars.parameters), body, result)
        basis = (v.let.args[0], *v.let.outs)
        return spectral(*basis, *scalars.arguments(), f=function, of=_kind(v.let))


def _is_two(a: Atom) -> bool:
    return isinstance(a, Literal) and a.value == 2


def _is_complex(s: Let) -> bool:
    return bool(s.outs[1].type.dtype.kind == "c")


def _kind(s: Let) -> str:
    """What a matrix is of which a statement gives eigenvectors (`spectral`)."""
    if s.op is eig:
        return "eig"
    return "lower" if s.params["lower"] else "upper"


def _is_right_side(v: Eigenvectors, other: Eigenvectors) -> bool:
    """Whether it is v that stands on the right, as the inverse of the other."""
    if v.is_inverse or other.is_inverse:
        return v.is_inverse
    return v.factor.conjugated or (_is_complex(v.let) and not other.factor.conjugated)


def _are_two_sides(v: Eigenvectors, other: Eigenvectors) -> bool:
    """Whether v diag(...) other^-1 is a product of matrices."""
    if v.is_inverse or other.is_inverse:  # which that of a Hermitian matrix may be, too
        conjugated = v.factor.conjugated or other.factor.conjugated
        fit = v.is_inverse != other.is_inverse and not conjugated
    elif v.let.op is eig:
        return False
    else:
        fit = not _is_complex(v.let) or v.factor.conjugated != other.factor.conjugated
    same = v.let is other.let and v.lead == other.lead and v.column == other.column
    return fit and same and None not in v.factor.labels and None not in other.factor.labels
