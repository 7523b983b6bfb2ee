"""Defines functions whose results are complex for some values only: known by rule where the dtype
decides.

np.emath.sqrt(z) of a complex z is np.sqrt(z); np.real_if_close(x) of real numbers is x.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import current, static
from tapeless.transforms.core.language import Atom, Literal
from tapeless.transforms.ops.numpy.complex import is_complex
from tapeless.transforms.ops.numpy.reductions import any_
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    greater,
    less,
    logical_not,
)
from tapeless.transforms.ops.primitives.elementwise import (
    absolute,
    arccos,
    arcsin,
    arctanh,
    imag,
    log,
    log2,
    log10,
    power,
    real,
    sqrt,
)
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.shapes import cast

Test = Callable[[Atom], Any]


def _of_complex(name: str, rule: Callable[..., Any], beyond: Test) -> Callable[..., Any]:
    """The rule of complex numbers where an argument is one, or `beyond` holds for an element of
    it; else that of real numbers."""
    return lambda x: rule(_extend_to_complex(name, as_array(x), beyond))


def _extend_to_complex(name: str, x: Atom, beyond: Test) -> Any:
    """An array of NumPy's numbers, complex ones where the function leaves the real numbers."""
    hint = f"write np.{name}(x + 0j), or np.{name}(x) where it is real"
    if not is_complex(x) and _require(f"np.emath.{name} of real numbers", beyond(x), hint):
        return cast(x, dtype=np.result_type(x.type.dtype, np.complex64))
    return cast(x, dtype=x.type.dtype) if x.type.weak else x


def _require(what: str, test: Atom, hint: str) -> bool:
    """Whether a test holds for an element, in the call at hand."""
    if test.type.shape:
        test = any_(test, axes=tuple(range(test.type.ndim)), keepdims=False)
    if isinstance(test, Literal):
        return bool(test.value)
    return bool(current().require(test, f"{what}: their values decide whether it is complex", hint))


def _logn(n: Any, x: Any) -> Any:
    n, x = (_extend_to_complex("logn", as_array(a), _negative) for a in (n, x))
    return log(x) / log(n)


def _power(x: Any, p: Any) -> Any:
    x, p = _extend_to_complex("power", as_array(x), _negative), as_array(p)
    what, hint = "np.emath.power with integers", "write x ** -1.0"
    if p.type.dtype.kind == "i" and _require(what, _negative(p), hint):
        p = cast(p, dtype=np.dtype(float))
    return power(x, p)


def _real_if_close(a: Any, tol: float = 100) -> Any:
    a = as_array(a)
    if not is_complex(a):
        return a
    tol = static(tol, "how far numbers may be from the real ones must be known")
    least = np.finfo(a.type.dtype).eps * tol if tol > 1 else tol
    apart = logical_not(less(absolute(imag(a)), least))
    what, hint = "np.real_if_close of complex numbers", "write np.real(x), or leave it out"
    return a if _require(what, apart, hint) else real(a)


def _negative(x: Atom) -> Any:
    return less(x, 0)


def _beyond_one(x: Atom) -> Any:
    return greater(absolute(x), 1)


_RULES: dict[str, tuple[Callable[..., Any], Test]] = {
    "sqrt": (sqrt, _negative),
    "log": (log, _negative),
    "log2": (log2, _negative),
    "log10": (log10, _negative),
    "arccos": (arccos, _beyond_one),
    "arcsin": (arcsin, _beyond_one),
    "arctanh": (arctanh, _beyond_one),
}
NUMPY = {getattr(np.emath, name): _of_complex(name, *rule) for name, rule in _RULES.items()}
NUMPY |= {np.emath.logn: _logn, np.emath.power: _power}
NUMPY[np.real_if_close] = _real_if_close
