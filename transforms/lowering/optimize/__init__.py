"""Optimises loop form: rematerialisation, buffer reuse, reassociation."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.lowering.optimize instead of {__name__}")
