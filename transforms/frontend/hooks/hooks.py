"""Implements the hooks that rewritten source calls: names and control flow here, the others in the
classes it inherits.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import operator
import types
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Effect
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.builtins import dicts_and_sets
from tapeless.transforms.frontend.builtins.flagged_lists import items_of_flagged, require_same_items
from tapeless.transforms.frontend.builtins.formatting import format_parts
from tapeless.transforms.frontend.builtins.lists_of_lists import empty_list, rows_of, running_over
from tapeless.transforms.frontend.builtins.stand_ins import refuse_stand_ins
from tapeless.transforms.frontend.control_flow.branches import (
    branch,
    choose,
    defer_choice,
    for_each_option,
    has_options,
)
from tapeless.transforms.frontend.control_flow.comprehensions import Lazy, comprehension
from tapeless.transforms.frontend.control_flow.iteration import len_
from tapeless.transforms.frontend.control_flow.loop_iterators import for_each
from tapeless.transforms.frontend.control_flow.loops import while_loop
from tapeless.transforms.frontend.control_flow.rebinding import rebind_list
from tapeless.transforms.frontend.control_flow.truth import truth
from tapeless.transforms.frontend.control_flow.try_statements import run_try
from tapeless.transforms.frontend.effects.context_managers import SIGNALS, enter_manager
from tapeless.transforms.frontend.effects.effects import raise_
from tapeless.transforms.frontend.effects.exception_handlers import caught, trying
from tapeless.transforms.frontend.heap.frames import Frame, FrameLocation
from tapeless.transforms.frontend.heap.iterators import Advancing
from tapeless.transforms.frontend.heap.lists import StagedList, as_list
from tapeless.transforms.frontend.heap.locations import ClosureLocation, GlobalLocation
from tapeless.transforms.frontend.hooks.operations import Operations
from tapeless.transforms.frontend.objects import capture, special_methods
from tapeless.transforms.frontend.objects.attributes import watch, watch_class
from tapeless.transforms.frontend.source.tree_building import RESULT
from tapeless.transforms.frontend.trace.dependence import can_be_known
from tapeless.transforms.frontend.trace.journals import Location
from tapeless.transforms.frontend.trace.provenance import of_ours
from tapeless.transforms.frontend.trace.readers import BuiltinOf, CellOf, KeyOf
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.structure import MISSING
from tapeless.transforms.frontend.values.uneven_contents import flagged_contents
from tapeless.transforms.prelude.containers.filtered_lists import FilteredList
from tapeless.transforms.prelude.containers.ragged_lists import GivenLists

#: What no caller can change in our own modules.
CONSTANT = (bool, int, float, complex, str, type, types.FunctionType, types.BuiltinFunctionType)


def _has_length(value: Any) -> bool:
    """Whether it is an array, or a list that loops filled."""
    if isinstance(value, Symbol):
        return bool(value.type.shape)
    return isinstance(value, StagedList) and value.tail is not None


def _as_full_list(value: Any) -> Any:
    """What is taken apart: of a generator expression the list of all items."""
    value = as_list(value)
    return value.to_list() if isinstance(value, Lazy) else value


class Hooks(Operations):
    """The hooks of one function: they know where its names come from."""

    # -- names

    def frame(self, name: str) -> Frame:
        return trace().born(Frame())  # type: ignore[no-any-return]

    def result(self, frame: Frame) -> Any:
        value = getattr(frame, RESULT)
        if self.function.__globals__.get("__staged__", False):
            trace().ended.add(id(frame))
        if isinstance(value, Symbol) and value.undefined is not None:
            if value.undefined.name == RESULT:
                value.undefined = None
            elif not value.undefined.none:
                value.value()  # raises where the program runs, if the variable is not set
        return value

    def load(self, name: str) -> Any:
        cell = self.closure.get(name)
        if cell is not None:
            try:
                value = cell.cell_contents
            except ValueError:
                raise NameError(
                    f"cannot access free variable '{name}' where it is not associated with a value"
                ) from None
            if trace().wrote(ClosureLocation(cell, name).key):
                return value
            return capture.outer(value, CellOf(cell), name)
        values = self.function.__globals__
        if name in values:
            if trace().wrote(GlobalLocation(values, name).key):
                return values[name]
            if of_ours(self.function) and isinstance(values[name], CONSTANT):
                return values[name]
            return capture.outer(values[name], KeyOf(values, name), name)
        if hasattr(builtins, name):
            if not of_ours(self.function):
                watch(values, name, BuiltinOf(values, name), getattr(builtins, name))
            return getattr(builtins, name)
        raise NameError(f"name '{name}' is not defined")

    def place_of(self, name: str) -> Location:
        """Where a name from outside of the function is held."""
        cell = self.closure.get(name)
        if cell is not None:
            return ClosureLocation(cell, name)
        return GlobalLocation(self.function.__globals__, name)

    def store_outer(self, name: str, value: Any) -> None:
        location = self.place_of(name)
        trace().touch(location)
        location.set(value)

    def assign(self, frame: Frame, name: str, value: Any) -> Any:
        setattr(frame, name, value)
        return value

    def delete_name(self, frame: Frame, name: str) -> None:
        getattr(frame, name)
        trace().touch(FrameLocation(frame, name))
        del frame.__dict__[name]

    def forget(self, frame: Frame, *names: str) -> None:
        """Variables that nothing reads any more."""
        for name in names:
            location = FrameLocation(frame, name)
            if location.get() is not MISSING:
                trace().touch(location)
                location.set(MISSING)

    def super_(self, owner: str, this: Any) -> Any:
        classes = (this if isinstance(this, type) else type(this)).__mro__
        cell = self.closure.get("__class__")
        if cell is not None and (cls := cell.cell_contents) in classes and cls.__name__ == owner:
            return super(cls, this)
        for cls in classes:  # one that is defined in a staged function
            if cls.__name__ == owner:
                return super(cls, this)
        raise TypeError("super(): no such class")

    # -- what an assignment or a call takes apart

    def bind(self, frame: Frame, pattern: Any, value: Any) -> None:
        """Binds the target of a comprehension: a name, '*name', or a tuple of patterns."""
        if isinstance(pattern, str):
            setattr(frame, pattern, value)
            return
        star = next(
            (k for k, p in enumerate(pattern) if isinstance(p, str) and p.startswith("*")), -1
        )
        if star >= 0:
            parts = list(self.unpack_star(value, len(pattern), star))
        else:
            parts = list(self.unpack(value, len(pattern)))
        if len(parts) != len(pattern):
            raise ValueError(
                "not enough or too many values to unpack "
                f"(expected {len(pattern)}, got {len(parts)})"
            )
        for p, v in zip(pattern, parts, strict=True):
            self.bind(frame, p.removeprefix("*") if isinstance(p, str) else p, v)

    def unpack(self, value: Any, n: int) -> Any:
        if has_options(value):
            return for_each_option(lambda option: tuple(self.unpack(option, n)), value)
        if value is None:
            raise TypeError("cannot unpack non-iterable NoneType object")
        value = _as_full_list(value)
        length = len_(self, value) if _has_length(value) else None
        if isinstance(length, Symbol):
            if not can_be_known(length.value()):
                return self.items_of(value, length, n)
            if not isinstance(value, list):
                length.__index__()
        return special_methods.iterable_of(value, whole=True)

    def items_of(self, value: Any, length: Any, n: int) -> tuple[Any, ...]:
        """The items of a list or array that has to have n of them, as run-time values say."""
        few = self.format(f"not enough values to unpack (expected {n}, got ", (length, "", ""), ")")
        many = f"too many values to unpack (expected {n})"
        branch(length < n, lambda: self.raise_(ValueError(few)), lambda: None)
        branch(length > n, lambda: self.raise_(ValueError(many)), lambda: None)
        return tuple(self.item(value, k) for k in range(n))

    def unpack_star(self, value: Any, n: int, star: int) -> Any:
        """n parts of which one is the list of what the others leave."""
        if has_options(value):
            return for_each_option(lambda option: self.unpack_star(option, n, star), value)
        if value is None:
            raise TypeError("cannot unpack non-iterable NoneType object")
        value = _as_full_list(value)
        length = value.length() if isinstance(value, StagedList) else None
        if isinstance(length, Symbol) and not can_be_known(length.value()):
            return self.parts_of(value, n, star)
        parts = list(special_methods.iterable_of(value, whole=True))
        if len(parts) < n - 1:
            raise ValueError(
                f"not enough values to unpack (expected at least {n - 1}, got {len(parts)})"
            )
        end = len(parts) - (n - star - 1)
        return (*parts[:star], self.new(parts[star:end]), *parts[end:])

    def parts_of(self, value: StagedList, n: int, star: int) -> tuple[Any, ...]:
        """The items of a list of run-time length, and the list of those in between."""
        length, behind = value.length(), n - star - 1
        few = self.format(
            f"not enough values to unpack (expected at least {n - 1}, got ", (length, "", ""), ")"
        )
        branch(length < n - 1, lambda: self.raise_(ValueError(few)), lambda: None)
        first = [self.item(value, k) for k in range(star)]
        last = [self.item(value, k) for k in range(-behind, 0)]
        return (*first, self.item(value, slice(star, length - behind)), *last)

    def iterate(self, value: Any) -> Any:
        if flagged_contents(value) is not None:
            return items_of_flagged(value)
        if has_options(value):
            return value
        items = special_methods.iterable_of(value)
        if isinstance(value, FilteredList):
            items.filtered = value
        return items

    def call_spread(self, f: Any, items: Any) -> Any:
        """f(*items); zip(*items) of a list that was filled in a loop stays as it is."""
        items = for_each_option(
            lambda option: special_methods.iterable_of(option, whole=True), items
        )
        columns = items.columns() if f is zip and isinstance(items, StagedList) else None
        return self.call(f, *items) if columns is None else Advancing(iter(columns))

    def spread_names(self, values: Any) -> Any:
        """f(**values)"""
        refuse_stand_ins("**", values)
        return values

    def new(self, container: Any) -> Any:
        return trace().born(StagedList(container) if isinstance(container, list) else container)

    def list_of(self, items: Any) -> Any:
        """[*items]"""
        return self.call(list, items)

    def join_lists(self, items: Any, others: Any) -> Any:
        """[*items, *others] of two new lists"""
        return for_each_option(operator.add, items, others)

    def list(self, name: str) -> Any:
        return empty_list(self, name)

    def renewed(self, frame: Frame, name: str, value: Any) -> Any:
        return rebind_list(frame, name, value) if type(value) is StagedList else value

    def dict(self, name: str, *parts: Any) -> Any:
        return dicts_and_sets.display(self, dict, name, parts)

    def set(self, name: str, *parts: Any) -> Any:
        return dicts_and_sets.display(self, set, name, parts)

    def slice(self, start: Any, stop: Any, step: Any) -> slice:
        return slice(start, stop, step)

    # -- control flow

    def truth(self, test: Any) -> Any:
        return truth(test)

    def known(self, test: Any) -> bool:
        return bool(truth(test))

    def subject(self, value: Any) -> Any:
        """What `match` looks at, by itself."""
        if isinstance(value, GivenLists):
            value.refuse_change()
        return value.need() if isinstance(value, Either) else value

    def is_instance(self, value: Any, kinds: Any) -> bool:
        """Whether a pattern of `match` that asks for a class fits."""
        return bool(self.call(isinstance, value, kinds))

    def if_(self, test: Any, then: Any, orelse: Any) -> None:
        branch(test, then, orelse)

    def if_expression(self, test: Any, then: Any, orelse: Any) -> Any:
        return choose(test, then, orelse)

    def for_(
        self, iterable: Any, body: Any, frame: Frame, stop: str | None, name: str = ""
    ) -> None:
        if (flagged := flagged_contents(iterable)) is not None:
            self.for_(items_of_flagged(iterable), body, frame, stop, name)
            require_same_items(iterable, flagged)
            return
        if has_options(iterable):
            for_each_option(lambda option: self.for_(option, body, frame, stop, name), iterable)
            return
        trace().loops.run_over.append(iterable)
        try:
            with running_over(iterable):
                for_each(iterable, body, frame, stop, name)
        finally:
            trace().loops.run_over.pop()

    def while_(self, test: Any, body: Any, frame: Frame, stop: str | None) -> None:
        while_loop(test, body, frame, stop)

    def comprehension(self, kind: str, generators: Any) -> Any:
        iterable, *rest = generators
        if has_options(iterable):
            over = defer_choice if kind == "GeneratorExp" else for_each_option

            def of_option(option: Any) -> Any:
                return self.comprehension(kind, (self.iterate(option), *rest))

            return over(of_option, iterable)
        if kind in ("SetComp", "DictComp"):
            return dicts_and_sets.build_container(
                self, set if kind == "SetComp" else dict, generators
            )
        with running_over(generators[0]):
            return comprehension(kind, generators)

    def rows(self, name: str, make_rows: Any, *spans: Any) -> Any:
        """Empty lists in a list, or in lists of lists, as many as there are items of the spans."""
        return rows_of(self, name, make_rows, spans)

    def enter(self, manager: Any) -> Any:
        if isinstance(manager, Symbol):
            kind = manager.class_name()
            raise TypeError(f"'{kind}' object does not support the context manager protocol")
        if isinstance(manager, np.errstate):
            kinds = ("all", "divide", "over", "under", "invalid")
            methods = {k: getattr(manager, f"_{k}", None) for k in kinds}
            settings = {k: v for k, v in methods.items() if v is not None}
            trace().emit(Effect("errstate", (), settings, trace().origin))
        for name in ("__enter__", "__exit__"):
            watch_class(type(manager), name)
        return enter_manager(manager, self.call, self.given_up)

    @property
    def signals(self) -> tuple[type[BaseException], ...]:
        """What no except clause of the user's may catch."""
        return SIGNALS

    def try_(self, run: Any) -> None:
        """A try statement."""
        run_try(run)

    def trying(self, *clauses: Any) -> Any:
        """The body of a try statement; each of `clauses` gives the exceptions that one catches."""
        return trying(lambda: caught(clauses))

    def given_up(self, final: Any) -> None:
        """The end of a try statement that staging leaves."""
        with contextlib.suppress(Exception, *SIGNALS):
            final()

    def format(self, *parts: Any) -> Any:
        return format_parts(*parts)

    def raise_(self, exc: Any, cause: Any = None) -> None:
        def raise_option(option: Any) -> None:
            if isinstance(option, BaseException) and any(map(has_options, option.args)):
                for_each_option(functools.partial(with_texts, option), *option.args)
            raise_(option, cause)

        def with_texts(error: BaseException, *args: Any) -> None:
            error.args = args
            raise_(error, cause)

        for_each_option(raise_option, exc)

    def assert_(self, test: Any, message: Any) -> None:
        if isinstance(test, Symbol):

            def fail() -> None:
                text = message()
                raise_(AssertionError() if text is None else AssertionError(text))

            branch(test, lambda: None, fail)
        elif not test:
            text = message()
            raise_(AssertionError() if text is None else AssertionError(text))
