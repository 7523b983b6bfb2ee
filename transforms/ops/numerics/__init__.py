"""Defines numerical integration, differences, polynomials and statistics."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.ops.numerics instead of {__name__}")
