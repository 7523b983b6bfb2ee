"""Provides the names of jax.experimental, and the mini-libraries of JAX's first releases.

>>> from tapeless.experimental import minmax, optimizers, stax
>>> len(minmax.sgd(0.1)), len(optimizers.sgd(0.1)), len(stax.Relu)
(2, 3, 2)
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.experimental instead of {__name__}")

from typing import Any

from tapeless.experimental import (
    checkify,
    jet,
    mesh_utils,
    minmax,
    ode,
    optimizers,
    shard_map,
    stax,
)
from tapeless.missing import missing
from tapeless.transformations.callbacks import io_callback


def __getattr__(name: str) -> Any:
    raise missing(__name__, name)


__all__ = [
    "checkify",
    "io_callback",
    "jet",
    "mesh_utils",
    "minmax",
    "ode",
    "optimizers",
    "shard_map",
    "stax",
]
