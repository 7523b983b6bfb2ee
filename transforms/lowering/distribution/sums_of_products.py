"""Spells sums of products of elements, in the passes of a loop, as products of matrices.

y = sum(x[:, i, None] * z, axis=0)      becomes      y = x[:, i] @ z
"""

from __future__ import annotations

from dataclasses import replace

from tapeless.transforms.core.builder import building
from tapeless.transforms.core.language import Atom, For, Let, Statement, Var
from tapeless.transforms.lowering.distribution.products import Definitions
from tapeless.transforms.lowering.rewrite.formulas import Formula
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.arithmetic import mul
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.shapes import reshape
from tapeless.transforms.ops.primitives.shapes import sum as total_of
from tapeless.transforms.ops.primitives.slices_and_gathers import index


def with_products(loop: For) -> For:
    """The loop, with products of matrices where it has sums of products."""
    definitions: dict[Atom, Let] = {
        v: s for s in loop.body.body if isinstance(s, Let) for v in s.outs
    }
    body: list[Statement] = []
    for s in loop.body.body:
        operands = _operands(s, definitions) if isinstance(s, Let) else None
        if operands is None:
            body.append(s)
            continue
        assert isinstance(s, Let)
        b = Formula()
        b.origin = s.origin
        with building(b):
            a, c = (_without_axis(x, definitions) for x in operands)
            result = matmul(a, c)
        body += [*b.blocks[0], Let(s.outs, identity, (result,), {}, s.origin)]
    same = len(body) == len(loop.body.body)
    return loop if same else replace(loop, body=replace(loop.body, body=tuple(body)))


def _operands(s: Let, definitions: Definitions) -> tuple[Atom, Atom] | None:
    """The operands of the product of matrices that a statement makes by a sum."""
    product = definitions.get(s.args[0]) if s.op is total_of else None
    if product is None or product.op is not mul or s.params["keepdims"]:
        return None
    dtype, shape = s.outs[0].type.dtype, product.outs[0].type.shape
    axes = s.params["axes"]
    if dtype.kind not in "fc" or any(a.type.dtype != dtype for a in product.args):
        return None
    for a, b in (product.args, product.args[::-1]):
        if b.type.shape != shape or not isinstance(a, Var):
            continue
        if axes == (0,) and a.type.shape == (shape[0], 1) and len(shape) == 2:
            return (a, b) if _is_vector(a, definitions) else None
        if axes == (len(shape) - 1,) and a.type.shape == shape[-1:] and len(shape) <= 2:
            return (b, a)
    return None


def _is_vector(a: Atom, definitions: Definitions) -> bool:
    with building(Formula()):
        return _without_axis(a, definitions) is not a


def _without_axis(a: Atom, definitions: Definitions) -> Atom:
    """The vector of which a column is made; recorded, where it is a part of an array."""
    s = definitions.get(a) if a.type.ndim == 2 and a.type.shape[1] == 1 else None
    if s is not None and s.op is reshape and s.args[0].type.shape == a.type.shape[:1]:
        return s.args[0]
    if s is not None and s.op is index and s.params["key"][-1:] == (None,):
        return index(s.args[0], *s.args[1:], key=s.params["key"][:-1])  # type: ignore[no-any-return]
    return a
