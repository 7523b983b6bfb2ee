"""Calls of one's own functions: nested, defaults, variadic, by keyword; functions as values."""

import numpy as np

from tests.corpus import normal, program, uniform

GRAVITY = 9.81
NODES = np.array([-0.7745966692414834, 0.0, 0.7745966692414834])
WEIGHTS = np.array([5 / 9, 8 / 9, 5 / 9])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def integrate(f, a, b):
    middle, half = (a + b) / 2, (b - a) / 2
    return half * np.sum(WEIGHTS * f(middle + half * NODES))


@program(normal(3))
def called_twice(x):
    return sigmoid(x) * sigmoid(2 * sigmoid(x))


@program(0.8)
def global_constants(t):
    return 0.5 * GRAVITY * t**2 + WEIGHTS @ (t * NODES) ** 2


@program(0.2, 1.1, wrt=(0, 1))
def quadrature_of_lambda(a, b):
    return integrate(lambda t: np.exp(-a * t**2), a, b)


@program(0.4, 1.3, wrt=(0, 1))
def nested_definition(a, b):
    def interpolate(t):
        return (1 - t) * a + t * b

    return interpolate(0.3) * interpolate(t=0.8)


@program(0.9)
def default_arguments(x):
    def damped(t, rate=0.5, *, phase=0.1):
        return np.exp(-rate * t) * np.cos(t + phase)

    return damped(x) + damped(x, 1.5) + damped(x, phase=x)


@program(0.9)
def default_from_outer_variable(x):
    y = x**2

    def shifted(t, shift=y):
        return t + shift

    y = 100.0
    return shifted(x) * 2 + 0 * y


@program(0.5, 1.5, -0.7, wrt=(0, 2))
def variadic(*values):
    total = 0.0
    for i, value in enumerate(values):
        total += value ** (i + 1)
    return total


@program(0.5, 1.5, wrt=(0, 1))
def keyword_dictionary(x, y):
    def combine(**terms):
        return terms["left"] * np.sin(terms["right"]) + len(terms)

    return combine(left=x, right=y) + combine(**{"right": x, "left": y, "other": 1.0})


@program(normal(3))
def argument_unpacking(x):
    def plane(a, b, c, *rest, scale=1.0):
        return scale * (a * b + c) + sum(rest)

    options = {"scale": x[0]}
    return plane(*x, **options) + plane(*x[:2], 3.0, x[2] ** 2)


@program(0.6)
def lambdas_on_one_line(x):
    square, cube, half = (lambda t: t * t), (lambda t: t**3), (lambda t: 0.5 * t)
    return square(x) + cube(half(x)) - half(square(cube(x)))


@program(1.2)
def lambdas_in_list(x):
    total = 0.0
    for f in [lambda t: t, lambda t: t**2, np.sin, lambda t, k=3.0: k / t]:
        total += f(x)
    return total


@program(0.7)
def lambda_captures_loop_variable(x):
    late = [lambda t: t * k for k in range(1, 4)]
    early = [lambda t, k=k: t**k for k in range(1, 4)]
    return sum(f(x) for f in late) + sum(f(x) for f in early)


@program(0.7, "cos")
def table_of_functions(x, name):
    table = {"sin": np.sin, "cos": np.cos, "both": lambda t: np.sin(t) * np.cos(t)}
    return table[name](x) + table["both"](x)


@program(0.4)
def composition(x):
    def compose(*functions):
        def composed(t):
            for f in reversed(functions):
                t = f(t)
            return t

        return composed

    return compose(np.exp, lambda t: t * x, np.sin)(x)


@program(0.4)
def function_returns_functions(x):
    def polynomial(*coefficients):
        def value(t):
            return sum(c * t**k for k, c in enumerate(coefficients))

        def slope(t):
            return sum(k * c * t ** (k - 1) for k, c in enumerate(coefficients) if k)

        return value, slope

    p, dp = polynomial(1.0, x, 0.5, x**2)
    return p(x) + 2 * dp(0.3)


@program(normal(3), uniform(3))
def several_results(x, w):
    def moments(values):
        mean = np.sum(w * values) / np.sum(w)
        return mean, np.sum(w * (values - mean) ** 2), {"largest": np.max(values)}

    mean, spread, extra = moments(x)
    return mean * spread + extra["largest"]


@program(1.7)
def higher_order(x):
    def derivative(f, h=1e-2):
        return lambda t: (f(t + h) - f(t - h)) / (2 * h)

    return derivative(derivative(np.log))(x)


@program(uniform(2), 4)
def fixed_point_with_callback(x, n):
    def iterate(step, start, n):
        value = start
        for _ in range(n):
            value = step(value)
        return value

    return iterate(lambda v: np.cos(v * x), x, n)


@program(0.3)
def typed(x: float, scale: float = 2.0) -> float:
    y: float = x * scale
    z: "float | None" = None
    if z is None:
        z = y**2
    return z + y


def halved_or_lowered(x):
    return x * 0.5 if x > 0.1 else x - 0.2


@program(0.9)
@program(0.15)
def calls_that_keep_only_a_flag(x):
    a = halved_or_lowered(x)
    b = halved_or_lowered(a)
    c = halved_or_lowered(b)
    d = halved_or_lowered(c)
    low, high = halved_or_lowered(c * d), halved_or_lowered(a * d)
    most = high if high > low else low
    return a * (b + c + d) + most * (b + 2 * c)
