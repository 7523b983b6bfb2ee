"""Makes elementwise operations: of a ufunc, and its partial derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import broadcast
from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.scalar_form import ScalarForm
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.primitives.dtypes import conform, result_dtype
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, cast_to

COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
OF_TRUTHS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)  # of two truth values it is one


@dataclass(frozen=True)
class Over:
    """A partial derivative 1 / value: the tangent is divided instead of multiplied."""

    value: Atom


@dataclass(frozen=True)
class Times:
    """A partial derivative factor / divisor where something else is divided by the divisor too:
    backwards, `ct / divisor` is computed once."""

    factor: Atom
    divisor: Atom


def as_floats(x: Atom, result: np.dtype[Any]) -> Any:
    """Integers of NumPy, which wrap, as floats of the dtype of a result."""
    wraps = x.type.dtype.kind in "iub" and not x.type.weak and result.kind in "fc"
    return cast_to(x, np.zeros((), result).real.dtype) if wraps else x


def as_integers(x: Atom, result: np.dtype[Any]) -> Any:
    """Integers of NumPy, such as exponents and degrees, as signed ones that can be one less."""
    if x.type.weak or x.type.dtype.kind not in "iub":
        return x
    holds = np.can_cast(x.type.dtype, np.int64)
    return cast_to(x, np.dtype(np.int64)) if holds else as_floats(x, result)


def as_given(x: Atom, result: np.dtype[Any]) -> Atom:
    """Operands as they are, for formulas that only scale tangents by them."""
    return x


def elementwise(
    ufunc: np.ufunc,
    *partials: Any,
    operands: Callable[[Atom, np.dtype[Any]], Any] = as_floats,
    infix: str = "",
    name: str = "",
    transpose: Any = None,
    simplify: Any = None,
    costly: bool = False,
    source: str = "",
    operator: bool = False,
    scalar: ScalarForm | None = None,
    **facts: Any,
) -> Op:
    """An operation with one partial derivative an argument: a number, None (zero), or a function of
    the inputs and the output; `operands` says as what it takes inputs that are integers; `scalar`
    is the form of one element in compiled code; `facts` are further ones of the operation."""
    places = [f"{{{k}}}" for k in range(ufunc.nin)]
    if infix:
        source = f"{{0}} {infix} {{1}}"
    elif not source:
        source = f"np.{name or ufunc.__name__}({', '.join(places)})"
    smooth = any(p is not None for p in partials)
    return Op(
        name or ufunc.__name__,
        _elementwise_infer(ufunc, bool(infix) or operator),
        source,
        _elementwise_jvp(partials, operands) if smooth else None,
        transpose,
        simplify=simplify,
        costly=costly,
        elementwise=True,
        ufunc=ufunc,
        scalar=scalar,
        **facts,
    )


def _elementwise_infer(ufunc: np.ufunc, operator: bool) -> Callable[..., Type]:
    def infer(*args: Atom) -> Type:
        types = tuple([a.type for a in args])
        weak = operator and all(t.weak for t in types)
        truths = ufunc in OF_TRUTHS and all(t.dtype.kind == "b" for t in types)
        if weak and not (truths or ufunc in COMPARISONS):
            types = tuple(
                Type(np.dtype(int), (), True) if t.dtype.kind == "b" else t for t in types
            )
        return Type(result_dtype(ufunc, types), broadcast(*[t.shape for t in types]), weak)

    return infer


def _elementwise_jvp(partials: tuple[Any, ...], operands: Any) -> Callable[..., Any]:
    def jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
        primals = tuple(operands(x, outs[0].type.dtype) for x in primals)
        total = None
        for tangent, partial in zip(tangents, partials, strict=True):
            if tangent is None or partial is None:
                continue
            term = scale(tangent, partial(*primals, outs[0]) if callable(partial) else partial)
            total = term if total is None else total + term
        return (None if total is None else conform(total, outs[0].type),)

    return jvp


def scale(tangent: Atom, partial: Any) -> Atom:
    """tangent * partial, in the form that reads best."""
    if isinstance(partial, Over):
        return tangent / partial.value
    if isinstance(partial, Times):
        return tangent * partial.factor / partial.divisor
    if isinstance(partial, (int, float)):
        partial = float(partial)
    if partial == 1.0:
        return tangent
    if partial == -1.0:
        return -tangent
    if isinstance(partial, Var) and partial.type.dtype.kind == "b":
        return select(partial, tangent, 0.0)  # type: ignore[no-any-return]
    scaled: Atom = tangent * partial
    return scaled
