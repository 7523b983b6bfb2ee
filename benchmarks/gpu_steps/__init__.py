"""The steps of benchmarks/gpu.py: each measures one thing on a GPU and yields records."""
