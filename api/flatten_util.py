"""Provides `ravel_pytree` where JAX has it, in jax.flatten_util."""

from tapeless.transformations.ravel import ravel_pytree as ravel_pytree

__all__ = ["ravel_pytree"]
