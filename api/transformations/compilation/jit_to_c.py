"""Prints transformed functions as C99, for programs without Python.

tapeless.jit(loss)      becomes      void loss(const double* w, int64_t w_0, double* out) {...}
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tapeless import tree
from tapeless.disk_cache.store import Shelf
from tapeless.dispatch.container_writeback import Change
from tapeless.dispatch.specialisation import Specialisation
from tapeless.staging.emitted_names import parameters
from tapeless.transformations.changed_containers import (
    containers_of,
    new_values,
    store_lines,
)
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transformations.eval_shape import short_axes
from tapeless.transforms.autodiff.residuals.saved_functions import saving_functions
from tapeless.transforms.c.blas import with_blas
from tapeless.transforms.c.companions import checking_program, cmake_lines, in_order, python_wrapper
from tapeless.transforms.c.inline_functions import with_inline_functions
from tapeless.transforms.c.module import CModule, write_c
from tapeless.transforms.c.records import ResultExpression
from tapeless.transforms.core.language import Block
from tapeless.transforms.core.traced_calls import STRICT
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.staging.stage import Staged
from tapeless.transforms.lowering import lower
from tapeless.transforms.lowering.floating_point_errors import without_errstate
from tapeless.transforms.lowering.target import C

SHORT = 8  # elements of an axis that programs are made for


@dataclass(frozen=True)
class Printed:
    """A function in C.

    is_passed  for each leaf of the arguments of the Python function, whether it is one of C, too;
               the code is for the values of the others
    changes    what it leaves in containers of the caller
    """

    module: CModule
    is_passed: tuple[bool, ...]
    changes: tuple[Change, ...] = ()

    def passed_leaves(self, args: Any) -> list[Any]:
        """The leaves that are arguments in C."""
        pairs = zip(tree.leaves(args), self.is_passed, strict=True)
        return [x for x, is_passed in pairs if is_passed]


class JitToC(Jit):
    """A function that is printed as C. It is not called from Python."""

    on_cores = False

    def begin(self) -> None:
        super().begin()
        self.modules: dict[str, Printed] = vars(self.cache).setdefault("modules", {})  # by source

    derived = Jit.derived | {"modules"}

    def module_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CModule:
        """The C for arguments of these types."""
        return self.print(args, kwargs).module

    def print(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Printed:
        """The C for arguments of these types, and what it is called with."""
        before, STRICT[0] = STRICT[0], True  # a trace holds for the values of one call alone
        try:
            with saving_functions():
                return self.modules[self.specialise(args, kwargs).text]
        finally:
            STRICT[0] = before

    def files(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        results: Any,
        after: tuple[Any, ...],
        blas: bool = False,
        inline: bool = False,
    ) -> dict[str, str]:
        """The C for these arguments and what goes with it, by the names of files.

        results  what is returned for these arguments: the test program compares with that
        after    the same arguments after the call, which may have overwritten some
        blas     whether large products are calls of a BLAS library
        inline   whether sine, cosine, tanh and exp are written out
        """
        printed = self.print(args, kwargs)
        if printed.changes:
            results = results, new_values(printed.changes, (after, kwargs))
        module = with_blas(printed.module) if blas else printed.module
        module = with_inline_functions(module) if inline else module
        numbers = in_order(module, results)
        before_call = printed.passed_leaves((args, kwargs))
        # containers that have changed do not say what is left in the arrays that they held
        after_call = None if printed.changes else printed.passed_leaves((after, kwargs))
        return {
            f"{module.name}.h": module.header,
            f"{module.name}.c": module.source,
            f"test_{module.name}.c": checking_program(module, before_call, numbers, after_call),
            "CMakeLists.txt": cmake_lines(module),
            f"{module.name}.py": python_wrapper(module),
        }

    def known_axes(self, leaves: Sequence[Any]) -> Collection[tuple[int, int]]:
        """Short axes, which are written out as numbers: points of three coordinates, say."""
        return short_axes(leaves, SHORT)

    def shelf(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Shelf | None:
        return None

    def outermost(self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[Any]) -> Any:
        self.before = containers_of((args, kwargs))
        return super().outermost(args, kwargs, leaves)

    def write(
        self, staged: Staged, block: Block, arguments: list[str], paths: list[str]
    ) -> tuple[str, bool]:
        block = without_errstate(block, "in C", "test values by np.isfinite")
        if staged.writes:
            raise UnsupportedError(
                "a function that changes what is no container of its arguments has no form in C",
                "pass it as an argument: a list, a dict or an object of a dataclass",
            )
        stores = store_lines(self.changes, self.before, arguments)
        names, unpack = parameters(staged, arguments, paths)
        results = ResultExpression()
        asked, fastmath = self.asked, self.asked.fastmath is not False
        lowered = lower.lower(
            *(self.emitted_name, block, staged.sizes, self.stored, staged.hints),
            *(asked.boundscheck, False, ()),
            fastmath=fastmath,
            target=replace(C, any_order=asked.fastmath is True),
        )
        path_of = dict(unpack)
        captured = {c.var for c in staged.captured}
        driver = replace(
            lowered.driver, params=tuple(v for v in lowered.driver.params if v not in captured)
        )
        module = write_c(
            self.emitted_name,
            driver,
            lowered.kernels,
            [path_of[v] for v in driver.params],
            self.stored,
            {c.var: c.get() for c in staged.captured},
            [*staged.sizes, *lowered.relied],
            partial(results.text, staged.result),
            self.doc(staged, names, values=False),  # the header says them
            [
                (path, repr(leaf.value))
                for leaf, path in zip(staged.leaves, paths, strict=True)
                if leaf.var is None
            ],
            stores,
        )
        module = replace(module, records=tuple(results.records.values()))
        is_passed = tuple(leaf.var is not None for leaf in staged.leaves)
        self.modules[module.source] = Printed(module, is_passed, self.changes)
        return module.source, False

    def prepare(
        self, specialisation: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Nothing: a compiler of C does that."""

    def load(self, text: str, outline: Any = None) -> Callable[..., Any]:
        def not_called(*args: Any, **kwargs: Any) -> Any:
            raise UnsupportedError("a function in C is not called from here", "compile it first")

        return not_called
