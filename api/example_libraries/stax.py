"""Provides the names of `tapeless.stax` where JAX has them, in `jax.example_libraries`."""

from tapeless.stax import *  # noqa: F403 (all that it exports)
from tapeless.stax import __all__ as __all__
