"""Code that was made for some objects serves others of their classes where it is right."""

import copy
import gc
import weakref
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import tapeless
from tapeless import PerformanceWarning, grad, jit, vmap


class Body:
    def __init__(self, x, v=1.0, child=None):
        self.x, self.v, self.child = np.full(3, float(x)), v, child


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = np.full(3, float(x))


def codes(f):
    """How many programs were emitted."""
    return len({id(s.run) for kept in f.cache.values() for s in kept})


def check(f, arguments, most):
    """As Python does it, with `most` programs at most; what becomes of the objects is the same."""
    compiled = jit(f)
    compiled.clear_cache()
    for args in arguments:
        here, there = copy.deepcopy(args), copy.deepcopy(args)
        np.testing.assert_allclose(compiled(*there), f(*here), rtol=1e-14)
        for a, b in zip(bodies(here), bodies(there), strict=True):
            np.testing.assert_allclose(b.x, a.x, rtol=1e-14)
            assert (b.v, b.child is None) == (a.v, a.child is None)
    assert codes(compiled) <= most


def bodies(args):
    parts = (p for x in args for p in (x if isinstance(x, (list, tuple)) else [x]))
    return [p for p in parts if isinstance(p, Body)]


def energy(p):
    return np.sum(p.x**2) * p.v


def step(p):
    p.x = p.x + p.v
    return np.sum(p.x)


def in_place(p, q):
    p.x += 1
    q.x *= 2
    return np.sum(p.x)


def swap(p, q):
    p.x, q.x = q.x, p.x
    return 0.0


def with_a_new_child(p):
    p.child = Body(4)
    p.child.x = p.x * 2
    return np.sum(p.child.x)


def over_a_list(items):
    for p in items:
        p.x += 1.0
    return sum(np.sum(p.x) for p in items)


def of_slots(p):
    return np.sum(p.x * 2)


def of_children(p):
    return np.sum(p.child.x * p.x)


@pytest.mark.parametrize(
    ("f", "make"),
    [
        (energy, lambda k: (Body(k),)),
        (step, lambda k: (Body(k),)),
        (in_place, lambda k: (Body(k), Body(k + 1))),
        (swap, lambda k: (Body(k), Body(k + 1))),
        (with_a_new_child, lambda k: (Body(k),)),
        (over_a_list, lambda k: ([Body(k), Body(k + 1)],)),
        (of_slots, lambda k: (Slotted(k),)),
        (of_children, lambda k: (Body(k, child=Body(2)),)),
    ],
)
def test_one_program_for_all_objects_of_a_class(f, make):
    check(f, [make(k) for k in range(6)], 1)


@pytest.mark.parametrize("v", [lambda k: 1.0 + k, lambda k: k])
def test_numbers_of_objects_become_inputs(v):
    check(energy, [(Body(k, v(k)),) for k in range(6)], 2)


def test_namespaces():
    arguments = [(SimpleNamespace(a=2.0 * k, b=np.ones(3) * k),) for k in range(6)]
    check(lambda s: s.a * np.sum(s.b), arguments, 2)


def test_derivatives_and_batches():
    def loss(w, p):
        return np.sum(w * p.x) ** 2

    grad(lambda w: np.sum(w * w))(np.ones(3))  # pytest opens modules that are imported here
    slope = grad(loss)
    for k in range(5):
        np.testing.assert_allclose(slope(np.ones(3), Body(k)), np.full(3, 6.0 * k * k))
    assert codes(slope) == 1
    batched = vmap(loss, in_axes=(0, None))
    for k in range(3):
        expected = [loss(w, Body(k)) for w in np.eye(3)]
        np.testing.assert_allclose(batched(np.eye(3), Body(k)), expected)


def test_which_arguments_are_one_object():
    def f(p, q):
        return np.sum(p.x) if p is q else np.sum(p.x * q.x)

    def pair(k):
        p = Body(k)
        return (p, p) if k % 2 else (p, Body(k + 1))

    check(f, map(pair, range(6)), 2)


def test_which_items_are_one_object():
    def items(k):
        p = Body(k)
        return ([p, Body(k), p] if k % 2 else [Body(1), p, Body(2)],)

    check(over_a_list, map(items, range(6)), 2)


def test_which_arrays_are_one():
    compiled = jit(in_place)
    for shared in (False, True, False, True, False):
        p, q = Body(1), Body(2)
        if shared:
            q.x = p.x
        compiled(p, q)
        assert (p.x[0], q.x[0]) == ((4, 4) if shared else (2, 4))


def test_arrays_of_the_same_objects_that_were_one():
    p, q = Body(1), Body(2)
    q.x = p.x
    compiled = jit(lambda p, q: np.sum(p.x * 10 + q.x))
    assert compiled(p, q) == 33
    q.x = np.full(3, 5.0)
    assert compiled(p, q) == 45


LANDMARK = Body(3)
KNOWN = {LANDMARK: 1.0}


def test_a_global_object():
    compiled = jit(lambda p: np.sum(p.x) + (100 if p is LANDMARK else 0))
    inside = jit(lambda p: np.sum(p.x) + (100 if p.child is LANDMARK else 0))
    keyed = jit(lambda p: np.sum(p.x) + KNOWN.get(p, 5.0))
    for k in range(6):
        p = LANDMARK if k in (2, 4) else Body(3)
        assert compiled(p) == 9 + 100 * (p is LANDMARK)
        assert inside(Body(1, child=p)) == 3 + 100 * (p is LANDMARK)
        assert keyed(p) == 9 + (1 if p is LANDMARK else 5)


def test_results_are_the_objects_of_the_call():
    same, parts = jit(lambda p: p), jit(lambda p: [p, (p.child, np.sum(p.x))])
    for k in range(5):
        p = Body(k, child=Body(1))
        assert same(p) is p
        whole, (child, total) = parts(p)
        assert (whole, child, total) == (p, p.child, 3 * k)


@pytest.mark.parametrize(
    "f",
    [
        lambda p: hash(p) % 1000,
        lambda p: id(p) % 1000,
        lambda p: f"{p}",
        lambda p: str([p]),
        lambda p: "%s" % p,  # noqa: UP031 (this way to make text)
        lambda p: repr({"a": (p, 1)}),
        lambda p: f"{p!r:>60}",
    ],
)
def test_where_an_object_is_in_memory(f):
    compiled, alive = jit(f), [Body(k) for k in range(4)]
    assert [compiled(p) for p in alive] == [f(p) for p in alive]


class Simulation:
    """Has a new state after each step."""

    def __init__(self):
        self.state, self.time = Body(1.0), 0

    def step(self):
        self.state = Body(self.state.x[0] * 1.1, self.state.v)
        self.time += 1
        return np.sum(self.state.x)


def test_an_attribute_that_is_another_object_in_each_call():
    fast, plain, compiled = Simulation(), Simulation(), jit(Simulation.step)
    for _ in range(8):
        np.testing.assert_allclose(compiled(fast), plain.step(), rtol=1e-14)
        assert fast.time == plain.time
    assert codes(compiled) == 2


def test_other_classes_have_programs_of_their_own():
    class Heavy(Body):
        def weight(self):
            return 10.0

    class Light(Body):
        def weight(self):
            return 1.0

    compiled = jit(lambda p: p.weight() * np.sum(p.x))
    for k in range(4):
        assert compiled((Heavy if k % 2 else Light)(1)) == (30 if k % 2 else 3)


def test_a_method_that_is_replaced():
    class Heavy(Body):
        def weight(self):
            return 10.0

    compiled = jit(lambda p: p.weight() * np.sum(p.x))
    assert compiled(Heavy(1)) == 30
    special = Heavy(1)
    special.weight = lambda: 2.0
    assert compiled(special) == 6
    Heavy.weight = lambda self: 5.0
    assert compiled(Heavy(1)) == 15


def test_attributes_of_other_kinds():
    compiled = jit(energy)
    assert compiled(Body(1)) == 3
    other = Body(1)
    other.x = np.ones((2, 2), np.float32)
    assert compiled(other) == 4
    assert compiled(other).dtype == np.float32
    del other.x
    with pytest.raises(AttributeError, match="'x'"):
        compiled(other)


def test_objects_are_not_kept_alive():
    compiled, there = jit(lambda p: np.sum(p.x**2)), []
    for k in range(20):
        p = Body(k)
        there.append(weakref.ref(p))
        assert compiled(p) == 3 * k * k
        del p
    gc.collect()
    assert sum(reference() is not None for reference in there) < 8
    assert len(compiled.compilations) == 1


class Named:
    """Equal to, and less than, others by its name, and an index by its length."""

    def __init__(self, name):
        self.name, self.x = name, np.ones(3)

    def __eq__(self, other):
        return isinstance(other, Named) and other.name == self.name

    def __hash__(self):
        return hash(self.name)

    def __lt__(self, other):
        return self.name < other.name

    def __index__(self):
        return len(self.name)

    def __reversed__(self):
        return iter([len(self.name)])


TABLE, LISTED = {Named("a"): 1.0, Named("bb"): 2.0}, [Named("a"), Named("bb")]


@pytest.mark.parametrize(
    "f",
    [
        lambda p: np.sum(p.x) * TABLE[p],
        lambda p: np.sum(p.x) * (10 if p in TABLE else 1),
        lambda p: np.sum(p.x) * (LISTED.index(p) + 1),
        lambda p: np.sum(p.x) * (10 if p in LISTED[1:] else 1),
        lambda p: np.sum(p.x) * (10 if p == LISTED[1] else 1),
        lambda p: np.sum(p.x) * sorted([p, Named("aa")]).index(p),
        lambda p: np.sum(p.x) * len({p, Named("a")}),
        lambda p: np.sum(p.x) * len(range(p)),
        lambda p: np.sum(p.x) * len([1] * p),
        lambda p: np.sum(p.x) * next(reversed(p)),
    ],
)
def test_methods_that_containers_and_builtins_call(f):
    compiled = jit(f)
    for name in ("a", "bb", "a", "bb"):
        assert compiled(Named(name)) == f(Named(name))


class Tagged:
    def __init__(self, tag, x=1.0):
        self.tag, self.x = tag, np.full(3, x)


def by_tag(p):
    return np.sum(p.x) * (3 if p.tag == "t3" else 1)


def by_length_of_tag(p):
    return np.sum(p.x) * len(p.tag)


def test_many_kinds_of_objects_have_a_program_each():
    compiled = jit(by_tag)
    for k in range(48):
        p = Tagged(f"t{k % 6}", k)
        assert compiled(p) == by_tag(p)
    assert codes(compiled) == 6


def test_objects_that_no_program_fits_twice():
    compiled, alive = jit(by_length_of_tag), [Tagged("t" * (k + 1)) for k in range(30)]
    with pytest.warns(PerformanceWarning, match="p is .* with other values: p.tag"):
        values = [compiled(p) for p in alive]
    assert values == [by_length_of_tag(p) for p in alive]
    assert sum(map(len, compiled.cache.values())) < 20


class Layer:
    def __init__(self, w):
        self.w, self.calls = np.full(3, float(w)), 0

    def __call__(self, x):
        return np.sum(self.w * x**2)

    def count(self, x):
        self.calls += 1
        return np.sum(self.w * x) * self.calls


def same_runs(functions, x):
    """How many programs functions of the same code were given, each of which is called twice."""
    runs = set()
    for made, plain in functions:
        np.testing.assert_allclose([made(x), made(x)], [plain(x), plain(x)], rtol=1e-14)
        runs |= {id(s.run) for kept in made.cache.values() for s in kept}
    return len(runs)


def test_methods_and_callable_objects_share_a_program():
    x = np.arange(3.0)
    assert same_runs([(jit(Layer(k)), Layer(k)) for k in (1, 2, 3)], x) == 1
    counts = [(jit(Layer(k).count), Layer(k).count) for k in (1, 2, 3)]
    assert same_runs(counts, x) == 2  # what changes is an input of the second one
    layers = [Layer(k) for k in (1, 2, 3)]
    for layer in layers:
        np.testing.assert_allclose(grad(layer)(x), 2 * layer.w * x)
    kept = [s for layer in layers for kept in grad(layer).cache.values() for s in kept]
    assert len({id(s.run) for s in kept}) == 1


def closures(w, scale):
    """A function that reads variables and writes one of them, and what that holds."""
    calls = scale

    def f(x):
        nonlocal calls
        calls += 1.0
        return np.sum(w * x) * calls

    return f, lambda: calls


def test_functions_made_anew_share_a_program():
    x = np.arange(3.0)
    for k in (1.0, 2.0, 3.0):
        (f, read), (plain, _) = closures(np.full(3, k), k), closures(np.full(3, k), k)
        compiled = jit(f)
        assert [compiled(x), compiled(x), f(x)] == [plain(x), plain(x), plain(x)]
        assert read() == k + 3
    runs = same_runs(
        [(jit(partial(scaled, Layer(k))), partial(scaled, Layer(k))) for k in (1, 2)], x
    )
    assert runs == 1


def scaled(layer, x):
    return layer(x) * 2


def test_numbers_that_functions_of_the_same_code_read_become_inputs():
    x = np.arange(3.0)

    def scaled_by(k):
        return lambda x: np.sum(x) * k

    made = [(jit(scaled_by(k)), scaled_by(k)) for k in (1.0, 2.0, 3.0, 4.0)]
    assert same_runs(made, x) == 2


def test_variables_of_other_kinds_are_not_replaced():
    x = np.arange(3.0)

    def kept(p, q):
        return lambda x: np.sum(p.w * x) if p is q else np.sum(q.w * x**2) - 1.0

    def chosen(f):
        return lambda x: np.sum(f(x))

    for k in (1, 2, 3):
        p, q = Layer(k), Layer(k + 1)
        for args in ((p, p), (p, q)):
            assert jit(kept(*args))(x) == kept(*args)(x)
        for f in (np.sin, lambda x: x * k, p):  # noqa: B023 (it is called at once)
            np.testing.assert_allclose(jit(chosen(f))(x), chosen(f)(x), rtol=1e-14)


def test_closures_of_our_own_functions_are_not_replaced():
    """What they read is not guarded: `check_grads` differentiates one of its own again."""
    tapeless.check_grads(lambda x: np.sin(x) * x, (np.arange(3.0),), order=2)
    tapeless.check_grads(lambda x: np.sum(x**3), (np.arange(3.0),), order=2)


def compared(p, q, x):
    return np.sum(x) if p is q else np.sum(p.w * x**2)


@pytest.mark.parametrize("bind", [partial, lambda f, p, q: lambda x, p=p, q=q: f(p, q, x)])
def test_an_object_that_stays_is_no_other_one(bind):
    x, a, b = np.arange(3.0), Layer(1), Layer(2)
    for p, q in ((a, b), (b, b), (a, a), (b, a), (a, b)):
        assert jit(bind(compared, p, q))(x) == compared(p, q, x)


CHANGING = Layer(3)


def of_default(x, p=CHANGING):
    return np.sum(x) if p is CHANGING else np.sum(p.w * x)


def of_reference(reference, x):
    return of_default(x, reference())


def calling(f):
    return lambda x: f(x)


class Changing(Layer):
    def compare(self, x):
        return np.sum(x) if self is CHANGING else np.sum(self.w * x)


@pytest.mark.parametrize(
    "function_of",
    [
        lambda p: partial(of_default, p=p),
        lambda p: p.compare,
        lambda p: lambda x: p.compare(x),
        lambda p: lambda x, p=p: of_default(x, p),
        lambda p: calling(p.compare),
        lambda p: calling(partial(of_default, p=p)),
        lambda p: calling(lambda x, p=p: of_default(x, p)),
        lambda p: calling(partial(of_reference, weakref.ref(p))),
        lambda p: calling(jit(p.compare)),
    ],
)
def test_a_variable_of_the_module_holds_what_a_function_knows(monkeypatch, function_of):
    x, p = np.arange(3.0), Changing(2)
    compiled = jit(function_of(p))
    for now in (Changing(5), p, Changing(1), p):
        monkeypatch.setitem(globals(), "CHANGING", now)
        assert compiled(x) == (3 if now is p else 6)


class Sized:
    def __init__(self, items):
        self.items = items

    def total(self, x):
        return sum(w * np.sum(x) for w in self.items)


def test_containers_of_other_kinds():
    x = np.arange(3.0)
    for items in ({1.0: 2}, {1.0: 3}, [1.0, 2.0], (3.0,), {2.0: 1}):
        assert jit(Sized(items).total)(x) == Sized(items).total(x)


class Part:
    def __init__(self, n):
        self.n = n


class Whole:
    """Equal to others by what is in it."""

    def __init__(self, n):
        self.part = Part(n)

    def __eq__(self, other):
        return self.part.n == other.part.n

    __hash__ = None


def test_comparisons_that_read_what_is_in_an_object():
    p, q = Whole(1), Whole(1)
    compiled = jit(lambda x: np.sum(x) if [p] == [q] else 0.0)
    assert compiled(np.ones(3)) == 3
    p.part.n = 2
    assert compiled(np.ones(3)) == 0
    q.part = Part(2)
    assert compiled(np.ones(3)) == 3


class Light(Layer):
    def __call__(self, x):
        return -np.sum(self.w * x)

    def __len__(self):
        return 5


def test_objects_that_are_given_another_class():
    class Heavy(Layer):
        def __len__(self):
            return 2

    x, p = np.arange(3.0), Heavy(1)
    items = [Heavy(2), p]
    functions = [
        *(p, lambda x: p(x), lambda x: np.sum(x) * len(p), lambda x: sum(q(x) for q in items)),
        *(lambda x: np.sum(x) if isinstance(p, Light) else 0.0, partial(scaled, p)),
    ]
    for cls in (Heavy, Light, Heavy, Light):
        p.__class__ = cls
        for f in functions:
            assert jit(f)(x) == f(x)


class Managed:
    def __enter__(self):
        return 2.0

    def __exit__(self, *error):
        return False

    def __len__(self):
        return 1

    def __hash__(self):
        return 7


def test_special_methods_that_are_replaced(monkeypatch):
    p = Managed()

    def entered(x):
        with p as scale:
            return np.sum(x) * scale

    functions = [
        *(entered, lambda x: np.sum(x) * len(p), lambda x: np.sum(x) * hash(p)),
        lambda x: np.sum(x) if p else 0.0,
    ]
    assert [jit(f)(np.ones(3)) for f in functions] == [6, 3, 21, 3]
    monkeypatch.setattr(Managed, "__enter__", lambda self: 4.0)
    monkeypatch.setattr(Managed, "__len__", lambda self: 0)
    monkeypatch.setattr(Managed, "__hash__", lambda self: 1)
    assert [jit(f)(np.ones(3)) for f in functions] == [12, 0, 3, 0]
    monkeypatch.setattr(Managed, "__bool__", lambda self: True, raising=False)
    assert [jit(f)(np.ones(3)) for f in functions] == [12, 0, 3, 3]


TOLERANCE = 1


def test_variables_that_comparisons_read(monkeypatch):
    most = 1

    class Near:
        def __init__(self, k):
            self.k = k

        def __eq__(self, other):
            return abs(self.k - other.k) <= min(TOLERANCE, most)

        __hash__ = None

    p, q = Near(1), Near(2)
    compiled = jit(lambda x: np.sum(x) if [p] == [q] else 0.0)
    assert compiled(np.ones(3)) == 3
    monkeypatch.setitem(globals(), "TOLERANCE", 0)
    assert compiled(np.ones(3)) == 0
    monkeypatch.setitem(globals(), "TOLERANCE", 5)
    assert compiled(np.ones(3)) == 3
    most = 0
    assert compiled(np.ones(3)) == 0
    monkeypatch.setattr(Near, "__eq__", lambda self, other: True)
    assert compiled(np.ones(3)) == 3


def largest(x, order):
    return np.linalg.norm(x, order)


@pytest.mark.parametrize("orders", [(2, np.inf, 2, 1), (1, 2, 3), (np.inf, 1.0, 2.5)])
def test_numbers_that_change_are_known_where_the_code_needs_them(orders):
    x, order = np.arange(1.0, 4.0), orders[0]
    compiled = jit(lambda x: largest(x, order))
    for order in orders:
        np.testing.assert_allclose(compiled(x), np.linalg.norm(x, order), rtol=1e-14)
