"""What was staged is never run after something that staging read has become another."""

import types

import numpy as np
import pytest

import tapeless


def module(**values):
    made = types.ModuleType("of_a_user")
    vars(made).update(values)
    return made


def double(x):
    return x * 2.0


def cube(x):
    return x**3


def with_default(x, k=2.0):
    return k * x


def with_keyword(x, *, k=2.0, m=1.0):
    return k * x * m


class Model:
    def __init__(self):
        self.k = 2.0

    def loss(self, x):
        return self.k * x

    @staticmethod
    def fixed(x):
        return x + 1.0

    @classmethod
    def of_class(cls, x):
        return x + 2.0

    @property
    def rate(self):
        return self.k

    def __call__(self, x):
        return self.k + x * x


def copied(f, **parts):
    """The same function as another object."""
    made = types.FunctionType(f.__code__, dict(f.__globals__), f.__name__, f.__defaults__)
    made.__kwdefaults__ = dict(f.__kwdefaults__ or {}) or None
    made.__globals__.update(parts)
    return made


def class_copied():
    names = {
        k: copied(v) if isinstance(v, types.FunctionType) else v
        for k, v in vars(Model).items()
        if k not in ("__dict__", "__weakref__")
    }
    for name in ("fixed", "of_class"):
        names[name] = type(names[name])(copied(names[name].__func__))
    names["rate"] = property(copied(Model.rate.fget))
    return type("Model", (), names)


def reads_global(x):
    return helper(x) + 1.0  # noqa: F821 (the tests give it)


def reads_module(x):
    return lib.helper(x) * lib.k  # noqa: F821 (the tests give it)


def counts(x):
    return len([x, x]) * x


def cases():
    """Name, function, and what makes it another one."""
    f = copied(double)
    yield "code", f, lambda: setattr(f, "__code__", cube.__code__)
    h = copied(double)
    g = copied(reads_global, helper=h)
    yield "code of a helper", g, lambda: setattr(h, "__code__", cube.__code__)
    inner = copied(double)
    middle = copied(reads_global, helper=inner)
    outermost = copied(reads_global, helper=middle)
    yield "code two calls inside", outermost, lambda: setattr(inner, "__code__", cube.__code__)
    g2 = copied(reads_global, helper=double)
    yield "a global function", g2, lambda: g2.__globals__.update(helper=cube)
    m = module(helper=copied(double), k=1.0)
    g3 = copied(reads_module, lib=m)
    yield "an attribute of a module", g3, lambda: setattr(m, "helper", cube)
    m4 = module(helper=copied(double), k=1.0)
    g4 = copied(reads_module, lib=m4)
    yield "a number of a module", g4, lambda: setattr(m4, "k", 5.0)
    m5 = module(helper=copied(double), k=1.0)
    g5 = copied(reads_module, lib=m5)
    yield "code in a module", g5, lambda: setattr(m5.helper, "__code__", cube.__code__)
    m6 = module(helper=copied(double), k=1.0)
    g6 = copied(reads_module, lib=m6)
    changed = module(helper=cube, k=2.0)
    yield "a module", g6, lambda: g6.__globals__.update(lib=changed)

    w = copied(with_default)
    yield "defaults", w, lambda: setattr(w, "__defaults__", (5.0,))
    w2 = copied(with_default)
    g7 = copied(reads_global, helper=w2)
    yield "defaults of a helper", g7, lambda: setattr(w2, "__defaults__", (5.0,))
    w3 = copied(with_keyword)
    yield "keyword defaults", w3, lambda: setattr(w3, "__kwdefaults__", {"k": 7.0, "m": 1.0})
    w4 = copied(with_keyword)
    yield "a keyword default", w4, lambda: w4.__kwdefaults__.update(k=7.0)
    w5 = copied(with_keyword)
    g8 = copied(reads_global, helper=w5)
    yield "a keyword default of a helper", g8, lambda: w5.__kwdefaults__.update(m=7.0)

    c = copied(counts)
    yield "a builtin is covered", c, lambda: c.__globals__.update(len=lambda x: 10.0)
    c2 = copied(counts, len=lambda x: 10.0)
    yield "a builtin shows again", c2, lambda: c2.__globals__.pop("len")

    for name in ("loss", "fixed", "of_class"):
        k1 = class_copied()
        o1 = k1()
        bound = getattr(o1, name)
        code = (lambda self, x: x**3).__code__ if name != "fixed" else cube.__code__
        function = getattr(bound, "__func__", bound)
        yield f"code of {name}", bound, lambda f=function, c=code: setattr(f, "__code__", c)
        o2 = class_copied()()
        read = copied(calls_method, o=o2, name=name)
        yield f"{name} of a class", read, lambda o=o2, n=name: setattr(type(o), n, other_method(n))
    o3 = class_copied()()
    yield "__call__ of a class", o3, lambda: setattr(type(o3), "__call__", lambda self, x: x)
    o4 = class_copied()()
    code = (lambda self, x: x).__code__
    yield "code of __call__", o4, lambda c=code: setattr(type(o4).__call__, "__code__", c)
    o5 = class_copied()()
    r5 = copied(reads_rate, o=o5)
    yield (
        "code of a property",
        r5,
        lambda: setattr(type(o5).rate.fget, "__code__", (lambda self: 9.0).__code__),
    )
    k6 = class_copied()
    make = copied(makes, Model=k6)
    code = (lambda self: setattr(self, "k", 11.0)).__code__
    yield "code of __init__", make, lambda c=code: setattr(k6.__init__, "__code__", c)


def calls_method(x):
    return getattr(o, name)(x) * 1.0  # noqa: F821 (the tests give it)


def other_method(name):
    return staticmethod(cube) if name == "fixed" else (lambda self, x: x**3)


def reads_rate(x):
    return o.rate * x  # noqa: F821 (the tests give it)


def makes(x):
    return Model().loss(x)


def of_a_batch(f):
    batched = tapeless.vmap(f)
    return lambda x: batched(np.full(2, x))[0]


TRANSFORMS = {
    "jit": tapeless.jit,
    "value_and_grad": tapeless.value_and_grad,
    "jit of grad": lambda f: tapeless.jit(tapeless.grad(f)),
    "vmap": of_a_batch,
    "inside": lambda f: tapeless.jit(lambda x, f=f: f(x) * 2.0),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("number", range(len(list(cases()))), ids=[c[0] for c in cases()])
def test_what_was_read_has_changed(number, transform):
    _, f, change = [*cases()][number]
    run = TRANSFORMS[transform](f)

    def right(x=1.5, h=1e-4):
        slope = (f(x + h) - f(x - h)) / (2 * h)
        kinds = {"value_and_grad": (f(x), slope), "jit of grad": slope, "inside": 2.0 * f(x)}
        return kinds.get(transform, f(x))

    for _ in range(3):  # also on the quick way
        before = run(1.5)
    np.testing.assert_allclose(before, right(), rtol=1e-6)
    change()
    assert not np.allclose(right(), before, rtol=1e-3)
    for _ in range(3):
        np.testing.assert_allclose(run(1.5), right(), rtol=1e-6)


def test_functions_with_the_same_code_change_one_by_one():
    first, second = copied(double), types.FunctionType(double.__code__, double.__globals__)
    first = types.FunctionType(double.__code__, double.__globals__)
    one, other = tapeless.jit(first), tapeless.jit(second)
    assert one(3.0) == other(3.0) == 6.0
    second.__code__ = cube.__code__
    assert (one(3.0), other(3.0)) == (6.0, 27.0)
    assert tapeless.jit(first)(3.0) == 6.0


def test_compiled_code_of_another_process_is_not_run_after_a_change(monkeypatch, tmp_path):
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path))
    helper = copied(double)
    f = copied(reads_global, helper=helper)
    assert tapeless.jit(f)(3.0) == 7.0
    tapeless.clear_caches()
    again = tapeless.jit(f)
    assert again(3.0) == 7.0
    helper.__code__ = cube.__code__
    assert again(3.0) == 28.0
