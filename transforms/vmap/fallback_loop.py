"""Loops over the batch for operations that NumPy has for one element only.

y = np.interp(x, points, values)      becomes      for i in range(n): y[i] = np.interp(x[i], ...)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.core import builder
from tapeless.transforms.core.builder import atom, atom_of_size
from tapeless.transforms.core.dims import Size, Symbol, symbols
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    StackType,
    Type,
    Var,
)
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.errors import UnevenError
from tapeless.transforms.ops.primitives.batch_rules import Axes
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.shapes import Atoms
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index, update


def one_by_one(s: Let, args: Atoms, axes: Axes, size: Size) -> list[tuple[Var, int]]:
    """The results of the operation for all elements, each stored at its place."""
    shapes = [_shape(s, v) for v in s.outs]
    pairs = zip(s.outs, shapes, strict=True)
    inits = tuple(empty(shape=(size, *shape), dtype=v.type.dtype) for v, shape in pairs)
    carries = tuple(Var(a.type, v.name) for a, v in zip(inits, s.outs, strict=True))

    def body(i: Var) -> list[Atom]:
        outs = tuple(Var(v.type, v.name) for v in s.outs)
        builder.current().let(outs, s.op, tuple(elements(args, axes, i)), s.params)
        return [update(c, m, i, key=(Slot(0),)) for c, m in zip(carries, outs, strict=True)]

    return [(v, 0) for v in over_batch(atom_of_size(size), body, inits, carries)]


def elements(args: Atoms, axes: Axes, i: Atom) -> list[Atom]:
    """Element i of each batched argument."""
    pairs = zip(args, axes, strict=True)
    return [a if k is None else element(a, k, i) for a, k in pairs]


def element(a: Atom, axis: int, i: Any) -> Any:
    return index(a, i, key=(*(slice(None),) * axis, Slot(0)))


def over_batch(
    stop: Atom, body: Callable[[Var], list[Atom]], inits: Atoms = (), carries: tuple[Var, ...] = ()
) -> tuple[Var, ...]:
    """Records `for i in range(stop)`; the results of the carries."""
    b = builder.current()
    i = Var(INT, "i")
    with b.block() as statements:
        results = body(i)
    outs = tuple(Var(c.type, c.name) for c in carries)
    inner = Block((i, *carries), tuple(statements), tuple(results))
    b.emit(For(outs, atom(0), stop, atom(1), inits, inner, origin=b.origin))
    return outs


def least_lengths(s: Let) -> dict[Symbol, Size]:
    """Lengths of results that are the least that was asked for."""
    least_sizes: dict[Symbol, Size] = {}
    for v in s.outs:
        for n, least in zip(v.type.shape, _shape(s, v), strict=True):
            if n != least:
                least_sizes |= dict.fromkeys(symbols(n), least)
    return least_sizes


def _shape(s: Let, v: Var) -> tuple[Size, ...]:
    """The shape of a result for each element. Of a count with a least length it is that: to store
    a longer one raises."""
    if isinstance(v.type, StackType):
        raise UnevenError(f"vmap of {s.op.name}, an operation on lists")
    kind: Type = v.type
    sizes_known = set().union(
        *(sizes_in(a.type) for a in s.args), *map(sizes_in, s.params.values())
    )
    if not any(symbols(n) - sizes_known for n in kind.shape):
        return kind.shape
    least = s.params.get("minlength", 0)
    if least == 0:
        raise UnevenError(
            f"vmap: the length of the result of {s.op.name} differs between the elements of the "
            "batch",
            "use a mask and np.where, which keep the shape",
        )
    return (least,)
