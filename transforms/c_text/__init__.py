"""Prints functions in loop form as text of C: what CUDA C and C99 have in common."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.c_text instead of {__name__}")
