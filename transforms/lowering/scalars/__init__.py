"""Spells operations on the scalars of a loop body."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.lowering.scalars instead of {__name__}")
