"""Connects public functions with staged runs."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.staging instead of {__name__}")
