"""Batches elements that a mask selects, where it selects other numbers of them in each element of a
batch.

v[v > 1] = 2 * v[v > 1]      stays as it is for a batch of v: what is selected lies in one row
np.sum(v[v > 1])             becomes      np.sum(np.where(v > 1, v, 0), axis=1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from tapeless.transforms.core import builder
from tapeless.transforms.core.language import Atom, Let, Var
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import UnevenError
from tapeless.transforms.ops.numpy.creation import cast_to
from tapeless.transforms.ops.numpy.indexing import nonzero
from tapeless.transforms.ops.numpy.reductions import count_nonzero, mean
from tapeless.transforms.ops.primitives import shapes
from tapeless.transforms.ops.primitives.arithmetic import truediv
from tapeless.transforms.ops.primitives.batch_rules import batch_elementwise
from tapeless.transforms.ops.primitives.elementwise import imag, real
from tapeless.transforms.ops.primitives.index_keys import Slot
from tapeless.transforms.ops.primitives.new_arrays import zeros
from tapeless.transforms.ops.primitives.shapes import broadcast_to
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, gather, update

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch


@dataclass(frozen=True)
class Ragged:
    """What a mask selects of all elements of a batch, one after the other."""

    row: Atom
    mask: Atom


def refuse() -> NoReturn:
    raise UnevenError(
        "vmap: how many elements a mask selects differs between the elements of the batch",
        "use np.where, which keeps the shape",
    )


def _mask(batch: Batch, rest: Any, key: Any) -> Any:
    """The mask of a key that is one, and depends on the element; None for other keys."""
    plain = len(rest) == 1 and isinstance(key[0], Slot) and all(e == slice(None) for e in key[1:])
    flags = plain and rest[0].type.dtype.kind == "b"
    return batch.front(rest[0]) if flags and batch.is_batched(rest[0]) else None


def applies(batch: Batch, s: Let) -> bool:
    """Whether a statement selects by such a mask, or works on what was selected."""
    if any(a in batch.ragged for a in s.args):
        return True
    if s.op is broadcast_to and s.params["shape"] and not s.args[0].type.shape:
        return s.params["shape"][0] in batch.counts
    return s.op is gather and _mask(batch, s.args[1:], s.params["key"]) is not None


def apply(batch: Batch, s: Let) -> None:
    """Records the statement for all elements, and binds its result."""
    if s.op is gather and s.args[0] not in batch.ragged:
        mask = _mask(batch, s.args[1:], s.params["key"])
        row = gather(batch.front(s.args[0]), mask, key=s.params["key"])
        batch.counts[s.outs[0].type.shape[0]] = mask
        _keep(batch, s, row, mask)
    elif s.op is broadcast_to:
        mask = batch.counts[s.params["shape"][0]]
        _keep(batch, s, _per_row(batch, s.args[0], mask), mask)
    elif s.op in (update, add_at) and s.args[1] in batch.ragged and s.args[0] not in batch.ragged:
        _store(batch, s)
    elif s.op.elementwise or s.op.batch is batch_elementwise:
        _elementwise(batch, s)
    elif s.op in (shapes.sum, mean) and s.params["axes"] == (0,) and s.outs[0].type.shape == ():
        _total(batch, s)
    else:
        refuse()


def _keep(batch: Batch, s: Let, row: Atom, mask: Atom) -> None:
    batch.ragged[s.outs[0]] = Ragged(cast_to(row, s.outs[0].type.dtype), mask)


def _store(batch: Batch, s: Let) -> None:
    ragged = batch.ragged[s.args[1]]
    mask = _mask(batch, s.args[2:], s.params["key"])
    if mask is None or not _equal(mask, ragged.mask):
        refuse()
    updated = s.op(batch.front(s.args[0]), ragged.row, mask, key=s.params["key"])
    batch.bind(s.outs[0], updated, 0)


def _elementwise(batch: Batch, s: Let) -> None:
    """An elementwise operation on what one mask selects, and on numbers of the elements."""
    ragged_operands = [batch.ragged[a] for a in s.args if a in batch.ragged]
    mask = ragged_operands[0].mask
    if not all(_equal(mask, other.mask) for other in ragged_operands):
        refuse()
    wide = any(other.row.type.ndim > 1 for other in ragged_operands)
    args = [
        batch.ragged[a].row if a in batch.ragged else _per_row(batch, a, mask, wide) for a in s.args
    ]
    _keep(batch, s, s.op(*args, **s.params), mask)


def _per_row(batch: Batch, a: Atom, mask: Atom, wide: bool = False) -> Any:
    """A number of each element, for each place that the mask selects in it; not where what is
    selected there are arrays."""
    value, axis = batch.value(a)
    if axis is None and not a.type.shape:
        return value
    if a.type.shape or wide:
        refuse()
    return gather(value, nonzero.bind(mask)[0], key=(Slot(0),))


def _total(batch: Batch, s: Let) -> None:
    ragged = batch.ragged[s.args[0]]
    mask = ragged.mask
    if ragged.row.type.ndim != 1:
        refuse()
    empty = zeros(shape=mask.type.shape, dtype=ragged.row.type.dtype)
    inner = tuple(range(1, mask.type.ndim))
    full = update(empty, ragged.row, mask, key=(Slot(0),))
    total = shapes.sum(full, axes=inner, keepdims=False)
    if s.op is mean:
        total = truediv(total, count_nonzero(mask, axes=inner, keepdims=False))
    batch.bind(s.outs[0], total, 0)


def _equal(a: Any, b: Any) -> bool:
    """Whether two values are equal because they were computed in the same way."""
    if a is b or (not isinstance(a, Var) and a == b):
        return True
    definitions = builder.current().definitions
    p, q = (definitions.get(x) if isinstance(x, Var) else None for x in (a, b))
    return (
        p is not None
        and q is not None
        and p.op is q.op
        and (p.op.elementwise or p.op in (real, imag))
        and p.params == q.params
        and len(p.outs) == len(q.outs) == 1
        and all(map(_equal, p.args, q.args))
    )
