"""Lowers sums that may be made in any order to instructions of the kernel that adds up.

The helpers `plus` and `plus_product` of emitted modules are functions of their own for Numba, which
infers, lowers and optimises each for itself; here they are one or two additions in place.
`product` is the sums of a product of matrices, `matrix` an operand of it, `scratch` an array for
the kernel itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.extending import lower_builtin, type_callable

from tapeless.backends.cpu.llvm.gemm import FLAGS
from tapeless.backends.cpu.numba.matrix_products import matrix, product
from tapeless.backends.cpu.numba.scratch import scratch


def plus(a: Any, b: Any) -> Any:
    """a + b; a loop that adds up in this way may do so in any order."""
    return a + b


def plus_product(total: Any, a: Any, b: Any) -> Any:
    """total + a * b; a loop that adds up in this way may do so in any order."""
    return total + a * b


def instructions(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """What stands in compiled code for a helper, if the function is one; None for others."""
    helper = HELPERS.get(function.__name__)
    flags = options.get("fastmath")
    if helper is None or not isinstance(flags, set) or flags != {*FLAGS}:
        return None
    same = function.__code__.co_code == helper.__code__.co_code
    return helper if same and function.__doc__ == helper.__doc__ else None


def _common(*kinds: Any) -> Any:
    """The type of the sum; None for what is no floating-point number."""
    if not all(isinstance(t, (types.Float, types.Integer, types.Boolean)) for t in kinds):
        return None
    floats = {t for t in kinds if isinstance(t, types.Float)}
    if not floats:
        return None
    return types.float32 if floats == {*kinds} == {types.float32} else types.float64


@type_callable(plus)  # type: ignore[untyped-decorator]
def _type_plus(context: Any) -> Callable[..., Any]:
    return lambda a, b: _common(a, b)


@type_callable(plus_product)  # type: ignore[untyped-decorator]
def _type_plus_product(context: Any) -> Callable[..., Any]:
    return lambda total, a, b: _common(total, a, b)


def _cast(context: Any, builder: Any, sig: Any, args: Any) -> list[Any]:
    kinds = zip(args, sig.args, strict=True)
    return [context.cast(builder, value, kind, sig.return_type) for value, kind in kinds]


@lower_builtin(plus, types.Any, types.Any)  # type: ignore[untyped-decorator]
def _lower_plus(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    a, b = _cast(context, builder, sig, args)
    return builder.fadd(a, b, flags=FLAGS)


@lower_builtin(plus_product, types.Any, types.Any, types.Any)  # type: ignore[untyped-decorator]
def _lower_plus_product(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    total, a, b = _cast(context, builder, sig, args)
    return builder.fadd(total, builder.fmul(a, b, flags=FLAGS), flags=FLAGS)


HELPERS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (plus, plus_product, product, matrix, scratch)
}
