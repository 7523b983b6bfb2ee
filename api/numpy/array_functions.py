"""Wraps functions of NumPy so that they give arrays with `.at` and its kin outside of staged
runs."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from tapeless import tree
from tapeless.missing import MissingNameError
from tapeless.numpy import gpu_calls
from tapeless.numpy.parameter_names import PARAMETERS, given_keywords, place_arguments
from tapeless.staging.jax_arrays import functional, has_functional, plain
from tapeless.staging.user_calls import call_user
from tapeless.transforms.core.builder import active
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.trace.trace import trace

F = TypeVar("F", bound=Callable[..., Any])
#: Keywords of JAX that say where or how to compute, not what: of all functions, and of some.
HINTS = frozenset({"device", "out_sharding", "precision"})
OTHER_HINTS = {
    "delete": {"assume_unique_indices"},
    "digitize": {"method"},
    "isin": {"method"},
    "multinomial": {"unroll"},
    "polyval": {"unroll"},
    "searchsorted": {"method"},
}
#: Types that jax.numpy has and NumPy does not.
FOREIGN = """
bfloat16 float4_e2m1fn float6_e2m3fn float6_e3m2fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz
float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu int1 int2 int4 uint1 uint2
uint4
"""


class Function:
    """A function of NumPy, or one of ours in plain NumPy code; while staging it is just that."""

    def __init__(
        self,
        run: Callable[..., Any],
        name: str,
        hints: frozenset[str] = HINTS,
        module: str = "tapeless.numpy",
        parameters: str = "",
    ) -> None:
        self.run, self.hints, self.parameters = run, hints, parameters
        functools.update_wrapper(self, run, updated=())
        self.__name__ = self.__qualname__ = name
        self.home = module  # the module that holds it

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if kwargs or self.parameters:
            args, kwargs = self.place_arguments(args, kwargs)
        if active():
            return self.run(*args, **kwargs)
        if gpu_calls.has_gpu_arrays(args, kwargs):
            return gpu_calls.call(self, args, kwargs)
        return gpu_calls.by_default(functional(self.run(*args, **kwargs)))

    def __staged_call__(self, /, *args: Any, **kwargs: Any) -> Any:
        t = trace()
        t.functional = True
        start = next(t.serials)
        args, kwargs = self.place_arguments(args, kwargs)
        value = call_user(self.run, *args, **kwargs)
        for x in tree.leaves(value):
            if isinstance(x, Symbol) and x.cell is not None and x.cell.birth > start:
                x.cell.functional = True
        return value

    def place_arguments(self, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The arguments as NumPy takes them."""
        known_keywords = {k: v for k, v in kwargs.items() if k not in self.hints}
        return place_arguments(self.parameters, args, given_keywords(known_keywords))

    def __repr__(self) -> str:
        return f"<function {self.home}.{self.__name__}>"

    def __reduce__(self) -> Any:
        return (_found, (self.home, self.__name__))


class Drawn(Function):
    """A function of ours that works on NumPy's own arrays, and gives those of `tapeless.numpy`."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = self.place_arguments(args, kwargs)
        if active():
            return self.run(*args, **kwargs)
        if gpu_calls.has_gpu_arrays(args, kwargs):
            return gpu_calls.call(self, args, kwargs)
        return gpu_calls.by_default(functional(self.run(*plain(args), **plain(kwargs))))

    def place_arguments(self, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return args, {k: v for k, v in kwargs.items() if k not in self.hints}


class Following(Function):
    """A function of ours whose results are arrays of `tapeless.numpy` where an argument is one."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = self.place_arguments(args, kwargs)
        if not active() and gpu_calls.has_gpu_arrays(args, kwargs):
            return gpu_calls.call(self, args, kwargs)
        value = self.run(*args, **kwargs)
        if active() or not has_functional(tree.leaves((args, kwargs))):
            return value
        return functional(value)

    def __staged_call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if trace().functional and any(map(_is_functional, tree.leaves((args, kwargs)))):
            return super().__staged_call__(*args, **kwargs)
        args, kwargs = self.place_arguments(args, kwargs)
        return call_user(self.run, *args, **kwargs)

    def place_arguments(self, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        if self.hints and kwargs:
            kwargs = {k: v for k, v in kwargs.items() if k not in self.hints}
        return place_arguments(self.parameters, args, kwargs) if self.parameters else (args, kwargs)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else types.MethodType(self, owner)


def follow_arguments(run: F) -> F:
    """The function or method, with results of the kind of its arguments: a decorator."""
    return cast("F", Following(run, run.__name__, frozenset(), run.__module__))


def _is_functional(x: Any) -> bool:
    return isinstance(x, Symbol) and x.functional


class Ufunc(Function):
    """A ufunc, whose methods reduce, accumulate, outer and reduceat are functions too."""

    def __getattr__(self, name: str) -> Any:
        if name == "run":
            raise AttributeError(name)
        attribute = getattr(self.run, name)
        return Function(attribute, name) if callable(attribute) else attribute

    def at(self, a: Any, indices: Any, b: Any = None, /, *, inplace: bool = False) -> Any:
        """A copy of `a` in which `b` was applied to the elements at `indices`."""
        if inplace:
            raise ValueError("arrays are not overwritten here: leave inplace out")
        return Function(_ufunc_at, "at")(self.run, a, indices, *(() if b is None else (b,)))


def _ufunc_at(ufunc: Any, a: Any, indices: Any, *b: Any) -> Any:
    changed = np.copy(a)
    ufunc.at(changed, indices, *b)
    return changed


def _found(module: str, name: str) -> Any:
    import importlib  # noqa: PLC0415 (only to load a pickle)

    return getattr(importlib.import_module(module), name)


def functions_by_name(module: Any, names: str) -> dict[str, Any]:
    """Functions of NumPy by name, those that this version of it has."""
    listed = [name for name in names.split() if hasattr(module, name)]
    return export_functions(module, listed, f"tapeless.{module.__name__}")


def ours(source: Any, names: str, module: str = "tapeless.numpy") -> dict[str, Any]:
    """Functions of our own, as `module` holds them, by name."""
    return export_functions(source, names.split(), module)


def creation_functions(names: str, source: dict[str, Any]) -> dict[str, Any]:
    """The functions of a module of these names, which make the arrays of `tapeless.numpy`."""
    home = source["__name__"]
    hints = {name: OTHER_HINTS.get(name, set()) | {"out_sharding"} for name in names.split()}
    return {n: Drawn(source[n], n, frozenset(hints[n]), home) for n in hints}


def following(source: Any, names: str, hints: str = "") -> dict[str, Any]:
    """Functions of a module, whose results are of the kind of their arguments, by name."""
    module, left_out = source.__name__.rpartition(".")[0], frozenset(hints.split())
    return {n: Following(getattr(source, n), n, left_out, module) for n in names.split()}


def as_it_is(source: Any, names: str) -> dict[str, Any]:
    """What a module holds under some names."""
    return {name: getattr(source, name) for name in names.split()}


def own(function: Any) -> Any:
    """The function that is run for one of `tapeless.numpy`, `np.add` for `jnp.add`."""
    return function.run if isinstance(function, Function) else function


def export_functions(source: Any, names: list[str], module: str) -> dict[str, Any]:
    """What a module holds under the names of functions."""
    functions = {}
    for name in names:
        run = getattr(source, name)
        kind = Ufunc if isinstance(run, np.ufunc) else Function
        hints = HINTS.union(OTHER_HINTS.get(name, ()))
        functions[name] = kind(run, name, hints, module, PARAMETERS.get(name, ""))
    return functions


def missing(module: str, name: str) -> AttributeError:
    """The error for a name that a module does not have."""
    if name in FOREIGN.split():
        return MissingNameError(f"{module}.{name}: NumPy has no such type, so there is none here")
    return AttributeError(f"module {module!r} has no attribute {name!r}")
