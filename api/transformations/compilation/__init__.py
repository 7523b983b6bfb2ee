"""Implements jit, for processors, GPUs and as C, and compilation ahead of time."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transformations.compilation instead of {__name__}")
