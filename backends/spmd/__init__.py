"""Runs the shards of a mapped axis: in threads of this process, and in the processes of a job."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.backends.spmd instead of {__name__}")
