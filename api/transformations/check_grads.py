"""Checks a function's derivatives against difference quotients, in both modes (`check_grads`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.lazy_import import lazy_module
from tapeless.staging.argument_checks import check_input
from tapeless.staging.emitted_names import argument_names, base_name, check_callable
from tapeless.transformations.public_functions import jvp, vjp
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, TapelessError

if TYPE_CHECKING:
    from tapeless.random import key_reuse as reuse
else:
    reuse = lazy_module("tapeless.random.key_reuse")

Tree = Any


class GradientError(TapelessError, AssertionError):
    """A derivative that differs from the difference quotient."""


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Compares the derivatives of a function with central differences along random directions.

    f      a function of floats, arrays of floats and trees of them, which returns such
    args   the point, a tuple or list
    order  up to which order the derivatives are compared
    modes  "fwd" (jvp), "rev" (vjp, against jvp's difference quotient), or both
    atol, rtol  what may differ; from the precision of the arguments where left out
    eps    the step; the cube root of the precision where left out (W. H. Press et al.,
           Numerical Recipes, 3rd edition, section 5.7)

    Returns None. Raises an AssertionError that names the worst entry where a derivative is wrong,
    and ValueError or TypeError for arguments that cannot be checked.

    >>> check_grads(lambda x: np.sin(x) * x, (np.arange(3.0),))
    """
    check_callable(f, "check_grads")
    if not isinstance(args, (tuple, list)):
        raise ArgumentTypeError(
            f"check_grads: args must be a tuple or list, not {type(args).__name__}",
            "for one argument write (x,)",
        )
    if not isinstance(order, int) or order < 1:
        raise ArgumentError(f"check_grads: order must be 1 or more, not {order!r}")
    wrong = [m for m in modes if m not in ("fwd", "rev")]
    if wrong or not modes:
        raise ArgumentError(f'check_grads: modes are "fwd" and "rev", not {modes!r}')
    for part, name in zip(args, argument_names(f, tuple(args), {}), strict=True):
        check_input(part, "check_grads", name)
    with reuse.report_reuse(False):  # the same numbers at each point
        Checker(base_name(f), modes, atol, rtol, eps).run(f, tuple(args), order, "")


class Checker:
    """The comparison, by order: what is compared at one order is differentiated at the next."""

    def __init__(
        self,
        name: str,
        modes: Sequence[str],
        atol: float | None,
        rtol: float | None,
        eps: float | None,
    ) -> None:
        self.name, self.modes = name, modes
        self.atol, self.rtol, self.eps = atol, rtol, eps
        self.rng = np.random.default_rng(0)

    def run(self, f: Callable[..., Any], args: tuple[Any, ...], order: int, path: str) -> None:
        if "fwd" in self.modes:
            dots = self.random_like(args)
            self.forward(f, args, dots, f"{path}fwd")
            if order > 1:
                self.run(lambda *a: jvp(f, a, dots)[1], args, order - 1, f"{path}fwd of ")
        if "rev" in self.modes:
            cts = self.random_like(f(*fresh(args)))
            self.backward(f, args, cts, f"{path}rev")
            if order > 1:
                self.run(lambda *a: vjp(f, *a)[1](cts), args, order - 1, f"{path}rev of ")

    def random_like(self, value: Tree) -> Tree:
        """Random numbers built like `value`."""
        return tree.map(lambda x: _cast(self.rng.uniform(0.5, 1.5, np.shape(x)), x), value)

    def forward(self, f: Any, args: tuple[Any, ...], dots: Tree, what: str) -> None:
        derivative = jvp(f, fresh(args), dots)[1]
        wanted = self.quotient(f, args, dots)
        paths = tree.paths(derivative)
        pairs = zip(paths, tree.leaves(derivative), tree.leaves(wanted), strict=True)
        self.compare(what, "the result", list(pairs), args)

    def backward(self, f: Any, args: tuple[Any, ...], cts: Tree, what: str) -> None:
        bars = vjp(f, *fresh(args))[1](cts)
        dots = self.random_like(args)
        derivative, wanted = inner(bars, dots), inner(cts, self.quotient(f, args, dots))
        if self.right(np.asarray(derivative), np.asarray(wanted), args).all():
            return
        entries = tree.map(lambda bar, x: self.entries(f, args, cts, x), bars, _places(args))
        pairs = zip(tree.paths(bars), tree.leaves(bars), tree.leaves(entries), strict=True)
        self.compare(what, "the argument", list(pairs), args)
        self.compare(what, "the sum along a direction", [((), derivative, wanted)], args)

    def quotient(self, f: Any, args: Tree, dots: Tree) -> Tree:
        """The central difference along `dots`."""
        eps = self.eps if self.eps is not None else _precision(args)
        above = f(*tree.map(lambda x, d: _cast(x + eps * d, x), args, dots))
        below = f(*tree.map(lambda x, d: _cast(x - eps * d, x), args, dots))
        return tree.map(lambda a, b: (a - b) / (2 * eps), above, below)

    def entries(self, f: Any, args: Tree, cts: Tree, place: _Place) -> Any:
        """The difference quotients by each entry of one leaf."""
        leaves, structure = tree.flatten(args)
        quotients = np.zeros(np.shape(leaves[place.leaf]))
        for k in range(quotients.size):
            unit = np.zeros(quotients.shape)
            unit.flat[k] = 1
            dots = [np.zeros(np.shape(x)) for x in leaves]
            dots[place.leaf] = unit
            quotients.flat[k] = inner(cts, self.quotient(f, args, tree.unflatten(structure, dots)))
        return quotients

    def right(self, computed: Any, wanted: Any, args: Tree) -> Any:
        tolerance = 20 * _precision(args)
        atol = tolerance if self.atol is None else self.atol
        rtol = tolerance if self.rtol is None else self.rtol
        return np.abs(computed - wanted) <= atol + rtol * np.abs(wanted)

    def compare(self, what: str, of: str, rows: list[Any], args: Tree) -> None:
        """Raises at the entry that is off most, if one is wrong."""
        worst: tuple[float, str] = (-1.0, "")
        for path, computed, wanted in rows:
            computed, wanted = np.asarray(computed), np.asarray(wanted)
            off = np.where(np.isnan(computed), np.inf, np.abs(computed - wanted))
            bad = np.where(self.right(computed, wanted, args), -1.0, off)
            if bad.size and bad.max() > worst[0]:
                at = np.unravel_index(int(bad.argmax()), bad.shape)
                keys = "".join(f"[{k!r}]" for k in path)
                index = "[" + ", ".join(str(int(i)) for i in at) + "]" if at else ""
                said = (
                    f"{float(computed[at]):.10g}, the difference quotient {float(wanted[at]):.10g}"
                )
                worst = (float(bad.max()), f"{of}{keys}{index}: the derivative is {said}")
        if worst[1]:
            raise GradientError(
                f"the derivative of {self.name} is wrong ({what}), worst at {worst[1]}",
                "correct its rule; at kinks and for large steps both may be right: choose eps",
            )


class _Place:
    def __init__(self, leaf: int) -> None:
        self.leaf = leaf


def _places(args: Tree) -> Tree:
    leaves, structure = tree.flatten(args)
    return tree.unflatten(structure, [_Place(k) for k in range(len(leaves))])


def fresh(args: Tree) -> Tree:
    """Copies, for a function may overwrite what it is given."""
    return tree.map(lambda x: x.copy() if isinstance(x, np.ndarray) else x, args)


def _precision(args: Tree) -> float:
    kinds = [np.result_type(x) for x in tree.leaves(args)]
    return float(np.cbrt(max((np.finfo(k).eps for k in kinds), default=np.finfo(float).eps)))


def _cast(numbers: Any, like: Any) -> Any:
    """Numbers as what the leaf is: an array, a NumPy scalar or a Python float."""
    if isinstance(like, np.ndarray):
        return np.asarray(numbers, like.dtype)
    return type(like)(numbers)


def inner(a: Tree, b: Tree) -> float:
    pairs = zip(tree.leaves(a), tree.leaves(b), strict=True)
    return float(sum(np.vdot(np.asarray(x), np.asarray(y)) for x, y in pairs))
