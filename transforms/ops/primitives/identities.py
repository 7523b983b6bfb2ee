"""Defines operations whose result equals their argument: copies of a name, and marks on a value."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.builder import static
from tapeless.transforms.core.language import Atom, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import NotDifferentiableError
from tapeless.transforms.ops.primitives.batch_rules import batch_elementwise
from tapeless.transforms.ops.primitives.shapes import linear


def _same_cotangent(ct: Atom, args: Any, used: Any, params: Any) -> tuple[Atom]:
    return (ct,)


#: Its argument under another name; `simplify` removes it.
identity = linear(
    "identity",
    lambda x: x.type,
    "{0}",
    _same_cotangent,
    simplify=lambda args, params: args[0],
    view=True,
    batch=batch_elementwise,
    speculative=True,
)
#: Its argument, made to look like a new value, so that what is computed from it is computed again.
again = linear(
    "again",
    lambda x: x.type,
    "{0}",
    _same_cotangent,
    view=True,
    batch=batch_elementwise,
    speculative=True,
)


def _of_number(primals: Any, tangents: Any, outs: Any, params: Any) -> tuple[None]:
    if tangents[0] is not None:
        raise NotDifferentiableError(
            f"{params['reader']}: what Python or a library computes from it has no derivative",
            "use a function of NumPy or math that has a rule (docs/numpy.md), or read "
            "tapeless.lax.stop_gradient of it",
        )
    return (None,)


#: Its argument as a number of Python's, of which nobody knows what becomes of it: it stays
#: until nothing is differentiated any more.
python_number = Op(
    "python_number",
    lambda x, *, reader: x.type,
    "{0}",
    _of_number,
    batch=batch_elementwise,
    speculative=True,
)


def known_number(value: Any, why: str) -> Any:
    """The Python value of a number that decides what is computed, in which there is then no
    derivative."""
    if isinstance(value, Var) and value.type.dtype.kind in "fc" and not value.type.shape:
        value = python_number(value, reader=why)
    return static(value, why)


#: Its argument, without a derivative: it stays until nothing is differentiated any more.
stopped = Op("stop_gradient", lambda x: x.type, "{0}", batch=batch_elementwise, speculative=True)
