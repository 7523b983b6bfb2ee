"""Which derivatives `where` made exactly zero: they stay so when they are scaled, never 0 * inf."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from tapeless.transforms.core.builder import made_by
from tapeless.transforms.core.language import Atom, Let, Var
from tapeless.transforms.ops.arithmetic import add, mul, neg, sub, truediv
from tapeless.transforms.ops.folding import is_number
from tapeless.transforms.ops.selection import select

Mask = tuple[Atom, bool]
_masks: WeakKeyDictionary[Var, Mask | None] = WeakKeyDictionary()


def mask_of(a: Atom) -> Mask | None:
    """The test, and the outcome of it, without which a derivative is exactly zero."""
    let = made_by(a)
    if let is None or not isinstance(a, Var):
        return None
    if a not in _masks:
        _masks[a] = _through(let)
    return _masks[a]


def _through(let: Let) -> Mask | None:
    if let.op is select:
        test, a, b = let.args
        return (test, True) if is_number(b, 0) else (test, False) if is_number(a, 0) else None
    if let.op in (neg, truediv):
        return mask_of(let.args[0])
    if let.op is mul:
        return mask_of(let.args[0]) or mask_of(let.args[1])
    if let.op in (add, sub):
        first, second = mask_of(let.args[0]), mask_of(let.args[1])
        return first if first == second else None
    return None
