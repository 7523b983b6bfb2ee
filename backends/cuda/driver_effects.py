"""Tells whether a driver does nothing but launch: then a recording of its launches is all that it
does.

out = empty(x.shape, cp.float32); f_kernel(len(x), x, out)      does
noise = cp.asarray(rng.normal(size=n))                          does not: it draws on the host
"""

from __future__ import annotations

import ast

#: What is done on the host alone, with sizes, and tells nothing of the values of arrays.
BUILT_IN_NAMES = "abs enumerate float int len list max min range reversed tuple zip"
BUILT_IN = frozenset(BUILT_IN_NAMES.split())
#: Functions of the emitted module that wait, or move numbers between host and device.
WAITING = frozenset(["host", "within", "read", "raising", "on_host"])
#: Functions of CuPy that launch kernels of fixed sizes, or none. They take memory from the pool
#: that is current, and none of them keeps some, or copies from the host.
LAUNCHING_NAMES = """
abs sign sqrt square reciprocal isnan isinf isfinite signbit exp exp2 expm1 log log2 log10 log1p
hypot arctan2 copysign sin cos tan arcsin arccos arctan sinh cosh tanh floor ceil trunc rint
maximum minimum where logical_and logical_or logical_not logical_xor sum prod any all max min
mean empty empty_like zeros zeros_like ones ones_like full full_like eye arange tri tril triu
broadcast_to expand_dims flip moveaxis ravel reshape squeeze swapaxes transpose diagonal trace
matmul dot inner outer ascontiguousarray
bool bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64
complex128
"""
LAUNCHING = frozenset(LAUNCHING_NAMES.split())
METHOD_NAMES = "astype copy dot fill ravel reshape squeeze swapaxes transpose view"
METHODS = frozenset(METHOD_NAMES.split())


def only_launches(module: ast.Module) -> bool:
    """Whether the functions of a module only launch kernels, and make arrays.

    >>> text = "def f(x):\\n    f_kernel(len(x), x)\\n    return x.reshape(3)"
    >>> only_launches(ast.parse(f"f_kernel = Kernel(1)\\n{text}"))
    True
    >>> only_launches(ast.parse("def f(x):\\n    print(x)"))
    False
    """
    functions = [s for s in module.body if isinstance(s, ast.FunctionDef)]
    classes = {s.name for s in module.body if isinstance(s, ast.ClassDef)}
    kernels = {t.id for s in module.body for t in _targets(s) if isinstance(t, ast.Name)}
    callable_names = {f.name for f in functions} | classes | kernels | BUILT_IN
    drivers = [f for f in functions if f.name != "on_device"]
    return all(
        not f.decorator_list and _is_harmless(n, callable_names - WAITING)
        for f in drivers
        for n in ast.walk(f)
    )


def _targets(s: ast.stmt) -> list[ast.expr]:
    return s.targets if isinstance(s, ast.Assign) else []


def _is_harmless(n: ast.AST, callable_names: set[str]) -> bool:
    match n:
        case ast.Global() | ast.Nonlocal() | ast.With() | ast.Import() | ast.Try():
            return False
        case ast.Call(func=ast.Name(id=name)):
            return name in callable_names or name.endswith("Error")
        case ast.Call(func=ast.Attribute(value=ast.Name(id="cp"), attr=name)):
            return name in LAUNCHING
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in METHODS
        case ast.Call():
            return False
    return True
