"""Sizes that are computed from others, and happen to be one."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.errors import ShapeError


def second_half(w, x):
    return x[:, x.shape[-1] // 2 :] @ w


def total(w, x):
    return np.sum(second_half(w, x) ** 2)


@pytest.mark.parametrize("columns", [2, 4])
@pytest.mark.parametrize("change", [lambda f: f, jit], ids=["plain", "jit"])
def test_a_part_is_multiplied_with_a_matrix(columns, change):
    x, w = np.arange(4.0 * columns).reshape(4, columns), np.ones((columns // 2, 3))
    np.testing.assert_allclose(change(second_half)(w, x), second_half(w, x))
    batch = change(vmap(second_half, (None, 0)))(w, np.stack([x, -x]))
    np.testing.assert_allclose(batch[1], second_half(w, -x))
    w_bar, x_bar = change(grad(total, (0, 1)))(w, x)
    part, slope = x[:, columns // 2 :], 2 * second_half(w, x)
    np.testing.assert_allclose(w_bar, part.T @ slope)
    np.testing.assert_allclose(x_bar, np.hstack([np.zeros_like(part), slope @ w.T]))


def test_a_part_that_does_not_fit():
    with pytest.raises(ShapeError, match="do not fit"):
        jit(second_half)(np.ones((1, 3)), np.ones((4, 6)))
