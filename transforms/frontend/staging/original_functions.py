"""Finds functions of the user as they were before they were rewritten: for calls at run time.

A function that is made in a staged run is rewritten, and keeps its variables on frames; one that
is called when the program runs needs its own code, and the values that its variables have now.
"""

from __future__ import annotations

import types
from typing import Any

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.heap.frames import Frame
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.hooks.hooks import Hooks
from tapeless.transforms.frontend.source.original_code import original_code
from tapeless.transforms.frontend.source.rewrite import known_codes
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import has_symbols


def plain_function(fun: Any) -> Any:
    """`fun` as Python runs it outside of a staged run; refuses what holds values of one."""
    owner = getattr(fun, "__self__", None)
    if isinstance(owner, (list, dict)):
        return getattr(_outer(owner, fun.__name__), fun.__name__)
    if isinstance(fun, types.MethodType):
        return types.MethodType(plain_function(fun.__func__), fun.__self__)
    if not isinstance(fun, types.FunctionType):
        return fun
    code = fun.__code__
    if code not in known_codes:
        _refuse_symbols(fun)
        return fun
    own = original_code(code)
    if own is None:
        raise UnsupportedError(
            f"{fun.__name__} is made in a function that is staged, and called when it runs",
            "define it outside of the function",
        )
    names = [_variable(fun, name) for name in own.co_freevars]
    function_made = types.FunctionType(
        own,
        fun.__globals__,
        fun.__name__,
        fun.__defaults__,
        tuple(types.CellType(value) for value in names),
    )
    function_made.__kwdefaults__ = fun.__kwdefaults__
    _refuse_symbols(function_made)
    return function_made


def _outer(value: Any, method: str) -> Any:
    """The list or dict from outside that a staged run works on a copy of."""
    for key, read in trace().reads.items():
        if key[0] == "container" and read[1] is value:
            return read[2]()
    raise UnsupportedError(
        f"{type(value).__name__.removeprefix('Staged').lower()}.{method} is called when the "
        "program runs, on what is made anew at each run",
        "make it outside of the function",
    )


def _variable(fun: types.FunctionType, name: str) -> Any:
    """The present value of a variable of the functions around a rewritten one."""
    contents = [cell.cell_contents for cell in fun.__closure__ or ()]
    for frame in contents:
        if isinstance(frame, Frame) and name in vars(frame):
            return _present(vars(frame)[name])
    for hooks in contents:
        if isinstance(hooks, Hooks) and name in hooks.closure:
            return hooks.closure[name].cell_contents
    raise UnsupportedError(
        f"{fun.__name__} reads '{name}', which cannot be found when it is called",
        "pass it as an argument",
    )


def _present(value: Any) -> Any:
    """What a variable holds, for code that runs later."""
    if isinstance(value, (list, dict)):
        for key, read in trace().reads.items():
            if key[0] == "container" and read[1] is value:
                return read[2]()
        if isinstance(value, StagedList) and not has_symbols(value):
            return list(value)
    return plain_function(value)


def _refuse_symbols(fun: types.FunctionType) -> None:
    """Refuses a function that holds on to values of the staged run."""
    names = fun.__code__.co_freevars
    cells = fun.__closure__ or ()
    for name, cell in zip(names, cells, strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # not set yet
            continue
        if has_symbols(value):
            raise UnsupportedError(
                f"{fun.__name__} is called when the program runs, and reads '{name}', which is "
                "known only there",
                f"pass {name} as an argument of the call",
            )
