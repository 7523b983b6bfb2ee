"""Differentiates plain NumPy functions in forward and reverse mode: what `grad`, `value_and_grad`
and `jvp` run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.dispatch.transformation import Transformed
from tapeless.lazy_import import lazy_module
from tapeless.staging.argument_checks import (
    as_numbers,
    check_input,
    check_tangents,
    checked_argnames,
    checked_argnums,
    checked_flag,
    differentiable,
    plural,
    positions,
    with_aux,
)
from tapeless.staging.emitted_names import argument_names, base_name
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Atom, Effect, Type, Var
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, NotDifferentiableError

if TYPE_CHECKING:
    from tapeless.staging import derivative_blocks as derivatives
    from tapeless.staging import subprogram as regions
    from tapeless.transforms.autodiff import differentiable_form
    from tapeless.transforms.autodiff import jvp as forward
    from tapeless.transforms.autodiff.jvp import Tangents
    from tapeless.transforms.frontend.arrays import symbols
    from tapeless.transforms.frontend.trace import trace
else:
    derivatives, regions, forward = (
        lazy_module("tapeless.staging.derivative_blocks"),
        lazy_module("tapeless.staging.subprogram"),
        lazy_module("tapeless.transforms.autodiff.jvp"),
    )
    differentiable_form = lazy_module("tapeless.transforms.autodiff.differentiable_form")
    symbols, trace = (
        lazy_module("tapeless.transforms.frontend.arrays.symbols"),
        lazy_module("tapeless.transforms.frontend.trace.trace"),
    )

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


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
        self.has_aux = checked_flag(has_aux, self.suffix, "has_aux")
        self.holomorphic = checked_flag(holomorphic, self.suffix, "holomorphic")
        self.with_value = with_value
        super().__init__(fun)

    def options(self) -> tuple[Any, ...]:
        return (self.argnums, self.argnames, self.has_aux, self.holomorphic, self.with_value)

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
        for part, name in zip(
            self.differentiated_arguments(args, kwargs), self.chosen_names(args), strict=True
        ):
            check_input(part, self.suffix, name, self.holomorphic, real=False)

    def chosen_names(self, args: tuple[Any, ...]) -> list[str]:
        """What is differentiated with respect to is called so."""
        names = argument_names(self.fun, args, {})
        return [names[k] for k in self.chosen_positions(args)] + [*self.argnames]

    def chosen_positions(self, args: tuple[Any, ...]) -> tuple[int, ...]:
        if self.argnames and self.argnums == 0:
            return ()
        return positions(args, self.argnums, self.suffix, base_name(self.fun))

    def differentiated_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """What is differentiated with respect to."""
        by_position = [args[k] for k in self.chosen_positions(args)]
        places = self.places(args, kwargs)
        return by_position + [kwargs[n] if k is None else args[k] for n, k in places.items()]

    def places(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, int | None]:
        """Where the arguments in argnames are: their positions; None for those passed by name."""
        place_of: dict[str, int | None] = dict.fromkeys(self.argnames)
        missing = [name for name in self.argnames if name not in kwargs]
        names = argument_names(self.fun, args, {}) if missing else []
        for name in missing:
            if name not in names:
                raise ArgumentError(
                    f"{self.suffix}: argnames has {name!r}, and {base_name(self.fun)} is called "
                    "without it",
                    f"pass it: {name}=...",
                )
            place_of[name] = names.index(name)
        return place_of

    def replace_arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], new: list[Any]
    ) -> Arguments:
        """The arguments with other values for what is differentiated with respect to."""
        places = [*self.chosen_positions(args), *self.places(args, kwargs).items()]
        changed, named = list(args), dict(kwargs)
        for place, value in zip(places, new, strict=True):
            match place:
                case int(k) | (_, int(k)):
                    changed[k] = value
                case (str(name), _):
                    named[name] = value
        return tuple(changed), named

    def shape_result(self, gradients: list[Any], n: int) -> Any:
        """Gradients as the caller gets them: those of `n` positions, then those by name."""
        by_position = gradients[:n]
        by_name = dict(zip(self.argnames, gradients[n:], strict=True))
        if not n and self.argnames:
            return by_name
        plain = tuple(by_position) if isinstance(self.argnums, tuple) else by_position[0]
        return (plain, by_name) if self.argnames else plain

    def stage(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        outermost = not any(trace.trace().blocks)
        chosen = self.differentiated_arguments(args, kwargs)
        self.check(args, kwargs)
        leaves, structure = tree.flatten(chosen)
        inputs = [regions.fresh_input(x) for x in leaves]
        new = regions.as_program_value(tree.unflatten(structure, [s for _, s in inputs]))
        own_arguments, own = regions.as_overwritable(
            self.replace_arguments(args, kwargs, new), [s for _, s in inputs]
        )
        region = regions.Subprogram(self.fun, *own_arguments)
        regions.refuse_shared(tree.leaves((args, kwargs)), own)
        value, aux = with_aux(region.value, self.has_aux, self.suffix, self.fun)
        out = self.output(value, region)
        first_cotangent = atom(1.0 if out.type.dtype.kind != "c" else 1.0 + 0j)
        reverse = derivatives.VjpOfBlock(
            region.block([v for v, _ in inputs], [out]), [first_cotangent]
        )
        regions.emit_all(reverse.forward)
        if outermost:
            regions.emit_all([Effect("blank", ())])
        regions.emit_all(reverse.back)
        bars = tree.unflatten(structure, [symbols.wrap(b) for b in reverse.bars])
        gradients = self.shape_result(bars, len(self.chosen_positions(args)))
        if self.with_value:
            return ((value, aux), gradients) if self.has_aux else (value, gradients)
        return (gradients, aux) if self.has_aux else gradients

    def output(self, value: Any, region: regions.Subprogram) -> Atom:
        """The number that is differentiated."""
        name = base_name(self.fun)
        start = f"{self.suffix} needs a function that returns a scalar; {name} returns"
        if not regions.is_value(value):
            raise ArgumentTypeError(
                f"{start} {regions.describe(value)}",
                "return one number, or use has_aux=True for more results",
            )
        out = region.atom_of(value)
        if out.type.shape:
            raise ArgumentTypeError(
                f"{start} {regions.describe(value)}",
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

    def options(self) -> tuple[Any, ...]:
        return (self.argnums, self.has_aux)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        primals, _, tangents = self.split(args)
        return super().__call__(*primals, *as_numbers(tangents), **kwargs)

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
                f"{self.emitted_name} takes the arguments of {base_name(self.fun)} and then "
                f"{plural(len(self.argnums), 'tangent')}; it got {plural(len(args), 'argument')}"
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

    def stage(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        primals, at, tangents = self.split(args)
        check_tangents([primals[k] for k in at], list(tangents))
        return push_forward(self.fun, primals, at, tangents, kwargs, self.has_aux)


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
    inputs = [regions.fresh_input(x) if differentiable(x) else (None, x) for x in leaves]
    t: Tangents = {}
    for (var, _), dot in zip(inputs, dots, strict=True):
        if var is not None:
            t[var] = regions.conform_cotangent(dot, var.type, "jvp: a tangent")
            trace.trace().tangents.add(t[var])
    new = list(primals)
    for k, v in zip(
        at, regions.as_program_value(tree.unflatten(structure, [s for _, s in inputs])), strict=True
    ):
        new[k] = v
    own_arguments, own = regions.as_overwritable((new, kwargs), [s for _, s in inputs])
    region = regions.Subprogram(fun, *own_arguments)
    regions.refuse_shared(tree.leaves((list(primals), kwargs)), own)
    forward.name_tangents(t)
    block = region.block([], [a for a in region.atoms if a is not None])
    forward.ForwardMode(merged=True).block(differentiable_form.differentiable_form(block).body, t)
    value, aux = with_aux(region.value, has_aux, "jvp", fun)
    flat, out_structure = tree.flatten(value)
    flat = region.leaves[: len(flat)]  # aux comes behind
    ends = zip(flat, region.atoms, strict=False)
    results = (
        tree.unflatten(out_structure, flat),
        tree.unflatten(out_structure, [_tangent(t, x, a) for x, a in ends]),
    )
    return (*results, aux) if has_aux else results


def _tangent(t: Tangents, x: Any, a: Atom | None) -> Any:
    """The tangent of a leaf of the result: zero where it has none, other objects as they are."""
    if a is None:
        return x
    kind = a.type if a.type.differentiable else Type(np.dtype(float), a.type.shape)
    return symbols.wrap(forward.zero_if_none(forward.tangent_of(t, a), kind))
