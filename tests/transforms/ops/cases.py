"""What a case is: a function with arguments, at which values and derivatives are compared."""

import dis
import itertools
import types
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import scipy.linalg
import scipy.special

from tests.corpus.differences import leaves

_seeds = itertools.count()
MODULES = {"np": np, "scipy": scipy}


@dataclass(frozen=True)
class Case:
    """function(*args, **static); derivatives are taken by all arrays of floats in `args`."""

    function: object
    args: tuple
    static: dict
    second: bool
    single: bool
    name: str
    of: object = None

    def covers(self):
        """The functions, and the names of methods, that the case calls."""
        if self.of is not None:
            return {self.of}
        if getattr(self.function, "__name__", "") != "<lambda>":
            return {self.function}
        return set(_called(self.function.__code__))

    def program(self):
        function, static = self.function, self.static

        def program(*args):
            return function(*args, **static)

        return program

    def wrt(self):
        """The positions of the arguments that hold floats."""
        return tuple(k for k, arg in enumerate(self.args) if all(map(is_float, leaves(arg) or [1])))


def is_float(leaf):
    return isinstance(leaf, float) or getattr(leaf, "dtype", np.dtype(int)).kind == "f"


def case(function, *args, second=True, single=True, of=None, **static):
    """A case; `second=False` leaves second derivatives out, `single=False` float32.

    `of` is the function under test where it cannot be seen.
    """
    return Case(function, args, static, second, single, _name(function, args, static), of)


def _name(function, args, static):
    if getattr(function, "__name__", "") == "<lambda>":
        called = _called(function.__code__)
        label = ".".join(str(getattr(f, "__name__", f)) for f in called)
    else:
        label = getattr(function, "__name__", str(function))
        if isinstance(getattr(function, "__self__", None), np.ufunc):
            label = f"{function.__self__.__name__}.{label}"
    shapes = ",".join("x".join(map(str, np.shape(leaf))) or "s" for a in args for leaf in leaves(a))
    extra = "".join(f" {k}={v}" for k, v in static.items())
    return f"{label}({shapes}{extra})"[:80]


def _called(code):
    """Dotted names that the code looks up in NumPy and scipy, and other attributes by name."""
    found, path = [], None
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL" and step.argval in MODULES:
            path = [step.argval]
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            if path is None:
                found.append(step.argval)
                continue
            path.append(step.argval)
            value = attrgetter(".".join(path[1:]))(MODULES[path[0]])
            if not isinstance(value, types.ModuleType):
                found.append(value)
                attribute_of_ufunc = isinstance(value, np.ufunc)
                path = path if attribute_of_ufunc else None
        else:
            path = None
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += _called(constant)
    return found


def normal(*shape):
    """Standard normal numbers, far enough from whole ones and zero for central differences."""
    made = np.random.default_rng(next(_seeds)).normal(size=shape).round(3)
    return made + np.where(np.abs(made - np.round(made)) < 0.05, 0.1, 0.0)


def uniform(low, high, *shape):
    return np.random.default_rng(next(_seeds)).uniform(low, high, size=shape).round(3)


def positive(*shape):
    return uniform(0.5, 1.5, *shape)


def below_one(*shape):
    """Numbers between -1 and 1."""
    return uniform(-0.8, 0.8, *shape)


def above_one(*shape):
    return uniform(1.2, 2.5, *shape)


def integers(*shape, low=1, high=9):
    return np.random.default_rng(next(_seeds)).integers(low, high, size=shape)


def flags(*shape):
    made = np.random.default_rng(next(_seeds)).random(size=shape) < 0.5
    made.flat[:1] = True
    return made


def scalar():
    """A Python float."""
    return float(normal())


def regular(n, *lead):
    """Square matrices far from singular, not symmetric."""
    return normal(*lead, n, n) * 0.4 + np.diag(2 + 0.7 * np.arange(n))


def definite(n, *lead):
    """Symmetric positive definite matrices."""
    root = normal(*lead, n, n)
    return root @ np.swapaxes(root, -1, -2) / n + np.diag(1 + 0.6 * np.arange(n))


def stepped(*shape):
    """Distinct numbers in random order, so that small steps change no order."""
    n = int(np.prod(shape))
    return (np.random.default_rng(next(_seeds)).permutation(n) / n + 0.13).reshape(shape)
