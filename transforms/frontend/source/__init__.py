"""Finds, parses and rewrites the source of functions."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.frontend.source instead of {__name__}")
