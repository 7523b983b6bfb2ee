"""Writes stacks in a kernel: an array, and the number of its elements that are taken.

push(out, v); x = peek(out, -1); a = to_array(out)
    becomes      out[top] = v; top += 1; x = out[top - 1]; a = filled(out, top)
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tapeless.transforms.core import scalar_form
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
)
from tapeless.transforms.lowering.kernels.element_access import Buffer
from tapeless.transforms.lowering.kernels.nests import Nests
from tapeless.transforms.lowering.kernels.writer_base import NotCompiled
from tapeless.transforms.lowering.schedule.fusion import FusedNest
from tapeless.transforms.lowering.schedule.stack_capacity import (
    FILLED,
    FIRST,
    GROWN,
    STARTS,
    Capacity,
    is_result,
)
from tapeless.transforms.lowering.sizes.size_equalities import single_symbol
from tapeless.transforms.ops.primitives.stacks import pop_of_list, refill
from tapeless.transforms.python_text.python_source import template, to_source, write_template

Items = Callable[[ast.expr], ast.expr]  # the item at a place


class Filled(Nests):
    """`stacks` are the cursors of stacks; `growing` those whose arrays become longer; `handed` is
    what blocks hand on."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.stacks: dict[Var, ast.Name] = {}
        self.growing: set[Var] = set()
        self.handed: set[Any] = set()

    def stack(self, s: Let, after: list[FusedNest]) -> None:
        """A statement about a stack."""
        if s.op.name in STARTS:
            self.begin_stack(s, [t for item in after for t in item.statements])
            return
        cell = self.cell_of(s.args[0])
        top = self.stacks[cell]
        match s.op.name:
            case "push":
                self.push(s, cell)
            case "pop":
                if s.op is pop_of_list and self.analysis.boundscheck:
                    with self.suite(f"if {top.id} == 0:", s.origin):
                        self.put('raise IndexError("pop from empty list")')
                self.put(f"{top.id} -= 1", s.origin)
                self.named_item(s.outs[1], self.home_element(self.home[cell], [top]))
            case "peek":
                at = self.place_in(cell, s, "list index")
                self.named_item(s.outs[0], self.home_element(self.home[cell], [at]))
            case "set_item" | "add_item":
                at = self.place_in(cell, s, "list assignment index")
                value = self.element_as(s.args[2], [], cell.type.item.dtype)
                target = to_source(self.home_element(self.home[cell], [at]))
                sign = "=" if s.op.name == "set_item" else "+="
                self.put(f"{target} {sign} {to_source(value)}", s.origin)
            case "stack_length":
                name = self.names.new(s.outs[0].name or "count")
                self.put(f"{name} = {top.id}", s.origin)
                self.local[s.outs[0]] = ast.Name(name, ast.Load())
            case "shift":
                self.shift(s, cell)
            case "unshift":
                self.unshift(s, cell)
            case "clear":
                self.put(f"{top.id} = 0", s.origin)
            case "refill" | "refill_zeros":
                self.refill(s, cell)
            case "add_items":
                self.add_items(s, cell)
            case "to_array":
                self.array_of(s, cell, after)

    def names_of_lists(self) -> set[str]:
        return {self.home[cell].name for cell in self.stacks if cell in self.home}

    def cell_of(self, a: Atom) -> Var:
        """The stack whose memory a value is, if this kernel has made it."""
        cell = self.memory.cell(a) if isinstance(a, Var) else None
        if cell is None or cell not in self.stacks:
            raise NotCompiled("a list comes from outside of the loop")
        return cell

    def named_item(self, v: Var, value: ast.expr) -> None:
        name = self.names.new(v.name or self.names.nameless)
        self.put(f"{name} = {to_source(value)}")
        self.local[v] = ast.Name(name, ast.Load())

    def push(self, s: Let, cell: Var) -> None:
        top, home = self.stacks[cell], self.home[cell]
        if cell in self.growing:
            with self.suite(f"if {top.id} == {home.name}.size:", s.origin):
                self.put(f"{home.name} = grown({home.name})")
        self.set(cell, [top], self.element_as(s.args[1], [], cell.type.item.dtype))
        self.put(f"{top.id} += 1")

    def shift(self, s: Let, cell: Var) -> None:
        """The other items move to the front."""
        top, home, k = self.stacks[cell], self.home[cell], to_source(self.atom(s.args[1]))
        self.put(f"{top.id} -= {k}", s.origin)
        index = self.index_name()
        at = ast.Name(index, ast.Load())
        with self.suite(f"for {index} in range({top.id}):", s.origin):
            later = self.home_element(home, [template(f"{{0}} + {k}", {"0": at})])
            self.put(f"{to_source(self.home_element(home, [at]))} = {to_source(later)}")
        self.indices.append(index)

    def unshift(self, s: Let, cell: Var) -> None:
        """Zeros come in front of the items, which move to the back, the last one first."""
        top, home, k = self.stacks[cell], self.home[cell], to_source(self.atom(s.args[1]))
        with self.suite(f"while {home.name}.size < {top.id} + {k}:", s.origin):
            self.put(f"{home.name} = grown({home.name})")
        index = self.index_name()
        at = ast.Name(index, ast.Load())
        with self.suite(f"for {index} in range({top.id} - 1, -1, -1):"):
            later = self.home_element(home, [template(f"{{0}} + {k}", {"0": at})])
            self.put(f"{to_source(later)} = {to_source(self.home_element(home, [at]))}")
        zero = to_source(scalar_form.literal(0, cell.type.item.dtype))
        with self.suite(f"for {index} in range({k}):"):
            self.put(f"{to_source(self.home_element(home, [at]))} = {zero}")
        self.indices.append(index)
        self.put(f"{top.id} += {k}")

    def refill(self, s: Let, cell: Var) -> None:
        """Other items take the place of those that are there."""
        count: ast.expr
        if s.op is refill:
            source = self.cell_of(s.args[1])
            home, count = self.home[source], self.stacks[source]
            self.put_first(cell, count, lambda at: self.home_element(home, [at]))
        else:
            zero = scalar_form.literal(0, cell.type.item.dtype)
            count = self.kept_as("count", self.atom(s.args[1]))
            self.put_first(cell, count, lambda at: zero)
        self.put(f"{self.stacks[cell].id} = {to_source(count)}")

    def add_items(self, s: Let, cell: Var) -> None:
        """The items of another list, which is as long, are added."""
        source, index = self.home[self.cell_of(s.args[1])], self.index_name()
        at = ast.Name(index, ast.Load())
        with self.suite(f"for {index} in range({self.stacks[cell].id}):", s.origin):
            target = to_source(self.home_element(self.home[cell], [at]))
            self.put(f"{target} += {to_source(self.home_element(source, [at]))}")
        self.indices.append(index)

    def place_in(self, cell: Var, s: Let, what: str) -> ast.expr:
        """Where an item is, counted from the start; raises IndexError where there is none."""
        top, k = self.stacks[cell], s.args[1]
        if isinstance(k, Literal) and k.value < 0:
            self.refuse_item(write_template(f"{{0}} < {-k.value}", top), what, s)
            return template(f"{{0}} - {-k.value}", {"0": top})  # type: ignore[no-any-return]
        at = self.atom(k)
        if not isinstance(at, (ast.Name, ast.Constant)):
            at = self.kept_as("at", at)
        if isinstance(k, Literal) or self.never_negative(self.as_size(k)):
            self.refuse_item(write_template("{0} >= {1}", at, top), what, s)
            return at
        at = self.kept_as("at", template("{0} + {1} if {0} < 0 else {0}", {"0": at, "1": top}))
        self.refuse_item(write_template("not 0 <= {0} < {1}", at, top), what, s)
        return at

    def refuse_item(self, test: str, what: str, s: Let) -> None:
        if self.analysis.boundscheck:
            with self.suite(f"if {test}:", s.origin):
                self.put(f'raise IndexError("{what} out of range")')

    def array_of(self, s: Let, cell: Var, after: list[FusedNest]) -> None:
        """The array of what a stack holds: a result of the kernel, the memory of the stack, or a
        copy where the stack changes before the array is not read any more."""
        v, top, home = s.outs[0], self.stacks[cell], self.home[cell]
        if v in self.live:
            self.helpers[FILLED.strip()] = None
            name = self.names.new(v.name or "out")
            self.put(f"{name} = filled({home.name}, {top.id})", s.origin)
            self.local[v] = ast.Name(name, ast.Load())
            return
        length = single_symbol(v.type.shape[0])
        if length is not None and not length.given:
            self.measured[length] = self.kept_as("length", top)
        self.home[v] = home
        if v in self.handed or any(cell in item.writes for item in after):
            self.home[v] = self.room(v, FIRST)
            self.put_first(v, top, lambda at: self.home_element(home, [at]))

    # -- new ones

    def begin_stack(self, s: Let, after: list[Statement]) -> None:
        """A new stack: empty, or with as many items as something else has."""
        v = s.outs[0]
        if self.loops:
            raise NotCompiled("a list is made anew in each pass", "make it once, before the loop")
        count = None
        if s.op.name == "new_stack" and not is_result(self.memory, v, after):
            count = Capacity(
                self.memory, self.as_size, lambda size: self.bounds(size)[1], self.ranges
            ).pushes_in(after, v)
        if count is None or not self.analysis.is_known_outside(count):
            self.growing.add(v)
            self.helpers[GROWN.strip()] = None
            count = FIRST
        self.home[v] = self.room(v, count)
        top = ast.Name(self.names.new(f"{v.name}_top" if v.name else "top"), ast.Load())
        held = self.held_first(s)
        self.put(f"{top.id} = {to_source(held[0]) if held else 0}")
        if held:
            self.put_first(v, top, held[1])
        self.stacks[v] = top

    def held_first(self, s: Let) -> tuple[ast.expr, Items] | None:
        """How many items a new stack has, and which."""
        match s.op.name:
            case "zero_items":
                zero = scalar_form.literal(0, s.outs[0].type.item.dtype)
                return self.atom(s.args[0]), lambda at: zero
            case "unstack":
                x = s.args[0]
                return self.size(x.type.shape[0]), lambda at: self.element(x, [at])
            case "copy":
                cell = self.cell_of(s.args[0])
                home = self.home[cell]
                return self.stacks[cell], lambda at: self.home_element(home, [at])
        return None

    def room(self, v: Var, count: Size) -> Buffer:
        """An array for the items of a stack."""
        item = v.type.item if isinstance(v.type, StackType) else v.type
        memory = Var(Type(item.dtype, (count,)), v.name or "saved")
        return self.allocate(memory, (0,), memory)

    def put_first(self, v: Var, count: ast.expr, item: Items) -> None:
        """The first items, and room for them."""
        name, length = self.home[v].name, to_source(count)
        self.helpers[GROWN.strip()] = None
        with self.suite(f"while {name}.size < {length}:"):
            self.put(f"{name} = grown({name})")
        index = self.index_name()
        at = ast.Name(index, ast.Load())
        with self.suite(f"for {index} in range({length}):"):
            target = self.home_element(self.home[v], [at])
            self.put(f"{to_source(target)} = {to_source(item(at))}")
        self.indices.append(index)
