"""Checks words that say how a function of NumPy works: modes, orders, kinds."""

from __future__ import annotations

from typing import Any

MODES = ("clip", "raise", "wrap")
ORDERS = ("C", "F", "A", "K")


def require_word(word: Any, words: tuple[str, ...], name: str) -> None:
    """Raises NumPy's ValueError unless a word is one of those that an argument may be."""
    if word not in words:
        first = ", ".join(f"'{w}'" for w in words[:-1])
        raise ValueError(f"{name} must be one of {first}, or '{words[-1]}' (got {word!r})")
