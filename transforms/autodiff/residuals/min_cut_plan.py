"""Decides what is saved: a minimum cut between what loops make and what is read backwards."""

from __future__ import annotations

import math
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import Any

from tapeless.transforms.analysis.free_variables import told_by_axes
from tapeless.transforms.analysis.min_cut import minimum_cut
from tapeless.transforms.analysis.suggested_names import word_for
from tapeless.transforms.autodiff.residuals.definitions import Definitions, Path
from tapeless.transforms.autodiff.residuals.reread import Reloads
from tapeless.transforms.autodiff.residuals.saved_functions import (
    arithmetic_is_saved,
    functions_are_saved,
)
from tapeless.transforms.autodiff.residuals.shifted_saves import find_shifted
from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.builder import size_of, var_size
from tapeless.transforms.core.dims import Size
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
from tapeless.transforms.ops.numpy.reductions import REDUCTIONS
from tapeless.transforms.ops.primitives.arithmetic import floordiv, mod, truediv
from tapeless.transforms.ops.primitives.elementwise import power
from tapeless.transforms.ops.primitives.new_arrays import (
    empty,
    new_stack,
    zero_items,
    zeros_of_items,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import gather

#: What it costs to compute a number again where one that is saved costs 1: of what is added up, and
#: of what is moved to another place.
REDUCED, MOVED = 0.3, 0.1
#: Of a function of the elements of an array: it takes longer than to save a number in a cache, but
#: what is too much for a cache is memory that counts.
FUNCTION, FUNCTION_OF_MANY = 2.0, 0.4
#: Of one number of a loop, where compiled code saves arithmetic: a quotient takes as long as some
#: loads, other arithmetic less, but a chain of it as long as the loop that it repeats.
QUOTIENT, ARITHMETIC = 2.0, 0.3
MANY = 1 << 19  # numbers that are too many for a cache: 4 MB
SINGLE = 1.125  # what a number costs that is saved alone, where one of an array costs 1
PASSES, LENGTH = 8, 64  # of loops and axes of which nothing is known


def repeating(let: Let, function: float = FUNCTION) -> float | None:
    """What it costs to compute the elements of a result again, each as a part of what it costs to
    save a number: of the operand, where it is reduced. None where it is saved."""
    op = let.op
    makers = (new_stack, zero_items, zeros_of_items, empty)
    if op.inplace or not op.pure or op in makers:
        return None
    is_number = op.elementwise and not let.outs[0].type.shape
    if is_number and arithmetic_is_saved() and let.outs[0].type.dtype.kind == "f":
        return of_compiled_number(let, function)
    if not op.costly or is_square(let):
        return 0.0
    if is_number:
        return None if functions_are_saved() else 0.0
    if op.moves:
        return MOVED
    if op.elementwise:
        return function
    return REDUCED if is_reduction(let) else None


def of_compiled_number(let: Let, function: float) -> float | None:
    """The same for a number that compiled code computes."""
    if let.op.costly and not is_square(let):
        return None
    if function < FUNCTION:  # memory counts
        return 0.0
    return QUOTIENT if let.op is truediv else ARITHMETIC


def is_reduction(let: Let) -> bool:
    """Whether elements along axes are put together, each once."""
    return let.op in REDUCTIONS


def mirrored_primal(s: Statement, k: int) -> tuple[Any, int]:
    """The statement of the primal program, and its block, that a block of a backward statement
    runs backwards."""
    mirror = s.mirror if isinstance(s, (If, For)) else None
    return mirror, 1 if isinstance(mirror, While) else k


def is_square(let: Let) -> bool:
    """Whether a power is one that is computed as a product or a quotient."""
    return let.op is power and isinstance(let.args[1], Literal) and let.args[1].value in (2, -1)


@dataclass
class Graph:
    """The values that a minimum cut chooses from.

    nodes  all of them
    edges  each pair a value, and another one that is computed from it
    fixed  values that cannot be computed again
    lets   what computes the others
    """

    nodes: dict[Var, None] = field(default_factory=dict)
    edges: list[tuple[Var, Var]] = field(default_factory=list)
    fixed: set[Var] = field(default_factory=set)
    lets: dict[Var, Let] = field(default_factory=dict)


class MinCutPlan:
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

    def need(self, body: Any, path: Path, told: Set[dims.Symbol] = frozenset()) -> None:
        """Notes what statements read; `told` are sizes that the cotangents of a pass show."""
        for s in body:
            for v in reads(s):
                self.need_variable(v)
            if isinstance(s, Let):
                for value in written_params(s).values():
                    self.need_sizes(value, path, told)
            for k, block in enumerate(blocks(s)):
                shown = told | told_by_axes(block.params)
                self.need(block.body, (*path, mirrored_primal(s, k)), shown)
                for a in block.results:
                    if isinstance(a, Var):
                        self.need_variable(a)

    def need_variable(self, v: Var) -> None:
        if self.primal.path.get(v) and v not in self.primal.index:
            self.needed[v] = None

    def need_sizes(self, value: Any, path: Path, told: Set[dims.Symbol]) -> None:
        for symbol in sorted(sizes_in(value), key=lambda s: s.uid):  # names are given in order
            if symbol.var is not None:
                self.need_variable(symbol.var)
                own = self.primal.path.get(symbol.var, ())
                if path[: len(own)] != own and not self.loops(symbol.var):
                    self.elsewhere.add(symbol.var)
            elif symbol in self.primal.homes and symbol not in told:
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
        graph = self.graph()
        kept = self.cut(graph, FUNCTION)
        fewer = self.cut(graph, FUNCTION_OF_MANY)
        for_all_lengths = functions_are_saved()  # C has one code, and nobody to ask for another
        if fewer != kept and not for_all_lengths and self.are_many(kept - fewer):
            kept = fewer
        again: set[Var] = set()
        pending = [v for v in self.needed if v not in kept]
        while pending:
            v = pending.pop()
            if v not in again and v not in kept:
                again.add(v)
                pending += self.operands_of(v)
        return dict.fromkeys(sorted(kept, key=self.primal.order.__getitem__)), again

    def cut(self, graph: Graph, function: float) -> set[Var]:
        """What is saved, where a function costs so much as a part of saving a number."""
        costs = {v: self.cost(v) for v in graph.nodes}
        again = {v: self.recomputation_cost(let, function) or 0 for v, let in graph.lets.items()}

        def cheapest(costs: dict[Var, int]) -> set[Var]:
            nodes, needed = [*graph.nodes], set(self.needed)
            return minimum_cut(nodes, costs, graph.edges, graph.fixed, needed, again)

        kept = cheapest(costs)
        # what a pass leaves in a variable that is saved takes no memory of its own
        carried_on = dict.fromkeys(find_shifted(graph.nodes, self.primal.path), 1)
        if carried_on:
            kept = min(
                kept, cheapest({**costs, **carried_on}), key=lambda c: self.cost_of_all(c, costs)
            )
        return kept

    def cost_of_all(self, kept: set[Var], costs: dict[Var, int]) -> int:
        """What it costs to save variables, of which some share an array."""
        shared = find_shifted(kept, self.primal.path)
        return sum(costs[v] for v in kept if v not in shared)

    def are_many(self, saved: set[Var]) -> bool:
        """Whether some of these variables take more memory than a cache has; the program relies on
        the answer."""
        run = builder.current()
        for v in sorted(saved, key=self.primal.order.__getitem__):
            size = self.whole_size(v)
            number = None if size is None else run.value(size)
            if size is not None and number is not None:
                many = number >= MANY
                run.guard(">=", *((size, MANY) if many else (MANY - 1, size)))
                if many:
                    return True
        return False

    def whole_size(self, v: Var) -> Size | None:
        """How many numbers are saved of a variable by all passes of the loops around it."""
        lengths = [*getattr(v.type, "shape", ())]
        for loop in self.loops(v):
            if not isinstance(loop, For):
                return None
            start, stop, step = map(self.size, (loop.start, loop.stop, loop.step))
            if not isinstance(step, int):
                return None
            lengths.append((stop - start if step > 0 else start - stop) // abs(step))
        return dims.product(lengths)

    def graph(self) -> Graph:
        """The values that the backward part needs, and those that they can be computed from."""
        graph = Graph()
        pending = list(self.needed)
        while pending:
            v = pending.pop()
            if v in graph.nodes:
                continue
            graph.nodes[v] = None
            let = self.standing.read(v) or self.primal.let.get(v)
            if (
                let is None
                or v in self.elsewhere
                or self.recomputation_cost(let, FUNCTION) is None
                or any(x in self.primal.homes for x in sizes_in(tuple(let.params.values())))
            ):
                graph.fixed.add(v)
                continue
            graph.lets[v] = let
            for u in self.operands_of(v):
                graph.edges.append((u, v))
                pending.append(u)
        return graph

    def reads_unchanged_array(self, let: Let) -> bool:
        """Whether elements are read, at places that an array of indices says, of an array that no
        loop changes: to read them again costs what reading them of a saved copy does."""
        indices = (a for a in let.args[1:] if a.type.shape)
        return (
            let.op is gather
            and self.is_outside_loops(let.args[0])
            and all(a.type.dtype.kind in "iu" for a in indices)
        )

    def recomputation_cost(self, let: Let, function: float) -> int | None:
        """The cost of computing a value again; None where it is saved: also where no loop is
        around, and it is only kept."""
        share = 0.0 if self.reads_unchanged_array(let) else repeating(let, function)
        if share is None or not share:
            return None if share is None else 0
        if not self.loops(let.outs[0]):
            return None
        operand = let.args[0] if is_reduction(let) else let.outs[0]
        return int(share * self.elements(operand) * self.passes(let.outs[0]) * 1000)

    def cost(self, v: Var) -> int:
        late = self.primal.order[v] % 500 + (0 if v.name else 500)  # names of the user say more
        single = SINGLE if isinstance(v.type, Type) and not v.type.shape else 1
        return int(single * self.elements(v) * self.passes(v) * 1000) + late

    def elements(self, a: Atom) -> int:
        """How many elements there are, in the call that is being staged where that is known."""
        kind: Any = a.type
        elements = 1
        while isinstance(kind, StackType):
            kind, elements = kind.item, 4096 * elements
        for n in kind.shape:
            length = builder.current().value(n)
            elements *= LENGTH if length is None else length
        return max(elements, 1)

    def passes(self, v: Var) -> int:
        """How often a value is made, in the call that is being staged where that is known."""
        return math.prod(map(self.trips, self.loops(v)))

    def trips(self, loop: For | While) -> int:
        if isinstance(loop, For):
            bounds = (self.size(a) for a in (loop.start, loop.stop, loop.step))
            start, stop, step = map(builder.current().value, bounds)
            if None not in (start, stop, step):
                return max(len(range(start, stop, step)), 1)  # type: ignore[arg-type]
        return PASSES

    # -- where a variable is

    def saved_under(self, s: Statement) -> list[Var]:
        return [v for v in self.saved if any(s is t for t, _ in self.primal.path[v])]

    def loops(self, v: Var) -> list[Any]:
        return [s for s, _ in self.primal.path[v] if isinstance(s, (For, While))]

    def is_outside_loops(self, a: Atom) -> bool:
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
                s.given if s.var is None else s.var is not a and self.is_outside_loops(s.var)
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
        return var_size(let.outs[0], 0)


def _is_safe(let: Let) -> bool:
    """Whether an integer may be computed of others also where the program does not come to it."""
    integers = all(a.type.dtype.kind in "iu" for a in let.args)
    if let.op in (floordiv, mod):
        by = let.args[1]
        return integers and isinstance(by, Literal) and by.value != 0
    return integers
