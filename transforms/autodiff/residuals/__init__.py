"""Decides for each value of loops and branches that the backward part reads whether it is saved or
computed again.
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.autodiff.residuals instead of {__name__}")
