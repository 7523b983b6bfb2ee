"""The names of `tapeless.stax`."""

from tapeless.stax import *  # noqa: F403 (all that it exports)
from tapeless.stax import __all__ as __all__
