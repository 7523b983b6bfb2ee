"""Defines special functions that solve an equation: of Lambert and Wright, and Jacobi's elliptic
ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from tapeless.transforms.core.builder import atom, broadcast, static
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.arithmetic import mul, neg
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched
from tapeless.transforms.ops.primitives.elementwise import exp
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    batch_size,
    broadcast_to,
    cast_to,
    repeat_batch,
)
from tapeless.transforms.ops.special.special import refuse_derivative, special

# -- of one line

wrightomega = special("wrightomega", lambda x, y: y / (1 + y), finite="always")
struve: Op = special("struve", refuse_derivative, lambda v, x, y: struve(v - 1, x) - v / x * y)

# -- the w with w e^w = z, on one of its branches


def _lambertw_source(args: Atoms, params: Params) -> str:
    branch = f", {params['k']}" if params["k"] else ""
    return f"scipy.special.lambertw({{0}}{branch})"


def _lambertw_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    slope = exp(neg(outs[0])) / (1 + outs[0])
    return (mul(tangents[0], slope),)


lambertw = Op(
    "lambertw",
    lambda z, *, k: Type(np.dtype(complex), z.type.shape),
    _lambertw_source,
    _lambertw_jvp,
    costly=True,
    elementwise=True,
)

# -- Jacobi's elliptic functions sn, cn and dn, and the angle that they are of


def _ellipj_infer(u: Atom, m: Atom) -> tuple[Type, ...]:
    return (u.type,) * 4


def _ellipj_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[1] is not None:
        refuse_derivative()
    if tangents[0] is None:
        return (None,) * 4
    sn, cn, dn, _ = outs
    slopes = (cn * dn, neg(sn * dn), neg(primals[1] * sn * cn), dn)
    tangents_of_results = (mul(tangents[0], slope) for slope in slopes)
    return tuple(
        cast_to(t, out.type.dtype) for t, out in zip(tangents_of_results, outs, strict=True)
    )


def _ellipj_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    size = batch_size(args, axes)
    return op(*(repeat_batch(a, k, size) for a, k in zip(args, axes, strict=True))), (0,) * 4


ellipj = Op(
    "ellipj",
    _ellipj_infer,
    "scipy.special.ellipj({0}, {1})",
    _ellipj_jvp,
    costly=True,
    batch=_ellipj_batch,
)


# The functions of scipy.special ------------------------------------------------------------------


def _lambertw(z: Any, k: Any = 0, tol: float = 1e-8) -> Any:
    branch = int(static(k, "the branch of lambertw must be known"))
    return lambertw(cast_to(as_array(z), np.dtype(complex)), k=branch)


def _ellipj(u: Any, m: Any) -> Any:
    operands = atom(u), atom(m)
    kinds = [float if a.type.weak else a.type.dtype for a in operands]
    dtype = sc.ellipj.resolve_dtypes((*kinds, None, None, None, None))[0]
    shape = broadcast(*(a.type.shape for a in operands))
    return ellipj(*(broadcast_to(cast_to(as_array(a), dtype), shape=shape) for a in operands))


SPECIAL = {sc.wrightomega: wrightomega, sc.struve: struve}
RULES = {sc.lambertw: _lambertw, sc.ellipj: _ellipj}
