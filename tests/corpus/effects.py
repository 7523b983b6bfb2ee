"""print, assert and raise with data-dependent values; try, except, finally; context managers."""

import contextlib
import math

import numpy as np

from tests.corpus import normal, program, uniform


@program(0.7)
def prints_value(x):
    y = x**2
    print("square", f"{y:.3f}")
    return y * x


@program(normal(3))
def prints_in_loop(x):
    total = 0.0
    for i, element in enumerate(x):
        total += element**2
        print(f"step {i}: total = {total:.2f}", end=";\n" if i else "\n")
    return total


@program(-0.7)
@program(0.7)
def prints_in_branch(x):
    if x > 0:
        print("positive", sep="")
        return np.log(x)
    print("negative", round(x, 2))
    return x**2


@program(3.0)
def prints_in_while(x):
    while x > 1:
        x = x * 0.6
        print(f"{x:8.4f}|{x > 1}")
    return x


@program(uniform(3))
def asserts(x):
    assert np.all(x > 0), f"logarithm of {x.min():.2f}"
    assert x.ndim == 1
    total = np.sum(np.log(x))
    assert total < 100
    return total


@program(normal(4))
def asserts_in_loop(x):
    value = 1.0
    for element in x:
        value = value / (2 + element)
        assert abs(value) < 50, "diverged"
    return value


@program(1.6)
def raises_if_negative(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    return np.sqrt(x)


@program(uniform(3), 2.0)
def raises_in_loop(x, limit):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 2
        if not total < 10 * limit:
            raise OverflowError("too much")
    return total * limit


@program(0.8, 50)
def raises_when_not_converged(rate, n):
    x = 0.5
    for _ in range(n):
        new = np.cos(rate * x)
        if abs(new - x) < 1e-10:
            break
        x = new
    else:
        raise RuntimeError("no convergence")
    return x + new


@program(0.4, "cubic")
def caught_while_staging(x, kind):
    table = {"square": 2, "linear": 1}
    try:
        power = table[kind]
    except KeyError:
        power = 3
    else:
        power = power + 0.5
    return (1 + x) ** power


@program(normal(3))
def finally_restores(x):
    settings = {"scale": 1.0}

    def scaled():
        settings["scale"] = 2.0
        try:
            return settings["scale"] * x
        finally:
            settings["scale"] = 3.0

    return scaled() * settings["scale"] * x


@program(0.6)
def nested_tries(x):
    steps = []
    for name in ("sin", "nothing", "exp"):
        try:
            steps.append(getattr(math, name))
        except AttributeError as error:
            steps.append(lambda t, n=len(str(error)): t + 0 * n)
        finally:
            steps.append(lambda t: t * x)
    for step in steps:
        x = step(x)
    return x


@program(normal(3))
def error_state(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(x > 0, x / (x - x[0] * 0 + 1.5), 0.0)
    return np.sum(ratio * x)


@program(0.6)
def own_context_manager(x):
    depth = []

    @contextlib.contextmanager
    def scope(factor):
        depth.append(factor)
        try:
            yield factor * x
        finally:
            depth.pop()

    with scope(2.0) as y, scope(y) as z:
        result = z * len(depth)
    return result + len(depth) + y


class Timer:
    def __init__(self):
        self.total = 0.0

    def __enter__(self):
        self.total += 1.0
        return self

    def __exit__(self, *error):
        self.total *= 2.0
        return False

    def charge(self, cost):
        self.total += cost


@program(0.6)
def context_class(x):
    timer = Timer()
    for k in range(2):
        with timer as running:
            running.charge(x ** (k + 1))
    return timer.total


@program(0.6)
def return_out_of_with(x):
    with contextlib.suppress(ZeroDivisionError), np.errstate(all="raise"):
        if x > 0.5:
            return x**3
        x = x * 2
    return x
