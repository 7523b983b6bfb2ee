"""grad, value_and_grad and jvp: derivatives of plain NumPy functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.region import (
    Region,
    Reverse,
    fresh_input,
    is_value,
    leaf_atom,
    leaf_type,
    matched,
    owned,
    put,
    shape_text,
)
from tapeless.transformed import Transformed, base_name
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Atom, Effect, Type, Var
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, NotDifferentiableError
from tapeless.transforms.frontend.symbols import Symbol, wrap
from tapeless.transforms.jvp import Forward, Tangents, filled, tangent_of

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def positions(
    args: Sequence[Any], argnums: int | tuple[int, ...], what: str, name: str
) -> tuple[int, ...]:
    """Checked, non-negative positions of the arguments in `argnums`."""
    wanted = argnums if isinstance(argnums, tuple) else (argnums,)
    for k in wanted:
        if not -len(args) <= k < len(args):
            raise ArgumentError(
                f"{what}: argnums is {k}, but {name} is called with {len(args)} positional "
                f"argument{'' if len(args) == 1 else 's'}",
                "argnums counts from 0; an argument passed by name is chosen with argnames",
            )
    found = tuple(k % len(args) for k in wanted)
    if len(set(found)) != len(found):
        raise ArgumentError(f"{what}: argnums {wanted} names an argument twice")
    return found


def checked_argnums(argnums: Any, what: str) -> int | tuple[int, ...]:
    """An int or a tuple of ints; refuses anything else."""
    numbers = tuple(argnums) if isinstance(argnums, (tuple, list)) else (argnums,)
    if not all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) for k in numbers):
        raise ArgumentTypeError(
            f"{what}: argnums must be an int or a tuple of ints, not {argnums!r}"
        )
    return tuple(map(int, numbers)) if isinstance(argnums, (tuple, list)) else int(argnums)


def checked_argnames(argnames: Any, what: str) -> tuple[str, ...]:
    """One name or several; refuses anything else."""
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
    if not all(isinstance(n, str) for n in names):
        raise ArgumentTypeError(f"{what}: argnames must be a name or several, not {argnames!r}")
    return names


def check_input(part: Any, what: str, holomorphic: bool = False) -> None:
    """Refuses what cannot be differentiated with respect to."""
    for leaf in tree.leaves(part):
        if not is_value(leaf):
            raise ArgumentTypeError(
                f"{what}: cannot differentiate with respect to {type(leaf).__name__} "
                f"{str(leaf)[:40]!r}",
                "choose other argnums, or pass numbers and arrays",
            )
        dtype = leaf_type(leaf).dtype
        if holomorphic and dtype.kind != "c":
            raise ArgumentTypeError(
                f"{what} with holomorphic=True needs complex inputs, not {dtype.name}"
            )
        if dtype.kind not in "fc":
            raise ArgumentTypeError(
                f"{what}: cannot differentiate with respect to {dtype.name} values",
                "pass floats: 1.0 instead of 1, x.astype(float) instead of x",
            )
        if dtype.kind == "c" and not holomorphic:
            raise ArgumentTypeError(f"{what}: complex inputs need holomorphic=True")


def with_aux(value: Any, has_aux: bool, what: str, fun: Any) -> tuple[Any, Any]:
    """(value, aux) of what a function returned; aux is None without `has_aux`."""
    if not has_aux:
        return value, None
    if not isinstance(value, tuple) or len(value) != 2:
        raise ArgumentTypeError(
            f"{what} with has_aux=True needs a function that returns a pair (value, aux); "
            f"{base_name(fun)} returns {type(value).__name__}"
        )
    return value


class Grad(Transformed):
    """The gradient of a scalar function, with the value if `with_value`."""

    def __init__(
        self,
        fun: Callable[..., Any],
        argnums: int | Sequence[int] = 0,
        has_aux: bool = False,
        holomorphic: bool = False,
        argnames: str | Sequence[str] | None = None,
        with_value: bool = False,
    ) -> None:
        self.suffix = "value_and_grad" if with_value else "grad"
        self.argnums = checked_argnums(argnums, self.suffix)
        self.argnames = checked_argnames(argnames, self.suffix)
        self.has_aux, self.holomorphic, self.with_value = has_aux, holomorphic, with_value
        super().__init__(fun)

    def describe(self) -> str:
        name = base_name(self.fun)
        wrt = ", ".join(self.argnames) or ", ".join(self.names())
        return f"{name} and d {name} / d {wrt}" if self.with_value else f"d {name} / d {wrt}"

    def names(self) -> list[str]:
        wanted = self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)
        try:
            params = [p.name for p in inspect.signature(self.fun).parameters.values()]
            return [params[k] for k in wanted]
        except (TypeError, ValueError, IndexError):
            return [f"argument {k}" for k in wanted]

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for part in self.chosen(args, kwargs):
            check_input(part, self.suffix, self.holomorphic)

    def chosen_positions(self, args: tuple[Any, ...]) -> tuple[int, ...]:
        if self.argnames and self.argnums == 0:
            return ()
        return positions(args, self.argnums, self.suffix, base_name(self.fun))

    def chosen(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """What is differentiated with respect to."""
        for name in self.argnames:
            if name not in kwargs:
                raise ArgumentError(
                    f"{self.suffix}: argnames has {name!r}, which is not passed by name",
                    f"call it with {name}=...",
                )
        by_position = [args[k] for k in self.chosen_positions(args)]
        return by_position + [kwargs[n] for n in self.argnames]

    def replaced(self, args: tuple[Any, ...], kwargs: dict[str, Any], new: list[Any]) -> Arguments:
        """The arguments with other values for what is differentiated with respect to."""
        at, changed, named = self.chosen_positions(args), list(args), dict(kwargs)
        for k, v in zip(at, new, strict=False):
            changed[k] = v
        named.update(zip(self.argnames, new[len(at) :], strict=True))
        return tuple(changed), named

    def returned(self, found: list[Any], n: int) -> Any:
        """Gradients as the caller gets them: those of `n` positions, then those by name."""
        by_position = found[:n]
        by_name = dict(zip(self.argnames, found[n:], strict=True))
        if not n and self.argnames:
            return by_name
        plain = tuple(by_position) if isinstance(self.argnums, tuple) else by_position[0]
        return (plain, by_name) if self.argnames else plain

    def staged(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        chosen = self.chosen(args, kwargs)
        self.check(args, kwargs)
        leaves, structure = tree.flatten(chosen)
        inputs = [fresh_input(x) for x in leaves]
        new = owned(tree.unflatten(structure, [s for _, s in inputs]))
        region = Region(self.fun, *self.replaced(args, kwargs, new))
        value, aux = with_aux(region.value, self.has_aux, self.suffix, self.fun)
        out = self.output(value)
        one = atom(1.0 if out.type.dtype.kind != "c" else 1.0 + 0j)
        reverse = Reverse(region.block([v for v, _ in inputs], [out]), [one])
        put(reverse.forward)
        put([Effect("blank", ())])
        put(reverse.back)
        bars = tree.unflatten(structure, [wrap(b) for b in reverse.bars])
        found = self.returned(bars, len(self.chosen_positions(args)))
        if self.with_value:
            return ((value, aux), found) if self.has_aux else (value, found)
        return (found, aux) if self.has_aux else found

    def output(self, value: Any) -> Atom:
        name = base_name(self.fun)
        start = f"{self.suffix} needs a function that returns a scalar; {name} returns"
        if not is_value(value):
            raise ArgumentTypeError(
                f"{start} {type(value).__name__}",
                "return one number, or use has_aux=True for more results",
            )
        out = leaf_atom(value)
        if out.type.shape:
            raise ArgumentTypeError(
                f"{start} an array of shape {shape_text(out.type.shape)}",
                "sum it, or use vjp or jvp for arrays",
            )
        if out.type.dtype.kind == "c" and not self.holomorphic:
            raise ArgumentTypeError(
                f"{self.suffix} needs a real result; {name} returns a complex number",
                "pass holomorphic=True, or take the real part",
            )
        if out.type.dtype.kind not in "fc" and isinstance(out, Var):
            raise NotDifferentiableError(
                f"{name} returns {out.type.dtype.name}, which has no derivative", "return a float"
            )
        return out


class Jvp(Transformed):
    """(*primals, *tangents) to (value, tangent of the value), for chosen positional arguments."""

    suffix = "jvp"

    def __init__(
        self, fun: Callable[..., Any], argnums: tuple[int, ...] | None = None, has_aux: bool = False
    ) -> None:
        self.argnums, self.has_aux = argnums, has_aux
        super().__init__(fun)

    def describe(self) -> str:
        return f"{base_name(self.fun)} and its derivative along a tangent"

    def split(
        self, args: tuple[Any, ...]
    ) -> tuple[tuple[Any, ...], tuple[int, ...], tuple[Any, ...]]:
        """Primals, the positions that have tangents, and the tangents."""
        if self.argnums is None:
            n = len(args) // 2
            return args[:n], tuple(range(n)), args[n:]
        n = len(args) - len(self.argnums)
        if n < 1:
            raise ArgumentError(
                f"{self.__name__} takes the arguments of {base_name(self.fun)} and then "
                f"{len(self.argnums)} tangents; it got {len(args)} arguments"
            )
        primals = args[:n]
        return primals, positions(primals, self.argnums, "jvp", base_name(self.fun)), args[n:]

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        primals, at, tangents = self.split(args)
        check_tangents([primals[k] for k in at], list(tangents))

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
        primals, at, _ = self.split(args)
        names = super().arguments(primals, {})
        return names + [f"{names[k]}_dot" for k in at] + super().arguments((), kwargs)

    def staged(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        primals, at, tangents = self.split(args)
        check_tangents([primals[k] for k in at], list(tangents))
        return push_forward(self.fun, primals, at, tangents, kwargs, self.has_aux)


def check_tangents(primals: list[Any], tangents: list[Any]) -> None:
    """Refuses tangents that are not built like their primals, or have other dtypes or shapes."""
    flat, structure = tree.flatten(primals)
    dots = like_leaves(structure, tangents, primals, "jvp: the tangents", "the primals")
    for primal, dot in zip(flat, dots, strict=True):
        if is_value(primal) and leaf_type(primal).differentiable:
            check_leaf(dot, leaf_type(primal), "jvp: a tangent", "its primal")


def like_leaves(structure: Any, given: Any, wanted: Any, what: str, other: str) -> list[Any]:
    """The leaves of `given`, which must be built like `wanted`; anything may stand for a leaf that
    has no derivative."""
    try:
        return structure.flatten_up_to(tree.plain(given))  # type: ignore[no-any-return]
    except (ValueError, TypeError) as e:
        raise ArgumentTypeError(
            f"{what} must be built like {other}: {tree.structure_text(wanted)}, "
            f"not {tree.structure_text(given)}"
        ) from e


def check_leaf(given: Any, kind: Type, what: str, other: str) -> None:
    """Refuses a tangent or cotangent of another dtype or shape than the value it belongs to."""
    if not is_value(given):
        raise ArgumentTypeError(
            f"{what} is {type(given).__name__} {str(given)[:40]!r}, not a number or an array"
        )
    have = leaf_type(given)
    if have.dtype.kind not in "fc" or (have.dtype != kind.dtype and not (have.weak or kind.weak)):
        raise ArgumentTypeError(
            f"{what} is {have.dtype.name}, {other} is {kind.dtype.name}",
            "pass floats of the same dtype: 1.0 instead of 1",
        )
    if isinstance(given, Symbol):
        return  # its shape is compared where the program is made
    if len(have.shape) != len(kind.shape) or any(
        isinstance(n, int) and n != k for n, k in zip(kind.shape, have.shape, strict=True)
    ):
        raise ArgumentError(
            f"{what} has shape {shape_text(have.shape)}, {other} has shape {shape_text(kind.shape)}"
        )


def push_forward(
    fun: Any,
    primals: tuple[Any, ...],
    at: tuple[int, ...],
    tangents: tuple[Any, ...],
    kwargs: dict[str, Any],
    has_aux: bool = False,
) -> Any:
    """(value, tangent) or (value, tangent, aux), inside a staged run."""
    leaves, structure = tree.flatten([primals[k] for k in at])
    dots = structure.flatten_up_to(tree.plain(list(tangents)))
    inputs = [fresh_input(x) if differentiable(x) else (None, x) for x in leaves]
    t: Tangents = {}
    for (var, _), dot in zip(inputs, dots, strict=True):
        if var is not None:
            t[var] = matched(dot, var.type, "jvp: a tangent")
    new = list(primals)
    for k, v in zip(at, owned(tree.unflatten(structure, [s for _, s in inputs])), strict=True):
        new[k] = v
    region = Region(fun, new, kwargs)
    Forward(merged=True).block(region.body, t)
    value, aux = with_aux(region.value, has_aux, "jvp", fun)
    flat, out_structure = tree.flatten(value)
    made = (value, tree.unflatten(out_structure, [_tangent(t, x) for x in flat]))
    return (*made, aux) if has_aux else made


def differentiable(x: Any) -> bool:
    """Whether a leaf is a float or complex number or array."""
    return is_value(x) and leaf_type(x).differentiable


def _tangent(t: Tangents, x: Any) -> Any:
    """The tangent of a leaf of the result: a float zero for what has none, None for other objects."""
    if not is_value(x):
        return x
    a = leaf_atom(x)
    kind = a.type if a.type.differentiable else Type(np.dtype(float), a.type.shape)
    return wrap(filled(tangent_of(t, a), kind))
