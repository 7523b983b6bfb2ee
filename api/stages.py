"""Names of jax.stages for what `jit` makes: a function, and a function with arguments.

>>> import tapeless
>>> isinstance(tapeless.jit(abs), Wrapped)
True
"""

from typing import Any

from tapeless.compiled import Jit as Wrapped
from tapeless.compiled import Lowered as Lowered
from tapeless.missing import missing as _missing

Compiled = Wrapped  # compiled for some arguments, and still for all


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)


__all__ = ["Compiled", "Lowered", "Wrapped"]
