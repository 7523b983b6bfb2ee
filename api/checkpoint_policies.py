"""Names of jax.checkpoint_policies: hints about what `checkpoint` may save.

A policy changes no values. `everything_saveable`, and `save_anything_except_these_names`, leave the
choice to the minimum cut that decides where there is no checkpoint; under all others the arguments
are saved, and the rest is computed again, also what `checkpoint_name` has named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeless.missing import missing as _missing
from tapeless.transforms.errors import ArgumentTypeError


class Policy:
    """A hint about what may be saved.

    >>> import numpy as np
    >>> from tapeless import checkpoint, checkpoint_policies, grad
    >>> f = checkpoint(np.sin, policy=checkpoint_policies.nothing_saveable)
    >>> print(grad(f)(0.0))
    1.0
    """

    def __init__(self, name: str, saves: bool = False) -> None:
        self.__name__, self.saves = name, saves

    def __call__(self, /, *args: Any, **params: Any) -> bool:
        return self.saves

    def __repr__(self) -> str:
        return f"<policy {self.__name__}>"


everything_saveable = Policy("everything_saveable", True)
nothing_saveable = Policy("nothing_saveable")
checkpoint_dots = dots_saveable = Policy("dots_saveable")
checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable = Policy(
    "dots_with_no_batch_dims_saveable"
)


def save_only_these_names(*names_which_can_be_saved: str) -> Policy:
    """Of JAX: values of these names are saved. Here they are computed again, as the rest is.

    >>> save_only_these_names("scores")
    <policy save_only_these_names('scores')>
    """
    return Policy(_called("save_only_these_names", names_which_can_be_saved))


def save_any_names_but_these(*names_not_to_save: str) -> Policy:
    """Of JAX: values of other names are saved. Here they are computed again, as the rest is.

    >>> save_any_names_but_these("scores")
    <policy save_any_names_but_these('scores')>
    """
    return Policy(_called("save_any_names_but_these", names_not_to_save))


def save_anything_except_these_names(*names_not_to_save: str) -> Policy:
    """Of JAX: all but values of these names may be saved. Here what is saved is chosen as without a
    checkpoint.

    >>> save_anything_except_these_names("scores")()
    True
    """
    return Policy(_called("save_anything_except_these_names", names_not_to_save), True)


def save_and_offload_only_these_names(
    *,
    names_which_can_be_saved: Sequence[str],
    names_which_can_be_offloaded: Sequence[str],
    offload_src: str,
    offload_dst: str,
) -> Policy:
    """Of JAX: values of these names are saved, in one of two memories. Here there is one, and they
    are computed again, as the rest is.

    >>> save_and_offload_only_these_names(
    ...     names_which_can_be_saved=["a"], names_which_can_be_offloaded=["b"],
    ...     offload_src="device", offload_dst="pinned_host")
    <policy save_and_offload_only_these_names('a', 'b')>
    """
    names = (*names_which_can_be_saved, *names_which_can_be_offloaded)
    return Policy(_called("save_and_offload_only_these_names", names))


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
    """Of JAX: products are saved in another memory. Here there is one, and they are computed again.

    >>> offload_dot_with_no_batch_dims("device", "pinned_host")()
    False
    """
    return Policy("offload_dot_with_no_batch_dims")


def save_from_both_policies(policy_1: Callable[..., Any], policy_2: Callable[..., Any]) -> Policy:
    """What one of two policies saves.

    >>> save_from_both_policies(nothing_saveable, everything_saveable)()
    True
    """
    policies = (policy_1, policy_2)
    both = ", ".join(str(getattr(p, "__name__", p)) for p in policies)
    saves = any(getattr(p, "saves", False) for p in policies)
    return Policy(f"save_from_both_policies({both})", saves)


def _called(name: str, names: Sequence[str]) -> str:
    for each in names:
        if not isinstance(each, str):
            raise ArgumentTypeError(f"{name}: a name is {each!r}", "names are texts")
    return f"{name}({', '.join(map(repr, names))})"


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)
