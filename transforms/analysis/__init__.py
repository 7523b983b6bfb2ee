"""Computes facts about core programs: activity, free variables, minimum cuts, zero masks."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.analysis instead of {__name__}")
