"""Refuses bad keys, shapes and dtypes before any work is done."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.random.key_reuse import note_use, use
from tapeless.staging.argument_checks import as_length
from tapeless.transforms.core.builder import active
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError
from tapeless.transforms.frontend.arrays.symbols import Symbol, call_numpy

IMPLEMENTATION = "threefry2x32"


def checked_key(name: str, key: Any) -> Any:
    """A key as an array of two uint32 words, which is used now."""
    key = unused_key(name, key)
    if active():
        note_use(key)
    else:
        use(key)
    return key


def unused_key(name: str, key: Any) -> Any:
    """A key as an array of two uint32 words."""
    if isinstance(key, (list, tuple)) and len(key) == 2:
        raise ArgumentTypeError(
            f"random.{name}: the key is a {type(key).__name__}, and must be an array",
            "make it with random.key(seed), or np.array(words, np.uint32)",
        )
    if not isinstance(key, (np.ndarray, Symbol)):
        raise ArgumentTypeError(
            f"random.{name}: the key must be an array of two uint32 words, not "
            f"{type(key).__name__}",
            "make it with random.key(seed)",
        )
    shape = key.type.shape if isinstance(key, Symbol) else key.shape
    _check_words(name, key.dtype, shape)
    if len(shape) != 1:
        raise ArgumentError(
            f"random.{name}: takes one key of shape (2,), not an array of keys of shape {shape}",
            f"draw for each key with vmap, or pass one of them, as in {name}(keys[0], ...)",
        )
    return key


def checked_words(name: str, words: Any) -> Any:
    """An array of keys."""
    if not isinstance(words, Symbol):
        words = np.asarray(words)
    shape = words.type.shape if isinstance(words, Symbol) else words.shape
    _check_words(name, words.dtype, shape)
    return words


def _check_words(name: str, dtype: Any, shape: Any) -> None:
    if dtype != np.uint32 or not shape or (isinstance(shape[-1], int) and shape[-1] != 2):
        raise ArgumentTypeError(
            f"random.{name}: a key has two words of dtype uint32, and this array has shape "
            f"{tuple(shape)} and dtype {dtype}",
            "make keys with random.key(seed) and random.split(key)",
        )


def checked_implementation(name: str, *implementations: Any) -> None:
    """Refuses another generator than Threefry."""
    for impl in implementations:
        if impl is not None and impl != IMPLEMENTATION:
            raise ArgumentError(
                f"random.{name}: there is no generator {impl!r}",
                f"{IMPLEMENTATION!r} is the one that there is",
            )


def checked_shape(name: str, shape: Any) -> tuple[Any, ...]:
    """A shape as a tuple; its entries are integers, also such that a staged run computes."""
    if isinstance(shape, (int, np.integer)) or (isinstance(shape, Symbol) and not shape.type.shape):
        shape = (shape,)
    if isinstance(shape, np.ndarray):
        shape = shape.tolist()
    if not isinstance(shape, (tuple, list)):
        raise ArgumentTypeError(
            f"random.{name}: the shape must be a tuple of integers, not {shape!r}",
            "write (n,) for a vector and () for a number",
        )
    return tuple(_length(name, n, shape) for n in shape)


def _length(name: str, n: Any, shape: Any) -> Any:
    try:
        length = as_length(n)
    except TypeError:
        raise ArgumentTypeError(
            f"random.{name}: the shape {tuple(shape)!r} has an entry that is no integer",
            "round it, as in n // 2",
        ) from None
    if not isinstance(length, Symbol) and length < 0:
        raise ArgumentError(f"random.{name}: the shape {tuple(shape)} has a negative length")
    return length


def checked_number(name: str, what: str, value: Any) -> Any:
    """One integer, as an array of shape ()."""
    if not isinstance(value, Symbol):
        value = np.asarray(value)
    if value.dtype.kind == "O" and isinstance(value.item(), int):
        raise ArgumentError(
            f"random.{name}: {what} has more than 64 bits",
            "take its lowest 64 bits, as in seed % 2**64",
        )
    if value.dtype.kind not in "iub":
        raise ArgumentTypeError(f"random.{name}: {what} must be an integer, not {value!r}")
    if value.ndim:
        raise ArgumentTypeError(
            f"random.{name}: {what} must be one integer, not an array of shape {value.shape}",
            f"call {name} for each with vmap, or make one key and split it",
        )
    return value


def checked_float(name: str, dtype: Any, kinds: str = "f") -> np.dtype[Any]:
    """A dtype of floats; None is float64."""
    return _check_dtype(name, float if dtype is None else dtype, kinds, "a float dtype")


def checked_integer(name: str, dtype: Any, kinds: str = "iu") -> np.dtype[Any]:
    """A dtype of integers; None is int64."""
    what = "an integer dtype" if "i" in kinds else "an unsigned integer dtype"
    return _check_dtype(name, int if dtype is None else dtype, kinds, what)


def _check_dtype(name: str, dtype: Any, kinds: str, what: str) -> np.dtype[Any]:
    try:
        checked: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        raise ArgumentTypeError(f"random.{name}: {dtype!r} is no dtype") from None
    if checked.kind not in kinds or checked.itemsize > (16 if checked.kind == "c" else 8):
        raise ArgumentTypeError(
            f"random.{name}: dtype must be {what} of at most 64 bits, not {checked}"
        )
    return checked


def checked_fit(name: str, shape: Any, *parameters: Any) -> Any:
    """The shape of the result: `shape`, or what the shapes of the parameters give together."""
    if shape is None:
        return _broadcast_shapes(name, parameters)
    shape = checked_shape(name, shape)
    if not all(_fits(parameter, shape) for parameter in parameters):
        raise ArgumentError(
            f"random.{name}: parameters of shape {', '.join(map(str, parameters))} do not fit "
            f"into the shape {shape}",
            "give the whole shape of the result, or none",
        )
    return shape


def _fits(parameter: Any, shape: Any) -> bool:
    """Whether it broadcasts to the shape; lengths that a staged run computes are NumPy's affair."""
    if len(parameter) > len(shape):
        return False
    pairs = zip(reversed(parameter), reversed(shape), strict=False)
    return all(n in (1, m) for n, m in pairs if isinstance(n, int) and isinstance(m, int))


def _broadcast_shapes(name: str, shapes: Any) -> tuple[Any, ...]:
    rank = max(map(len, shapes), default=0)
    axes = zip(*((1,) * (rank - len(s)) + tuple(s) for s in shapes), strict=True)
    return tuple(_axis(name, lengths, shapes) for lengths in axes)


def _axis(name: str, lengths: Any, shapes: Any) -> Any:
    different = {n for n in lengths if isinstance(n, int) and n != 1}
    if len(different) > 1:
        raise ArgumentError(
            f"random.{name}: the shapes of the parameters, {', '.join(map(str, shapes))}, do not "
            "broadcast together"
        )
    if different:
        return different.pop()
    return next((n for n in lengths if not isinstance(n, int)), 1)


def checked_choice(name: str, what: str, value: Any, accepted: tuple[Any, ...]) -> None:
    """Refuses a word that is not one of those accepted."""
    if value not in accepted:
        words = ", ".join(repr(a) for a in accepted if a is not None)
        raise ArgumentError(f"random.{name}: {what} must be one of {words}, not {value!r}")


def checked_probability(name: str, p: Any, what: str = "p") -> np.dtype[Any]:
    """The dtype of a float or an array of floats."""
    dtype = p.dtype if isinstance(p, Symbol) else np.asarray(p).dtype
    if dtype.kind != "f":
        raise ArgumentTypeError(
            f"random.{name}: {what} must be a float or an array of floats, not of dtype {dtype}",
            "convert it, as in np.asarray(x, float)",
        )
    return dtype


def checked_matrix(name: str, what: str, x: Any, rank: int) -> Any:
    """An array of at least so many axes."""
    if not isinstance(x, Symbol):
        x = np.asarray(x)
    if x.ndim < rank:
        raise ArgumentError(
            f"random.{name}: {what} must have at least {rank} axes, not shape {np.shape(x)}"
            if rank > 1
            else f"random.{name}: {what} must be an array, not one number"
        )
    return x


def as_array(x: Any, dtype: Any = None) -> Any:
    """A parameter as an array, also where a staged run knows its value."""
    if isinstance(x, Symbol):
        return call_numpy(np.asarray, (x,) if dtype is None else (x, dtype), {})
    return np.asarray(x, dtype)


def checked_axis(name: str, axis: Any, rank: int) -> int:
    """An axis, counted from the front."""
    try:
        number = operator.index(axis)
    except TypeError:
        raise ArgumentTypeError(f"random.{name}: axis must be an integer, not {axis!r}") from None
    if not -rank <= number < rank:
        raise ArgumentError(f"random.{name}: axis {number} of an array of {rank} axes")
    return number % rank


def checked_population(name: str, a: Any) -> Any:
    """An array of elements, or how many there are, as an array of shape ()."""
    if not isinstance(a, Symbol):
        a = np.asarray(a)
    if a.ndim == 0 and a.dtype.kind not in "iu":
        raise ArgumentTypeError(
            f"random.{name}: takes an array or an integer, not a number of dtype {a.dtype}"
        )
    return a


def checked_sample(name: str, number: Any, total: Any, replace: bool = False) -> None:
    """Refuses to draw more elements than there are."""
    if isinstance(number, Symbol) or isinstance(total, Symbol) or number == 0:
        return
    if total <= 0:
        raise ArgumentError(f"random.{name}: there is nothing to choose from")
    if not replace and number > total:
        raise ArgumentError(
            f"random.{name}: {number} elements without replacement, of {total} that there are"
        )
