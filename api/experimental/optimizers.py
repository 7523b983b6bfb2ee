"""Provides the names of `tapeless.optimizers`, as in `jax.experimental` of the first releases of
JAX.
"""

from tapeless.optimizers import *  # noqa: F403 (all that it exports)
from tapeless.optimizers import __all__ as __all__
