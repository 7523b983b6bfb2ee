"""Runs calls without a program of their own: for each element of a batch that is too large for one,
or as they are.

The elements take ways of their own (`elements_one_by_one.py`), and each call finds its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from tapeless import tree
from tapeless.dispatch.memory_requirements import NO_REQUIREMENTS
from tapeless.dispatch.specialisation import MISSED, Specialisation
from tapeless.transformations.mapping.elements_one_by_one import join_elements
from tapeless.transformations.mapping.vmap_axes import output_axis
from tapeless.transforms.errors import ManyElementsError


class ElementCalls(Specialisation):
    """Stands where an emitted function would: calls another one for each element.

    call  what is called with the arguments for the whole batch
    why   why there is no program
    slow  the report of it
    """

    has_code = False

    def __init__(
        self,
        call: Callable[[tuple[Any, ...], dict[str, Any]], Any],
        why: ManyElementsError,
        slow: tuple[tuple[str, str, int], ...],
    ) -> None:
        self.call, self.why, self.slow = call, why, slow
        self.enter, self.prints, self.draws = no_quick_way, False, False
        self.static, self.axes, self.guards = [], [], []
        self.captured, self.memory = [], NO_REQUIREMENTS
        self.sizes: Any = ()
        self.is_plain = self.takes_args = False

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.call(args, kwargs)

    def unmet_relations(self, leaves: Any, names: Any) -> Iterator[Any]:
        return iter(())

    def refuse(self) -> NoReturn:
        raise self.why

    staged = simplified = text = property(refuse)


class PlainCalls(ElementCalls):
    """Stands for a traced program that is of no use: calls the function as Python runs it."""

    traced = fully_traced = True


def no_quick_way(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Arguments are looked at anew in each call."""
    return MISSED


def called_by_element(
    fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any], axes: list[Any], n: int, out_axes: Any
) -> Any:
    """The results of calls for the elements of a batch, outside of a staged run."""
    leaves, structure = tree.flatten((args, kwargs))
    values = []
    for k in range(n):
        own = [_own(x, axis, k) for x, axis in zip(leaves, axes, strict=True)]
        own_args, own_kwargs = tree.unflatten(structure, own)
        values.append(fun(*own_args, **own_kwargs))
    return join_elements(values, out_axes, _stack)


def _own(x: Any, axis: Any, k: int) -> Any:
    """A leaf of the arguments for one element, which may overwrite it."""
    if axis is None:
        return x.copy() if isinstance(x, np.ndarray) else x
    part = np.asarray(x)[(slice(None),) * axis + (k,)]
    return part.copy() if isinstance(part, np.ndarray) else part


def _stack(values: list[Any], axis: Any) -> Any:
    return np.stack(values, output_axis(axis, np.ndim(values[0])))
