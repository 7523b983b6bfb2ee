"""Writes the linear statements of a derivative rule anew, so that exact zeros stay exactly zero.

w_bar = u.T @ np.where(m[:, None], y_bar, 0)
    becomes      w_bar = np.where(m[:, None], u, 0).T @ np.where(m[:, None], y_bar, 0)

where `u` may be nan. Products and quotients of elements are those of `masks.scaled`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tapeless.transforms.analysis.slopes import may_be_infinite, zeros_of
from tapeless.transforms.analysis.zero_masks import Mask, apply_mask, mask_of, scale
from tapeless.transforms.core.builder import current
from tapeless.transforms.core.language import Atom, Let, Statement, Type, Var
from tapeless.transforms.core.operation import types_given
from tapeless.transforms.ops.linalg.einsum import einsum
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import reshape, transpose
from tapeless.transforms.ops.primitives.strong_zero import scaling


def kept_zeros(body: list[Statement], start: int, cotangents: Iterable[Any], outs: Any) -> Any:
    """The results `outs` of a rule that recorded the statements from `start` on, for tangents or
    cotangents that may be exactly zero by choice."""
    linear = {t for t in cotangents if isinstance(t, Var)}
    if not any(map(zeros_of, linear)):
        return outs
    new: dict[Any, Any] = {}
    recorded, body[start:] = body[start:], []
    for s in recorded:
        if not isinstance(s, Let):
            current().emit(s)
            continue
        args = tuple(new.get(a, a) for a in s.args)
        on = [k for k, a in enumerate(args) if isinstance(a, Var) and a in linear]
        masked = _with_exact_zeros(s, args, on[0]) if len(on) == 1 else None
        if masked is None:
            current().let(s.outs, s.op, args, s.params)
        else:
            new |= dict(zip(s.outs, masked, strict=True))
        if on:
            linear.update(v for out in s.outs if isinstance(v := new.get(out, out), Var))
    return tuple(new.get(out, out) for out in outs)


def _with_exact_zeros(s: Let, args: tuple[Atom, ...], k: int) -> list[Atom] | None:
    """The results of a statement that is linear in argument k; None if it stays as it is."""
    by = scaling(s.op, k)
    if by is not None:
        op, other = by
        return [scale(op, args[k], args[other])]
    mask = mask_of(args[k])
    others = [a for a in args if a is not args[k]]
    unknown = s.op.infer is types_given  # a function, whose slopes may be infinite
    if mask is None or not (unknown or any(map(may_be_infinite, others))):
        return None
    if not mask.test.type.shape:
        current().let(s.outs, s.op, args, s.params)
        return [apply_mask(mask, v) if _is_of_numbers(v) else v for v in s.outs]
    letters = _letters(s, args)
    if letters is None:
        return None
    operands = [
        a if j == k else _on_rows(a, letters[j], mask, args[k].type, letters[k])
        for j, a in enumerate(args)
    ]
    return [s.op(*operands, **s.params)]


def _is_of_numbers(v: Var) -> bool:
    """Whether a value is one of numbers, not a list or what a function keeps for its derivative."""
    return isinstance(v.type, Type) and v.type.dtype.kind in "fc"


def _letters(s: Let, args: tuple[Atom, ...]) -> list[str] | None:
    """A letter for each axis of the factors of a sum of products, as `np.einsum` has them."""
    if s.op is einsum:
        return str(s.params["subscripts"]).partition("->")[0].split(",")
    if s.op is matmul and max(a.type.ndim for a in args) <= 2:
        return ["ij"[-args[0].type.ndim :], "jk"[: args[1].type.ndim]]
    return None


def _on_rows(a: Atom, letters: str, mask: Mask, of: Type, whose: str) -> Atom:
    """A factor, 0 where the other one is zero as a whole, if a test by row says so."""
    shape = mask.test.type.shape
    axes = [c for c, n in zip(whose[len(whose) - len(shape) :], shape, strict=True) if n != 1]
    if not (may_be_infinite(a) and axes and set(axes) <= set(letters)):
        return a
    test = reshape(mask.test, shape=tuple(n for n in shape if n != 1))
    order = sorted(axes, key=letters.index)
    test = transpose(test, axes=tuple(axes.index(c) for c in order))
    sizes = dict(zip(order, test.type.shape, strict=True))
    test = reshape(test, shape=tuple(sizes.get(c, 1) for c in letters))
    sides = (a, 0.0) if mask.side else (0.0, a)
    masked: Atom = select(test, *sides)
    return masked
