"""Defines the core language, its sizes, checker and printer."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.core instead of {__name__}")
