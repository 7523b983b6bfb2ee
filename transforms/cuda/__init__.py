"""Prints kernels in loop form as CUDA C, and the Python module around them."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.cuda instead of {__name__}")
