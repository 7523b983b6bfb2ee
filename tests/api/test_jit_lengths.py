"""Lengths that are one in some calls only, or found by a side of a test."""

import numpy as np

from tapeless import grad, jit, vmap


def test_axes_of_length_one_are_squeezed_out_in_those_calls():
    squeezed = jit(lambda x: (np.squeeze(x[::2]), x[::2].squeeze().ndim))
    for n in (9, 2, 10, 1, 2):
        got, rank = squeezed(np.arange(float(n)))
        want = np.squeeze(np.arange(float(n))[::2])
        np.testing.assert_array_equal(got, want)
        assert rank == want.ndim == np.ndim(got)


def test_a_length_that_a_branch_of_a_batch_finds():
    def f(x, n, k):
        a = np.sin(x[0])
        if n > 1:
            filled = []
            for t in range(k[1]):
                if a > 0.2:
                    a = a * x[k[t % 4]]
                filled.append(a / (1.0 + abs(x[1])))
            a = a + np.sum(np.array(filled))
        else:
            a = a * a
        return a * a

    x, n, k = np.random.default_rng(0).random((5, 4)), np.array([0, 1, 2, 3, 0]), [1, 3, 2, 0]
    want = [grad(f)(x[i], n[i], np.array(k)) for i in range(5)]
    got = jit(vmap(grad(f), in_axes=(0, 0, None)))(x, n, np.array(k))
    np.testing.assert_allclose(got, want, rtol=1e-13)
