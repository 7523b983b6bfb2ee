"""Provides the functions of jax.scipy.cluster."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.scipy.cluster instead of {__name__}")

from tapeless.scipy.cluster import vq

__all__ = ["vq"]
