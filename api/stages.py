"""Names of jax.stages for what `jit` makes: a function, and what it is compiled to step by step.

>>> import tapeless
>>> isinstance(tapeless.jit(abs), Wrapped)
True
"""

from typing import Any

from tapeless.ahead import ArgInfo as ArgInfo
from tapeless.ahead import Compiled as Compiled
from tapeless.ahead import Lowered as Lowered
from tapeless.ahead import Traced as Traced
from tapeless.compiled import Jit as Wrapped
from tapeless.missing import missing as _missing

__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)


__all__ = ["ArgInfo", "Compiled", "Lowered", "Traced", "Wrapped"]
