"""Differentiates core programs: forward mode, linearisation and transposition."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.autodiff instead of {__name__}")
