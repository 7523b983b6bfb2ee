"""Functions whose results are complex for some values only: known by rule where the dtype decides.

np.emath.sqrt(z) of a complex z is np.sqrt(z); np.real_if_close(x) of real numbers is x.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.numpy.complex import is_complex
from tapeless.transforms.ops.primitives.elementwise import (
    arccos,
    arcsin,
    arctanh,
    log,
    log2,
    log10,
    power,
    sqrt,
)
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.shapes import cast


def _of_complex(name: str, rule: Callable[..., Any]) -> Callable[..., Any]:
    def made(*args: Any) -> Any:
        atoms: list[Atom] = [as_array(a) for a in args]
        if not any(map(is_complex, atoms)):
            raise UnsupportedError(
                f"np.emath.{name} of real numbers: their values decide whether it is complex",
                f"write np.{name}(x + 0j), or np.{name}(x) where it is real",
            )
        return rule(*(cast(a, dtype=a.type.dtype) if a.type.weak else a for a in atoms))

    return made


def _logn(n: Any, x: Any) -> Any:
    return log(x) / log(n)


def _real_if_close(a: Any, tol: float = 100) -> Any:
    a = as_array(a)
    if is_complex(a):
        raise UnsupportedError(
            "np.real_if_close of complex numbers: their values decide whether it is complex",
            "write np.real(x), or leave it out",
        )
    return a


_RULES: dict[str, Callable[..., Any]] = {
    "sqrt": sqrt,
    "log": log,
    "log2": log2,
    "log10": log10,
    "logn": _logn,
    "power": power,
    "arccos": arccos,
    "arcsin": arcsin,
    "arctanh": arctanh,
}
NUMPY = {getattr(np.emath, name): _of_complex(name, rule) for name, rule in _RULES.items()}
NUMPY[np.real_if_close] = _real_if_close
