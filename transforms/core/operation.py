"""Defines operations: type rule, derivative, transpose and spelling, all in one place."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Literal

from tapeless.transforms.core.language import Atom
from tapeless.transforms.core.scalar_form import ScalarForm
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import InternalError


class Opened(threading.local):
    """What records operations now; each call of a function asks whether anything does."""

    builder: Any = None


opened = Opened()


def recorder() -> Any:
    builder = opened.builder
    if builder is None:
        raise InternalError("an operation was recorded outside a staged run")
    return builder


def types_given(*args: Atom, **params: Any) -> Any:
    """The `infer` of operations whose results get their types where they are recorded."""
    raise InternalError("the types of these results are given where they are recorded")


@dataclass(eq=False)
class Op:
    """One operation. Calling it on atoms records a statement in the open block.

    name       its name in printed programs
    infer      (*args, **params) -> Type or tuple of Types of the results; `types_given` if they
               are given where the operation is recorded
    source     Python text with {0}, {1} for arguments and {name} for params, or a function that
               makes it
    jvp        (primals, tangents, outs, params) -> tangents of the results (None: zero)
    transpose  (cotangent(s), args, linear, params) -> a cotangent for each argument, None where it
               is not linear; gets one cotangent, or a tuple of them if there are several results
    accumulate (total, cotangent, args, params) -> total + the cotangent of argument 0: for parts
               of arrays
    view       NumPy returns a view of argument 0
    put        (base, new, rest, params) -> the base after the view was overwritten by `new`
    inplace    argument 0 is overwritten by the emitted statement
    costly     takes longer than reading a saved value
    moves      the result has the elements of argument 0, in other places: to move them again takes
               no longer than to save them
    simplify   (args, params) -> an atom that equals the result, or None
    batch      (op, args, axes, params) -> (result, axis), or (results, axes) if there are several,
               for arguments with one more axis: at axes[k], None for an argument as it was;
               None: the elements of the batch are taken one by one
    elementwise  each element of the result is computed from those of the operands, which broadcast
    ufunc      the ufunc that it is, of an elementwise one
    pure       a call can be left out, and calls with the same operands are one; else it has effects
    scalar     how compiled code computes one element; None: it is not fused into loops
    of_sizes   what it computes of axis lengths; gives None where it has no value
    finite     where an elementwise one is finite: wherever its operands are ("always"), or where
               they are and argument 0 is positive ("positive")
    speculative  it neither raises nor warns, and its derivatives are finite, whatever the operands:
               it may be computed where the program would not
    running    of a scan: the operation on two elements whose running results it gives
    parts      (*args, **params) -> the same by simpler operations, which share loops in kernels
    of_results  its params whose sizes are those of the results: it does not read them
    math_errors  Python's function raises ValueError or OverflowError, of which no test is known
    word       what emitted code calls a result that nothing else names; "": as the operation
    """

    name: str
    infer: Callable[..., Any]
    source: Any = None
    jvp: Callable[..., Any] | None = None
    transpose: Callable[..., Any] | None = None
    accumulate: Callable[..., Any] | None = None
    view: bool = False
    put: Callable[..., Any] | None = None
    inplace: bool = False
    costly: bool = False
    moves: bool = False
    simplify: Callable[..., Any] | None = None
    batch: Callable[..., Any] | None = None
    elementwise: bool = False
    ufunc: Any = None
    scalar: ScalarForm | None = None
    pure: bool = True
    of_sizes: Callable[..., Any] | None = None
    finite: Literal["", "always", "positive"] = ""
    speculative: bool = False
    running: Op | None = None
    parts: Callable[..., Any] | None = None
    of_results: tuple[str, ...] = ()
    math_errors: bool = False
    word: str = ""

    def __call__(self, *args: Any, **params: Any) -> Any:
        outs = self.bind(*args, **params)
        return outs[0] if len(outs) == 1 else outs

    def bind(self, *args: Any, **params: Any) -> tuple[Atom, ...]:
        results: tuple[Atom, ...] = recorder().bind(self, args, params)
        return results

    def __repr__(self) -> str:
        return f"<op {self.name}>"
