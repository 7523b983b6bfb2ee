"""Provides what compiled code needs when it runs: buffers, threads, linked libraries."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.backends.cpu.runtime instead of {__name__}")
