"""Compiles branches and loops of a kernel.

A variable may change its dtype: it is kept in one place for each, and what it holds is converted
where ways meet. What has another dtype when the next pass of a loop begins has it from the start:
then the function is written again.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from llvmlite import ir

from tapeless.backends.cpu.llvm.calls import CallBuilder
from tapeless.backends.cpu.llvm.expressions import HeldElement, Moving, Variable, indices
from tapeless.backends.cpu.llvm.held_elements import held_elements, key_of
from tapeless.backends.cpu.llvm.ir.ir_helpers import go_back, length, variable
from tapeless.backends.cpu.llvm.ir.values import (
    COUNTED,
    WORD,
    ArrayValue,
    LlvmUnsupportedError,
    Number,
    cast,
    constant,
    joined_dtype,
    register,
)
from tapeless.backends.cpu.llvm.short_rows import AROUND, MASKS, is_along_short_rows
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT
from tapeless.transforms.python_text.tree_walk import names_in, walk

Names = dict[str, Any]
Hints = dict[int, Names]  # dtypes of variables, by the loop in which they have them


class AgainError(Exception):
    """A variable changes its dtype in a loop: it has to have the other one from the start."""


@dataclass
class OpenLoop:
    """A loop around a place: where its next pass begins, where it ends, what holds there."""

    node: ast.stmt
    following: Any
    after: Any
    names: Names
    left: list[Names] = field(default_factory=list)  # what variables hold where it is left


class ControlFlowBuilder(CallBuilder):
    """`loops` are those around the current place, `hints` what earlier attempts have found."""

    loops: list[OpenLoop]
    hints: Hints
    own: set[str]  # arrays that the function has made for itself

    def statements(self, body: list[ast.stmt]) -> None:
        raise NotImplementedError

    def open(self) -> bool:
        """Whether the current place can be reached."""
        raise NotImplementedError

    # -- branches

    def branch(self, s: ast.If) -> None:
        builder = self.builder
        test, sides = self.test(s.test), [builder.append_basic_block() for _ in range(2)]
        builder.cbranch(test, *sides)
        before, ends = self.names, []
        for block, body in zip(sides, (s.body, s.orelse), strict=True):
            builder.position_at_end(block)
            self.names = dict(before)
            self.statements(body)
            if self.open():
                ends.append((builder.block, self.names))
        if not ends:
            return
        after = builder.append_basic_block()
        self.names = join_names([names for _, names in ends])
        for block, names in ends:
            builder.position_at_end(block)
            self.convert(names, self.names)
            builder.branch(after)
        builder.position_at_end(after)

    def convert(self, before: Names, now: Names) -> None:
        """What variables hold, in other dtypes."""
        for name, held in now.items():
            was = before.get(name)
            if isinstance(was, Variable) and was.dtype != held.dtype:
                value = Number(was.dtype, self.builder.load(self.slot(name, was.dtype)))
                converted = cast(self.builder, value, held.dtype)
                self.builder.store(converted.value, self.slot(name, held.dtype))

    # -- loops

    def loop(self, s: ast.For) -> None:
        if s.orelse or not isinstance(s.target, ast.Name):
            raise LlvmUnsupportedError("a loop over more than numbers")
        if isinstance(s.iter, ast.Tuple):
            self.loop_over(s, [*map(self.number, s.iter.elts)])
            return
        start, stop, stride = self.range_of(s.iter)
        if not stride.known:
            self.loop_by(s, start, stop, stride)
            return
        step = int(stride.known)
        count = variable(self.builder, WORD)
        self.builder.store(start.value, count)
        order = "<" if step > 0 else ">"
        least = stop.natural or (stop.known is not None and stop.known >= -1)
        natural = start.natural if step > 0 else least
        bits = stop.bits if step > 0 and stop.natural else COUNTED

        def test() -> Any:
            return self.builder.icmp_signed(order, self.builder.load(count), stop.value)

        def begin() -> None:
            value = self.builder.load(count)
            self.assign(s.target.id, Number(INT, value, natural=natural, bits=bits))  # type: ignore[attr-defined]
            if natural and step > 0:
                self.ends[s.target.id] = stop.value  # type: ignore[attr-defined]

        def follow() -> None:
            next_count = self.builder.add(self.builder.load(count), WORD(step), flags=("nsw",))
            self.builder.store(next_count, count)

        some = functools.partial(self.builder.icmp_signed, order, start.value, stop.value)
        with self.holding(s, some):
            self.passes(s, test, begin, follow)
        self.ends.pop(s.target.id, None)

    @contextmanager
    def holding(self, s: ast.For, some: Callable[[], Any]) -> Iterator[None]:
        """Keeps elements in registers while a loop runs; `some` says whether it has any passes."""
        elements = {} if self.held else self.elements_to_hold(s)
        if not elements:
            yield
            return
        with self.builder.if_then(some()):
            for element in elements.values():
                element.fetch(self.builder)
        self.held = elements
        yield
        self.held = {}
        with self.builder.if_then(some()):
            for element in elements.values():
                element.put_back(self.builder)

    def elements_to_hold(self, s: ast.For) -> dict[str, HeldElement]:
        """The elements that no other array of a loop shares memory with, by their text."""
        arrays = names_in(s) & self.names.keys()
        arrays = {x for x in arrays if isinstance(self.names[x], (ArrayValue, Moving))}
        if not all(x in self.own or self.is_argument(x) for x in arrays):
            return {}
        elements = {}
        for e in held_elements(s):
            name = e.value.id  # type: ignore[attr-defined]
            array: Any = self.names.get(name)
            if name in self.own or self.is_argument(name, unshared=True):
                at = indices(self.value(e.slice))
                if array.dtype.kind in "fiu" and len(at) == len(array.shape):
                    place = variable(self.builder, register(array.dtype))
                    elements[key_of(e)] = HeldElement(array, at, place)
        return elements

    def is_argument(self, name: str, unshared: bool = False) -> bool:
        """Whether an array is an argument; if asked, one that shares memory with no other one."""
        array = self.names[name]
        if not isinstance(array, ArrayValue) or not isinstance(array.data, ir.Argument):
            return False
        return not unshared or "noalias" in array.data.attributes

    def loop_by(self, s: ast.For, start: Number, stop: Number, step: Number) -> None:
        """A loop over a range whose step is not known: its passes are counted."""
        builder = self.builder
        zero = builder.icmp_signed("==", step.value, WORD(0))
        with builder.if_then(zero, likely=False):
            self.fail(ValueError, ("range() arg 3 must not be zero",))
        total = length(builder, start.value, stop.value, step.value)
        count = variable(builder, WORD)
        builder.store(WORD(0), count)
        natural = start.natural and (step.natural or stop.natural)

        def test() -> Any:
            return builder.icmp_signed("<", builder.load(count), total)

        def begin() -> None:
            passed = builder.mul(builder.load(count), step.value, flags=("nsw",))
            value = builder.add(start.value, passed, flags=("nsw",))
            self.assign(s.target.id, Number(INT, value, natural=natural))  # type: ignore[attr-defined]

        def follow() -> None:
            builder.store(builder.add(builder.load(count), WORD(1), flags=("nsw",)), count)

        self.passes(s, test, begin, follow)

    def loop_over(self, s: ast.For, items: list[Number]) -> None:
        """A loop over integers that are written in the text."""
        if any(x.dtype != INT or x.known is None for x in items):
            raise LlvmUnsupportedError("a loop over more than integers")
        kind = ir.ArrayType(WORD, len(items))
        name = self.builder.module.get_unique_name("items")
        table = ir.GlobalVariable(self.builder.module, kind, name)
        table.initializer = ir.Constant(kind, [x.value for x in items])
        table.linkage, table.global_constant = "internal", True
        count = variable(self.builder, WORD)
        self.builder.store(WORD(0), count)
        natural = all(x.natural for x in items)

        def test() -> Any:
            return self.builder.icmp_signed("<", self.builder.load(count), WORD(len(items)))

        def begin() -> None:
            place = self.builder.gep(table, [WORD(0), self.builder.load(count)], inbounds=True)
            value = self.builder.load(place)
            self.assign(s.target.id, Number(INT, value, natural=natural))  # type: ignore[attr-defined]

        def follow() -> None:
            self.builder.store(self.builder.add(self.builder.load(count), WORD(1)), count)

        self.passes(s, test, begin, follow)

    def range_of(self, e: ast.expr) -> tuple[Number, Number, Number]:
        match e:
            case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]) if args:
                pass
            case _:
                raise LlvmUnsupportedError("a loop over something else than a range")
        numbers = [self.number(a) for a in args]
        if any(x.dtype.kind != "i" for x in numbers):
            raise LlvmUnsupportedError("a range of what are no integers")
        bounds = [cast(self.builder, x, INT) for x in numbers]
        start, stop = (constant(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        return start, stop, bounds[2] if len(bounds) > 2 else constant(1)

    def while_loop(self, s: ast.While) -> None:
        if s.orelse:
            raise LlvmUnsupportedError("else of a loop")
        self.passes(s, lambda: self.test(s.test), lambda: None, lambda: None)

    def passes(
        self,
        s: ast.For | ast.While,
        test: Callable[[], Any],
        begin: Callable[[], None],
        follow: Callable[[], None],
    ) -> None:
        """A loop: its test, what each pass begins with, what the next one needs."""
        builder = self.builder
        self.enter(s)
        head, body, following, after = (
            builder.append_basic_block(n) for n in ("test", "pass", "next", "after")
        )
        builder.branch(head)
        builder.position_at_end(head)
        loop = OpenLoop(s, following, after, dict(self.names))
        builder.cbranch(test(), body, after)
        loop.left.append(dict(self.names))
        builder.position_at_end(body)
        begin()
        self.loops.append(loop)
        self.statements(s.body)
        self.loops.pop()
        if self.open():
            self.require_stable_dtypes(loop)
            loop.left.append(self.leaving(loop))
            builder.branch(following)
        builder.position_at_end(following)
        follow()
        is_inner = MASKS in self.features and len(self.loops) >= AROUND
        masked = is_inner and is_along_short_rows(s) and self.is_real(s)
        go_back(builder, head, masked)
        builder.position_at_end(after)
        self.names = join_names(loop.left)

    def is_real(self, s: ast.For | ast.While) -> bool:
        """Whether a loop is about real numbers only: the parts of complex ones lie in turn."""
        held = (self.names.get(n.id) for n in walk(s) if isinstance(n, ast.Name))
        return not any(getattr(x, "dtype", INT).kind == "c" for x in held)

    def enter(self, s: ast.For | ast.While) -> None:
        """What variables hold when any pass begins."""
        wanted, before = self.hints.get(id(s), {}), self.names
        self.names = dict(before)
        for name in _assigned_names(s):
            held = before.get(name)
            if isinstance(held, Variable):
                self.names[name] = Variable(wanted.get(name, held.dtype))
            elif held is not None and not isinstance(held, Moving):
                raise LlvmUnsupportedError("an array that another one replaces in a loop")
        self.convert(before, self.names)

    def require_stable_dtypes(self, loop: OpenLoop) -> None:
        """Makes sure that variables have the dtypes that they had when the pass began."""
        others: Names = {}
        for name, held in loop.names.items():
            now = self.names.get(name)
            if isinstance(held, Variable) and isinstance(now, Variable):
                wanted = joined_dtype(held.dtype, now.dtype)
                if wanted != held.dtype:
                    others[name] = wanted
            elif now is not held:
                raise LlvmUnsupportedError("a variable that is no number any more")
        if others:
            self.hints.setdefault(id(loop.node), {}).update(others)
            raise AgainError
        self.convert(self.names, loop.names)

    def jump(self, out: bool) -> None:
        loop = self.loops[-1]
        self.require_stable_dtypes(loop)
        if out:
            loop.left.append(self.leaving(loop))
        self.builder.branch(loop.after if out else loop.following)

    def leaving(self, loop: OpenLoop) -> Names:
        """What variables hold after a loop that is left here; some are set in its passes only."""
        new = {k: v for k, v in self.names.items() if k not in loop.names}
        return {**new, **{k: self.value_after_loop(k, v) for k, v in loop.names.items()}}

    def value_after_loop(self, name: str, before: Any) -> Any:
        """What a variable holds where a loop is left: the dtype is that of its passes."""
        now = self.names.get(name)
        if now is not before and isinstance(before, Variable) and isinstance(now, Variable):
            natural = before.natural and now.natural
            return Variable(before.dtype, natural, max(before.bits, now.bits))
        return before


def join_names(ways: list[Names]) -> Names:
    """What variables hold where several ways meet. Those that are not set on all of them may be
    read where they are: tests that are the same tell."""
    first, *others = ways
    same = {k: v for k, v in first.items() if all(names.get(k) is v for names in others)}
    changed = dict.fromkeys(k for names in ways for k in names if k not in same)
    joins = {k: _joined_variable([names[k] for names in ways if k in names]) for k in changed}
    return {**same, **{k: v for k, v in joins.items() if v is not None}}


def _joined_variable(held: list[Any]) -> Variable | None:
    """A variable that one of these is held in, if all are numbers."""
    if not all(isinstance(x, Variable) for x in held):
        return None
    dtype = functools.reduce(joined_dtype, (x.dtype for x in held))
    return Variable(dtype, all(x.natural for x in held), max(x.bits for x in held))


def _assigned_names(s: ast.AST) -> set[str]:
    return {e.id for e in walk(s) if isinstance(e, ast.Name) and isinstance(e.ctx, ast.Store)}
