"""Represents arrays and scalars while staging."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.frontend.arrays instead of {__name__}")
