"""Writes what a driver does with lists: arrays of `room` numbers, items one after another.

saved = []; saved.append(x)      becomes      i64 saved_top = 0;
                                              if ((saved_top + 1) * 3 > room) return 1;
                                              for (i64 i = 0; i < 3; i++) ...
                                              saved_top++;

Items that are not equally long have a table beside them of where each begins. What is read of a
list is copied: the list may change before it is used.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from tapeless.transforms.c.driver_scope import stored_dtype
from tapeless.transforms.c.growing_lists import ROOM, TOO_LONG
from tapeless.transforms.c.index_arrays import IndexArrays
from tapeless.transforms.c.strided import Strided, product_of, row_strides, sum_of
from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.expressions import ExpressionPrinter, product
from tapeless.transforms.c_text.statements import Error
from tapeless.transforms.c_text.values import (
    POSTFIX,
    SHIFT,
    UNARY,
    CValue,
    NotPrintedError,
    c_type,
    cast,
    constant,
)
from tapeless.transforms.core.language import Atom, Let, StackType, Type, Var
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.obstacles import library_of
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT, Dtype
from tapeless.transforms.ops.primitives import new_arrays, shapes, stacks

NO_ITEM: Error = ("IndexError", ("list index out of range",))
EMPTY: Error = ("IndexError", ("pop from empty list",))
OTHER_LENGTH: Error = ("ValueError", ("operands could not be broadcast together",))
ONE = constant(1)


@dataclass(frozen=True)
class ListInC:
    """A list in C.

    memory   where its numbers are
    top      the name of how many items it has
    lengths  those of an item; without the first one if that differs from item to item
    starts   the name of the table of where items begin, counted in numbers; "" if they are equally
             long
    """

    memory: str
    top: str
    dtype: Dtype
    lengths: tuple[CValue, ...]
    starts: str = ""

    @property
    def count(self) -> CValue:
        """How many items there are."""
        return CValue(self.top, INT, natural=True)

    def place(self, k: CValue) -> CValue:
        """Where an item begins, or, of the count, how many numbers there are."""
        if self.starts:
            return CValue(f"{self.starts}[{k.text}]", INT, POSTFIX, natural=True)
        return product_of(k, product(self.lengths))


class DriverLists(IndexArrays):
    """Lists outside of kernels."""

    def __init__(self, taken: set[str]) -> None:
        super().__init__(taken)
        self.lists: dict[Var, ListInC] = {}

    def list_of(self, a: Atom) -> ListInC:
        if not isinstance(a, Var) or a not in self.lists:
            raise NotPrintedError("a list outside of kernels")
        return self.lists[a]

    def new_list(self, kind: StackType, name: str) -> ListInC:
        """Memory for a list, which is empty. Lists in it are items that are not equally long."""
        item, starts = kind.item, ""
        of_lists = isinstance(item, StackType)
        if isinstance(item, StackType):
            item = item.item
        if not isinstance(item, Type) or stored_dtype(item).kind not in "biuf":
            raise NotPrintedError("a list of lists of lists, or of what is no number,")
        lengths = self.lengths_of_items(item)
        if of_lists and len(lengths) < len(item.shape):
            raise NotPrintedError("a list of lists of arrays of several lengths")
        memory = self.allocate(name or "saved", stored_dtype(item), (ROOM,))
        top = self.fresh(f"{memory}_top")
        self.put(f"i64 {top} = 0;")
        self.variable.add(top)
        if of_lists or len(lengths) < len(item.shape):
            starts = self.allocate(f"{memory}_starts", INT, (ROOM,))
            self.put(f"if (room < 1) return {self.code(TOO_LONG)};")
            self.put(f"{starts}[0] = 0;")
        return ListInC(memory, top, stored_dtype(item), lengths, starts)

    def lengths_of_items(self, item: Type) -> tuple[CValue, ...]:
        """The lengths that all items have: all of them, or all but the first."""
        for first in (0, 1):
            try:
                lengths = self.lengths_of(item.shape[first:])
            except NotPrintedError:
                continue
            if self.is_known(lengths):
                return lengths
        raise NotPrintedError("a list of arrays of several lengths")

    def list_operation(self, s: Let) -> None:
        out = s.outs[0]
        match s.op:
            case new_arrays.new_stack:
                self.lists[out] = self.new_list(out.type, out.name)
            case stacks.push:
                self.push(self.list_of(s.args[0]), s.args[1], s)
                self.lists[out] = self.list_of(s.args[0])
            case stacks.pop | stacks.pop_of_list:
                self.pop(self.list_of(s.args[0]), s)
            case stacks.peek:
                items = self.list_of(s.args[0])
                self.read_item(items, self.item_place(items, s), s.outs[0], s)
            case stacks.set_item | stacks.add_item:
                self.put_item(self.list_of(s.args[0]), s)
            case stacks.shift:
                self.shift(self.list_of(s.args[0]), s)
            case stacks.unshift:
                self.unshift(self.list_of(s.args[0]), s)
            case stacks.to_array:
                self.as_array(self.list_of(s.args[0]), s)
            case stacks.clear | stacks.refill | stacks.refill_zeros | stacks.add_items:
                self.lists[out] = self.list_of(s.args[0])
                self.refill(self.lists[out], s)
            case new_arrays.zero_items:
                self.lists[out] = self.new_list(out.type, out.name)
                self.zeros(self.lists[out], s.args[0], s)
            case stacks.add_stacks:
                self.sums(self.list_of(s.args[0]), self.list_of(s.args[1]), s)
            case stacks.split_items if s.params["axis"] == 0:
                self.split(self.view(s.args[0]), self.list_of(s.args[1]), s)
            case stacks.unstack:
                self.rows(self.view(s.args[0]), s)
            case stacks.concatenate_items if s.params["axis"] == 0:
                self.joined_items(self.list_of(s.args[0]), s)
            case new_arrays.zeros_of_items:
                self.lists[out] = self.new_list(out.type, out.name)
                self.copy_list(self.list_of(s.args[0]), self.lists[out], zero=True)
            case new_arrays.stack_length:
                self.set(out, self.list_of(s.args[0]).count, s)
            case shapes.copy:
                self.lists[out] = self.new_list(out.type, out.name)
                self.copy_list(self.list_of(s.args[0]), self.lists[out])
            case _:
                raise NotPrintedError(f"{library_of(s)[1]} of a list")

    def push(self, items: ListInC, a: Atom, s: Let | None) -> None:
        """One more item, if there is room."""
        count, lengths = items.count, self.numbers_of(a).lengths if has_memory(a) else ()
        if not self.are_equal_lengths(lengths[bool(items.starts) :], items.lengths):
            raise NotPrintedError("a list of arrays of several lengths")
        size = product(lengths)
        after = arithmetic.binary(ast.Add(), count, ONE)
        end = sum_of(items.place(count), size) if items.starts else items.place(after)
        tests = [arithmetic.compare(ast.Gt(), end, ROOM)]
        if items.starts:
            tests.append(arithmetic.compare(ast.GtE(), after, ROOM))
        self.put(
            f"if ({ExpressionPrinter.and_or(False, tests).text}) return {self.code(TOO_LONG)};", s
        )
        if items.starts:
            self.put(f"{items.starts}[{after.text}] = {end.text};")
        self.store_item(items, count, a)
        self.put(f"{items.top}++;")

    def numbers_of(self, a: Atom) -> Strided:
        """The numbers of an array, or of a list that is an item of another."""
        if not isinstance(a.type, StackType):
            return self.view(a)
        items = self.list_of(a)
        if items.starts:
            raise NotPrintedError("a list of lists of arrays of several lengths")
        return Strided.row_by_row(items.memory, items.dtype, (items.count, *items.lengths))

    def item(self, items: ListInC, k: CValue, lengths: tuple[CValue, ...]) -> Strided:
        """An item, where it is."""
        return Strided(items.memory, items.dtype, lengths, row_strides(lengths), items.place(k))

    def store_item(self, items: ListInC, k: CValue, a: Atom) -> None:
        """An item gets another value, which is as long."""
        if has_memory(a):
            view = self.numbers_of(a)
            self.copy(view, self.item(items, k, view.lengths))
        else:
            place = self.item(items, k, ()).element(constant(0))
            self.put(f"{place} = {cast(self.number(a), items.dtype).text};")

    def read_item(self, items: ListInC, k: CValue, v: Var, s: Let | None) -> None:
        """A copy of an item."""
        if not has_memory(v):
            place = self.item(items, k, ()).element(constant(0))
            self.set(v, CValue(place, items.dtype, POSTFIX), s)
            return
        lengths = items.lengths
        if items.starts:
            after = arithmetic.binary(ast.Add(), k, ONE)
            count = arithmetic.binary(ast.Sub(), items.place(after), items.place(k))
            rest = product(lengths)
            if rest.known != 1:
                count = arithmetic.binary(ast.FloorDiv(), replace(count, natural=True), rest)
            name = self.fresh(f"{v.name or 'item'}_length")
            self.put(f"const i64 {name} = {count.text};", s)
            lengths = (CValue(name, INT, natural=True), *lengths)
        if isinstance(v.type, StackType):
            self.lists[v] = self.new_list(v.type, v.name)
            self.put(f"{self.lists[v].top} = {lengths[0].text};")
            self.copy(self.item(items, k, lengths), self.numbers_of(v))
            return
        self.copy(self.item(items, k, lengths), self.make(v, lengths), s)

    def item_place(self, items: ListInC, s: Let) -> CValue:
        """The index of an item, counted from the start, after the test that there is one."""
        k, n = cast(self.number(s.args[1]), INT), items.count
        if isinstance(k.known, int):
            outside = arithmetic.compare(ast.Lt(), n, constant(max(k.known + 1, -k.known)))
        else:
            outside = arithmetic.compare(ast.GtE(), k, n)
            if not k.natural:
                below = arithmetic.compare(ast.Lt(), k, arithmetic.unary(ast.USub(), n))
                outside = ExpressionPrinter.and_or(False, [below, outside])
        self.put(f"if ({outside.text}) return {self.code(NO_ITEM)};", s)
        return self.from_start(k, n)

    def pop(self, items: ListInC, s: Let) -> None:
        self.put(f"if ({items.top} == 0) return {self.code(EMPTY)};", s)
        self.put(f"{items.top}--;")
        self.read_item(items, items.count, s.outs[1], None)
        self.lists[s.outs[0]] = items

    def put_item(self, items: ListInC, s: Let) -> None:
        """Another item in the place of one, or added to it."""
        k, value = self.item_place(items, s), s.args[2]
        if s.op is stacks.add_item:
            self.add_to_item(items, k, value)
        else:
            if items.starts:
                self.make_space(items, k, product(self.numbers_of(value).lengths))
            self.store_item(items, k, value)
        self.lists[s.outs[0]] = items

    def make_space(self, items: ListInC, k: CValue, size: CValue) -> None:
        """An item gets so many numbers: those behind it move."""
        after = arithmetic.binary(ast.Add(), k, ONE)
        old = arithmetic.binary(ast.Sub(), items.place(after), items.place(k))
        more, last = self.fresh("more"), items.place(items.count)
        moved = arithmetic.binary(ast.Sub(), last, items.place(after))
        place = f"{items.memory} + {items.place(after).text}"
        self.put(f"const i64 {more} = {arithmetic.binary(ast.Sub(), size, old).text};")
        self.put(f"if ({last.text} + {more} > {ROOM.text}) return {self.code(TOO_LONG)};")
        size_of = f"sizeof({c_type(items.dtype)})"
        self.put(f"memmove({place} + {more}, {place}, {moved.operand(UNARY)} * {size_of});")
        j = self.fresh("j")
        self.put(
            f"for (i64 {j} = {after.text}; {j} <= {items.top}; {j}++) "
            f"{items.starts}[{j}] += {more};"
        )
        self.taken.discard(j)

    def sums(self, items: ListInC, others: ListInC, s: Let) -> None:
        """The items of two lists, added; as many as the shorter one has."""
        out = s.outs[0]
        if bool(items.starts) != bool(others.starts) or items.dtype != others.dtype:
            raise NotPrintedError("a sum of lists of several kinds")
        total = self.lists[out] = self.new_list(out.type, out.name)
        self.copy_list(items, total)
        self.put(f"if ({others.top} < {total.top}) {total.top} = {others.top};")
        self.add(total, others, s)

    def add(self, items: ListInC, others: ListInC, s: Let) -> None:
        """Adds the items of another list, of which there are as many."""
        k = self.fresh("k")
        head = f"for (i64 {k} = 0; {k} < {items.place(items.count).operand(SHIFT)}; {k}++)"
        self.put(f"{head} {items.memory}[{k}] += {others.memory}[{k}];", s)
        self.taken.discard(k)

    def split(self, x: Strided, like: ListInC, s: Let) -> None:
        """An array in parts that are as long as the items of a list."""
        out = s.outs[0]
        if x.dtype.kind not in "biuf":
            raise NotPrintedError("a list of what is no number")
        parts = self.lists[out] = self.new_list(out.type, out.name)
        self.copy_list(like, parts, zero=True)
        self.copy(x, Strided.row_by_row(parts.memory, parts.dtype, x.lengths), s)

    def add_to_item(self, items: ListInC, k: CValue, a: Atom) -> None:
        if not has_memory(a):
            place = self.item(items, k, ()).element(constant(0))
            self.put(f"{place} += {cast(self.number(a), items.dtype).text};")
            return
        view = self.numbers_of(a)
        to = self.item(items, k, view.lengths if items.starts else items.lengths)
        if items.starts:
            after = items.place(arithmetic.binary(ast.Add(), k, ONE))
            end = arithmetic.binary(ast.Add(), items.place(k), product(view.lengths))
            self.put(f"if ({end.text} != {after.text}) return {self.code(OTHER_LENGTH)};")
        if view.dtype != to.dtype or not self.are_equal_lengths(view.lengths, to.lengths):
            raise NotPrintedError("an addition to an item of a list")
        self.loop_over_elements(
            *(view.lengths, (to.strides, view.strides)),
            lambda at: f"{to.element(at[0])} += {view.element(at[1])};",
            None,
        )

    def shift(self, items: ListInC, s: Let) -> None:
        """The other items move to the front."""
        if items.starts:
            raise NotPrintedError("the removal of the first of arrays of several lengths")
        count, k = cast(self.number(s.args[1]), INT), self.fresh("k")
        n = arithmetic.binary(ast.Sub(), items.count, count)
        size, at = product(items.lengths), CValue(k, INT, natural=True)
        moved, end = product_of(count, size), product_of(n, size)
        place, source = (f"{items.memory}[{x.text}]" for x in (at, sum_of(at, moved)))
        self.put(f"for (i64 {k} = 0; {k} < {end.operand(SHIFT)}; {k}++) {place} = {source};", s)
        self.put(f"{items.top} = {n.text};")
        self.taken.discard(k)
        self.lists[s.outs[0]] = items

    def unshift(self, items: ListInC, s: Let) -> None:
        """Zeros come in front of the items, which move to the back."""
        if items.starts:
            raise NotPrintedError("zeros in front of arrays of several lengths")
        count, k = cast(self.number(s.args[1]), INT), self.fresh("k")
        end = items.place(arithmetic.binary(ast.Add(), items.count, count))
        test = arithmetic.compare(ast.Gt(), end, ROOM)
        self.put(f"if ({test.text}) return {self.code(TOO_LONG)};", s)
        zeros, held = items.place(count), items.place(items.count)
        size_of = f"sizeof({c_type(items.dtype)})"
        target = f"{items.memory} + {zeros.operand(SHIFT)}"
        self.put(f"memmove({target}, {items.memory}, {held.operand(UNARY)} * {size_of});")
        zero = constant(0, items.dtype).text
        head = f"for (i64 {k} = 0; {k} < {zeros.operand(SHIFT)}; {k}++)"
        self.put(f"{head} {items.memory}[{k}] = {zero};")
        self.put(f"{items.top} += {count.text};")
        self.taken.discard(k)
        self.lists[s.outs[0]] = items

    def as_array(self, items: ListInC, s: Let) -> None:
        """The items as an array."""
        if items.starts:
            raise NotPrintedError("an array of items of several lengths")
        out = s.outs[0]
        name = self.fresh(f"{out.name or 't'}_length")
        self.put(f"const i64 {name} = {items.top};", s)
        lengths = (CValue(name, INT, natural=True), *items.lengths)
        whole = Strided.row_by_row(items.memory, items.dtype, lengths)
        self.copy(whole, self.make(out, lengths))

    def zeros(self, items: ListInC, count: Atom, s: Let) -> None:
        """So many items, all zero."""
        if items.starts:
            raise NotPrintedError("a list of arrays of several lengths")
        self.set_count(items, arithmetic.extreme("max", [self.number(count), constant(0)]), s)
        self.set_all(items, constant(0, items.dtype).text)

    def refill(self, items: ListInC, s: Let) -> None:
        """Other items in the place of those of a list, or added to them."""
        match s.op:
            case stacks.clear:
                self.put(f"{items.top} = 0;", s)
            case stacks.refill:
                self.copy_list(self.list_of(s.args[1]), items)
            case stacks.refill_zeros:
                self.zeros(items, s.args[1], s)
            case _:
                self.add(items, self.list_of(s.args[1]), s)

    def set_count(self, items: ListInC, count: CValue, s: Let) -> None:
        """A list has so many items, if there is room."""
        test = arithmetic.compare(ast.Gt(), items.place(cast(count, INT)), ROOM)
        self.put(f"{items.top} = {count.text};", s)
        self.put(f"if ({test.text}) return {self.code(TOO_LONG)};")

    def set_all(self, items: ListInC, text: str) -> None:
        """All numbers of a list, of which `{k}` is the place."""
        k = self.fresh("k")
        head = f"for (i64 {k} = 0; {k} < {items.place(items.count).operand(SHIFT)}; {k}++)"
        self.put(f"{head} {items.memory}[{k}] = {text.format(k=k)};")
        self.taken.discard(k)

    def rows(self, x: Strided, s: Let) -> None:
        """The rows of an array as items."""
        out = s.outs[0]
        items = self.new_list(out.type, out.name)
        if items.starts or not self.are_equal_lengths(items.lengths, x.lengths[1:]):
            raise NotPrintedError("a list of arrays of several lengths")
        self.set_count(items, x.lengths[0], s)
        self.copy(x, Strided.row_by_row(items.memory, items.dtype, x.lengths))
        self.lists[out] = items

    def joined_items(self, items: ListInC, s: Let) -> None:
        """All items one after another, as an array."""
        lengths = items.lengths if items.starts else items.lengths[1:]
        numbers, rest = items.place(items.count), product(lengths)
        if rest.known != 1:
            numbers = arithmetic.binary(ast.FloorDiv(), replace(numbers, natural=True), rest)
        name = self.fresh(f"{s.outs[0].name or 't'}_length")
        self.put(f"const i64 {name} = {numbers.text};", s)
        lengths = (CValue(name, INT, natural=True), *lengths)
        whole = Strided.row_by_row(items.memory, items.dtype, lengths)
        self.copy(whole, self.make(s.outs[0], lengths))

    def copy_list(self, items: ListInC, to: ListInC, zero: bool = False) -> None:
        """All items, to another list; or as many zeros."""
        if bool(items.starts) != bool(to.starts) or not self.are_equal_lengths(
            items.lengths, to.lengths
        ):
            raise NotPrintedError("a list of arrays of several lengths")
        if items.starts:
            k = self.fresh("k")
            head = f"for (i64 {k} = 0; {k} <= {items.top}; {k}++)"
            self.put(f"{head} {to.starts}[{k}] = {items.starts}[{k}];")
            self.taken.discard(k)
        self.put(f"{to.top} = {items.top};")
        zeros = constant(0, to.dtype).text
        self.set_all(to, zeros if zero else f"{items.memory}[{{k}}]")


def has_memory(a: Atom) -> bool:
    """Whether a value is an array or a list, and no number."""
    return isinstance(a.type, StackType) or bool(a.type.shape)
