"""The errors that kernels raise: described by Numba's code at an address, raised by Python."""

from __future__ import annotations

import ctypes
import pickle
from typing import Any


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


def described(address: int, environments: tuple[int, ...]) -> BaseException:
    """The error that is described at an address.

    environments  where the code that described it looks for Python objects
    """
    found = Description.from_address(address)
    pickled = ctypes.string_at(found.pickled, found.size)
    if found.dynamic > 0:
        serialize = _prepared(environments)
        values = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(found.unwrap)(found.values)
        kind, args, _ = serialize.runtime_build_excinfo_struct(pickled, values)
    else:
        kind, args, _ = pickle.loads(pickled)
    return kind(*args)  # type: ignore[no-any-return]


def _prepared(environments: tuple[int, ...]) -> Any:
    """Numba's module that knows which arguments of an error were computed. It has given each
    function an environment, by way of an address in the code; code from the cache has none yet."""
    from numba._dynfunc import Environment  # noqa: PLC0415
    from numba.core import serialize  # noqa: PLC0415

    for address in filter(None, environments):
        place = ctypes.c_void_p.from_address(address)
        if not place.value:
            _kept.append(Environment(globals={}))
            place.value = id(_kept[-1])
    return serialize


_kept: list[Any] = []  # environments, as long as the process
