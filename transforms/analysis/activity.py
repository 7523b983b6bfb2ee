"""Finds the values that depend on the inputs that a function is differentiated with respect to
(activity analysis).

def f(x, n): y = n * n; return x * y      depends on x by its result, y does not
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    Function,
    If,
    Let,
    Statement,
    Var,
    While,
    blocks,
    operands,
    outputs,
    statements,
)
from tapeless.transforms.ops.primitives.arithmetic import floordiv, fmod, mod
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    ceil,
    floor,
    rint,
    sign,
    trunc,
)
from tapeless.transforms.ops.primitives.function_calls import is_call
from tapeless.transforms.ops.primitives.identities import stopped

JUMPING = frozenset([ceil, floor, floordiv, fmod, mod, rint, sign, trunc])

Key = tuple[Function, frozenset[int]]  # a function, and which of its parameters are inputs
Parts = tuple[frozenset[int], frozenset[int]]  # parameters and results that depend on the inputs


def dependents(block: Block, inputs: Iterable[Var]) -> set[Var]:
    """The inputs and all variables that depend on them by arithmetic, which may have a tangent
    where these have one."""
    return _Dependence().dependents(block, set(inputs))


def variables_if_test_depends(block: Block, inputs: Iterable[Var]) -> set[Var]:
    """The inputs and all variables that vary with them, also integers and what tests decide;
    nothing if no test depends on the inputs."""
    search = _Dependence(tests=True)
    varying_inside = search.dependents(block, set(inputs))
    return varying_inside if search.decides else set()


def last_digit_decides(block: Block, inputs: Iterable[Var]) -> bool:
    """Whether a test, an integer, a comparison or a function with jumps depends on the inputs: what
    these round to may then decide more than the last digit of a result."""
    search = _Dependence(tests=True)
    varying = search.dependents(block, set(inputs))
    return search.decides or any(
        isinstance(s, Let | Effect) and not varying.isdisjoint(s.args) and _jumps(s)
        for s in statements(block)
    )


def _jumps(s: Let | Effect) -> bool:
    """Whether it is no continuous function of numbers; of functions that are called nothing is
    known."""
    if isinstance(s, Effect) or s.op in JUMPING or is_call(s):
        return True
    return not all(v.type.differentiable for v in s.outs)


def active_parts(
    function: Function, active_positions: Iterable[int]
) -> tuple[tuple[int, ...], list[int]]:
    """The positions of the parameters and results of a function that have tangents, where those
    in `active_positions` have one: those that the function gives to itself do, too."""
    ins, outs = _Dependence().parts(function, frozenset(active_positions))
    return tuple(sorted(ins)), sorted(outs)


class _Dependence:
    """tests   integers count, and what tests on the inputs decide
    decides  whether a test depends on the inputs
    table    what is known by now of functions that are called, the least that is consistent"""

    def __init__(self, tests: bool = False) -> None:
        self.tests, self.news, self.decides = tests, False, False
        self.table: dict[Key, Parts] = {}

    def dependents(self, block: Block, inputs: set[Var]) -> set[Var]:
        varies = self.closure(block, inputs)
        while self.settles_not():
            varies = self.closure(block, inputs)
        return varies

    def parts(self, function: Function, at: frozenset[int]) -> Parts:
        active = function.derived.get(("parts", at))
        if active is None:
            self.table[function, at] = at, frozenset()
            while self.settles_not():
                pass
            for (f, active_positions), parts in self.table.items():
                f.derived["parts", active_positions] = parts
            active = self.table[function, at]
        return active

    def settles_not(self) -> bool:
        self.news = False
        for function, at in list(self.table):
            self.update(function, at)
        return self.news

    def update(self, function: Function, at: frozenset[int]) -> None:
        block, (ins, _) = function.block, self.table[function, at]
        varies = self.closure(block, {block.params[k] for k in ins})
        for s in statements(block):
            if isinstance(s, Let) and is_call(s) and s.params["function"] is function:
                ins |= self.varying_operands(s, varies)
        results = enumerate(block.results)
        outs = frozenset(k for k, a in results if a in varies and self.counts(a))
        self.news |= (ins, outs) != self.table[function, at]
        self.table[function, at] = ins, outs

    def counts(self, a: Atom) -> bool:
        return bool(self.tests or a.type.differentiable)

    def varying_operands(self, s: Let, varies: set[Var]) -> frozenset[int]:
        return frozenset(k for k, a in enumerate(s.args) if a in varies and self.counts(a))

    def closure(self, block: Block, inputs: set[Var]) -> set[Var]:
        varies = set(inputs)
        while True:
            before = len(varies)
            self.propagate(block, varies, False)
            if len(varies) == before:
                return varies

    def propagate(self, block: Block, varies: set[Var], within: bool) -> None:
        """`within`: whether a test that depends on the inputs decides what is run."""
        for s in block.body:
            if isinstance(s, Let):
                varying_outputs = s.outs if within else self.of_let(s, varies)
            else:
                inside = within or (self.tests and _is_decided(s, varies))
                self.decides |= inside
                for b in blocks(s):
                    self.propagate(b, varies, inside)
                handed = (v for v, a in handed_on(s) if a in varies)
                varying_outputs = outputs(s) if inside else tuple(handed)
            varies.update(v for v in varying_outputs if self.counts(v))

    def of_let(self, s: Let, varies: set[Var]) -> tuple[Var, ...]:
        at = self.varying_operands(s, varies)
        if not at or (s.op is stopped and not self.tests):
            return ()
        if not is_call(s):
            return s.outs
        function = s.params["function"]
        settled = None if self.tests else function.derived.get(("parts", at))
        active = settled or self.table.get((function, at))
        if active is None:
            self.table[function, at] = active = at, frozenset()
            self.news = True
        return tuple(s.outs[k] for k in active[1])


def handed_on(s: Statement) -> Iterator[tuple[Var, Atom]]:
    """What a branch or a loop gives other names: each with the name."""
    match s:
        case If():
            for side in blocks(s):
                yield from zip(s.outs, side.results, strict=True)
        case For():
            for names in (s.carries, s.outs):
                yield from zip(names, s.inits, strict=True)
                yield from zip(names, s.yields, strict=True)
        case While():
            for names in (s.test.params, s.body.params, s.outs):
                yield from zip(names, s.inits, strict=True)
                yield from zip(names, s.body.results, strict=True)


def _is_decided(s: Statement, varies: set[Var]) -> bool:
    """Whether a test or a range that depends on the inputs decides what is run, or how often."""
    match s:
        case If():
            return s.test in varies
        case While():
            return s.test.results[0] in varies
        case For():
            ends = s.until and s.body.results[0] in varies
            return ends or any(a in varies for a in operands(s)[:3])
    return False
