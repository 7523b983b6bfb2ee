"""JAX with 64-bit numbers, where it is installed, to compare libraries of the same names with."""

import pytest


def jax_or_skip():
    """The module jax."""
    jax = pytest.importorskip("jax", reason="compares with JAX, which is not installed")
    jax.config.update("jax_enable_x64", True)
    return jax
