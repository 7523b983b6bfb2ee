"""Makes values of loop bodies and branches available to the backward part: saved or recomputed.

    for t in range(n):                        for t in range(n):
        x = x * sin(x)                            x_saved[t] = x
    ...                           becomes         x = x * sin(x)
    for t in reversed(range(n)):              for t in reversed(range(n)):
        x_bar = x_bar * cos(<x of pass t>)        x = x_saved[t]
                                                  x_bar = x_bar * cos(x)

What is saved is a minimum cut between what the loop makes and what the backward part reads, as in
AOTAutograd's partitioner; arithmetic, comparisons and reads of elements are computed again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.builder import size_of
from tapeless.transforms.core.language import (
    TAPE,
    Atom,
    Block,
    Effect,
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
    free_variables,
    operands,
    outputs,
)
from tapeless.transforms.core.rewriting import map_sizes, replace_symbols, retype
from tapeless.transforms.core.sizes import INT
from tapeless.transforms.errors import InternalError
from tapeless.transforms.jvp import is_dead
from tapeless.transforms.maxflow import minimum_cut
from tapeless.transforms.ops import creation, indexing, stacks
from tapeless.transforms.ops.elementwise import floordiv, sub
from tapeless.transforms.ops.sizes import axis_size

Path = tuple[tuple[Any, int], ...]  # (structured statement, which of its blocks), outer first


class Primal:
    """Where each variable of the primal program is defined."""

    def __init__(self, body: list[Statement]) -> None:
        self.path: dict[Var, Path] = {}
        self.let: dict[Var, Let] = {}
        self.order: dict[Var, int] = {}
        self.homes: dict[dims.Symbol, Var] = {}
        self.index: set[Var] = set()
        self.partial: set[Var] = set()  # what only one side of a branch gives a value
        outside = free_variables(Block((), tuple(body), ()))
        self.given = set().union(*(sizes_in(v.type) for v in outside))
        self.scan(body, ())

    def define(self, v: Var, path: Path) -> None:
        self.path[v] = path
        self.order[v] = len(self.order)
        if not path:  # what was not made inside of a loop or branch before is known everywhere
            self.given |= {s for s in sizes_in(v.type) if s not in self.homes}

    def born(self, v: Var, sources: Any) -> None:
        """Sizes of v that none of the values it is made from has."""
        known = set().union(*(sizes_in(a.type) for a in sources)) if sources else set()
        for symbol in sizes_in(v.type) - known - self.given:
            if (
                symbol.var is None
                and self.path[v]
                and dims.single(symbol) in getattr(v.type, "shape", ())
            ):
                self.homes.setdefault(symbol, v)

    def scan(self, body: Any, path: Path) -> None:
        for s in body:
            for k, block in enumerate(blocks(s)):
                inner = (*path, (s, k))
                for p in block.params:
                    self.define(p, inner)
                tested = isinstance(s, While) and k == 0
                inits = s.inits if isinstance(s, (For, While)) and not tested else ()
                for p, init in zip(
                    block.params[-len(inits) :] if inits else (), inits, strict=True
                ):
                    self.born(p, (init,))
                if isinstance(s, For):
                    self.index.add(s.index)
                if isinstance(s, While) and k == 1:
                    self.index.add(block.params[0])
                self.scan(block.body, inner)
            for k, v in enumerate(outputs(s)):
                self.define(v, path)
                if isinstance(s, Let):
                    self.let[v] = s
                    self.born(v, [*s.args, *map(_Sized, written_params(s))])
                elif isinstance(s, If):
                    self.born(v, [*s.then.results, *s.orelse.results])
                    if any(is_dead(side.results[k]) for side in blocks(s)):
                        self.partial.add(v)
                elif isinstance(s, (For, While)):
                    self.born(v, s.body.results)


class _Sized:
    """Something with sizes in it, as if it were a type."""

    def __init__(self, value: Any) -> None:
        self.type = value


def sizes_in(value: Any) -> set[dims.Symbol]:
    if isinstance(value, dims.Dim):
        return dims.symbols(value)
    if isinstance(value, Type):
        return sizes_in(value.shape)
    if isinstance(value, StackType):
        return sizes_in(value.item)
    if isinstance(value, (tuple, list)):
        return set().union(*map(sizes_in, value)) if value else set()
    return set()


def written_params(s: Let) -> list[Any]:
    """The parameters of an operation that its source shows."""
    text = s.op.source(s.args, s.params) if callable(s.op.source) else s.op.source
    text = text[0] if isinstance(text, tuple) else text
    return [value for key, value in s.params.items() if f"{{{key}" in text]


def reads(s: Statement) -> list[Var]:
    """Variables a statement reads itself, also through sizes."""
    found = [a for a in operands(s) if isinstance(a, Var)]
    if isinstance(s, Let):
        for v in s.params.values():
            found += [x.var for x in sizes_in(v) if x.var is not None]
    return found


def recomputable(let: Let) -> bool:
    op = let.op
    makers = ("new_stack", "zero_items", "zeros_of_items", "empty")
    if op.inplace or not op.pure or op.name in makers:
        return False
    return not op.costly or (op.elementwise and not let.outs[0].type.shape)


class Residuals:
    """Plans what is saved, then rebuilds the primal and the backward statements."""

    def __init__(self, primal: list[Statement], backward: list[Statement]) -> None:
        self.run = builder.current() if builder.active() else builder.Builder()
        self.body, self.backward = primal, backward
        self.primal = Primal(primal)
        self.local: set[Var] = set()  # variables that the backward part defines itself
        self.extra_sizes: dict[dims.Symbol, Var] = {}
        self.needed: dict[Var, None] = {}
        self.need(backward)
        if self.extra_sizes:
            return
        self.saved, self.again = self.plan()

    # -- what the backward part reads

    def need(self, body: Any) -> None:
        for s in body:
            for v in reads(s):
                self.need_variable(v)
            if isinstance(s, Let):
                for value in s.params.values():
                    self.need_sizes(value)
            for block in blocks(s):
                self.need(block.body)
                for a in block.results:
                    if isinstance(a, Var):
                        self.need_variable(a)

    def need_variable(self, v: Var) -> None:
        if self.primal.path.get(v) and v not in self.primal.index:
            self.needed[v] = None

    def need_sizes(self, value: Any) -> None:
        for symbol in sizes_in(value):
            if symbol.var is not None:
                self.need_variable(symbol.var)
            elif symbol in self.primal.homes:
                home = self.primal.homes[symbol]
                self.extra_sizes.setdefault(symbol, home)

    def operands_of(self, v: Var) -> list[Var]:
        return [
            a
            for a in reads(self.primal.let[v])
            if self.primal.path.get(a) and a not in self.primal.index
        ]

    def plan(self) -> tuple[dict[Var, None], set[Var]]:
        """The saved variables and those computed again."""
        nodes: dict[Var, None] = {}
        left = list(self.needed)
        edges: list[tuple[Var, Var]] = []
        fixed: set[Var] = set()
        while left:
            v = left.pop()
            if v in nodes:
                continue
            nodes[v] = None
            let = self.primal.let.get(v)
            if (
                let is None
                or not recomputable(let)
                or any(x in self.primal.homes for x in sizes_in(tuple(let.params.values())))
            ):
                fixed.add(v)
                continue
            for u in self.operands_of(v):
                edges.append((u, v))
                left.append(u)
        cut = minimum_cut(
            list(nodes), {v: self.cost(v) for v in nodes}, edges, fixed, set(self.needed)
        )
        again: set[Var] = set()
        left = [v for v in self.needed if v not in cut]
        while left:
            v = left.pop()
            if v not in again and v not in cut:
                again.add(v)
                left += self.operands_of(v)
        return dict.fromkeys(sorted(cut, key=self.primal.order.__getitem__)), again

    def cost(self, v: Var) -> int:
        kind: Any = v.type
        elements = 1
        while isinstance(kind, StackType):
            kind, elements = kind.item, 4096 * elements
        for s in kind.shape:
            elements *= s if isinstance(s, int) else 64
        depth = sum(isinstance(s, (For, While)) for s, _ in self.primal.path[v])
        return int(max(elements, 1) * 8**depth * 1000 + self.primal.order[v] % 1000)

    # -- storage

    def loops(self, v: Var) -> list[Any]:
        return [s for s, _ in self.primal.path[v] if isinstance(s, (For, While))]

    def outside(self, a: Atom) -> bool:
        """Whether an atom is known before the outermost loop around."""
        return isinstance(a, Literal) or not (self.primal.path.get(a) or a in self.primal.partial)

    def in_array(self, v: Var) -> bool:
        """An array with one entry a pass, if all trip counts and the shape are known beforehand."""
        loops = self.loops(v)
        for loop in loops:
            if not isinstance(loop, For) or not all(
                self.outside(a) for a in (loop.start, loop.stop, loop.step)
            ):
                return False
            if not isinstance(loop.step, Literal):
                return False
        if isinstance(v.type, StackType) or v.type == TAPE:
            return False
        for symbol in sizes_in(v.type):
            if symbol in self.primal.homes or (
                symbol.var is not None and not self.outside(symbol.var)
            ):
                return False
        return True

    def kind(self, v: Var) -> str:
        if not self.loops(v):
            return "branch"
        return "array" if self.in_array(v) else "stack"

    def position(self, v: Var, new: dict[Var, Atom]) -> tuple[Any, list[Atom]]:
        """The key and index atoms of this pass in the array that saves v."""
        rest: list[Atom] = []
        for loop in self.loops(v):
            k: Atom = new.get(loop.index, loop.index)
            if not (isinstance(loop.start, Literal) and loop.start.value == 0):
                k = sub(k, loop.start)
            if loop.step.value != 1:
                k = floordiv(k, loop.step)
            rest.append(k)
        key = tuple(indexing.Slot(k) for k in range(len(rest))) + (slice(None),) * v.type.ndim
        return key, rest

    def allocate(self, v: Var) -> Atom:
        kind = self.kind(v)
        if kind == "branch":
            return Literal(None, v.type)
        if kind == "stack":
            item = v.type if not isinstance(v.type, Type) else Type(v.type.dtype, v.type.shape)
            made = stacks.new_stack(item=item)
        else:
            counts = tuple(_trips(loop, self.run) for loop in self.loops(v))
            made = creation.empty(shape=(*counts, *v.type.shape), dtype=v.type.dtype)
        made.name = storage_name(v)
        return made  # type: ignore[no-any-return]

    def save(self, v: Var, storage: Atom) -> Atom:
        match self.kind(v):
            case "branch":
                return v
            case "stack":
                made = stacks.push(storage, v)
            case _:
                key, rest = self.position(v, {})
                made = indexing.update(storage, v, *rest, key=key)
        if isinstance(made, Var):
            made.name = storage.name if isinstance(storage, Var) else ""
        return made  # type: ignore[no-any-return]

    # -- rebuilding the primal part

    def under(self, s: Statement) -> list[Var]:
        return [v for v in self.saved if any(s is t for t, _ in self.primal.path[v])]

    def rebuild(self, body: Any, path: Path, storage: dict[Var, Atom]) -> None:
        """Records `body` with saves; `storage` follows the stores of each saved variable."""
        b = builder.current()
        for s in body:
            b.origin = s.origin
            inner = self.under(s) if blocks(s) else []
            if not inner:
                b.emit(s)
            else:
                for v in inner:
                    if v not in storage:
                        storage[v] = self.allocate(v)
                self.rebuild_structured(s, path, inner, storage)
            if isinstance(s, Let):
                for v in s.outs:
                    b.definitions[v] = s
            for v in outputs(s):
                if v in self.saved:
                    storage[v] = self.save(v, storage[v])

    def rebuild_block(
        self, s: Statement, k: int, path: Path, inner: list[Var], storage: dict[Var, Atom]
    ) -> tuple[list[Statement], list[Atom]]:
        b = builder.current()
        block = blocks(s)[k]
        with b.block() as statements:
            local = dict(storage)
            for p in block.params:
                if p in self.saved:
                    local[p] = self.save(p, local[p])
            self.rebuild(block.body, (*path, (s, k)), local)
        return statements, [local[v] for v in inner]

    def rebuild_structured(
        self, s: Statement, path: Path, inner: list[Var], storage: dict[Var, Atom]
    ) -> None:
        b = builder.current()
        kinds = [storage[v].type for v in inner]
        names = [
            a.name if isinstance(a, Var) else v.name for v, a in ((v, storage[v]) for v in inner)
        ]
        outs = tuple(Var(t, n) for t, n in zip(kinds, names, strict=True))
        if isinstance(s, If):
            made_blocks = []
            for k, block in enumerate((s.then, s.orelse)):
                statements, finals = self.rebuild_block(s, k, path, inner, storage)
                made_blocks.append(Block((), tuple(statements), (*block.results, *finals)))
            b.emit(replace(s, outs=(*s.outs, *outs), then=made_blocks[0], orelse=made_blocks[1]))
        else:
            params = tuple(Var(t, n) for t, n in zip(kinds, names, strict=True))
            k = 1 if isinstance(s, While) else 0
            statements, finals = self.rebuild_block(
                s, k, path, inner, {**storage, **dict(zip(inner, params, strict=True))}
            )
            old = blocks(s)[k]
            block = Block((*old.params, *params), tuple(statements), (*old.results, *finals))
            assert isinstance(s, (For, While))
            inits = (*s.inits, *(storage[v] for v in inner))
            if isinstance(s, While):
                test_params = tuple(Var(t, n) for t, n in zip(kinds, names, strict=True))
                test = Block((*s.test.params, *test_params), s.test.body, s.test.results)
                b.emit(replace(s, outs=(*s.outs, *outs), inits=inits, test=test, body=block))
            else:
                b.emit(replace(s, outs=(*s.outs, *outs), inits=inits, body=block))
        storage.update(zip(inner, outs, strict=True))

    # -- rebuilding the backward part

    def run_back(
        self, body: Any, path: Path, storage: dict[Var, Atom], new: dict[Var, Atom]
    ) -> None:
        b = builder.current()
        for s in body:
            b.origin = s.origin
            match s:
                case Let():
                    outs = tuple(self.fresh(v, new) for v in s.outs)
                    made = Let(
                        outs,
                        s.op,
                        tuple(self.renamed(a, new) for a in s.args),
                        map_sizes(s.params, new),
                        s.origin,
                    )
                    b.emit(made)
                    for v in outs:
                        b.definitions[v] = made
                case Effect():
                    b.emit(replace(s, args=tuple(self.renamed(a, new) for a in s.args)))
                case If() | For():
                    self.back_structured(s, path, storage, new)
                case _:
                    raise TypeError(s)

    def fresh(self, v: Var, new: dict[Var, Atom]) -> Var:
        kind = (
            retype(v.type, new)
            if not isinstance(v.type, StackType)
            else StackType(retype(v.type.item, new))
        )
        if kind != v.type:
            made = Var(kind, v.name, v.origin)
            new[v] = made
            return made
        return v

    def renamed(self, a: Atom, new: dict[Var, Atom]) -> Atom:
        if isinstance(a, Var) and a in new:
            return new[a]
        if isinstance(a, Var) and self.primal.path.get(a):
            raise InternalError(
                f"the value of {a.name or self.primal.let.get(a)} is needed by the backward part, "
                "but not at hand"
            )
        return a

    def back_structured(
        self, s: If | For, path: Path, storage: dict[Var, Atom], new: dict[Var, Atom]
    ) -> None:
        b = builder.current()
        popped = (
            [v for v in self.under(s.mirror) if self.kind(v) == "stack"]
            if s.mirror is not None
            else []
        )
        kinds = [storage[v].type for v in popped]
        names = [storage[v].name for v in popped]  # type: ignore[union-attr]
        outs = tuple(Var(t, n) for t, n in zip(kinds, names, strict=True))
        if isinstance(s, If):
            test = self.renamed(s.test, new)
            made = [
                self.back_block(block, s.mirror, k, path, popped, dict(storage), dict(new), ())
                for k, block in enumerate((s.then, s.orelse))
            ]
            b.emit(
                If(
                    (*(self.fresh(v, new) for v in s.outs), *outs),
                    test,
                    made[0],
                    made[1],
                    None,
                    s.origin,
                )
            )
        else:
            start, stop, step = (self.renamed(a, new) for a in (s.start, s.stop, s.step))
            inits = (*(self.renamed(a, new) for a in s.inits), *(storage[v] for v in popped))
            params = tuple(Var(t, n) for t, n in zip(kinds, names, strict=True))
            inner_new = dict(new)
            index = Var(s.index.type, s.index.name, s.index.origin)
            inner_new[s.index] = index
            carries = tuple(self.fresh(p, inner_new) for p in s.carries)
            which = 1 if isinstance(s.mirror, While) else 0
            body = self.back_block(
                s.body,
                s.mirror,
                which,
                path,
                popped,
                {**storage, **dict(zip(popped, params, strict=True))},
                inner_new,
                (index, *carries, *params),
            )
            b.emit(
                For(
                    (*(self.fresh(v, new) for v in s.outs), *outs),
                    start,
                    stop,
                    step,
                    inits,
                    body,
                    s.reverse,
                    origin=s.origin,
                )
            )
        storage.update(zip(popped, outs, strict=True))

    def back_block(
        self,
        block: Block,
        mirror: Any,
        k: int,
        path: Path,
        popped: list[Var],
        storage: dict[Var, Atom],
        new: dict[Var, Atom],
        params: tuple[Var, ...],
    ) -> Block:
        b = builder.current()
        here = (*path, (mirror, k))
        with b.block() as statements:
            self.load(here, storage, new)
            self.run_back(block.body, here, storage, new)
            results = tuple(self.renamed(a, new) for a in block.results)
        return Block(params, tuple(statements), (*results, *(storage[v] for v in popped)))

    def load(self, here: Path, storage: dict[Var, Atom], new: dict[Var, Atom]) -> None:
        """Reads what was saved in this block and computes the rest again."""
        b = builder.current()
        loaded = []
        for v in self.saved:
            if self.primal.path[v] != here:
                continue
            match self.kind(v):
                case "branch":
                    new[v] = storage[v]
                    continue
                case "stack":
                    rest, value = stacks.pop.bind(storage[v])
                    storage[v] = rest
                    assert isinstance(rest, Var)
                    assert isinstance(value, Var)
                    rest.name = storage_name(v)
                case _:
                    key, position = self.position(v, new)
                    value = indexing.index(storage[v], *position, key=key)
            value.name = v.name
            new[v] = value
            loaded.append(v)
        renamed: Any = new  # sizes too
        for v in loaded:  # their sizes are those of this pass, under new names
            for n in getattr(v.type, "shape", ()):
                for symbol in dims.symbols(n):
                    if symbol in self.primal.homes and n == dims.single(symbol):
                        renamed.setdefault(symbol, dims.symbol(symbol.name, symbol.lower))
        for v in loaded:
            renamed[v].type = retype(v.type, new)
        for v in sorted(
            (v for v in self.again if self.primal.path[v] == here),
            key=self.primal.order.__getitem__,
        ):
            let = self.primal.let[v]
            if v in new:
                continue
            outs = tuple(Var(retype(o.type, new), o.name, o.origin) for o in let.outs)
            made = Let(
                outs,
                let.op,
                tuple(self.renamed(a, new) for a in let.args),
                map_sizes(let.params, new),
                let.origin,
            )
            b.emit(made)
            for o, fresh in zip(let.outs, outs, strict=True):
                new[o] = fresh
                b.definitions[fresh] = made


def storage_name(v: Var) -> str:
    if v.type == TAPE:
        return f"{v.name.removesuffix('_saved')}_tapes"
    return f"{v.name}_saved" if v.name else "saved"


def _trips(loop: For, run: builder.Builder) -> dims.Size:
    """How many passes a loop makes; `run` may know that its bounds are in order."""
    start, stop, step = size_of(loop.start), size_of(loop.stop), size_of(loop.step)
    assert isinstance(step, int)
    low, high = (start, stop) if step > 0 else (stop, start)
    length = run.length(low, high)
    return length if abs(step) == 1 else (length + (abs(step) - 1)) // abs(step)


Wanted = dict[Var, list[dims.Symbol]]


class Sized:
    """The primal statements with `k = v.shape[i]` after each variable whose run-time size is
    needed later."""

    def __init__(self, wanted: Wanted, made: dict[dims.Symbol, Var]) -> None:
        self.wanted, self.made = wanted, made
        self.new: dict[int, Statement] = {}  # what became of each structured statement

    def statements(self, body: Any) -> list[Statement]:
        out: list[Statement] = []
        for s in body:
            old = s
            match s:
                case If():
                    s = replace(s, then=self.block(s.then), orelse=self.block(s.orelse))
                case For() | While():
                    s = replace(s, body=self.block(s.body))
            self.new[id(old)] = s
            out.append(s)
            out += _size_lets(outputs(s), self.wanted, self.made)
        return out

    def block(self, block: Block) -> Block:
        first = _size_lets(block.params, self.wanted, self.made)
        return Block(block.params, (*first, *self.statements(block.body)), block.results)

    def mirrored(self, body: Any) -> list[Statement]:
        """Backward statements that mirror the new primal ones."""
        out: list[Statement] = []
        for s in body:
            match s:
                case If():
                    then, orelse = (
                        Block(b.params, tuple(self.mirrored(b.body)), b.results)
                        for b in (s.then, s.orelse)
                    )
                    s = replace(
                        s, then=then, orelse=orelse, mirror=self.new.get(id(s.mirror), s.mirror)
                    )
                case For():
                    b = Block(s.body.params, tuple(self.mirrored(s.body.body)), s.body.results)
                    s = replace(s, body=b, mirror=self.new.get(id(s.mirror), s.mirror))
            out.append(s)
        return out


def _size_lets(
    defined: tuple[Var, ...], wanted: Wanted, made: dict[dims.Symbol, Var]
) -> list[Statement]:
    found: list[Statement] = []
    for v in defined:
        for symbol in wanted.get(v, ()):
            axis = v.type.shape.index(dims.single(symbol))
            found.append(Let((made[symbol],), axis_size, (v,), {"axis": axis}))
    return found


def resolve(
    primal: list[Statement], backward: list[Statement]
) -> tuple[list[Statement], list[Statement], dict[Var, Atom]]:
    """Primal statements that save, and backward statements that read only what is in scope; and
    what the variables that the backward part reads at its own top level are called now."""
    plan = Residuals(primal, backward)
    if plan.extra_sizes:
        made: dict[dims.Symbol, Var] = {}
        wanted: Wanted = {}
        for symbol, home in plan.extra_sizes.items():
            made[symbol] = Var(INT, "n")
            made[symbol].size = dims.symbol("n", 0, made[symbol])
            wanted.setdefault(home, []).append(symbol)
        sized = Sized(wanted, made)
        primal = sized.statements(primal)
        names = {symbol: v.size for symbol, v in made.items()}
        backward = sized.mirrored(replace_symbols(Block((), tuple(backward), ()), names).body)
        plan = Residuals(primal, backward)
    b = builder.Builder()
    with builder.building(b):
        for s in primal:
            if isinstance(s, Let):
                for v in s.outs:
                    b.definitions[v] = s
        storage: dict[Var, Atom] = {}
        new: dict[Var, Atom] = {}
        plan.rebuild(primal, (), storage)
        forward = list(b.blocks[0])
        b.blocks[0] = []
        plan.run_back(backward, (), storage, new)
    return forward, b.blocks[0], new


__all__ = ["resolve"]
