"""Residuals: what the backward part reads of loops and branches is saved, or computed again."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.autodiff.residuals instead of {__name__}")
