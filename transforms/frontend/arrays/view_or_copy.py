"""Tells which results of NumPy functions are views of an argument, and of which part of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.language import Let, Var
from tapeless.transforms.frontend.arrays.memory_layout import Order, is_view, lies_in_order
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.function_table import FUNCTIONS, METHODS
from tapeless.transforms.ops.numpy import indexing
from tapeless.transforms.ops.numpy.diagonals import diagonal
from tapeless.transforms.ops.primitives import shapes


def _rules(functions: str, methods: str) -> set[Any]:
    """The rules of functions of NumPy and of methods of arrays, by their names."""
    functions_named = [getattr(np, name, None) for name in functions.split()]
    return {FUNCTIONS[f] for f in functions_named if f in FUNCTIONS} | {
        METHODS[m] for m in methods.split()
    }


#: Their results are views of an argument where their operations are.
VIEWS = _rules(
    "asarray asanyarray ascontiguousarray reshape ravel transpose permute_dims matrix_transpose "
    "squeeze expand_dims atleast_1d atleast_2d atleast_3d moveaxis swapaxes rollaxis broadcast_to "
    "broadcast_arrays flip flipud fliplr rot90 diagonal diag real imag split array_split vsplit "
    "hsplit dsplit unstack diff real_if_close einsum",
    "reshape transpose ravel squeeze swapaxes diagonal view conj conjugate",
) | {indexing.get, FUNCTIONS[np.linalg.diagonal], FUNCTIONS[np.linalg.matrix_transpose]}
#: They give the argument itself where it is as they want it, and no view of all of it.
SAME_ARRAY = _rules(
    "asarray asanyarray ascontiguousarray squeeze atleast_1d atleast_2d atleast_3d real_if_close "
    "real array astype",
    "squeeze conj conjugate astype",
)
#: They copy what does not lie in order.
IN_ORDER = _rules("ravel ascontiguousarray", "ravel")
READ_ONLY = _rules("broadcast_to broadcast_arrays", "")
#: A view if the argument is as they want it, which is not known here.
PERHAPS = _rules("asfortranarray require", "")


def is_read_only_part(rule: Any, lets: list[Let]) -> bool:
    """Whether NumPy refuses stores to a view: to diagonals, but for those of np.einsum."""
    return rule is not FUNCTIONS[np.einsum] and any(s.op is diagonal for s in lets)


def path(var: Var, symbol_of: Any) -> tuple[Var, list[Let]] | None:
    """The view operations that lead from one of the known values to `made`."""
    lets: list[Let] = []
    at: Any = var
    definitions = trace().definitions
    while at not in symbol_of:
        let = definitions.get(at) if isinstance(at, Var) else None
        if let is None or not let.op.view:
            return None
        lets.append(let)
        at = let.args[0]
    return at, lets[::-1]


def verdict(rule: Any, var: Var, lets: list[Let]) -> tuple[bool | None, set[Order]]:
    """Whether NumPy gives a view (None: if none can say), and what of the inputs says so."""
    if rule in PERHAPS:
        return None, set()
    strict = rule in IN_ORDER
    last = lets[-1] if lets and lets[-1].op is shapes.reshape else None
    if strict and last is None:
        return lies_in_order(var)
    used: set[Order] = set()
    for s in lets:
        if s.op is shapes.reshape:
            answer, orders = is_view(s, strict and s is last)
            used |= orders
            if not answer:
                return answer, used
    return True, used
