"""Arrays whose lengths run-time values decide meet: one element is as many as there are of others,
as NumPy has it, from the first call on in which that is so."""

import numpy as np
import pytest

from tapeless import grad, hessian, jit, jvp, linearize, vjp, vmap
from tests.transforms.staging import close_to, slope

U, W = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])


def stored(u, w):
    y = u[u > 2.5] * w[w > 4.5]
    y[0] = y[1] * 2
    return np.sum(y * u[: len(y)])


def in_place(u, w):
    a = w[w > 4.5]
    a += u[u > 2.5]
    return np.sum(a * a)


def in_a_loop(u, w):
    total = 0.0
    for k in range(2):
        total = total + np.sum(u[u > k + 1.5] * w[w > 4.5])
    return total


def of_a_list(u, w):
    items, k = [], 0
    while k < u[0]:
        items.append(u[k] * 2)
        k += 1
    return np.sum(np.array(items) * w)


def of_two_axes(u, w):
    a, b = u[u > 2.5], w[w > 4.5]
    return np.sum(a[:, None] * b * w[w > 5.5])


PROGRAMS = {
    "masks": lambda u, w: np.sum(u[u > 2.5] * w[w > 4.5]),
    "three masks": lambda u, w: np.sum(
        np.maximum(u[u > 2.5], w[w > 4.5]) + w[w > 3.5][:2] * u[u > 2.6]
    ),
    "an argument": lambda u, w: np.sum(u[u > 2.5] - w),
    "where": lambda u, w: np.sum(np.where(w[w > 4.5] > 5.5, u[u > 2.5], 0.0)),
    "clip": lambda u, w: np.sum(np.clip(w[w > 4.5] * u[0], u[u > 2.5], 5.5)),
    "outer": lambda u, w: np.sum(np.add.outer(u[u > 2.5], w[w > 4.5]) * w[w > 5.5]),
    "columns": lambda u, w: np.sum(np.outer(u, u)[:, u > 2.5] * np.outer(w, u)[:, w > 4.5]),
    "a slice": lambda u, w: np.sum(u[: np.argmax(u) - 1] * w),
    "joined": lambda u, w: np.std(np.concatenate([u[u > 2.5] * w[w > 4.5], w])),
    "two axes": of_two_axes,
    "stored": stored,
    "in place": in_place,
    "in a loop": in_a_loop,
    "of a list": of_a_list,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_element_is_stretched(name):
    f = PROGRAMS[name]
    expected, slopes = f(U, W), slope(lambda u: f(u, W), U - 1e-3)
    for form in (lambda f: f, jit):
        close_to(form(grad(f))(U - 1e-3, W), slopes, 1e-6)
    compiled = jit(f)
    close_to(compiled(U, W), expected)
    close_to(compiled(U, W), expected)
    _, tangent = jvp(f, (U - 1e-3, W), (U, W * 0))
    close_to(tangent, slopes @ U, 1e-6)


@pytest.mark.usefixtures("traced")
def test_in_all_transformations():
    f = PROGRAMS["masks"]
    value, pullback = vjp(f, U, W)
    close_to(value, f(U, W))
    close_to(pullback(1.0)[0], [0, 0, 11])
    close_to(linearize(f, U, W)[1](U, W), 66)
    close_to(hessian(lambda u: f(u, W) ** 2)(U), 2 * np.outer([0, 0, 11], [0, 0, 11]))
    batch = np.stack([U, U + 1])
    close_to(vmap(f, in_axes=(0, None))(batch, W), [f(u, W) for u in batch])
    close_to(
        grad(lambda u: np.sum(vmap(f, in_axes=(0, None))(u, W)))(batch), [[0, 0, 11], [0, 5, 6]]
    )


def test_both_ways_in_turn():
    f = jit(PROGRAMS["masks"])
    for u in (U + 1, U, U + 1, U):
        close_to(f(u, W), PROGRAMS["masks"](u, W))
    for u in (U + 3, U - 3):  # three and two, none and two
        with pytest.raises(ValueError, match="could not be broadcast together"):
            f(u, W)
        with pytest.raises(ValueError, match="could not be broadcast together"):
            grad(PROGRAMS["masks"])(u, W)
