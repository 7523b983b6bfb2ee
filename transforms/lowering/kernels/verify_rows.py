"""Verifies that threads which share the rows of a kernel store to their own rows only.

for i in range(first, last): y[i] = x[i]      is for threads      y[0] = 1.0; for i in ... is not
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapeless.transforms.errors import InternalError
from tapeless.transforms.lowering.kernels.kernel import Kernel


def verify_rows(kernel: Kernel) -> None:
    """Raises InternalError for a store that each thread would make, to memory that they share."""
    if kernel.launch is None:
        return
    function = ast.parse(kernel.text).body[-1]
    assert isinstance(function, ast.FunctionDef)
    bounds = {a.arg for a in function.args.args[:2]}
    private = {*kernel.launch.own, *kernel.launch.sums}
    names = zip(kernel.arguments, kernel.types, strict=True)
    shared = {name for a, name in names if kernel.types[name].shape and a not in private}
    for target in _stored_outside_of_rows(function, bounds):
        if target.id in shared:
            raise InternalError(
                f"every thread stores to {target.id}, which they share, in\n{kernel.text}"
            )


def _stored_outside_of_rows(node: ast.AST, bounds: set[str]) -> Iterator[ast.Name]:
    """The arrays whose elements are set outside of loops over the rows of a thread."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.For) and bounds <= _names(child.iter):
            continue
        if (
            isinstance(child, ast.Subscript)
            and isinstance(child.ctx, ast.Store)
            and isinstance(child.value, ast.Name)
        ):
            yield child.value
        yield from _stored_outside_of_rows(child, bounds)


def _names(e: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(e) if isinstance(n, ast.Name)}
