"""Compiles the entry of a function that is called often: machine code takes the arguments apart,
tests them, makes arrays, calls kernels and returns what the function returns. Other calls take the
Python entry (`python_entry.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.dispatch import guards as guarding
from tapeless.dispatch.memory_requirements import NO_REQUIREMENTS
from tapeless.dispatch.specialisation import NUMBERS, Specialisation
from tapeless.lazy_import import lazy_module

if TYPE_CHECKING:
    from tapeless.backends.cpu.driver import argument_forms, native_driver
else:
    native_driver, argument_forms = (
        lazy_module("tapeless.backends.cpu.driver.native_driver"),
        lazy_module("tapeless.backends.cpu.driver.argument_forms"),
    )


class _OtherError(Exception):
    """Arguments that machine code does not know."""


def native_entry(
    specialisation: Specialisation, args: tuple[Any, ...], missed: Any
) -> Callable[..., Any] | None:
    """A builtin function for calls like this one; None if there can be none."""
    other = (
        specialisation.captured
        or specialisation.memory is not NO_REQUIREMENTS
        or specialisation.keywords
        or specialisation.keys
    )
    relations = specialisation.relations()
    if other or not specialisation.is_plain or relations is None:
        return None
    index = {path: k for k, path in enumerate(tree.paths((args, {})))}
    try:
        parts = [_part(x, (0, k), index) for k, x in enumerate(args)]
        tests = [*_value_tests(specialisation), *relations]
    except _OtherError:
        return None
    guards = guarding.combine_guards(specialisation.guards)
    return native_driver.compile_driver(
        specialisation.run, specialisation.text, parts, tests, guards, missed
    )


def _part(x: Any, path: tuple[Any, ...], index: dict[Any, int]) -> Any:
    """What tells an argument from others: the same as `entry` tests."""
    kind = type(x)
    if path in index:
        return _leaf(x, index[path])
    if x is None:
        return None
    if kind in (list, tuple):
        return argument_forms.SequenceForm(
            kind, tuple(_part(y, (*path, k), index) for k, y in enumerate(x))
        )
    if kind is dict:
        parts = tuple(_part(y, (*path, k), index) for k, y in x.items())
        return argument_forms.DictForm(tuple(x), parts)
    raise _OtherError


def _leaf(x: Any, k: int) -> Any:
    kind = type(x)
    if kind in NUMBERS:
        return argument_forms.LeafForm(k, kind)
    if kind is np.ndarray:
        dtype = np.dtype(x.dtype.char)
        if dtype is x.dtype and x.dtype.kind in "biuf":
            return argument_forms.ArrayForm(k, dtype, tuple(None if n > 1 else n for n in x.shape))
    elif isinstance(x, (bool, np.bool_)):
        return argument_forms.LeafForm(k, None, x)
    raise _OtherError


def _value_tests(specialisation: Specialisation) -> Iterator[str]:
    """Tests of integers and lengths that the program knows."""
    for k, value in specialisation.static:
        if type(value) is not int:
            raise _OtherError
        yield f"int(a{k}) == {value}"
    yield from (f"s{k}[{axis}] == {n}" for k, axis, n in specialisation.axes)
