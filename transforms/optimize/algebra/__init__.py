"""Rewrites expressions by the rules of algebra, one rule a function."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.optimize.algebra instead of {__name__}")
