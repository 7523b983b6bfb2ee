"""Provides `shard_map` with the arguments that it had in jax.experimental."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tapeless import sharding


def shard_map(
    f: Callable[..., Any],
    mesh: sharding.Mesh,
    in_specs: Any,
    out_specs: Any,
    check_rep: bool = True,
    auto: Iterable[str] = (),
) -> Any:
    """The same as `tapeless.shard_map`.

    check_rep  what is called check_vma there
    auto       axes of the mesh that are not used

    >>> import numpy as np
    >>> mesh = sharding.make_mesh((2,), ("rows",))
    >>> f = shard_map(lambda x: 2 * x, mesh, sharding.P("rows"), sharding.P("rows"))
    >>> f(np.arange(4.0))
    array([0., 2., 4., 6.])
    """
    names = [name for name in mesh.axis_names if name not in set(auto)]
    return sharding.shard_map(
        f,
        mesh=mesh,
        in_specs=in_specs,
        out_specs=out_specs,
        axis_names=names,
        check_vma=check_rep,
    )


__all__ = ["shard_map"]
