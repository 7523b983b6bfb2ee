"""Implements the command line."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.tools instead of {__name__}")
