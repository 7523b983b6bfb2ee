"""Compares both modes of differentiation with central differences, entry by entry.

Of a function with several results, that of their sum with fixed random weights is compared.
Source of the step: the error of a central difference is least near the cube root of the precision
(W. H. Press et al., Numerical Recipes, 3rd edition, section 5.7).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import tapeless
from tapeless import tree
from tapeless.transforms.errors import ArgumentTypeError

MOST = 32  # entries of one array that are compared

Function = Callable[..., Any]


@dataclass(frozen=True)
class ArgumentEntry:
    """One number among the arguments: argument, leaf of it, flat index into the leaf."""

    argument: int
    leaf: int
    index: int


@dataclass(frozen=True)
class DifferenceRow:
    """One derivative by one entry: what a mode says and what the difference quotient says."""

    mode: str
    entry: ArgumentEntry
    derivative: float
    quotient: float
    off: float
    tolerance: float

    @property
    def right(self) -> bool:
        return bool(self.off <= self.tolerance)  # a nan is wrong


def compare(function: Function, args: tuple[Any, ...]) -> list[DifferenceRow]:
    """A row for each entry and mode; `args` are pytrees of real floats, and so is what is returned.

    >>> [row.right for row in compare(lambda x: x * x, (3.0,))]
    [True, True]
    """
    weights = _weights(function(*fresh(args)))
    entries = list(_entries(args))
    quotients = [_quotient(function, args, entry, weights) for entry in entries]
    size = max((abs(q) for q in quotients), default=0.0)
    _, pull = tapeless.vjp(function, *fresh(args))
    cotangents = pull(weights)
    rows = []
    for entry, quotient in zip(entries, quotients, strict=True):
        scale = max(abs(quotient), 1e-3 * size, np.finfo(float).tiny)
        tolerance = 10 * _precision(args, entry)
        pushed = tapeless.jvp(function, fresh(args), _unit(args, entry))[1]
        derivatives = {"forward": _inner(weights, pushed), "reverse": _value_at(cotangents, entry)}
        for mode, derivative in derivatives.items():
            off = abs(derivative - quotient) / scale
            rows.append(DifferenceRow(mode, entry, derivative, quotient, off, tolerance))
    return rows


def refuse_other_results(result: Any, name: str) -> None:
    """Refuses results that are no real floats, for they have no derivative to compare."""
    if inspect.iscoroutine(result):
        result.close()  # Python would complain that nobody waited for it
    leaves = tree.leaves(result)
    other = next((v for v in leaves if np.asarray(v).dtype.kind != "f"), None)
    if other is not None or not leaves:
        kind = "nothing" if not leaves else f"a value of type {type(other).__name__}"
        raise ArgumentTypeError(
            f"{name} returns {kind}, which has no derivative",
            "check a function that returns floats",
        )


def project(function: Function, args: tuple[Any, ...]) -> Function:
    """The function if it returns one number, else the sum of its results by random weights."""
    result = function(*fresh(args))
    if not isinstance(result, (tuple, list, dict)) and np.ndim(result) == 0:
        return function
    weights = tree.leaves(_weights(result))

    def weighted_sum(*args: Any) -> Any:
        values = tree.leaves(function(*args))
        return sum(np.sum(w * v) for w, v in zip(weights, values, strict=True))

    return weighted_sum


def fresh(args: Any) -> Any:
    """Copies, for a function may overwrite what it is given."""
    return tree.map(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, args)


def _entries(args: tuple[Any, ...]) -> Iterator[ArgumentEntry]:
    rng = np.random.default_rng(0)
    for argument, value in enumerate(args):
        for leaf, numbers in enumerate(tree.leaves(value)):
            size = np.size(numbers)
            positions = rng.choice(size, min(size, MOST), replace=False)
            yield from (ArgumentEntry(argument, leaf, int(index)) for index in sorted(positions))


def _weights(result: Any) -> Any:
    rng = np.random.default_rng(1)
    return tree.map(lambda leaf: _as_leaf(leaf, rng.uniform(0.5, 1.5, np.shape(leaf))), result)


def _quotient(
    function: Function, args: tuple[Any, ...], entry: ArgumentEntry, weights: Any
) -> float:
    step = _precision(args, entry) * max(1.0, abs(_value_at(args, entry)))
    above, below = (_move_entry(args, entry, by) for by in (step, -step))
    width = _value_at(above, entry) - _value_at(below, entry)
    ends = (_inner(weights, function(*fresh(moved))) for moved in (above, below))
    return (next(ends) - next(ends)) / width


def _precision(args: tuple[Any, ...], entry: ArgumentEntry) -> float:
    leaf = tree.leaves(args[entry.argument])[entry.leaf]
    return float(np.cbrt(np.finfo(np.result_type(leaf)).eps))


def _inner(weights: Any, result: Any) -> float:
    pairs = zip(tree.leaves(weights), tree.leaves(result), strict=True)
    return float(sum(np.vdot(np.float64(weight), np.float64(value)) for weight, value in pairs))


def _value_at(args: tuple[Any, ...], entry: ArgumentEntry) -> float:
    return float(np.ravel(tree.leaves(args[entry.argument])[entry.leaf])[entry.index])


def _move_entry(args: tuple[Any, ...], entry: ArgumentEntry, by: float) -> tuple[Any, ...]:
    def move(numbers: np.ndarray[Any, Any]) -> None:
        numbers.flat[entry.index] += by

    return _edit(args, entry, move)


def _unit(args: tuple[Any, ...], entry: ArgumentEntry) -> tuple[Any, ...]:
    def mark(numbers: np.ndarray[Any, Any]) -> None:
        numbers.flat[entry.index] = 1

    zeros: Any = tree.map(lambda leaf: _as_leaf(leaf, np.zeros(np.shape(leaf))), args)
    return _edit(zeros, entry, mark)


def _edit(
    args: tuple[Any, ...], entry: ArgumentEntry, edit: Callable[[np.ndarray[Any, Any]], None]
) -> tuple[Any, ...]:
    leaves = tree.leaves(args[entry.argument])
    numbers = np.array(leaves[entry.leaf])
    edit(numbers)
    leaves[entry.leaf] = _as_leaf(leaves[entry.leaf], numbers)
    changed = list(args)
    changed[entry.argument] = tree.unflatten(tree.structure(args[entry.argument]), leaves)
    return tuple(changed)


def _as_leaf(leaf: Any, numbers: np.ndarray[Any, Any]) -> Any:
    """The numbers as what the leaf is: an array, a NumPy scalar or a Python float."""
    if isinstance(leaf, np.ndarray):
        return numbers.astype(leaf.dtype)
    return type(leaf)(numbers)
