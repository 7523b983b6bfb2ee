"""The names of `tapeless.optimizers`."""

from tapeless.optimizers import *  # noqa: F403 (all that it exports)
from tapeless.optimizers import __all__ as __all__
