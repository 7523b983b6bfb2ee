"""Recursion that ends where the data says: called by name, with a tape of tapes."""

import numpy as np

from tests.corpus import normal, program, uniform


def halved(x):
    if x < 1.0:
        return x
    return np.sin(x) * halved(x / 2)


@program(5.3)
def depth_from_data(x):
    return halved(x)


@program(5.3, 2.1, wrt=(0, 1))
def called_from_two_places(x, y):
    return halved(x * y) + halved(y) * halved(x + y)


def counted(x, n=0):
    if x < 1:
        return x * (n + 1)
    return counted(x / 2, n + 1)


@program(9.7)
def tail_call_with_counter(x):
    return counted(x) ** 2


def even_half(x):
    return x if x < 1 else np.cos(x) + odd_half(x / 3)


def odd_half(x):
    return x**2 if x < 1 else np.sin(x) * even_half(x / 2)


@program(17.0)
def mutual_from_data(x):
    return even_half(x)


def adaptive(f, a, b, tolerance):
    middle = (a + b) / 2
    whole = (b - a) * f(middle)
    halves = (b - a) / 2 * (f((a + middle) / 2) + f((middle + b) / 2))
    if abs(whole - halves) < tolerance:
        return halves
    return adaptive(f, a, middle, tolerance / 2) + adaptive(f, middle, b, tolerance / 2)


@program(1.3, 2.0, wrt=(0, 1))
def adaptive_quadrature(k, end):
    return adaptive(lambda t: np.exp(-k * t) * np.sin(3 * t), 0.0, end, 1e-2)


def doubled_until_large(v):
    if np.sum(v * v) > 10.0:
        return v
    return doubled_until_large(1.5 * v + np.sin(v))


@program(normal(4))
def of_an_array(x):
    return doubled_until_large(x * x)


def power_iteration(a, v, tolerance):
    w = a @ v
    w = w / np.sqrt(w @ w)
    if np.sum((w - v) ** 2) < tolerance:
        return w
    return power_iteration(a, w, tolerance)


@program(normal(3, 3), uniform(3), wrt=(0, 1))
def eigenvalue_by_recursion(b, v):
    a = b @ b.T + 2 * np.eye(3)
    w = power_iteration(a, v, 1e-3)
    return w @ a @ w


def two_results(x, y):
    if x + y < 1:
        return x, {"y": y * x}
    a, rest = two_results(x / 2, y / 3)
    return a * y, {"y": rest["y"] + np.sin(x)}


@program(3.1, 2.4, wrt=(0, 1))
def results_in_containers(x, y):
    a, rest = two_results(x, y)
    return a + 2 * rest["y"]


@program(7.3, 0.4, wrt=(0, 1))
def closure_that_recurses(x, k):
    steps = np.array([1.0, 2.0]) * k

    def decay(z):
        if z < 1:
            return z * k
        return decay(z / (2 + k)) + np.sum(steps) * z

    return decay(x)


class Bisection:
    def __init__(self, target):
        self.target = target

    def f(self, x):
        return x**3 - self.target

    def root(self, low, high):
        middle = (low + high) / 2
        if high - low < 0.5:
            return middle - self.f(middle) / (3 * middle**2)
        if self.f(middle) > 0:
            return self.root(low, middle)
        return self.root(middle, high)


@program(7.0, 0.4, 5.1, wrt=(0, 1, 2))
def method_that_recurses(target, low, high):
    return Bisection(target).root(low, high)


@program(normal(5))
def called_in_a_loop(x):
    total = 0.0
    for t in x:
        total = total + halved(3 * np.abs(t) + 1) * t
    return total


@program(6.0, uniform(4), wrt=(0, 1))
def loop_inside(x, w):
    def level(z):
        if z < 1:
            return z
        s = z
        for k in range(len(w)):
            s = np.sin(s * w[k]) + z
        return level(z / 2) * s

    return level(x)


@program(normal(4))
def array_overwritten_on_the_way(x):
    def relax(v):
        v[1:] = 0.5 * v[1:] + 0.3 * v[:-1]
        if np.sum(v * v) < 0.5:
            return np.sum(v)
        return v[0] + relax(0.5 * v)

    return relax(x * x)


@program(4.2)
def while_inside(x):
    def level(z):
        if z < 1:
            return z**2
        y = z
        while y > 1:
            y = y / 1.7
        return y * level(z / 2)

    return level(x)


def tree(x, depth):
    if depth == 0 or x < 0.3:
        return x**2
    return tree(0.7 * x, depth - 1) * np.cos(x) + tree(0.4 * x, depth - 1)


@program(2.0)
def tree_to_a_depth_or_a_size(x):
    return tree(x, 6)


def quicksort(v):
    if len(v) <= 1:
        return v
    pivot, rest = v[0], v[1:]
    return np.concatenate([quicksort(rest[rest < pivot]), v[:1], quicksort(rest[rest >= pivot])])


@program(np.array([0.5, 0.2, 0.9, 0.1, 0.7]))
def quicksort_of_an_array(v):
    return quicksort(v * v) @ np.arange(len(v))


@program(5.0)
def outer_variable_changed(x):
    total, evaluations = 0.0, 0

    def visit(z):
        nonlocal total, evaluations
        total += z * z
        evaluations += 1
        if z > 1:
            visit(z / 2)

    visit(x)
    return total * evaluations


def with_default(x, y=None):
    if x < 1:
        return x if y is None else x * y
    return with_default(x / 2, x)


@program(5.3)
def first_call_is_unlike_the_others(x):
    return with_default(x)


@program(normal(4))
def view_overwritten(v):
    def shrink(part):
        part *= 0.5
        if np.sum(part * part) > 0.05:
            shrink(part)

    u = v * v + 1
    shrink(u[1:3])
    return u @ np.arange(4)


@program(5.3)
def printed_on_the_way(x):
    def go(z):
        print("at", z > 1)
        return z if z < 1 else z * go(z / 2)

    return go(x)


@program(3.0)
def flag_turns(x):
    def climb(z, up=True):
        if z > 50:
            return z
        return climb(z * 1.5 + 1, not up) + (z if up else 2 * z)

    return climb(x)


@program(5.3, normal(3), wrt=(0, 1))
def size_from_around(x, w):
    def go(z):
        if z < 1:
            return z
        return np.sum(np.full(len(w), z)) * go(z / 2)

    return go(x) * w[0]


@program(2.0, 2, wrt=(0,))
def recursion_that_only_prints(x, n):
    def count(z):
        if z < 1:
            print("done", z < 0.6)
            return
        count(z / 2)

    for i in range(n):
        count(x + i)
    return x * x


@program(5.3)
def lambda_that_recurses(x):
    go = lambda z: z if z < 1 else np.sin(z) * go(z / 2)
    return go(x)


def _halved(f, a, b, whole, tolerance, depth):
    """Simpson's rule in each half, and in halves of them where it is not exact enough."""
    m = (a + b) / 2
    left = (m - a) / 6 * (f(a) + 4 * f((a + m) / 2) + f(m))
    right = (b - m) / 6 * (f(m) + 4 * f((m + b) / 2) + f(b))
    error = left + right - whole
    if depth == 0 or abs(error) <= 15 * tolerance:
        return left + right + error / 15
    first = _halved(f, a, m, left, tolerance / 2, depth - 1)
    return first + _halved(f, m, b, right, tolerance / 2, depth - 1)


@program(1.3, 0.5)
def adaptive_simpson_to_a_given_depth(p, b):
    def f(x):
        return np.exp(-p * x * x) * np.sin(3 * p * x)

    whole = b / 6 * (f(0.0) + 4 * f(b / 2) + f(b))
    return _halved(f, 0.0, b, whole, 1e-12, 12)


def _counted_twice(u, v, x):
    return 10.0 * u + v + x if x < 1 else _counted_twice(u + 1, v, x * x / 30)


@program(5.3)
def numbers_that_are_equal_at_first(x):
    return x * _counted_twice(0, 0, x)


def _apart(a, b, n):
    return a * np.sin(b) if n < 1 else _apart(a / 2, b, n / 2)


@program(1.3, 5.3)
def a_number_twice(x, n):
    return _apart(x, x, n)


@program(normal(3), 5.3)
def an_array_twice(x, n):
    return np.sum(_apart(x, x, n))


def _both(a, b, n):
    if n < 1:
        return np.sum(a * b)
    a[0] *= n
    return _both(a, b, n / 2)


@program(normal(3), 5.3)
def an_array_twice_that_is_overwritten(x, n):
    y = x.copy()
    return _both(y, y, n) + np.sum(y)


def _coefficient(i, t, x):
    if t < 0 or t > i:
        return 0.0
    if i == t == 0:
        return np.exp(-x * x)
    return _coefficient(i - 1, t - 1, x) - x * _coefficient(i - 1, t, x)


@program(0.7)
def tests_on_counters_alone(x):
    total = 0.0
    for t in range(2):
        total += (t + 1) * _coefficient(1, t, x)
    return total
