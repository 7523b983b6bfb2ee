"""Implements mathematical functions in LLVM code."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.backends.cpu.llvm.math instead of {__name__}")
