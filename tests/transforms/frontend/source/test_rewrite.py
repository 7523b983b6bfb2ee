"""Rewritten functions do what they did, at the positions where the user wrote it."""

# ruff: noqa: B905, C416 (users write so)

import ast
import functools
import itertools
import math
import statistics
import traceback
import uuid

import numpy as np
import pytest

import tapeless
from tapeless.staging.user_calls import call_user
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.hooks.hooks import Hooks
from tapeless.transforms.frontend.source.rewrite import known_codes, rewritten
from tapeless.transforms.frontend.source.scopes import bound_names
from tapeless.transforms.frontend.staging.stage import stage

LIMIT = 3


def run(function, *args):
    """What the rewritten function gives for values that are all known."""
    found = []

    def call(params):
        found.append(call_user(function, *args))
        return 0

    stage(call, [], [])
    return found[-1]


def statements(a, b, log):
    x = y = a
    x, (y, *rest) = b, (a, x, y)
    z: int = x - y
    log.append((x, y, rest, z))
    for k, v in enumerate([a, b]):
        if k == a:
            continue
        if v == b:
            log.append("equal")
            break
    else:
        log.append("else")
    while x < LIMIT:
        x += 1
    del z
    assert x >= LIMIT, "x is small"
    return x, y


def expressions(a, b, log):
    log.append((a and b) or "neither")
    log.append(0 <= a < b <= LIMIT)
    log.append([i * j for i in range(a) for j in range(b) if i != j])
    log.append({k: v for k, v in zip("abc", range(b))})
    log.append({*range(a)} | {n := a + 1})
    log.append(f"{a:>3} {b!r} {n}")
    log.append(a if b else -a)
    log.append((lambda x, y=b, *r, k=1, **kw: (x, y, r, k, kw))(a, *range(b), k=2, m=3))
    log.append([*range(a), *"xy"][1:-1:1])
    log.append(sum(i for i in range(b)))
    log.append(not a)
    log.append(b in (1, 2) and a not in [0])
    log.append(-a + b * 2 - a // (b + 1) ** 2 % 3 << 1 | 4 & 6 ^ 1)


def functions(a, b, log):
    total = 0

    def add(x, *more, by=1, **named):
        nonlocal total
        total += x * by + sum(more)
        return sorted(named)

    def count(n):
        yield n
        for k in range(n):
            if k == b:
                return
            yield -k

    class Base:
        kind = "base"

        def __init__(self, value):
            self.__value = value

        @property
        def value(self):
            return self.__value

        @classmethod
        def make(cls, value):
            return cls(value)

        def twice(self):
            return self.value * 2

    class Child(Base):
        kind = Base.kind + " child"

        def twice(self):
            return super().twice() + 1

    log.append(add(a, b, by=3, z=1, y=2))
    log.append(total)
    log.append(list(count(a)))
    child = Child.make(b)
    log.append((child.kind, child.twice(), isinstance(child, Base)))
    child.extra = [a]
    child.extra[0] += 1
    child.extra += [b]
    log.append(child.extra)
    return add.__name__, Child.__name__


def matching(a, b, log):
    for value in (a, [a, b], {"k": b, "m": a}, "text", (1, 2, 3)):
        match value:
            case 0 | 1:
                log.append("small")
            case [x, y] if x < y:
                log.append(("pair", x, y))
            case {"k": k, **rest}:
                log.append((k, rest))
            case [first, *others]:
                log.append((first, others))
            case str() as s:
                log.append(s)
            case _:
                log.append("other")


def contexts(a, b, log):
    class Manager:
        def __enter__(self):
            log.append("enter")
            return self

        def __exit__(self, kind, value, tb):
            log.append(kind and kind.__name__)
            return kind is ValueError

    with Manager() as m, Manager():
        log.append(m is not None)
        if a > b:
            raise ValueError("a")
        if a == b:
            return "equal"
    try:
        1 // a
    except (ZeroDivisionError, KeyError) as e:
        log.append(str(e))
    else:
        log.append("fine")
    return "end"


def logged(function, a, b):
    log = []
    value = function(a, b, log)
    return value, log


@pytest.mark.parametrize("function", [statements, expressions, functions, matching, contexts])
def test_known_values_behave_as_in_python(function):
    for args in itertools.product(range(4), repeat=2):
        assert run(logged, function, *args) == logged(function, *args), args


def test_what_a_rewritten_function_keeps():
    def f(a, /, b=2, *args, c=3, **kw):
        return a, b, args, c, kw

    made = rewritten(f, Hooks(f))
    assert (made.__name__, made.__qualname__) == (f.__name__, f.__qualname__)
    assert (made.__defaults__, made.__kwdefaults__) == ((2,), {"c": 3})
    assert made.__code__.co_filename == __file__
    assert made.__code__ in known_codes
    assert run(lambda: f(1, 5, 6, c=7, d=8)) == (1, 5, (6,), 7, {"d": 8})


def test_a_function_is_rewritten_once():
    def make(k):
        return lambda x: x + k

    one, two = make(1), make(2)
    assert rewritten(one, Hooks(one)).__code__ is rewritten(two, Hooks(two)).__code__
    assert [run(one, 5), run(two, 5)] == [6, 7]


def test_lines_are_the_users():
    """A traceback through rewritten code points at the line that the user wrote."""

    def f(x):
        if x:
            for k in [1, 2]:
                y = [k][x]
        return y

    with pytest.raises(IndexError) as met:
        run(f, 5)
    frames = traceback.extract_tb(met.value.__traceback__)
    innermost = [t.lineno for t in frames if t.filename == __file__][-1]
    assert innermost - f.__code__.co_firstlineno in (3, 4, 5)


@pytest.mark.parametrize(
    ("text", "bound", "outer", "free"),
    [
        ("a = b", {"a"}, set(), set()),
        ("a, (b, *c) = d", {"a", "b", "c"}, set(), set()),
        ("for i in x:\n    y += 1", {"i", "y"}, set(), set()),
        ("with a as b, c as (d, e): pass", {"b", "d", "e"}, set(), set()),
        ("global g\ng = h = 1", {"h"}, {"g"}, set()),
        ("nonlocal n\nn += 1", set(), set(), {"n"}),
        ("x = [i for i in y if (w := i)]", {"x", "w"}, set(), set()),
        ("f = lambda q: (r := q)", {"f"}, set(), set()),
        ("def f(a=(b := 1)):\n    c = 2", {"f", "b"}, set(), set()),
        ("class C:\n    x = 1", {"C"}, set(), set()),
        ("import a.b, c as d\nfrom e import f as g", {"a", "d", "g"}, set(), set()),
        ("try: pass\nexcept E as e: x = 1", {"e", "x"}, set(), set()),
        ("match v:\n    case {'k': [a, *b], **c} as d: pass", {"a", "b", "c", "d"}, set(), set()),
        ("del a\na.b = c[d] = 1", {"a"}, set(), set()),
    ],
)
def test_which_names_a_body_binds(text, bound, outer, free):
    assert bound_names(ast.parse(text).body) == (bound, outer, free)


async def asynchronous(x):
    return x


def awaiting(x):
    async def inner():
        return x

    return inner()


@pytest.mark.parametrize("function", [asynchronous, awaiting])
def test_what_cannot_be_staged_is_shown_with_its_place(function):
    with pytest.raises(UnsupportedError, match="cannot be staged") as met:
        run(function, 1.0)
    assert met.value.where[0] == __file__
    assert "^^^" in str(met.value)


def timed(function):
    @functools.wraps(function)
    def wrapper(*args):
        start = uuid.uuid4().int
        return function(*args), start

    return wrapper


def doubled(function):
    @functools.wraps(function)
    def wrapper(x):
        total = x
        while total < 10.0:
            total = function(total) * 2.0
        return total

    return wrapper


@pytest.mark.parametrize("function", [abs, np.sin, np.cumsum, math.sqrt, statistics.mean])
def test_users_decorators_of_library_functions_are_entered(function):
    slope = tapeless.grad(doubled(lambda x: x))
    named = doubled(lambda x: x)
    functools.update_wrapper(named, function)
    assert tapeless.grad(named)(1.5) == slope(1.5) == 8.0


def test_errors_in_decorators_that_take_a_name_have_their_line():
    with pytest.raises(UnsupportedError, match=r"uuid\.uuid4") as e:
        tapeless.jit(timed(statements))(1.0)
    assert e.value.where[:2] == (__file__, timed.__code__.co_firstlineno + 3)
