"""Decides which statements share loops, in which order and on which axes."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.lowering.schedule instead of {__name__}")
