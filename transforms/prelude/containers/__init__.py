"""Implements containers whose contents depend on run-time values, in plain staged code."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.prelude.containers instead of {__name__}")
