"""Provides the rotations of jax.scipy.spatial."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.scipy.spatial instead of {__name__}")

from tapeless.scipy.spatial import transform

__all__ = ["transform"]
