"""Replaces functions and methods of other libraries by functions of ours, which are plain NumPy
code.

They are found by the package that has them, which is not imported for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.frontend.builtins import plain_code
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.prelude.ndimage import linear_filters
from tapeless.transforms.prelude.numpy import scipy_choices, testing
from tapeless.transforms.prelude.sparse import scipy_functions


def _of_sparse(f: Any) -> Any:
    """Ours for a function of scipy.sparse; code that is traced passes matrices on to SciPy."""
    if trace().observing:
        return plain_code.standing_for(f)
    return scipy_functions.standing_for(f) or plain_code.standing_for(f)


#: What gives our function for one of a package, or for a method of one of its objects, or None.
STAND_INS: dict[str, Callable[[Any], Any]] = {
    "numpy.polynomial": plain_code.standing_for,
    "numpy.testing": testing.standing_for,
    "scipy._lib": lambda f: scipy_choices.standing_for(f) or _of_sparse(f),
    "scipy.ndimage": linear_filters.standing_for,
    "scipy.optimize": plain_code.standing_for,
    "scipy.sparse": _of_sparse,
}


def stand_in(f: Any) -> Any:
    """Our function for one of another library; None if there is none."""
    owner = getattr(f, "__self__", None)
    place = type(f if owner is None else owner).__module__
    if place == "builtins" or isinstance(f, type):  # which says itself where it is from
        place = getattr(f, "__module__", None) or ""
    if not place.startswith(("numpy.", "scipy.")):  # a user's class, whose method is inherited
        method = getattr(f, "__func__", type(f).__call__)
        place = getattr(method, "__module__", None) or ""
    if not place.startswith(("numpy.", "scipy.")):
        return None
    replacement = STAND_INS.get(".".join(place.split(".")[:2]))
    return None if replacement is None else replacement(f)
