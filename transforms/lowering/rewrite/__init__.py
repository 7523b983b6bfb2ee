"""Rewrites operations into forms that can be fused into loop nests."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.lowering.rewrite instead of {__name__}")
