"""Represents typed values of LLVM code under construction."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.backends.cpu.llvm.ir instead of {__name__}")
