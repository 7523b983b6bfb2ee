"""Recognises arrays that are not NumPy's plain ones: staging cannot see what they mean, or what
changes in them.
"""

from __future__ import annotations

import array
import contextlib
import contextvars
import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.errors import ArgumentTypeError
from tapeless.transforms.frontend.arrays.external_objects import ExternalObject

if TYPE_CHECKING:
    from collections.abc import Hashable

HOLDERS = ("__array__", "__array_interface__", "__dlpack__", "toarray")
UFUNC_PROTOCOLS = ("__array_ufunc__", "__array_wrap__")
BUFFERS = (array.array, memoryview)
OWN = ("numpy", "tapeless")
INSTALLED = frozenset({"site-packages", "dist-packages"})


def is_foreign(value: Any) -> bool:
    """Whether an object holds arrays, and its code is neither a user's nor known here; or is what
    a call by the program gives."""
    if isinstance(value, ExternalObject):
        return True
    if isinstance(value, np.ndarray):
        return _has_own_operations(value)
    return _of_another_library(cast("Hashable", type(value)))


def decides(value: Any, f: Any) -> bool:
    """Whether the class of an object says what a function gives of it. NumPy asks for that by its
    protocols, or by a method of the function's name; other libraries know classes of their own."""
    if isinstance(value, ExternalObject):
        return True
    if isinstance(f, np.ufunc):
        by_itself = not hasattr(value, "__array__") and hasattr(value, f.__name__)
        return by_itself or any(hasattr(value, name) for name in UFUNC_PROTOCOLS)
    if (getattr(f, "__module__", None) or "numpy").partition(".")[0] != "numpy":
        return True
    asked = hasattr(value, f.__name__) and f is not np.where
    return asked or hasattr(value, "__array_function__")


def qualified_class(value: Any) -> str:
    """The name of the class of an object, with its module."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def as_array(value: Any, name: str) -> str:
    """What makes a numeric array of an object of another library, which is called `name`."""
    if hasattr(value, "toarray"):
        return f"{name}.toarray()"
    if on_gpu(value):
        return f"{name}.get()"
    if hasattr(value, "data_vars"):  # arrays by name
        return f"np.asarray({name}[key]) for each key of it"
    if hasattr(value, "to_numpy") and not _is_plainly_numeric(value):
        return f"{name}.to_numpy(float)"
    return f"np.asarray({name})"


def _is_plainly_numeric(value: Any) -> bool:
    """Whether all columns of a table hold numbers of NumPy, none of them missing or an object."""
    dtypes = [value.dtype] if hasattr(value, "dtype") else list(getattr(value, "dtypes", ()))
    return all(isinstance(d, np.dtype) and d.kind in "biufc" for d in dtypes)


def has_foreign(value: Any, depth: int = 4) -> bool:
    """Whether such an object is among what a list, tuple or dict holds."""
    if depth and isinstance(value, (list, tuple)):
        return any(has_foreign(v, depth - 1) for v in value)
    if depth and isinstance(value, dict):
        return any(has_foreign(v, depth - 1) for v in value.values())
    return is_foreign(value)


def arrays_in(obj: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays that such an object is, or has as its attributes."""
    if isinstance(obj, np.ndarray):
        return [obj]
    return [v for v in getattr(obj, "__dict__", {}).values() if isinstance(v, np.ndarray)]


def refuse_foreign(value: Any, name: str) -> None:
    """Refuses arrays with operations of their own, and those of which changes go unseen."""
    kind: Any = type(value)
    if isinstance(value, np.ndarray):
        if _has_own_operations(value):
            _refuse_subclass(kind, name)
        if value.dtype.hasobject:
            raise ArgumentTypeError(
                f"{name} is an array of Python objects, which may change unseen",
                f"put them into a list, a tuple or a dict; numbers: {name}.astype(float)",
            )
    elif isinstance(value, BUFFERS) or _of_another_library(cast("Hashable", kind)):
        full = f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"
        raise ArgumentTypeError(
            f"{name} is of type {full}, no array of NumPy, and may change unseen",
            f"make it one outside of the function: {as_array(value, name)}",
        )


# -- arrays of CuPy, which programs for a GPU read

_for_gpu: contextvars.ContextVar[bool] = contextvars.ContextVar("for_gpu", default=False)


@contextlib.contextmanager
def staged_for_gpu() -> Iterator[None]:
    """Functions that are staged inside run on a GPU, and may read arrays that lie there."""
    token = _for_gpu.set(True)
    try:
        yield
    finally:
        _for_gpu.reset(token)


def refuse_on_cpu(name: str) -> None:
    """Refuses an array on a GPU that a function reads which runs on the CPU."""
    if not _for_gpu.get():
        raise ArgumentTypeError(
            f"{name} lies on a GPU, and the function that reads it runs on the CPU",
            f"pass it as an argument, or say jit(f, backend='gpu'); on the CPU it is {name}.get()",
        )


def _refuse_subclass(kind: type, name: str) -> NoReturn:
    way = f"pass np.asarray({name})"
    if issubclass(kind, np.ma.MaskedArray):  # np.asarray would show what is masked
        way = f"pass {name}.filled(0.0) and {name}.mask, and leave out elements with np.where"
    raise ArgumentTypeError(
        f"arrays of type {kind.__module__}.{kind.__name__} have operations of their own", way
    )


def _has_own_operations(array: np.ndarray[Any, Any]) -> bool:
    """Whether an array is of a class such as np.matrix or np.ma.MaskedArray."""
    plain = type(array) in (np.ndarray, np.memmap)
    return not plain and not getattr(array, "functional", False)


@functools.lru_cache
def _of_another_library(kind: type) -> bool:
    """Whether objects of a class hold arrays, and its code is neither a user's nor known here."""
    if kind.__module__.partition(".")[0] in OWN or not any(hasattr(kind, n) for n in HOLDERS):
        return False
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    if file is None:
        return kind.__module__ != "__main__"
    return not file.endswith(".py") or not INSTALLED.isdisjoint(Path(file).parts)
