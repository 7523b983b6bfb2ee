"""Raises the errors of kernels in Python, from the description that Numba's code leaves at an
address.
"""

from __future__ import annotations

import builtins
import ctypes
import pickle
from collections.abc import Mapping
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np

from tapeless.transforms.dataclass import dataclass


class RaisedAt(NamedTuple):
    """The line that raises an error, in a file; in the text of the kernels if no file is named."""

    file: str
    line: int


@dataclass(frozen=True)
class Failures:
    """How errors of object code are found.

    environments  where code of Numba looks for Python objects when it makes one
    errors        those that have numbers, from 1 on: names of classes, arguments, lines; in the
                  place of a number that is computed, in which word it is and its dtype; in the
                  place of a text that shows numbers, its parts
    classes       those of the module, by name
    """

    environments: tuple[int, ...] = ()
    errors: tuple[tuple[str, tuple[Any, ...], int], ...] = ()
    classes: Mapping[str, Any] = field(default_factory=dict)

    def find_error(self, where: int, words: int) -> tuple[BaseException, RaisedAt]:
        """The error with a number, or that is described at an address, and what raises it; `words`
        is the address of the numbers that it tells of."""
        if not self.errors:
            return read_described_error(where, self.environments)
        name, args, line = self.errors[where - 1]
        kind = getattr(builtins, name, None) or self.classes.get(name) or getattr(np.linalg, name)
        return kind(*(_decode_argument(x, words) for x in args)), RaisedAt("", line)


def _decode_argument(x: Any, words: int) -> Any:
    """An argument of an error."""
    if isinstance(x, (list, tuple)):
        return tuple(_decode_argument(part, words) for part in x)
    if not isinstance(x, dict):
        return x
    if "text" in x:
        return "".join(str(_decode_argument(part, words)) for part in x["text"])
    dtype = np.dtype(x["dtype"])
    return np.frombuffer(ctypes.string_at(words + 8 * x["word"], dtype.itemsize), dtype)[0].item()


class Description(ctypes.Structure):
    """What Numba's code leaves about an error: the pickled class and arguments; if `dynamic`, what
    makes the arguments that were computed."""

    _fields_ = [
        ("pickled", ctypes.c_void_p),
        ("size", ctypes.c_int32),
        ("values", ctypes.c_void_p),
        ("unwrap", ctypes.c_void_p),
        ("dynamic", ctypes.c_int32),
    ]


def read_described_error(
    address: int, environments: tuple[int, ...]
) -> tuple[BaseException, RaisedAt]:
    """The error that is described at an address, and what raises it.

    environments  where the code that described it looks for Python objects
    """
    description = Description.from_address(address)
    pickled = ctypes.string_at(description.pickled, description.size)
    if description.dynamic > 0:
        serialize = _prepare_serializer(environments)
        values = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(description.unwrap)(
            description.values
        )
        kind, args, place = serialize.runtime_build_excinfo_struct(pickled, values)
    else:
        kind, args, place = pickle.loads(pickled)
    _, file, line = place or ("", "", 0)
    return kind(*args), RaisedAt(file, line)


def _prepare_serializer(environments: tuple[int, ...]) -> Any:
    """Numba's module that knows which arguments of an error were computed. It has given each
    function an environment, by way of an address in the code; code from the cache has none yet."""
    from numba._dynfunc import Environment  # noqa: PLC0415
    from numba.core import serialize  # noqa: PLC0415

    from tapeless.backends.cpu.runtime.linking import keep_forever  # noqa: PLC0415

    for address in filter(None, environments):
        place = ctypes.c_void_p.from_address(address)
        if not place.value:
            environment = Environment(globals={})
            keep_forever(environment)
            place.value = id(environment)
    return serialize
