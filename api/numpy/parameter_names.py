"""Maps parameters that have other names, places or neutral values in JAX than in NumPy."""

from __future__ import annotations

from typing import Any

#: JAX's parameters of functions of jax.numpy: first those that NumPy takes by place.
PARAMETERS = {
    "concatenate": "arrays / axis dtype",
    "empty_like": "prototype / dtype shape",
    "fmax": "x1 x2 /",
    "fmin": "x1 x2 /",
    "full_like": "a fill_value / dtype shape",
    "gcd": "x1 x2 /",
    "histogram2d": "x y / bins range weights density",
    "histogramdd": "sample / bins range weights density",
    "lcm": "x1 x2 /",
    "ones_like": "a / dtype shape",
    "packbits": "a / axis bitorder",
    "reshape": "a shape / order copy",
    "stack": "arrays / axis out dtype",
    "trunc": "x /",
    "unpackbits": "a / axis count bitorder",
    "unwrap": "p / discont axis period",
    "zeros_like": "a / dtype shape",
}
#: Keywords of which None says that nothing is given, where NumPy has another value for that.
UNGIVEN = frozenset(
    ["append", "correction", "edge_order", "initial", "keepdims", "mean", "out", "prepend", "where"]
)


def place_arguments(
    parameters: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments as NumPy takes them, of a call that is written as JAX takes them.

    >>> place_arguments("a / dtype shape", ("x", float, (2,)), {})
    (['x'], {'dtype': <class 'float'>, 'shape': (2,)})
    """
    first, _, rest = parameters.partition("/")
    names = [*first.split(), *rest.split()]
    if not names or len(args) > len(names):  # too many: NumPy says so
        return list(args), kwargs
    named = dict(zip(names, args, strict=False))
    for name in names[: len(args)]:
        if name in kwargs:
            raise TypeError(f"multiple values for argument {name!r}")
    named |= kwargs
    by_place = [named.pop(name) for name in first.split() if name in named]
    return by_place, named


def given_keywords(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords that say something.

    >>> given_keywords({"where": None, "axis": None})
    {'axis': None}
    """
    return {k: v for k, v in kwargs.items() if v is not None or k not in UNGIVEN}
