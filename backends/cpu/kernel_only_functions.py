"""Replaces functions that only pass numbers to a kernel, and return what it gives, by machine code.

def f(x, y):
    value = f_kernel(y, x)
    return np.float32(value)      becomes      an entry of f_kernel that takes (x, y), and converts
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless.backends.cpu.kernel import JitKernel, KernelModule, SlowPath
from tapeless.backends.cpu.runtime.kernel_errors import Failures
from tapeless.backends.cpu.runtime.signature import DTYPES, CallForm, NumberType, Signature, plain

if TYPE_CHECKING:
    from tapeless.backends.cpu.runtime.object_cache import ObjectCode

CLASSES = frozenset(d.name for d in DTYPES if d.kind != "b")


def kernel_only_or_same(
    formed: tuple[str, CallForm] | None, program: KernelModule, function: Any
) -> Any:
    """The function of a module, or what stands for it."""
    if isinstance(function, JitKernel) or formed is None or formed[0] not in program.kernels:
        return function
    return KernelOnlyFunction(program.kernels[formed[0]], function, formed[1])


class KernelOnlyFunction(JitKernel):
    """A function and its kernel. Types of arguments are not taken for others that mean the same,
    as results depend on them."""

    def __init__(self, kernel: JitKernel, function: Callable[..., Any], form: CallForm) -> None:
        super().__init__(kernel.program, kernel.function, kernel.options)
        self.driver, self.form = function, form
        self.__globals__ = function.__globals__
        self.made: tuple[int, Failures] | None = None  # the last entry

    def __call__(self, *args: Any) -> Any:
        try:  # `suppress` takes longer than the call
            return self.entry(*args)
        except Exception:
            if not self.takes(args):  # the driver has run, which may have stored and drawn
                raise
        return self.driver(*args)  # raises it again, by a line that names the user's

    def compile_and_call(self, *args: Any) -> Any:
        return super().compile_and_call(*args) if self.takes(args) else self.driver(*args)

    @staticmethod
    def takes(args: tuple[Any, ...]) -> bool:
        """Whether the entry is for such arguments: numbers."""
        return all(isinstance(x, (bool, int, float, complex, np.generic)) for x in args)

    def read(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Signature]:
        args = tuple(map(plain, args))
        return args, tuple(NumberType(type(x), exact=True) for x in args)

    def fixed_key(self) -> str:
        return f"{super().fixed_key()}\n{self.form}"

    def link_entry(self, code: ObjectCode) -> Callable[..., Any]:
        entry = super().link_entry(code)
        self.made = self.place(code)
        return entry

    def latest_entry(self, other: Any) -> Callable[..., Any] | None:
        """The last entry, which returns `other` for arguments of other types."""
        from tapeless.backends.cpu.runtime import linking  # noqa: PLC0415

        if self.made is None:
            return None
        address, failures = self.made
        return linking.builtin(address, self.__name__, Elsewhere(self, failures, other))

    def by_numba(self) -> Callable[..., Any]:
        return self.driver


class Elsewhere(SlowPath):
    """Owner of an entry whose caller deals with other signatures."""

    def __init__(self, kernel: JitKernel, failures: Failures, other: Any) -> None:
        super().__init__(kernel, failures)
        self.other = other

    def __call__(self, *args: Any) -> Any:
        return self.other


# -- what the source says


def formed_in(tree: ast.Module, name: str) -> tuple[str, CallForm] | None:
    """The same of a function of a module."""
    written = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
    return formed_by(next(s for s in written if s.name == name))


def formed_by(function: ast.FunctionDef) -> tuple[str, CallForm] | None:
    """The kernel that a function calls and nothing else, and how; None for other functions."""
    names = [a.arg for a in function.args.args]
    body = [s for s in function.body if not _is_docstring(s)]
    held: list[str] = []
    match body:
        case [ast.Assign(targets=[target], value=ast.Call() as call), ast.Return(value=value)]:
            held = [e.id for e in _parts(target) if isinstance(e, ast.Name)]
        case [ast.Return(value=value)]:
            kernel_uses = [e for e in ast.walk(function) if _is_kernel(e)]
            if len(kernel_uses) != 1 or not isinstance(kernel_uses[0], ast.Call):
                return None
            call = kernel_uses[0]
        case _:
            return None
    passed = [a.id for a in call.args if isinstance(a, ast.Name)]
    if not isinstance(call.func, ast.Name) or call.keywords or len(passed) < len(call.args):
        return None
    results = [_result(e, call, held) for e in _parts(value)]
    if sorted(passed) != sorted(names) or not names or None in results:
        return None
    order = tuple(map(names.index, passed))
    return call.func.id, CallForm(order, tuple(results), not isinstance(value, ast.Tuple))  # type: ignore[arg-type]


def _is_docstring(s: ast.stmt) -> bool:
    return isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)


def _parts(e: Any) -> list[Any]:
    return list(e.elts) if isinstance(e, ast.Tuple) else [e]


def _is_kernel(e: ast.AST) -> bool:
    return isinstance(e, ast.Call) and isinstance(e.func, ast.Name)


def _result(e: Any, call: ast.Call, held: list[str]) -> tuple[int, str | None] | None:
    """Which result of the kernel an expression is, and the class that it is converted to."""
    match e:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="np"), attr=name), args=[inner], keywords=[]
        ) if name in CLASSES:
            result = _result(inner, call, held)
            return None if result is None or result[1] else (result[0], name)
        case ast.Name(id=name) if name in held:
            return held.index(name), None
        case _:
            return (0, None) if e is call else None
