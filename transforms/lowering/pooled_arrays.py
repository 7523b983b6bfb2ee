"""Spells new arrays in a driver, whose memory may have been used before: fresh memory costs more
than to fill it, as the system clears each page at its first touch.

y = x @ w; s = np.zeros(n); c = x.copy()  becomes  y = matmul(x, w); s = zeros(n); c = copy_of(x)
"""

from __future__ import annotations

import math
from typing import Any

from tapeless.transforms.core.language import Let
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives import new_arrays
from tapeless.transforms.ops.primitives.shapes import copy, dtype_name

SMALL = 1 << 13  # numbers of which NumPy makes arrays as fast, where it is known how many there are

MATMUL = '''
def matmul(a, b):
    """a @ b, of arrays of one dtype."""
    return a @ b
'''
ZEROS = '''
def zeros(shape, dtype):
    """An array of zeros."""
    return np.zeros(shape, dtype)
'''
FULL = '''
def full(shape, value, dtype):
    """An array of equal numbers."""
    return np.full(shape, value, dtype)
'''
COPIED = '''
def copy_of(x):
    """A copy of an array."""
    return x.copy()
'''


def pooled_text(s: Let) -> tuple[str, str] | None:
    """The text of an operation whose result lies in such memory, with a function that the backend
    puts its own in the place of; None where it is the usual one."""
    if s.op is matmul and _may_be_shared(s):
        return "matmul({0}, {1})", MATMUL
    if len(s.outs) != 1 or not may_be_large(s.outs[0].type):
        return None
    if s.op is copy:
        return "copy_of({0})", COPIED
    if s.op not in (new_arrays.zeros, new_arrays.ones, new_arrays.full):
        return None
    dtype = dtype_name(s.params["dtype"])
    if s.op is new_arrays.zeros:
        return f"zeros({{shape}}, {dtype})", ZEROS
    return f"full({{shape}}, {'{0}' if s.args else '1'}, {dtype})", FULL


def may_be_large(t: Any) -> bool:
    """Whether an array may have so many numbers that its memory costs more than to fill it."""
    shape = getattr(t, "shape", ())
    return bool(shape) and not (all(isinstance(n, int) for n in shape) and math.prod(shape) < SMALL)


def _may_be_shared(s: Let) -> bool:
    """Whether a product of floats of one dtype may be so large that threads share it."""
    types = [a.type for a in (*s.args, *s.outs)]
    if types[0].dtype.kind not in "fc" or len({t.dtype for t in types}) > 1:
        return False
    return any(t.ndim > 1 and may_be_large(t) for t in types)
