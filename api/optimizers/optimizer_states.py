"""Makes optimizers for trees from rules for one array; the state of each leaf is kept in one
list."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from tapeless import tree
from tapeless.transforms.errors import ArgumentTypeError, StructureError

__staged__ = True  # plain NumPy code: a staged run enters it


@dataclass(frozen=True)
class OptimizerState:
    """What an optimizer keeps: a tree whose leaves are those of `packed_state`.

    It unpacks into its three fields.

    packed_state  for each leaf of the parameters, the leaves of its state
    tree_def      the structure of the parameters
    subtree_defs  the structures of the states
    """

    packed_state: tuple[Any, ...]
    tree_def: Any
    subtree_defs: tuple[Any, ...]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.packed_state, self.tree_def, self.subtree_defs))


tree.register_pytree_node(
    OptimizerState,
    lambda state: ((state.packed_state,), (state.tree_def, state.subtree_defs)),
    lambda static, children: OptimizerState(children[0], *static),
)


class Optimizer(NamedTuple):
    """Three functions: `init(params)`, `update(step, gradients, state)`, `get_params(state)`."""

    init_fn: Callable[[Any], OptimizerState]
    update_fn: Callable[[Any, Any, OptimizerState], OptimizerState]
    params_fn: Callable[[OptimizerState], Any]


class JoinPoint:
    """Marks where the tree of the parameters ends and that of a state begins."""

    def __init__(self, subtree: Any) -> None:
        self.subtree = subtree

    def __iter__(self) -> Iterator[Any]:
        yield self.subtree

    def __repr__(self) -> str:
        return f"JoinPoint({self.subtree!r})"


def optimizer(opt_maker: Callable[..., Any]) -> Callable[..., Optimizer]:
    """Makes an optimizer for trees of one for arrays; a decorator.

    opt_maker  a function that returns three functions, of one array each: `init(x)` to its state,
               `update(step, gradient, state)` to the next state, `get_params(state)` to the array

    Returns a function with the same arguments that returns an Optimizer. Its `update_fn` raises
    TypeError for gradients of another structure than the parameters have.

    >>> @optimizer
    ... def signs(step_size):
    ...     def update(step, g, x):
    ...         return x - step_size * (1 if g > 0 else -1)
    ...
    ...     return lambda x: x, update, lambda x: x
    >>> init, update, get_params = signs(0.5)
    >>> get_params(update(0, {"a": 3.0}, init({"a": 1.0})))
    {'a': 0.5}
    """

    @functools.wraps(opt_maker)
    def make(*args: Any, **kwargs: Any) -> Optimizer:
        return _over_trees(*opt_maker(*args, **kwargs))

    return make


def _over_trees(init: Any, update: Any, get_params: Any) -> Optimizer:
    def tree_init(params: Any) -> OptimizerState:
        leaves, structure = tree.flatten(params)
        return _pack_states([init(leaf) for leaf in leaves], structure)

    def tree_update(step: Any, gradients: Any, state: OptimizerState) -> OptimizerState:
        leaves, structure = tree.flatten(gradients)
        _check_gradients(structure, state.tree_def)
        pairs = zip(leaves, _states(state), strict=True)
        new = _pack_states([update(step, g, s) for g, s in pairs], structure)
        _check_states(new, state)
        return OptimizerState(new.packed_state, state.tree_def, state.subtree_defs)

    def tree_params(state: OptimizerState) -> Any:
        return tree.unflatten(state.tree_def, [get_params(s) for s in _states(state)])

    return Optimizer(tree_init, tree_update, tree_params)


def _pack_states(states: list[Any], structure: Any) -> OptimizerState:
    flat = [tree.flatten(state) for state in states]
    return OptimizerState(
        tuple(tuple(leaves) for leaves, _ in flat), structure, tuple(inner for _, inner in flat)
    )


def _states(state: OptimizerState) -> list[Any]:
    """The state of each leaf of the parameters."""
    pairs = zip(state.subtree_defs, state.packed_state, strict=True)
    return [tree.unflatten(inner, leaves) for inner, leaves in pairs]


def _check_gradients(gradients: Any, params: Any) -> None:
    if gradients != params:
        raise ArgumentTypeError(
            f"the gradients have the structure {tree.structure_stars(gradients)}, and the "
            f"parameters have {tree.structure_stars(params)}",
            "pass the gradient with respect to get_params(state)",
        )


def _check_states(new: OptimizerState, old: OptimizerState) -> None:
    for before, after in zip(old.subtree_defs, new.subtree_defs, strict=True):
        if before != after:
            raise StructureError(
                f"update returns a state of structure {tree.structure_stars(after)}, and was "
                f"given one of structure {tree.structure_stars(before)}",
                "return the same kind of state as init does",
            )


def unpack_optimizer_state(opt_state: OptimizerState) -> Any:
    """The state as a tree of the parameters' structure, to be written to a file, say.

    Its leaves are `JoinPoint`s, and each holds the state of one leaf of the parameters.

    >>> from tapeless import optimizers
    >>> init, _, _ = optimizers.sgd(0.1)
    >>> unpack_optimizer_state(init({"w": 1.0}))
    {'w': JoinPoint(1.0)}
    """
    return tree.unflatten(opt_state.tree_def, [JoinPoint(s) for s in _states(opt_state)])


def pack_optimizer_state(marked_pytree: Any) -> OptimizerState:
    """The state that `unpack_optimizer_state` was given.

    Raises TypeError where leaves are no `JoinPoint`s.

    >>> from tapeless import optimizers
    >>> init, _, get_params = optimizers.sgd(0.1)
    >>> get_params(pack_optimizer_state(unpack_optimizer_state(init({"w": 1.0}))))
    {'w': 1.0}
    """
    marks, structure = tree.flatten(marked_pytree)
    for mark in marks:
        if not isinstance(mark, JoinPoint):
            raise ArgumentTypeError(
                f"pack_optimizer_state: a leaf is {type(mark).__name__} and no JoinPoint",
                "pass what unpack_optimizer_state returned",
            )
    return _pack_states([mark.subtree for mark in marks], structure)
