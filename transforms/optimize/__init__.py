"""Rewrites core programs into smaller ones: common subexpressions, dead code, outlining."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.optimize instead of {__name__}")
