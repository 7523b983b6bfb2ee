"""Adds checks of run-time values to core programs."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.checks instead of {__name__}")
