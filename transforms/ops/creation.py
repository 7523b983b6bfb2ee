"""New arrays: zeros, full, empty, arange, eye, and arrays made of scalars."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Literal, StackType, Type, Var
from tapeless.transforms.core.op import Op

FLOAT = np.dtype(float)


def dtype_text(dtype: np.dtype[Any]) -> str:
    """The dtype as an extra argument of a NumPy call; nothing where it is the default."""
    return "" if dtype == FLOAT else f", np.{dtype.name}" if dtype.isbuiltin == 1 and dtype.kind != "b" else ", bool"


def _shaped(shape: tuple[Size, ...], dtype: np.dtype[Any], **_: Any) -> Type:
    return Type(dtype, shape)


def _source(name: str) -> Any:
    return lambda args, params: f"np.{name}({{shape}}{dtype_text(params['dtype'])})"


def _no_tangent(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Any) -> Any:
    return (None,) * len(outs)


zeros = Op("zeros", lambda *, shape, dtype: Type(dtype, shape), _source("zeros"), _no_tangent)
ones = Op("ones", lambda *, shape, dtype: Type(dtype, shape), _source("ones"), _no_tangent)
empty = Op("empty", lambda *, shape, dtype: Type(dtype, shape), _source("empty"), _no_tangent)


def _full_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: dict[str, Any]) -> Any:
    from tapeless.transforms.ops.shapes import broadcast_to

    if tangents[0] is None:
        return (None,)
    return (broadcast_to(cast_to(tangents[0], params["dtype"]), shape=params["shape"]),)


def cast_to(value: Atom, dtype: np.dtype[Any]) -> Atom:
    from tapeless.transforms.ops.shapes import cast

    return value if value.type.dtype == dtype else cast(value, dtype=dtype)  # type: ignore[no-any-return]


full = Op("full", lambda value, *, shape, dtype: Type(dtype, shape),
          lambda args, params: "np.full({shape}, {0}" + dtype_text(params["dtype"]) + ")", _full_jvp)


def _arange_infer(start: Atom, stop: Atom, step: Atom, *, dtype: np.dtype[Any]) -> Type:
    if all(a.type.dtype.kind in "iu" for a in (start, stop, step)):
        a, b, s = (size_of(x) for x in (start, stop, step))
        if s == 1:
            return Type(dtype, (dims.maximum(b - a, 0),))
        if isinstance(s, int) and s > 1:
            return Type(dtype, (dims.maximum((b - a + (s - 1)) // s, 0),))
    if all(isinstance(a, Literal) for a in (start, stop, step)):
        return Type(dtype, (len(np.arange(start.value, stop.value, step.value)),))  # type: ignore[union-attr]
    return Type(dtype, (dims.symbol("n", 0),))


def _arange_source(args: tuple[Atom, ...], params: Any) -> str:
    step = "" if args[2] == atom(1) else ", {2}"
    start = "" if args[0] == atom(0) and not step else "{0}, "
    natural = np.arange(args[0].type.dtype.type(0), args[1].type.dtype.type(1), args[2].type.dtype.type(1)).dtype
    kind = "" if params["dtype"] == natural else f", dtype=np.{params['dtype'].name}"
    return f"np.arange({start}{{1}}{step}{kind})"


arange = Op("arange", _arange_infer, _arange_source, _no_tangent)


def _eye_source(args: Any, params: Any) -> str:
    n, m = params["shape"]
    return ("np.eye({shape[0]}" + ("" if n == m else ", {shape[1]}") + (f", k={params['k']}" if params["k"] else "")
            + (f", dtype=np.{params['dtype'].name}" if params["dtype"] != FLOAT else "") + ")")


eye = Op("eye", lambda *, shape, k, dtype: Type(dtype, shape), _eye_source, _no_tangent)


def _array_source(args: Any, params: dict[str, Any]) -> str:
    def nest(shape: tuple[int, ...], places: Any) -> str:
        if not shape:
            return next(places)  # type: ignore[no-any-return]
        return "[" + ", ".join(nest(shape[1:], places) for _ in range(shape[0])) + "]"

    natural = np.result_type(*(a.type.dtype for a in args)) if args else FLOAT
    kind = f", dtype=np.{params['dtype'].name}" if params["dtype"] != natural else ""
    return f"np.array({nest(params['shape'], (f'{{{k}}}' for k in itertools.count()))}{kind})"


def _array_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: dict[str, Any]) -> Any:
    if all(t is None for t in tangents):
        return (None,)
    return (array(*(atom(0.0) if t is None else t for t in tangents), **params),)


def _array_transpose(ct: Atom, args: tuple[Any, ...], linear: tuple[bool, ...], params: dict[str, Any]) -> tuple[Any, ...]:
    from tapeless.transforms.ops.indexing import index

    places = itertools.product(*map(range, params["shape"]))
    return tuple(index(ct, key=place) if used else None for place, used in zip(places, linear, strict=True))


array = Op("array", lambda *elements, shape, dtype: Type(dtype, shape), _array_source, _array_jvp, _array_transpose)


def zero(t: Any) -> Atom:
    """An additive identity of type `t`."""
    if isinstance(t, StackType):
        from tapeless.transforms.ops.stacks import new_stack

        return new_stack(item=t.item)  # type: ignore[no-any-return]
    if t.shape:
        return zeros(shape=t.shape, dtype=t.dtype)  # type: ignore[no-any-return]
    kind = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}[t.dtype.kind]
    if t.weak or t.dtype in (FLOAT, np.dtype(complex), np.dtype(int), np.dtype(bool)):
        return Literal(kind, Type(t.dtype, (), t.weak)) if t.weak else Literal(t.dtype.type(kind), Type(t.dtype))
    return Literal(t.dtype.type(kind), Type(t.dtype))


# The NumPy functions ---------------------------------------------------------------------------


def shape_of(shape: Any) -> tuple[Size, ...]:
    """A shape given by the user: an integer, or integers, each of which may be a variable."""
    if isinstance(shape, (list, tuple)):
        return tuple(size_of(s) if isinstance(s, (Var, Literal)) else int(s) for s in shape)
    return (size_of(shape) if isinstance(shape, (Var, Literal)) else int(shape),)


def _zeros(shape: Any, dtype: Any = float, order: str = "C") -> Atom:
    return zeros(shape=shape_of(shape), dtype=np.dtype(dtype))  # type: ignore[no-any-return]


def _ones(shape: Any, dtype: Any = None, order: str = "C") -> Atom:
    return ones(shape=shape_of(shape), dtype=np.dtype(dtype or float))  # type: ignore[no-any-return]


def _full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> Atom:
    value = as_array(fill_value)
    return full(value, shape=shape_of(shape), dtype=np.dtype(dtype or value.type.dtype))  # type: ignore[no-any-return]


def _like(make: Any) -> Any:
    def like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Atom:
        a = as_array(a)
        sizes = a.type.shape if shape is None else shape_of(shape)
        return make(shape=sizes, dtype=np.dtype(dtype or a.type.dtype))  # type: ignore[no-any-return]

    return like


def _full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Atom:
    a = as_array(a)
    sizes = a.type.shape if shape is None else shape_of(shape)
    return full(as_array(fill_value), shape=sizes, dtype=np.dtype(dtype or a.type.dtype))  # type: ignore[no-any-return]


def _arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Atom:
    if stop is None:
        start, stop = 0, start
    start, stop, step = atom(start), atom(stop), atom(step)
    natural = np.arange(start.type.dtype.type(0), stop.type.dtype.type(1), step.type.dtype.type(1)).dtype
    return arange(start, stop, step, dtype=np.dtype(dtype or natural))  # type: ignore[no-any-return]


def _linspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None) -> Any:
    """start + k * step, the last one exactly `stop`, as NumPy."""
    start, stop, num = as_array(start), as_array(stop), atom(num)
    k = _arange(0, num)
    step = (stop - start) / (num - 1 if endpoint else num)
    out = k * step + start
    if endpoint:
        from tapeless.transforms.ops.elementwise import equal, select
        from tapeless.transforms.ops.shapes import cast

        out = select(equal(k, num - 1), cast(stop, dtype=out.type.dtype), out)
    return (out, step) if retstep else out


def _eye(N: Any, M: Any = None, k: int = 0, dtype: Any = float, order: str = "C") -> Atom:  # noqa: N803 (NumPy's)
    (n,) = shape_of(N)
    m = n if M is None else shape_of(M)[0]
    return eye(shape=(n, m), k=k, dtype=np.dtype(dtype))  # type: ignore[no-any-return]


def as_array(x: Any, dtype: Any = None) -> Atom:
    """An atom for what NumPy would turn into an array: nested lists of scalars or of arrays."""
    from tapeless.transforms.ops.shapes import cast

    out = _as_array(x)
    return out if dtype is None or out.type.dtype == np.dtype(dtype) else cast(out, dtype=np.dtype(dtype))


def _as_array(x: Any) -> Atom:
    from tapeless.transforms.ops.shapes import stack

    if not isinstance(x, (list, tuple)):
        return atom(x)
    shape, leaves = _nested(x)
    if any(a.type.shape for a in leaves):
        return stack([_as_array(e) for e in x])
    dtype = np.result_type(*(a.type.dtype for a in leaves)) if leaves else FLOAT
    return array(*leaves, shape=shape, dtype=dtype)  # type: ignore[no-any-return]


def _nested(x: Any) -> tuple[tuple[int, ...], list[Atom]]:
    if not isinstance(x, (list, tuple)):
        return (), [atom(x)]
    parts = [_nested(e) for e in x]
    if any(shape != parts[0][0] for shape, _ in parts):
        raise ValueError("setting an array element with a sequence: the rows differ in length")
    return (len(x), *(parts[0][0] if parts else ())), [a for _, leaves in parts for a in leaves]


def _array(object: Any, dtype: Any = None, copy: Any = True, order: str = "K", subok: bool = False, ndmin: int = 0) -> Atom:  # noqa: A002 (NumPy's)
    from tapeless.transforms.ops.shapes import copy as copied

    made = as_array(object, dtype)
    return copied(made) if made is object and copy else made  # type: ignore[no-any-return]


NUMPY = {
    np.zeros: _zeros, np.ones: _ones, np.empty: _zeros, np.full: _full, np.zeros_like: _like(zeros),
    np.ones_like: _like(ones), np.empty_like: _like(zeros), np.full_like: _full_like, np.arange: _arange,
    np.linspace: _linspace, np.eye: _eye, np.identity: lambda n, dtype=float: _eye(n, dtype=dtype),
    np.array: _array, np.asarray: as_array, np.ascontiguousarray: as_array,
    np.asanyarray: as_array,
}
