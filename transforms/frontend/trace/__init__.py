"""Records the operations of a staged run."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.frontend.trace instead of {__name__}")
