"""Guards compare addresses, and ask no more; what changed is never run as it was."""

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.dispatch import guards
from tapeless.transformations.compilation import compiled_function as compiled
from tapeless.transforms.frontend.trace.readers import AttributeOf, ItemOf, KeyOf, KeysOf
from tapeless.transforms.frontend.trace.recorded_reads import Constants, FrozenConstants, Guard


class Base:
    half = 0.5

    def shift(self, x):
        return x + 1.0

    def __call__(self, x):
        return 2.0 * x


class Body(Base):
    def __init__(self):
        self.rate = 3.0
        self.sizes = [1.5, 2.5]
        self.table = {name: {"a": 1.0 + k, "b": [k]} for k, name in enumerate("abcdefghij")}
        self.named = {"low": 1.0, "high": np.ones(2)}
        self.pair = (2.0, "text")


def scaled(x, by=1.5, *, plus=0.25):
    return x * by + plus


BODY = Body()
FACTOR = 2.0
MATRIX = np.eye(2)


def program(x):
    b = BODY
    y = scaled(x) + b.shift(b(x)) * b.half + FACTOR * b.rate
    for size in b.sizes:
        y = y * size
    for name, row in b.table.items():
        y = y + row["a"] * (name == "c") + len(row["b"])
    if hasattr(b, "offset"):
        y = y + b.offset
    return y + b.named["low"] * sum(b.named["high"]) + b.pair[0] + len(b.named) + x * MATRIX[0, 0]


def new_class_entry(b):
    Body.shift = lambda self, x: x - 1.0


def new_call(b):
    Base.__call__ = lambda self, x: -x


CHANGES = {
    "global": lambda b: globals().update(FACTOR=5.0),
    "global of another type": lambda b: globals().update(FACTOR=2),
    "another object": lambda b: globals().update(BODY=Body(), FACTOR=3.0),
    "attribute": lambda b: setattr(b, "rate", 4.0),
    "class attribute": lambda b: setattr(Base, "half", 0.25),
    "nearer class attribute": lambda b: setattr(Body, "half", 0.125),
    "own attribute": lambda b: setattr(b, "half", 0.75),
    "method": lambda b: setattr(Base, "shift", lambda self, x: x + 9.0),
    "nearer method": new_class_entry,
    "special method": new_call,
    "method of the object": lambda b: setattr(b, "shift", lambda x: x + 7.0),
    "defaults": lambda b: setattr(scaled, "__defaults__", (2.5,)),
    "keyword defaults": lambda b: scaled.__kwdefaults__.update(plus=0.5),
    "code": lambda b: setattr(scaled, "__code__", (lambda x, by=0, *, plus=0: -x).__code__),
    "item": lambda b: b.sizes.__setitem__(0, 9.0),
    "item of another type": lambda b: b.named.__setitem__("low", True),
    "longer list": lambda b: b.sizes.append(2.0),
    "shorter list": lambda b: b.sizes.pop(),
    "another list": lambda b: setattr(b, "sizes", [0.5]),
    "tuple for a list": lambda b: setattr(b, "sizes", (1.5, 2.5, 1.0)),
    "nested item": lambda b: b.table["c"].__setitem__("a", -1.0),
    "nested length": lambda b: b.table["d"]["b"].append(1),
    "renamed key": lambda b: b.table.__setitem__("k", b.table.pop("c")),
    "new key": lambda b: b.named.__setitem__("more", 0.0),
    "new attribute": lambda b: setattr(b, "offset", 100.0),
    "removed attribute": lambda b: delattr(b, "rate"),
    "tuple": lambda b: setattr(b, "pair", (5.0, "text")),
}


@pytest.fixture(autouse=True)
def _as_before(monkeypatch):
    """Puts everything back; machine code takes over at once."""
    monkeypatch.setattr(compiled, "OFTEN", 2)
    for name in ("BODY", "FACTOR", "MATRIX"):
        monkeypatch.setitem(globals(), name, globals()[name])
    monkeypatch.setitem(globals(), "BODY", Body())
    entries = {cls: dict(vars(cls)) for cls in (Base, Body)}
    function = scaled.__code__, scaled.__defaults__, dict(scaled.__kwdefaults__)
    yield
    for cls, names in entries.items():
        for name in {*vars(cls)} - {*names}:
            delattr(cls, name)
        for name in ("half", "shift", "__call__"):
            if name in names:
                setattr(cls, name, names[name])
    scaled.__code__, scaled.__defaults__, scaled.__kwdefaults__ = function


def outcome(f):
    """What a call gives, or the type of its error."""
    try:
        return float(f(0.5)), type(f(0.5))
    except AttributeError:
        return AttributeError


@pytest.mark.parametrize("way", [jit, lambda f: f, grad], ids=["jit", "plain", "grad"])
@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_is_not_run_as_it_was(way, change):
    def called(x):
        return program(x)

    f = way(called)
    for _ in range(5):
        f(0.5)
    CHANGES[change](BODY)
    if way is grad:
        h = 1e-3
        try:
            slope = (program(0.5 + h) - program(0.5 - h)) / (2 * h)
        except AttributeError:
            slope = AttributeError
        assert (
            outcome(f) is AttributeError
            if slope is AttributeError
            else f(0.5) == pytest.approx(slope)
        )
    else:
        expected, got = outcome(program), outcome(f)
        assert (
            (got is expected)
            if expected is AttributeError
            else got[0] == pytest.approx(expected[0])
        )


def test_no_guard_is_asked_while_objects_are_the_same(monkeypatch):
    f = jit(lambda x: program(x))
    for _ in range(5):
        f(0.5)
    asked = []
    for kind in (Guard, Constants, FrozenConstants):
        monkeypatch.setattr(kind, "holds", lambda guard: asked.append(guard.name) or True)
    holds = guards.combine_guards(f.last.guards)[0]
    asked.clear()  # asked once while the tests were written
    assert len(f.last.guards) > 20
    assert holds()
    assert asked == []


def test_equal_objects_are_as_good(monkeypatch):
    f = jit(lambda x: program(x))
    f(0.5)
    staged = f.last
    monkeypatch.setitem(globals(), "FACTOR", float("2.0"))
    BODY.table["c"]["a"] = float("3.0")
    BODY.sizes[0] = float("1.5")
    for _ in range(5):
        assert f(0.5) == pytest.approx(program(0.5))
    assert f.last is staged


def test_a_place_that_several_guards_read_is_read_once():
    held = {"a": [1.0], "b": 2.0}
    get = KeyOf(globals(), "HELD")
    globals()["HELD"] = held
    chain = [Guard("type", KeysOf(get), ("a", "b")), Guard("b", ItemOf(get, "b"), held["b"])]
    names = {}

    def constant(value):
        return names.setdefault(id(value), f"c{len(names)}")

    text = " and ".join(guards.tests(chain, constant))
    assert text.count("['HELD']") == 1
    (holds,) = guards.combine_guards(chain)
    assert holds()
    held["c"] = 1
    assert not holds()
    del globals()["HELD"]
    assert not holds()


def test_an_attribute_named_like_a_keyword():
    body = Body()
    body.__dict__["class"] = 1.0
    (holds,) = guards.combine_guards([Guard("class", AttributeOf(body, "class"), 1.0)])
    assert holds()
    body.__dict__["class"] = 2.0
    assert not holds()
