"""Writes products of matrices in kernels as calls: out = a @ b      becomes      product(a, b, out)

Products with vectors, of tiny matrices, and of what no array holds are loops like any others.
"""

from __future__ import annotations

import ast
from typing import Any

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Var
from tapeless.transforms.lowering.kernels.reductions import Sums
from tapeless.transforms.lowering.kernels.writer_base import NotCompiled
from tapeless.transforms.lowering.schedule.library_products import axes_of, is_called
from tapeless.transforms.lowering.schedule.loop_nests import LoopNest
from tapeless.transforms.python_text.python_source import number, template, to_source

PRODUCT = '''
@njit(fastmath={"reassoc", "contract"})
def product(a, b, out):
    """out = a @ b, of matrices, added up in any order."""
    np.dot(a, b, out)
'''
MATRIX = '''
@njit(fastmath={"reassoc", "contract"})
def matrix(a, rows, columns):
    """The numbers of an array as a matrix."""
    return a.reshape((rows, columns))
'''


class Products(Sums):
    """Writes calls of `product`."""

    def is_library_call(self, stage: LoopNest) -> bool:
        """Whether a product is a call where it stands: outside of nests, and all in memory."""
        if self.loops or not is_called(stage, self.memory):
            return False
        bases = [self.memory.base(a) for a in stage.let.args]
        sizes = [n for v in (*bases, stage.var) for n in v.type.shape]  # type: ignore[union-attr]
        return all(self.analysis.is_known(self.analysis.driver_size(n)) for n in sizes)

    def call(self, stage: LoopNest) -> None:
        v = self.memory.cell(stage.var)
        if v not in self.home:
            self.home[v] = self.allocate(v, tuple(range(v.type.ndim)))
        self.helpers[PRODUCT.strip()] = None
        a, b = map(self.matrix, stage.let.args)
        self.put(f"product({a}, {b}, {self.product_target(v)})", stage.let.origin)

    def product_target(self, v: Var) -> str:
        """The array of a product, or the part of it that is as long as the product of this pass."""
        name, shape = self.home[v].name, v.type.shape
        if all(map(self.is_length, shape)):
            return name
        return f"{name}[{', '.join(f':{to_source(self.size(n))}' for n in shape)}]"

    def is_length(self, size: Size) -> bool:
        """Whether an array whose type says a size has that length, and is not longer."""
        return bool(self.analysis.is_known(self.analysis.exact(size)))

    def call_for_row(self, stage: LoopNest) -> None:
        """The product of one row of several axes."""
        s, v = stage.let, self.memory.cell(stage.var)
        x = self.memory.base(s.args[0])
        if x is None or axes_of(self.memory, s.args[1]) is None:
            raise NotCompiled("a product of rows takes a part of an array that has no memory")
        if v not in self.home:
            self.home[v] = self.allocate(v, self.free_axes(stage))
        (row,) = self.index_of(stage)
        k, m = s.args[1].type.shape
        rows = s.params["rows"]
        self.helpers[MATRIX.strip()] = self.helpers[PRODUCT.strip()] = None
        row_operand = self.row_of(x, row, rows, k)
        out = self.row_of(v, row, rows, m)
        self.put(f"product({row_operand}, {self.matrix(s.args[1])}, {out})", s.origin)

    def row_of(self, v: Var, row: Any, rows: Size, columns: Size) -> str:
        """A row of an array of our own, as a matrix."""
        home, inner = self.home.get(v), tuple(range(1, v.type.ndim))
        if home is None and self.analysis.defined_outside(v):
            home = self.buffer(v)
        if home is None or home.lengths or home.axes not in (inner, (0, *inner)):
            raise NotCompiled("a product of rows takes an array whose rows are not kept")
        name = home.name if home.axes == inner else f"{home.name}[{to_source(row)}]"
        lengths = (to_source(self.size(n)) for n in (rows, columns))
        return f"matrix({name}, {', '.join(lengths)})"

    def matrix(self, a: Atom) -> str:
        """A matrix as an array, or as part of one."""
        base, axes = self.memory.base(a), axes_of(self.memory, a)
        assert isinstance(a, Var)
        assert base is not None
        assert axes is not None
        if base in self.home and self.home[base].lengths:
            raise NotCompiled("a product takes an array with a length that only the loop knows")
        first: Any = self.element(a, [number(0), number(0)])
        starts = first.slice.elts if hasattr(first.slice, "elts") else [first.slice]
        parts = [
            to_source(start) if k is None else self.stretch(start, a.type.shape[k], n)
            for k, start, n in zip(axes, starts, base.type.shape, strict=True)
        ]
        while parts and parts[-1] == ":":
            parts.pop()
        name = first.value.id + (f"[{', '.join(parts)}]" if parts else "")
        return name if axes.index(0) < axes.index(1) else f"{name}.T"

    def stretch(self, start: Any, length: Size, n: Size) -> str:
        """So many elements of n, as a slice."""
        low, size = to_source(start), self.size(length)
        if low == "0":
            whole = self.equal(length, n) and self.is_length(n)
            return ":" if whole else f":{to_source(size)}"
        end = to_source(_sum(start, size))
        return f"{low}:" if end == to_source(self.size(n)) else f"{low} : {end}"


def _sum(start: ast.expr, length: ast.expr) -> ast.expr:
    """Where a part ends: `start + (end - start)` is `end`."""
    match length:
        case ast.BinOp(left=end, op=ast.Sub(), right=other) if to_source(other) == to_source(start):
            return end
    return template("{0} + {1}", {"0": start, "1": length})  # type: ignore[no-any-return]
