"""Allocates small arrays that only a kernel needs inside of the kernel, where that is cheaper than
in the driver.

def f_kernel(x, out, t): ...    becomes    def f_kernel(x, out): t = scratch(x.shape, np.float64)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Type, Var
from tapeless.transforms.lowering.kernels.size_expressions import Extents
from tapeless.transforms.python_text.line_breaking import wrap
from tapeless.transforms.python_text.python_source import to_source

SMALL = 1 << 15  # bytes in the first call; for what is larger the driver has a pool
TINY = 64  # numbers: so few may be kept in registers
SCRATCH = '''
@njit(fastmath={"reassoc", "contract"})
def scratch(shape, dtype):
    """An array to be filled, for the kernel itself."""
    return np.empty(shape, dtype)
'''


def made_inside(kernel: Extents, arrays: Mapping[Var, Type], hints: Mapping[Any, int]) -> list[str]:
    """Takes small arrays out of the parameters of a kernel; the lines that make them."""
    makes_arrays = kernel.analysis.target.makes_arrays  # others have memory for few numbers alone
    fits = {v: is_tiny(t) or (makes_arrays and _is_small(t, hints)) for v, t in arrays.items()}
    small = {v: t for v, t in arrays.items() if fits[v]}
    names = {v: kernel.params.pop(v) for v in small}
    kernel.sizes = {n: place for n, place in kernel.sizes.items() if place[0] not in small}
    return [
        line for v, t in small.items() for line in wrap(f"    {_allocation(kernel, names[v], t)}")
    ]


def _allocation(kernel: Extents, name: str, kind: Type) -> str:
    lengths = [to_source(kernel.size(kernel.analysis.memory_length(n))) for n in kind.shape]
    dtype = "np.bool_" if kind.dtype.kind == "b" else f"np.{kind.dtype.name}"
    return f"{name} = scratch(({', '.join(lengths)}{',' * (len(lengths) == 1)}), {dtype})"


def is_tiny(kind: Type) -> bool:
    """Whether an array has few numbers in each call."""
    count = dims.product(kind.shape)
    return isinstance(count, int) and count <= TINY


def _is_small(kind: Type, hints: Mapping[Any, int]) -> bool:
    count = dims.evaluate(dims.product(kind.shape), hints)
    return count is not None and count * kind.dtype.itemsize <= SMALL


def helper(lines: Iterable[str]) -> dict[str, None]:
    """What the lines call."""
    return dict.fromkeys([SCRATCH.strip()] if any(lines) else [])
