"""Imports SciPy, which is optional, and says so where it is missing."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.errors import UnsupportedError


def scipy_special(name: str) -> Any:
    """scipy.special, for the function of this name."""
    try:
        from scipy import special  # noqa: PLC0415 (optional)
    except ImportError as e:
        raise UnsupportedError(
            f"{name} needs SciPy, which is not installed", "pip install tapeless[scipy]"
        ) from e
    return special
