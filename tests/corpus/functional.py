"""functools, itertools, operator and decorators."""

import functools
import itertools
import math
import operator
from functools import lru_cache, partial, reduce

import numpy as np

from tests.corpus import normal, program, uniform


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


def repeated(times):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(x):
            for _ in range(times):
                x = function(x)
            return x

        return wrapper

    return decorate


@logged
def softened(x, width=0.5):
    return np.sqrt(x**2 + width**2)


@repeated(times=3)
def squeeze(x):
    return np.tanh(x) * 1.2


@lru_cache(maxsize=None)
def binomial(n, k):
    if k in (0, n):
        return 1
    return binomial(n - 1, k - 1) + binomial(n - 1, k)


@program(normal(3))
def decorated_with_wraps(x):
    return softened(x) * softened(x, width=1.0)


@program(0.7)
def decorator_with_argument(x):
    return squeeze(x) + squeeze(squeeze(x))


@program(0.3, 4)
def cached_static_recursion(p, n):
    return sum(binomial(n, k) * p**k * (1 - p) ** (n - k) * k**2 for k in range(n + 1))


@program(0.8)
def cached_closure(x):
    @lru_cache(maxsize=None)
    def legendre(n):
        if n < 2:
            return x if n else 1.0
        return ((2 * n - 1) * x * legendre(n - 1) - (n - 1) * legendre(n - 2)) / n

    return legendre(5) + legendre(3)


@program(0.6, 1.4, wrt=(0, 1))
def partial_arguments(x, y):
    def gaussian(t, mean, width):
        return np.exp(-(((t - mean) / width) ** 2))

    standard = partial(gaussian, mean=x, width=y)
    at_zero = partial(gaussian, 0.0)
    return standard(0.5) + at_zero(x, y) + partial(standard, width=2.0)(1.0)


@program(normal(4))
def reduce_over_elements(x):
    return reduce(lambda total, element: total * 0.5 + element**2, x, 1.0)


@program([normal(2, 3), normal(3, 3, seed=1), normal(3, 2, seed=2)])
def reduce_with_matmul(matrices):
    return np.trace(reduce(operator.matmul, matrices))


@program(0.4)
def reduce_composes(x):
    steps = (np.sin, np.exp, lambda t: t * x)
    return reduce(lambda value, step: step(value), steps, x)


@program(1.3, 0.6, wrt=(0, 1))
def operator_functions(x, y):
    pair = (operator.mul(x, y), operator.truediv(x, y))
    first, second = operator.itemgetter(0)(pair), operator.itemgetter(1)(pair)
    return operator.add(first, operator.pow(second, 3)) - operator.neg(x)


@program({"x": 1.3, "y": 0.6})
def operator_getters(point):
    keys = operator.itemgetter("x", "y")
    x, y = keys(point)
    table = {"+": operator.add, "-": operator.sub, "*": operator.mul}
    return reduce(lambda total, symbol: total * table[symbol](x, y), "+-*", 1.0)


@program((0.4, 1.3, -0.6))
def combinations_of_charges(charges):
    energy = 0.0
    for (i, a), (j, b) in itertools.combinations(enumerate(charges), 2):
        energy += a * b / (j - i)
    return energy


@program(normal(2), normal(3, seed=1), wrt=(0, 1))
def product_of_indices(x, y):
    total = 0.0
    for i, j in itertools.product(range(2), range(3)):
        total += np.sin(x[i] * y[j])
    return total


@program(0.4, 1.3, wrt=(0, 1))
def chained_and_cycled(a, b):
    total = 0.0
    for sign, value in zip(itertools.cycle((1, -1)), itertools.chain([a, b], (a * b,), [a**2])):
        total += sign * value**2
    return total


@program((0.4, 1.3, -0.6))
def accumulated(values):
    total = 0.0
    for partial_sum in itertools.accumulate(values):
        total += partial_sum**2
    for partial_product in itertools.accumulate(values, operator.mul):
        total += partial_product
    return total


@program([0.4, 1.3, -0.6, 0.9])
def pairwise_and_islice(values):
    steps = sum((b - a) ** 2 for a, b in itertools.pairwise(values))
    return steps * sum(itertools.islice(values, 1, None, 2))


@program(0.5)
def count_and_takewhile(x):
    terms = (
        x**n / math.factorial(n) for n in itertools.takewhile(lambda n: n < 8, itertools.count())
    )
    return sum(terms)


@program((0.4, 1.3), (2.0, 0.5), wrt=(0, 1))
def starmap_and_zip_longest(a, b):
    products = sum(itertools.starmap(operator.mul, zip(a, b)))
    padded = [x * y for x, y in itertools.zip_longest(a, (b[0],), fillvalue=1.0)]
    return products * padded[0] + padded[1]


@program(uniform(4))
def builtin_reductions(x):
    a, b, c, d = x
    spread = max(a, b, c, d) - min([a, b, c])
    ordered = sorted([a, b, c, d])
    return spread * sum([a, b, c]) + pow(ordered[0], 2) * abs(-d) + max(a - 10, 0.5)


@np.errstate(all="ignore")
def ratio(x, y):
    return np.where(y > 0, x / y, x * y)


@program(normal(3), normal(3, seed=1), wrt=(0, 1))
def decorated_by_numpy(x, y):
    return ratio(x, y) ** 2


@functools.singledispatch
def size_of(shape):
    return shape**2


@size_of.register
def _(shape: tuple):
    return size_of(shape[0]) * shape[1]


@program(0.7, 1.2, wrt=(0, 1))
def decorated_by_singledispatch(x, y):
    return size_of((x, y)) + size_of((size_of((y, x)), x))


evaluations = 0


@program(0.7)
def global_written(x):
    global evaluations
    evaluations = 0

    def f(t):
        global evaluations
        evaluations += 1
        return np.sin(t)

    return f(f(x)) * x + evaluations * f(x)
