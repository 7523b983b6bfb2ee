"""Outlines functions that are called several times: they become functions of the program.

    h = tanh(x @ w1 + b1)                     h = layer(x, w1, b1)
    y = tanh(h @ w2 + b2)      becomes        y = layer(h, w2, b2)

A staged run writes out every call and remembers the stretch of statements that it made. Stretches
that are the same but for the names of their values become one function, where that saves enough;
its derivative is then one function, too.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.free_variables import hidden_sizes, parts_of_axes
from tapeless.transforms.analysis.structural_hash import StructuralForm
from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.language import (
    Block,
    Function,
    Let,
    Origin,
    StackType,
    Statement,
    Type,
    Var,
    blocks,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.size_value import INT, size_value
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.core.uses import reads, sizes_in
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.linalg.factorisations import eigh, svd
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.arithmetic import mul, truediv
from tapeless.transforms.ops.primitives.elementwise import conjugate
from tapeless.transforms.ops.primitives.function_calls import CALLS, acts
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.shapes import broadcast_to, reshape, transpose

#: Which results of factorisations are eigenvectors, and what gives the same ones scaled or moved.
EIGENVECTORS = {eigh: (1,), svd: (0, 2)}
SCALED = (mul, truediv, matmul, conjugate, transpose, reshape, broadcast_to, identity)
SAVES = 24  # statements that an outlined function must save at least


@dataclass(eq=False)
class Stretch:
    """What one call of a function recorded, and how the function calls its arguments."""

    name: str
    code: Any
    body: list[Statement]
    names: dict[Var, str]
    origin: Origin | None

    @functools.cached_property
    def length(self) -> int:
        """How many statements it has, with those inside of branches and loops."""
        return sum(1 for _ in statements(Block((), tuple(self.body), ())))


@dataclass
class Outlined:
    """A function, which of the values of a stretch it gives, and which sizes it takes."""

    function: Function
    results: list[int]
    sizes: list[int]
    pure: bool


class Outline:
    """Finds equal stretches in a block, and puts calls in their place."""

    def __init__(
        self, block: Block, stretches: list[Stretch], given_sizes: set[dims.Symbol]
    ) -> None:
        self.block, self.given = block, given_sizes
        self.starts: dict[int, list[Stretch]] = defaultdict(list)
        outer_first = _often_repeated(stretches)[::-1]  # a call ends after those inside of it
        for stretch in sorted(outer_first, key=lambda s: -len(s.body)):
            self.starts[id(stretch.body[0])].append(stretch)
        self.forms: dict[Stretch, StructuralForm] = {}
        self.results: dict[Any, set[int]] = defaultdict(set)
        self.found: list[Stretch] = []
        self.total = _read_counts(block.body)
        self.total.update(a for a in block.results if isinstance(a, Var))
        self.eigenvectors = _eigenvectors(block)
        self.chosen: set[Any] = set()
        self.functions: dict[Any, Outlined] = {}

    def run(self) -> Block:
        if not self.starts:
            return self.block
        self.search(list(self.block.body))
        count = Counter(self.forms[s].key for s in self.found)
        size = {self.forms[s].key: s.length for s in self.found}
        self.chosen = {key for key, n in count.items() if (n - 1) * size[key] >= SAVES}
        if not self.chosen:
            return self.block
        return replace(self.block, body=tuple(self.rewritten(list(self.block.body))))

    def longest_at(self, body: list[Statement], k: int, inside: Stretch | None) -> Stretch | None:
        """The longest stretch that starts here, but for the one that is being looked into."""
        for s in self.starts.get(id(body[k]), ()):
            whole = inside is not None and len(s.body) >= len(inside.body)
            run = body[k : k + len(s.body)]
            if not whole and len(run) == len(s.body) and all(map(operator.is_, run, s.body)):
                return s
        return None

    def search(self, body: list[Statement], inside: Stretch | None = None) -> None:
        """Notes all stretches that could become calls, and what is read of them outside."""
        k = 0
        while k < len(body):
            stretch = self.longest_at(body, k, inside)
            if stretch is None:
                for b in blocks(body[k]):
                    self.search(list(b.body))
                k += 1
                continue
            self.search(stretch.body, stretch)
            k += len(stretch.body)
            form = self.forms[stretch] = StructuralForm(stretch.body)
            if self.makes_sizes(form) or not self.eigenvectors.isdisjoint(form.inputs):
                continue
            if any(map(_is_list_of_floats, form.inputs)):
                continue
            self.found.append(stretch)
            within = _read_counts(stretch.body)
            numbers = {v: n for n, v in enumerate(form.made)}
            for v in (v for s in stretch.body for v in outputs(s)):
                if self.total[v] > within[v]:
                    self.results[form.key].add(numbers[form.again.get(v, v)])

    def makes_sizes(self, form: StructuralForm) -> bool:
        """Whether there are sizes in it that are known only after it has run."""
        shown_sizes = sizes_in(tuple(v.type for v in form.inputs)) | self.given
        return any(s.var is None for s in sizes_in(tuple(v.type for v in form.made)) - shown_sizes)

    def rewritten(self, body: list[Statement], inside: Stretch | None = None) -> list[Statement]:
        rewritten: list[Statement] = []
        k = 0
        while k < len(body):
            stretch = self.longest_at(body, k, inside)
            if stretch is None:
                rewritten.append(self.inner(body[k]))
                k += 1
                continue
            if stretch in self.found and self.forms[stretch].key in self.chosen:
                rewritten += self.call(stretch)
            else:
                rewritten += self.rewritten(stretch.body, stretch)
            k += len(stretch.body)
        return rewritten

    def inner(self, s: Statement) -> Statement:
        def block(b: Block) -> Block:
            return replace(b, body=tuple(self.rewritten(list(b.body))))

        return with_blocks(s, block)

    def call(self, stretch: Stretch) -> list[Statement]:
        form = self.forms[stretch]
        if form.key not in self.functions:
            self.functions[form.key] = self.outline_stretch(stretch, form)
        outlined = self.functions[form.key]
        symbols = list(form.symbols)
        lengths = [Var(INT, "n") for _ in outlined.sizes]
        sizes: list[Statement] = [
            Let((n,), size_value, (), {"size": dims.single(symbols[k])}, stretch.origin)
            for n, k in zip(lengths, outlined.sizes, strict=True)
        ]
        outs = tuple(form.made[k] for k in outlined.results)
        args = (*form.inputs, *lengths)
        call = Let(
            outs, CALLS[outlined.pure], args, {"function": outlined.function}, stretch.origin
        )
        definitions = builder.current().definitions
        for v in form.made:
            definitions.pop(v, None)
        definitions |= dict.fromkeys(outs, call)
        same = [
            Let((v,), identity, (earlier,), {}, stretch.origin)
            for v, earlier in form.again.items()
            if earlier in outs
        ]
        return [*sizes, call, *same]

    def outline_stretch(self, stretch: Stretch, form: StructuralForm) -> Outlined:
        """The function that stands for a stretch."""
        results = sorted(self.results[form.key])
        body = tuple(self.rewritten(stretch.body, stretch))
        block = Block(tuple(form.inputs), body, tuple(form.made[k] for k in results))
        parts = parts_of_axes(form.inputs)
        lengths = hidden_sizes(block, form.inputs, self.given, {*parts})
        sizes: dict[Any, Any] = parts | {symbol: n.size for symbol, n in lengths.items()}
        fresh, _ = refresh(block, sizes)
        fresh = replace(fresh, params=(*fresh.params, *lengths.values()))
        for p, v in zip(fresh.params, form.inputs, strict=False):
            p.name = stretch.names.get(v, p.name)
        function = Function(stretch.name, lambda: fresh)
        return Outlined(function, results, [form.symbols[s] for s in lengths], not acts(fresh))


def _often_repeated(stretches: list[Stretch]) -> list[Stretch]:
    """The stretches of functions that were called often enough to matter."""
    total: Counter[Any] = Counter()
    longest: dict[Any, int] = {}
    for s in stretches:
        total[s.code] += s.length
        longest[s.code] = max(s.length, longest.get(s.code, 0))
    return [s for s in stretches if total[s.code] - longest[s.code] >= SAVES]


def _is_list_of_floats(v: Var) -> bool:
    """A function that reads an item of such a list would have a whole list as its derivative."""
    item = v.type.item if isinstance(v.type, StackType) else None
    return isinstance(item, Type) and item.dtype.kind in "fc"


def _eigenvectors(block: Block) -> set[Var]:
    """Eigenvectors, also scaled and moved. Products with them stay beside what makes them: together
    they have derivatives where eigenvalues coincide (`autodiff.spectral_recognition`)."""
    vectors: set[Var] = set()
    for s in statements(block):
        if isinstance(s, Let) and s.op in EIGENVECTORS:
            vectors.update(s.outs[k] for k in EIGENVECTORS[s.op])
        elif isinstance(s, Let) and s.op in SCALED and not vectors.isdisjoint(s.args):
            vectors.update(s.outs)
    return vectors


def _read_counts(body: Iterable[Statement]) -> Counter[Var]:
    """How often each variable is read, also through sizes."""
    reads_of: Counter[Var] = Counter()
    for s in statements(Block((), tuple(body), ())):
        reads_of.update(reads(s))
        reads_of.update(a for b in blocks(s) for a in b.results if isinstance(a, Var))
        inner = (*outputs(s), *(p for b in blocks(s) for p in b.params))
        sizes = (x.var for v in inner for x in sizes_in(v.type))
        reads_of.update(v for v in sizes if v is not None)
    return reads_of


def outline(block: Block, stretches: list[Stretch], given_sizes: set[dims.Symbol]) -> Block:
    """The block with functions in the place of what was recorded several times.

    stretches    what calls recorded since the block was begun
    given_sizes  the sizes of its inputs
    """
    return Outline(block, stretches, given_sizes).run() if stretches else block
