"""Moves factors of a matrix that is multiplied to the product or the other operand.

y = (alpha * a) @ x; z = (a * w) @ x      becomes      y = alpha * (a @ x); z = a @ (w * x)

Only where nothing but products reads the scaled matrix, so that it is not made at all. A factor is
a number, one for each row, or one for each column; what is scaled in its place is smaller.

>>> from operator import eq
>>> from functools import partial
>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(partial(move_factors_last, equal=eq, hints={}), '''
... (alpha: f8, a: f8[n, m], x: f8[m]):
...     b = mul(alpha, a)
...     y = matmul(b, x)
...     return y
... '''))
(alpha: f8, a: f8[n, m], x: f8[m]):
    t1: f8[n] = matmul(a, x)
    y: f8[n] = mul(alpha, t1)
    return y
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Type,
    Var,
    with_blocks,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.rewrite.formulas import parts_of
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.arithmetic import mul, neg, truediv
from tapeless.transforms.ops.primitives.shapes import reshape, transpose
from tapeless.transforms.optimize.dead_code import dead_code


@dataclass(frozen=True)
class Factor:
    """What a matrix was multiplied or divided by.

    op     mul, truediv, or neg, which has no value
    value  the factor, None of neg
    axis   the axis of the matrix that it differs along; None for a number
    """

    op: Op
    value: Atom | None
    axis: int | None


@dataclass(frozen=True)
class ScalingStep:
    """The matrix that another one is made of: by a factor, or (None) by exchanging its axes."""

    matrix: Atom
    factor: Factor | None


def move_factors_last(
    block: Block, equal: Callable[[Size, Size], bool], hints: Mapping[dims.Symbol, int]
) -> Block:
    """The block with factors behind products instead of in their operands.

    equal  whether two sizes are
    hints  the sizes of this call, by which the smaller of two matrices is found
    """
    pass_ = _Scaling(reads_of(block), equal, hints)
    block = pass_.block(block)
    return dead_code(block) if pass_.changed else block


class _Scaling:
    """Goes over blocks; scaled matrices are known in the block that makes them."""

    def __init__(self, reads: Counter[Var], equal: Any, hints: Mapping[dims.Symbol, int]) -> None:
        self.reads, self.equal, self.hints, self.changed = reads, equal, hints, False

    def block(self, block: Block) -> Block:
        lets = [s for s in block.body if isinstance(s, Let)]
        here = _Block({v: s for s in lets for v in s.outs[:1]}, self)
        here.find(lets)
        body: list[Statement] = []
        for s in block.body:
            body += here.rewritten(s) if isinstance(s, Let) else [with_blocks(s, self.block)]
        return replace(block, body=tuple(body))

    def elements(self, kind: Type) -> int | None:
        """How many elements there are in this call."""
        return dims.evaluate(dims.product(kind.shape), self.hints)


class _Block:
    """The statements of one block, and which of its products are scaled afterwards."""

    def __init__(self, defs: Mapping[Atom, Let], outer: _Scaling) -> None:
        self.defs, self.outer = defs, outer
        self.moved: set[Let] = set()

    def find(self, lets: list[Let]) -> None:
        """Finds the products all of whose scaled operands are read by such products alone."""
        read_by_products: Counter[Atom] = Counter()
        candidates = []
        for s in lets:
            scaled = [a for a in s.args if self.chain(a)] if s.op is matmul else []
            if scaled and self.pays(s, scaled):
                candidates.append((s, scaled))
                read_by_products.update(scaled)
        for a in [*read_by_products]:
            read_by_products.update(self.transpose_operands(a))
        for s, scaled in candidates:
            whole = [v for a in scaled for v in (a, *self.transpose_operands(a))]
            if all(self.outer.reads[v] == read_by_products[v] for v in whole):  # type: ignore[index]
                self.moved.add(s)

    def transpose_operands(self, a: Atom) -> list[Atom]:
        """The scaled matrix of which an operand is the transpose; nothing if it is no transpose."""
        matrices = []
        for step in self.chain(a):
            if step.factor is not None:
                break
            matrices.append(step.matrix)
        return matrices

    def chain(self, a: Atom) -> list[ScalingStep]:
        """The steps from the matrix that was scaled first to an operand, backwards. The matrices
        between are read by the next step alone, so that none of them is made."""
        steps: list[ScalingStep] = []
        while isinstance(a, Var) and (step := self.step(a)) is not None:
            if any(s.factor for s in steps) and self.outer.reads[a] > 1:
                break
            steps.append(step)
            a = step.matrix
        while steps and steps[-1].factor is None:
            steps.pop()
        return steps

    def step(self, a: Atom) -> ScalingStep | None:
        """How a matrix is made of another one; None if it is made in another way."""
        s = self.defs.get(a)
        if s is None or a.type.ndim != 2 or a.type.dtype.kind not in "fc":
            return None
        if s.op is transpose:
            return ScalingStep(s.args[0], None)
        if s.op is neg:
            return ScalingStep(s.args[0], Factor(neg, None, None))
        return self.scaling_step(s) if s.op in (mul, truediv) else None

    def scaling_step(self, s: Let) -> ScalingStep | None:
        """The step that a product or a quotient is."""
        out = s.outs[0].type
        orders = [(0, 1), (1, 0)] if s.op is mul else [(0, 1)]
        for k, j in orders:
            a, by = s.args[k], s.args[j]
            if not self.same_matrix_type(a.type, out) or not (
                by.type.weak or by.type.dtype == out.dtype
            ):
                continue
            if not by.type.shape:
                return ScalingStep(a, Factor(s.op, by, None))
            lengths = (1,) * (2 - by.type.ndim) + tuple(by.type.shape)
            axes = [axis for axis in (0, 1) if lengths[axis] != 1]
            if len(axes) == 1 and self.outer.equal(lengths[axes[0]], out.shape[axes[0]]):
                return ScalingStep(a, Factor(s.op, by, axes[0]))
        return None

    def same_matrix_type(self, a: Type, b: Type) -> bool:
        """Whether both are matrices of one dtype and shape."""
        if a.dtype != b.dtype or a.ndim != b.ndim:
            return False
        return all(self.outer.equal(n, m) for n, m in zip(a.shape, b.shape, strict=True))

    def pays(self, s: Let, scaled: list[Atom]) -> bool:
        """Whether what is scaled instead is smaller than the matrices."""
        kinds = {a.type.dtype for a in (*s.args, *s.outs)}
        if len(kinds) != 1 or any(a.type.ndim > 2 for a in s.args):
            return False
        instead = [v for k in (0, 1) for v in self.instead(s, k)]
        if all(v.type.ndim < 2 for v in instead):
            return True
        before, after = (
            [self.outer.elements(v.type) for v in values] for values in (scaled, instead)
        )
        return None not in (*before, *after) and sum(after) <= sum(before)  # type: ignore[arg-type]

    def instead(self, s: Let, k: int) -> set[Atom]:
        """What is scaled in the place of an operand: the product, or the other operand."""
        factors, other = self.unscaled_operand(s.args[k])[2], s.args[1 - k]
        return {other if f.axis == 1 - k else s.outs[0] for f in factors}

    def rewritten(self, s: Let) -> Iterator[Statement]:
        if s not in self.moved:
            yield s
            return
        self.outer.changed = True
        yield from parts_of(s, self.product)

    def product(self, left: Atom, right: Atom, **_: Any) -> Any:
        """The product of the matrices as they were, and what is scaled in their place."""
        (left, of_left), (right, of_right) = map(self.operand, (left, right))
        for f in of_left:
            right = scale_along(f, right, 0) if f.axis == 1 else right
        for f in of_right:
            left = scale_along(f, left, -1) if f.axis == 0 else left
        value = matmul(left, right)
        for f in of_left:
            value = value if f.axis == 1 else scale_along(f, value, 0)
        for f in of_right:
            value = value if f.axis == 0 else scale_along(f, value, -1)
        return value

    def operand(self, a: Atom) -> tuple[Any, list[Factor]]:
        """The matrix that was scaled first, in the order of axes of an operand, and its factors."""
        matrix, turned, factors = self.unscaled_operand(a)
        return (transpose(matrix, axes=(1, 0)) if turned else matrix), factors

    def unscaled_operand(self, a: Atom) -> tuple[Atom, bool, list[Factor]]:
        """The matrix that was scaled first, whether an operand has its axes exchanged, and the
        factors, by the axes of the operand."""
        factors: list[Factor] = []
        turned = False
        for step in self.chain(a):
            a, f = step.matrix, step.factor
            turned = turned != (f is None)
            if f is not None:
                factors.append(replace(f, axis=1 - f.axis) if turned and f.axis is not None else f)
        return a, turned, factors


def scale_along(f: Factor, x: Any, axis: int) -> Any:
    """A value scaled by a factor, which differs along an axis of it, or is a number."""
    if f.value is None:
        return neg(x)
    by: Atom = f.value
    if f.axis is not None:
        shape: list[Size] = [1] * x.type.ndim
        shape[axis] = dims.product(by.type.shape)
        by = reshape(by, shape=tuple(shape))
    return mul(by, x) if f.op is mul else f.op(x, by)
