"""Hoists loop-invariant values: what each pass would compute again is computed ahead of the loop.

for i in range(n): s += x[i] * np.sum(np.exp(w))
    becomes      total = np.sum(np.exp(w)); for i in range(n): s += x[i] * total

Loop-invariant code motion (A. V. Aho, M. S. Lam, R. Sethi and J. D. Ullman, "Compilers", 2006,
section 9.5). A value is hoisted if its operands come from outside of the loop, if it cannot raise
an error, and if each pass computes it: what one arm of a branch computes stays there. Where the
loop may make no pass, the value is computed under the test of whether it makes one, so that nothing
is computed, and no warning given, that the loop would not. Only expensive values are hoisted, with
what they are computed from: derivatives do not save cheap ones, and compiled loops fuse them.

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(hoist_invariants, '''
... (x: f8[n], w: f8[m]):
...     passes = size_value(size=n)
...     s_2 = for i in range(0, passes, 1) with s: f8 = 0.0:
...         e = exp(w)
...         a = sum(e, axes=(0,), keepdims=False)
...         b = index(x, i, key=(Slot(0),))
...         c = mul(a, b)
...         d = add(s, c)
...         yield d
...     return s_2
... '''))
(x: f8[n], w: f8[m]):
    passes: pyi8 = size_value(size=n)
    e: f8[m] = exp(w)
    a: f8 = sum(e, axes=(0,), keepdims=False)
    s_2 = for i in range(0, passes, 1) with s: f8 = 0.0:
        b: f8 = index(x, i, key=(Slot(0),))
        c: f8 = mul(a, b)
        d: f8 = add(s, c)
        yield d
    return s_2
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.suggested_names import word_for
from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    blocks,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.core.uses import nested_reads, reads, sizes_in
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.numpy import cumulative, reductions
from tapeless.transforms.ops.numpy.padding import pad_index
from tapeless.transforms.ops.primitives import shapes
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub
from tapeless.transforms.ops.primitives.comparisons_and_rounding import greater, less
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, index, update

Sizes = Mapping[Atom, dims.Size]

#: Python's own arithmetic of numbers that raises no error.
PYTHON = frozenset((add, sub, mul, neg, less, greater))
#: Operations on arrays of any shape that raise no error, besides elementwise ones.
TOTAL = frozenset(
    (
        shapes.sum,
        reductions.mean,
        reductions.prod,
        reductions.var,
        reductions.std,
        cumulative.cumsum,
        cumulative.cumprod,
        shapes.reshape,
        shapes.transpose,
        shapes.broadcast_to,
    )
)
STORES = frozenset((update, add_at))


def hoist_invariants(block: Block) -> Block:
    """The block with expensive invariant values ahead of its loops; itself if there are none."""
    sizes: dict[Atom, dims.Size] = {}
    found_loop = False
    for s in statements(block):
        found_loop = found_loop or type(s) is For
        if type(s) is Let and s.op is size_value:
            sizes[s.outs[0]] = s.params["size"]
    return _hoist(block, sizes) if found_loop else block


def _hoist(block: Block, sizes: Sizes) -> Block:
    body: list[Statement] = []
    for s in block.body:
        inner = s if type(s) is Let else _with_same_blocks(s, sizes)
        if isinstance(inner, For):
            ahead, inner = _split(inner, sizes)
            body += ahead
        body.append(inner)
    same = len(body) == len(block.body) and all(map(_is, body, block.body))
    return block if same else replace(block, body=tuple(body))


def _is(a: Any, b: Any) -> bool:
    return a is b


def _with_same_blocks(s: Statement, sizes: Sizes) -> Statement:
    """The statement with hoisted values in its blocks; itself if there are none."""
    new = with_blocks(s, lambda b: _hoist(b, sizes))
    return s if all(map(_is, blocks(s), blocks(new))) else new


def _split(loop: For, sizes: Sizes) -> tuple[list[Statement], For]:
    """What is computed ahead of a loop, and the loop without it."""
    moved = _invariant(loop)
    if not moved:
        return [], loop
    hoisted = set(moved)
    rest = [s for s in loop.body.body if s not in hoisted]
    lean = replace(loop, body=replace(loop.body, body=tuple(rest)))
    for s in moved:
        if isinstance(s, Let) and s.op.costly:
            s.outs[0].name = s.outs[0].name or word_for(s)  # its cotangent is called after it
    if _surely_runs(loop, sizes):
        return moved, lean
    if not isinstance(loop.step, Literal):
        return [], loop
    return _guard_by_test(moved, loop), lean


def _invariant(loop: For) -> list[Statement]:
    """The expensive statements whose operands come from outside of a loop, and what these need."""
    inside = {*loop.body.params, *(v for s in statements(loop.body) for v in _defined_by(s))}
    invariant: list[Statement] = []
    is_early = True
    for s in loop.body.body:
        if _is_invariant(s, inside) or (is_early and _is_index_of_lengths(s, inside)):
            inside.difference_update(outputs(s))
            invariant.append(s)
        is_early = is_early and isinstance(s, Let) and s.op.pure and s.op not in STORES
    needed: set[Var] = set()
    moved: list[Statement] = []
    for s in reversed(invariant):
        if _is_expensive(s) or not needed.isdisjoint(outputs(s)):
            moved.append(s)
            needed.update(nested_reads(s))
    return moved[::-1]


def _defined_by(s: Statement) -> Iterable[Var]:
    yield from outputs(s)
    for b in blocks(s):
        yield from b.params


def _is_expensive(s: Statement) -> bool:
    if isinstance(s, Let):
        return s.op.costly
    return any(map(_is_expensive, (t for b in blocks(s) for t in b.body)))


def _is_invariant(s: Statement, inside: set[Var]) -> bool:
    """Whether a statement computes the same in each pass, and raises no error."""
    if isinstance(s, If):
        return s.test not in inside and _are_arms_invariant(s, inside)
    if not isinstance(s, Let):
        return False
    if s.op is size_value:
        return _sizes_from_outside(s, inside)
    if any(v.size is not None for v in s.outs) or not any(isinstance(a, Var) for a in s.args):
        return False
    return inside.isdisjoint(reads(s)) and _is_total(s) and _sizes_from_outside(s, inside)


def _is_index_of_lengths(s: Statement, inside: set[Var]) -> bool:
    """Whether a statement computes indices of lengths from outside: it raises an error where an
    axis is empty, which is that of the first pass if nothing is stored before."""
    return isinstance(s, Let) and s.op is pad_index and inside.isdisjoint(reads(s))


def _are_arms_invariant(s: If, inside: set[Var]) -> bool:
    """Whether both arms of a branch compute the same in each pass."""
    own = {v for b in blocks(s) for t in b.body for v in outputs(t)}
    inside -= own
    results = {a for b in blocks(s) for a in b.results}
    invariant = inside.isdisjoint(results) and all(
        _is_invariant(t, inside) for b in blocks(s) for t in b.body
    )
    if not invariant:
        inside |= own
    return invariant and all(v.size is None for v in s.outs)


def _sizes_from_outside(s: Let, inside: set[Var]) -> bool:
    """Whether the sizes that a statement names are those of its operands, or of inputs."""
    of_operands = sizes_in([a.type for a in s.args])
    named = sizes_in([v.type for v in s.outs]) | sizes_in(list(s.params.values()))
    return all(
        n.given or n in of_operands or (n.var is not None and n.var not in inside) for n in named
    )


def _is_total(s: Let) -> bool:
    """Whether an operation has a value for all operands of these types, and does nothing else."""
    if not s.op.pure or len(s.outs) != 1 or not isinstance(s.outs[0].type, Type):
        return False
    if not all(isinstance(a.type, Type) for a in s.args):
        return False
    if s.outs[0].type.weak:
        return s.op in PYTHON
    if s.op.elementwise:
        return all(_broadcasts(a.type.shape, s.outs[0].type.shape) for a in s.args)
    if s.op is index:
        return len(s.args) == 1 and _is_in_bounds(s.args[0].type.shape, s.params["key"])
    if s.op is matmul:
        left, right = (a.type.shape for a in s.args)
        return len(left) <= 2 >= len(right) and left[-1] == right[-min(2, len(right))]
    return s.op in TOTAL


def _broadcasts(shape: tuple[dims.Size, ...], to: tuple[dims.Size, ...]) -> bool:
    """Whether an operand surely broadcasts to the shape of a result."""
    last = to[len(to) - len(shape) :]
    return all(n in (1, m) for n, m in zip(shape, last, strict=True))


def _is_in_bounds(shape: tuple[dims.Size, ...], key: tuple[Any, ...]) -> bool:
    """Whether a key of constants names elements that are surely there."""
    if any(type(e) is not int and e != slice(None) for e in key):
        return False
    pairs = zip(key, shape, strict=False)
    return all(type(e) is not int or dims.at_least(n, e + 1 if e >= 0 else -e) for e, n in pairs)


def _surely_runs(loop: For, sizes: Sizes) -> bool:
    """Whether a loop makes a pass, whatever it is given."""
    start, stop = (_size(a, sizes) for a in (loop.start, loop.stop))
    if start is None or stop is None or not isinstance(loop.step, Literal):
        return False
    return dims.at_least(stop - start if loop.step.value > 0 else start - stop, 1)


def _size(a: Atom, sizes: Sizes) -> dims.Size | None:
    if isinstance(a, Literal):
        return a.value if type(a.value) is int else None
    if a in sizes:
        return sizes[a]
    return a.size  # type: ignore[no-any-return]


def _guard_by_test(moved: list[Statement], loop: For) -> list[Statement]:
    """The statements under the test of whether a loop makes a pass."""
    assert isinstance(loop.step, Literal)
    with builder.building(builder.Builder()) as b:
        test = (greater if loop.step.value > 0 else less)(loop.stop, loop.start)
    if isinstance(test, Var):
        test.name = "runs"
    outs = tuple(v for s in moved for v in outputs(s))
    then, new = refresh(Block((), tuple(moved), outs))
    for v in outs:
        new[v].partial = False  # type: ignore[union-attr]
    undefined = tuple(Literal(None, v.type) for v in outs)
    return [*b.blocks[0], If(outs, test, then, Block((), (), undefined), origin=loop.origin)]
