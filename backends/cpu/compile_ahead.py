"""Compiles kernels before their function is called, which is read and not run.

def f(x, y):
    out = empty(x.shape, np.float64)    the array is known
    f_kernel(x, out)                    so the kernel is compiled for it
    solve = np.linalg.solve(y, out)     not known: what gets it is compiled when it is called
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeless.backends.cpu.kernel import JitKernel, KernelModule

INTEGERS: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class _RunTimeValueError(Exception):
    """What only a run can tell."""


NOT_KNOWN = (_RunTimeValueError, IndexError, MemoryError, TypeError, ValueError, ZeroDivisionError)


def prepare(program: KernelModule, function: ast.FunctionDef, args: Sequence[Any]) -> None:
    """Compiles what a call of the function with arguments like these needs, as far as is known.

    program   the kernels of the module
    function  the function of the module that calls them
    args      arrays and numbers of the types, shapes and memory orders that are meant
    """
    names = [a.arg for a in function.args.args]
    _KernelCallReader(program, dict(zip(names, args, strict=True))).block(function.body)


class _KernelCallReader:
    """Goes over statements in their order; `names` are the variables whose values are known."""

    def __init__(self, program: KernelModule, names: dict[str, Any]) -> None:
        self.program, self.names = program, names

    def block(self, body: Sequence[ast.stmt]) -> None:
        for s in body:
            for inner in ast.iter_child_nodes(s):
                if isinstance(inner, ast.expr):
                    self.calls(inner)
            self.bind(s)
            self.block([inner for inner in ast.iter_child_nodes(s) if isinstance(inner, ast.stmt)])

    def bind(self, s: ast.stmt) -> None:
        """What a statement gives its variables; of loops, nothing is known."""
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.give(name, value)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, value in zip(targets, values, strict=True):
                    if isinstance(target, ast.Name):
                        self.give(target.id, value)
            case _:
                parts = [x for x in ast.iter_child_nodes(s) if isinstance(x, ast.expr)]
                for e in (e for part in parts for e in ast.walk(part)):
                    if isinstance(e, ast.Name) and isinstance(e.ctx, ast.Store):
                        self.names.pop(e.id, None)

    def give(self, name: str, value: ast.expr) -> None:
        try:
            self.names[name] = self.evaluate(value)
        except NOT_KNOWN:
            self.names.pop(name, None)

    def calls(self, e: ast.expr) -> None:
        """Compiles the kernels that an expression calls."""
        for call in ast.walk(e):
            match call:
                case ast.Call(func=ast.Name(id="in_parallel"), args=[ast.Name(id=name), *parts]):
                    tuples = {k.arg: k.value for k in call.keywords}
                    for more in (tuples.get("own"), tuples.get("sums")):
                        parts += more.elts if isinstance(more, ast.Tuple) else []
                    self.ready(self.program.kernels[name], parts)
                case ast.Call(func=ast.Name(id=name)) if name in self.program.kernels:
                    self.ready(self.program.kernels[name], call.args)

    def ready(self, kernel: JitKernel, parts: list[ast.expr]) -> None:
        first = 2 if kernel.split else 0  # the rows are integers in any case
        try:
            kernel.ready((*[0] * first, *map(self.evaluate, parts[first:])))
        except NOT_KNOWN:
            return

    def evaluate(self, e: Any) -> Any:
        """The value of an expression of sizes, arrays and parts of these."""
        match e:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.Attribute(value=ast.Name(id="np"), attr=name):
                return getattr(np, name)
            case ast.Attribute(value=inner, attr="shape" | "T" as name):
                return getattr(self.evaluate(inner), name)
            case ast.Subscript(value=inner, slice=index):
                return self.evaluate(inner)[self.evaluate(index)]
            case ast.Tuple(elts=parts):
                return tuple(map(self.evaluate, parts))
            case ast.Slice(lower=a, upper=b, step=c):
                return slice(*[None if x is None else self.evaluate(x) for x in (a, b, c)])
            case ast.BinOp(left=a, op=op, right=b) if type(op) in INTEGERS:
                return INTEGERS[type(op)](*map(self.integer, (a, b)))
            case (
                ast.Call(func=ast.Name(id="empty" | "zeros"), args=[shape, dtype])
                | ast.Call(func=ast.Name(id="full"), args=[shape, _, dtype])
            ):  # of zeros: not filled
                return np.zeros(self.evaluate(shape), self.evaluate(dtype))
            case ast.Call(func=ast.Name(id="copy_of"), args=[x]):
                array = self.evaluate(x)
                return np.zeros(array.shape, array.dtype)
            case (
                ast.Call(func=ast.Name(id="matmul"), args=[a, b])
                | ast.BinOp(left=a, op=ast.MatMult(), right=b)
            ):
                return _product(self.evaluate(a), self.evaluate(b))
            case _:
                raise _RunTimeValueError

    def integer(self, e: ast.expr) -> int:
        value = self.evaluate(e)
        if type(value) is not int:
            raise _RunTimeValueError
        return value


def _product(a: Any, b: Any) -> Any:
    """An array like `a @ b`, where `b` is a matrix or a vector."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or b.ndim > 2:
        raise _RunTimeValueError
    return np.zeros((*a.shape[:-1], *b.shape[1:]), np.result_type(a, b))
