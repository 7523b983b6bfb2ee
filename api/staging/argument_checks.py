"""Checks what transformations are given: argnums, inputs, tangents, cotangents."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.lazy_import import lazy_module
from tapeless.staging.emitted_names import base_name, leaf_paths
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, WideIntegerError
from tapeless.transforms.frontend.arrays.foreign_arrays import refuse_foreign

if TYPE_CHECKING:
    from tapeless.staging import subprogram as region
    from tapeless.transforms.core.language import Type
    from tapeless.transforms.frontend.arrays import symbols
else:
    region = lazy_module("tapeless.staging.subprogram")
    symbols = lazy_module("tapeless.transforms.frontend.arrays.symbols")


def plural(n: int, noun: str) -> str:
    """`1 tangent`, `2 tangents`."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def positions(
    args: Sequence[Any], argnums: int | tuple[int, ...], what: str, name: str
) -> tuple[int, ...]:
    """Checked, non-negative positions of the arguments in `argnums`."""
    wanted = argnums if isinstance(argnums, tuple) else (argnums,)
    for k in wanted:
        if not -len(args) <= k < len(args):
            raise ArgumentError(
                f"{what}: argnums is {k}, but {name} is called with "
                f"{plural(len(args), 'positional argument')}",
                "argnums counts from 0; an argument passed by name is chosen with argnames",
            )
    positions_from_front = tuple(k % len(args) for k in wanted)
    if len(set(positions_from_front)) != len(positions_from_front):
        raise ArgumentError(f"{what}: argnums {wanted} names an argument twice", "name it once")
    return positions_from_front


def checked_argnums(argnums: Any, what: str, name: str = "argnums") -> int | tuple[int, ...]:
    """An int or a tuple of ints; refuses anything else, as argument `name` of `what`."""
    numbers = tuple(argnums) if isinstance(argnums, (tuple, list)) else (argnums,)
    if not all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) for k in numbers):
        raise ArgumentTypeError(
            f"{what}: {name} must be an int or a tuple of ints, not {argnums!r}",
            f"give the positions of arguments, counted from 0: {name}=(0, 1)",
        )
    return tuple(map(int, numbers)) if isinstance(argnums, (tuple, list)) else int(argnums)


def checked_argnames(argnames: Any, what: str, name: str = "argnames") -> tuple[str, ...]:
    """One name or several; refuses anything else, as argument `name` of `what`."""
    if isinstance(argnames, str) or argnames is None:
        return (argnames,) if argnames else ()
    names = tuple(argnames) if isinstance(argnames, (tuple, list, set, frozenset)) else (argnames,)
    if not all(isinstance(n, str) for n in names):
        raise ArgumentTypeError(
            f"{what}: {name} must be a name or several, not {argnames!r}",
            f'give the names of arguments as text: {name}=("x", "y")',
        )
    if len(set(names)) != len(names):
        raise ArgumentError(f"{what}: {name} {names} names an argument twice", "name it once")
    return names


def checked_flag(value: Any, what: str, name: str) -> bool:
    """True or False; refuses what is no truth value, or has none."""
    if isinstance(value, (bool, int, np.bool_)):
        return bool(value)
    raise ArgumentTypeError(
        f"{what}: {name} must be True or False, not {value!r}", f"give {name}=True, or leave it out"
    )


def _is_masked(x: Any) -> bool:
    return isinstance(x, np.ma.MaskedArray)


def check_input(
    part: Any, what: str, name: str, holomorphic: bool = False, real: bool = True
) -> None:
    """Refuses what cannot be differentiated with respect to, the argument `name`; `real`: so are
    complex numbers, unless the function is holomorphic."""
    for x in tree.leaves(part, is_leaf=_is_masked):
        if _is_masked(x):
            raise ArgumentTypeError(
                f"{what}: {name} has a masked array, which has no slope",
                f"pass {name}.filled(0.0) and {name}.mask, and make the masked array inside",
            )
    for leaf, path in zip(tree.leaves(part), _paths(part, name), strict=True):
        if not region.is_value(leaf):
            raise ArgumentTypeError(
                f"{what}: cannot differentiate with respect to {path}, {region.describe(leaf)}",
                "choose other argnums, or pass numbers and arrays",
            )
        dtype = region.leaf_type(leaf).dtype
        if holomorphic and dtype.kind != "c":
            raise ArgumentTypeError(
                f"{what} with holomorphic=True needs complex inputs; {path} is {dtype.name}",
                f"pass complex numbers, {path} + 0j, or leave holomorphic out",
            )
        if dtype.kind not in "fc":
            raise ArgumentTypeError(
                f"{what}: cannot differentiate with respect to {path}, which is {dtype.name}",
                f"pass floats: 1.0 instead of 1, {path}.astype(float) for arrays",
            )
        if dtype.kind == "c" and real and not holomorphic:
            raise ArgumentTypeError(
                f"{what}: complex inputs, such as {path}, need holomorphic=True",
                "pass holomorphic=True, or real and imaginary parts",
            )


def _paths(part: Any, name: str) -> list[str]:
    """For each leaf of an argument the expression that reads it; its name where none does, or
    where it is staged."""
    count = len(tree.leaves(part))
    paths = [] if tree.has_registered(part) else [a.codify(name) for a in tree.accessors(part)]
    return paths if len(paths) == count else [name] * count


def refuse_wide_integers(
    args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str], what: str
) -> None:
    """Names the integer that compiled code cannot be given."""
    for name, part in zip(names, (*args, *kwargs.values()), strict=True):
        for leaf, path in zip(tree.leaves(part), _paths(part, name), strict=True):
            if type(leaf) is int and not -(2**63) <= leaf < 2**63:
                raise WideIntegerError(
                    f"{what}: {path} takes {leaf.bit_length() + 1} bits with its sign; integers of "
                    "compiled code have 64",
                    "pass it as a float, or call the function without jit",
                ) from None


def refuse_foreign_arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any], names: Callable[[], list[str]]
) -> None:
    """Refuses arrays that are not plain ones of NumPy, by the names of their arguments."""
    if tree.has_registered((args, kwargs)):
        paths = ["a leaf"] * len(tree.leaves((args, kwargs)))
    else:
        paths = leaf_paths(args, kwargs, names())
    for leaf, path in zip(tree.leaves((args, kwargs)), paths, strict=True):
        refuse_foreign(leaf, path)


def with_aux(value: Any, has_aux: bool, what: str, fun: Any) -> tuple[Any, Any]:
    """(value, aux) of what a function returned; aux is None without `has_aux`."""
    if not has_aux:
        return value, None
    if not isinstance(value, tuple) or len(value) != 2:
        raise ArgumentTypeError(
            f"{what} with has_aux=True needs a function that returns a pair (value, aux); "
            f"{base_name(fun)} returns {region.describe(value)}",
            "return the pair (value, aux), or leave has_aux out",
        )
    return value


def check_tangents(primals: list[Any], tangents: list[Any]) -> None:
    """Refuses tangents that are not built like their primals, or have other dtypes or shapes."""
    flat, structure = tree.flatten(primals)
    dots = like_leaves(structure, tangents, "jvp: the tangents", "the primals")
    for primal, dot in zip(flat, dots, strict=True):
        if region.is_value(primal) and region.leaf_type(primal).differentiable:
            check_leaf(dot, region.leaf_type(primal), "jvp: a tangent", "its primal")


def like_leaves(structure: Any, value_given: Any, what: str, other: str) -> list[Any]:
    """The leaves of `value_given`, which must have the structure; anything may stand for a leaf
    that has no derivative."""
    try:
        return structure.flatten_up_to(tree.plain(value_given))  # type: ignore[no-any-return]
    except (ValueError, TypeError) as e:
        raise ArgumentTypeError(
            f"{what} must be built like {other}: {tree.structure_stars(structure)}, "
            f"not {tree.structure_text(value_given)}"
        ) from e


def check_leaf(value_given: Any, kind: Type, what: str, other: str) -> None:
    """Refuses a tangent or cotangent of another dtype or shape than the value it belongs to."""
    if not region.is_value(value_given):
        raise ArgumentTypeError(
            f"{what} is {region.describe(value_given)}, not a number or an array"
        )
    have = region.leaf_type(value_given)
    allowed = "fc" if kind.dtype.kind == "c" else "f"
    differ = have.dtype != kind.dtype and not (have.weak or kind.weak)
    if have.dtype.kind not in allowed or differ:
        raise ArgumentTypeError(
            f"{what} is {have.dtype.name}, {other} is {kind.dtype.name}",
            "pass floats of the same dtype: 1.0 instead of 1",
        )
    if isinstance(value_given, symbols.Symbol):
        return  # its shape is compared where the program is made
    if len(have.shape) != len(kind.shape) or any(
        isinstance(n, int) and n != k for n, k in zip(kind.shape, have.shape, strict=True)
    ):
        raise ArgumentError(
            f"{what} has shape {region.shape_text(have.shape)}, "
            f"{other} has shape {region.shape_text(kind.shape)}"
        )


def as_length(n: Any) -> Any:
    """An entry of a shape: an integer, or a symbol for one. Raises TypeError for anything else."""
    if isinstance(n, symbols.Symbol) and not n.type.shape and n.dtype.kind in "iu":
        return n
    return operator.index(n)


def as_numbers(values: Any) -> Any:
    """Tangents or cotangents, with numbers for arrays without axes: emitted code computes with them
    in place."""
    return tree.map(lambda x: x[()] if type(x) is np.ndarray and not x.shape else x, values)


def differentiable(x: Any) -> bool:
    """Whether a leaf is a float or complex number or array."""
    return region.is_value(x) and region.leaf_type(x).differentiable
