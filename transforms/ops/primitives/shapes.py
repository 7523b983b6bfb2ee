"""Defines operations that move, repeat or add up elements: linear, and transposes of each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, defining_statement
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import ARITHMETIC, Atom, Literal, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import NotDifferentiableError, UnsupportedError
from tapeless.transforms.ops.primitives import scalar_forms
from tapeless.transforms.ops.primitives.batch_rules import (
    Axes,
    Batched,
    axis_in_batch,
    batch_elementwise,
    reducing,
)

Atoms = tuple[Atom, ...]
Params = dict[str, Any]


def linear(name: str, infer: Any, source: Any, transpose: Any = None, **more: Any) -> Op:
    """An operation that is linear in argument 0: its tangent is the same operation."""
    op = Op(name, infer, source, None, transpose, **more)
    op.jvp = jvp_of_linear(op)
    return op


def jvp_of_linear(op: Op) -> Any:
    def jvp(primals: Atoms, tangents: Any, outs: Any, params: Any) -> Any:
        return (None,) if tangents[0] is None else (op(tangents[0], *primals[1:], **params),)

    return jvp


# -- cast and copy


def _cast_infer(x: Atom, *, dtype: np.dtype[Any], python: bool = False) -> Type:
    if dtype.kind in "SUV":
        why = "convert the result outside of the transformed function"
        raise UnsupportedError(f"an array of numbers as one of dtype {dtype.name}", why)
    return Type(dtype, x.type.shape, python and not x.type.shape)


def _cast_source(args: Atoms, params: Params) -> str:
    dtype = params["dtype"]
    if args[0].type.shape:
        return f"{{0}}.astype({dtype_name(dtype)})"
    return f"{PYTHON_NAMES[dtype.kind] if params.get('python') else f'np.{dtype.name}'}({{0}})"


PYTHON_NAMES = {"b": "bool", "i": "int", "f": "float", "c": "complex"}


def dtype_name(dtype: np.dtype[Any]) -> str:
    if not dtype.isnative:
        return f'"{dtype.str}"'
    return dtype.name if dtype.kind in "bO" else f"np.{dtype.name}"  # Python's own


def _cast_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    if tangents[0] is not None and params["dtype"].kind == "O":
        raise NotDifferentiableError(
            "an array of Python objects has no derivative",
            "keep an array of numbers, or convert tapeless.lax.stop_gradient of it",
        )
    smooth = tangents[0] is not None and params["dtype"].kind in "fc"
    return (cast(tangents[0], **params) if smooth else None,)


def _cast_simplify(args: Atoms, params: Params) -> Atom | None:
    (x,) = args
    if isinstance(x, Literal) and x.value is not None:
        constant = params["dtype"].type(x.value)
        return atom(constant.item() if params.get("python") else constant)
    same = x.type.dtype == params["dtype"] and isinstance(x, Var)
    return x if same and x.type.weak == bool(params.get("python") and not x.type.shape) else None


cast: Op = Op(
    "cast",
    _cast_infer,
    _cast_source,
    _cast_jvp,
    lambda ct, args, linear, params: (ct,),  # the driver casts, and takes real parts
    simplify=_cast_simplify,
    batch=batch_elementwise,
    scalar=scalar_forms.CONVERSION,
    speculative=True,
    word="converted",
    of_sizes=lambda n: n,
)
copy = linear(
    "copy",
    lambda x: x.type,
    "{0}.copy()",
    lambda ct, args, linear, params: (ct,),
    simplify=lambda args, params: None if args[0].type.shape else args[0],
    batch=batch_elementwise,
    scalar=scalar_forms.SAME,
    speculative=True,
)


def cast_to(value: Atom, dtype: np.dtype[Any]) -> Any:
    return value if value.type.dtype == dtype else cast(value, dtype=dtype)


# -- reshape and transpose


def _reshape_source(args: Atoms, params: Params) -> str:
    old, new = args[0].type.shape, params["shape"]
    if not args[0].type.shape:
        return "np.reshape({0}, {shape})"
    if tuple(s for s in new if s != 1) == tuple(s for s in old if s != 1) and len(new) > len(old):
        key, old_sizes = [], list(old)
        for s in new:
            if old_sizes and s == old_sizes[0]:
                key.append(":")
                old_sizes.pop(0)
            else:
                key.append("np.newaxis")
        if not old_sizes:
            return "{0}[" + ", ".join(key) + "]"
    if not new:
        return "{0}.reshape(())[()]"  # a number, and no view
    if len(new) == 1 and len(old) > 1:
        return "{0}.reshape(-1)"
    return "{0}.reshape({shape})"


def _reshape_simplify(args: Atoms, params: Params) -> Any:
    if args[0].type.shape == params["shape"]:
        return args[0]
    let = defining_statement(args[0])
    if let is not None and let.op is sum and let.params["keepdims"]:
        axes = let.params["axes"]
        if reduced_shape(let.args[0].type.shape, axes, False) == params["shape"]:
            return sum(let.args[0], axes=axes, keepdims=False)
    return None


def _reshape_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    x = front(args[0], axes[0])
    return reshape(x, shape=(x.type.shape[0], *params["shape"])), 0


reshape: Op = linear(
    "reshape",
    lambda x, *, shape: x.type.with_shape(shape),
    _reshape_source,
    lambda ct, args, linear, params: (reshape(ct, shape=args[0].type.shape),),
    put=lambda base, new, rest, params: reshape(new, shape=base.type.shape),
    view=True,
    simplify=_reshape_simplify,
    batch=_reshape_batch,
    speculative=True,
    word="reshaped",
)


def inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(k) for k in np.argsort(axes))


def _transpose_infer(x: Atom, *, axes: tuple[int, ...]) -> Any:
    return x.type.with_shape(tuple(x.type.shape[k] for k in axes))


def _transpose_source(args: Any, params: Params) -> str:
    axes = params["axes"]
    if axes == tuple(reversed(range(len(axes)))):
        return "{0}.T"
    if axes == (*range(len(axes) - 2), len(axes) - 1, len(axes) - 2):
        return "np.swapaxes({0}, -1, -2)"
    return "{0}.transpose({axes})"


def _transpose_simplify(args: Atoms, params: Params) -> Atom | None:
    return args[0] if params["axes"] == tuple(range(len(params["axes"]))) else None


def _transpose_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    order = (axis_in_batch(k, axes[0]) for k in params["axes"])
    return transpose(args[0], axes=(axes[0], *order)), 0


transpose: Op = linear(
    "transpose",
    _transpose_infer,
    _transpose_source,
    lambda ct, args, linear, params: (transpose(ct, axes=inverse(params["axes"])),),
    put=lambda base, new, rest, params: transpose(new, axes=inverse(params["axes"])),
    view=True,
    simplify=_transpose_simplify,
    batch=_transpose_batch,
    speculative=True,
    word="transposed",
)


def move(x: Atom, source: tuple[int, ...], destination: tuple[int, ...]) -> Any:
    """np.moveaxis."""
    order = [k for k in range(x.type.ndim) if k not in source]
    for to, k in sorted(zip(destination, source, strict=True)):
        order.insert(to, k)
    return transpose(x, axes=tuple(order))


def axis_to_end(x: Atom, axis: int) -> Any:
    """x with one axis moved to the end."""
    return move(x, (axis,), (x.type.ndim - 1,))


def swap(x: Atom) -> Any:
    """The transpose of the last two axes."""
    axes = list(range(x.type.ndim))
    axes[-2:] = axes[:-3:-1]
    return transpose(x, axes=tuple(axes))


def column(x: Atom) -> Any:
    return reshape(x, shape=(*x.type.shape, 1))


def row(x: Atom) -> Any:
    return reshape(x, shape=(*x.type.shape[:-1], 1, x.type.shape[-1]))


def flatten(x: Atom) -> Any:
    return reshape(x, shape=(dims.product(x.type.shape),))


# -- what batching rules are made of


def front(x: Atom, axis: int | None) -> Any:
    """x with its batch axis first; an argument without one as it is."""
    return x if axis is None else move(x, (axis,), (0,))


def batch_first(x: Atom, axis: int | None, ndim: int) -> Any:
    """x with its batch axis first, and elements of `ndim` axes: new ones of length one follow it.
    An argument without batch broadcasts against that as it is."""
    x = front(x, axis)
    lead = 0 if axis is None else ndim + 1 - x.type.ndim
    return reshape(x, shape=(*x.type.shape[:1], *(1,) * lead, *x.type.shape[1:])) if lead else x


def repeat_batch(x: Atom, axis: int | None, size: Size) -> Any:
    """x with its batch axis first, also if it has none: then all elements are the same."""
    return broadcast_to(x, shape=(size, *x.type.shape)) if axis is None else front(x, axis)


def batch_of_stack(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    """The rule of what NumPy does for each matrix of a stack of them."""
    results = op(front(args[0], axes[0]), **params)
    return results, (0,) * len(results) if isinstance(results, tuple) else 0


def batch_size(args: Atoms, axes: Axes) -> Size:
    """The length of the batch."""
    sizes = (a.type.shape[k] for a, k in zip(args, axes, strict=True) if k is not None)
    return next(sizes)  # type: ignore[no-any-return]


# -- broadcast and sum


def reduced_shape(
    shape: tuple[Size, ...], axes: tuple[int, ...], keepdims: bool
) -> tuple[Size, ...]:
    if keepdims:
        return tuple(1 if k in axes else s for k, s in enumerate(shape))
    return tuple(s for k, s in enumerate(shape) if k not in axes)


def reduction_infer(reduce: Any) -> Any:
    def infer(x: Atom, *, axes: tuple[int, ...], keepdims: bool, **more: Any) -> Type:
        number = reduce(np.ones((1,), x.type.dtype))
        dtype = getattr(number, "dtype", x.type.dtype)  # of objects it is one of Python's
        return Type(dtype, reduced_shape(x.type.shape, axes, keepdims))

    return infer


def axes_text(axes: tuple[int, ...], ndim: int) -> str:
    """The axis argument of a reduction; nothing where it is over all axes."""
    return "" if len(axes) == ndim else f", axis={axes[0] if len(axes) == 1 else axes}"


def reduction_source(name: str) -> Any:
    def source(args: Atoms, params: Params) -> str:
        keep = ", keepdims=True" if params["keepdims"] else ""
        ddof = f", ddof={params['ddof']}" if params.get("ddof") else ""
        return f"{name}({{0}}{axes_text(params['axes'], args[0].type.ndim)}{ddof}{keep})"

    return source


def broadcast_reduced(value: Atom, t: Type, axes: tuple[int, ...]) -> Any:
    """A reduced value, with its axes back, broadcast to the shape of what was reduced."""
    return broadcast_to(keep_reduced_axes(value, t, axes), shape=t.shape)


def keep_reduced_axes(value: Atom, t: Type, axes: tuple[int, ...]) -> Any:
    """A reduced value that broadcasts against what was reduced: with axes of length one in the
    place of the reduced ones, unless those came first."""
    leading = axes == tuple(range(len(axes)))
    if leading or value.type.ndim == t.ndim:
        return value
    own = iter(value.type.shape)  # what was reduced may have other names for its lengths
    return reshape(value, shape=tuple(1 if k in axes else next(own) for k in range(t.ndim)))


def _sum_simplify(args: Atoms, params: Params) -> Any:
    """The sum over no axis is what it is made of; a sign goes in front of the sum."""
    if not params["axes"]:
        return cast_to(args[0], sum.infer(args[0], **params).dtype)
    let = defining_statement(args[0])
    if let is not None and let.op is ARITHMETIC["neg"] and args[0].type.differentiable:
        return let.op(sum(*let.args, **params))
    return None


sum: Op = linear(
    "sum",
    reduction_infer(np.sum),
    reduction_source("np.sum"),
    lambda ct, args, linear, params: (broadcast_reduced(ct, args[0].type, params["axes"]),),
    costly=True,
    simplify=_sum_simplify,
    batch=reducing,
    speculative=True,
    word="total",
)


def sum_to(x: Atom, t: Type) -> Atom:
    """The sum over the axes along which a value of type `t` was broadcast to the shape of x. Axes
    of length one that stood in front of it, where it was stored, are there again."""
    lead = x.type.ndim - t.ndim
    if lead < 0:
        x = reshape(x, shape=(1,) * -lead + x.type.shape)
    if lead > 0:
        x = sum(x, axes=tuple(range(lead)), keepdims=False)
    stretched = tuple(k for k in range(t.ndim) if t.shape[k] == 1 and x.type.shape[k] != 1)
    return sum(x, axes=stretched, keepdims=True) if stretched else x


def _broadcast_simplify(args: Atoms, params: Params) -> Atom | None:
    return args[0] if args[0].type.shape == params["shape"] else None


def _broadcast_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    x = batch_first(args[0], axes[0], len(params["shape"]))
    return broadcast_to(x, shape=(x.type.shape[0], *params["shape"])), 0


broadcast_to = linear(
    "broadcast_to",
    lambda x, *, shape: Type(x.type.dtype, shape),
    "np.broadcast_to({0}, {shape})",
    lambda ct, args, linear, params: (sum_to(ct, args[0].type),),
    view=True,
    simplify=_broadcast_simplify,
    batch=_broadcast_batch,
    speculative=True,
    word="spread",
)
