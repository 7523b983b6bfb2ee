"""Defines primitive operations: type rule, derivative, batching rule and spelling of each."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.ops.primitives instead of {__name__}")
