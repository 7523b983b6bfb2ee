"""Four processes as a mesh of two by two: each axis has processes of its own."""

import sys

import numpy as np

import tapeless
from tapeless import distributed, pmap
from tapeless.lax import axis_index, axis_size, psum

try:
    distributed.initialize(mesh={"data": 3})
except ValueError as e:
    assert "the mesh {'data': 3} has 3 processes, and there are 4" in str(e)  # noqa: PT017
distributed.initialize(mesh={"data": 2, "model": 2})
rank = tapeless.process_index()
place = distributed.mesh_position()
assert place == {"data": rank // 2, "model": rank % 2}


def total(axis):
    f = pmap(lambda v: (psum(v, axis), axis_index(axis), axis_size(axis)), axis_name=axis)
    sums, index, size = f(np.array([1.0, 2.0]) * 10**rank)
    assert list(index) == [2 * place.get(axis, 0), 2 * place.get(axis, 0) + 1]
    return sums[0], size[0]


assert total("data") == (3 * (1 + 100) * (1 if rank % 2 == 0 else 10), 4)
assert total("model") == (3 * 11 * (1 if rank < 2 else 100), 4)
assert total("own") == (3 * 10**rank, 2)
sys.stdout.write(f"fine {rank}\n")
