"""Runs rewritten functions on symbols until their signature is settled."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.frontend.staging instead of {__name__}")
