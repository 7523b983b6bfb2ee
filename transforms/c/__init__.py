"""Prints whole programs in loop form as C99: kernels, and the function that calls them."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.c instead of {__name__}")
