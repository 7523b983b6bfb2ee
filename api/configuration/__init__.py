"""Holds the options of the package, and what they instrument."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.configuration instead of {__name__}")
