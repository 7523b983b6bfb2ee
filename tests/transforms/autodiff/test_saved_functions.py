"""Functions of numbers in loops, which compiled code saves: the forward loop computes them once."""

import re

import numpy as np
import pytest

from tapeless import grad, hessian
from tapeless.transformations.compilation.jit_to_c import JitToC
from tests.transforms.c.compiled import checked, normal


def damped(k, x, steps):
    for _ in range(steps):
        x = x - k * np.sin(x)
    return x


def chosen(x, steps):
    total = 0.0
    for t in range(steps):
        if t % 2:
            x = np.exp(-x) + 0.1 * t
            total += np.cos(x)
        else:
            x = x * np.tanh(x)
    return total + x


def nested(x, n):
    for _ in range(n):
        for k in range(3):
            x = np.sin(x) * (1.0 + 0.1 * k)
        x = x + np.log(2.0 + x)
    return x


def until(x, least):
    while x > least:
        x = x - 0.1 * np.sqrt(x) * np.cos(0.1 * x)
    return x


def rows(a):
    total = 0.0
    for x in a:
        y = np.sin(x[0])
        for k in range(1, len(x)):
            y = np.sin(y * x[k])
        total += y * np.exp(y)
    return total


PROGRAMS = {
    "a loop": (damped, (0.1, 1.0, 5)),
    "branches": (chosen, (0.7, 6)),
    "loops in loops": (nested, (0.4, 4)),
    "while": (until, (4.0, 1.0)),
    "rows": (rows, (normal(9, 4),)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients(name, tmp_path):
    function, args = PROGRAMS[name]
    checked(grad(function), args, tmp_path)


@pytest.mark.parametrize("name", ["branches", "loops in loops"])
def test_second_derivatives(name, tmp_path):
    function, args = PROGRAMS[name]
    checked(hessian(function), args, tmp_path)


def test_the_backward_loop_computes_none():
    source = JitToC(grad(damped)).module_for((0.1, 1.0, 5), {}).source
    _, forward, backward = re.split(r"\n  for ", source)
    assert "sin(" in forward
    assert "cos(" in forward
    assert not re.search(r"\b(sin|cos)\(", backward)


def swung(x, v, steps):
    """The derivative of a sine is a cosine that the loop computes anyway, and the other way."""
    total = 0.0
    for _ in range(steps):
        s, c = np.sin(x), np.cos(x)
        v = v + 0.1 * (s - v * c) / (1.3 - 0.1 * c * c)
        x = x + 0.1 * v
        total = total + s * c * x
    return total


def test_what_the_forward_loop_computes_is_saved_once(tmp_path):
    checked(grad(swung, (0, 1)), (0.7, 0.2, 6), tmp_path)
    source = JitToC(grad(swung)).module_for((0.7, 0.2, 6), {}).source
    saved = re.findall(r"saved\w*\[k\w*\] = (\w+);", source)
    assert len(saved) == len(set(saved))
    assert len(re.findall(r"\bsin\(", source)) == len(re.findall(r"\bcos\(", source)) == 1


def test_quotients_are_saved():
    source = JitToC(grad(swung)).module_for((0.7, 0.2, 6), {}).source
    backward = source.partition(">= 0;")[2]
    quotients = re.findall(r"[^ (]+ / ", backward)
    # what a pass waits for is multiplied by a reciprocal, which it does not wait for
    assert all("_bar" in q or q == "1.0 / " for q in quotients), backward


def test_arithmetic_is_saved_of_first_derivatives_only():
    """In a Hessian each saved number has a tangent for each direction."""

    def of_tank(u):
        x = 1.0
        for k in range(len(u)):
            rate = x / (np.sqrt(x) + 1.5)
            x = x + 0.1 * (u[k] - rate) * x
        return x

    u = normal(20)
    first = JitToC(grad(of_tank)).module_for((u,), {}).source
    second = JitToC(hessian(of_tank)).module_for((u,), {}).source
    assert "rate_saved" in first
    # tangents of x and of the square root, and the result's
    assert len(re.findall(r"bytes \+?= rounded\(u_0 \* u_0 \*", second)) == 3
