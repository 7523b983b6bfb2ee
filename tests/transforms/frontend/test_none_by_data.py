"""What Python says of a variable that is a number, or None, as data decides."""

import pytest

import tapeless
from tapeless import grad, jit


def found(x, value=10):
    return value if x > 4 else None


def used(x):
    z = found(x, x)
    return z * 2 if z else -1.0


def loop(x):
    best = None
    for k in range(5):
        if x * k > 6 and not best:
            best = x * k
    return best or -1.0


def passes(x):
    z, n = found(x), 0
    while z and n < 3:
        n += 1
    return n


def of_a_class(x):
    z = found(x, x)
    if isinstance(z, float):
        return z + 1.0
    return 0.0


FUNCTIONS = {
    "class": lambda x: isinstance(found(x), int),
    "class of floats": lambda x: isinstance(found(x, x), float),
    "class of None": lambda x: isinstance(found(x), type(None)),
    "both": lambda x: isinstance(found(x), (int, type(None))),
    "neither": lambda x: isinstance(found(x), str),
    "nested": lambda x: isinstance(found(x), (str, (int,))),
    "type": lambda x: (type(found(x)) is int, type(found(x)) is type(None)),
    "bool": lambda x: bool(found(x)),
    "not": lambda x: (not found(x), not found(x, 0), not found(x, x - 5)),
    "test": lambda x: (5 if found(x) else 6, 5 if found(x, 0) else 6, 5 if found(x, x - 5) else 6),
    "or": lambda x: found(x) or 3,
    "and": lambda x: (found(x) and 3) is None,
    **{f.__name__: f for f in (used, loop, passes, of_a_class)},
}


def emitted(f):
    return lambda x: tapeless.value_and_grad(lambda w: (w, f(x)), has_aux=True)(1.0)[0][1]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("x", [0.7, 5.0, 7.0])
def test_as_python(name, x):
    f = FUNCTIONS[name]
    for made in (emitted(f)(x), jit(f)(x)):
        assert made == f(x)
        if name not in ("used", "loop"):
            assert [type(v) for v in tapeless.tree.leaves(made)] == [
                type(v) for v in tapeless.tree.leaves(f(x))
            ]


@pytest.mark.parametrize("f", [used, loop, of_a_class])
@pytest.mark.parametrize("x", [0.7, 7.0])
def test_derivatives(f, x):
    change = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    assert grad(f)(x) == pytest.approx(change)
    assert jit(grad(f))(x) == pytest.approx(change)


@pytest.mark.parametrize("look", [lambda z: isinstance(z, int), lambda z: type(z) is int])
def test_a_variable_that_is_not_set_has_no_class(look):
    def f(x):
        if x > 4:
            z = 1
        return look(z)

    assert jit(f)(5.0)
    with pytest.raises(UnboundLocalError):
        jit(f)(0.5)
