"""Passes lists of numbers among the arguments of compiled functions as arrays.

f([3, 1, 2, ...])      becomes      value, new = f(np.array([3, 1, 2, ...])), and new into the list

Lists of lists or tuples come as arrays, too: of lists that are not equally long, all items, and how
many there are in each. Few numbers, numbers of several types and
what shares rows stay as they are: an argument for each number.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless.dispatch.container_writeback import containers, refuse_passed, refuse_read_outside
from tapeless.dispatch.specialisation import MISSED, Specialisation
from tapeless.dispatch.transformation import Transformed
from tapeless.lazy_import import lazy_module
from tapeless.transforms.core import builder
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import ArgumentError, TapelessError

if TYPE_CHECKING:
    from tapeless.staging import user_calls as calling
    from tapeless.transforms.frontend.heap import list_arguments as given_lists
else:
    calling = lazy_module("tapeless.staging.user_calls")
    given_lists = lazy_module("tapeless.transforms.frontend.heap.list_arguments")

SHORT = 8  # numbers: so few are an argument each
PYTHON: dict[type, Any] = {bool: bool, int: np.int64, float: float, complex: complex}
SINGLE = (*PYTHON, np.generic, str)  # what holds nothing else
Key = int | str  # of an argument: its place, or its name
#: What a list holds: the types of its numbers, one for each column, and list or tuple where its
#: elements are such, None of numbers; "lists" or "lists of tuples" of such of different lengths.
Form = tuple[tuple[type, ...], type | str | None]


@dataclass
class ArrayCall:
    """The arguments of one call, with arrays in the place of lists."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    lists: dict[Key, Any]
    forms: tuple[tuple[Key, Form], ...]

    def put_back(
        self, returned: tuple[Any, Key | None, dict[Key, Any]], run: Specialisation
    ) -> Any:
        """The value, after the lists got what the function that has `run` left in them."""
        value, same, new = returned
        refuse_passed((h.get() for h in run.held), [*self.lists.values()])
        if new:
            lists = [self.lists[key] for key in new]
            rows = (row for x in lists if type(x[0]) is list for row in x)
            refuse_read_outside((*lists, *rows), run.outside)
            self.store(new)
        return value if same is None else self.lists[same]

    def store(self, new: dict[Key, Any]) -> None:
        forms = dict(self.forms)
        for key, (moved, _) in new.items():
            self.refuse_shared(key, forms[key])
            if moved and forms[key][1] is list:
                _refuse_held_rows(self.lists[key], key)
        for key, (moved, items) in new.items():
            held = self.lists[key]
            if moved or forms[key][1] is not list:
                held[:] = items
                continue
            for row, numbers in zip(held, items, strict=True):
                row[:] = numbers

    def refuse_shared(self, key: Key, form: Form) -> None:
        """What is changed must not be anything else, too: the function takes them for two."""
        rows = [id(row) for k, f in self.forms if f[1] is list for row in self.lists[k]]
        mine = self.lists[key]
        shared = sum(x is mine for x in self.lists.values()) > 1
        if form[1] is list:
            shared = shared or any(rows.count(id(row)) > 1 for row in mine)
        if shared or id(mine) in rows:
            raise ArgumentError(
                "a list is passed twice, and the function stores to it",
                "pass a copy of it at one place",
            )


def as_array_call(
    args: tuple[Any, ...], kwargs: dict[str, Any], but: Collection[Key]
) -> ArrayCall | None:
    """A call whose lists become arrays; None if there are none. `but` are arguments that stay."""
    positional, named = [*args], kwargs
    lists: dict[Key, Any] = {}
    forms: list[tuple[Key, Form]] = []
    for k, x in enumerate(args):
        if type(x) is list and k not in but and (form_and_array := as_array(x)) is not None:
            form, positional[k] = form_and_array
            lists[k] = x
            forms.append((k, form))
    for name, x in kwargs.items():
        if type(x) is list and name not in but and (form_and_array := as_array(x)) is not None:
            form, array = form_and_array
            named = {**named, name: array}
            lists[name] = x
            forms.append((name, form))
    if not lists or _is_elsewhere(lists, positional, named):
        return None
    return ArrayCall(tuple(positional), named, lists, tuple(forms))


def _is_elsewhere(lists: dict[Key, Any], positional: list[Any], named: dict[str, Any]) -> bool:
    """Whether one of the lists is passed twice, or in a container that is passed, too."""
    if len(set(map(id, lists.values()))) < len(lists):
        return True
    others = [x for x in (*positional, *named.values()) if not isinstance(x, (np.ndarray, *SINGLE))]
    passed_containers = {id(c) for x in others for _, c, _ in containers(x)}
    rows = (row for x in lists.values() if type(x[0]) is list for row in x)
    return bool(passed_containers) and any(
        id(x) in passed_containers for x in (*lists.values(), *rows)
    )


def as_array(x: list[Any]) -> tuple[Form, Any] | None:
    """What a list holds, and arrays of it; None of short ones, and of unlike things."""
    if not x:
        return None
    first = type(x[0])
    if first is list or first is tuple:
        few = sum(map(len, x)) <= SHORT if _are_of_type(x, first) else True
        if few or (first is list and len(set(map(len, x))) > 1):
            return None if few else _of_lists(x)
        return _of_rows(x, first)
    if len(x) <= SHORT or not _is_number(first) or not _are_of_type(x, first):
        return None
    return ((first,), None), np.array(x, PYTHON.get(first, first))


def _of_rows(x: list[Any], kind: type) -> tuple[Form, Any] | None:
    width = len(x[0])
    if not width or any(len(row) != width for row in x):
        return None
    if kind is list:
        first = type(x[0][0])
        alike = _is_number(first) and _are_of_type(itertools.chain.from_iterable(x), first)
        return (((first,), list), np.array(x, PYTHON.get(first, first))) if alike else None
    columns = [*zip(*x, strict=True)]
    kinds = tuple(type(column[0]) for column in columns)
    pairs = [*zip(columns, kinds, strict=True)]
    if not all(_is_number(k) and _are_of_type(column, k) for column, k in pairs):
        return None
    return (kinds, tuple), tuple(np.array(column, PYTHON.get(k, k)) for column, k in pairs)


def _of_lists(x: list[Any]) -> tuple[Form, Any] | None:
    """Lists that are not equally long."""
    flat = [*itertools.chain.from_iterable(x)]
    tuples = type(flat[0]) is tuple and _are_of_type(flat, tuple) and len(set(map(len, flat))) == 1
    columns = [*zip(*flat, strict=True)] if tuples else [flat]
    kinds = tuple(type(column[0]) for column in columns)
    pairs = [*zip(columns, kinds, strict=True)]
    if not columns or not all(_is_number(k) and _are_of_type(column, k) for column, k in pairs):
        return None
    arrays = [np.array(column, PYTHON.get(k, k)) for column, k in pairs]
    form = kinds, "lists of tuples" if tuples else "lists"
    return form, (*arrays, np.array([*map(len, x)], np.int64))


def _are_of_type(items: Iterable[Any], kind: type) -> bool:
    return set(map(type, items)) == {kind}


def _is_number(kind: type) -> bool:
    return kind in PYTHON or (issubclass(kind, np.generic) and np.dtype(kind).kind in "biufc")


def _held_by_list() -> int:
    """How many references to a row are counted where only its list has it."""
    rows: list[list[int]] = [[]]
    return sys.getrefcount(rows[0])


ALONE = _held_by_list()


def _refuse_held_rows(x: list[Any], key: Key) -> None:
    """The caller must not have rows by other names if the function puts them elsewhere."""
    if any(sys.getrefcount(x[k]) > ALONE for k in range(len(x))):
        where = f"argument {key}" if isinstance(key, int) else f"the argument '{key}'"
        raise ArgumentError(
            f"rows of {where} are exchanged or replaced, and the caller has one by another name",
            "pass a copy: copy.deepcopy(...)",
        )


class Listed(Transformed):
    """A function of arrays that stand for lists. It returns the value; the key of the argument that
    is the value, if one is; and what lists hold that it has changed."""

    suffix = "lists"

    def __init__(self, fun: Callable[..., Any], forms: tuple[tuple[Key, Form], ...]) -> None:
        self.forms = forms
        super().__init__(fun)
        self.emitted_name = self.emitted_name.removesuffix("_lists")

    def options(self) -> tuple[Any, ...]:
        return (self.forms,)

    def describe(self) -> str:
        what = "lists as arrays: the value, the argument that it is, what lists now hold"
        return f"{self.emitted_name}, of {what}"

    def stage(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        named: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        given_as = {}
        for key, (kinds, rows) in self.forms:
            columns = (named[key],) if rows is None or rows is list else named[key]
            python = [kind in PYTHON for kind in kinds]
            given_as[key] = given_lists.Given(columns, rows, python)
            named[key] = given_as[key].list
        args = tuple(named[k] for k in range(len(args)))
        value = calling.call_user(self.fun, *args, **{k: named[k] for k in kwargs})
        new = {
            key: (getattr(x.list, "moved", False), x.list)
            for key, x in given_as.items()
            if x.has_changed()
        }
        same = next((key for key, x in given_as.items() if x.list is value), None)
        return None if same is not None else value, same, new


def _stage(inner: Any, call: ArrayCall) -> None:
    """Stages a function of lists that are only read; whatever goes wrong then, it may be that it
    does more with them."""
    try:
        inner.pick(call.args, call.kwargs)
    except Exception as e:
        raise ArgumentError(f"lists are not only read: {e}") from e


class ListFunctions:
    """The functions of arrays that stand for one of lists, by what these hold; None where staging
    fails: each number is an argument there. `shown` is what the last call has run."""

    def __init__(self, jit: Any) -> None:
        self.jit = jit
        self.made: dict[Any, Any] = {}
        self.shown: Specialisation | None = None

    def jit_for(self, forms: Any) -> Any:
        if forms not in self.made:
            jit = self.jit
            inner = self.made[forms] = type(jit)(Listed(jit.fun, forms), jit.asked)
            jit.forms.update(inner.forms)
            inner.forms = jit.forms
        return self.made[forms]

    def as_array_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ArrayCall | None:
        """The arguments with arrays in the place of lists; None if there are none to be made."""
        if list not in map(type, args) and list not in map(type, kwargs.values()):
            return None
        if builder.active() or isinstance(self.jit.fun, Transformed):
            return None
        return as_array_call(args, kwargs, self.jit.static(args, kwargs))

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value of a call with lists that become arrays; MISSED of others."""
        call = self.as_array_call(args, kwargs)
        inner = None if call is None else self.jit_for(call.forms)
        if call is None or inner is None:
            return MISSED
        try:
            if any(isinstance(rows, str) for _, (_, rows) in call.forms):
                _stage(inner, call)
            returned = inner(*call.args, **call.kwargs)
        except TapelessError:
            self.made[call.forms] = None
            return MISSED
        self.shown = inner.last
        return call.put_back(returned, inner.last)

    def pick(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation | None:
        """What is run for such a call; without arguments, for the last."""
        if not args and not kwargs:
            return self.shown
        call = self.as_array_call(args, kwargs)
        inner = None if call is None else self.jit_for(call.forms)
        with contextlib.suppress(TapelessError):
            if call is not None and inner is not None:
                specialisation: Specialisation = inner.pick(call.args, call.kwargs)
                return specialisation
        return None

    def compilations(self) -> list[Any]:
        return [c for inner in self.made.values() if inner is not None for c in inner.compilations]
