"""Stages arrays of users' classes that are derived from np.ndarray: objects of a class with the
same code, derived from plain code that stands for np.ndarray."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, call_numpy
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.provenance import is_library_class, is_numpy
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.prelude.numpy import matrices, structured_arrays
from tapeless.transforms.prelude.numpy.derived_arrays import DerivedArray, array_of_class
from tapeless.transforms.prelude.numpy.masked_arrays import OF_MASKED, MaskedArray
from tapeless.transforms.prelude.numpy.masked_arrays import WAY_OUT as PLAIN
from tapeless.transforms.prelude.numpy.matrices import Matrix

#: Methods by which a class decides what NumPy's functions make of its arrays.
PROTOCOLS = ("__array_ufunc__", "__array_function__", "__array_wrap__", "__array_prepare__")
#: What a class of C code has, and one of Python's makes anew.
OF_THE_CLASS = ("__dict__", "__weakref__")
WAY_OUT = "work with plain arrays, which np.asarray gives"


def is_derived(cls: Any) -> bool:
    """Whether a class is derived from np.ndarray, by a user."""
    if not isinstance(cls, type) or cls is np.ndarray:
        return False
    return issubclass(cls, (DerivedArray, np.matrix)) or (
        issubclass(cls, np.ndarray) and not is_library_class(cls)
    )


@functools.lru_cache(maxsize=1000)
def staged_class(cls: type) -> Any:
    """The class whose objects stand for arrays of a class that is derived from np.ndarray."""
    if issubclass(cls, DerivedArray):
        return cls
    if cls is np.ndarray:
        return DerivedArray
    if cls is np.matrix:
        return Matrix
    own = [name for name in PROTOCOLS if any(name in base.__dict__ for base in _users(cls))]
    if own or type(cls) is not type:
        by = f", and has its own {own[0]}" if own else ""
        raise UnsupportedError(
            f"an array of type {cls.__name__}, which is derived from np.ndarray{by}", WAY_OUT
        )
    staged: Any = staged_class
    bases = tuple(staged(b) if issubclass(b, np.ndarray) else b for b in cls.__bases__)
    namespace = {k: v for k, v in cls.__dict__.items() if k not in OF_THE_CLASS}
    return type(cls.__name__, bases, {**namespace, "__stands_for__": cls})


def _users(cls: type) -> Iterator[type]:
    return (base for base in cls.__mro__ if base not in np.ndarray.__mro__)


def user_class(kind: Any) -> Any:
    """The class of the user, or NumPy's, that one of the staged run stands for."""
    if kind is MaskedArray:
        return np.ma.MaskedArray
    if isinstance(kind, type) and issubclass(kind, DerivedArray):
        return kind.__dict__.get("__stands_for__", np.ndarray)
    return kind


def super_of(cls: Any, this: Any) -> Any:
    """super(cls, this), of the class that is staged for it."""
    return super(staged_class(cls) if is_derived(cls) else cls, this)


def view_as(x: Any, cls: type) -> Any:
    """x.view(cls)"""
    return trace().enter(array_of_class, staged_class(cls), elements(x).view(), x)


def elements(value: Any) -> Any:
    """The value with plain arrays in the place of those of derived classes."""
    if isinstance(value, DerivedArray):
        return value.__elements__
    if isinstance(value, (list, tuple)) and any(True for _ in derived_in(value)):
        return _sequence_like(value, map(elements, value))
    return value


def _sequence_like(value: Any, items: Iterable[Any]) -> Any:
    return tuple(items) if isinstance(value, tuple) else [*items]


def derived_in(value: Any) -> Iterator[Any]:
    """The arrays of derived classes among what a value is made of."""
    if isinstance(value, DerivedArray):
        yield value
    elif isinstance(value, (list, tuple)) and own_attribute(value, "tail") is None:
        for item in value:
            yield from derived_in(item)
    elif type(value) is dict:
        yield from derived_in(list(value.values()))


def takes_derived(f: Any, args: Any) -> bool:
    """Whether a function of NumPy is asked of arrays of derived classes, and is no code of ours for
    these."""
    return is_numpy(f) and f not in matrices.NUMPY and any(True for _ in derived_in(args))


def of_masked(f: Any) -> Any:
    """The code of ours that a function of NumPy is for masked arrays."""
    if f not in OF_MASKED:
        raise UnsupportedError(f"{getattr(f, '__name__', f)} of a masked array has no rule", PLAIN)
    return OF_MASKED[f]


def of_structured(f: Any) -> Any:
    """The code of ours that a function of NumPy is for structured arrays."""
    if f not in structured_arrays.READERS:
        name = getattr(f, "__name__", f)
        raise UnsupportedError(
            f"{name} of a structured array has no rule", structured_arrays.WAY_OUT
        )
    return structured_arrays.READERS[f]


def has_masked(values: Any) -> bool:
    """Whether masked arrays are among values, or in their lists."""
    return any(
        isinstance(v, MaskedArray) or (type(v) in (list, tuple) and has_masked(v)) for v in values
    )


class MethodOfArray:
    """A method that an array of a derived class has from np.ndarray."""

    def __init__(self, this: Any, name: str) -> None:
        self.this, self.name = this, name

    def __staged_call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self.name == "view" and args and is_derived(args[0]):
            return view_as(self.this, args[0])
        if self.name == "view" and args == (np.ndarray,):
            return self.this.__elements__.view()
        method = getattr(user_class(type(self.this)), self.name)

        def run(this: Any, *args: Any, **kwargs: Any) -> Any:
            return getattr(this, self.name)(*args, **kwargs)

        return apply_to_derived(method, run, (self.this, *args), kwargs)


def method_of(obj: Any, name: str) -> MethodOfArray | None:
    """The method that an array of a derived class has from np.ndarray; None if there is none."""
    method = getattr(np.ndarray, name, None)
    inherited = isinstance(obj, DerivedArray) and not hasattr(obj, name)
    return MethodOfArray(obj, name) if inherited and type(method) is _METHOD else None


_METHOD = types.MethodDescriptorType


def apply_to_derived(
    f: Any, run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What a function of NumPy gives for arrays of derived classes: `run` gives it for plain ones.
    Of which class it is, and from which array its attributes are, is asked of NumPy."""
    operands = list(derived_in((args, kwargs)))
    run = functools.partial(run, *elements(args), **{k: elements(v) for k, v in kwargs.items()})
    try:
        examples = _asked_of_numpy(f, args, kwargs, operands)
    except UnsupportedError:
        run()  # may say what is wrong with any arrays
        raise
    result = run()
    if not isinstance(examples, tuple):
        return _of_class(result, examples, operands)
    pairs = zip(result, examples, strict=True)
    parts = [_of_class(r, example, operands) for r, example in pairs]
    return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)


def _of_class(result: Any, example: Any, operands: list[Any]) -> Any:
    this = _source_of(example, operands)
    if this is None:
        return result
    if isinstance(result, Symbol) and not result.mutable:
        result = call_numpy(np.asarray, (result,), {})
    if isinstance(this, Matrix) and result.ndim < 2:  # a row, or a column
        shape = (1, -1) if example.shape[0] == 1 else (-1, 1)
        result = call_numpy(np.reshape, (result, shape), {})
    return trace().enter(array_of_class, type(this), result, this)


def _source_of(example: Any, operands: list[Any]) -> Any:
    """The argument that a result has its class from; None of plain arrays and numbers."""
    source = getattr(example, "source", None)
    if source is None and isinstance(example, np.matrix):  # put together of several
        return next(a for a in operands if isinstance(a, Matrix))
    return None if source is None else operands[source]


class _Sample(np.ndarray):
    """An array that knows which argument it was made from."""

    source: int | None = None

    def __array_finalize__(self, obj: Any) -> None:
        self.source = getattr(obj, "source", None)


class _MatrixSample(np.matrix):
    """A matrix that knows this."""

    source: int | None = None

    def __array_finalize__(self, obj: Any) -> None:
        super().__array_finalize__(obj)
        self.source = getattr(obj, "source", None)


def _asked_of_numpy(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], operands: list[Any]
) -> Any:
    """What NumPy gives for examples: its `source` is the number of the argument that it has its
    class from; plain arrays and numbers have none."""
    numbers = {id(a): k for k, a in enumerate(operands)}

    def sample(value: Any) -> Any:
        if isinstance(value, DerivedArray):
            kind = _MatrixSample if isinstance(value, Matrix) else _Sample
            example: Any = np.asarray(_example(value.__elements__)).view(kind)
            example.source = numbers[id(value)]
            return example
        if isinstance(value, Symbol):
            return _example(value)
        if isinstance(value, (list, tuple)):
            return _sequence_like(value, map(sample, value))
        return value

    try:
        with np.errstate(all="ignore"):
            result = f(*map(sample, args), **{k: sample(v) for k, v in kwargs.items()})
    except Exception as e:
        raise UnsupportedError(
            f"{getattr(f, '__name__', f)} of an array of type {type(operands[0]).__name__}, which "
            "is derived from np.ndarray",
            WAY_OUT,
        ) from e
    return result


def _example(x: Any) -> Any:
    """An array like a symbol, of the lengths that it has in this call."""
    x = x if isinstance(x, Symbol) else np.asarray(x)
    if not isinstance(x, Symbol):
        return x
    shape = tuple(dims.evaluate(n, trace().hints) or 1 for n in x.type.shape)
    ones = np.ones(shape, x.type.dtype)
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        ones[...] = np.eye(shape[-1])
    return ones if shape or x.is_array else ones[()]
