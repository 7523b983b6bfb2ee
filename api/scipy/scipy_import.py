"""Imports SciPy, which is optional, and says so where it is missing."""

from __future__ import annotations

import importlib
from typing import Any

from tapeless.transforms.errors import UnsupportedError


def scipy_special(name: str) -> Any:
    """scipy.special, for the function of this name."""
    return _part_of_scipy("special", name)


def scipy_linalg(name: str) -> Any:
    """scipy.linalg, for the function of this name."""
    return _part_of_scipy("linalg", name)


def _part_of_scipy(part: str, name: str) -> Any:
    try:
        return importlib.import_module(f"scipy.{part}")
    except ImportError as e:
        raise UnsupportedError(
            f"{name} needs SciPy, which is not installed", "pip install tapeless[scipy]"
        ) from e
