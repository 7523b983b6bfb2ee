"""Distributes loops around products, so that one product of matrices is made for all passes."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.lowering.distribution instead of {__name__}")
