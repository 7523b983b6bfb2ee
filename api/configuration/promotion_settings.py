"""Refuses implicit promotion of ranks and dtypes while `numpy_rank_promotion` or
`numpy_dtype_promotion` ask for it.

Functions are staged anew under such a setting, once: what passed is marked, and quick calls without
the setting stay as they are. Arrays of `tapeless.numpy` look at their ufuncs as long as it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import numpy as np

from tapeless.configuration.instrumentation import Watch, watch
from tapeless.dispatch.specialisation import Specialisation
from tapeless.dispatch.transformation import Transformed
from tapeless.numpy.array_functions import Function, Ufunc
from tapeless.staging.jax_arrays import Array, functional, has_functional, plain
from tapeless.transforms.core.builder import active
from tapeless.transforms.frontend.arrays.promotions import PERMISSIVE, check, settings

_passed: dict[tuple[str, str], WeakSet[Specialisation]] = {}
_watches: list[Watch] = []


def set_rank(new: str) -> None:
    """Begins to look at ranks, or ends it."""
    settings.rank = new
    _look()


def set_dtype(new: str) -> None:
    """Begins to look at dtypes, or ends it."""
    settings.dtype = new
    _look()


def _look() -> None:
    wanted = settings.current_key != PERMISSIVE
    if wanted and not _watches:
        around = {
            "__call__": _called_under_settings,
            "specialise": _staged_under_settings,
            "recall": _ignore_others,
            "of_relatives": _ignore_others,
        }
        _watches.extend(watch(name, replaced) for name, replaced in around.items())
        Array.__array_ufunc__ = _checked_array_ufunc  # type: ignore[assignment]
        Ufunc.__call__ = _checked_ufunc  # type: ignore[assignment, method-assign]
    if not wanted and _watches:
        while _watches:
            _watches.pop().close()
        del Array.__array_ufunc__, Ufunc.__call__


def _ignore_others(this: Any, find: Any, args: Any, kwargs: Any) -> None:
    """What another process has staged, or for another function, was not looked at."""


def _called_under_settings(
    this: Transformed, call: Callable[..., Any], args: Any, kwargs: Any
) -> Any:
    """A call that does not go the quick way to what was staged without the settings."""
    if this.last is not None and this.last not in _passed.get(settings.current_key, ()):
        this.begin()  # without its quick ways
    return call(*args, **kwargs)


def _staged_under_settings(
    this: Transformed, specialise: Callable[..., Any], args: Any, kwargs: Any
) -> Specialisation:
    """The specialisation for a call, staged anew unless that was done under the settings."""
    passed = _passed.setdefault(settings.current_key, WeakSet())
    this.renew()
    before = dict(this.cache)
    for key, specialisations in before.items():
        this.cache[key] = [each for each in specialisations if each in passed]
    try:
        specialisation: Specialisation = specialise(*args, **kwargs)
    finally:
        for key, specialisations in before.items():
            staged = this.cache.get(key, [])
            this.cache[key] = [*staged, *(each for each in specialisations if each not in staged)]
    passed.add(specialisation)
    return specialisation


def _checked_array_ufunc(
    self: Array, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
) -> Any:
    """A ufunc of arrays of `tapeless.numpy`, under the settings."""
    if method == "__call__" and ufunc.nin == 2:
        check(ufunc.__name__, inputs, ufunc is not np.matmul)
    result = getattr(ufunc, method)(*plain(inputs), **plain(kwargs))
    return kwargs["out"][0] if kwargs.get("out") else functional(result)


def _checked_ufunc(self: Ufunc, /, *args: Any, **kwargs: Any) -> Any:
    """A ufunc of `tapeless.numpy`, under the settings."""
    binary = getattr(self.run, "nin", 0) == 2
    if binary and not active() and not has_functional(args):
        check(self.__name__, args, self.run is not np.matmul)
    return Function.__call__(self, *args, **kwargs)
