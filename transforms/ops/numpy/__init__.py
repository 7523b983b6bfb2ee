"""Expresses functions of NumPy by primitive operations."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.ops.numpy instead of {__name__}")
