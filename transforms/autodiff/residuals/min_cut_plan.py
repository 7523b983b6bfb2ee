"""Decides what is saved: a minimum cut between what loops make and what is read backwards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tapeless.transforms.analysis.min_cut import minimum_cut
from tapeless.transforms.analysis.suggested_names import word_for
from tapeless.transforms.autodiff.residuals.definitions import Definitions, Path
from tapeless.transforms.autodiff.residuals.reread import Reloads
from tapeless.transforms.autodiff.residuals.saved_functions import functions_are_saved
from tapeless.transforms.autodiff.residuals.shifted_saves import shifted
from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.builder import size_of, var_size
from tapeless.transforms.core.language import (
    Atom,
    For,
    If,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    While,
    blocks,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.uses import reads, sizes_in, written_params
from tapeless.transforms.ops.primitives.arithmetic import floordiv, mod
from tapeless.transforms.ops.primitives.elementwise import power
from tapeless.transforms.ops.primitives.new_arrays import (
    empty,
    new_stack,
    zero_items,
    zeros_of_items,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import gather

#: What a number costs that is computed again, where one that is saved costs 1: of a function, of
#: what is added up, and of what is moved to another place. A saved number is written to memory that
#: is new and read again later, which takes as long as a function of the elements of an array.
FUNCTION, REDUCED, MOVED = 0.4, 0.25, 0.1


def repeating(let: Let) -> float | None:
    """What it costs to compute the elements of a result again, each as a part of what it costs to
    save a number: of the operand, where it is reduced. None where it is saved."""
    op = let.op
    makers = (new_stack, zero_items, zeros_of_items, empty)
    if op.inplace or not op.pure or op in makers:
        return None
    if not op.costly or is_square(let):
        return 0.0
    if not let.outs[0].type.shape and op.elementwise:
        return None if functions_are_saved() else 0.0
    if op.moves:
        return MOVED
    if op.elementwise:
        return FUNCTION
    return REDUCED if is_reduction(let) else None


def is_reduction(let: Let) -> bool:
    """Whether elements along axes are put together, each once."""
    return "axes" in let.params and len(let.args) == 1


def mirrored(s: Statement, k: int) -> tuple[Any, int]:
    """The statement of the primal program, and its block, that a block of a backward statement
    runs backwards."""
    mirror = s.mirror if isinstance(s, (If, For)) else None
    return mirror, 1 if isinstance(mirror, While) else k


def is_square(let: Let) -> bool:
    """Whether a power is one that is computed as a product or a quotient."""
    return let.op is power and isinstance(let.args[1], Literal) and let.args[1].value in (2, -1)


class Plan:
    """What is saved (`saved`), and what is computed again (`again`)."""

    def __init__(self, primal: list[Statement], backward: list[Statement]) -> None:
        self.primal = Definitions(primal)
        self.standing = Reloads(primal, self.primal, self.size)
        self.extra_sizes: dict[dims.Symbol, Var] = {}
        self.needed: dict[Var, None] = {}
        self.elsewhere: set[Var] = set()  # lengths that other branches than those of them need
        self.need(backward, ())
        if self.extra_sizes:
            return
        self.saved, self.again = self.plan()

    def name_saved(self) -> None:
        """What is saved in a loop has a name there and where it is read: the user's, or a word."""
        for v in self.saved:
            if v in self.primal.let and self.loops(v):
                v.name = v.name or word_for(self.primal.let[v])

    # -- what the backward part reads

    def need(self, body: Any, path: Path) -> None:
        for s in body:
            for v in reads(s):
                self.need_variable(v)
            if isinstance(s, Let):
                for value in written_params(s).values():
                    self.need_sizes(value, path)
            for k, block in enumerate(blocks(s)):
                self.need(block.body, (*path, mirrored(s, k)))
                for a in block.results:
                    if isinstance(a, Var):
                        self.need_variable(a)

    def need_variable(self, v: Var) -> None:
        if self.primal.path.get(v) and v not in self.primal.index:
            self.needed[v] = None

    def need_sizes(self, value: Any, path: Path) -> None:
        for symbol in sorted(sizes_in(value), key=lambda s: s.uid):  # names are given in order
            if symbol.var is not None:
                self.need_variable(symbol.var)
                own = self.primal.path.get(symbol.var, ())
                if path[: len(own)] != own and not self.loops(symbol.var):
                    self.elsewhere.add(symbol.var)
            elif symbol in self.primal.homes:
                home = self.primal.homes[symbol]
                self.extra_sizes.setdefault(symbol, home)

    def operands_of(self, v: Var) -> list[Var]:
        return [
            a
            for a in reads(self.made_again(v))
            if self.primal.path.get(a) and a not in self.primal.index
        ]

    def made_again(self, v: Var) -> Let:
        """What computes a value in the backward part, where it is not saved."""
        return self.standing.read(v) or self.primal.let[v]

    def in_order(self, values: Iterable[Var]) -> list[Var]:
        """The values that are computed again, each behind those that it is made of."""
        wanted = sorted(values, key=self.primal.order.__getitem__)
        pending, ordered = set(wanted), list[Var]()

        def visit(v: Var) -> None:
            if v in pending:
                pending.remove(v)
                for a in self.operands_of(v):
                    visit(a)
                ordered.append(v)

        for v in wanted:
            visit(v)
        return ordered

    def plan(self) -> tuple[dict[Var, None], set[Var]]:
        """The saved variables and those computed again."""
        nodes, edges, fixed, again_costs = self.graph()
        costs = {v: self.cost(v) for v in nodes}

        def cut(costs: dict[Var, int]) -> set[Var]:
            return minimum_cut([*nodes], costs, edges, fixed, set(self.needed), again_costs)

        kept = cut(costs)
        # what a pass leaves in a saved variable is saved with it
        left = {v: 1 for v, p in shifted(nodes, self.primal.path).items() if p in kept}
        if left.keys() - kept:
            kept = min(kept, cut({**costs, **left}), key=lambda c: self.sum_of_costs(c, costs))
        again: set[Var] = set()
        pending = [v for v in self.needed if v not in kept]
        while pending:
            v = pending.pop()
            if v not in again and v not in kept:
                again.add(v)
                pending += self.operands_of(v)
        return dict.fromkeys(sorted(kept, key=self.primal.order.__getitem__)), again

    def sum_of_costs(self, kept: set[Var], costs: dict[Var, int]) -> int:
        """What it costs to keep variables, of which some share an array."""
        shared = shifted(kept, self.primal.path)
        return sum(costs[v] for v in kept if v not in shared)

    def graph(
        self,
    ) -> tuple[dict[Var, None], list[tuple[Var, Var]], set[Var], dict[Var, int]]:
        """What the backward part needs and what that is made of; which value each is made of; which
        values are saved in any case, and what it costs to compute the others again."""
        nodes: dict[Var, None] = {}
        pending = list(self.needed)
        edges: list[tuple[Var, Var]] = []
        fixed: set[Var] = set()
        again_costs: dict[Var, int] = {}
        while pending:
            v = pending.pop()
            if v in nodes:
                continue
            nodes[v] = None
            let = self.standing.read(v) or self.primal.let.get(v)
            repeated = None if let is None or v in self.elsewhere else self.repeated(let)
            if (
                let is None
                or repeated is None
                or any(x in self.primal.homes for x in sizes_in(tuple(let.params.values())))
            ):
                fixed.add(v)
                continue
            again_costs[v] = repeated
            for u in self.operands_of(v):
                edges.append((u, v))
                pending.append(u)
        return nodes, edges, fixed, again_costs

    def reads_unchanged_array(self, let: Let) -> bool:
        """Whether elements are read, at places that an array of indices says, of an array that no
        loop changes: to read them again costs what reading them of a saved copy does."""
        indices = (a for a in let.args[1:] if a.type.shape)
        return (
            let.op is gather
            and self.outside(let.args[0])
            and all(a.type.dtype.kind in "iu" for a in indices)
        )

    def repeated(self, let: Let) -> int | None:
        """The cost of computing a value again; None where it is saved: also where no loop is
        around, and it is only kept."""
        share = 0.0 if self.reads_unchanged_array(let) else repeating(let)
        if share and self.loops(let.outs[0]):
            operand = let.args[0] if is_reduction(let) else let.outs[0]
            return int(share * self.elements(operand) * self.passes(let.outs[0]) * 1000)
        return None if share else share  # type: ignore[return-value]

    def cost(self, v: Var) -> int:
        late = self.primal.order[v] % 500 + (0 if v.name else 500)  # names of the user say more
        return self.elements(v) * self.passes(v) * 1000 + late

    def elements(self, a: Atom) -> int:
        """How many elements there are, in the call that is being staged where that is known."""
        kind: Any = a.type
        elements = 1
        while isinstance(kind, StackType):
            kind, elements = kind.item, 4096 * elements
        for n in kind.shape:
            length = builder.current().value(n)
            elements *= 64 if length is None else length
        return max(elements, 1)

    def passes(self, v: Var) -> int:
        """An estimate of how often a value is made."""
        return 8 ** len(self.loops(v))

    # -- where a variable is

    def under(self, s: Statement) -> list[Var]:
        return [v for v in self.saved if any(s is t for t, _ in self.primal.path[v])]

    def loops(self, v: Var) -> list[Any]:
        return [s for s, _ in self.primal.path[v] if isinstance(s, (For, While))]

    def outside(self, a: Atom) -> bool:
        """Whether an atom is known before the outermost loop around, or made of sizes that are."""
        if isinstance(a, Literal):
            return True
        lacking = a.partial or a in self.primal.partial
        if not (self.primal.path.get(a) or lacking):
            return True
        return (
            isinstance(a.type, Type)
            and a.type.dtype.kind in "iu"
            and all(
                s.given if s.var is None else s.var is not a and self.outside(s.var)
                for s in sizes_in(self.size(a))
            )
        )

    def size(self, a: Atom) -> dims.Size:
        """The size that an integer stands for, also if it is made inside of loops."""
        let = self.primal.let.get(a) if isinstance(a, Var) else None
        if let is None or not self.primal.path.get(let.outs[0]):
            return size_of(a)
        if let.op is size_value:
            return let.params["size"]  # type: ignore[no-any-return]
        if let.op.of_sizes is not None and _is_safe(let):
            return let.op.of_sizes(*map(self.size, let.args))  # type: ignore[no-any-return]
        return var_size(let.outs[0])


def _is_safe(let: Let) -> bool:
    """Whether an integer may be computed of others also where the program does not come to it."""
    integers = all(a.type.dtype.kind in "iu" for a in let.args)
    if let.op in (floordiv, mod):
        by = let.args[1]
        return integers and isinstance(by, Literal) and by.value != 0
    return integers
