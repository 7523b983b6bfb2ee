"""Finds the C functions by which NumPy's generators draw, for compiled code.

Code that is kept on disk names `tapeless_random_normal`; each process says where that is. NumPy's
module `_generator` shows its functions on Linux and macOS; elsewhere Numba compiles what draws.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Iterable

import llvmlite.binding as llvm
import numpy as np

PREFIX = "tapeless_random_"
TYPE = f"{PREFIX}Generator"  # the class of generators
#: Methods that give a number of double precision, and how many parameters they have.
REALS = {
    **dict.fromkeys(("random", "standard_normal", "standard_exponential", "standard_cauchy"), 0),
    **dict.fromkeys(("exponential", "rayleigh", "standard_gamma", "chisquare", "standard_t"), 1),
    **dict.fromkeys(("weibull", "pareto", "power"), 1),
    **dict.fromkeys(("normal", "uniform", "laplace", "logistic", "gumbel", "lognormal"), 2),
    **dict.fromkeys(("gamma", "beta"), 2),
}
#: Those that give an integer.
COUNTS = {"poisson": 1}
#: What NumPy calls its functions, if not by the name of the method.
OTHERS = {"random": "standard_uniform", "integers": "bounded_uint64_fill"}


def symbol(method: str) -> str:
    """The name of ours for the function of a method."""
    return f"{PREFIX}{method}"


def needs_draws(names: Iterable[str]) -> bool:
    """Whether any of these names is one of ours."""
    return any(name.startswith(PREFIX) for name in names)


@functools.cache
def introduce() -> bool:
    """Tells LLVM where the functions are; whether NumPy shows them."""
    module = importlib.import_module("numpy.random._generator")
    try:
        library = ctypes.CDLL(module.__file__)
        methods = (*REALS, *COUNTS, "integers")
        functions = {m: getattr(library, f"random_{OTHERS.get(m, m)}") for m in methods}
    except (OSError, TypeError, AttributeError):
        return False
    for method, function in functions.items():
        llvm.add_symbol(symbol(method), ctypes.cast(function, ctypes.c_void_p).value)
    llvm.add_symbol(TYPE, id(np.random.Generator))
    return True
