"""Defines calls of functions of other libraries that are linear in an array, made when the program
runs.

y = linear_call(multiply, multiply_back, x)      becomes      y = multiply(x, shape=(3,))

Both functions are parameters of the program, of the type CALLABLE: the second one is the transpose
of the first.
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.core.operation import Op


def _infer(forward: Atom, back: Atom, x: Atom, *, sizes: tuple[Size, ...], dtype: Any) -> Type:
    return Type(dtype, sizes)


def _source(args: Any, params: dict[str, Any]) -> str:
    lengths = "".join(f"{{sizes_{k}}}, " for k in range(len(params["sizes"])))
    return f"{{0}}({{2}}, shape=({lengths}))"


def _jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: dict[str, Any]) -> Any:
    if tangents[2] is None:
        return (None,)
    return (linear_call(*primals[:2], tangents[2], **params),)


def _transpose(cotangent: Atom, args: Any, linear: Any, params: dict[str, Any]) -> Any:
    forward, back, x = args
    kind = x.type
    return None, None, linear_call(back, forward, cotangent, sizes=kind.shape, dtype=kind.dtype)


linear_call = Op("linear_call", _infer, _source, _jvp, _transpose, costly=True)
