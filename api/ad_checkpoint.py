"""Provides the names of jax.ad_checkpoint: `checkpoint` and `checkpoint_name`."""

from typing import Any

from tapeless import checkpoint_policies, tree
from tapeless.missing import missing as _missing
from tapeless.transformations.public_functions import checkpoint as checkpoint
from tapeless.transformations.public_functions import remat as remat
from tapeless.transforms.autodiff.residuals.replay import value_name
from tapeless.transforms.core.builder import active, current
from tapeless.transforms.core.language import Var
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.values.text import Text


def checkpoint_name(x: Any, name: Any) -> Any:
    """The value itself, or a tree of values. Inside of `checkpoint` it has this name for policies,
    such as `checkpoint_policies.save_only_these_names(name)`.

    >>> checkpoint_name(2.0, "scale")
    2.0
    """
    if active():
        if isinstance(name, Text):  # of the number of a pass: the loop is unrolled
            name.need("checkpoint_name")
        for leaf in tree.leaves(x):
            if isinstance(leaf, Symbol):
                current().let((Var(leaf.type),), value_name, (leaf.value(),), {"name": name})
    return x


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)


__all__ = ["checkpoint", "checkpoint_name", "checkpoint_policies", "remat"]
