"""Implements Python's builtin functions and containers on symbols."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.frontend.builtins instead of {__name__}")
