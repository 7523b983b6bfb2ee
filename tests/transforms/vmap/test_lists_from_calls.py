"""Functions of the program that return lists, whose lengths differ between elements of a batch."""

import numpy as np
import pytest

from tapeless import grad, hessian, jit, vmap
from tapeless.transforms.optimize import outline

POINTS = np.array([[0.53, 1.2, 2.03], [0.55, 1.4, 1.1], [2.1, 1.3, 0.4]])


def halved(n, x):
    out = []
    while n > 1:
        out.append(x * n)
        n = n / 2
    return out


def sums(x):
    first, second = halved(x[0] * 9, x[1]), halved(x[1] * 9, x[2])
    return 2 * sum(first) + sum(second) ** 2 + len(first)


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        total += np.sum(np.array(halved(9 * x[k], x[0] * x[k])) ** 2)
    last = halved(7 * x[0], x[1])
    return total + last[-1] * len(last)


def appended(items, x):
    for v in x:
        if v > 1:
            items.append(v * v)
        items.append(np.sin(v))
    return items


def passed_in(x):
    items = appended(appended([x[0]], x), x * 2)
    return sum(v * v for v in items) * len(items)


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
@pytest.mark.parametrize("f", [sums, in_a_loop, passed_in], ids=lambda f: f.__name__)
def test_the_caller_reads_the_list(f, monkeypatch):
    monkeypatch.setattr(outline, "SAVES", 2)
    np.testing.assert_allclose(vmap(f)(POINTS), [f(x) for x in POINTS])
    slopes = [grad(f)(x) for x in POINTS]
    np.testing.assert_allclose(vmap(grad(f))(POINTS), slopes)
    np.testing.assert_allclose(jit(vmap(grad(f)))(POINTS), slopes)
    x, steps = POINTS[0], 1e-6 * np.eye(3)
    expected = [(grad(f)(x + s) - grad(f)(x - s)) / 2e-6 for s in steps]
    np.testing.assert_allclose(hessian(f)(x), expected, rtol=1e-5, atol=1e-5)


def multiples(a, count):
    out = []
    for i in range(count):
        out.append(a * i)  # noqa: PERF401 (the loop is what is tested)
    return out


def of_lists_alone(x):
    first, second = multiples(x, 3), multiples(x * x, 3)
    return first[1] ** 2 + second[2] + sum(multiples(x * 2, 3))


@pytest.mark.parametrize("form", [lambda f: f, jit])
def test_backward_parts_that_are_given_lists_alone(form, monkeypatch):
    monkeypatch.setattr(outline, "SAVES", 2)
    x = np.array([0.5, 1.3])
    np.testing.assert_allclose(form(vmap(grad(of_lists_alone)))(x), 6 * x + 6)
    np.testing.assert_allclose(form(vmap(hessian(of_lists_alone)))(x), [6, 6])
    twice = form(vmap(vmap(grad(of_lists_alone))))
    np.testing.assert_allclose(twice(x[None]), [6 * x + 6])
