"""Arrays that a loop replaces in some passes only, as samplers and adaptive solvers do."""

import re

import numpy as np
import pytest

from tapeless import grad, jit, vmap

RNG = np.random.default_rng(11)
X, NOISE = RNG.normal(size=6).round(2), RNG.normal(size=(9, 6)).round(2)


def sampler(x, noise):
    samples = np.zeros(noise.shape)
    old = -0.5 * np.sum(x**2)
    for k in range(len(noise)):
        trial = x + noise[k]
        new = -0.5 * np.sum(trial**2)
        if new > old - 0.7:
            x, old = trial, new
        samples[k] = x
    return samples, x


def best_of(x, noise):
    best, value = x, np.sum(x**2)
    for k in range(len(noise)):
        x = 0.5 * x + noise[k]
        if np.sum(x**2) < value:
            best, value = x, np.sum(x**2)
    return best, x, value


def adaptive(y, noise):
    t, h, count = 0.0, 0.4, 0
    while t < 1.0 and count < 50:
        slope = -y * y[::-1]
        new = y + h * slope
        if np.max(np.abs(h * slope)) < 0.3:
            t, y = t + h, new
            h = h * 1.5
        else:
            h = h * 0.5
        count += 1
    return y, t, count


def turned(x, noise):
    for k in range(len(noise)):
        if noise[k, 0] > 0:
            x = x[::-1]
        elif noise[k, 1] > 0:
            x = np.roll(x, 1) - noise[k]
    return x


def under_two_tests(x, noise):
    for k in range(len(noise)):
        if noise[k, 0] > 0:
            new = x[::-1] * 0.5
            if noise[k, 1] > 0:
                x = new + 1.0
    return x


def with_the_one_before(x, noise):
    before = x * 0.5
    for k in range(len(noise)):
        old = x
        if noise[k, 0] > 0:
            x = x + before * noise[k]
        before = old
    return x, before


def kept(x, noise):
    found = [x]
    for k in range(len(noise)):
        if noise[k, 0] > 0:
            x = x * 0.5 + noise[k]
        found.append(x)
    return np.array(found), x


def read_afterwards(x, noise):
    total = 0.0
    for k in range(len(noise)):
        y = x
        if noise[k, 0] > 0:
            y = x - noise[k]
        total = total + np.sum(x * y)
        x = y
    return x, total


def two_at_once(x, noise):
    y = x * 2.0
    for k in range(len(noise)):
        if noise[k, 0] > 0:
            x, y = y - noise[k], x
        elif noise[k, 1] > 0:
            x, y = y, x
        else:
            x = x * 0.9
    return x, y


def stored_to_as_well(x, noise):
    for k in range(len(noise)):
        x = x.copy()
        x[k % 6] = noise[k, 2]
        if noise[k, 0] > 0:
            x = np.sin(x[::-1])
        x[0] += 1.0
    return x


def of_another_dtype(x, noise):
    x = (x * 10).astype(int)
    for k in range(len(noise)):
        if noise[k, 0] > 0:
            x = x // 2 + k
    return x


def by_inner_loops(x, noise):
    for k in range(len(noise)):
        for i in range(k):
            if noise[k, i % 6] > 0:
                x = np.roll(x, 1) + noise[i]
        if noise[k, 0] < 0:
            x = x - noise[k]
    return x


def stores_under_a_test(x, noise):
    x = x.copy()
    for k in range(len(noise)):
        if noise[k, 0] > 0:
            x[k % 6] += noise[k, 1]
    return x


def stores_in_nested_loops(x, noise):
    force = np.zeros(noise.shape)
    for i in range(len(noise)):
        for j in range(len(noise)):
            if i != j:
                d = noise[i] - noise[j]
                force[i] += d / np.sqrt(0.1 + np.sum(d * d))
            elif x[0] > 0:
                force[i, 0] = 2.0
    return force


def stores_or_another(x, noise):
    x = x.copy()
    for k in range(len(noise)):
        if noise[k, 0] > 0.5:
            x[k % 6] += noise[k, 1]
            x[0] = 0.5 * x[1]
        elif noise[k, 0] > -0.5:
            x = x * 0.5 + noise[k]
    return x


FUNCTIONS = [
    *(sampler, best_of, adaptive, turned, under_two_tests, with_the_one_before, kept),
    *(read_afterwards, two_at_once, stored_to_as_well, of_another_dtype, by_inner_loops),
    *(stores_under_a_test, stores_in_nested_loops, stores_or_another),
]


def as_list(found):
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_values(f):
    compiled = jit(f)
    for count in (0, 1, 2, 9):
        x = X.copy()
        for sign in (1, -1):
            noise = sign * NOISE[:count]
            for a, b in zip(as_list(compiled(x, noise)), as_list(f(x, noise)), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-13)
        assert x.tolist() == X.tolist()


@pytest.mark.parametrize("f", [f for f in FUNCTIONS if f is not of_another_dtype])
def test_derivatives(f):
    def total(x):
        return sum(np.sum(np.sin(a) * (k + 1.5)) for k, a in enumerate(as_list(f(x, NOISE))))

    v = RNG.normal(size=6)
    wanted = (total(X + 1e-6 * v) - total(X - 1e-6 * v)) / 2e-6
    for slope in (grad(total), jit(grad(total))):
        assert abs(slope(X) @ v - wanted) < 1e-6 * (1 + abs(wanted))


@pytest.mark.parametrize("f", FUNCTIONS)
def test_batches(f):
    several = np.stack([X, -X, 2 * X])
    found = jit(vmap(f, (0, None)))(several, NOISE)
    for k, x in enumerate(several):
        for a, b in zip(as_list(found), as_list(f(x, NOISE)), strict=True):
            np.testing.assert_allclose(a[k], b, rtol=1e-13)


@pytest.mark.parametrize(
    ("f", "stored", "kept"),
    [(sampler, "x", "trial"), (adaptive, "y", "new"), (best_of, "best", "x"), (turned, "x", "x")],
)
def test_what_is_kept_is_not_copied(f, stored, kept):
    pass_ = re.split(r"\n    (?:for k in|while) ", jit(f).source(X, NOISE))[1]
    pass_ = pass_.partition("\n    for ")[0]  # less what follows the loop
    assert re.search(rf"\b{stored}(_\d)?\[i\] = .*\b{kept}", pass_)
    assert not re.search(r"else:\n +for i in .*\n +\w+\[i\] = \w+\[i\]\n", pass_)


def test_a_sampler_reads_as_one_would_write_it():
    text = jit(sampler).source(X, NOISE)
    assert "x[i] = trial[i]\n" in text
    assert "else:" not in text


@pytest.mark.parametrize("f", [stores_under_a_test, stores_in_nested_loops])
def test_stores_under_a_test_copy_nothing(f):
    """In a pass: that would take longer than all else that it does."""
    slope = grad(lambda x, noise: np.sum(np.sin(f(x, noise))), 1)
    for g in (f, slope):
        loops = jit(g).source(X, NOISE).partition("_kernel(")[2].partition("\n\n\n")[0]
        assert "if " in loops
        assert not re.search(r"\n +(\w+)(\[[\w, ]+\]) = (\w+)\2\n", loops)


def test_stores_beside_another_array_copy_nothing():
    text = jit(stores_or_another).source(X, NOISE)
    assert len(re.findall(r"\n +(\w+)(\[\w+\]) = (\w+)\2\n", text)) <= 1  # the argument
