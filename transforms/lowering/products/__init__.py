"""Rewrites products of matrices: which of them are computed, in which order, and of what."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.lowering.products instead of {__name__}")
