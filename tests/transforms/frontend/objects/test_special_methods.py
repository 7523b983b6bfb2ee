"""Special methods of users' classes, and what they read and change of outer objects."""

import operator

import numpy as np
import pytest

import tapeless

V = np.array([1.0, -2.0])


class Linear:
    def __init__(self, w):
        self.w, self.uses = w, 0

    def __matmul__(self, x):
        return self.w @ x

    def __rmul__(self, x):
        return x * self.w[0, 0]

    def __neg__(self):
        return -self.w

    def __invert__(self):
        return self.w.T

    def __lt__(self, x):
        return self.w[0, 0] < x

    def __getitem__(self, k):
        return self.w[k]

    def __contains__(self, x):
        return x > self.w[0, 0]

    def __iter__(self):
        yield from self.w

    def __float__(self):
        return float(self.w[0, 0])

    def __bool__(self):
        return bool(self.w[0, 0] > 1.5)

    def __array__(self, dtype=None, copy=None):
        return self.w

    def __sub__(self, x):
        self.uses += 1
        return self.uses * x


OUTER = Linear(np.eye(2))
USES = {
    "matmul": lambda x: np.sum(OUTER @ (x * V)),
    "operator.matmul": lambda x: np.sum(operator.matmul(OUTER, x * V)),
    "reflected": lambda x: x * OUTER,
    "neg": lambda x: x * np.sum(-OUTER),
    "invert": lambda x: x * np.sum(~OUTER),
    "less": lambda x: x * 2 if OUTER < 1.5 else x * 3,
    "greater": lambda x: x * 2 if x > OUTER else x * 3,
    "item": lambda x: np.sum(OUTER[0] * x),
    "contains": lambda x: x * 2 if 1.5 in OUTER else x * 3,
    "iter": lambda x: sum(np.sum(row) * x for row in OUTER),
    "unpack": lambda x: sum(x * b[1] * a[0] for a, b in [OUTER]),
    "float": lambda x: x * float(OUTER),
    "bool": lambda x: x * 2 if OUTER else x * 3,
    "and": lambda x: x * 2 if x > 0 and OUTER else x * 3,
    "array": lambda x: x * np.sum(OUTER),
}


@pytest.mark.parametrize("name", USES)
def test_what_a_special_method_reads_is_read_anew(name):
    slope = tapeless.grad(USES[name])
    for scale in (1.0, 2.0):
        OUTER.w = scale * np.eye(2)
        f = USES[name]
        assert np.isclose(slope(1.2), (f(1.2 + 1e-6) - f(1.2 - 1e-6)) / 2e-6)


@pytest.mark.parametrize("n", [0, 4])
def test_what_a_special_method_changes_is_changed_at_each_pass(n):
    def f(x, outer):
        for _ in range(n):
            x = outer - x
        return x

    slope = tapeless.grad(lambda x: f(x, OUTER))
    for _ in range(2):
        OUTER.uses, other = 3, Linear(np.eye(2))
        other.uses = 3
        assert np.isclose(slope(1.0), f(1.0, other))
        assert OUTER.uses == other.uses


@pytest.mark.parametrize(("x", "kind"), [(1.0, "numpy.float64"), (V, "numpy.ndarray")])
def test_an_operator_that_has_no_meaning_is_refused_in_words_of_numpy(x, kind):
    with pytest.raises(TypeError, match=f"for \\+: '{kind}' and 'NoneType'"):
        tapeless.grad(lambda x: np.sum(x) * 0 + x + None)(x)


def test_an_operator_that_nobody_has_is_refused_as_in_python():
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+"):
        tapeless.grad(lambda x: OUTER + "text" and x)(1.0)


class Bag:
    def __init__(self, content):
        self.content = content

    def __bool__(self):
        return bool(np.sum(self.content) > 0)


def of_an_empty_bag(x):
    bag = Bag(x)
    if not bag:
        return x * 2
    return x * 3 if (not bag and x[0] > 0) or bag else x


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_not_of_an_object_whose_truth_is_data(sign):
    x = sign * np.abs(V)
    np.testing.assert_allclose(tapeless.jit(of_an_empty_bag)(x), of_an_empty_bag(x))
    np.testing.assert_allclose(tapeless.vmap(of_an_empty_bag)(x[None])[0], of_an_empty_bag(x))


class Boxed:
    """An object that holds an array, and adds as arrays do."""

    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return self.x

    def __add__(self, other):
        return Boxed(self.x + np.asarray(other))

    def __radd__(self, other):
        return Boxed(2.0 * (other + self.x))


class Claiming(Boxed):
    __array_priority__ = 10.0


def stored(x):
    table = np.zeros((2, x.size))
    table[1] = Boxed(x)
    return table


def added_in_place(x):
    y = x * 1.0
    y += Boxed(x)
    return y


AS_ARRAYS = {
    "in a list": lambda x: np.hstack([np.ones(2), Boxed(x)]),
    "in a tuple in a list": lambda x: np.array([(Boxed(x), x)]),
    "in a list that a loop fills": lambda x: np.stack([Boxed(k * x) for k in range(3)]),
    "right of an array": lambda x: x + Boxed(x),
    "right of a number of NumPy": lambda x: x[0] + Boxed(x),
    "left of an array, without the operator": lambda x: Boxed(x) * x,
    "in place": added_in_place,
    "stored": stored,
    "claims operators": lambda x: (x + Claiming(x)).x,
    "right of a number of Python": lambda x: (1.0 + Boxed(x)).x,
}


@pytest.mark.parametrize("name", AS_ARRAYS)
def test_objects_that_say_which_array_they_are_are_that_array_to_numpy(name):
    f = AS_ARRAYS[name]
    np.testing.assert_array_equal(tapeless.jit(f)(V), f(V))
    np.testing.assert_array_equal(tapeless.vmap(f)(np.stack([V, 2 * V]))[1], f(2 * V))
    slope = (f(V * (1 + 1e-6)) - f(V * (1 - 1e-6))) / 2e-6
    np.testing.assert_allclose(tapeless.jacfwd(f)(V) @ V, slope, rtol=1e-6)


class Power:
    """Is equal to what has the same number, and callable."""

    def __init__(self, n):
        self.n = n

    def __call__(self, x):
        return x**self.n

    def __eq__(self, other):
        return self.n == other.n


class HashedPower(Power):
    def __hash__(self):
        return hash(self.n.shape)

    __eq__ = Power.__eq__


@pytest.mark.parametrize("kind", [Power, HashedPower])
def test_callable_objects_are_not_asked_whether_they_are_functions_of_python(kind):
    def f(x):
        return np.sum(kind(x)(x)) + sum(map(kind(x[1]), x))

    x = np.array([1.5, 2.5])
    assert np.isclose(tapeless.jit(f)(x), f(x))
    slope = (f(x * (1 + 1e-6)) - f(x * (1 - 1e-6))) / 2e-6
    assert np.isclose(tapeless.grad(f)(x) @ x, slope)
