"""What `jit` can be asked for."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Options:
    """What `jit` was asked for."""

    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    fastmath: bool | None = None
    boundscheck: bool = True
    parallel: bool = True
    donate_argnums: tuple[int, ...] = ()
