"""Compares functions with NumPy and SciPy: inputs, calls, outcomes, and what they add up to."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.tools.comparing instead of {__name__}")
