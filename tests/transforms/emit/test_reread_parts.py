"""What is at hand is used: parts that were read already, memory that nobody overwrites."""

import re

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient

V = np.array([0.3, 0.8, 1.4])


def rotated(y, k, steps):
    for _ in range(steps):
        y = y + np.sin(y) * np.array([y[1], -k * y[0] * y[1], y[2] * y[0]])
    return np.sum(y**2)


def test_elements_are_read_from_the_saved_part():
    source = tapeless.grad(rotated).source(V, 1.3, 4)
    backward = source[source.index("reversed") :]
    assert "y = y_saved[i]" in backward
    assert "y_saved[i, " not in backward
    found = tapeless.grad(rotated)(V, 1.3, 4)
    np.testing.assert_allclose(found, gradient(lambda v: rotated(v, 1.3, 4), V), rtol=1e-6)


def in_nested_loops(x, n):
    total = np.zeros(3)
    for _ in range(n):
        for j in range(n):
            total = total + x * j
    return total


@pytest.mark.parametrize("transform", [tapeless.vmap, lambda f, in_axes: f])
def test_what_loops_in_loops_make_is_not_copied(transform):
    f = transform(in_nested_loops, in_axes=(0, None))
    source = tapeless.vmap(in_nested_loops, in_axes=(0, None)).source(np.ones((2, 3)), 3)
    assert "copy" not in source
    x = np.arange(6.0).reshape(2, 3) if transform is tapeless.vmap else V
    np.testing.assert_allclose(f(x, 3), 9.0 * x)


def products_of_a_list(v, n):
    d = [v + 0.1 * k for k in range(1, n)]
    for j in range(n - 2):
        d[j + 1] = d[j] * d[j + 1]
    return np.sum(d[n - 2])


def test_an_item_of_a_list_is_exchanged_without_a_copy_of_the_list():
    slope = tapeless.grad(products_of_a_list)
    source = slope.source(V, 12)
    assert "d_bar" in source
    assert "d_bar.copy()" not in source
    expected = gradient(lambda v: products_of_a_list(v, 12), V)
    np.testing.assert_allclose(slope(V, 12), expected, rtol=1e-6)


def drifts(x, w, n):
    total = 0.0
    for _ in range(n):
        x = w.T @ np.sin(w @ x)
        total = total + x @ x
    return total


def test_a_transposed_matrix_is_written_where_it_is_used():
    w = np.array([[0.5, 0.2, -0.1], [0.3, 0.4, 0.6]])
    slope = tapeless.grad(drifts, argnums=1)
    source = slope.source(V, w, 3)
    assert not re.search(r"transposed|carried", source)
    assert len(re.findall(r"w\.T", source)) > 1
    expected = gradient(lambda u: drifts(V, u.reshape(w.shape), 3), w.ravel())
    np.testing.assert_allclose(slope(V, w, 3).ravel(), expected, rtol=1e-6)


def pulled(x):
    total = 0.0
    for i in range(len(x) - 1):
        d = x[i] - x[i + 1]
        total = total + np.sin(d * d)
    return total


def test_what_is_subtracted_is_not_negated_before():
    source = tapeless.grad(pulled).source(V)
    assert "x_bar[i + 1] -= " in source
    assert "= -" not in source
    np.testing.assert_allclose(tapeless.grad(pulled)(V), gradient(pulled, V), rtol=1e-6)


def overwritten_between(x):
    y = x * 1.0
    s = y * y  # read after y was stored to: it must be made before
    y[0] = s[1]
    return np.sum(s * 0.5) + np.sum(y**3)


def test_what_reads_memory_is_made_before_it_is_overwritten():
    run = tapeless.jvp_fn(overwritten_between)
    value, slope = run(V, np.ones(3))
    np.testing.assert_allclose(value, overwritten_between(V))
    np.testing.assert_allclose(slope, np.sum(gradient(overwritten_between, V)), rtol=1e-6)


def layers(params, x):
    for weights, shift in params:
        x = np.tanh(weights * x + shift)
    return np.sum(x)


def test_elements_of_containers_have_the_names_that_they_are_given():
    params = [(V, V), (V, 2 * V)]
    source = tapeless.grad(layers).source(params, V)
    first = re.search(r"^    (.*) = params\[0\]\[0\]", source, re.M)[1]
    assert first.split(", ")[:2] == ["weights", "shift"]
    dotted = tapeless.jvp_fn(layers).source(params, V, params)
    assert "weights_dot, shift_dot" in dotted


def test_loops_without_a_variable_leave_its_name_to_others():
    def sweeps(x, n):
        for _ in range(n):
            for i in range(len(x)):
                x[i] = np.sin(x[i])
        return np.sum(x)

    source = tapeless.grad(sweeps).source(V, 2)
    assert "x_i_saved[j, i] = " in source
