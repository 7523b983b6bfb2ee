"""Shards of a mapped axis: threads of this process, and processes of this job."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.backends.spmd instead of {__name__}")
