"""Provides the names of `tapeless.optimizers` where JAX has them, in `jax.example_libraries`."""

from tapeless.optimizers import *  # noqa: F403 (all that it exports)
from tapeless.optimizers import __all__ as __all__
