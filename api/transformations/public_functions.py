"""Defines the other public transformations, with JAX's names and signatures: `jvp`, `vjp`,
`linearize`, `jacfwd`, ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from tapeless import tree
from tapeless.dispatch.specialisation import cached_transformation
from tapeless.dispatch.typed_function import P, R, Typed
from tapeless.staging.argument_checks import checked_argnums, plural
from tapeless.staging.emitted_names import check_callable
from tapeless.staging.subprogram import symbol
from tapeless.transformations.checkpointed import Checkpoint
from tapeless.transformations.custom_rules import CustomJvp, CustomVjp
from tapeless.transformations.forward_and_reverse import Jvp
from tapeless.transformations.grad import grad, value_and_grad
from tapeless.transformations.ignored_parameters import check_unneeded
from tapeless.transformations.linearized_call import Half, PullBack, PushForward
from tapeless.transformations.vjp_and_linearize import Linearize, Linearized, Vjp, VjpFunction
from tapeless.transforms.core.builder import active, current
from tapeless.transforms.core.language import Var
from tapeless.transforms.errors import ArgumentTypeError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.ops.primitives.identities import stopped


def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> Any:
    """The value of a function and its derivative along a tangent.

    primals   the positional arguments, a tuple or list
    tangents  one for each primal, with its structure, shapes and dtypes; what stands at a leaf
              without derivative (an integer, a string) is ignored
    has_aux   `fun` returns a pair (value, anything)

    Returns (value, tangent of the value), or (value, tangent, aux) with `has_aux`.

    Raises ValueError for tangents of another shape, TypeError for another structure or dtype.

    >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
    (6.0, 3.0)
    """
    check_callable(fun, "jvp")
    for what, leaves in (("primals", primals), ("tangents", tangents)):
        if not isinstance(leaves, (tuple, list)):
            raise ArgumentTypeError(
                f"jvp: {what} must be a tuple or list, not {type(leaves).__name__}",
                "for one argument write (x,)",
            )
    if len(primals) != len(tangents):
        raise ArgumentTypeError(
            f"jvp: {plural(len(primals), 'primal')} and {plural(len(tangents), 'tangent')}",
            "there must be one tangent for each primal",
        )
    return cached_transformation(Jvp, fun, None, has_aux)(*primals, *tangents)


def jvp_fn(fun: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Jvp:
    """Forward mode as a function of (*arguments, *tangents), with `.source`.

    argnums  the positions of the arguments that have tangents, in their order

    >>> jvp_fn(lambda x, y: x * y, (1,))(2.0, 3.0, 1.0)
    (6.0, 2.0)
    """
    numbers = checked_argnums(argnums, "jvp_fn")
    return Jvp(fun, numbers if isinstance(numbers, tuple) else (numbers,))


def vjp(
    fun: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    reduce_axes: Sequence[Any] = (),
) -> Any:
    """The value of a function and the function that pulls cotangents back.

    primals  the positional arguments
    has_aux  `fun` returns a pair (value, anything)

    Returns (value, pull), or (value, pull, aux) with `has_aux`. `pull` takes a cotangent with the
    structure, shapes and dtypes of the value, and returns a tuple: a cotangent for each primal,
    built like it. `pull.source()` is the emitted module with the forward and the backward function.
    `pull` keeps what it needs: it may be called many times, also after the primals are overwritten.

    `pull` raises ValueError for a cotangent of another shape, TypeError for another structure or
    dtype.

    >>> value, pull = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> value, pull(1.0)
    (6.0, (3.0, 2.0))
    """
    check_callable(fun, "vjp")
    check_unneeded("vjp", reduce_axes=reduce_axes)
    if active():
        return _with_aux(PullBack(fun, primals, {}, has_aux), has_aux)
    return cached_transformation(Vjp, fun, has_aux).evaluate_at(VjpFunction, primals)


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of a function and its derivative there, as a function of tangents.

    primals  the positional arguments
    has_aux  `fun` returns a pair (value, anything)

    Returns (value, push), or (value, push, aux) with `has_aux`. `push(*tangents)` takes a tangent
    for each primal, with its structure, shapes and dtypes, and returns the tangent of the value.
    The value is computed once; `push` reads what that saved. (Where a while loop saves, or a
    function has a rule of its own, `push` computes the value again.) `push.source()` is the
    emitted module with both functions.

    `push` raises ValueError for a tangent of another shape, TypeError for another structure, dtype
    or number of tangents.

    >>> value, push = linearize(lambda x: x**2, 3.0)
    >>> value, push(1.0), push(2.0)
    (9.0, 6.0, 12.0)
    """
    check_callable(fun, "linearize")
    if active():
        return _with_aux(PushForward(fun, primals, {}, has_aux), has_aux)
    return cached_transformation(Linearize, fun, has_aux).evaluate_at(Linearized, primals)


def _with_aux(half: Half, has_aux: bool) -> Any:
    return (half.value, half, half.aux) if has_aux else (half.value, half)


def stop_gradient(x: Any) -> Any:
    """`x`, held constant: its derivative is zero.

    x  a number, an array, or a tree of them; other leaves are returned as they are

    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    3.0
    """
    return tree.map(_stop, x) if active() else x


def _stop(x: Any) -> Any:
    if not isinstance(x, Symbol):
        return x
    value = x.value()
    out = Var(value.type, value.name if isinstance(value, Var) else "")
    current().let((out,), stopped, (value,), {})
    return symbol(out, x)


def checkpoint(
    fun: Callable[P, R],
    *,
    prevent_cse: bool = True,
    policy: Callable[..., Any] | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    concrete: bool = False,
) -> Callable[P, R]:
    """The function, with less memory for its derivative: reverse mode saves the arguments only, and
    computes the rest again on the way back. On the body of a loop this saves most.

    policy  what else is saved: one of `tapeless.checkpoint_policies`, such as products, or values
            with names. With one that leaves the choice open, `everything_saveable`, the function
            is returned as it is; functions of JAX's primitives count as `nothing_saveable`. Of
            loops inside of the function values are saved if their numbers of passes are known
            when they begin; those of branches, where a loop is around them
    prevent_cse, static_argnums, static_argnames, concrete
            of JAX, and not needed: what is computed again is not joined with what was computed,
            and arguments that must be known are found

    Returns a function of the same arguments and value. Also as a decorator; `remat` is the same.

    >>> grad(checkpoint(lambda x: x**3))(2.0)
    12.0
    """
    if policy is not None:
        check_callable(policy, "checkpoint: policy")
    if getattr(policy, "saves", False):
        check_callable(fun, "checkpoint")
        return fun
    return cast("Callable[P, R]", Checkpoint(fun, getattr(policy, "saves_value", None)))


remat = checkpoint


class TypedJvp(Typed[P, R], CustomJvp):
    """A function with a forward rule, of parameters P, that returns R, for annotations."""


class TypedVjp(Typed[P, R], CustomVjp):
    """A function with a reverse rule, of parameters P, that returns R, for annotations."""


def custom_jvp(
    fun: Callable[P, R],
    nondiff_argnums: Sequence[int] = (),
    nondiff_argnames: str | Sequence[str] = (),
) -> TypedJvp[P, R]:
    """The function with a forward rule of yours, which reverse mode transposes.

    nondiff_argnums   positions of arguments that the rule gets first, as they are
    nondiff_argnames  their names instead

    The rule is set with `defjvp` or `defjvps`. It gets the primals and the tangents as tuples, with
    the keyword arguments and defaults of the call in their positions, and must be linear in the
    tangents. Function and rule may use anything that can be staged, and the function itself.

    Raises at the call: ValueError where no rule is set, TypeError where a rule returns something
    else, or where a variable from outside is differentiated that the rule does not know of.

    >>> import numpy as np
    >>> @custom_jvp
    ... def log1pexp(x):
    ...     return np.log(1 + np.exp(x))
    >>> @log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (x_dot,) = primals, tangents
    ...     return log1pexp(x), (1 - 1 / (1 + np.exp(x))) * x_dot
    >>> float(grad(log1pexp)(0.0)), float(grad(grad(log1pexp))(0.0))
    (0.5, 0.25)
    """
    return cast("TypedJvp[P, R]", CustomJvp(fun, nondiff_argnums, nondiff_argnames))


def custom_vjp(
    fun: Callable[P, R],
    nondiff_argnums: Sequence[int] = (),
    nondiff_argnames: str | Sequence[str] = (),
) -> TypedVjp[P, R]:
    """The function with a reverse rule of yours. Forward mode cannot pass through it.

    nondiff_argnums   positions of arguments that the backward rule gets first, as they are
    nondiff_argnames  their names instead

    The rule is set with `defvjp(fwd, bwd)`: `fwd(*args)` returns (value, residuals), and
    `bwd(*nondiff, residuals, cotangent)` a tuple with a cotangent for each other argument, None
    for zero.

    Raises at the call: ValueError where no rule is set, TypeError where a rule returns something
    else, where forward mode meets it, or where a variable from outside is differentiated that the
    rule does not know of.

    >>> @custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, ct: (min(max(ct, -1.0), 1.0),))
    >>> grad(lambda x: 5.0 * clipped(x))(2.0)
    1.0
    """
    return cast("TypedVjp[P, R]", CustomVjp(fun, nondiff_argnums, nondiff_argnames))


__all__ = [
    "VjpFunction",
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "grad",
    "jvp",
    "jvp_fn",
    "linearize",
    "remat",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
