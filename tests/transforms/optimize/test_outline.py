"""Functions that are called several times become functions of the program."""

import itertools
import re

import numpy as np
import pytest

import tapeless
from tapeless.staging import subprogram
from tapeless.transforms.optimize import outline
from tests.corpus.differences import gradient


def layer(p, x):
    z = x @ p["w"] + p["b"]
    z = z - z.mean(axis=1, keepdims=True)
    return np.tanh(z) * p["scale"]


def loss(params, x):
    for p in params:
        x = layer(p, x)
    return np.sum(x**2)


def network(sizes):
    rng = np.random.default_rng(0)
    return [
        {"w": rng.normal(size=(a, b)), "b": rng.normal(size=b), "scale": rng.normal(size=b)}
        for a, b in itertools.pairwise(sizes)
    ]


X = np.random.default_rng(1).normal(size=(7, 4))


def assert_slope(f, params, *args):
    """The gradient along a direction against central differences."""
    found = tapeless.grad(f)(params, *args)
    rng = np.random.default_rng(2)
    leaves, structure = tapeless.tree.flatten(params)
    along = [rng.normal(size=np.shape(leaf)) for leaf in leaves]

    def at(h):
        moved = [leaf + h * d for leaf, d in zip(leaves, along, strict=True)]  # new arrays
        return f(tapeless.tree.unflatten(structure, moved), *args)

    wanted = (at(1e-6) - at(-1e-6)) / 2e-6
    inner = sum(np.sum(g * d) for g, d in zip(tapeless.tree.leaves(found), along, strict=True))
    np.testing.assert_allclose(inner, wanted, rtol=1e-6)


@pytest.mark.parametrize("sizes", [[4, 5, 6, 3, 2, 5], [4, 4, 4, 4, 4, 4]])
def test_layers_of_any_sizes_are_calls_of_one_function(sizes):
    params = network(sizes)
    assert_slope(loss, params, X)
    text = tapeless.grad(loss).source(params, X)
    assert len(re.findall(r"def layer_bwd", text)) == 2  # the first layer needs no x_bar
    assert len(re.findall(r"np\.tanh", text)) == 2
    assert len(re.findall(r" layer_bwd(_2)?\(", text)) == 2 + 5


def test_the_text_grows_by_a_line_or_two_a_call():
    def length(depth):
        params = network([4] * (depth + 1))
        lines = tapeless.grad(loss).source(params, X).splitlines()
        return len([line for line in lines if "layer_" in line])

    assert length(12) - length(9) == 2 * 3


def test_what_saves_little_stays_written_out():
    params = network([4, 5, 6])
    assert "layer_bwd" not in tapeless.grad(loss).source(params, X)


def test_second_order_and_forward_mode():
    params = network([4, 5, 6, 3, 2, 5])
    direction = tapeless.tree.map(np.cos, params)

    def along(params, x):
        return tapeless.jvp(lambda p: loss(p, x), (params,), (direction,))[1]

    assert_slope(along, params, X)


def test_values_that_leak_out_of_the_calls(monkeypatch):
    monkeypatch.setattr(outline, "SAVES", 1)

    def f(x):
        seen = []

        def step(y):
            z = np.sin(y) * y
            seen.append(z)
            return z + np.cos(z)

        y = step(step(step(x)))
        return y + sum(seen)

    assert_slope(f, 0.7)


def test_other_constants_and_branches_make_other_functions(monkeypatch):
    monkeypatch.setattr(outline, "SAVES", 1)

    def step(y, k):
        if y > 1:
            return np.sin(y) * k
        return y * y + k

    def f(x):
        y = step(step(np.sin(x), 2.0), 2.0)
        return step(step(y, 3.0), 3.0)

    assert_slope(f, 1.7)
    assert len(re.findall(r"def step_bwd", tapeless.grad(f).source(1.7))) == 2


def test_sizes_from_around_are_passed(monkeypatch):
    monkeypatch.setattr(outline, "SAVES", 1)

    def f(x, w):
        def spread(y):
            return np.sum(np.full(len(w), np.sin(y)) * np.exp(y))

        return spread(spread(spread(x))) * w[0]

    assert_slope(f, 0.3, np.arange(1.0, 3.0))


def test_views_taken_anew_are_no_difference():
    def split(x, w):
        parts = [(x @ w[k]).reshape(len(x), 2, w.shape[1] // 2).transpose(1, 0, 2) for k in (0, 1)]
        y = parts[0] * np.tanh(parts[1])
        return x + y.transpose(1, 0, 2).reshape(x.shape)

    def f(weights, x):
        for w in weights:
            x = split(x, w)
        return np.sum(x**2)

    rng = np.random.default_rng(3)
    weights = [rng.normal(size=(2, 4, 4)) for _ in range(6)]
    assert_slope(f, weights, rng.normal(size=(3, 4)))
    assert len(re.findall(r"split_fwd\w*\(", tapeless.grad(f).source(weights, X))) >= 7


def test_views_that_calls_return(monkeypatch):
    monkeypatch.setattr(outline, "SAVES", 1)

    def half(v):
        return v[1:]

    def f(x):
        a = half(x)
        b = half(a)
        a[0] = 3.0 * x[0]
        c = half(x)
        return np.sum(a * a) + np.sum(b) + np.sum(c)

    assert_slope(f, np.array([0.7, -0.4, 1.3, 0.9]))


def test_lengths_that_arguments_show_as_part_of_a_sum(monkeypatch):
    monkeypatch.setattr(outline, "SAVES", 1)

    def shares(x):
        e = np.exp(x - np.max(x, axis=1, keepdims=True))
        return e / np.sum(e, axis=1, keepdims=True)

    def mixed(x):
        below = np.tri(x.shape[0])
        return shares(below * (x @ x.T)) @ x

    def f(x):
        return np.sum(np.sin(mixed(mixed(mixed(x[:-1])))))

    assert_slope(f, X)
    assert "def mixed_fwd(x):" in tapeless.grad(f).source(X)

    def twice(x):
        return np.sum(shares(shares(shares(np.concatenate([x, 2 * x])))) ** 3)

    assert_slope(twice, X)


def test_what_is_the_same_for_a_batch_is_on_its_tapes_too(monkeypatch):
    monkeypatch.setattr(outline, "SAVES", 1)

    def differences(x):
        return x[:, 0].reshape(len(x), 1) - x[:, 1]

    def scaled(x, k):
        return np.sin(k * differences(x)) * k

    def f(x, k, fixed):
        return np.sum(scaled(x, 1.0) * scaled(x * k, 2.0) * scaled(fixed, 3.0))

    xs, ks = np.random.default_rng(3).normal(size=(4, 5, 2)), np.linspace(1, 2, 4)
    slope = tapeless.grad(f, argnums=(0, 1, 2))
    found = tapeless.vmap(slope, in_axes=(0, 0, None))(xs, ks, xs[0])
    for j, (x, k) in enumerate(zip(xs, ks, strict=True)):
        for a, b in zip(found, slope(x, k, xs[0]), strict=True):
            np.testing.assert_allclose(a[j], b)


def held(x, w):
    """Long enough to become a function of the program."""
    kept = tapeless.stop_gradient(x)
    for k in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0):
        x = np.sin(x * w + k) * np.cos(x) + kept
    return x * tapeless.stop_gradient(np.exp(-x)) + kept * w


def test_what_is_held_constant_in_a_called_function_has_no_derivative():
    def f(x, w):
        for _ in "abcd":
            x = held(x, w)
        return x

    args, direction = (0.3, 0.4), (0.7, -0.2)
    assert "held_bwd" in tapeless.grad(f).source(*args)
    _, expected = tapeless.jvp(f, args, direction)
    found = np.dot(tapeless.grad(f, argnums=(0, 1))(*args), direction)
    np.testing.assert_allclose(found, expected, rtol=1e-12)

    h = 1e-6  # the last call alone: its derivative by w, with what is held constant kept
    for _ in "abc":
        args = (held(*args), args[1])
    x, w = args

    def fixed(w):
        y = x
        for k in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0):
            y = np.sin(y * w + k) * np.cos(y) + x
        return y

    end = np.exp(-fixed(w))
    slope = ((fixed(w + h) - fixed(w - h)) * end + 2 * h * x) / (2 * h)
    np.testing.assert_allclose(tapeless.grad(held, argnums=1)(x, w), slope, rtol=1e-6)


def test_calls_that_were_recorded_before_a_block_are_not_looked_at(monkeypatch):
    """Many transformations in one function cost as much each as one alone."""
    counts = []

    def outline_of(block, stretches, given_sizes):
        counts.append(len(stretches))
        return outline.outline(block, stretches, given_sizes)

    monkeypatch.setattr(subprogram, "outline", outline_of)

    def looked_at(n):
        def total(x):
            return sum(slope_and_bend(f, x) for f in [np.sin, np.cos] * n)

        counts.clear()
        tapeless.jvp(total, (0.5,), (1.0,))
        return sum(counts[:-1])  # but for the block of jvp itself

    assert 0 < looked_at(10) == 2 * looked_at(5)


def slope_and_bend(f, x):
    return tapeless.grad(lambda y: called_inside(f, y))(x)


def called_inside(f, y):
    return f(y) * y


def test_products_with_eigenvectors_stay_beside_what_makes_them():
    """Where eigenvalues coincide, only both together have a derivative."""

    def f(theta):
        matrix = (np.full((3, 3), 0.3) + 1.7 * np.eye(3)) * theta[0]
        w, v = np.linalg.eigh(matrix)
        scale = np.array([1.0, 1.5, 0.7])

        def part(t):
            q = (v / scale[:, None]) @ np.diag(np.exp(w * t)) @ (v.T * scale)
            q = q / np.sqrt(np.sum(q * q) + 1.0)
            return q + 0.1 * np.sin(q)

        return np.sum(part(theta[1]) @ part(theta[2]) @ part(0.3) @ part(theta[0]) @ part(0.4))

    theta = np.array([0.3, 0.2, 0.1])
    wanted = gradient(f, theta)
    np.testing.assert_allclose(tapeless.grad(f)(theta), wanted, rtol=1e-6)
    np.testing.assert_allclose(tapeless.jit(tapeless.grad(f))(theta), wanted, rtol=1e-6)
