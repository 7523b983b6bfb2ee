"""Stages a function as it is, and emits it as NumPy code with all that it overwrites."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeless.dispatch.container_writeback import Change, Stores
from tapeless.dispatch.specialisation import Specialisation
from tapeless.dispatch.transformation import Transformed
from tapeless.lazy_import import lazy_module
from tapeless.staging.emitted_names import base_name, parameters
from tapeless.transforms.core.language import Block, Var

if TYPE_CHECKING:
    from tapeless.staging import user_calls as calling
    from tapeless.transforms.emit import module
    from tapeless.transforms.frontend.arrays import symbols
    from tapeless.transforms.frontend.staging.stage import Staged
    from tapeless.transforms.frontend.values import structure as values
    from tapeless.transforms.lowering import module_text as driver
else:
    calling, module = (
        lazy_module("tapeless.staging.user_calls"),
        lazy_module("tapeless.transforms.emit.module"),
    )
    symbols, values = (
        lazy_module("tapeless.transforms.frontend.arrays.symbols"),
        lazy_module("tapeless.transforms.frontend.values.structure"),
    )
    driver = lazy_module("tapeless.transforms.lowering.module_text")

KERNELS = frozenset(vars(math))  # what kernels import by name


class Unchanged(Transformed):
    """The function itself, staged and emitted as NumPy code. Arrays that it overwrites are."""

    suffix = "jit"
    outlines = False  # fusion sees through calls
    changes: tuple[Change, ...] = ()  # of containers of the caller, by the run that was staged last

    def __init__(self, fun: Callable[..., Any]) -> None:
        super().__init__(fun)
        name = base_name(fun)
        self.emitted_name = f"{name}_" if name in KERNELS else name

    def stage(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return calling.call_user(self.fun, *args, **kwargs)

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
        arrays = [x for x in leaves if isinstance(x, symbols.Symbol) and x.type.shape]
        before = [x.value() for x in arrays]
        stores = Stores((args, kwargs))
        value = self.stage(args, kwargs)
        self.changes = stores.changes()
        pairs = [(x, p) for x, p in zip(arrays, before, strict=True) if x.value() is not p]
        self.stored = [p for _, p in pairs if isinstance(p, Var)]
        return value, tuple(stores.new), tuple(x for x, _ in pairs)

    def flatten_result(self, value: Any, registered: list[Any]) -> Any:
        value, *others = value
        return super().flatten_result(value, registered), *others

    def compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        compiled = super().compile(args, kwargs)
        compiled.changes = self.changes
        return compiled

    def postprocess(self, staged: Staged) -> Staged:
        value, new, stored = staged.result.children
        if self.changes:
            value = values.Structure(tuple, None, (), (value, new))
        first, more = len(list(value.leaves())), len(list(stored.leaves()))
        results = staged.block.results
        results = (*results[:first], *results[first + more :], *results[first : first + more])
        return dataclasses.replace(
            staged, block=dataclasses.replace(staged.block, results=results), result=value
        )

    def result(self, staged: Staged) -> tuple[Callable[[list[str]], str], bool]:
        """How results are written, and whether as a flat tuple."""
        flat = bool(staged.writes or self.changes) or not module.is_plain(staged.result)
        text = functools.partial(module.result_text, staged.result)
        return (module.flat_text if flat else text), flat

    def write(
        self, staged: Staged, block: Block, arguments: list[str], paths: list[str]
    ) -> tuple[str, bool]:
        names, unpack = parameters(staged, arguments, paths)
        result, flat = self.result(staged)
        text = driver.write_plain(
            self.emitted_name, block, self.stored, names, unpack, result, self.doc(staged, names)
        )
        return text, flat
