"""Hands calls of compiled functions over to a thread, and returns at once."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless instead of {__name__}")
