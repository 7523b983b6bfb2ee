"""What a compiled function reads from outside: found again by another process, and never stale."""

import numpy as np
import pytest

from tapeless import TapelessError, grad, jit
from tests.api.disk_cache.test_recall import _kept, kept, module, staged  # noqa: F401

X = np.linspace(0.5, 2.0, 4)

HEAD = """
import abc
import collections
import dataclasses
import enum
import functools
import typing
"""

LIST = """
TABLE = [2.0, 3.0]
def f(x): return np.sum(x * TABLE[0] + len(TABLE))
"""
NESTED = """
SETTINGS = {"rate": 0.5, "shape": {"power": 2, "shifts": [1.0, 2.0]}}
def f(x):
    shape = SETTINGS["shape"]
    return np.sum(x ** shape["power"] * SETTINGS["rate"] + sum(shape["shifts"]))
"""
MANY_ROWS = """
ROWS = [(0, 1.5), (1, 2.5), (2, -1.0), (0, 0.5), (1, 1.0), (3, 2.0), (2, 0.25), (3, 1.5), (0, 9.0)]
def f(x):
    total = 0.0
    for k, w in ROWS:
        total = total + w * x[k]
    return total
"""
ARRAY = """
W = np.array([1.0, 2.0, 3.0, 4.0])
def f(x): return np.sum(W * x)
"""
ARRAYS_IN_A_LIST = """
LAYERS = [np.eye(4), np.full((4, 4), 0.5)]
def f(x):
    for w in LAYERS:
        x = np.tanh(w @ x)
    return np.sum(x)
"""
OBJECT = """
class Model:
    scale = 2.0
    def __init__(self, rate):
        self.rate = rate
    def apply(self, x):
        return x * self.rate * self.scale
MODEL = Model(0.5)
def f(x): return np.sum(MODEL.apply(x))
"""
MADE_INSIDE = """
class Quantity:
    unit = 3.0
    def __init__(self, x): self.x = x
    def __mul__(self, other): return Quantity(self.x * other.x * self.unit)
    @property
    def total(self): return np.sum(self.x)
    @classmethod
    def of(cls, x): return cls(x + 1.0)
    @staticmethod
    def half(x): return x / 2
def f(x): return (Quantity.of(x) * Quantity(Quantity.half(x))).total
"""
INHERITED = """
class Base(abc.ABC):
    def value(self, x): return self.shape(x) * 2.0
    @abc.abstractmethod
    def shape(self, x): ...
class Square(Base):
    def shape(self, x): return x ** 2
def f(x): return np.sum(Square().value(x))
"""
DATACLASS = """
@dataclasses.dataclass
class Parameters:
    rate: float = 0.5
    shifts: list = dataclasses.field(default_factory=lambda: [1.0, 2.0])
    power: int = 2
def f(x):
    p = Parameters()
    return np.sum(x ** p.power * p.rate + sum(p.shifts))
"""
NAMEDTUPLE = """
class Pair(typing.NamedTuple):
    a: float
    b: float = 2.0
def f(x):
    p = Pair(np.sum(x))
    return p.a * p.b
"""
ENUMERATION = """
class Color(enum.Enum):
    RED = 1
    GREEN = 2
CHOSEN = Color.RED
def f(x): return np.sum(x) * (5.0 if CHOSEN is Color.RED else 7.0) + Color.GREEN.value
"""
CLOSURE = """
def make(weights, power):
    def inner(x): return np.sum(weights["w"] * x ** power)
    return inner
f = make({"w": 3.0}, 2)
"""
PARTIAL = """
def base(scale, x, shift=1.0): return np.sum(scale * x + shift)
part = functools.partial(base, 2.0)
def f(x): return part(x, shift=3.0)
"""
MODULE_OBJECTS = """
ORDER = collections.OrderedDict(a=2.0, b=3.0)
def f(x):
    total = 0.0
    for k, (name, w) in enumerate(ORDER.items()):
        total = total + (k + 1) * w * np.sum(x)
    return total
"""
ATTRIBUTE_OF_FUNCTION = """
def helper(x): return x * helper.scale
helper.scale = 2.0
def f(x): return np.sum(helper(x))
"""
DEFAULTS = """
def helper(x, by=(1.0, 2.0), *, plus=0.5): return x * by[1] + plus
def f(x): return np.sum(helper(x))
"""
LISTS_OF_OBJECTS = """
class Layer:
    def __init__(self, w, kind):
        self.w, self.kind = w, kind
    def __call__(self, x):
        return np.tanh(self.w * x) if self.kind == "tanh" else self.w * x
LAYERS = [Layer(0.5, "tanh"), Layer(2.0, "linear")]
def f(x):
    for layer in LAYERS:
        x = layer(x)
    return np.sum(x)
"""
HAS = """
class Box: pass
BOX = Box()
BOX.a = 1.0
def f(x): return np.sum(x) * (BOX.b if hasattr(BOX, "b") else BOX.a)
"""

ALIASES = """
class Box:
    def __init__(self, w): self.w = w
FIRST, SECOND = Box(2.0), Box(3.0)
BOXES = [FIRST, SECOND]
CHOSEN = BOXES[0]
def f(x): return np.sum(x * CHOSEN.w + FIRST.w + BOXES[1].w)
"""
TABLE_OF_FUNCTIONS = """
def make(w):
    def scaled(x): return w[0] * x
    return scaled
def square(x): return x ** 2
FUNCTIONS = {"a": make([2.0]), "b": make([3.0]), "c": square}
def f(x): return np.sum(FUNCTIONS["a"](x) + FUNCTIONS["c"](x))
"""
OTHER_MODULE = """
import types
settings = types.ModuleType("settings")
settings.RATE, settings.STEPS, settings.shift = 0.5, [1.0, 2.0], lambda x: x + 1.0
def f(x):
    for step in settings.STEPS:
        x = settings.shift(x) * step * settings.RATE
    return np.sum(x)
"""
SLOTS = """
class Point:
    __slots__ = ("a", "b")
    def __init__(self, a, b): self.a, self.b = a, b
    def __getitem__(self, k): return (self.a, self.b)[k]
    def __len__(self): return 2
P = Point(2.0, np.array([1.0, 2.0, 3.0, 4.0]))
def f(x): return np.sum(P[0] * x * P[1]) + len(P)
"""

CASES = [
    (
        LIST,
        [
            ("[2.0", "[4.0"),
            ("3.0]", "3.0, 1.0]"),
            ("[2.0", "[2"),
            ("[2.0, 3.0]", "(2.0, 3.0, 5.0)"),
        ],
    ),
    (
        NESTED,
        [("0.5", "0.25"), ('"power": 2', '"power": 3'), ("2.0]", "5.0]"), ("2.0]", "2.0, 1.0]")],
    ),
    (MANY_ROWS, [("(3, 2.0)", "(3, 4.0)"), ("(0, 9.0)", "(1, 9.0)"), (", (0, 9.0)", "")]),
    (
        ARRAY,
        [("3.0", "5.0"), ("[1.0, 2.0, 3.0, 4.0]", "[[1.0]]"), ("1.0, 2.0, 3.0, 4.0", "1, 2, 3, 4")],
    ),
    (
        ARRAYS_IN_A_LIST,
        [("0.5", "0.25"), ("]\n", ", np.eye(4)]\n"), ("np.eye(4)", "np.ones((4, 4))")],
    ),
    (
        OBJECT,
        [
            ("Model(0.5)", "Model(0.75)"),
            ("scale = 2.0", "scale = 5.0"),
            ("rate *", "rate +"),
            ("= rate", "= np.array([1.0, 2, 3, 4])"),
        ],
    ),
    (
        MADE_INSIDE,
        [
            ("unit = 3.0", "unit = 4.0"),
            ("+ 1.0", "- 1.0"),
            ("x / 2", "x / 3"),
            ("np.sum", "np.max"),
            ("other.x *", "other.x +"),
        ],
    ),
    (INHERITED, [("2.0", "3.0"), ("** 2", "** 3")]),
    (DATACLASS, [("0.5", "1.5"), ("[1.0,", "[4.0,"), ("int = 2", "int = 3")]),
    (NAMEDTUPLE, [("2.0", "4.0")]),
    (
        ENUMERATION,
        [
            ("CHOSEN = Color.RED", "CHOSEN = Color.GREEN"),
            ("GREEN = 2", "GREEN = 3"),
            ("5.0", "6.0"),
        ],
    ),
    (CLOSURE, [("3.0", "4.0"), (", 2)", ", 3)")]),
    (PARTIAL, [("2.0", "4.0"), ("=3.0", "=5.0")]),
    (MODULE_OBJECTS, [("a=2.0, b=3.0", "b=3.0, a=2.0"), ("a=2.0", "a=5.0"), ("a=2.0, ", "")]),
    (ATTRIBUTE_OF_FUNCTION, [("2.0", "3.0")]),
    (DEFAULTS, [("2.0", "3.0"), ("0.5", "1.5")]),
    (
        LISTS_OF_OBJECTS,
        [
            ("0.5", "0.75"),
            ('2.0, "linear"', '2.0, "tanh"'),
            ("LAYERS = [", "LAYERS = [Layer(3.0, 'x'), "),
        ],
    ),
    (
        ALIASES,
        [
            ("BOXES[0]", "BOXES[1]"),
            ("[FIRST, SECOND]", "[SECOND, FIRST]"),
            ("3.0", "5.0"),
            ("CHOSEN = BOXES[0]", "CHOSEN = Box(2.0)"),
        ],
    ),
    (
        TABLE_OF_FUNCTIONS,
        [
            ("make([2.0])", "make([4.0])"),
            ("make([2.0]), ", "square, "),
            ('"c": square', '"c": abs'),
            ("** 2", "** 3"),
        ],
    ),
    (OTHER_MODULE, [("= 0.5", "= 0.25"), ("2.0]", "3.0]"), ("x + 1.0", "x - 1.0")]),
    (
        SLOTS,
        [
            ("Point(2.0", "Point(5.0"),
            ("return 2", "return 3"),
            ("4.0]", "5.0]"),
            ("(self.a, self.b)", "(3.0, self.b)"),
        ],
    ),
    (HAS, [("BOX.a = 1.0", "BOX.a = 2.0"), ("BOX.a = 1.0", "BOX.a = BOX.b = 3.0")]),
]


@pytest.mark.parametrize(("text", "changes"), CASES)
@pytest.mark.parametrize("transform", [jit, lambda f: jit(grad(f))])
def test_it_is_found_and_never_stale(tmp_path, text, changes, transform):
    value, _ = staged(transform(module(tmp_path, HEAD + text)["f"]), X)
    assert len(kept()) == 1
    again = transform(module(tmp_path, HEAD + text)["f"])
    found, anew = staged(again, X)
    assert not anew
    np.testing.assert_array_equal(found, value)
    np.testing.assert_array_equal(again(X), value)  # by its entry
    for old, new in changes:
        assert old in text
        other = module(tmp_path, HEAD + text.replace(old, new, 1))["f"]
        expected = transform_by_numpy(transform, other)
        for _ in range(2):
            got, _ = staged(transform(other), X)
            np.testing.assert_allclose(got, expected, rtol=1e-6)


def transform_by_numpy(transform, f):
    if transform is jit:
        return f(X)
    steps = 1e-5 * np.eye(len(X))
    return np.array([(f(X + step) - f(X - step)) / 2e-5 for step in steps])


@pytest.mark.parametrize("case", CASES)
def test_what_changes_in_the_process_is_noticed(tmp_path, case):
    """What guards a program that another process has staged is what guards one of this one."""
    text, changes = case
    staged(jit(module(tmp_path, HEAD + text)["f"]), X)
    names = module(tmp_path, HEAD + text)
    f = jit(names["f"])
    assert not staged(f, X)[1]
    for old, new in changes:
        changed = module(tmp_path, HEAD + text.replace(old, new, 1))
        here = {k: v for k, v in names.items() if k != "f" and k != "__builtins__"}
        try:
            names.update({k: changed[k] for k in here})
            np.testing.assert_allclose(f(X), names["f"](X), rtol=1e-12)
        finally:
            names.update(here)
        np.testing.assert_allclose(f(X), names["f"](X), rtol=1e-12)


def test_lengths_that_do_not_fit_are_errors_of_the_user(tmp_path):
    text = """
W = np.eye(4)
def f(x): return np.sum(W @ x)
"""
    staged(jit(module(tmp_path, text)["f"]), X)
    names = module(tmp_path, text)
    f = jit(names["f"])
    assert not staged(f, X)[1]
    for _ in range(2):
        with pytest.raises(TapelessError, match="do not fit"):
            f(np.ones(5))
        assert f(X) == np.sum(X)
    names["W"] = np.eye(6)
    assert f(np.ones(6)) == 6.0
    with pytest.raises(TapelessError, match="do not fit"):
        f(X)
