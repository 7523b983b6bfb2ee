"""Lowers core programs to compiled loops: fused nests, and the driver that calls them."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.lowering instead of {__name__}")
