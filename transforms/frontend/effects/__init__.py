"""Stages effects and errors: printing, exceptions, calls of foreign functions."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.frontend.effects instead of {__name__}")
