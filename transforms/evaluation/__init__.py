"""Values of a staged program in the call at hand, for code that is traced on them."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.evaluation instead of {__name__}")
