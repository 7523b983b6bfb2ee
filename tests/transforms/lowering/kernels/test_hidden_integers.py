"""Integers that one kernel computes for itself, in tests of another."""

import heapq

import numpy as np

from tapeless import jit, vmap


def test_heaps_beside_sorted_elements():
    def f(x):
        heap = list(x)
        heapq.heapify(heap)
        return heap[0] + sorted(x, key=lambda v: -v)[0]

    xs = np.array([[0.5, 1.5, 2.5, 0.1], [0.4, 0.3, 0.2, 0.6]])
    np.testing.assert_allclose(jit(vmap(f))(xs), [2.6, 0.8])
