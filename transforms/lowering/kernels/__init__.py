"""Writes the text of kernels: loops over scalars."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.lowering.kernels instead of {__name__}")
