"""Finds the scalar forms of statements in a loop body, and those of reductions."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.lowering.scalars instead of {__name__}")
