"""Stages branches, loops, comprehensions and recursion."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.frontend.control_flow instead of {__name__}")
