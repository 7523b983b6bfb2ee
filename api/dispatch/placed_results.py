"""Checks arguments against the `in_shardings` of `jit`, and gives results their `out_shardings`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.dispatch.jit_options import Options
from tapeless.staging.argument_checks import plural
from tapeless.staging.device_placement import as_sharding, laid_out, spread_shardings
from tapeless.staging.emitted_names import base_name
from tapeless.staging.jax_arrays import Array
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transforms.core.builder import active
from tapeless.transforms.errors import ArgumentError


class PlacedJit(Jit):
    """A compiled function whose arguments and results have shardings.

    in_shardings   for each positional argument a sharding, a tree of them, or None; or one for all
    out_shardings  one for the result, or a tree of them

    >>> from tapeless import NamedSharding, P, make_mesh
    >>> rows = NamedSharding(make_mesh((2,), ("rows",)), P("rows"))
    >>> PlacedJit(lambda x: x + 1, None, None, rows)(np.zeros(4)).sharding == rows
    True
    """

    def __init__(
        self, fun: Callable[..., Any], options: Options | None, arguments: Any, results: Any
    ) -> None:
        super().__init__(fun, options)
        self.in_shardings, self.out_shardings = arguments, results

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if active():
            return super().__call__(*args, **kwargs)
        for x, place in zip(tree.leaves(args), self.places(args), strict=True):
            _check(x, place, base_name(self.fun))
        value = super().__call__(*args, **kwargs)
        leaves, structure = tree.flatten(value)
        places = spread_shardings(self.out_shardings, value, "jit: out_shardings")
        return tree.unflatten(structure, [*map(_place_result, leaves, places)])

    def places(self, args: tuple[Any, ...]) -> list[Any]:
        """A sharding or None for each leaf of the positional arguments."""
        shardings = self.in_shardings
        if not isinstance(shardings, (tuple, list)):
            return spread_shardings(shardings, args, "jit: in_shardings")
        if len(shardings) != len(args):
            raise ArgumentError(
                f"jit: in_shardings is for {plural(len(shardings), 'positional argument')}, and "
                f"{base_name(self.fun)} is called with {len(args)}",
                "give a sharding or None for each",
            )
        pairs = zip(shardings, args, strict=True)
        return [p for g, x in pairs for p in spread_shardings(g, x, "jit: in_shardings")]


def _check(x: Any, place: Any, name: str) -> None:
    """Refuses what cannot be cut like this, and what `device_put` has laid out in another way."""
    if place is None:
        return
    sharding = as_sharding(place, "jit: in_shardings")
    sharding.check(np.shape(x), f"jit of {name}")
    if isinstance(x, Array) and x.committed and not x.sharding.is_equivalent_to(sharding, x.ndim):
        raise ArgumentError(
            f"jit: in_shardings has {sharding!r}, and {name} is given an array with {x.sharding!r}",
            "device_put(x, sharding) gives it that of in_shardings",
        )


def _place_result(x: Any, place: Any) -> Any:
    if place is None:
        return x
    return laid_out(np.asarray(x), as_sharding(place, "jit: out_shardings"), "jit")
