"""Implements the hooks that rewritten source calls."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.frontend.hooks instead of {__name__}")
