"""Computes shapes and dtypes of results without values: `ShapeDtypeStruct`, `eval_shape`,
`typeof`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from tapeless import tree
from tapeless.dispatch.specialisation import Specialisation
from tapeless.staging.device_meshes import PartitionSpec
from tapeless.staging.device_placement import Sharding
from tapeless.staging.subprogram import Subprogram, fresh_input, is_value, leaf_type
from tapeless.staging.user_calls import call_user
from tapeless.transformations.array_form import Unchanged
from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import active, atom_of_size
from tapeless.transforms.core.language import Type
from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.emit.module import rebuild
from tapeless.transforms.errors import ArgumentTypeError, NeedStaticError
from tapeless.transforms.frontend.arrays.symbols import atoms, wrap
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.numpy.length_arguments import shape_of

Array = np.ndarray  # what arrays are, under JAX's name


class ShapeDtypeStruct:
    """A shape and a dtype, where an array is meant and no value is needed.

    shape      integers; inside a transformed function also lengths of arrays: `x.shape`
    dtype      whatever `numpy.dtype` takes
    sharding   where such an array would be; it is kept, and nothing depends on it
    weak_type  whether it stands for a number of Python
    vma, is_ref
               of JAX; only what says nothing is accepted

    >>> ShapeDtypeStruct((2, 3), float)
    ShapeDtypeStruct(shape=(2, 3), dtype=float64)
    """

    def __init__(
        self,
        shape: Sequence[Any],
        dtype: Any,
        *,
        sharding: Any = None,
        weak_type: bool = False,
        vma: Any = None,
        is_ref: bool = False,
    ) -> None:
        if dtype is None or isinstance(shape, (str, bytes)) or not isinstance(shape, Iterable):
            raise ArgumentTypeError(
                f"ShapeDtypeStruct needs a shape and a dtype, not {shape!r} and {dtype!r}"
            )
        if vma or is_ref:
            raise ArgumentTypeError("ShapeDtypeStruct: there are no references here")
        if sharding is not None and not isinstance(sharding, (Sharding, PartitionSpec)):
            raise ArgumentTypeError(
                f"ShapeDtypeStruct: sharding is {type(sharding).__name__}",
                "NamedSharding(mesh, spec) is one",
            )
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self.sharding = sharding
        self.weak_type = bool(weak_type)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Any:
        total = 1
        for n in self.shape:
            total = total * n
        return total

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a ShapeDtypeStruct without axes")
        return int(self.shape[0])

    def update(self, **kwargs: Any) -> ShapeDtypeStruct:
        """The same with another shape or dtype."""
        return ShapeDtypeStruct(**{"shape": self.shape, "dtype": self.dtype, **kwargs})

    def __repr__(self) -> str:
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShapeDtypeStruct):
            return NotImplemented
        return (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))


# -- declared results


def declared_types(like: Any, what: str) -> tuple[tuple[Any, ...], tuple[Any, ...], Any]:
    """Lengths of all axes, (dtype, number of axes) of each leaf, and the structure of a tree of
    things with a shape and a dtype."""
    leaves, structure = tree.flatten(like)
    sizes: list[Any] = []
    kinds = []
    for x in leaves:
        if is_value(x):
            kind = leaf_type(x)
            shape, dtype = kind.shape, kind.dtype
        elif hasattr(x, "shape") and hasattr(x, "dtype"):
            shape, dtype = x.shape, np.dtype(x.dtype)
            shape = shape_of(atoms(tuple(shape))) if active() else tuple(shape)
        else:
            raise ArgumentTypeError(
                f"{what}: result_shape_dtypes has {type(x).__name__} {str(x)[:40]!r}",
                "give a shape and a dtype: ShapeDtypeStruct((), float)",
            )
        sizes += shape
        kinds.append((dtype, len(shape)))
    return tuple(sizes), tuple(kinds), structure


def declared_sizes(sizes: Sequence[Any], kinds: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The shape of each leaf."""
    remaining = iter(sizes)
    return [tuple(next(remaining) for _ in range(ndim)) for _, ndim in kinds]


# -- shapes of results


def stand_in(x: Any) -> Any:
    """An array of the shape and dtype of `x`, whose memory is not touched; other leaves as they
    are."""
    if is_value(x) and not (isinstance(x, np.ndarray) or on_gpu(x)):
        return x
    if isinstance(x, type) or not hasattr(x, "shape") or not hasattr(x, "dtype"):
        return x
    shape = tuple(x.shape)
    if not shape:
        if type(x) is np.ndarray:
            return np.zeros((), x.dtype)
        zero = np.zeros((), x.dtype)[()]
        return zero.item() if getattr(x, "weak_type", False) else zero
    try:
        return np.zeros(shape, x.dtype)  # the system gives memory when it is written to
    except MemoryError:
        return np.broadcast_to(np.zeros((), x.dtype), shape)


def eval_shape(fun: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """The shapes and dtypes of a function's results, found without computing anything.

    fun   any function that can be staged
    args  trees of `ShapeDtypeStruct`s, arrays or numbers; so are keyword arguments

    Returns a tree like the result, of `ShapeDtypeStruct`s.

    Raises what staging raises, and TypeError where a length depends on what arrays contain.

    >>> import numpy as np
    >>> x = ShapeDtypeStruct((100_000, 100_000), np.float32)
    >>> eval_shape(lambda x: {"rows": x.sum(axis=1), "square": x @ x.T}, x)["rows"]
    ShapeDtypeStruct(shape=(100000,), dtype=float32)
    """
    if active():
        return _eval_staged(fun, args, kwargs)
    args, kwargs = tree.map(stand_in, (args, kwargs))
    of = Unchanged(fun)
    specialisation = of.specialise(args, kwargs)
    lengths = known_lengths(specialisation, tree.leaves((args, kwargs)))
    value = rebuild(
        specialisation.staged.result,
        iter([_struct(a.type, lengths) for a in _results(specialisation)]),
    )
    value = (
        value[0] if specialisation.changes else value
    )  # without what containers of the caller get
    return (
        value if specialisation.returned is None else tree.unflatten(specialisation.returned, value)
    )


def _eval_staged(fun: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The same inside a staged run, which does not get what `fun` records."""
    args, kwargs = tree.map(_fresh, (args, kwargs))
    region = Subprogram(fun, args, kwargs)
    trace().keys.forget(region.body)
    kinds = [a.type for a in region.atoms if a is not None]
    inside = {v for s in region.body for v in getattr(s, "outs", ())}
    known_sizes = {
        *trace().decisions.homes,
        *_symbols(v for v in trace().definitions if v not in inside),
    }
    for kind in kinds:
        if any(s not in known_sizes for n in kind.shape for s in dims.symbols(n)):
            _refuse_length(kind)
    structs = (_struct_of(kind) for kind in kinds)
    pairs = zip(region.leaves, region.atoms, strict=True)
    return tree.unflatten(region.structure, [x if a is None else next(structs) for x, a in pairs])


def _symbols(values: Iterable[Any]) -> set[Any]:
    """The symbols in the lengths of values."""
    shapes = (v.type.shape for v in values if isinstance(v.type, Type))
    return {s for shape in shapes for n in shape for s in dims.symbols(n)}


def _fresh(x: Any) -> Any:
    """A value of the program like `x`: nothing of it is stored to."""
    if is_value(x):
        return fresh_input(x)[1]
    return call_user(np.zeros, x.shape, x.dtype) if hasattr(x, "dtype") else x


def _struct_of(kind: Type) -> ShapeDtypeStruct:
    """What a type says; lengths are integers of the program, as in `x.shape`."""
    shape = tuple(wrap(atom_of_size(n)) for n in kind.shape)
    return ShapeDtypeStruct(shape, kind.dtype, weak_type=kind.weak)


def _results(specialisation: Specialisation) -> list[Any]:
    return list(specialisation.staged.result.leaves())


def _struct(kind: Type, lengths: dict[Any, int]) -> ShapeDtypeStruct:
    shape = [dims.evaluate(n, lengths) for n in kind.shape]
    if None in shape:
        _refuse_length(kind)
    return ShapeDtypeStruct(shape, kind.dtype, weak_type=kind.weak)


def _refuse_length(kind: Type) -> NoReturn:
    raise NeedStaticError(
        f"eval_shape: the shape ({', '.join(map(str, kind.shape))}) depends on what arrays contain",
        "use a mask and np.where, which keep the shape",
    )


def short_axes(leaves: Sequence[Any], most: int) -> list[tuple[int, int]]:
    """The axes of at most so many elements, each with the number of its leaf: programs that write
    them out are faster."""
    shapes = [x.shape if isinstance(x, np.ndarray) else () for x in leaves]
    return [(k, axis) for k, s in enumerate(shapes) for axis, n in enumerate(s) if n <= most]


def known_lengths(specialisation: Specialisation, leaves: Any) -> dict[Any, int]:
    """What the sizes of a program are for these arguments."""
    values = {}
    for symbol, (k, axis) in specialisation.staged.decisions.homes.items():
        if isinstance(k, int):
            values[symbol] = int(leaves[k]) if axis < 0 else leaves[k].shape[axis]
    for c in specialisation.staged.captured:
        values.update(c.sizes())
    return values


def typeof(x: Any) -> ShapeDtypeStruct:
    """The shape and dtype of an array or number.

    Raises TypeError for anything else.

    >>> typeof(1.5)
    ShapeDtypeStruct(shape=(), dtype=float64)
    """
    if not is_value(x):
        raise ArgumentTypeError(f"typeof: {type(x).__name__} is no array")
    kind = leaf_type(x)
    return ShapeDtypeStruct(kind.shape, kind.dtype, weak_type=kind.weak)


__all__ = ["Array", "ShapeDtypeStruct", "eval_shape", "typeof"]
