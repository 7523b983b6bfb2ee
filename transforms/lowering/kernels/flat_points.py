"""Flattens elementwise kernels over several axes to one loop, as elements follow one another in
memory.

for i in range(first, last):                 for i in range(first, last):
    for j in each(x.shape[1]):    becomes        out[i] = 2 * x[i]
        out[i, j] = 2 * x[i, j]

Arrays that a kernel gets lie row by row, so an element of each is at the same distance from its
first one, if their rows have the same shape; some of the arrays may have more of them. Rows of the
kernel are then elements, and each thread takes some of them.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Type
from tapeless.transforms.lowering.kernels.annotated import AnnotatedKernel
from tapeless.transforms.lowering.kernels.kernel import Kernel

Canon = Callable[[Size], Size]


def flatten_kernel(kernel: Kernel, canon: Canon) -> Kernel:
    """The kernel as a loop over elements, if that is all that it is; else itself."""
    if kernel.launch is None or kernel.launch.own or kernel.launch.sums:
        return kernel
    points = Points(kernel, canon)
    if not points.found:
        return kernel
    types = {
        name: replace(t, shape=(dims.product(t.shape),)) if name in points.arrays else t
        for name, t in kernel.types.items()
    }
    launch = replace(kernel.launch, rows=dims.product((kernel.launch.rows, *points.row)))
    return replace(kernel, text=points.text(), types=types, launch=launch)


class Points:
    """`loops` are the loops around the innermost body, `arrays` what it reads and stores to, `row`
    the shape of a row of each."""

    def __init__(self, kernel: Kernel, canon: Canon) -> None:
        self.kernel, self.canon = kernel, canon
        decorator, _, rest = kernel.text.partition("\n")
        lines = rest.splitlines()
        end = next(k for k, line in enumerate(lines) if line.endswith("):")) + 1
        self.decorator, self.head = decorator, lines[:end]
        self.written = AnnotatedKernel("\n".join(self.head), lines[end:])
        self.loops: list[ast.For] = []
        self.arrays: set[str] = set()
        self.row: tuple[Size, ...] = ()
        self.found = self.is_nest() and self.is_elementwise()

    def is_nest(self) -> bool:
        """Whether the kernel is one nest of loops, whose passes are apart."""
        body = self.written.function.body
        after = len(body) - isinstance(body[-1], ast.Return)
        self.before, self.after = body[: after - 1], body[after:]
        s = body[after - 1]
        if any(_has_loops(t) or _has_elements(t) for t in self.before):
            return False
        while isinstance(s, ast.For) and (_passes(s) is not None if self.loops else is_of_rows(s)):
            self.loops.append(s)
            if len(s.body) > 1 or not isinstance(s.body[0], ast.For):
                break
            s = s.body[0]
        return len(self.loops) > 1

    def is_elementwise(self) -> bool:
        """Whether rows of all arrays have the shape of the nest in the loop over rows, and a pass
        touches only its own element."""
        indices = [s.target.id for s in self.loops if isinstance(s.target, ast.Name)]
        for s in self.loops[-1].body:
            for e in ast.walk(s):
                if isinstance(e, ast.Subscript) and isinstance(e.value, ast.Name):
                    kind = self.kernel.types.get(e.value.id)
                    if kind is None:
                        continue  # of the kernel itself
                    if _names(e.slice) != indices:
                        return False
                    self.arrays.add(e.value.id)
        rows = {self.shape_of(self.kernel.types[name])[1:] for name in self.arrays}
        others = [n for n, t in self.kernel.types.items() if t.shape and n not in self.arrays]
        if len(rows) != 1 or others or self.mentions(indices):
            return False
        (self.row,) = rows
        return tuple(map(self.length, self.loops[1:])) == self.row

    def shape_of(self, kind: Type) -> tuple[Size, ...]:
        return tuple(map(self.canon, kind.shape))

    def mentions(self, indices: list[str]) -> bool:
        """Whether the body says more of the indices and of the arrays than where an element is."""
        for s in (*self.before, *self.loops[-1].body, *self.after):
            inside = [e for t in ast.walk(s) if isinstance(t, ast.Subscript) for e in ast.walk(t)]
            for e in ast.walk(s):
                owner = e.value if isinstance(e, ast.Attribute) else None
                if isinstance(owner, ast.Name) and owner.id in self.arrays:
                    return True
                if isinstance(e, ast.Name) and e.id in indices and e not in inside:
                    return True
        return False

    def length(self, s: ast.For) -> Size | None:
        """How many passes a loop makes, where that is the length of an axis or a number."""
        match _passes(s):
            case ast.Constant(value=int(n)):
                return n
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                slice=ast.Constant(value=int(k)),
            ):
                return self.canon(self.kernel.types[name].shape[k])
        return None

    def text(self) -> str:
        """The kernel as one loop."""
        outer, inner = self.loops[0], self.loops[-1]
        loop = copy.copy(outer)
        flat = _Flat(self.arrays)
        loop.body = [self.written.noted_like(s, flat.visit(copy.deepcopy(s))) for s in inner.body]
        for s in self.loops:
            if s in self.written.notes:
                self.written.notes.setdefault(loop, self.written.notes[s])
        body = [*self.before, loop, *self.after]
        return "\n".join([self.decorator, *self.head, *self.written.lines(body)])


class _Flat(ast.NodeTransformer):
    """x[i, j] becomes x[i]."""

    def __init__(self, arrays: set[str]) -> None:
        self.arrays = arrays

    def visit_Subscript(self, e: ast.Subscript) -> ast.expr:
        if not isinstance(e.value, ast.Name) or e.value.id not in self.arrays:
            return self.generic_visit(e)  # type: ignore[return-value]
        first = e.slice.elts[0] if isinstance(e.slice, ast.Tuple) else e.slice
        return ast.Subscript(e.value, first, e.ctx)


def _has_loops(s: ast.stmt) -> bool:
    return any(isinstance(t, (ast.For, ast.While)) for t in ast.walk(s))


def _has_elements(s: ast.stmt) -> bool:
    return any(isinstance(e, ast.Subscript) for e in ast.walk(s))


def is_of_rows(s: ast.For) -> bool:
    """Whether a loop runs over the rows that its thread has, beginning with the first row there is:
    range(first, last), not range(1 + first, 1 + last)."""
    match s.iter:
        case ast.Call(func=ast.Name(id="range"), args=[ast.Name(), ast.Name()]):
            return True
    return False


def _passes(s: ast.For) -> ast.expr | None:
    """How many passes a loop inside of that over rows makes, if none of them needs another."""
    match s.iter:
        case ast.Call(func=ast.Name(id="each"), args=[count]):
            return count
    return None


def _names(e: ast.expr) -> list[str] | None:
    """The variables of an index that is made of variables."""
    parts = e.elts if isinstance(e, ast.Tuple) else [e]
    names = [p.id for p in parts if isinstance(p, ast.Name)]
    return names if len(names) == len(parts) else None
