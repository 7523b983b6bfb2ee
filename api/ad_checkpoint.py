"""What JAX has in jax.ad_checkpoint."""

from typing import Any

from tapeless import checkpoint_policies
from tapeless.missing import missing as _missing
from tapeless.transformations.public_functions import checkpoint as checkpoint
from tapeless.transformations.public_functions import remat as remat


def checkpoint_name(x: Any, name: str) -> Any:
    """The value itself: policies do not choose what is saved by names.

    >>> checkpoint_name(2.0, "scale")
    2.0
    """
    return x


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)


__all__ = ["checkpoint", "checkpoint_name", "checkpoint_policies", "remat"]
