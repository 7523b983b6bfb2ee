"""Defines special functions and their derivatives."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.ops.special instead of {__name__}")
