"""A machine with a GPU that is made of Python functions."""

from tests.backends.cuda.conftest import driver

__all__ = ["driver"]
