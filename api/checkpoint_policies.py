"""Provides the names of jax.checkpoint_policies: what `checkpoint` saves of the values inside a
function.

A policy changes no values of results or derivatives. What is not saved is computed again on the way
back. `everything_saveable` leaves the choice to the minimum cut that decides where there is no
checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeless.missing import missing as _missing
from tapeless.transforms.autodiff.residuals.replay import Saves, value_name
from tapeless.transforms.core.language import Let
from tapeless.transforms.errors import ArgumentTypeError
from tapeless.transforms.ops.linalg.einsum import einsum
from tapeless.transforms.ops.linalg.products import matmul


class Policy:
    """What may be saved. Called, it says whether the choice is left to the minimum cut.

    saves        whether it is
    saves_value  of the statement that computes a value, or gives it a name: whether it is saved

    >>> import numpy as np
    >>> from tapeless import checkpoint, checkpoint_policies, grad
    >>> f = checkpoint(np.sin, policy=checkpoint_policies.nothing_saveable)
    >>> print(grad(f)(0.0))
    1.0
    """

    def __init__(self, name: str, saves: bool = False, saves_value: Saves | None = None) -> None:
        self.__name__, self.saves, self.saves_value = name, saves, saves_value

    def __call__(self, /, *args: Any, **params: Any) -> bool:
        return self.saves

    def __repr__(self) -> str:
        return f"<policy {self.__name__}>"


def _is_product(s: Let) -> bool:
    return s.op in (matmul, einsum)


def _is_single_product(s: Let) -> bool:
    """Whether a value is a product of matrices or vectors, not of stacks of them."""
    if s.op is einsum:
        left, _, right = s.params["subscripts"].partition("->")
        return not any(all(c in x for x in left.split(",")) for c in right)
    return s.op is matmul and all(a.type.ndim <= 2 for a in s.args)


def _save_names(accepts: Callable[[str], bool]) -> Saves:
    return lambda s: s.op is value_name and accepts(s.params["name"])


everything_saveable = Policy("everything_saveable", True)
nothing_saveable = Policy("nothing_saveable")
checkpoint_dots = dots_saveable = Policy("dots_saveable", saves_value=_is_product)
checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable = Policy(
    "dots_with_no_batch_dims_saveable", saves_value=_is_single_product
)


def save_only_these_names(*names_which_can_be_saved: str) -> Policy:
    """Values are saved that `checkpoint_name` gives one of these names.

    >>> save_only_these_names("scores")
    <policy save_only_these_names('scores')>
    """
    name = _describe_policy("save_only_these_names", names_which_can_be_saved)
    return Policy(name, saves_value=_save_names(lambda n: n in names_which_can_be_saved))


def save_any_names_but_these(*names_not_to_save: str) -> Policy:
    """Values are saved that `checkpoint_name` gives another name.

    >>> save_any_names_but_these("scores")
    <policy save_any_names_but_these('scores')>
    """
    name = _describe_policy("save_any_names_but_these", names_not_to_save)
    return Policy(name, saves_value=_save_names(lambda n: n not in names_not_to_save))


def save_anything_except_these_names(*names_not_to_save: str) -> Policy:
    """All values are saved that take work, but those that `checkpoint_name` gives one of these
    names: these are computed again.

    >>> save_anything_except_these_names("scores")
    <policy save_anything_except_these_names('scores')>
    """

    def saves(s: Let) -> bool:
        if s.op is value_name:
            return s.params["name"] not in names_not_to_save
        return s.op.costly

    return Policy(
        _describe_policy("save_anything_except_these_names", names_not_to_save), saves_value=saves
    )


def save_and_offload_only_these_names(
    *,
    names_which_can_be_saved: Sequence[str],
    names_which_can_be_offloaded: Sequence[str],
    offload_src: str,
    offload_dst: str,
) -> Policy:
    """Values of these names are saved. JAX puts them in two memories; here there is one.

    >>> save_and_offload_only_these_names(
    ...     names_which_can_be_saved=["a"], names_which_can_be_offloaded=["b"],
    ...     offload_src="device", offload_dst="pinned_host")
    <policy save_and_offload_only_these_names('a', 'b')>
    """
    names = (*names_which_can_be_saved, *names_which_can_be_offloaded)
    name = _describe_policy("save_and_offload_only_these_names", names)
    return Policy(name, saves_value=_save_names(lambda n: n in names))


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
    """Products of matrices are saved. JAX puts them in another memory; here there is one.

    >>> offload_dot_with_no_batch_dims("device", "pinned_host")
    <policy offload_dot_with_no_batch_dims>
    """
    return Policy("offload_dot_with_no_batch_dims", saves_value=_is_single_product)


def save_from_both_policies(policy_1: Callable[..., Any], policy_2: Callable[..., Any]) -> Policy:
    """What one of two policies saves.

    >>> save_from_both_policies(nothing_saveable, everything_saveable)()
    True
    """
    policies = (policy_1, policy_2)
    both = ", ".join(str(getattr(p, "__name__", p)) for p in policies)
    parts = [f for p in policies if (f := getattr(p, "saves_value", None)) is not None]
    return Policy(
        f"save_from_both_policies({both})",
        any(getattr(p, "saves", False) for p in policies),
        (lambda s: any(f(s) for f in parts)) if parts else None,
    )


def _describe_policy(name: str, names: Sequence[str]) -> str:
    for each in names:
        if not isinstance(each, str):
            raise ArgumentTypeError(f"{name}: a name is {each!r}", "names are texts")
    return f"{name}({', '.join(map(repr, names))})"


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)
