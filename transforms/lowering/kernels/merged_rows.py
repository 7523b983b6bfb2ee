"""Merges two axes of rows into one: more rows for the teams of a GPU.

for i in range(first, last):                     for i in range(first, last):
    for j in each(x.shape[1]):                       for k in each(x.shape[1]):
        for k in each(x.shape[2]):    becomes            out[i, k] = 2 * x[i, k]
            out[i, j, k] = 2 * x[i, j, k]

The first two axes of such arrays follow one another in memory: they have the second one in common,
and at least as many rows as there are passes. Threads share the innermost loops.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.lowering.kernels.annotated import AnnotatedKernel
from tapeless.transforms.lowering.kernels.flat_points import Canon, is_of_rows
from tapeless.transforms.lowering.kernels.kernel import Kernel


def merged_rows(kernel: Kernel, canon: Canon) -> Kernel:
    """The kernel with its rows and the loop inside of them as rows, if nothing is between."""
    if kernel.launch is None or kernel.launch.sums:
        return kernel
    merging = Merging(kernel, canon)
    if not merging.found:
        return kernel
    types = {
        name: replace(t, shape=_merge_leading_axes(t.shape)) if name in merging.arrays else t
        for name, t in kernel.types.items()
    }
    launch = replace(kernel.launch, rows=dims.product((kernel.launch.rows, merging.side)))
    return replace(kernel, text=merging.text(), types=types, launch=launch)


def _merge_leading_axes(shape: tuple[Size, ...]) -> tuple[Size, ...]:
    return (dims.product(shape[:2]), *shape[2:])


class Merging:
    """`arrays` are those of which each row of the two axes has a part, `side` how many there are
    along the second one."""

    def __init__(self, kernel: Kernel, canon: Canon) -> None:
        self.kernel, self.canon = kernel, canon
        self.decorator, _, rest = kernel.text.partition("\n")
        lines = rest.splitlines()
        end = next(k for k, line in enumerate(lines) if line.endswith("):")) + 1
        self.head = lines[:end]
        self.written = AnnotatedKernel("\n".join(self.head), lines[end:])
        self.arrays: set[str] = set()
        self.side: Size = 0
        self.found = self.is_nest() and self.is_by_rows()

    def is_nest(self) -> bool:
        """Whether the kernel is a loop over rows around one whose passes are apart, too."""
        body = self.written.function.body
        after = len(body) - isinstance(body[-1], ast.Return)
        self.before, self.after = body[: after - 1], body[after:]
        outer = body[after - 1]
        if any(
            isinstance(t, (ast.For, ast.While, ast.Subscript))
            for s in self.before
            for t in ast.walk(s)
        ):
            return False
        if not isinstance(outer, ast.For) or not is_of_rows(outer) or len(outer.body) > 1:
            return False
        inner = outer.body[0]
        if not isinstance(inner, ast.For) or not _ranges_over(inner, ("each", "turns")):
            return False
        self.outer, self.inner = outer, inner
        loops = [s for s in ast.walk(inner) if isinstance(s, ast.For) and s is not inner]
        return any(_ranges_over(s, ("each",)) for s in loops)

    def is_by_rows(self) -> bool:
        """Whether all that depends on the two indices is which part of some arrays is meant."""
        names = [s.target.id for s in (self.outer, self.inner) if isinstance(s.target, ast.Name)]
        if len(names) < 2:
            return False
        seen: set[int] = set()
        nodes = [e for s in self.inner.body for e in ast.walk(s)]
        places = [
            e for e in nodes if isinstance(e, ast.Subscript) and isinstance(e.value, ast.Name)
        ]
        for e in places:
            parts = e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]
            first = [p.id if isinstance(p, ast.Name) else "" for p in parts[:2]]
            if first == names and e.value.id in self.kernel.types:  # type: ignore[attr-defined]
                self.arrays.add(e.value.id)  # type: ignore[attr-defined]
                seen |= {id(p) for p in parts[:2]}
        rest = (n for s in (*self.inner.body, *self.after) for n in ast.walk(s))
        if any(isinstance(n, ast.Name) and n.id in names and id(n) not in seen for n in rest):
            return False
        return self.fits(places, names)

    def fits(self, places: list[ast.Subscript], names: list[str]) -> bool:
        """Whether the arrays have the two axes, and no other part of them is touched."""
        for e in places:
            parts = e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]
            first = [p.id if isinstance(p, ast.Name) else "" for p in parts[:2]]
            if e.value.id in self.arrays and first != names:  # type: ignore[attr-defined]
                return False
        shapes = [self.kernel.types[name].shape for name in self.arrays]
        sides = {self.canon(shape[1]) for shape in shapes}
        if len(sides) != 1 or self.length() not in sides:
            return False
        (self.side,) = sides
        return not any(
            self.asks_for_sides(s) for s in (*self.before, *self.inner.body, *self.after)
        )

    def length(self) -> Size | None:
        """How many passes the inner loop makes, where that is an axis or a number."""
        match self.inner.iter:
            case ast.Call(args=[ast.Constant(value=int(n))]):
                return n
            case ast.Call(
                args=[
                    ast.Subscript(
                        value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                        slice=ast.Constant(value=int(k)),
                    )
                ]
            ) if name in self.kernel.types:
                return self.canon(self.kernel.types[name].shape[k])
        return None

    def asks_for_sides(self, s: ast.stmt) -> bool:
        """Whether a statement names the length of one of the two axes, or all of an array."""
        lengths = {
            id(e.value) for e in ast.walk(s) if isinstance(e, ast.Subscript) and self.is_length(e)
        }
        elements = {
            id(e.value)
            for e in ast.walk(s)
            if isinstance(e, ast.Subscript) and id(e.value) not in lengths
        }
        named = {
            id(e.value) for e in ast.walk(s) if isinstance(e, ast.Attribute) and id(e) in lengths
        }
        return any(
            isinstance(e, ast.Name) and e.id in self.arrays and id(e) not in elements | named
            for e in ast.walk(s)
        )

    def is_length(self, e: ast.AST) -> bool:
        """Whether an expression is the length of a later axis of one of the arrays."""
        match e:
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                slice=ast.Constant(value=int(k)),
            ):
                return name in self.arrays and k > 1
        return False

    def text(self) -> str:
        """The kernel with one loop over rows."""
        shorter = _Shorter(self)
        loop = copy.copy(self.outer)
        body = []
        for s in self.inner.body:
            shortened = shorter.visit(copy.deepcopy(s))
            self.copy_notes(s, shortened)
            body.append(shortened)
        loop.body = body
        return "\n".join(
            [self.decorator, *self.head, *self.written.lines([*self.before, loop, *self.after])]
        )

    def copy_notes(self, s: ast.stmt, replacement: ast.stmt) -> None:
        """Keeps the comments of a statement and of those in it."""
        for old, new in zip(ast.walk(s), ast.walk(replacement), strict=False):
            if isinstance(old, ast.stmt) and isinstance(new, ast.stmt):
                self.written.noted_like(old, new)


class _Shorter(ast.NodeTransformer):
    """x[i, j, k] becomes x[i, k], and x.shape[2] becomes x.shape[1]."""

    def __init__(self, merging: Merging) -> None:
        self.merging = merging

    def visit_Subscript(self, e: ast.Subscript) -> ast.expr:
        self.generic_visit(e)
        if self.merging.is_length(e):
            assert isinstance(e.slice, ast.Constant)
            return ast.Subscript(e.value, ast.Constant(e.slice.value - 1), e.ctx)  # type: ignore[operator]
        if not isinstance(e.value, ast.Name) or e.value.id not in self.merging.arrays:
            return e
        assert isinstance(e.slice, ast.Tuple)
        first, _, *rest = e.slice.elts
        index = ast.Tuple([first, *rest], ast.Load()) if rest else first
        return ast.Subscript(e.value, index, e.ctx)


def _ranges_over(s: ast.For, names: tuple[str, ...]) -> bool:
    match s.iter:
        case ast.Call(func=ast.Name(id=name), args=[_]):
            return name in names
    return False
