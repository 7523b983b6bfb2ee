"""Turns emitted source into callables."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.backends instead of {__name__}")
