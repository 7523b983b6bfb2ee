"""Callables made by transformations: they stage at the first call with a new signature, then look it up."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.backends import python
from tapeless.region import owned
from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.language import Block, Program
from tapeless.transforms.core.printer import show
from tapeless.transforms.errors import ArgumentTypeError, InternalError, TapelessError
from tapeless.transforms.expand import expand, forget
from tapeless.transforms.frontend.stage import Staged, is_dynamic, stage
from tapeless.transforms.module import flat_text, is_plain, rebuild, result_text, write_module
from tapeless.transforms.simplify import simplify

NUMBERS = frozenset(
    {float, int, complex, *(t for t in np.sctypeDict.values() if issubclass(t, np.number))}
)
STAGING = threading.RLock()  # a staged run writes to outer objects and takes it back


def leaf_key(x: Any) -> Any:
    """What a program is specialised on: type, rank and which axes have length 0 or 1; values of flags."""
    kind = type(x)
    if kind in NUMBERS:
        return kind
    if isinstance(x, np.ndarray) and x.dtype.kind in "biufc":
        return (x.dtype, *[n if n < 2 else 2 for n in x.shape])
    if isinstance(x, (str, bytes, bool, np.bool_)):
        return (kind, x)
    return id(x)


def quick_key(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The key of a call with numbers and arrays only, without looking for containers."""
    key = []
    for x in args:
        kind = type(x)
        if kind in NUMBERS:
            key.append(kind)
        elif kind is np.ndarray and x.dtype.kind in "biufc":
            key.append((x.dtype, *[n if n < 2 else 2 for n in x.shape]))
        else:
            return None
    return tuple(key)


class Specialisation:
    """One emitted function, with what it relies on."""

    plan: Any = None  # of vjp: its backward function

    def __init__(
        self,
        run: Callable[..., Any],
        text: str,
        staged: Staged,
        simplified: Block,
        flat: bool,
        keywords: tuple[str, ...],
    ) -> None:
        self.run, self.text, self.staged = run, text, staged
        self.simplified, self.flat, self.keywords = simplified, flat, keywords
        leaves = list(enumerate(staged.leaves))
        self.static = [(k, v.value) for k, v in leaves if v.static and is_dynamic(v.value)]
        self.axes = [(k, axis, v.value.shape[axis]) for k, v in leaves for axis in v.axes]
        self.captured = [(c.get, leaf_key(c.array)) for c in staged.captured]

    def accepts(self, leaves: Any) -> bool:
        """Whether the function is right for these arguments and what it reads from outside."""
        for k, value in self.static:
            if not _same(value, leaves[k]):
                return False
        for k, axis, n in self.axes:
            if leaves[k].shape[axis] != n:
                return False
        for g in self.staged.guards:
            if not g.holds():
                return False
        for get, key in self.captured:
            if leaf_key(get()) != key:
                return False
        return not self.staged.sizes or self.sizes_hold(leaves)

    def sizes_hold(self, leaves: list[Any]) -> bool:
        s = self.staged
        values = {}
        for symbol, (k, axis) in s.decisions.homes.items():
            values[symbol] = int(leaves[k]) if axis < 0 else leaves[k].shape[axis]
        for c in s.captured:
            for size, n in zip(c.var.type.shape, c.get().shape, strict=True):
                for symbol in dims.symbols(size):
                    values[symbol] = n
        for relation, a, b in s.sizes:
            x, y = dims.evaluate(a, values), dims.evaluate(b, values)
            if x is None or y is None or not (x == y if relation == "==" else x >= y):
                return False
        return True

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        extra = [c.get() for c in self.staged.captured]
        named = [kwargs[name] for name in self.keywords]
        made = self.run(*args, *named, *extra)
        if not self.flat:
            return made
        left = iter(made)
        result = rebuild(self.staged.result, left)
        for location, spec in self.staged.writes:
            location.set(rebuild(spec, left))
        return result


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and (
        a is b or (np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b)
    )


@dataclass
class Stages:
    """Each stage of a compilation; prints itself, and iterates as (name, value) pairs."""

    parts: list[tuple[str, Any]]

    def __iter__(self) -> Any:
        return iter(self.parts)

    def __getitem__(self, name: str) -> Any:
        return dict(self.parts)[name]

    def __str__(self) -> str:
        return "\n\n".join(f"-- {name} --\n{value}" for name, value in self.parts)

    __repr__ = __str__


class Transformed:
    """A function made by a transformation of another one. It does no work until it is called."""

    suffix = "transformed"

    def __init__(self, fun: Callable[..., Any]) -> None:
        check_callable(fun, self.suffix)
        self.fun = fun
        self.cache: dict[Any, list[Specialisation]] = {}
        self.last: Specialisation | None = None
        wrapped = ("__module__", "__doc__", "__qualname__")
        functools.update_wrapper(self, fun, assigned=wrapped, updated=())
        self.__name__ = f"{base_name(fun)}_{self.suffix}"

    # -- what subclasses say

    def staged(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The transformation, inside a staged run."""
        raise NotImplementedError

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Refuses bad arguments before any work."""

    def describe(self) -> str:
        return f"{self.suffix} of {base_name(self.fun)}"

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
        """A name for each argument as it is passed."""
        return argument_names(self.fun, args, kwargs)

    # -- use

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if builder.active():
            return self.__staged_call__(*args, **kwargs)
        found = self.specialise(args, kwargs)
        try:
            return found(args, kwargs)
        except Exception as e:
            python.explain(e, self.user_file())
            raise

    def __staged_call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.staged(args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<{self.describe()}>"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "cache": {}, "last": None}

    def __reduce_ex__(self, protocol: Any) -> Any:
        return global_name(self) or super().__reduce_ex__(protocol)

    def source(self, *args: Any, **kwargs: Any) -> str:
        """The emitted module for these arguments; without arguments, that of the last call."""
        return self.pick(args, kwargs).text

    def stages(self, *args: Any, **kwargs: Any) -> Stages:
        """Each stage of the compilation for these arguments (or of the last call), as values that print themselves."""
        s = self.pick(args, kwargs)
        notes = "\n".join(s.staged.notes) or "every loop that depends on values is rolled"
        return Stages(
            [
                ("core", show(Program(self.__name__, s.staged.block))),
                ("simplified", show(Program(self.__name__, s.simplified))),
                ("notes", notes),
                ("source", s.text),
            ]
        )

    def pick(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        if not args and not kwargs and self.last is not None:
            return self.last
        return self.specialise(args, kwargs)

    def specialise(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        """The emitted function for these arguments, made now if there is none."""
        key: Any = None if kwargs else quick_key(args)
        leaves: Any = args
        if key is None:
            leaves, structure = tree.optree.tree_flatten((args, kwargs), namespace=tree.NAMESPACE)
            key = (structure, *map(leaf_key, leaves))
        for found in self.cache.get(key, ()):
            if found.accepts(leaves):
                self.last = found
                return found
        self.check(args, kwargs)
        with STAGING:
            if leaves is not args:  # dataclasses that were met now are trees from now on
                leaves, structure = tree.flatten((args, kwargs))
                key = (structure, *map(leaf_key, leaves))
            for found in self.cache.get(key, ()):  # another thread may have made it
                if found.accepts(leaves):
                    return found
            made = self.compile(args, kwargs)
            self.cache[key] = [made, *self.cache.get(key, ())]
        self.last = made
        return made

    # -- compilation

    def compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        leaves, structure = tree.flatten((args, kwargs))
        arguments = self.arguments(args, kwargs)
        paths = leaf_paths(args, kwargs, arguments)

        def call(params: list[Any]) -> Any:
            new_args, new_kwargs = owned(tree.unflatten(structure, params))
            return self.staged(new_args, new_kwargs)

        with mistakes_reported(self.fun):
            staged = stage(call, leaves, paths)
            block = staged.block
            expanded = dataclasses.replace(block, body=tuple(expand(block.body)))
            simplified = forget(simplify(expanded))
            text, flat = self.write(staged, simplified, arguments, paths)
            run = python.load(self.__name__, text)
        return Specialisation(run, text, staged, simplified, flat, tuple(kwargs))

    def write(
        self, staged: Staged, block: Block, arguments: list[str], paths: list[str]
    ) -> tuple[str, bool]:
        """The emitted module, and whether its function returns leaves only."""
        names, unpack = parameters(staged, arguments, paths)
        flat = bool(staged.writes) or not is_plain(staged.result)
        result = flat_text if flat else functools.partial(result_text, staged.result)
        return write_module(self.__name__, block, names, unpack, result, self.doc()), flat

    def doc(self) -> str:
        code = getattr(unwrapped(self.fun), "__code__", None)
        place = (
            f"  From {code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno}." if code else ""
        )
        text = self.describe()
        return f"{text}.{place}"

    def user_file(self) -> str:
        code = getattr(unwrapped(self.fun), "__code__", None)
        return code.co_filename if code else "<unknown>"


def check_callable(fun: Any, what: str) -> None:
    """Refuses what cannot be called."""
    if not callable(fun):
        raise ArgumentTypeError(
            f"{what} needs a function, not {type(fun).__name__} {str(fun)[:40]!r}",
            "pass the function itself, not the result of a call",
        )


def global_name(obj: Any) -> str:
    """The name under which a module holds `obj` itself, as decorators leave it; empty if it does not."""
    found: Any = sys.modules.get(getattr(obj, "__module__", None) or "")
    for part in obj.__qualname__.split(".") if hasattr(obj, "__qualname__") else ("",):
        found = getattr(found, part, None)
    return obj.__qualname__ if found is obj else ""


@contextmanager
def mistakes_reported(fun: Any) -> Iterator[None]:
    """Errors that only a mistake in tapeless can raise become a request to report it."""
    try:
        yield
    except TapelessError:
        raise
    except (KeyError, AssertionError) as e:
        if not _ours(e):
            raise
        raise InternalError(
            f"a mistake in tapeless ({type(e).__name__}: {e}) while transforming {base_name(fun)}",
            "please report it with the function",
        ) from e


def parameters(
    staged: Staged, arguments: list[str], paths: list[str]
) -> tuple[list[str], list[Any]]:
    """The parameters of the emitted function, and the expression that reads each variable."""
    pairs = zip(staged.leaves, paths, strict=True)
    unpack = [(leaf.var, path) for leaf, path in pairs if leaf.var is not None]
    names = list(arguments)
    for c in staged.captured:
        name = c.var.name if c.var.name.isidentifier() else "captured"
        names.append(unused(name, names))
        unpack.append((c.var, names[-1]))
    return names, unpack


def unused(name: str, names: Any) -> str:
    """`name`, with underscores until it differs from `names`."""
    while name in names:
        name += "_"
    return name


def _ours(error: BaseException) -> bool:
    tb = error.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    return tb is not None and tb.tb_frame.f_globals.get("__name__", "").startswith("tapeless.")


def unwrapped(fun: Any) -> Any:
    """The user's function under partials, methods, callable objects and transformations."""
    while True:
        if isinstance(fun, functools.partial):
            fun = fun.func
        elif isinstance(fun, Transformed):
            fun = fun.fun
        elif inspect.ismethod(fun):
            fun = fun.__func__
        elif (
            not hasattr(fun, "__code__")
            and hasattr(type(fun), "__call__")
            and hasattr(type(fun).__call__, "__code__")
        ):
            fun = type(fun).__call__
        else:
            return fun


def base_name(fun: Any) -> str:
    if isinstance(fun, Transformed):
        return fun.__name__
    inner = fun.func if isinstance(fun, functools.partial) else fun
    if isinstance(inner, Transformed):
        return inner.__name__
    name = getattr(unwrapped(inner), "__name__", type(inner).__name__)
    return (
        "function"
        if name == "<lambda>"
        else name
        if name != "__call__"
        else type(inner).__name__.lower()
    )


def argument_names(fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """A name for each argument as it is passed."""
    names: list[str] = []
    try:
        params = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        params = []
    plain = [p.name for p in params if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in params if p.kind is p.VAR_POSITIONAL), "x")
    for k in range(len(args)):
        name = plain[k] if k < len(plain) else f"{rest}{k - len(plain)}"
        names.append(unused(name if params or len(args) > 1 else "x", names))
    return names + [unused(k, names) for k in kwargs]


def leaf_paths(args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]) -> list[str]:
    """For each leaf of (args, kwargs), in order, the Python expression that reads it."""
    ordered = [
        *zip(names, args, strict=False),
        *zip(names[len(args) :], kwargs.values(), strict=True),
    ]
    by_argument = {name: [a.codify(name) for a in tree.accessors(value)] for name, value in ordered}
    keyword = dict(zip(kwargs, names[len(args) :], strict=True))
    return [
        p
        for name in [*names[: len(args)], *(keyword[k] for k in sorted(kwargs))]
        for p in by_argument[name]
    ]
