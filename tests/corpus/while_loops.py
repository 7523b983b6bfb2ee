"""while with trip counts that the data decides; else, break, continue and return inside."""

import math

import numpy as np

from tests.corpus import definite, normal, program, uniform


@program(2.7)
def square_root_by_newton(a):
    x = a
    while abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x


@program(7.3)
def halve_until_small(x):
    while x > 1:
        x = x / 2
    return x**2


@program(7.3)
def count_trips(x):
    n = 0
    while x > 1:
        x = np.sqrt(x) * 0.9
        n += 1
    return n * x


@program(0.3, 1.4, wrt=(0, 1))
def arithmetic_geometric_mean(a, b):
    while abs(a - b) > 1e-14:
        a, b = (a + b) / 2, np.sqrt(a * b)
    return a


@program(0.6)
def series_until_negligible(x):
    term, total, n = 1.0, 1.0, 1
    while abs(term) > 1e-16:
        term *= x / n
        total += term
        n += 1
    return total


@program(3.0)
def while_else(x):
    steps = 0
    while x > 1:
        x = x * 0.7
        steps += 1
        if steps > 50:
            break
    else:
        x = x**2 + steps
    return x


@program(0.9)
def break_from_endless(x):
    total = 0.0
    while True:
        x = 0.6 * np.sin(x)
        total += x
        if x < 0.05:
            break
    return total


@program(0.9)
def return_from_endless(x):
    scale = 1.0
    while True:
        x = x**2 + 0.4
        scale *= 1.1
        if x > 3:
            return scale * x


@program(normal(6))
def skip_in_while(x):
    i, total = 0, 0.0
    while i < len(x):
        i += 1
        if x[i - 1] < 0:
            continue
        total += x[i - 1] ** 3
    return total


@program(uniform(6), 2.2)
def while_over_array(x, level):
    i = 0
    total = x[0]
    while i < x.size - 1 and total < level:
        i += 1
        total += x[i] ** 2
    return total


@program(1.9)
def walrus_in_test(x):
    y = x
    while (error := y * y - 2.0) > 1e-3:
        y -= error / (2 * y) * 0.5
    return y * x


@program(4.2, 1.1, wrt=(0, 1))
def nested_whiles(x, y):
    total = 0.0
    while x > 1:
        inner = x
        while inner > y:
            inner *= 0.5
            total += inner**2
        x *= 0.6
    return total


@program(normal(3), 6)
def while_inside_for(x, n):
    total = 0.0
    for element in x:
        value = 1.0 + element**2
        while value < n:
            value *= 1.5
        total += value
    return total


@program(5.0)
def for_inside_while(x):
    while x > 1:
        for k in range(1, 4):
            x = x - 0.1 * k * np.tanh(x)
    return x


@program(definite(3), normal(3, seed=1), wrt=(0, 1))
def gradient_descent_until_converged(a, b):
    x = np.zeros(3)
    residual = b - a @ x
    while residual @ residual > 1e-20:
        x = x + 0.3 * residual
        residual = b - a @ x
    return x


@program(definite(3))
def power_iteration(a):
    v = np.ones(3)
    change = 1.0
    while change > 1e-12:
        w = a @ v
        w = w / np.sqrt(w @ w)
        change = np.max(np.abs(w - v))
        v = w
    return v @ a @ v


@program(normal(3))
def backtracking(x):
    step = 4.0
    value = np.sum(x**4)
    slope = 4 * x**3
    while np.sum((x - step * slope) ** 4) > value:
        step = step / 2
    return np.sum((x - step * slope) ** 2)


@program(0.7, 27)
def collatz(x, n):
    scale = 1.0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
            scale *= 1 + 0.01 * x
        else:
            n = 3 * n + 1
            scale *= 1 - 0.02 * x
    return scale


@program(0.3, 13)
def power_by_squaring(x, n):
    result, base = 1.0, 1 + x
    while n > 0:
        if n & 1:
            result *= base
        base *= base
        n >>= 1
    return result


@program(1.2)
def scalar_math_module(x):
    total = 0.0
    while total < 3:
        total += math.exp(-x) + math.sqrt(x) * 0.3
    return total


@program(np.array([-1.0, 0.4, 2.0, -3.0]))
def search_with_a_flag_from_before_the_step(x):
    i, found = 0, False
    while not found and i < len(x):
        found = x[i] > 0
        i += 1
    return x[i - 1] ** 2


@program(np.array([-1.0, 0.4, 2.0, -3.0]))
def search_that_breaks_after_the_step(x):
    i = 0
    while i < len(x):
        j = i
        i += 1
        if x[j] > 0:
            break
    return x[i - 1] ** 2 * x[j]


@program(np.array([3.0, 0.4, 2.0, -3.0]))
def flag_of_what_is_halved(x):
    done, y = False, x[0]
    while not done:
        done = y < 0.5
        y = y / 2
    return y * x[1]
