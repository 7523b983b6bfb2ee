"""Provides the segment reductions of jax.ops: sums, products and extrema of groups of rows.

>>> import numpy as np
>>> from tapeless import ops
>>> ops.segment_sum(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), num_segments=3)
array([3., 4., 0.])
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.ops instead of {__name__}")

from tapeless.numpy.array_functions import following
from tapeless.ops import segments
from tapeless.ops.segments import segment_max, segment_min, segment_prod, segment_sum

globals().update(
    following(segments, "segment_max segment_min segment_prod segment_sum", "out_sharding")
)
__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]
