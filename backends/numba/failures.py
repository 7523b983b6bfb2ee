"""The errors that kernels raise: described by Numba's code at an address, raised by Python."""

from __future__ import annotations

import ctypes
import pickle


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


def described(address: int) -> BaseException:
    """The error that is described at an address."""
    found = Description.from_address(address)
    pickled = ctypes.string_at(found.pickled, found.size)
    if found.dynamic > 0:
        from numba.core import serialize  # noqa: PLC0415  # knows which arguments were computed

        values = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(found.unwrap)(found.values)
        kind, args, _ = serialize.runtime_build_excinfo_struct(pickled, values)
    else:
        kind, args, _ = pickle.loads(pickled)
    return kind(*args)  # type: ignore[no-any-return]
