"""Implements convolutions, pooling and what else slides windows over arrays."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.lax.sliding_windows instead of {__name__}")
