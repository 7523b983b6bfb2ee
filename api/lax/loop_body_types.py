"""Checks that bodies of loops return trees of the types that they take."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.staging.subprogram import describe, is_value, leaf_type, shape_text, symbol
from tapeless.staging.user_calls import call_user
from tapeless.transforms.core.builder import active, atom_of_size, current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Type, Var
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, call_numpy
from tapeless.transforms.frontend.heap.list_results import with_known_lists
from tapeless.transforms.frontend.trace.trace import trace


def checked_function(name: str, what: str, fun: Any) -> None:
    """Refuses what cannot be called."""
    if not callable(fun):
        raise ArgumentTypeError(f"lax.{name}: {what} must be a function, not {describe(fun)}")


def checked_values(name: str, what: str, value: Any) -> None:
    """Refuses a tree with leaves that are no numbers or arrays."""
    for leaf in tree.leaves(value):
        if not is_value(leaf):
            raise ArgumentTypeError(
                f"lax.{name}: {what} holds {describe(leaf)}, where numbers and arrays may be"
            )


def checked_length(name: str, leaves: list[Any], length: Any) -> Any:
    """The common length of the first axes, which must also be `length` where that is given."""
    for leaf in leaves:
        if not is_value(leaf) or not leaf_type(leaf).shape:
            raise ArgumentError(
                f"lax.{name}: there is no first axis to go over in {describe(leaf)}"
            )
    sizes = [leaf_type(leaf).shape[0] for leaf in leaves]
    if length is not None and not isinstance(length, Symbol):
        length = operator.index(length)
    if not sizes and length is None:
        raise ArgumentError(
            f"lax.{name}: there are no values to go over, and no length", "give length=n"
        )
    lengths = [*sizes, length] if isinstance(length, int) else sizes
    if any(not same_size(n, lengths[0]) for n in lengths[1:]):
        raise ArgumentError(
            f"lax.{name}: the lengths of the first axes are {shape_text(tuple(sizes))}"
            + (f", and length is {length}" if length is not None else ", and must be the same")
        )
    return leaves[0].shape[0] if leaves else length


def checked_axis(name: str, axis: Any, leaves: list[Any]) -> int:
    """An axis of all arrays, counted from the front."""
    number = operator.index(axis)
    if not leaves:
        raise ArgumentError(f"lax.{name}: there are no arrays")
    rank = len(leaf_type(leaves[0]).shape)
    if not -rank <= number < rank:
        raise ArgumentError(f"lax.{name}: axis {number} of {describe(leaves[0])}")
    return number % rank


def checked_lengths(name: str, leaves: list[Any], axis: int) -> Any:
    """The common length of the arrays along an axis."""
    sizes = [leaf_type(leaf).shape[axis] for leaf in leaves if leaf_type(leaf).shape[axis:]]
    if len(sizes) < len(leaves) or any(not same_size(n, sizes[0]) for n in sizes[1:]):
        raise ArgumentError(
            f"lax.{name}: the lengths along axis {axis} must be the same, and are "
            f"{shape_text(tuple(sizes))}"
        )
    return leaves[0].shape[axis]


def checked_combined(arrays: list[Any], structure: Any, value_returned: Any) -> list[Any]:
    """What the function of an associative scan returns, as leaves."""
    leaves, structure_returned = tree.flatten(value_returned)
    checked_values("associative_scan", "what fn returns", value_returned)
    kinds_of = [(leaf_type(x).dtype, len(leaf_type(x).shape)) for x in leaves]
    if structure_returned != structure or kinds_of != [(x.dtype, x.ndim) for x in arrays]:
        raise ArgumentTypeError(
            f"lax.associative_scan: fn returns {tree.map(Kind, value_returned)!r}, where it is "
            f"given {tree.unflatten(structure, [Kind(x) for x in arrays])!r}"
        )
    return leaves


def same_size(a: Size, b: Size) -> bool:
    """Whether two sizes are the same in this call; a staged run then relies on it."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return bool(current().same_size(a, b))


class Kind:
    """The type of a leaf of a tree."""

    def __init__(self, x: Any, axes: int = 0) -> None:
        """That of the value x, or of its rows after so many axes."""
        leaf = leaf_type(x)
        self.shape, self.dtype, self.weak = leaf.shape[axes:], leaf.dtype, leaf.weak

    @property
    def facts(self) -> Any:
        return self.shape, self.dtype, self.weak

    def __repr__(self) -> str:
        return f"{self.dtype}{shape_text(self.shape) if self.shape else ''}"


def kinds(value: Any) -> Any:
    """The types of the leaves, as a tree."""
    return tree.map(Kind, value)


def at_most(a: Size, b: Size) -> bool:
    """Whether a size is at most another one in this call; a staged run then relies on it."""
    x, y = (n if isinstance(n, int) else trace().value(n) for n in (a, b))
    if x is None or y is None or x > y:
        return x is None or y is None
    if not (isinstance(a, int) and isinstance(b, int)) and a != b:
        trace().guard(">=", b, a)
    return True


def divides(n: int, size: Size) -> bool:
    """Whether a size is a multiple of n; a staged run then relies on it."""
    return n == 1 or same_size(size // n * n, size)


def size_text(size: Size) -> str:
    """A size, in this call."""
    return shape_text((size,))[1:-2]


def checked_carry(name: str, before: Any, after: Any) -> Any:
    """What a body returns; refused where it is not of the types that the body was given.

    A Python number takes the type that comes out.
    """
    checked_values(name, "what the body returns", after)
    checked_kinds(name, kinds(before), kinds(after))
    return after


def checked_kinds(name: str, before: Any, after: Any) -> None:
    (old, structure), (new, new_structure) = tree.flatten(before), tree.flatten(after)
    if structure != new_structure:
        raise ArgumentTypeError(
            f"lax.{name}: what the body returns to be carried on is built like "
            f"{tree.structure_text(after)}, and what it is given like {tree.structure_text(before)}"
        )
    for a, b in zip(old, new, strict=True):
        if not _follows(a, b):
            raise ArgumentTypeError(
                f"lax.{name}: the body is given {a!r} and returns {b!r}",
                "return the type that is given, or begin with the one that is returned",
            )


def _follows(old: Kind, new: Kind) -> bool:
    if len(old.shape) != len(new.shape):
        return False
    if not all(a == b or same_size(a, b) for a, b in zip(old.shape, new.shape, strict=True)):
        return False
    return old.weak or new.weak or old.dtype == new.dtype


def checked_pair(name: str, value: Any) -> Any:
    """What a body of a scan returns: (what is carried on, what is kept)."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ArgumentTypeError(
            f"lax.{name}: the body must return a pair (carried on, kept), not {describe(value)}"
        )
    return value


def checked_test(name: str, value: Any, what: str = "the test") -> Any:
    """One boolean, or one number that stands for `number != 0`."""
    if not is_value(value) or leaf_type(value).shape or leaf_type(value).dtype.kind == "c":
        raise ArgumentTypeError(
            f"lax.{name}: {what} must be one boolean or number, not {describe(value)}"
        )
    return value


def checked_index(name: str, value: Any, what: str) -> Any:
    """One integer."""
    if not is_value(value) or leaf_type(value).shape or leaf_type(value).dtype.kind not in "iu":
        raise ArgumentTypeError(f"lax.{name}: {what} must be one integer, not {describe(value)}")
    return value


def checked_unroll(name: str, unroll: Any) -> None:
    """Refuses what is no boolean and no integer from 0."""
    if not isinstance(unroll, (bool, int, np.integer)) or unroll < 0:
        raise ArgumentError(f"lax.{name}: unroll must be a bool or an integer from 0, not {unroll}")


def checked_contraction(name: str, a: Any, b: Any, numbers: Any) -> Any:
    """Axes to sum over, and axes side by side, of two arrays."""
    try:
        pairs = [tuple(tuple(map(operator.index, axes)) for axes in pair) for pair in numbers]
        (left, right), (along, beside) = pairs
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"lax.{name}: dimension_numbers must be ((axes, axes), (axes, axes)), not {numbers!r}"
        ) from None
    for x, axes in ((a, (*left, *along)), (b, (*right, *beside))):
        if len(set(axes)) < len(axes) or not all(0 <= k < x.ndim for k in axes):
            raise ArgumentTypeError(f"lax.{name}: {axes} are not different axes of {describe(x)}")
    mine, other = leaf_type(a).shape, leaf_type(b).shape
    for some, others in ((left, right), (along, beside)):
        sizes = [mine[k] for k in some], [other[k] for k in others]
        if len(some) != len(others) or not all(map(same_size, *sizes)):
            raise ArgumentTypeError(
                f"lax.{name}: the axes {some} of {describe(a)} and {others} of {describe(b)} "
                "are not as long"
            )
    return pairs


# -- what the sides of a branch return


def checked_cond(true_fun: Any, false_fun: Any, operands: Any, operand: Any) -> Any:
    """The two functions and the operands of each, also from the older order of arguments."""
    if callable(true_fun) and callable(false_fun):
        if operands and operand:
            raise ArgumentTypeError("lax.cond: operands are given by position and by name")
        operands_given = operands or operand
        return true_fun, false_fun, (operands_given, operands_given)
    if callable(false_fun) and len(operands) == 2 and callable(operands[1]):
        return false_fun, operands[1], ((true_fun,), (operands[0],))
    raise ArgumentTypeError("lax.cond: true_fun and false_fun must be functions")


def checked_branches(branches: Any) -> tuple[Any, ...]:
    """At least one function."""
    if isinstance(branches, (list, tuple)):
        branch_tuple = tuple(branches)
    else:
        raise ArgumentTypeError(
            f"lax.switch: the branches must be a list, not {describe(branches)}"
        )
    for branch in branch_tuple:
        checked_function("switch", "a branch", branch)
    if not branch_tuple:
        raise ArgumentError("lax.switch: there are no branches")
    return branch_tuple


def checked_platform(chosen: Any) -> None:
    if chosen is None:
        raise UnsupportedError(
            "lax.platform_dependent: there is no function for 'cpu', and no default"
        )


class Sides:
    """Notes what each side of a branch returns while it is staged, and refuses other types."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seen: dict[int, Any] = {}

    def note(self, side: int, value: Any) -> Any:
        """The value, of which the side `side` ends."""
        if active():
            checked_values(self.name, "what a branch returns", value)
            self.seen[side] = kinds(value)
            first = next(iter(self.seen))
            self.compare(first, side)
            return tree.map(lambda x: x, value)  # containers are not the caller's, on any side
        return value

    def compare(self, this: int, other: int) -> None:
        a, b = self.seen[this], self.seen[other]
        (old, structure), (new, new_structure) = tree.flatten(a), tree.flatten(b)
        if structure != new_structure or not all(
            _follows(x, y) for x, y in zip(old, new, strict=True)
        ):
            raise ArgumentTypeError(
                f"lax.{self.name}: the branches return {a!r} and {b!r}",
                "let both return values of one structure, shape and dtype",
            )


# -- what a function would return


def result_types(fun: Any, *args: Any) -> Any:
    """What a staged call would return for arguments of these types: a tree of types.

    Nothing of the call stays.
    """
    t = trace()
    with t.recording() as journal, t.block():
        value = with_known_lists(call_user(fun, *tree.map(_stand_in, args)))
        value_kinds = kinds(value)
    t.rollback(journal)
    return value_kinds


def _stand_in(kind: Kind) -> Any:
    return Symbol(Var(Type(kind.dtype, kind.shape, kind.weak)), is_array=bool(kind.shape))


class Kept:
    """What the passes of a scan keep: for each leaf an array with an entry for each pass."""

    def __init__(self, value: Any, length: Any) -> None:
        leaves, self.structure = tree.flatten(value)
        self.arrays = [_empty(kind, length) for kind in leaves]

    def leaves(self, value: Any) -> list[Any]:
        """The leaves of what a pass keeps."""
        return self.structure.flatten_up_to(tree.plain(value))  # type: ignore[no-any-return]

    def tree(self, arrays: list[Any]) -> Any:
        return tree.unflatten(self.structure, arrays)


def _empty(kind: Kind, length: Any) -> Any:
    shape = (length, *(symbol(atom_of_size(n)) for n in kind.shape))
    return (
        call_numpy(np.empty, (shape, kind.dtype), {}) if active() else np.empty(shape, kind.dtype)
    )


def kept_ahead(f: Any, carry: Any, rows: list[Any], structure: Any, length: Any) -> Kept:
    """Places for what the body of a staged scan will keep."""
    x = tree.unflatten(structure, [Kind(row, axes=1) for row in rows])
    before = kinds(carry)
    while True:
        after, kept = checked_pair("scan", result_types(f, before, x))
        checked_kinds("scan", before, after)
        settled = tree.map(lambda old, new: new if old.weak else old, before, after)
        pairs = zip(tree.leaves(settled), tree.leaves(before), strict=True)
        if all(new.facts == old.facts for new, old in pairs):
            return Kept(kept, length)
        before = settled


def kept_after(y: Any, length: Any) -> Kept:
    """Places for what the first pass of a scan kept, and what the others will."""
    return Kept(kinds(y), length)
