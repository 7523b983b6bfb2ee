"""Lengths of parts that are one in some calls only."""

import numpy as np

from tapeless import jit


def test_axes_of_length_one_are_squeezed_out_in_those_calls():
    squeezed = jit(lambda x: (np.squeeze(x[::2]), x[::2].squeeze().ndim))
    for n in (9, 2, 10, 1, 2):
        got, rank = squeezed(np.arange(float(n)))
        want = np.squeeze(np.arange(float(n))[::2])
        np.testing.assert_array_equal(got, want)
        assert rank == want.ndim == np.ndim(got)
