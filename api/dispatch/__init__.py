"""Finds or compiles the specialisation that a call needs."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.dispatch instead of {__name__}")
