"""Operations that move elements without changing them: reshape, transpose, concatenate, cast, copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, broadcast, join, size_of, static
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Literal, Type, Var
from tapeless.transforms.core.op import Op
from tapeless.transforms.errors import ShapeError


def linear(name: str, infer: Any, source: Any, transpose: Any, **more: Any) -> Op:
    """An operation that is linear in argument 0: its tangent is the same operation."""
    op = Op(name, infer, source, None, transpose, **more)

    def jvp(primals: tuple[Atom, ...], tangents: tuple[Any, ...], outs: Any, params: dict[str, Any]) -> Any:
        return (None,) if tangents[0] is None else (op(tangents[0], *primals[1:], **params),)

    op.jvp = jvp
    return op


# -- cast and copy


def _cast_infer(x: Atom, *, dtype: np.dtype[Any]) -> Type:
    return Type(dtype, x.type.shape)


def _cast_source(args: tuple[Atom, ...], params: dict[str, Any]) -> str:
    name = f"np.{params['dtype'].name}" if params["dtype"].kind != "b" else "bool"
    return f"{{0}}.astype({name})" if args[0].type.shape else f"{name}({{0}})"


def _cast_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: dict[str, Any]) -> Any:
    smooth = tangents[0] is not None and params["dtype"].kind in "fc"
    return (cast(tangents[0], **params) if smooth else None,)


def _cast_simplify(args: tuple[Atom, ...], params: dict[str, Any]) -> Atom | None:
    (x,) = args
    if isinstance(x, Literal) and x.value is not None:
        return atom(params["dtype"].type(x.value))
    return None


cast = Op("cast", _cast_infer, _cast_source, _cast_jvp, lambda ct, args, linear, params: (cast(ct, dtype=args[0].type.dtype),),
          simplify=_cast_simplify)
copy = linear("copy", lambda x: x.type, "{0}.copy()", lambda ct, args, linear, params: (ct,),
              simplify=lambda args, params: None if args[0].type.shape else args[0])

# -- reshape, transpose, broadcast


def _reshape_infer(x: Atom, *, shape: tuple[Size, ...]) -> Type:
    return x.type.with_shape(shape)  # type: ignore[no-any-return]


def _reshape_source(args: tuple[Atom, ...], params: dict[str, Any]) -> str:
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
    if len(new) == 1 and len(old) > 1:
        return "{0}.reshape(-1)"
    return "{0}.reshape({shape})"


reshape = linear("reshape", _reshape_infer, _reshape_source,
                 lambda ct, args, linear, params: (reshape(ct, shape=args[0].type.shape),), view=True,
                 put=lambda base, new, rest, params: reshape(new, shape=base.type.shape),
                 simplify=lambda args, params: args[0] if args[0].type.shape == params["shape"] else None)


def inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(k) for k in np.argsort(axes))


def _transpose_source(args: Any, params: dict[str, Any]) -> str:
    axes = params["axes"]
    if axes == tuple(reversed(range(len(axes)))):
        return "{0}.T"
    return "{0}.transpose({axes})"


transpose = linear("transpose", lambda x, *, axes: x.type.with_shape(tuple(x.type.shape[k] for k in axes)),
                   _transpose_source,
                   lambda ct, args, linear, params: (transpose(ct, axes=inverse(params["axes"])),), view=True,
                   put=lambda base, new, rest, params: transpose(new, axes=inverse(params["axes"])),
                   simplify=lambda args, params: args[0] if params["axes"] == tuple(range(len(params["axes"]))) else None)


def _broadcast_infer(x: Atom, *, shape: tuple[Size, ...]) -> Type:
    return Type(x.type.dtype, shape)


def sum_to(x: Atom, t: Type) -> Atom:
    """The sum over the axes along which a value of type `t` was broadcast to the shape of x."""
    from tapeless.transforms.ops.reductions import sum

    lead = x.type.ndim - t.ndim
    if lead > 0:
        x = sum(x, axes=tuple(range(lead)), keepdims=False)
    stretched = tuple(k for k in range(t.ndim) if t.shape[k] == 1 and x.type.shape[k] != 1)
    return sum(x, axes=stretched, keepdims=True) if stretched else x


broadcast_to = linear("broadcast_to", _broadcast_infer, "np.broadcast_to({0}, {shape})",
                      lambda ct, args, linear, params: (sum_to(ct, args[0].type),), view=True,
                      simplify=lambda args, params: args[0] if args[0].type.shape == params["shape"] else None)

# -- concatenate


def _concatenate_infer(*parts: Atom, axis: int) -> Type:
    types = [p.type for p in parts]
    if any(t.ndim != types[0].ndim for t in types):
        raise ShapeError("all arrays that are concatenated must have the same number of axes")
    shape = list(types[0].shape)
    for t in types[1:]:
        for k in range(len(shape)):
            shape[k] = shape[k] + t.shape[k] if k == axis else _same(shape[k], t.shape[k])
    return Type(np.result_type(*(t.dtype for t in types)), tuple(shape))


def _same(a: Size, b: Size) -> Size:
    if a != b and 1 in (a, b):
        raise ShapeError(f"all axes but the concatenated one must have the same length: {a} and {b}")
    return join(a, b)


def _concatenate_jvp(primals: tuple[Atom, ...], tangents: tuple[Any, ...], outs: tuple[Var, ...], params: Any) -> Any:
    from tapeless.transforms.ops.creation import cast_to, zero

    if all(t is None for t in tangents):
        return (None,)
    filled = [zero(Type(outs[0].type.dtype, p.type.shape)) if t is None else cast_to(t, outs[0].type.dtype)
              for p, t in zip(primals, tangents, strict=True)]
    return (concatenate(*filled, **params),)


def _concatenate_transpose(ct: Atom, args: tuple[Atom, ...], linear: tuple[bool, ...], params: Any) -> tuple[Any, ...]:
    from tapeless.transforms.ops.indexing import part

    out, at = [], 0
    for a, used in zip(args, linear, strict=True):
        size = a.type.shape[params["axis"]]
        out.append(part(ct, params["axis"], at, at + size) if used else None)
        at = at + size
    return tuple(out)


def _concatenate_source(args: tuple[Atom, ...], params: Any) -> str:
    places = ", ".join(f"{{{k}}}" for k in range(len(args)))
    return f"np.concatenate([{places}]" + (f", axis={params['axis']})" if params["axis"] else ")")


concatenate = Op("concatenate", _concatenate_infer, _concatenate_source, _concatenate_jvp, _concatenate_transpose)


def _stack_infer(*parts: Atom, axis: int) -> Type:
    shape = list(parts[0].type.shape)
    for p in parts[1:]:
        if p.type.ndim != len(shape):
            raise ShapeError("all arrays that are stacked must have the same shape")
        shape = [_same(a, b) for a, b in zip(shape, p.type.shape, strict=True)]
    return Type(np.result_type(*(p.type.dtype for p in parts)), (*shape[:axis], len(parts), *shape[axis:]))


def _stack_source(args: tuple[Atom, ...], params: Any) -> str:
    places = ", ".join(f"{{{k}}}" for k in range(len(args)))
    return f"np.stack([{places}]" + (f", axis={params['axis']})" if params["axis"] else ")")


def _stack_jvp(primals: tuple[Atom, ...], tangents: tuple[Any, ...], outs: tuple[Var, ...], params: Any) -> Any:
    from tapeless.transforms.ops.creation import cast_to, zero

    if all(t is None for t in tangents):
        return (None,)
    filled = [zero(Type(outs[0].type.dtype, p.type.shape)) if t is None else cast_to(t, outs[0].type.dtype)
              for p, t in zip(primals, tangents, strict=True)]
    return (stack_op(*filled, **params),)


def _stack_transpose(ct: Atom, args: tuple[Atom, ...], linear: tuple[bool, ...], params: Any) -> tuple[Any, ...]:
    from tapeless.transforms.ops.indexing import index

    lead = (slice(None),) * params["axis"]
    return tuple(index(ct, key=(*lead, k)) if used else None for k, used in enumerate(linear))


stack_op = Op("stack", _stack_infer, _stack_source, _stack_jvp, _stack_transpose)


# The NumPy functions ---------------------------------------------------------------------------


def axis_of(axis: Any, ndim: int) -> int:
    k = int(static(axis, "an axis must be known"))
    if not -ndim <= k < ndim:
        raise np.exceptions.AxisError(k, ndim)
    return k % ndim


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    return tuple(axis_of(k, ndim) for k in axis) if isinstance(axis, (tuple, list)) else (axis_of(axis, ndim),)


def array_of(x: Any) -> Atom:
    from tapeless.transforms.ops.creation import as_array

    return as_array(x)


def stack(arrays: Any, axis: Any = 0) -> Atom:
    parts = [array_of(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to stack")
    dtype = np.result_type(*(p.type.dtype for p in parts))
    parts = [p if p.type.dtype == dtype else cast(p, dtype=dtype) for p in parts]
    return stack_op(*parts, axis=axis_of(axis, parts[0].type.ndim + 1))  # type: ignore[no-any-return]


def _concatenate(arrays: Any, axis: Any = 0, dtype: Any = None) -> Atom:
    parts = [array_of(a) for a in arrays]
    if axis is None:
        parts, axis = [_ravel(p) for p in parts], 0
    if not parts[0].type.ndim:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    return concatenate(*parts, axis=axis_of(axis, parts[0].type.ndim))  # type: ignore[no-any-return]


def _reshape(a: Any, shape: Any, order: str = "C") -> Atom:
    from tapeless.transforms.ops.creation import shape_of

    a = array_of(a)
    sizes = list(shape_of(shape))
    if order == "F":
        reversed_axes = tuple(reversed(range(a.type.ndim)))
        turned = _reshape(transpose(a, axes=reversed_axes), tuple(reversed(sizes)))
        return transpose(turned, axes=tuple(reversed(range(len(sizes)))))  # type: ignore[no-any-return]
    total = dims.product(a.type.shape)
    if sizes.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    if -1 in sizes:
        k = sizes.index(-1)
        rest = dims.product(s for j, s in enumerate(sizes) if j != k)
        sizes[k] = total // rest if rest != 0 else 0
    have = dims.product(sizes)
    if isinstance(have, int) and isinstance(total, int) and have != total:
        raise ShapeError(f"cannot reshape array of size {total} into shape {tuple(sizes)}")
    return reshape(a, shape=tuple(sizes))  # type: ignore[no-any-return]


def _ravel(a: Any, order: str = "C") -> Atom:
    return _reshape(a, -1, order)


def _transpose(a: Any, axes: Any = None) -> Atom:
    a = array_of(a)
    order = tuple(reversed(range(a.type.ndim))) if axes is None else tuple(axis_of(k, a.type.ndim) for k in axes)
    return transpose(a, axes=order)  # type: ignore[no-any-return]


def _swapaxes(a: Any, axis1: Any, axis2: Any) -> Atom:
    a = array_of(a)
    order = list(range(a.type.ndim))
    i, j = axis_of(axis1, a.type.ndim), axis_of(axis2, a.type.ndim)
    order[i], order[j] = j, i
    return transpose(a, axes=tuple(order))  # type: ignore[no-any-return]


def _moveaxis(a: Any, source: Any, destination: Any) -> Atom:
    a = array_of(a)
    here, there = axes_of(source, a.type.ndim), axes_of(destination, a.type.ndim)
    order = [k for k in range(a.type.ndim) if k not in here]
    for to, k in sorted(zip(there, here, strict=True)):
        order.insert(to, k)
    return transpose(a, axes=tuple(order))  # type: ignore[no-any-return]


def _expand_dims(a: Any, axis: Any) -> Atom:
    a = array_of(a)
    extra = len(axis) if isinstance(axis, (tuple, list)) else 1
    places = axes_of(axis, a.type.ndim + extra)
    sizes = iter(a.type.shape)
    return reshape(a, shape=tuple(1 if k in places else next(sizes) for k in range(a.type.ndim + extra)))  # type: ignore[no-any-return]


def _squeeze(a: Any, axis: Any = None) -> Atom:
    a = array_of(a)
    places = [k for k, s in enumerate(a.type.shape) if s == 1] if axis is None else axes_of(axis, a.type.ndim)
    if any(a.type.shape[k] != 1 for k in places):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return reshape(a, shape=tuple(s for k, s in enumerate(a.type.shape) if k not in places))  # type: ignore[no-any-return]


def _broadcast_to(array: Any, shape: Any, subok: bool = False) -> Atom:
    from tapeless.transforms.ops.creation import shape_of

    a, target = array_of(array), shape_of(shape)
    if a.type.ndim > len(target):
        raise ShapeError(f"cannot broadcast shape {a.type.shape} to {target}")
    broadcast(a.type.shape, target)
    return broadcast_to(a, shape=target)  # type: ignore[no-any-return]


def _at_least_2d(a: Any) -> Atom:
    a = array_of(a)
    return a if a.type.ndim >= 2 else reshape(a, shape=(1,) * (2 - a.type.ndim) + a.type.shape)


def _vstack(tup: Any) -> Atom:
    return _concatenate([_at_least_2d(a) for a in tup], 0)


def _hstack(tup: Any) -> Atom:
    parts = [reshape(a, shape=(1,)) if not a.type.shape else a for a in map(array_of, tup)]
    return _concatenate(parts, 0 if parts[0].type.ndim == 1 else 1)


def _flip(m: Any, axis: Any = None) -> Atom:
    from tapeless.transforms.ops.indexing import index

    m = array_of(m)
    places = axes_of(axis, m.type.ndim)
    key = tuple(slice(None, None, -1) if k in places else slice(None) for k in range(m.type.ndim))
    return index(m, key=key)  # type: ignore[no-any-return]


def _astype(x: Any, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True) -> Atom:
    x, target = array_of(x), np.dtype(dtype)
    return copied(x) if x.type.dtype == target and not x.type.weak else cast(x, dtype=target)  # type: ignore[no-any-return]


copied = copy


def _copy(a: Any, order: str = "K", subok: bool = False) -> Atom:
    return copy(array_of(a))  # type: ignore[no-any-return]


NUMPY = {
    np.reshape: _reshape, np.ravel: _ravel, np.transpose: _transpose, np.matrix_transpose: lambda x: _swapaxes(x, -1, -2),
    np.swapaxes: _swapaxes, np.moveaxis: _moveaxis, np.expand_dims: _expand_dims, np.squeeze: _squeeze,
    np.broadcast_to: _broadcast_to, np.concatenate: _concatenate, np.stack: lambda arrays, axis=0: stack(arrays, axis),
    np.vstack: _vstack, np.hstack: _hstack, np.flip: _flip, np.flipud: lambda m: _flip(m, 0),
    np.fliplr: lambda m: _flip(m, 1), np.copy: _copy, np.atleast_2d: _at_least_2d,
    np.atleast_1d: lambda a: _reshape(a, (1,)) if not array_of(a).type.shape else array_of(a),
}
METHODS = {"reshape": lambda a, *shape, order="C": _reshape(a, shape[0] if len(shape) == 1 else shape, order),
           "transpose": lambda a, *axes: _transpose(a, (axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes) or None),
           "ravel": _ravel, "flatten": lambda a, order="C": copy(_ravel(a, order)), "astype": _astype, "copy": _copy,
           "swapaxes": _swapaxes, "squeeze": _squeeze}
