"""grad, value_and_grad, jvp, vjp, linearize: derivatives of plain NumPy functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.transformed import Transformed, base_name, stage_call
from tapeless.transforms.core.builder import Builder, atom, current
from tapeless.transforms.core.language import Atom, Block, Effect, Let, Literal, Statement, Type, Var
from tapeless.transforms.core.rewriting import refresh
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, NotDifferentiableError
from tapeless.transforms.frontend.stage import find_origin
from tapeless.transforms.frontend.symbols import Symbol, atoms, trace, wrap
from tapeless.transforms.frontend.values import NUMBERS
from tapeless.transforms.jvp import Forward, Tangents, filled, tangent_of
from tapeless.transforms.linearize import linearize as linearize_block
from tapeless.transforms.ops.shapes import linear
from tapeless.transforms.residuals import resolve
from tapeless.transforms.transpose import transpose as transpose_block

identity = linear("identity", lambda x: x.type, "{0}", lambda ct, args, used, params: (ct,), simplify=lambda args, params: args[0])


def _is_value(x: Any) -> bool:
    return isinstance(x, (Symbol, np.ndarray, *NUMBERS))


def _leaf_type(x: Any) -> Type:
    if isinstance(x, Symbol):
        return x.type
    a = atoms(x) if isinstance(x, np.ndarray) else atom(x)
    return a.type  # type: ignore[no-any-return]


def fresh_input(x: Any) -> tuple[Var, Symbol]:
    """A new variable equal to `x`, to differentiate with respect to."""
    value = atoms(x) if isinstance(x, (Symbol, np.ndarray)) else atom(x)
    var = Var(value.type, value.name if isinstance(value, Var) else "")
    b = current()
    b.let((var,), identity, (value,), {})
    symbol = Symbol(var)
    symbol.is_array = isinstance(x, np.ndarray) or (isinstance(x, Symbol) and x.is_array)
    return var, symbol


class Region:
    """The statements that a call of a user's function records, kept apart to be differentiated."""

    def __init__(self, fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        t = trace()
        start = len(t.blocks[-1])
        self.value = stage_call(fun, *args, **kwargs)
        self.leaves, self.structure = tree.flatten(self.value)
        self.atoms = [atoms(x) if isinstance(x, Symbol) else None for x in self.leaves]
        self.body: list[Statement] = t.blocks[-1][start:]
        del t.blocks[-1][start:]

    def block(self, inputs: list[Var], results: list[Atom]) -> Block:
        return Block(tuple(inputs), tuple(self.body), tuple(results))


def put(body: list[Statement]) -> None:
    b = current()
    for s in body:
        b.emit(s)
        if isinstance(s, Let):
            for v in s.outs:
                b.definitions[v] = s


def backward(region: Region, inputs: list[Var], outputs: list[tuple[Atom, Atom]]) -> list[Atom]:
    """Records the region and its backward part; the cotangents of the inputs."""
    results = [a for a, _ in outputs]
    split = linearize_block(region.block(inputs, results), list(range(len(inputs))))
    b = Builder()
    with_cotangents = [(o, ct) for o, (_, ct) in zip(split.outputs, outputs, strict=True) if isinstance(o, Var)]
    outer = current()
    b.definitions = outer.definitions
    from tapeless.transforms.core.builder import building

    with building(b):
        bars = transpose_block(split.body, split.inputs, with_cotangents)
    forward, back, new = resolve(split.primal, b.blocks[0])
    put(forward)
    put([Effect("blank", ())])
    put(back)
    return [new.get(a, a) if isinstance(a, Var) else a for a in bars]


def choose(args: tuple[Any, ...], argnums: int | tuple[int, ...], what: str) -> tuple[int, ...]:
    """Checked, non-negative positions."""
    wanted = argnums if isinstance(argnums, tuple) else (argnums,)
    for k in wanted:
        if not -len(args) <= k < len(args):
            raise ArgumentError(f"{what}: argnums {k}, but the function is called with {len(args)} positional arguments",
                                "count from 0; pass keyword arguments with argnames")
    found = tuple(k % len(args) for k in wanted)
    if len(set(found)) != len(found):
        raise ArgumentError(f"{what}: argnums {wanted} names an argument twice")
    return found


class Grad(Transformed):
    """The gradient of a scalar function, with the value if `with_value`."""

    suffix = "grad"

    def __init__(self, fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, holomorphic: bool = False, argnames: Any = None,
                 with_value: bool = False) -> None:
        if isinstance(argnums, list):
            argnums = tuple(argnums)
        if not isinstance(argnums, (int, tuple)) or isinstance(argnums, bool) or not all(isinstance(k, int) for k in (argnums if isinstance(argnums, tuple) else ())):
            raise ArgumentTypeError(f"argnums must be an int or a tuple of ints, not {argnums!r}")
        self.argnums, self.has_aux, self.holomorphic, self.with_value = argnums, has_aux, holomorphic, with_value
        self.argnames = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
        self.suffix = "value_and_grad" if with_value else "grad"
        super().__init__(fun)

    def describe(self) -> str:
        wrt = ", ".join(self.argnames) or ", ".join(self.names())
        name = base_name(self.fun)
        return f"{name} and d {name} / d {wrt}" if self.with_value else f"d {name} / d {wrt}"

    def names(self) -> list[str]:
        import inspect

        wanted = self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)
        try:
            params = [p.name for p in inspect.signature(self.fun).parameters.values()]
            return [params[k] for k in wanted]
        except (TypeError, ValueError, IndexError):
            return [f"argument {k}" for k in wanted]

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for part in self.parts(args, kwargs)[0]:
            check_inputs(part, self.suffix, self.holomorphic)

    def parts(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Callable[[list[Any]], tuple[Any, Any]], Callable[[list[Any]], Any]]:
        """What is differentiated; how to put new values in its place; how gradients are returned."""
        if self.argnames and self.argnums == 0:
            positions: tuple[int, ...] = ()
        else:
            positions = choose(args, self.argnums, self.suffix)
        for name in self.argnames:
            if name not in kwargs:
                raise ArgumentError(f"{self.suffix}: no keyword argument '{name}' in the call", "pass it by name")
        chosen = [args[k] for k in positions] + [kwargs[n] for n in self.argnames]

        def replaced(new: list[Any]) -> tuple[Any, Any]:
            a, k = list(args), dict(kwargs)
            for at, v in zip(positions, new, strict=False):
                a[at] = v
            k.update(zip(self.argnames, new[len(positions):], strict=True))
            return tuple(a), k

        def returned(grads: list[Any]) -> Any:
            by_position, by_name = grads[:len(positions)], dict(zip(self.argnames, grads[len(positions):], strict=True))
            found = tuple(by_position) if isinstance(self.argnums, tuple) else by_position[0] if by_position else None
            if not self.argnames:
                return found
            return by_name if not positions else (found, by_name)

        return chosen, replaced, returned

    def staged(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        chosen, replaced, returned = self.parts(args, kwargs)
        for part in chosen:
            check_inputs(part, self.suffix, self.holomorphic)
        leaves, structure = tree.flatten(chosen)
        inputs = [fresh_input(x) for x in leaves]
        region = Region(self.fun, *replaced(tree.unflatten(structure, [s for _, s in inputs])))
        value, aux = (region.value, None)
        if self.has_aux:
            if not isinstance(region.value, tuple) or len(region.value) != 2:
                raise ArgumentTypeError(f"{self.suffix} with has_aux=True: the function must return a pair (value, aux)")
            value, aux = region.value
        out = self.output(value)
        one = 1.0 if out.type.dtype.kind != "c" else 1.0 + 0j
        aux_copy = aux
        bars = backward(region, [v for v, _ in inputs], [(out, atom(one))])
        grads = returned(tree.unflatten(structure, [wrap(b) for b in bars]))
        if self.with_value:
            return ((value, aux_copy), grads) if self.has_aux else (value, grads)
        return (grads, aux_copy) if self.has_aux else grads

    def output(self, value: Any) -> Atom:
        if not _is_value(value):
            kind = type(value).__name__
            raise ArgumentTypeError(f"{self.suffix} needs a function that returns a scalar; {base_name(self.fun)} returns {kind}",
                                    "return one number, or use has_aux=True for more results")
        out: Atom = atoms(value) if isinstance(value, (Symbol, np.ndarray)) else atom(value)
        if out.type.shape:
            shape = "(" + ", ".join(map(str, out.type.shape)) + ("," if len(out.type.shape) == 1 else "") + ")"
            raise ArgumentTypeError(f"{self.suffix} needs a function that returns a scalar; {base_name(self.fun)} returns an array of shape {shape}",
                                    "sum it, or use vjp or jvp for arrays")
        if out.type.dtype.kind == "c" and not self.holomorphic:
            raise ArgumentTypeError(f"{self.suffix} needs a real result; {base_name(self.fun)} returns complex numbers", "pass holomorphic=True, or take the real part")
        if out.type.dtype.kind not in "fc" and isinstance(out, Var):
            raise NotDifferentiableError(f"{base_name(self.fun)} returns {out.type.dtype.name}, which has no derivative", "return a float")
        return out


def check_inputs(part: Any, what: str, holomorphic: bool = False) -> None:
    for leaf in tree.leaves(part):
        if not _is_value(leaf):
            raise ArgumentTypeError(f"{what}: cannot differentiate with respect to {type(leaf).__name__} {str(leaf)[:40]!r}",
                                    "choose other argnums, or pass numbers and arrays")
        dtype = leaf.dtype if isinstance(leaf, (np.ndarray, np.generic, Symbol)) else np.dtype(type(leaf))
        if holomorphic and dtype.kind != "c":
            raise ArgumentTypeError(f"{what} with holomorphic=True needs complex inputs, not {dtype.name}")
        if dtype.kind not in "fc":
            raise ArgumentTypeError(f"{what}: cannot differentiate with respect to {dtype.name} values", "pass floats: 1.0 instead of 1, x.astype(float)")
        if dtype.kind == "c" and not holomorphic:
            raise ArgumentTypeError(f"{what}: complex inputs need holomorphic=True")


class Jvp(Transformed):
    """(primals..., tangents...) to (value, tangent of the value), for chosen positional arguments."""

    suffix = "jvp"

    def __init__(self, fun: Callable[..., Any], argnums: tuple[int, ...] | None = None, has_aux: bool = False) -> None:
        self.argnums, self.has_aux = argnums, has_aux
        super().__init__(fun)

    def describe(self) -> str:
        return f"{base_name(self.fun)} and its derivative along a tangent"

    def split(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[int, ...], tuple[Any, ...]]:
        if self.argnums is None:
            n = len(args) // 2
            return args[:n], tuple(range(n)), args[n:]
        n = len(args) - len(self.argnums)
        return args[:n], self.argnums, args[n:]

    def staged(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        primals, positions, tangents = self.split(args)
        return push_forward(self.fun, primals, positions, tangents, kwargs, self.has_aux)


def push_forward(fun: Any, primals: tuple[Any, ...], positions: tuple[int, ...], tangents: tuple[Any, ...], kwargs: dict[str, Any], has_aux: bool = False) -> Any:
    leaves, structure = tree.flatten([primals[k] for k in positions])
    dots = structure.flatten_up_to(list(tangents))
    inputs = [fresh_input(x) if _is_value(x) and _leaf_type(x).differentiable else (None, x) for x in leaves]
    new = list(primals)
    for k, v in zip(positions, tree.unflatten(structure, [s for _, s in inputs]), strict=True):
        new[k] = v
    region = Region(fun, tuple(new), kwargs)
    t: Tangents = {}
    for (var, _), dot in zip(inputs, dots, strict=True):
        if var is not None:
            t[var] = matched(dot, var.type)
    Forward(merged=True).block(region.body, t)
    value = region.value
    aux = None
    if has_aux:
        value, aux = region.value
    flat, out_structure = tree.flatten(value)
    out_dots = []
    for x in flat:
        a = atoms(x) if isinstance(x, (Symbol, np.ndarray)) else atom(x) if isinstance(x, NUMBERS) else None
        if a is None:
            out_dots.append(x)
        else:
            kind = a.type if a.type.differentiable else Type(np.dtype(float), a.type.shape)
            out_dots.append(wrap(filled(tangent_of(t, a), kind)))
    made = (value, tree.unflatten(out_structure, out_dots))
    return (*made, aux) if has_aux else made


def matched(dot: Any, kind: Type) -> Atom:
    """A tangent as an atom of the type of its primal."""
    from tapeless.transforms.ops.creation import cast_to

    a: Atom = atoms(dot) if isinstance(dot, (Symbol, np.ndarray)) else atom(dot)
    if a.type.ndim != kind.ndim:
        raise ArgumentError(f"a tangent has shape {a.type.shape}, its primal {kind.shape}", "pass tangents of the same structure and shapes")
    if a.type.dtype.kind not in "fc":
        a = cast_to(a, kind.dtype)
    return a


class Vjp(Transformed):
    """The forward part of vjp: (value, what the backward part needs); `pull_back` is the backward part."""

    suffix = "fwd"

    def __init__(self, fun: Callable[..., Any], has_aux: bool = False) -> None:
        self.has_aux = has_aux
        self.plans: dict[int, Any] = {}
        super().__init__(fun)

    def describe(self) -> str:
        return f"{base_name(self.fun)} and what its derivative needs"

    def staged(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        value, pull, aux = pull_back(self.fun, args, kwargs, self.has_aux)
        return value, pull, aux


class PullBack:
    """Cotangents of the results to cotangents of the arguments, inside a staged run."""

    def __init__(self, template: Block, cotangents: list[Any], structure: Any, inputs: Any, input_structure: Any) -> None:
        self.template, self.cotangents, self.structure = template, cotangents, structure
        self.inputs, self.input_structure = inputs, input_structure

    def __staged_call__(self, ct: Any) -> Any:
        flat = self.structure.flatten_up_to(ct)
        known = {p: matched(c, p.type) for p, c in zip(self.cotangents, flat, strict=True) if p is not None}
        block, new = refresh(Block((), self.template.body, self.template.results), known)
        put(list(block.body))
        bars = iter(block.results)
        found = [wrap(next(bars)) if v is not None else np.zeros(()) for v in self.inputs]
        return tuple(tree.unflatten(self.input_structure, found))

    def __call__(self, ct: Any) -> Any:
        return self.__staged_call__(ct)


def pull_back(fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any], has_aux: bool) -> tuple[Any, PullBack, Any]:
    from tapeless.transforms.core.builder import building

    leaves, structure = tree.flatten(list(args))
    inputs = [fresh_input(x) if _is_value(x) and _leaf_type(x).differentiable else (None, x) for x in leaves]
    region = Region(fun, tuple(tree.unflatten(structure, [s for _, s in inputs])), kwargs)
    value, aux = region.value if has_aux else (region.value, None)
    flat, out_structure = tree.flatten(value)
    results = [atoms(x) if isinstance(x, (Symbol, np.ndarray)) else atom(x) if isinstance(x, NUMBERS) else Literal(0, Type(np.dtype(int))) for x in flat]
    variables = [v for v, _ in inputs if v is not None]
    split = linearize_block(region.block(variables, results), list(range(len(variables))))
    cts = [Var(r.type, _bar_name(r)) for r in results]
    b = Builder()
    b.definitions = current().definitions
    with building(b):
        bars = transpose_block(split.body, split.inputs, [(o, ct) for o, ct in zip(split.outputs, cts, strict=True) if isinstance(o, Var)])
    forward, back, new = resolve(split.primal, b.blocks[0])
    put(forward)
    results_back = tuple(new.get(a, a) if isinstance(a, Var) else a for a in bars)
    template = Block((), tuple(back), results_back)
    return value, PullBack(template, list(cts), out_structure, [v for v, _ in inputs], structure), aux


def _bar_name(a: Atom) -> str:
    return f"{a.name}_bar" if isinstance(a, Var) and a.name else "out_bar"


__all__ = ["Grad", "Jvp", "Vjp", "find_origin"]
