"""Defines calls of Python functions that are carried out when the program runs, and give arrays.

y = pure_callback(table, like, x)      becomes      y = table(x, shape=x.shape)

The function is a parameter of the program, of the type CALLABLE. What it gives is checked by the
object that is passed for it (`tapeless.callbacks`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import NotDifferentiableError
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched
from tapeless.transforms.ops.primitives.shapes import batch_size, front, repeat_batch, reshape

CALLABLE = Type(np.dtype("V"))
#: The method of calls that draw numbers of Python's `random`: one for each element of a batch.
FOR_EACH = "sequential"


def _infer(*args: Atom, sizes: tuple[Size, ...], kinds: Any, **how: Any) -> tuple[Type, ...]:
    remaining_sizes = iter(sizes)
    return tuple(
        Type(dtype, tuple(next(remaining_sizes) for _ in range(ndim))) for dtype, ndim in kinds
    )


def _source(args: Any, params: dict[str, Any]) -> str:
    operands = [f"{{{k}}}" for k in range(1, len(args))]
    remaining_sizes = iter(range(len(params["sizes"])))
    shapes = [
        "(" + "".join(f"{{sizes_{next(remaining_sizes)}}}, " for _ in range(ndim)) + ")"
        for _, ndim in params["kinds"]
    ]
    shape = shapes[0] if len(shapes) == 1 else f"({', '.join(shapes)})"
    return f"{{0}}({', '.join([*operands, f'shape={shape}'])})"


def _jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: dict[str, Any]) -> Any:
    raise NotDifferentiableError(
        f"{params['name']} is called from outside the program, and has no derivative",
        "put the call in a function with custom_jvp or custom_vjp, or call it on "
        "stop_gradient of the arguments; of an object of a library take np.asarray(...) first",
    )


def _batch(op: Op, args: Any, axes: Axes, params: dict[str, Any]) -> Batched | None:
    """All elements at once, where the function takes them so."""
    how, n = params["method"], batch_size(args, axes)
    if how not in ("expand_dims", "broadcast_all"):
        return None
    operands = [args[0]]
    for a, k in zip(args[1:], axes[1:], strict=True):
        if how == "broadcast_all":
            operands.append(repeat_batch(a, k, n))
        else:
            operands.append(_with_axis(a) if k is None else front(a, k))
    sizes: list[Size] = []
    remaining_sizes = iter(params["sizes"])
    for _, ndim in params["kinds"]:
        sizes += [n, *(next(remaining_sizes) for _ in range(ndim))]
    kinds = tuple((dtype, ndim + 1) for dtype, ndim in params["kinds"])
    results = op.bind(*operands, **{**params, "sizes": tuple(sizes), "kinds": kinds})
    return results, (0,) * len(results)


def _with_axis(a: Atom) -> Any:
    """The value with one more axis in front, of length one."""
    return reshape(a, shape=(1, *a.type.shape))


def _calling(pure: bool) -> Op:
    return Op("callback", _infer, _source, _jvp, batch=_batch, costly=True, pure=pure)


#: (function, *args) to results; `outside` is the same where the call itself matters.
callback, outside = _calling(True), _calling(False)
