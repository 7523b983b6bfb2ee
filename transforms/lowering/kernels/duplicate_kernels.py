"""Kernels that do the same: one is enough, and is compiled once.

def k(x, y): y[0] = x[0]; def k_2(a, b): b[0] = a[0]      becomes      def k(x, y): y[0] = x[0]
"""

from __future__ import annotations

import ast

from tapeless.transforms.lowering.kernels.kernel import Kernel


def twin(kernel: Kernel, others: list[Kernel]) -> Kernel | None:
    """One of the others that differs in its names only."""
    types = list(kernel.types.values())
    kernel.form = _form(kernel.text)
    alike = (k for k in others if k.form == kernel.form)
    return next((k for k in alike if list(k.types.values()) == types), None)


def _form(text: str) -> str:
    """The text with its own names replaced by numbers.

    >>> _form("def f(x, y): y[0] = abs(x[0])") == _form("def g(a, b): b[0] = abs(a[0])")
    True
    >>> _form("def f(x, y): y[0] = abs(x[0])") == _form("def f(x, y): x[0] = abs(y[0])")
    False
    """
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    function.name = "kernel"
    names = {a.arg: f"v{k}" for k, a in enumerate(function.args.args)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.setdefault(node.id, f"v{len(names)}")
    for node in ast.walk(function):
        match node:
            case ast.Name(id=name) if name in names:
                node.id = names[name]
            case ast.arg(arg=name):
                node.arg = names[name]
    return ast.dump(function)
