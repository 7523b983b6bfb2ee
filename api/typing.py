"""Provides types for annotations under the names of jax.typing: NumPy's."""

from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import DTypeLike as DTypeLike

__all__ = ["ArrayLike", "DTypeLike"]
