"""Names of jax.checkpoint_policies: hints about what `checkpoint` may save.

A policy changes no values. `everything_saveable` leaves the choice to the minimum cut that decides
where there is no checkpoint; under all others the arguments are saved, and the rest is computed
again.
"""

from __future__ import annotations

from typing import Any

from tapeless.missing import missing as _missing


class Policy:
    """A hint about what may be saved.

    >>> import numpy as np
    >>> from tapeless import checkpoint, checkpoint_policies, grad
    >>> f = checkpoint(np.sin, policy=checkpoint_policies.nothing_saveable)
    >>> print(grad(f)(0.0))
    1.0
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, /, *args: Any, **params: Any) -> bool:
        return self is everything_saveable

    def __repr__(self) -> str:
        return f"<policy {self.__name__}>"


everything_saveable = Policy("everything_saveable")
nothing_saveable = Policy("nothing_saveable")
checkpoint_dots = dots_saveable = Policy("dots_saveable")
checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable = Policy(
    "dots_with_no_batch_dims_saveable"
)


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)
