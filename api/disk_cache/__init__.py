"""Caches emitted code on disk by function and signature, so that other processes need not stage
it."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.disk_cache instead of {__name__}")
