"""Contracts products over labelled axes: finds the product of matrices that a sum of products is.

Factor(a, (0, 1)), Factor(b, (2, 1))  with the labels (0, 2)      becomes      a @ b.T
"""

from __future__ import annotations

import itertools
import string
from collections import Counter
from typing import Any

from tapeless.transforms.core.language import Atom
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.linalg.einsum import einsum
from tapeless.transforms.ops.linalg.products import conjugate_if_complex, matmul
from tapeless.transforms.ops.primitives.arithmetic import truediv
from tapeless.transforms.ops.primitives.shapes import cast_to, reshape, swap

Label = int | None  # of an axis; None: of length one, and repeated along what it meets
Labelled = tuple[Any, tuple[Label, ...]]


@dataclass(frozen=True)
class LabelledFactor:
    """A value in a contraction, with a label for each of its axes."""

    value: Atom
    labels: tuple[Label, ...]
    conjugated: bool = False
    inverted: bool = False


def broadcast_operand_labels(a: Atom, labels: tuple[Label, ...], of: Atom) -> tuple[Label, ...]:
    """The labels of an operand that is broadcast to a value with labels."""
    return broadcast_labels(a.type.shape, labels, of.type.shape)


def broadcast_labels(shape: Any, labels: Any, whole: Any) -> tuple[Label, ...]:
    skipped = len(labels) - len(shape)
    triples = zip(shape, labels[skipped:], whole[skipped:], strict=True)
    return tuple(None if n == 1 and size != 1 else x for n, x, size in triples)


def reshaped_labels(old: Any, new: Any, labels: Any) -> list[tuple[Label, ...]] | None:
    """The labels before axes of length one were put in or left out."""
    if tuple(n for n in old if n != 1) != tuple(n for n in new if n != 1):
        return None
    kept_labels = iter([x for n, x in zip(new, labels, strict=True) if n != 1])
    return [tuple(None if n == 1 else next(kept_labels) for n in old)]


def product(factors: list[LabelledFactor], labels: tuple[Label, ...], dtype: Any) -> Any:
    """The contraction of factors, as products of matrices where it is a chain of them."""
    values = [_matrix(f) for f in factors]
    pairs: list[Labelled] = [
        (value, tuple(x for x in f.labels if x is not None))
        for value, f in zip(values, factors, strict=True)
    ]
    if not set(labels) <= {x for _, own in pairs for x in own}:
        return None
    if (chain := _chain(pairs, labels)) is not None:
        return cast_to(chain, dtype)
    letters: dict[Label, str] = {}
    for x in itertools.chain(*(own for _, own in pairs)):
        letters.setdefault(x, string.ascii_letters[len(letters)])
    inputs = ",".join("".join(letters[x] for x in own) for _, own in pairs)
    out = "".join(letters[x] for x in labels)
    value = einsum(*(value for value, _ in pairs), subscripts=f"{inputs}->{out}", optimize=True)
    return cast_to(value, dtype)


def _matrix(f: LabelledFactor) -> Any:
    """The value of a factor, without the axes that have no label."""
    value = conjugate_if_complex(f.value) if f.conjugated else f.value
    value = truediv(1.0, value) if f.inverted else value
    if None not in f.labels:
        return value
    sizes = zip(value.type.shape, f.labels, strict=True)
    return reshape(value, shape=tuple(n for n, x in sizes if x is not None))


def _chain(pairs: list[Labelled], labels: tuple[Label, ...]) -> Any:
    """A product of matrices, and vectors at its ends; None if the factors are no such chain."""
    if len(labels) > 2 or any(len(own) not in (1, 2) for _, own in pairs):
        return None
    counts = Counter(x for _, own in pairs for x in own)
    if any(n != (1 if x in labels else 2) for x, n in counts.items()):
        return None
    remaining = list(pairs)
    start = labels[0] if labels else next((own[0] for _, own in remaining if len(own) == 1), None)
    value: Any = None
    while remaining:
        pair = next((p for p in remaining if start in p[1]), None)
        if pair is None:
            return None
        remaining.remove(pair)
        matrix, own = pair
        if len(own) == 2 and own[0] != start:
            matrix, own = swap(matrix), own[::-1]
        value = matrix if value is None else matmul(value, matrix)
        start = own[-1] if len(own) == 2 or len(remaining) == len(pairs) - 1 else None
    return value
