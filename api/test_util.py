"""Checks derivatives, with the signatures of jax.test_util."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.random.key_reuse import report_reuse
from tapeless.staging.emitted_names import base_name
from tapeless.transformations.check_grads import Checker, GradientError, check_grads, fresh, inner


def check_jvp(
    f: Callable[..., Any],
    f_jvp: Callable[..., Any],
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Compares a forward derivative with central differences along a random direction.

    f        a function of floats, arrays of floats and trees of them
    f_jvp    a function of (primals, tangents), both tuples, that gives (value, tangent): such as
             `functools.partial(jvp, f)`
    args     the point, a tuple
    atol, rtol, eps  as for `check_grads`
    err_msg  put in front of the message

    Raises AssertionError where value or tangent is wrong.

    >>> from functools import partial
    >>> from tapeless import jvp
    >>> check_jvp(np.sin, partial(jvp, np.sin), (1.0,))
    """
    checker = Checker(base_name(f), ("fwd",), atol, rtol, eps)
    args = tuple(args)
    dots = checker.random_like(args)
    value, derivative = f_jvp(fresh(args), dots)
    with _said(err_msg), report_reuse(False):  # the same numbers at each point
        _same_value(checker, f, args, value)
        wanted = checker.quotient(f, args, dots)
        pairs = zip(
            tree.paths(derivative), tree.leaves(derivative), tree.leaves(wanted), strict=True
        )
        checker.compare("jvp", "the result", list(pairs), args)


def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., Any],
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """The same for a reverse derivative.

    f_vjp  a function of the arguments that gives (value, pull): such as
           `functools.partial(vjp, f)`

    Raises AssertionError where the value, or what `pull` gives, is wrong.

    >>> from functools import partial
    >>> from tapeless import vjp
    >>> check_vjp(np.sin, partial(vjp, np.sin), (1.0,))
    """
    checker = Checker(base_name(f), ("rev",), atol, rtol, eps)
    args = tuple(args)
    value, pull = f_vjp(*fresh(args))
    with _said(err_msg), report_reuse(False):  # the same numbers at each point
        _same_value(checker, f, args, value)
        cts = checker.random_like(value)
        dots = checker.random_like(args)
        computed, wanted = inner(pull(cts), dots), inner(cts, checker.quotient(f, args, dots))
        checker.compare("vjp", "the sum along a direction", [((), computed, wanted)], args)


def _same_value(checker: Checker, f: Any, args: tuple[Any, ...], value: Any) -> None:
    wanted = f(*fresh(args))
    for a, b in zip(tree.leaves(value), tree.leaves(wanted), strict=True):
        if not checker.right(np.asarray(a), np.asarray(b), args).all():
            raise GradientError(
                f"the value that comes with the derivative of {checker.name} is "
                f"{a}, and {b} without",
                "correct the rule",
            )


class _said:  # noqa: N801 (used as a function)
    """Puts a text in front of the message of an error."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if self.text and isinstance(error, GradientError):
            raise GradientError(f"{self.text}: {error.problem}", error.hint) from error


__all__ = ["check_grads", "check_jvp", "check_vjp"]
