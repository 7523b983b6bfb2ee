"""Defines operations that make new arrays: zeros, ones, full, arange, eye; and the zero of any
type.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, defining_statement, size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import NOTHING, TAPE, Atom, Literal, StackType, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.axis_lengths import batch_if_set
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    batch_first,
    broadcast_to,
    cast_to,
    copy,
    dtype_name,
    reshape,
)

FLOAT = np.dtype(float)
MOST_EXACT = 2**52  # below it NumPy, which divides floats, finds the length that integers have


def dtype_text(dtype: np.dtype[Any]) -> str:
    """The dtype as an extra argument of a NumPy call; nothing where it is the default."""
    return "" if dtype == FLOAT else f", {dtype_name(dtype)}"


def _source(name: str) -> Any:
    return lambda args, params: f"np.{name}({{shape}}{dtype_text(params['dtype'])})"


def no_tangent(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Any) -> Any:
    return (None,) * len(outs)


zeros = Op(
    "zeros",
    lambda *, shape, dtype: Type(dtype, shape),
    _source("zeros"),
    no_tangent,
    speculative=True,
    word="sums",
)
ones = Op(
    "ones",
    lambda *, shape, dtype: Type(dtype, shape),
    _source("ones"),
    no_tangent,
    speculative=True,
)
empty = Op(
    "empty",
    lambda *, shape, dtype: Type(dtype, shape),
    _source("empty"),
    no_tangent,
    speculative=True,
)


def _full_jvp(primals: Any, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    return (broadcast_to(cast_to(tangents[0], params["dtype"]), shape=params["shape"]),)


def _full_source(args: Atoms, params: Params) -> str:
    same = params["dtype"] == args[0].type.dtype
    return "np.full({shape}, {0}" + (")" if same else f", {dtype_name(params['dtype'])})")


def _full_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    value = batch_first(args[0], axes[0], len(params["shape"]))
    return op(value, shape=(value.type.shape[0], *params["shape"]), dtype=params["dtype"]), 0


full = Op(
    "full",
    lambda value, *, shape, dtype: Type(dtype, shape),
    _full_source,
    _full_jvp,
    batch=_full_batch,
    speculative=True,
)


def _integer(a: Atom) -> Size | None:
    """The integer that a number is, as a size; None for others: 2.0 is one."""
    if a.type.dtype.kind in "iu":
        return size_of(a)
    is_whole = isinstance(a, Literal) and type(a.value) is float and a.value.is_integer()
    return int(a.value) if is_whole and abs(a.value) < MOST_EXACT else None  # type: ignore[union-attr]


def _arange_infer(start: Atom, stop: Atom, step: Atom, *, dtype: np.dtype[Any]) -> Type:
    a, b, s = (_integer(x) for x in (start, stop, step))
    if a is not None and b is not None and s is not None:
        if isinstance(s, int) and s < 0:
            a, b, s = b, a, -s
        if s == 1:
            return Type(dtype, (dims.maximum(b - a, 0),))
        if isinstance(s, int) and s > 1:
            return Type(dtype, (dims.maximum((b - a + (s - 1)) // s, 0),))
    if all(isinstance(a, Literal) for a in (start, stop, step)):
        length = len(np.arange(start.value, stop.value, step.value))  # type: ignore[union-attr]
        return Type(dtype, (length,))
    return Type(dtype, (dims.symbol("n", 0),))


def natural_arange(start: Atom, stop: Atom, step: Atom) -> Any:
    """The dtype that np.arange takes by itself."""
    a, b, c = (x.type.dtype.type(k) for k, x in enumerate((start, stop, step)))
    return np.arange(a, b, type(c)(1)).dtype


def _arange_source(args: Atoms, params: Any) -> str:
    step = "" if args[2] == atom(1) else ", {2}"
    start = "" if args[0] == atom(0) and not step else "{0}, "
    same = params["dtype"] == natural_arange(*args)
    kind = "" if same else f", dtype={dtype_name(params['dtype'])}"
    return f"np.arange({start}{{1}}{step}{kind})"


def _arange_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    """The elements start + k * step move with both; how many there are does not change."""
    (n,), dtype = outs[0].type.shape, outs[0].type.dtype
    start_dot, _, step_dot = tangents
    if dtype.kind not in "fc" or (start_dot is None and step_dot is None):
        return (None,)
    moved: Any = 0.0 if step_dot is None else step_dot * count_up(n)
    if start_dot is not None:
        moved = moved + broadcast_to(start_dot, shape=(n,))
    return (cast_to(moved, dtype),)


arange = Op("arange", _arange_infer, _arange_source, _arange_jvp)


def count_up(n: Any) -> Any:
    """np.arange of a size."""
    return arange(0, atom(n), 1, dtype=np.dtype(int))


def _square_source(name: str) -> Any:
    def source(args: Any, params: Any) -> str:
        n, m = params["sides"]
        columns = "" if n == m else ", {sides[1]}"
        shift = f", k={params['k']}" if params["k"] else ""
        kind = f", dtype={dtype_name(params['dtype'])}" if params["dtype"] != FLOAT else ""
        return f"np.{name}({{sides[0]}}{columns}{shift}{kind})"

    return source


eye = Op("eye", lambda *, sides, k, dtype: Type(dtype, sides), _square_source("eye"), no_tangent)
tri = Op("tri", lambda *, sides, k, dtype: Type(dtype, sides), _square_source("tri"), no_tangent)
new_stack = Op("new_stack", lambda *, item: StackType(item), "[]", no_tangent, of_results=("item",))
stack_length = Op(
    "stack_length", lambda stack: Type(np.dtype(int), (), True), "len({0})", no_tangent
)


def has_zeros(item: Any) -> bool:
    """Whether zeros can be made that are like the items of a list: numbers, or arrays of them of
    one shape, which arguments tell."""
    is_of_numbers = isinstance(item, Type) and item.dtype.kind in "biufc"
    return is_of_numbers and all(map(dims.is_given, item.shape))


def zero_item_text(params: Params) -> str:
    """Zero as an item of a list: a number, or an array of a shape."""
    dtype = params["dtype"]
    if params["shape"]:
        return f"np.zeros({{shape}}{dtype_text(dtype)})"
    return "0.0" if dtype == FLOAT else dtype_name(dtype) + "(0)"


def zero_items_text(params: Params) -> str:
    """A list of so many zeros as {0} says."""
    item = zero_item_text(params)
    return f"[{item} for _ in range({{0}})]" if params["shape"] else f"[{item}] * {{0}}"


zero_items = Op(
    "zero_items",
    lambda n, *, shape, dtype: StackType(Type(dtype, shape)),
    lambda args, params: zero_items_text(params),
    no_tangent,
)


zeros_of_items = Op(
    "zeros_of_items",
    lambda stack: stack.type,
    "[np.zeros(x.shape, x.dtype) for x in {0}]",
    no_tangent,
)


ZEROS = '''
def zeros_like(saved):
    """Zeros in the place of the floats that were saved, None in that of all else."""
    if isinstance(saved, (tuple, list)):
        return type(saved)(map(zeros_like, saved))
    return np.zeros_like(saved)[()] if np.asarray(saved).dtype.kind in "fc" else None
'''


def _simplify_zero(args: Atoms, params: Params) -> Atom | None:
    let = defining_statement(args[0])
    return args[0] if let is not None and let.op is zero_tape else None


#: The zero of a tape, of a stack of tapes, or of an array that may not be there.
zero_tape: Op = Op(
    "zero_tape",
    lambda x: x.type,
    ("zeros_like({0})", ZEROS),
    no_tangent,
    simplify=_simplify_zero,
)


def zero_stack(like: Any) -> Any:
    """As many zeros as the stack `like` has items; None where a branch gave it no value."""
    item, let = like.type.item, defining_statement(like)
    if let is not None and let.op is new_stack:
        return new_stack(item=item)
    partial = isinstance(like, Var) and like.partial
    if item == TAPE or isinstance(item, StackType) or partial:
        nothing: Any = zero_tape(like)
        nothing.partial = partial
        return nothing
    if all(map(dims.is_given, item.shape)):
        return zero_items(stack_length(like), shape=item.shape, dtype=item.dtype)
    return zeros_of_items(like)  # which differ in their sizes


def batch_of(x: Atom, size: Size, axis: int = 0) -> Any:
    """A new array, of `size` elements along an axis that are all equal to x; of any, if x is never
    looked at."""
    let = defining_statement(x)
    new = let is not None and let.op in (zeros, ones, empty, full)
    inner = let.params["shape"] if new else x.type.shape  # type: ignore[union-attr]
    shape, dtype = (*inner[:axis], size, *inner[axis:]), x.type.dtype
    if new:
        return let.op(*let.args, **{**let.params, "shape": shape})  # type: ignore[union-attr]
    if isinstance(x, Var) and x.partial and let is not None and let.op is zero_tape:
        return zero_tape(batch_if_set(let.args[0], size=size, axis=axis))
    if x.type.shape and isinstance(x, Var):
        wide = reshape(x, shape=(*x.type.shape[:axis], 1, *x.type.shape[axis:])) if axis else x
        return copy(broadcast_to(wide, shape=shape))
    if isinstance(x, Literal) and x.value is None:
        return empty(shape=shape, dtype=dtype)
    if isinstance(x, Literal) and x == zero(x.type):
        return zeros(shape=shape, dtype=dtype)
    if isinstance(x, Literal) and x.value == 1:
        return ones(shape=shape, dtype=dtype)
    return full(x, shape=shape, dtype=dtype)


def zero(t: Any) -> Atom:
    """An additive identity of type `t`."""
    if isinstance(t, StackType):
        return new_stack(item=t.item)  # type: ignore[no-any-return]
    if t == NOTHING:
        return Literal(None, NOTHING)
    if t.shape:
        return zeros(shape=t.shape, dtype=t.dtype)  # type: ignore[no-any-return]
    kind = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}[t.dtype.kind]
    return Literal(kind if t.weak else t.dtype.type(kind), Type(t.dtype, (), t.weak))


def zero_of(like: Atom) -> Atom:
    """The zero of the tangents of a value; nothing where a branch gave it none."""
    if isinstance(like.type, StackType):
        return zero_stack(like)  # type: ignore[no-any-return]
    if like.type == TAPE:
        return zero_tape(like)  # type: ignore[no-any-return]
    if isinstance(like, Var) and like.partial and not all(map(dims.is_given, like.type.shape)):
        nothing: Var = zero_tape(like)
        nothing.partial = True  # it has no length, either
        return nothing
    return zero(like.type)
