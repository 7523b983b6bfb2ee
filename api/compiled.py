"""jit: compiled functions, through fused loops that can be read."""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

from tapeless.calling import call_user
from tapeless.naming import base_name, parameters
from tapeless.transformed import Stages, Transformed
from tapeless.transforms.core.language import Block, Program, Var
from tapeless.transforms.core.printer import show
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.stage import Staged
from tapeless.transforms.frontend.symbols import Symbol
from tapeless.transforms.loops.driver import write_compiled, write_plain
from tapeless.transforms.loops.lower import lower
from tapeless.transforms.module import flat_text, is_plain, result_text

# Read once: looking at the environment takes longer than the rest of a call.
ALWAYS_DISABLED = os.environ.get("TAPELESS_DISABLE_JIT", "") not in ("", "0")
_disabled: contextvars.ContextVar[bool] = contextvars.ContextVar("disabled", default=False)


@contextlib.contextmanager
def disable_jit(disable: bool = True) -> Iterator[None]:
    """Inside, functions under `jit` run as emitted NumPy code, which a debugger can step through.

    TAPELESS_DISABLE_JIT=1 in the environment does the same for a whole process.
    """
    token = _disabled.set(disable)
    try:
        yield
    finally:
        _disabled.reset(token)


def disabled() -> bool:
    return _disabled.get() or ALWAYS_DISABLED


class Unchanged(Transformed):
    """The function itself, staged and emitted as NumPy code. Arrays that it overwrites are."""

    suffix = "jit"
    outlines = False  # fusion sees through calls

    def __init__(self, fun: Callable[..., Any]) -> None:
        super().__init__(fun)
        self.emitted_name = base_name(fun)

    def staged(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return call_user(self.fun, *args, **kwargs)

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if isinstance(self.fun, Transformed):
            self.fun.check(args, kwargs)

    def describe(self) -> str:
        if isinstance(self.fun, Transformed):
            return self.fun.describe()
        return base_name(self.fun)

    # -- arguments that are overwritten

    def outermost(self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[Any]) -> Any:
        """The value, and what the arrays of the caller hold afterwards."""
        arrays = [x for x in leaves if isinstance(x, Symbol) and x.type.shape]
        before = [x.value() for x in arrays]
        contents = list(containers((args, kwargs)))
        value = self.staged(args, kwargs)
        for container, held in contents:
            if not unchanged(container, held):
                raise UnsupportedError(
                    f"{base_name(self.fun)} stores to a {container_name(container)} that it is "
                    "given, and is compiled",
                    "return the new values instead, or store to the arrays in it",
                )
        pairs = [(x, p) for x, p in zip(arrays, before, strict=True) if x.value() is not p]
        self.stored = [p for _, p in pairs if isinstance(p, Var)]
        return value, tuple(x for x, _ in pairs)

    def settled(self, staged: Staged) -> Staged:
        value, stored = staged.result.children
        first, more = len(list(value.leaves())), len(list(stored.leaves()))
        results = staged.block.results
        results = (*results[:first], *results[first + more :], *results[first : first + more])
        return dataclasses.replace(
            staged, block=dataclasses.replace(staged.block, results=results), result=value
        )

    def result(self, staged: Staged) -> tuple[Callable[[list[str]], str], bool]:
        """How results are written, and whether as a flat tuple."""
        flat = bool(staged.writes) or not is_plain(staged.result)
        return (flat_text if flat else functools.partial(result_text, staged.result)), flat

    def write(
        self, staged: Staged, block: Block, arguments: list[str], paths: list[str]
    ) -> tuple[str, bool]:
        names, unpack = parameters(staged, arguments, paths)
        result, flat = self.result(staged)
        name = self.emitted_name
        return write_plain(name, block, self.stored, names, unpack, result, self.doc()), flat


def containers(value: Any) -> Iterator[tuple[Any, Any]]:
    """Lists, dicts and objects in a tree, each with a copy of what it holds."""
    if isinstance(value, (list, tuple)):
        parts: Any = list(value)
    elif isinstance(value, dict):
        parts = dict(value)
    elif dataclasses.is_dataclass(value):
        parts = dict(vars(value))
    else:
        return
    yield value, parts
    for part in parts.values() if isinstance(parts, dict) else parts:
        yield from containers(part)


def container_name(value: Any) -> str:
    kinds = [kind.__name__ for kind in (list, dict) if isinstance(value, kind)]
    return kinds[0] if kinds else type(value).__name__


def unchanged(container: Any, before: Any) -> bool:
    if isinstance(before, dict):
        now = container if isinstance(container, dict) else vars(container)
        return list(now) == list(before) and all(now[k] is v for k, v in before.items())
    return len(container) == len(before) and all(
        a is b for a, b in zip(container, before, strict=True)
    )


class Jit(Unchanged):
    """A function that is compiled at its first call with a new signature."""

    def __init__(
        self,
        fun: Callable[..., Any],
        fastmath: bool = False,
        boundscheck: bool = True,
        parallel: bool = True,
    ) -> None:
        self.fastmath, self.boundscheck, self.parallel = fastmath, boundscheck, parallel
        super().__init__(fun)
        self.plain = Unchanged(fun)
        self.drivers: dict[str, str] = {}

    def options(self) -> tuple[Any, ...]:
        return (self.fastmath, self.boundscheck, self.parallel)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if disabled():
            return self.plain(*args, **kwargs)
        return super().__call__(*args, **kwargs)

    def write(
        self, staged: Staged, block: Block, arguments: list[str], paths: list[str]
    ) -> tuple[str, bool]:
        names, unpack = parameters(staged, arguments, paths)
        result, flat = self.result(staged)
        made = self.lowered(staged, block)
        staged.sizes.extend(made.relied)
        text = write_compiled(
            self.emitted_name, made.driver, made.kernels, names, unpack, result, self.doc()
        )
        self.drivers[text] = show(Program(self.emitted_name, made.driver))
        return text, flat

    def lowered(self, staged: Staged, block: Block) -> Any:
        name, hints = self.emitted_name, staged.hints
        return lower(name, block, staged.sizes, self.stored, hints, self.boundscheck)

    def load(self, text: str) -> Callable[..., Any]:
        from tapeless.backends import numba  # noqa: PLC0415 (takes time to import)

        return numba.load(self.emitted_name, text)

    def stages(self, *args: Any, **kwargs: Any) -> Stages:
        """Each stage of the compilation for these arguments, or of the last call."""
        made = super().stages(*args, **kwargs)
        s = self.pick(args, kwargs)
        made.parts.insert(3, ("driver", self.drivers[s.text]))
        return made

    @property
    def compilations(self) -> list[Any]:
        """What was compiled, or found in the cache: signature, reason, seconds."""
        from tapeless.backends import numba  # noqa: PLC0415

        found = [s for specialisations in self.cache.values() for s in specialisations]
        return [c for s in found for c in numba.compilations(s.run)]


def jit(fun: Callable[..., Any] | None = None, **options: Any) -> Any:
    """The function, compiled to machine code at its first call with new types.

    >>> import numpy as np
    >>> jit(lambda x: x * x + 1)(np.arange(3.0))
    array([1., 2., 5.])
    """
    if fun is None:
        return functools.partial(jit, **options)
    return Jit(fun, **options)


__all__ = ["Jit", "disable_jit", "jit"]
