"""Defines discrete Fourier, cosine and sine transforms."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.ops.fourier instead of {__name__}")
