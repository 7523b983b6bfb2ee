"""Transforms core programs, and leads from source to core and back."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms instead of {__name__}")
