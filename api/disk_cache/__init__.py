"""What was emitted for a function and a signature, found again by other processes, which need not
stage it."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.disk_cache instead of {__name__}")
