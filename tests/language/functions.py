"""Functions of every kind, and the parts of the standard library that work on them."""

import contextlib
import functools
import itertools
import operator
from functools import partial
from pathlib import Path

import numpy as np

from tests.language import row, traced


@row("nested functions")
def nested(x):
    def layer(v, w):
        def squash(u):
            return np.tanh(u * x[0])

        return squash(v * w)

    return np.sum(layer(layer(x, 2.0), x[1]))


@row("closures: reads of changing outer variables, `nonlocal`")
def closes(x):
    total = x[0]

    def read(v):
        return v * total

    def add(v):
        nonlocal total
        total = total + v**2

    y = read(x[1])
    add(x[2])
    return y * read(x[1])


@row("lambdas: several on a line, defaults")
def lambdas(x):
    f, g = lambda v: v * v, lambda v, k=3: np.sin(v) * k
    steps = [lambda v, n=n: v**n for n in (1, 2, 3)]
    return sum(f(g(v)) for v in x) + steps[2](x[0]) * steps[1](x[2])


def power(v, n):
    return 1.0 if n == 0 else v * power(v, n - 1)


def even(v, n):
    return v if n == 0 else odd(v * v, n - 1)


def odd(v, n):
    return v if n == 0 else even(np.sin(v), n - 1)


@row("recursion to a known depth, mutual recursion")
def recursive(x):
    return power(x[0], 5) + even(x[1], 3) * x[2]


def halve(v, scale):
    if v < 1:
        return scale * v
    return halve(v / 2, scale * scale)


def up(v):
    if v > 10:
        return np.log(v)
    return down(v * v + 1)


def down(v):
    if v > 20:
        return v
    return up(v + 0.5)


@row("recursion to a depth that depends on data")
def recursive_on_data(x):
    return halve(5 * x[2], x[0]) * x[1] + up(x[0])


def smooth(v, w):
    u = np.tanh(v * w) + v
    u = u - np.mean(u)
    return u / np.sqrt(np.sum(u * u) + 1.0)


@row("functions called many times")
def called_often(x):
    v = x
    for w in (0.5, 0.7, 0.9, 1.1, 1.3, 1.5):
        v = smooth(v, w * x[0])
    return np.sum(v * x)


@traced("a list from outside that grows in such a recursion", "not always built alike")
def list_grows_in_recursion(x):
    found = []

    def visit(v):
        found.append(v)
        if v > 0.1:
            visit(v / 2)

    visit(x[0])
    return sum(found) + x[1] + x[2]


@row("`functools`: `partial`, `reduce`, `lru_cache`, `wraps`")
def functools_(x):
    scale = partial(operator.mul, x[0])
    total = functools.reduce(lambda a, b: a * b + 1, [x[0], x[1], x[2]], 0.5)
    return scale(total) + partial(np.sum, axis=0)(x**2) + logged(cached)(3) * x[1] ** 2


@functools.lru_cache
def cached(n):
    return n * n / 2


def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs) + len(function.__name__)

    return inner


@row("`itertools` and `operator`")
def itertools_(x):
    total = 0.0
    for a, b in itertools.combinations([x[0], x[1], x[2]], 2):
        total += operator.mul(a, b) ** 2
    for i, j in itertools.product(range(3), range(2)):
        total += operator.getitem(x, i) * x[j]
    for v in itertools.chain([x[0]], (x[1],)):
        total = operator.add(total, v**3)
    return total + sum(itertools.accumulate([x[0], x[1], x[2]], operator.mul))


@contextlib.contextmanager
def noted(log):
    log.append("in")
    yield len(log)
    log.append("out")


@row("decorators of other libraries")
def decorated(x):
    log = []
    with noted(log) as n:
        y = x**2 * n
    return np.sum(y) * len(log)


@row("`with np.errstate`")
def errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), x**2)
    return np.sum(y * x)


class Scope:
    """A context manager of a user's own."""

    def __init__(self, value):
        self.value = value

    def __enter__(self):
        self.value = self.value * 2
        return self

    def __exit__(self, *exc):
        self.value = self.value**2
        return False


@row("users' own context managers")
def managed(x):
    with Scope(x[0]) as scope:
        y = scope.value * x[1]
    return y * scope.value + x[2] ** 2


def many(first, *rest, scale=1.0, **named):
    return first * scale + sum(rest) ** 2 + named["last"] * first


@row("defaults, keywords, `*args`, `**kwargs`")
def passes(x):
    return many(x[0], x[1], x[2], scale=x[1], last=x[2]) + many(x[0], last=x[1])


@row("`np.load`, `open`, `Path.read_text`, `json.load` and their like")
def reads_files(x):
    with open(__file__) as file:
        first = file.readline()
    words = Path(__file__).read_text().split()
    return np.sum(x**2) * len(first.split()) + len(words) * x[0]
