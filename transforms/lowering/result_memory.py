"""Gives functions of NumPy the memory for their results: fresh memory of large arrays costs more
than a transform or a running sum does, as the system clears each page at its first touch.

y = np.fft.fft(x)      becomes      y = empty(x.shape, np.complex128); np.fft.fft(x, out=y)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tapeless.transforms.analysis.suggested_names import word_for
from tapeless.transforms.core.language import Block, Let, Statement, Type, Var, with_blocks
from tapeless.transforms.core.operation import Op
from tapeless.transforms.emit.expressions import usual_source
from tapeless.transforms.lowering.device_memory import memory
from tapeless.transforms.lowering.pooled_arrays import may_be_large
from tapeless.transforms.lowering.products.triangular_products import PRODUCTS
from tapeless.transforms.lowering.products.triangular_solves import SOLVERS
from tapeless.transforms.ops.fourier.fft import fft, irfft, rfft
from tapeless.transforms.ops.numpy.cumulative import cummax, cummin, cumprod, cumsum

#: Functions that take the array for the result as `out`.
WITH_OUT = frozenset(
    [fft, rfft, irfft, cumsum, cumprod, cummax, cummin, *PRODUCTS.values(), *SOLVERS.values()]
)
#: NumPy's ifft2 takes `out` and leaves it as it is (numpy/fft/_pocketfft.py, up to 2.4 at least).
OF_TWO_AXES = ("np.fft.ifft2({1}", "np.fft.ifftn({1}, axes=(-2, -1)")


def with_result_memory(block: Block) -> Block:
    """The driver, in which such functions fill arrays that it has made."""
    return replace(block, body=tuple(s for old in block.body for s in _statements(old)))


def _statements(s: Statement) -> Iterator[Statement]:
    if not isinstance(s, Let) or not _fills(s):
        yield with_blocks(s, with_result_memory)
        return
    (result,) = s.outs
    array = Var(result.type, result.name or word_for(s))
    source = usual_source(s)
    text, *helper = (source,) if isinstance(source, str) else source
    text = text.replace("{1}", "{2}").replace("{0}", "{1}").removesuffix(")")
    text = text.replace(*OF_TWO_AXES)
    text = (f"{text}, out={{0}})", *helper) if helper else f"{text}, out={{0}})"
    fill = Op(s.op.name, lambda out, *args, **params: out.type, text, inplace=True, costly=True)
    params = {"shape": result.type.shape, "dtype": result.type.dtype}
    yield Let((array,), memory, (), params, s.origin)
    yield replace(s, op=fill, args=(array, *s.args))


def _fills(s: Let) -> bool:
    """Whether a function can be given memory. NumPy decides which dtype it gives for float16."""
    if s.op not in WITH_OUT or not may_be_large(s.outs[0].type):
        return False
    return all(a.type.dtype != np.float16 for a in s.args if isinstance(a.type, Type))
