"""`ravel_pytree`, where JAX has it."""

from tapeless.transformations.ravel import ravel_pytree as ravel_pytree

__all__ = ["ravel_pytree"]
