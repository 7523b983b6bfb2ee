"""Copies the items of lists where variables of loops and branches exchange them, so that each
variable has memory of its own.

for ...: best = if t: yield run              for ...: best = if t: best_2 = refill(best, run)
         run = new_stack()         becomes            run = clear(run)

Kernels have an array for each list, and a cursor; a list that is another one from pass to pass
would be another array.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.undefined_values import may_lack
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Statement,
    Var,
    While,
    blocks,
    free_variables,
    operands,
    outputs,
    statements,
)
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.schedule.stack_capacity import of_numbers
from tapeless.transforms.ops.primitives.new_arrays import new_stack, zero_items
from tapeless.transforms.ops.primitives.shapes import copy
from tapeless.transforms.ops.primitives.stacks import (
    CHANGING,
    add_items,
    add_stacks,
    clear,
    refill,
    refill_zeros,
    to_array,
)

#: What makes a list, and what makes another list be like it.
NEW = {new_stack: clear, copy: refill, zero_items: refill_zeros}


def list_assignments(block: Block) -> Block:
    """The block in which lists of numbers stay in their memory; as it is where it reads what a list
    held before it changed, copies one that there may not be, or measures one in a branch."""
    inner = [s for s in statements(block) if blocks(s)]
    if not any(_is_list(v) for s in inner for v in outputs(s)) or any(map(_measures, inner)):
        return block
    try:
        return _OwnMemory(may_lack(block)).block(block, [], {})
    except _ReadLaterError:
        return block


class _ReadLaterError(Exception):
    """A list is read as it was before it changed, or would be copied where there may be none."""


class _ExchangeError(_ReadLaterError):
    """Lists get the items of each other, for which a list beside them is needed."""

    def __init__(self, like: Var) -> None:
        super().__init__()
        self.like = like


@dataclass(frozen=True)
class _Request:
    """The value that a result of a block has to be in the memory of a list: its first value."""

    place: int
    value: Var
    cell: Var


class _OwnMemory:
    """Writes a program again.

    cells    the first value of each list, in whose memory a value is
    unset    values of lists that there may not be, where nothing reads them
    """

    def __init__(self, unset: Collection[Var]) -> None:
        self.cells: dict[Var, Var] = {}
        self.unset = unset

    def block(
        self,
        block: Block,
        requests: list[_Request],
        present: dict[Var, Any],
        spare: Var | None = None,
    ) -> Block:
        """A block whose results are in the memory that is requested; `present`: the value that each
        list has now, by its first one; `spare`: a list for what is exchanged."""
        return _BlockWriter(self, block, present, spare).write(requests)


class _BlockWriter:
    """Writes one block.

    present  the value of each list, by its first value, where the statements have come to; None
             if it is one that only an inner block knows
    moves    new lists, and results of branches, that have to be in the memory of another list
    refills  lists that are copied before a statement changes them, by this statement
    sums     sums of lists, and to which the other one is added
    """

    def __init__(
        self, program: _OwnMemory, block: Block, present: dict[Var, Any], spare: Var | None
    ) -> None:
        self.program, self.source, self.present, self.spare = program, block, present, spare
        self.definitions = {v: s for s in block.body for v in outputs(s)}
        self.moves: dict[Var, Var] = {}
        self.refills: dict[int, tuple[Var, Var]] = {}
        self.sums: dict[int, Any] = {}
        self.body: list[Statement] = []

    def write(self, requests: list[_Request]) -> Block:
        requested = {r.cell for r in requests}
        last = [r for r in requests if not self.plan(r, requested)]
        for k, s in enumerate(self.source.body):
            later = self.source.body[k + 1 :]
            self.statement(s, later)
        results = list(self.source.results)
        self.copy_all(last, results)
        for r in requests:
            if self.present.get(r.cell) is not results[r.place]:
                raise _ReadLaterError
        for v in results:
            self.require_present(v)
        return replace(self.source, body=tuple(self.body), results=tuple(results))

    def copy_all(self, pending: list[_Request], results: list[Atom]) -> None:
        """Copies lists at the end of the block, none over what is to be copied yet."""
        cells = self.program.cells
        while pending:
            sources = [cells.get(r.value) for r in pending]
            free = [r for r in pending if r.cell not in sources]
            for r in free:
                results[r.place] = self.refill(r.cell, r.value, r.value)
            pending = [r for r in pending if r not in free]
            if not free:
                if self.spare is None or self.spare in sources:
                    raise _ExchangeError(pending[0].value)
                aside = self.refill(self.spare, pending[0].value, pending[0].value)
                pending[0] = replace(pending[0], value=aside)

    # -- what has to be where

    def plan(self, request: _Request, requested: set[Var]) -> bool:
        """Notes what makes a value in the memory that is requested; False if it has to be copied
        there at the end, as what is in the memory of another one that is `requested`."""
        value: Any = request.value
        first: Statement | None = None
        while (s := self.definitions.get(value)) is not None:
            if isinstance(s, Let) and s.op in CHANGING:
                first, value = s, s.args[0]
            elif isinstance(s, Let) and s.op is add_stacks:
                first, value = s, self.summand(s, request.cell)
                self.sums[id(s)] = value
            elif isinstance(s, (For, While)):
                first, value = s, s.inits[s.outs.index(value)]
            else:
                break
        if not isinstance(value, Var):
            return False
        if value in self.moves or id(first) in self.refills:
            return False
        if s is not None:
            is_new = isinstance(s, If) or (isinstance(s, Let) and s.op in NEW)
            if is_new:
                self.moves[value] = request.cell
            return is_new
        cell = self.program.cells.get(value)
        if cell is request.cell or cell in requested:
            return cell is request.cell
        if first is not None:
            self.refills[id(first)] = value, request.cell
        return first is not None

    def summand(self, s: Let, cell: Var) -> Any:
        """Which of two lists the other one is added to: that in the memory of the sum."""
        a, b = s.args
        return b if self.program.cells.get(b) is cell else a  # type: ignore[arg-type]

    # -- statements

    def statement(self, s: Statement, later: tuple[Statement, ...]) -> None:
        if id(s) in self.refills:
            value, cell = self.refills[id(s)]
            s = self.with_copy(s, value, self.refill(cell, value, value))
        for a in operands(s):
            self.require_present(a)
        match s:
            case Let():
                self.let(s)
            case If():
                self.branch(s)
            case For() | While():
                self.loop(s, later)
            case _:
                self.body.append(s)

    def let(self, s: Let) -> None:
        out = s.outs[0]
        if s.op in CHANGING and _is_list(out):
            cell = self.program.cells[s.args[0]]  # type: ignore[index]
            self.put(s, cell)
        elif not _is_list(out):
            self.body.append(s)
        elif out in self.moves:
            cell = self.moves[out]
            here = self.present[cell]
            if here is None or any(_is_list(a) and a in self.program.unset for a in s.args):
                raise _ReadLaterError
            params = {} if s.op is new_stack else s.params
            self.put(Let(s.outs, NEW[s.op], (here, *s.args), params, s.origin), cell)
        elif id(s) in self.sums:
            into = self.sums[id(s)]
            other = s.args[1] if s.args[0] is into else s.args[0]
            self.put(Let(s.outs, add_items, (into, other), {}, s.origin), self.program.cells[into])
        else:
            self.put(s, out)

    def with_copy(self, s: Statement, old: Var, new: Var) -> Statement:
        """A statement that changes a copy of a list."""
        if isinstance(s, Let):
            changed = replace(s, args=tuple(new if a is old else a for a in s.args))
            if id(s) in self.sums:
                self.sums[id(changed)] = new
            return changed
        assert isinstance(s, (For, While))
        return replace(s, inits=tuple(new if a is old else a for a in s.inits))

    def put(self, s: Statement, cell: Var) -> None:
        """A statement whose first result is what a list is from now on."""
        self.body.append(s)
        out = outputs(s)[0]
        self.program.cells[out] = cell
        self.present[cell] = out

    def refill(self, cell: Var, items: Var, named: Var) -> Var:
        """A list with the items of another one."""
        self.require_present(items)
        before = self.present.get(cell)
        if before is None or items in self.program.unset or items.partial:
            raise _ReadLaterError
        out = Var(cell.type, named.name)
        self.put(Let((out,), refill, (before, items), {}, None), cell)
        return out

    def new_list(self, like: Var, origin: Any) -> Var:
        """An empty list."""
        out = Var(like.type, like.name)
        self.put(Let((out,), new_stack, (), {"item": like.type.item}, origin), out)
        return out

    def branch(self, s: If) -> None:
        lists = [k for k, v in enumerate(s.outs) if _is_list(v)]
        cells = {k: self.cell_of_result(s, k) for k in lists}
        sides, states = [], []
        for side in (s.then, s.orelse):
            state = dict(self.present)
            requests = [
                _Request(k, a, cell)
                for k, cell in cells.items()
                if isinstance(a := side.results[k], Var)
            ]
            sides.append(self.program.block(side, requests, state))
            states.append(state)
        self.body.append(replace(s, then=sides[0], orelse=sides[1]))
        for cell, before in list(self.present.items()):
            if any(state.get(cell) is not before for state in states):
                self.present[cell] = None
        for k, cell in cells.items():
            self.program.cells[s.outs[k]] = cell
            self.present[cell] = s.outs[k]

    def cell_of_result(self, s: If, k: int) -> Var:
        """In whose memory a result of a branch is: that of a list which both sides change, or
        one of its own."""
        if s.outs[k] in self.moves:
            return self.moves[s.outs[k]]
        roots = {self.root(side, side.results[k]) for side in (s.then, s.orelse)}
        if len(roots) == 1 and (root := roots.pop()) is not None:
            return root
        return self.new_list(s.outs[k], s.origin)

    def root(self, side: Block, value: Atom) -> Var | None:
        """The list that a side changes until it is the value; None of one that it makes."""
        definitions = {v: s for s in side.body for v in outputs(s)}
        while isinstance(value, Var) and (s := definitions.get(value)) is not None:
            if isinstance(s, Let) and s.op in CHANGING:
                value = s.args[0]
            elif isinstance(s, (For, While)):
                value = s.inits[s.outs.index(value)]
            elif isinstance(s, If):
                k = s.outs.index(value)
                inner = {self.root(b, b.results[k]) for b in (s.then, s.orelse)}
                return inner.pop() if len(inner) == 1 else None
            else:
                return None
        return self.program.cells.get(value) if isinstance(value, Var) else None

    def loop(self, s: For | While, later: tuple[Statement, ...]) -> None:
        first = len(s.body.params) - len(s.inits)
        params = s.body.params[first:]
        lists = [k for k, p in enumerate(params) if _is_list(p)]
        inits = list(s.inits)
        cells: dict[int, Var] = {}
        read_later = _read(later, self.source.results)
        for k in lists:
            init = inits[k]
            taken = isinstance(init, Var) and self.program.cells[init] in cells.values()
            if not isinstance(init, Var):
                inits[k] = self.new_list(params[k], s.origin)
            elif taken or init in read_later:
                cell = self.program.cells[self.new_list(params[k], s.origin)]
                inits[k] = self.refill(cell, init, params[k])
            cells[k] = self.program.cells[inits[k]]  # type: ignore[index]
        kept, count = dict(self.present), len(self.body)
        loop = replace(s, inits=tuple(inits))
        try:
            self.put_loop(loop, cells, None)
        except _ExchangeError as e:
            self.present.clear()
            self.present.update(kept)
            del self.body[count:]
            spare = self.new_list(e.like, s.origin)
            self.put_loop(_with_carry(loop, spare), {**cells, len(loop.inits): spare}, spare)

    def put_loop(self, loop: For | While, cells: dict[int, Var], spare: Var | None) -> None:
        """A loop whose carries are in the memory of these lists, by their numbers."""
        first = len(loop.body.params) - len(loop.inits)
        state, before = dict(self.present), dict(self.present)
        for k, cell in cells.items():
            p = loop.body.params[first + k]
            self.program.cells[p] = cell
            state[cell] = before[cell] = p
        if isinstance(loop, While):
            tested = dict(before)
            for k, cell in cells.items():
                p = loop.test.params[k]
                self.program.cells[p] = cell
                tested[cell] = p
            loop = replace(loop, test=self.program.block(loop.test, [], tested))
        results = len(loop.body.results) - len(loop.inits)
        requests = [
            _Request(results + k, y, cell)
            for k, cell in cells.items()
            if cell is not spare and isinstance(y := loop.body.results[results + k], Var)
        ]
        body = self.program.block(loop.body, requests, state, spare)
        if spare is not None:
            body = replace(body, results=(*body.results[:-1], state[spare]))
        changed = {c for c, v in before.items() if state.get(c) is not v} - {*cells.values()}
        if changed or len(requests) + (spare is not None) < len(cells):
            raise _ReadLaterError
        self.body.append(replace(loop, body=body))
        for k, cell in cells.items():
            self.program.cells[loop.outs[k]] = cell
            self.present[cell] = loop.outs[k]

    def require_present(self, a: Atom) -> None:
        """Refuses a value of a list that has another one now."""
        if _is_list(a) and self.present.get(self.program.cells.get(a)) is not a:  # type: ignore[arg-type]
            raise _ReadLaterError


def _is_list(a: Any) -> bool:
    return isinstance(a, Var) and of_numbers(a.type)


def _measures(s: Statement) -> bool:
    """Whether a side of a branch makes an array of a list, whose length only that side knows: a
    kernel would need memory of that length."""
    sides = blocks(s) if isinstance(s, If) else ()
    return any(isinstance(t, Let) and t.op is to_array for b in sides for t in statements(b))


def _read(later: Iterable[Statement], results: tuple[Atom, ...]) -> set[Any]:
    """What statements and results read."""
    return set(free_variables(Block((), tuple(later), results)))


def _with_carry(loop: For | While, value: Var) -> For | While:
    """A loop that carries one list more, which no pass changes."""

    def block(b: Block, gives: bool) -> Block:
        p = Var(value.type, value.name)
        results = (*b.results, p) if gives else b.results
        return replace(b, params=(*b.params, p), results=results)

    outs, inits = (*loop.outs, Var(value.type, value.name)), (*loop.inits, value)
    new = replace(loop, outs=outs, inits=inits, body=block(loop.body, True))
    return replace(new, test=block(new.test, False)) if isinstance(new, While) else new
