"""Verifies that threads which share the rows of a kernel store to their own rows only.

for i in range(first, last): y[i] = x[i]      is for threads      y[0] = 1.0; for i in ... is not
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from tapeless.transforms.errors import InternalError
from tapeless.transforms.lowering.kernels.kernel import Kernel
from tapeless.transforms.python_text.tree_walk import names_in


def verify_rows(kernel: Kernel) -> None:
    """Raises InternalError for a store that each thread would make to memory which they share, and
    for an array that is stored to in some rows and read in others."""
    if kernel.launch is None:
        return
    function = ast.parse(kernel.text).body[-1]
    assert isinstance(function, ast.FunctionDef)
    bounds = {a.arg for a in function.args.args[:2]}
    private = {*kernel.launch.own, *kernel.launch.sums}
    names = zip(kernel.arguments, kernel.types, strict=True)
    shared = {name for a, name in names if kernel.types[name].shape and a not in private}
    values = _values(function)
    accesses = [(name, e, row) for name, e, row in _accesses(function, bounds) if name in shared]
    for stored in sorted({name for name, e, _ in accesses if isinstance(e.ctx, ast.Store)}):
        own = [(e, row) for name, e, row in accesses if name == stored]
        places = {_place(e, row, values) for e, row in own}
        read = any(isinstance(e.ctx, ast.Load) for e, _ in own)
        if "outside" in places or (read and (len(places) > 1 or "elsewhere" in places)):
            raise InternalError(
                f"threads meet at elements of {stored}, which they share, in\n{kernel.text}"
            )


def _accesses(
    node: ast.AST, bounds: set[str], row: str = ""
) -> Iterator[tuple[str, ast.Subscript, str]]:
    """The elements that are named: the array, the element, the variable of the row around it."""
    for child in ast.iter_child_nodes(node):
        inner = row
        if isinstance(child, ast.For) and isinstance(child.target, ast.Name):
            names = names_in(child.iter)
            if bounds <= names or (row in names and bounds & names):  # of a block of rows
                inner = child.target.id
        if isinstance(child, ast.Subscript) and isinstance(child.value, ast.Name):
            yield child.value.id, child, row
        yield from _accesses(child, bounds, inner)


def _values(function: ast.FunctionDef) -> dict[str, str]:
    """What variables stand for that are set once, ahead of loops."""
    sets = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and _is_set(n)]
    return {
        s.targets[0].id: f"({ast.unparse(s.value)})"
        for s in function.body
        if isinstance(s, ast.Assign)
        and isinstance(s.targets[0], ast.Name)
        and sets.count(s.targets[0].id) == 1
    }


def _is_set(n: ast.Name) -> bool:
    return isinstance(n.ctx, ast.Store)


def _place(e: ast.Subscript, row: str, values: Mapping[str, str]) -> tuple[int, str] | str:
    """The axis along which an element belongs to its row, and how: of x[i + 1, j] it is
    (0, "row + 1")."""
    if not row:
        return "outside"
    for k, n in enumerate(e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]):
        if row in names_in(n):
            text = re.sub(rf"\b{row}\b", "row", ast.unparse(n))
            return k, re.sub(r"\b[^\W\d]\w*\b", lambda m: values.get(m[0], m[0]), text)
    return "elsewhere"
