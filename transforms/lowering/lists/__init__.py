"""Lowers lists to arrays and lengths."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.lowering.lists instead of {__name__}")
