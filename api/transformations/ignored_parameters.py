"""Checks parameters of JAX that have no effect here: which values they may have, and why.

They are taken so that programs need not change. A value that would ask for something that is not
done is refused.
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.errors import ArgumentError

HINT = "a hint to XLA, which is not used"
LAYOUT = "arrays lie in one memory"
CORES = "there are the cores of this machine"
COPY = "nothing is copied"
#: {parameter: (the only values that it may have, or None for any; why)}
UNNEEDED: dict[str, tuple[tuple[Any, ...] | None, str]] = {
    "allow_int": (None, "integers have no derivative, and are refused: choose others by argnums"),
    "backend": ((None, "cpu"), CORES),
    "compiler_options": (None, HINT),
    "donate": (None, COPY),
    "donate_argnames": (None, "arguments are left alone; memory is used again by donate_argnums"),
    "inline": (None, HINT),
    "keep_unused": (None, "arguments that are not used cost nothing"),
    "may_alias": (None, COPY),
    "reduce_axes": (((), []), "JAX has given it up"),
    "spmd_axis_name": (None, LAYOUT),
    "src": (None, LAYOUT),
    "sum_match": ((False,), "types of values do not say over which axes they vary"),
}


def _is(value: Any, accepted: Any) -> bool:
    """Whether two values are one; arrays are none of those that are accepted."""
    return value is accepted or (type(value) is type(accepted) and bool(value == accepted))


def check_unneeded(function: str, **parameters: Any) -> None:
    """Refuses values that would ask for what is not done.

    >>> check_unneeded("jit", inline=True, backend="cpu")
    """
    for name, value in parameters.items():
        accepted, why = UNNEEDED[name]
        if accepted is not None and not any(_is(value, x) for x in accepted):
            raise ArgumentError(f"{function}: {name} is {value!r}: {why}", "leave it out")
