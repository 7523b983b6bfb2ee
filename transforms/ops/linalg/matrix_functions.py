"""Defines functions of a matrix as a whole, of scipy.linalg: their values are SciPy's, and
derivatives of all orders are read from the same function of a matrix of blocks.

The result for a real matrix is real here; where it is not, that is an error when the program runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.numpy.indexing import get
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.joining import concatenate
from tapeless.transforms.ops.primitives.new_arrays import zeros
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, dtype_name, swap

REAL = '''
def in_numbers_of(a, made):
    """A function of a matrix, in real numbers where the matrix has these."""
    if not np.iscomplexobj(made) or np.iscomplexobj(a):
        return made
    if not np.allclose(made.imag, 0):
        raise ValueError("a function of this real matrix is complex: pass a complex matrix")
    return made.real
'''
SLOPE = '''
def matrix_slope(f, a, direction):
    """How f(a) changes in a direction (N. J. Higham, Functions of Matrices, 2008, section 3.1)."""
    n = len(a)
    made = f(np.block([[a, direction], [np.zeros_like(a), a]]))[:n, n:]
    if not np.iscomplexobj(made) or np.iscomplexobj(a) or np.iscomplexobj(direction):
        return made
    if not np.allclose(made.imag, 0):
        raise ValueError("a function of this real matrix is complex: pass a complex matrix")
    return made.real
'''
#: Of real matrices they are real.
REAL_EVERYWHERE = ("expm", "cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm")
#: They compute in double precision at least.
DOUBLE = ("logm", "fractional_matrix_power")


def _infer(*operands: Atom, name: str, power: float | None) -> Type:
    if operands[0].type.ndim != 2:
        raise UnsupportedError(f"scipy.linalg.{name} of several matrices", "loop over them")
    least = np.float64 if name in DOUBLE else np.float32
    kinds = (a.type.dtype for a in operands)
    return Type(np.result_type(least, *kinds), operands[0].type.shape)


def _source(args: Atoms, params: Params) -> Any:
    name, power = params["name"], params["power"]
    call = f"scipy.linalg.{name}({{0}}{'' if power is None else f', {power!r}'})"
    if name in REAL_EVERYWHERE or args[0].type.dtype.kind == "c":
        return call
    return f"in_numbers_of({{0}}, {call})", REAL


def _slope_source(args: Atoms, params: Params) -> Any:
    name, power = params["name"], params["power"]
    if name == "expm":
        kind = args[0].type.dtype
        kept = "" if kind == np.float64 else f".astype({dtype_name(kind)})"
        return "scipy.linalg.expm_frechet({0}, {1}, compute_expm=False)" + kept
    f = f"scipy.linalg.{name}"
    f = f if power is None else f"lambda a: {f}(a, {power!r})"
    return f"matrix_slope({f}, {{0}}, {{1}})", SLOPE


def _jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    return (None if tangents[0] is None else slope(primals[0], tangents[0], **params),)


def _slope_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """What is a part of the function of a matrix of blocks changes as that does."""
    a, direction = primals
    a_dot, direction_dot = tangents
    slope_dot = None if direction_dot is None else slope(a, direction_dot, **params)
    if a_dot is not None:
        n = atom_of_size(a.type.shape[0])
        bent = slope(_blocks(a, direction), _blocks(a_dot, _zero(direction)), **params)
        bent = get(bent, (slice(None, n), slice(n, None)))
        slope_dot = bent if slope_dot is None else add(slope_dot, bent)
    return (slope_dot,)


def _zero(a: Atom) -> Any:
    return zeros(shape=a.type.shape, dtype=a.type.dtype)


def _blocks(a: Atom, beside: Atom) -> Any:
    """[[a, beside], [0, a]]"""
    above, below = concatenate(a, beside, axis=1), concatenate(_zero(a), a, axis=1)
    return concatenate(above, below, axis=0)


matrix_function: Op = Op("matrix_function", _infer, _source, _jvp, costly=True)
slope: Op = Op(
    "matrix_slope",
    _infer,
    _slope_source,
    _slope_jvp,
    lambda ct, args, linear, params: (None, slope(swap(args[0]), ct, **params)),
    costly=True,
)
