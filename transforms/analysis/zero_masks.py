"""Scales tangents and cotangents so that those that a choice made exactly zero stay so.

x_bar = np.where(m, y_bar, 0) * c        becomes      x_bar = np.where(m, y_bar * c, 0)
x_bar = np.triu(y_bar) / x               becomes      the same, and 0 where np.triu(y_bar) is

The rule: an exact zero times any slope is zero, also where the slope is infinite or nan. Exact is a
zero that the program chose: by `where`, `if`, `maximum`, a store, a mask or a loop without passes;
not one that arithmetic came to. Where one test decides, and is in sight, it is asked again; else
the product has a strong zero (`ops.strong_zero`), if its slope may be infinite (`slopes`).
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

from tapeless.transforms.analysis.slopes import (
    has_zeros,
    may_be_infinite,
    needs_strong_zero,
    zeros_of,
)
from tapeless.transforms.core.builder import Builder, current, defining_statement
from tapeless.transforms.core.language import Atom, Let, Var
from tapeless.transforms.ops.primitives import shapes
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub, truediv
from tapeless.transforms.ops.primitives.constant_folding import is_number
from tapeless.transforms.ops.primitives.new_arrays import zero
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.strong_zero import STRONG, Scaling


class Mask(NamedTuple):
    """A test without whose outcome `side` a derivative is exactly zero; `whole`: and only then."""

    test: Atom
    side: bool
    whole: bool


SPREADS = (
    shapes.cast,
    shapes.reshape,
    shapes.sum,
    shapes.transpose,
)  # what keeps a zero of all elements
#: The masks of variables, of each builder: in another one their tests may be other variables.
_masks: WeakKeyDictionary[Builder, dict[Var, Mask | None]] = WeakKeyDictionary()


def scale(op: Scaling, t: Atom, c: Atom) -> Atom:
    """t * c or t / c; exactly zero where t is so by choice, or c is the number 0."""
    if op is mul and is_number(c, 0) and may_be_infinite(t):
        return zero(t.type)
    mask = mask_of(t)
    inner = None if mask is None else _chosen_value(t, {})
    strong = needs_strong_zero(op, t, c)
    grows = c.type.ndim > t.type.ndim
    if mask is not None and inner is not None and (strong or not grows):
        return apply_mask(mask, scale(op, inner, c))
    product: Atom
    if not strong:
        product = op(t, c)
    elif mask is not None and mask.whole:
        product = apply_mask(mask, op(t, c))
    else:
        product = STRONG[op](t, c)
    return product


def chosen_by_branch(v: Var, test: Atom, then: Atom | None, orelse: Atom | None) -> None:
    """Says of a derivative that it is that of one side of a branch; None: zero."""
    a, b = zeros_of(then), zeros_of(orelse)
    has_zeros(v, a | b)
    if (then is None) != (orelse is None) and isinstance(test, Var) and not test.type.shape:
        whole = not (b if then is None else a)
        _masks.setdefault(current(), {})[v] = Mask(test, orelse is None, whole)


def mask_of(a: Atom) -> Mask | None:
    """The one test that a derivative is zero by."""
    if not isinstance(a, Var):
        return None
    masks = _masks.setdefault(current(), {})
    if a not in masks:
        let = defining_statement(a)
        masks[a] = None if let is None else _mask_through(let)
    return masks[a]


def _mask_through(let: Let) -> Mask | None:
    if let.op is select:
        test, a, b = let.args
        if is_number(b, 0) or is_number(a, 0):
            inner = a if is_number(b, 0) else b
            return Mask(test, is_number(b, 0), not zeros_of(inner))
        return None
    if let.op in (neg, truediv):
        return mask_of(let.args[0])
    if let.op is mul:
        a, b = let.args
        return _of_product(mask_of(a), b) or _of_product(mask_of(b), a)
    if let.op in (add, sub):
        return _of_both(*map(mask_of, let.args))
    mask = mask_of(let.args[0]) if let.op in SPREADS else None
    return None if mask is None or mask.test.type.shape else mask


def _of_product(mask: Mask | None, other: Atom) -> Mask | None:
    """The mask of a product: it is also zero where the other factor is."""
    if mask is None:
        return None
    return mask._replace(whole=mask.whole and not zeros_of(other))


def _of_both(a: Mask | None, b: Mask | None) -> Mask | None:
    """The mask of a sum, of terms that one test makes zero."""
    if a is None or b is None or a[:2] != b[:2]:
        return None
    return Mask(a.test, a.side, a.whole or b.whole)


def _chosen_value(a: Atom, seen: dict[Atom, Atom | None]) -> Atom | None:
    """What is chosen by a test where the other choice is zero; None if `a` is no such choice.

    `seen` holds the answers for its terms: sums share them.
    """
    if a not in seen:
        let = defining_statement(a, select, neg, add, sub)
        if let is None or mask_of(a) is None:
            seen[a] = None
        elif let.op is select:
            seen[a] = let.args[1 if is_number(let.args[2], 0) else 2]
        else:
            inner = [_chosen_value(x, seen) for x in let.args]
            seen[a] = None if None in inner else let.op(*inner)
    return seen[a]


def apply_mask(mask: Mask, value: Atom) -> Atom:
    """The value where the test has its outcome, else zero."""
    sides = (value, 0.0) if mask.side else (0.0, value)
    return select(mask.test, *sides)  # type: ignore[no-any-return]
