"""One small program or more for each row of docs/language.md, named by its first column."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

POINT = np.array([0.7, -0.4, 1.3])
_found = []


@dataclass(frozen=True)
class Program:
    """A function of one array, where to differentiate it, and what else must be seen.

    `fails` is (point, exception, message) of a call that must raise; `prints` what one call prints;
    `refused` is part of the message with which tapeless declines the function, for all values;
    `traced` says that it is traced on those of each call instead.
    """

    row: str
    function: Callable
    at: np.ndarray
    fails: tuple | None = None
    prints: str = ""
    refused: str = ""
    traced: bool = False

    @property
    def name(self):
        return f"{self.row}: {self.function.__name__}".replace("`", "")


def row(text, at=POINT, **more):
    """Register the function as a program of the row."""

    def register(function):
        _found.append(Program(text, function, np.asarray(at, float), **more))
        return function

    return register


def refused(text, message):
    """Register the function as one that is declined with the message."""
    return row(text, refused=message)


def traced(text, message):
    """Register the function as one that is declined with the message for all values, and traced."""
    return row(text, refused=message, traced=True)


def programs():
    """Every program of the modules here."""
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        importlib.import_module(module.name)
    return list(_found)
