"""Names, attributes, stores and calls in a staged run mean what they mean in Python."""

# ruff: noqa: BLE001 (users write such clauses)

import datetime
import functools
import uuid

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import SourceError, TapelessError, UnsupportedError
from tests.transforms.staging import block_of, close_to, compiled, lets, slope

V = np.array([0.3, -0.5, 0.9])
total = 0.0


class Base:
    scale = 2.0

    def __init__(self, x):
        self.__hidden = x
        self.count = 0

    @property
    def hidden(self):
        self.count += 1
        return self.__hidden

    @hidden.setter
    def hidden(self, value):
        self.__hidden = value * 3

    @functools.cached_property
    def square(self):
        self.count += 10
        return self.__hidden * self.__hidden

    @staticmethod
    def doubled(x):
        return 2 * x

    @classmethod
    def scaled(cls, x):
        return cls.scale * x

    def __add__(self, other):
        return self.hidden + other

    def __getitem__(self, k):
        return self.hidden * k

    def __call__(self, x, *, power=1):
        return self.hidden * x**power


class Child(Base):
    scale = 5.0

    def __call__(self, x, **kw):
        return super().__call__(x, **kw) + super().scaled(x)


def properties(x):
    b = Base(x)
    b.hidden = b.hidden + 1
    return b.hidden * b.square + b.square + b.count


def methods(x):
    c = Child(x)
    return c(x, power=2) + c.doubled(x) + Child.scaled(x) + (c + x) + c[3]


def global_store(x):
    global total
    total = x * 2
    total += x
    return total * x


def evaluated_once(x):
    calls = {"n": 0}

    def value(v):
        calls["n"] += 1
        return v

    d = {"a": [x, 2.0]}
    d[value("a")][value(1)] *= value(x)
    if value(0.0) < value(x) < value(100.0):
        x = x * calls["n"]
    return d["a"][1] * x + calls["n"]


def short_circuits(x):
    calls = []

    def value(v, name):
        calls.append(name)
        return v

    found = (value(0, "a") and value(x, "b")) or value(3.0, "c") or value(x, "d")
    return found * x + len(calls)


def partials(x):
    def f(a, b, *, c=1.0):
        return a * b + c

    g = functools.partial(functools.partial(f, 2.0), c=x)
    return g(x) + functools.reduce(lambda a, b: a * b, [x, x, 3.0])


@functools.cache
def cached(k):
    return 1.0 if k == 0 else cached(k - 1) * k


def caches(x):
    return cached(4) * x


def defaults(x, y=None, *rest, z=3.0, **named):
    y = x if y is None else y
    return x * y * z + sum(rest) + named.get("w", 0.0)


def calls_defaults(x):
    return defaults(x) + defaults(x, 2.0, x, x, z=1.0, w=x) + defaults(x=x)


def unpacked(x):
    (a, b), *rest = (x, x * x), 3.0, 4.0
    first, *_, last = [a, *rest, b]
    v = np.array([1.0, 2.0]) * x
    p, q = v
    return first * last + len(rest) + p * q


def counters(x):
    box = {"n": 0}
    box["n"] += 1
    names = {*"ab"} - {"a"}
    names |= {"c"}
    text = "".join(sorted(names))
    return x * box["n"] * len(text)


@pytest.mark.parametrize(
    "function",
    [
        properties,
        methods,
        global_store,
        evaluated_once,
        short_circuits,
        partials,
        caches,
        calls_defaults,
        unpacked,
        counters,
    ],
)
def test_values_and_derivatives(function):
    expected = function(1.5)
    value, grad = tapeless.value_and_grad(function)(1.5)
    close_to(value, expected)
    close_to(grad, slope(function, 1.5), 1e-5)


def test_a_global_is_written_when_the_program_runs():
    global total
    total = 0.0
    grad = tapeless.grad(global_store)
    assert grad.source(1.5)
    assert total == 0.0
    grad(2.0)
    assert total == 6.0


def wrong_unpack(x):
    a, b = x, x, x  # noqa: F841
    return x


def unknown_name(x):
    return x + no_such_name  # noqa: F821, the point


def attribute(x):
    return Base(x).nothing


def key(x):
    return {"a": x}["b"]


def early(x):
    y = z + x  # noqa: F821, the point
    z = 1.0
    return y + z


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (wrong_unpack, ValueError, "unpack"),
        (unknown_name, NameError, "no_such_name"),
        (attribute, AttributeError, "nothing"),
        (key, KeyError, "b"),
        (early, UnboundLocalError, "'z'"),
    ],
)
def test_mistakes_of_the_user_are_pythons_errors(function, error, message):
    with pytest.raises(error, match=message):
        function(1.5)
    with pytest.raises(error, match=message):
        tapeless.grad(function)(1.5)


@pytest.mark.parametrize("impure", [uuid.uuid1, uuid.uuid4, datetime.datetime.now])
def test_what_gives_other_values_each_time_is_not_frozen(impure):
    with pytest.raises(UnsupportedError, match="frozen by staging"):
        block_of(lambda x: x * impure(), 1.5)


def test_users_except_clauses_do_not_catch_what_steers_staging():
    def f(x, k):
        try:
            return [x, x * x][k]
        except BaseException:
            return -x

    assert tapeless.grad(f)(3.0, 1) == 6.0

    def refused(x):
        try:
            return np.frompyfunc(abs, 1, 1)(x, out=x)
        except Exception:
            return x

    with pytest.raises(TapelessError):
        tapeless.grad(refused)(3.0)


def test_a_function_without_source_is_refused():
    values = {"np": np}
    exec("def straight(x):\n    return np.sin(x) * x", values)
    with pytest.raises(SourceError, match="the source of straight is not available"):
        tapeless.grad(values["straight"])(1.5)


def test_numpy_functions_are_recorded_by_rule_wherever_they_come_from():
    sine = np.sin
    table = {"sin": np.sin, "method": V.sum}

    def f(v):
        return np.sum(sine(v)) + np.sum(table["sin"](v)) + getattr(v, "sum")()  # noqa: B009

    block = block_of(f, V)
    assert len(lets(block, "sin")) == 2
    close_to(compiled(block)(V.copy())[0], f(V))


def test_members_of_sets_and_dicts_by_data():
    large = tapeless.jit(lambda x: {v for v in x if v > 1})
    assert (large([1.0, 2.0]), large([3.0, 2.0])) == ({2.0}, {3.0, 2.0})
    places = tapeless.jit(lambda x: {k: v for k, v in enumerate(x) if v > 1})
    assert (places([1.0, 2.0]), places([3.0, 0.0])) == ({1: 2.0}, {0: 3.0})


def test_numbers_from_named_arguments():
    call = tapeless.jit(lambda n: (int("ff", base=16) * n, complex(real=1.0, imag=2.0)))
    assert call(2) == (510, 1 + 2j)


def test_an_array_of_texts_at_an_integer():
    table = np.array([["a", "b"], ["c", "d"]])
    call = tapeless.jit(lambda i, j: str(table[i - 1, j - 1]))
    assert (call(1, 2), call(2, 1)) == ("b", "c")


class Scaled:
    def __init__(self, x):
        self.x = x

    def value(self):
        return self.x


Plain = Scaled


class Scaled(Plain):
    def value(self):
        return 2 * super().value()


Twice = Scaled


class Scaled(Twice):
    def __init__(self, x, shift):
        super().__init__(x)
        self.shift = shift

    def value(self):
        return 3 * super().value() + self.shift

    @property
    def above(self):
        return super().value() + 1.0


def test_super_of_classes_that_share_a_name():
    def f(x):
        class Scaled(Twice):
            def value(self):
                return 5 * super().value()

        return Outer(x, 1.0).value() + Outer(x, 1.0).above * Scaled(x).value()

    Outer = Scaled  # noqa: N806  # a class
    assert f(3.0) == 229.0
    close_to(tapeless.jit(f)(3.0), 229.0)
    close_to(tapeless.grad(f)(3.0), 6.0 + 2.0 * 30.0 + 7.0 * 10.0)
