"""Provides the names of jax.stages for what `jit` makes: a function, and what it is compiled to
step by step.

>>> import tapeless
>>> isinstance(tapeless.jit(abs), Wrapped)
True
"""

from typing import Any

from tapeless.missing import missing as _missing
from tapeless.transformations.compilation.ahead_of_time import ArgInfo as ArgInfo
from tapeless.transformations.compilation.ahead_of_time import Compiled as Compiled
from tapeless.transformations.compilation.ahead_of_time import Lowered as Lowered
from tapeless.transformations.compilation.ahead_of_time import Traced as Traced
from tapeless.transformations.compilation.compiled_function import Jit as Wrapped

__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)


__all__ = ["ArgInfo", "Compiled", "Lowered", "Traced", "Wrapped"]
