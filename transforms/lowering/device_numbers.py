"""Reads the numbers of a device that its driver needs: to decide, to count and to allocate by."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    While,
    operands,
    outputs,
    statements,
)
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.lowering.device_memory import (
    read,
)
from tapeless.transforms.lowering.schedule.host_numbers import host_numbers
from tapeless.transforms.lowering.target import Target
from tapeless.transforms.ops.primitives.new_arrays import stack_length


class DeviceNumbers:
    """Which numbers of a program the driver has, and the statements that read others.

    host          numbers that the driver has
    lengths       numbers that arrays are as long as
    read_by_host  what the driver computes with, tests and counts by
    """

    def __init__(self, block: Block, on_device: Collection[Var], target: Target) -> None:
        self.on_device, self.target = on_device, target
        self.host = set[Var]() if target.returns_numbers else host_numbers(block, on_device)
        self.lengths = _length_numbers(block)
        self.read_by_host = self.reads_of_host(block)

    def reads_of_host(self, block: Block) -> set[Var]:
        """What the driver of a GPU program computes with, tests and counts by."""
        variables = set[Var]()
        for s in statements(block):
            if self.is_of_host(s) or isinstance(s, (If, For)):
                variables |= {a for a in operands(s) if isinstance(a, Var)}
            if isinstance(s, While):
                variables |= {a for a in s.test.results if isinstance(a, Var)}
        return variables

    def with_read_lengths(self, block: Block) -> Block:
        """The driver, which first reads the integers of a device that arrays are as long as."""
        reads, number_of = [], dict[Var, Atom]()
        for v in block.params:
            if v in self.on_device and v in self.lengths:
                number = Var(Type(v.type.dtype, (), True), v.name)
                reads.append(Let((number,), read, (v,), {}))
                number_of[v] = number
                self.host.add(number)
        if not reads:
            return block
        body = substitute(Block((), block.body, block.results), number_of)
        return Block(block.params, (*reads, *body.body), body.results)

    def is_of_host(self, s: Statement) -> bool:
        """Whether the driver computes a number, which kernels would leave on the device."""
        return isinstance(s, Let) and bool(s.outs) and all(v in self.host for v in s.outs)

    def waiting(self, s: Statement) -> list[Statement]:
        """A statement of the driver that waits for the numbers it decides by."""
        match s:
            case While():
                return [replace(s, test=self.read_first(s.test))]
            case For():
                if s.until:
                    s = replace(s, body=self.read_first(s.body))
                all_reads, ends = zip(*map(self.on_host, (s.start, s.stop, s.step)), strict=True)
                bounds = dict(zip(("start", "stop", "step"), ends, strict=True))
                return [*(t for reads in all_reads for t in reads), replace(s, **bounds)]
            case If():
                reads, test = self.on_host(s.test)
                return [*reads, replace(s, test=test)]
        return [s]

    def with_read_indices(self, s: Statement) -> list[Statement]:
        """A statement about lists, which takes integers of the host alone."""
        if self.target.returns_numbers or not isinstance(s, Let):
            return [s]
        if not any(isinstance(a.type, StackType) for a in (*s.outs, *s.args)):
            return [s]
        reads, args = [], []
        for a in s.args:
            of_host = not isinstance(a.type, Type) or a.type.shape or a.type.dtype.kind not in "iub"
            before, number = ([], a) if of_host else self.on_host(a)
            reads += before
            args.append(number)
        return [*reads, replace(s, args=tuple(args))]

    def with_read_results(self, body: Iterable[Statement]) -> list[Statement]:
        """Statements of a driver, which reads the integers among their results that arrays are as
        long as."""
        statements_of_driver: list[Statement] = []
        for s in body:
            lengths = self.lengths.intersection(outputs(s)) - self.host
            if isinstance(s, Let) and s.op is stack_length:
                self.host |= set(s.outs)  # a list of Python's tells its length
                lengths = set()
            if self.target.returns_numbers or not isinstance(s, Let) or not lengths:
                statements_of_driver.append(s)
                continue
            raw = {v: Var(Type(v.type.dtype, ()), v.name or "value") for v in lengths}
            statements_of_driver.append(replace(s, outs=tuple(raw.get(v, v) for v in s.outs)))
            statements_of_driver += [Let((v,), read, (w,), {}) for v, w in raw.items()]
            self.host |= lengths
        return statements_of_driver

    def read_first(self, block: Block) -> Block:
        """A block whose first result is read from the memory of the device."""
        flag, *rest = block.results
        reads, number = self.on_host(flag)
        return replace(block, body=(*block.body, *reads), results=(number, *rest))

    def on_host(self, a: Atom) -> tuple[list[Statement], Atom]:
        """The statements that read a number from the memory of the device, and the number."""
        if not isinstance(a, Var) or a in self.host:
            return [], a
        number = Var(Type(a.type.dtype, (), True), a.name)
        return [Let((number,), read, (a,), {})], number


def _length_numbers(block: Block) -> set[Var]:
    """The numbers that arrays are as long as."""
    held = [s for s in statements(block) if isinstance(s, (Let, Effect))]
    params = [list(s.params.values()) for s in held]
    types = [v.type for s in statements(block) for v in outputs(s)]
    return {x.var for x in sizes_in([*params, *types]) if x.var is not None}
