"""Small programs that a scientist would write, with arguments at which to check derivatives."""

import copy
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.corpus.differences import inner, leaves, ravel, signed, unravel

UNPROJECTED = [1.0]
_registered = []


@dataclass(frozen=True)
class Program:
    """A function, example arguments, and the positions of those that it is differentiated by."""

    function: Callable
    args: tuple
    wrt: tuple[int, ...]
    second: bool
    note: str
    point: int

    @property
    def name(self) -> str:
        """`module.function`, with a number from the second set of arguments on."""
        name = f"{self.function.__module__.rpartition('.')[2]}.{self.function.__name__}"
        return name if self.point == 1 else f"{name}-{self.point}"

    def arguments(self) -> tuple:
        """Fresh arguments, for a program may overwrite its own."""
        return copy.deepcopy(self.args)

    def active(self) -> tuple:
        """Fresh copies of the differentiated arguments."""
        args = self.arguments()
        return tuple(args[position] for position in self.wrt)

    def of_active(self, function: Callable) -> Callable:
        """A function of all arguments as one of the differentiated ones."""
        if self.wrt == tuple(range(len(self.args))):
            return function
        others = self.arguments()

        def restricted(*active):
            args = list(others)
            for position, arg in zip(self.wrt, active):
                args[position] = arg
            return function(*args)

        return restricted

    def weights(self) -> list:
        """Fixed numbers, one for each in the result, to project it with; 1 for a lone number."""
        result = self.function(*self.arguments())
        if isinstance(result, (float, np.floating)):
            return UNPROJECTED
        return leaves(unravel(result, signed(ravel(result).size, seed=1)))

    def projected(self) -> Callable:
        """The function itself if it returns one number, else the sum of its results by weights."""
        function, weights = self.function, self.weights()
        if weights is UNPROJECTED:
            return function

        def projected(*args):
            return inner(function(*args), weights)

        return projected

    def objective(self) -> Callable:
        """The plain function, projected, of one vector with all differentiated numbers."""
        restricted, active = self.of_active(self.projected()), self.active()
        return lambda vector: float(restricted(*unravel(active, vector)))


def program(*args, wrt=(0,), second=True, note=""):
    """Register the decorated function with arguments; several times for several sets of them.

    `second=False` says that there is no second derivative to check.
    """

    def register(function):
        point = 1 + sum(each.function is function for each in _registered)
        _registered.append(Program(function, args, wrt, second, note, point))
        return function

    return register


def programs() -> list[Program]:
    """Every program of every module of this folder, in the order of the files."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return sorted(_registered, key=lambda each: each.function.__module__)


def normal(*shape, seed=0):
    """Standard normal numbers, rounded so that a failing case can be typed into a shell."""
    return np.random.default_rng(seed).normal(size=shape).round(3)


def uniform(*shape, low=0.5, high=1.5, seed=0):
    """Numbers between low and high, rounded likewise."""
    return np.random.default_rng(seed).uniform(low, high, size=shape).round(3)


def definite(n, seed=0):
    """A symmetric, well-conditioned, positive definite n x n matrix."""
    root = normal(n, n, seed=seed)
    return (root @ root.T / n + np.eye(n)).round(3)
