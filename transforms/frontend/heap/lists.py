"""Represents lists of the user's program: ordinary lists until a rolled loop appends to them."""

from __future__ import annotations

import dataclasses
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom_of_size, size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.errors import StructureError, UnsupportedError
from tapeless.transforms.frontend.arrays.numpy_scalars import dtype_in_python, python_number
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply, atoms, wrap
from tapeless.transforms.frontend.heap.element_writeback import (
    is_same_element,
    is_same_leaf,
    track_element,
    track_elements,
    track_leaf,
)
from tapeless.transforms.frontend.heap.list_columns import (
    BlockPosition,
    Columns,
    ElementDtypes,
    are_equally_long,
    leaf_columns,
    position,
    replace,
    restart_as_rows,
    to_columns,
)
from tapeless.transforms.frontend.heap.locations import ContentsLocation
from tapeless.transforms.frontend.heap.renewal import read_again
from tapeless.transforms.frontend.heap.stack_arrays import JOINERS, is_empty, join_rows, join_uneven
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.join import convert
from tapeless.transforms.frontend.values.list_elements import (
    forget_positions,
    has_containers,
    join_elements,
    register_append,
    register_element,
    register_store,
    share_elements,
)
from tapeless.transforms.frontend.values.structure import flatten, require_defined, unflatten
from tapeless.transforms.frontend.values.uneven_contents import require_definite
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.ops.primitives import stacks
from tapeless.transforms.ops.primitives.new_arrays import zeros
from tapeless.transforms.ops.primitives.shapes import broadcast_to, cast

NO_LISTS = (tuple, str, bytes, range, dict, set, frozenset)  # to which no list can be added
SMALL = 8  # a list of at most so many known items stays one of Python's


class ChangedError(UnsupportedError):
    """A loop changes the list that it runs over, as run-time values say."""

    def __init__(self) -> None:
        super().__init__(
            "a loop runs over a list in another way than one by one, and changes how long it is",
            "run over a copy, as list(...) makes, or write a while loop",
        )


def _refusal(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"{what} of a list that was filled in a loop", "make it an array with np.array first"
    )


def _class_name(value: Any) -> str:
    return type(value).__name__


def _of_plain(name: str) -> Any:
    """A method of lists that lists with a tail lack."""
    native = getattr(list, name)
    spelling = {"__delitem__": "del of a slice"}

    def method(self: StagedList, *args: Any) -> Any:
        if any(own_attribute(each, "tail") is not None for each in (self, *args)):
            raise _refusal(spelling.get(name, "a comparison"))
        return native(self, *args)

    method.__name__ = name
    return method


class StagedList(list):  # type: ignore[type-arg]
    """A list; with a `tail`, its elements lie in stacks that are known when the program runs."""

    tail: Columns | None = None
    name = ""  # of the first variable that held it
    stands_for: type = list
    rows_key: Any = None  # where empty lists in a list were made
    grows_key: Any = None  # where an empty list was made
    taken_from: Any = None  # what a loop over it runs over in truth
    traits: tuple[Any, ...] = ()  # what lists of one kind differ in, besides their elements
    run_over: ClassVar[Callable[..., None]]  # a loop; set by the module of loops, which need lists

    def with_items(self, items: Iterable[Any]) -> StagedList:
        """One of the same kind, with these items."""
        return type(self)(items)

    def with_rows(self, element: Any, columns: list[Any], weak: tuple[bool, ...]) -> StagedList:
        """One of the same kind, whose items are the rows of these columns."""
        return from_arrays(element, columns, weak, type(self))

    def with_stacks(self, like: Columns, stack_symbols: list[Symbol]) -> StagedList:
        """One of the same kind, whose elements lie in these stacks, as those of `like` do."""
        result: StagedList = trace().born(self.with_items(()))
        result.tail = like.with_stacks(stack_symbols)
        return result

    def of_python(self, items: list[Any]) -> Any:
        """What the user gets: one of Python's own, with these items."""
        return items

    def append(self, value: Any) -> None:
        require_definite(self)
        if self.tail is None:
            super().append(value)
            return
        spec = self.tail.with_numbers(require_defined(flatten(value)), self)
        self.fit(spec)
        for symbol, leaf in zip(self.tail.stacks, leaf_columns(spec), strict=True):
            replace(symbol, stacks.push(symbol.value(), leaf), moves=False)
        self.tail.hold(spec)
        register_append(self, value)
        self.tail.log.append((trace().journals[-1], 1))
        track_elements(self, spec, None)
        if self.tail.length is not None:
            self.tail.length = self.tail.length + 1

    def fit(self, spec: Any) -> None:
        """Refuses what is built in another way than the elements; a list of lists that are not as
        long as one another is made anew, as rows."""
        assert self.tail is not None
        try:
            self.tail.check(spec)
        except StructureError:
            restart_as_rows(self, spec)
            raise

    def length(self) -> Any:
        require_definite(self)
        if self.tail is None:
            return len(self)
        n = self.tail.length
        return wrap(
            stacks.stack_length(self.tail.stacks[0].value()) if n is None else atom_of_size(n)
        )

    def arrays(self) -> list[Any]:
        """The leaves of all elements, stacked along axis 0."""
        tail = self.tail
        assert tail is not None
        present = [symbol.value() for symbol in tail.stacks]
        if tail.made is not None:
            before, place, arrays = tail.made
            if place.is_open() and all(p is q for p, q in zip(present, before, strict=True)):
                return [wrap(a) for a in arrays]
        size = dims.symbol("n", 0) if tail.length is None else tail.length
        arrays = [stacks.to_array(p, size=size) for p in present]
        tail.made = (present, BlockPosition(), arrays)
        return [wrap(a) for a in arrays]

    def stack_elements(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        """What np.stack and its kin make of it; None for other functions, and without a tail."""
        if self.tail is None or func not in JOINERS:
            return None
        if self.tail.spec.kind != "leaf":  # of tuples: an array of all of them
            return join_rows(func, wrap(self.as_atom()), *args, **kwargs)
        if (concatenated := join_uneven(func, self.tail.stacks[0], *args, **kwargs)) is not None:
            return concatenated
        return join_rows(func, self.number_arrays()[0], *args, **kwargs)

    def number_arrays(self) -> list[Any]:
        """What np.array makes of the leaves of all elements."""
        assert self.tail is not None
        pairs = [(a, self.tail.numbers.of_array(k)) for k, a in enumerate(self.arrays())]
        return [a if a.dtype == dtype else wrap(cast(a.value(), dtype=dtype)) for a, dtype in pairs]

    def columns(self) -> list[StagedList] | None:
        """Of tuples from a loop, a list for each place in them."""
        if self.tail is None or not isinstance(self.tail.spec.value, (list, tuple)):
            return None
        arrays = iter(self.arrays())
        parts = self.tail.spec.children
        weak = iter([t.weak for t in self.tail.items])
        return [
            from_arrays(c, [next(arrays) for _ in c.leaves()], [next(weak) for _ in c.leaves()])
            for c in parts
        ]

    def as_atom(self) -> Any:
        if self.tail is None:
            return [atoms(v) for v in self]
        arrays = iter(self.number_arrays())

        def build(spec: Any) -> Any:
            if spec.kind == "leaf":
                return next(arrays)
            if not issubclass(spec.kind, (list, tuple)):
                raise UnsupportedError(
                    f"a list of {spec.kind.__name__} objects cannot become one array",
                    "append each part to a list of its own",
                )
            return apply(FUNCTIONS[np.stack], [build(c) for c in spec.children], axis=1)

        array: Atom = build(self.tail.spec).value()
        rows = array.type.ndim > 1  # NumPy does not know how long they would have been
        if rows and is_empty(array.type.shape[0]):
            return zeros(shape=(0,), dtype=np.dtype(float))
        return array

    def element(self, k: Any) -> Any:
        assert self.tail is not None
        at, within, ragged = position(k), self.tail.inside, self.tail.ragged

        def build(spec: Any, leaves: Any) -> Any:
            if spec.kind != "leaf":
                return unflatten(spec, [build(c, leaves) for c in spec.children])
            stack = next(leaves)
            value = stacks.peek(stack.value(), at)
            is_list = own_attribute(spec.value, "listing") is not None and not ragged
            if is_list and are_equally_long(stack.type.item):
                value.type = stack.type.item
            value_symbol = wrap(value)
            if value_symbol.type.shape:
                trace().memory.share(value_symbol.cell, trace().memory.holding(stack.cell))
                track_element(self, value_symbol, stack, at)
            as_list = as_list_like(value_symbol, spec.value)
            if isinstance(as_list, StagedList) and as_list.tail is not None:
                as_list.tail.inside = [stack.cell, *within]
            return as_list

        item = build(self.tail.spec, iter(self.tail.stacks))
        if not isinstance(item, Symbol):
            register_element(self, item, self.length() + k if isinstance(k, int) and k < 0 else k)
        return item

    def renew(self, element: Any) -> None:
        """Gives a container that was taken from the list what the list has in its place now."""
        read_again(element.whole, self.element(element.place))

    def __setitem__(self, k: Any, value: Any) -> None:
        require_definite(self)
        if self.tail is None:
            super().__setitem__(k, value)
            return
        if isinstance(k, slice):
            if k != slice(None):
                raise _refusal("the store to a slice")
            self.refill(value)
            return
        at = position(k)
        if is_same_element(self, value, at):
            return
        spec = self.tail.with_numbers(require_defined(flatten(value)), self)
        self.tail.check(spec, stored=True)
        values = [*spec.leaf_values()] or [None]
        for symbol, leaf, part in zip(self.tail.stacks, leaf_columns(spec), values, strict=True):
            if not is_same_leaf(self, symbol, part, leaf, at):
                replace(symbol, stacks.set_item(symbol.value(), at, leaf))
                self.tail.hold_leaf(symbol, part)
                track_leaf(self, symbol, part, at)
        register_store(self, value, k)

    def refill(self, values: Any) -> None:
        """self[:] = values."""
        assert self.tail is not None
        if isinstance(values, Symbol):
            values = from_arrays(flatten(values[0]), [values])
        tail = values.tail if isinstance(values, StagedList) else None
        if tail is None:
            values = list(values)
            self.clear()
            self.extend(values)
            return
        self.tail.check(self.tail.with_numbers(tail.spec, self))
        self.tail.fit(tail.items)
        self.tail.numbers.update(tail.numbers)
        for symbol, other in zip(self.tail.stacks, tail.stacks, strict=True):
            replace(symbol, other.value())
            trace().memory.hold(symbol.cell, trace().memory.holding(other.cell))
        self.relog(tail.length)

    def relog(self, length: Size | None) -> None:
        """Gives the list a length that is no sum of appends and pops."""
        assert self.tail is not None
        self.tail.log.append((trace().journals[-1], None))
        self.tail.length = length
        forget_positions(self)

    def clear(self) -> None:
        if self.tail is None:
            super().clear()
            return
        for symbol in self.tail.stacks:
            replace(symbol, stacks.new_stack(item=symbol.type.item))  # type: ignore[attr-defined]
        self.relog(0)

    def reverse(self) -> None:
        if self.tail is None:
            super().reverse()
        else:
            self.refill(self.part(slice(None, None, -1)))

    def __getitem__(self, key: Any) -> Any:
        require_definite(self)
        if self.tail is None:
            item = super().__getitem__(key)
            return trace().born(StagedList(item)) if isinstance(key, slice) else item
        return self.part(key) if isinstance(key, slice) else self.element(key)

    def part(self, key: slice) -> StagedList:
        assert self.tail is not None
        if self.tail.is_uneven():
            return self.elements_at(apply(FUNCTIONS[np.arange], self.length())[key])
        result = self.rows([a[key] for a in self.arrays()])
        share_elements(self, result)
        return result

    def elements_at(self, places: Symbol) -> StagedList:
        """The elements at these places, one by one."""
        result = trace().born(StagedList())
        fill(result, self, places)
        return result  # type: ignore[no-any-return]

    def rows(self, arrays: list[Any]) -> StagedList:
        """A list of elements like those of this one, whose leaves are the rows of these arrays."""
        assert self.tail is not None
        result = from_arrays(self.tail.spec, arrays, [t.weak for t in self.tail.items])
        assert result.tail is not None
        result.tail.numbers = self.tail.numbers.copy()
        for old, new in zip(self.tail.stacks, result.tail.stacks, strict=True):
            trace().memory.hold(new.cell, trace().memory.holding(old.cell))
        return result

    def __len__(self) -> int:
        require_definite(self)
        if self.tail is None:
            return super().__len__()
        return int(self.length())

    def __iter__(self) -> Any:
        if self.tail is None:
            return self.run_through(range(sys.maxsize))
        return iter([self.element(k) for k in range(len(self))])

    def run_through(self, places: range) -> Iterator[Any]:
        """The items at these places, as long as there are any; each is read when its turn comes."""
        for k in places:
            require_definite(self)
            if k >= list.__len__(self):
                return
            yield list.__getitem__(self, k)
            if self.tail is not None:
                raise ChangedError

    def __bool__(self) -> bool:
        require_definite(self)
        return bool(self.length() > 0) if self.tail is not None else super().__len__() > 0

    def pop(self, k: Any = -1) -> Any:
        require_definite(self)
        if self.tail is None:
            return super().pop(k)
        if isinstance(k, int) and k == 0:
            first = self.element(0)
            self.refill(self.part(slice(1, None)))
            return first
        if not isinstance(k, int) or k != -1:
            raise _refusal("pop from the middle")

        def build(spec: Any, stack_symbols: Any) -> Any:
            if spec.kind == "leaf":
                symbol = next(stack_symbols)
                rest, value = stacks.pop_of_list.bind(symbol.value())
                replace(symbol, rest)
                return as_list_like(wrap(value), spec.value)
            return unflatten(spec, [build(c, stack_symbols) for c in spec.children])

        remaining = iter(self.tail.stacks)
        last = build(self.tail.spec, remaining)
        for flag in remaining:
            replace(flag, stacks.pop_of_list.bind(flag.value())[0])
        self.tail.log.append((trace().journals[-1], -1))
        forget_positions(self)
        if self.tail.length is not None:
            self.tail.length = self.tail.length - 1
        return last

    def extend(self, values: Any) -> None:
        if getattr(values, "pushes", False) or (self.traits and _is_long_by_data(values)):
            append_each(self, values)
            return
        if own_attribute(values, "tail") is None or self.traits:
            for v in list(values) if values is self else values:
                self.append(v)
            return
        if self.tail is None:
            to_columns(self, values.tail.spec)
        assert self.tail is not None
        self.tail.check(self.tail.with_numbers(values.tail.spec, self))
        self.tail.fit(values.tail.items)
        self.tail.numbers.update(values.tail.numbers)
        if self.tail.is_uneven() or values.tail.is_uneven():
            fill(self, values.copy(), apply(FUNCTIONS[np.arange], values.length()))
            return
        pairs = zip(self.arrays(), values.arrays(), strict=True)
        concatenated = [apply(FUNCTIONS[np.concatenate], pair) for pair in pairs]
        self.refill(self.rows(concatenated))
        join_elements(self, values)

    def __iadd__(self, values: Any) -> StagedList:
        self.extend(values)
        return self

    def __add__(self, other: Any) -> StagedList:
        if isinstance(other, NO_LISTS):
            raise TypeError(f'can only concatenate list (not "{_class_name(other)}") to list')
        result = self.copy()
        if self.tail is None and own_attribute(other, "tail") is not None:
            to_columns(result, other.tail.spec)
        result.extend(other)
        return result

    def __radd__(self, other: Any) -> StagedList:
        if isinstance(other, NO_LISTS):
            name = _class_name(other)
            if not isinstance(other, (tuple, str)):
                return NotImplemented
            raise TypeError(f'can only concatenate {name} (not "list") to {name}')
        return trace().born(StagedList(other)) + self  # type: ignore[no-any-return]

    def __mul__(self, n: Any) -> StagedList:
        if self.is_table(n):
            trace().decisions.tabled = True
            return self.repeat_element(n)
        if isinstance(n, Symbol) and len(self) == 1:
            spec = flatten(self[0])
            if list(spec.leaves()) and not has_containers(spec):  # else all would be one
                return self.repeat_element(trace().length(0, size_of(n.value())))
            if self[0] is None and not trace().tracing:
                site = trace().next_list("None")
                if site not in trace().decisions.unlike:
                    return self.repeat_element(trace().length(0, size_of(n.value())), site)
        result: StagedList = trace().born(StagedList(list.__mul__(self, n)))
        for _ in range(operator.index(n) if self.tail is not None else 0):
            result = result + self
        return result

    __rmul__ = __mul__

    def is_table(self, n: Any) -> bool:
        """Whether it is a float that is repeated often: loops are to store to the items."""
        alone = self.tail is None and type(n) is int and n > SMALL and list.__len__(self) == 1
        return alone and type(list.__getitem__(self, 0)) is float and trace().decisions.tables

    def repeat_element(self, n: Size, site: Any = None) -> StagedList:
        """The only element n times; `site`: where, if others that are built in another way may be
        stored in their places."""
        spec = flatten(self[0])
        leaves = leaf_columns(spec)
        columns = [broadcast_to(leaf, shape=(n, *leaf.type.shape)) for leaf in leaves]
        result = _with_tail(spec, columns, [leaf.type.weak for leaf in leaves])
        assert result.tail is not None
        result.tail.site = site
        return result

    def __reversed__(self) -> Any:
        if self.tail is None:
            return self.run_through(range(len(self) - 1, -1, -1))
        return (self.element(k) for k in range(len(self) - 1, -1, -1))

    def copy(self) -> StagedList:
        share_elements(self, copied := self.duplicate())
        return copied

    def duplicate(self) -> StagedList:
        require_definite(self)
        result = self.with_items(list.copy(self) if self.tail is None else ())
        result.tail = self.tail and self.tail.copy()
        return trace().born(result)  # type: ignore[no-any-return]

    def __deepcopy__(self, memo: Any) -> StagedList:
        result = self.duplicate()
        list.__setitem__(result, slice(None), [deepcopy(x, memo) for x in list.__iter__(result)])
        return result

    __delitem__, __eq__, __lt__, __gt__ = map(
        _of_plain, ("__delitem__", "__eq__", "__lt__", "__gt__")
    )
    __hash__ = None


StagedList.__name__ = "list"  # as errors of Python say it


def from_arrays(
    spec: Any, arrays: list[Any], weak: Iterable[bool] = (), kind: Any = None, like: Any = None
) -> StagedList:
    """A list of the rows of arrays, one for each leaf of an element; `weak`: which of these are
    numbers of Python's; `like`: the tail of a list that it stands for."""
    values = [a.value() for a in arrays]
    result = _with_tail(spec, values, [*weak] or [False] * len(values), kind or StagedList)
    assert result.tail is not None
    if like is not None:
        result.tail.exact, result.tail.numbers = like.exact, like.numbers.copy()
    present = [symbol.value() for symbol in result.tail.stacks]
    result.tail.made = (present, BlockPosition(), values)
    return result


def taken_from(items: Any, source: Any) -> Any:
    """A sequence of what an object has, which must not grow while a loop runs over it."""
    mark = StagedList()
    mark.taken_from = source, 0
    return dataclasses.replace(items, lists=(*items.lists, mark))


def numbers_of(x: Symbol) -> StagedList | None:
    """x.tolist() of an array with one axis, as a list that is not written out; None of others."""
    shape = x.type.shape
    if len(shape) != 1 or (isinstance(shape[0], int) and shape[0] <= SMALL):
        return None
    dtype = dtype_in_python(x.type.dtype)
    numbers: Any = x if dtype == x.type.dtype else x.astype(dtype)
    number = python_number(numbers[0])  # uint64 stays NumPy's: Python's numbers of 64 bits are less
    return from_arrays(require_defined(flatten(number)), [numbers], [number.type.weak])


def fill(target: StagedList, source: StagedList, places: Symbol) -> None:
    """Appends elements of a list, in a loop."""
    append_each(target, places, source.element)


def append_each(
    target: StagedList, items: Any, element: Callable[[Any], Any] = lambda item: item
) -> None:
    """Appends an element for each item, in a loop of the program."""

    def body(item: Any) -> None:
        trace().touch(ContentsLocation(target))
        target.append(element(item))

    place = trace().place()
    if place is not None:
        body.__code__ = body.__code__.replace(co_filename=place.file, co_firstlineno=place.line)
    target.run_over(items, body, SimpleNamespace(), None, "")


def _is_long_by_data(items: Any) -> bool:
    """Whether it is a list whose length is known when the program runs."""
    return own_attribute(items, "tail") is not None and isinstance(items.length(), Symbol)


def as_list(x: Any) -> Any:
    """The list that an array stands for; other values as they are."""
    tail = own_attribute(x, "listing")
    return (
        x if tail is None else from_arrays(tail.spec, [x], [t.weak for t in tail.items], like=tail)
    )


def as_list_like(symbol: Symbol, like: Any) -> Any:
    """An array that was taken from a list, as the list that it stands for if `like` does."""
    symbol.listing = own_attribute(like, "listing")
    return as_list(symbol)


def _with_tail(
    spec: Any, columns: list[Atom], weak: list[bool], cls: Any = StagedList
) -> StagedList:
    t, key = trace(), trace().next_list()
    types = [Type(a.type.dtype, a.type.shape[1:], w) for a, w in zip(columns, weak, strict=True)]
    many = [
        Symbol(stacks.unstack(convert(a, item.with_shape(a.type.shape)), weak=item.weak))
        for a, item in zip(columns, t.decisions.widen_types(key, types), strict=True)
    ]
    result: StagedList = t.born(cls())
    result.tail = Columns(spec, many, key)
    result.tail.numbers = ElementDtypes(types)
    result.tail.length = columns[0].type.shape[0]
    return result
