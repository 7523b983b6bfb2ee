"""Writes the checks of a kernel: indices out of bounds, parts of other lengths, zero divisors."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from tapeless.transforms.core import dims, scalar_form
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Literal, Origin, Statement, Var
from tapeless.transforms.lowering.kernels.small_integers import SmallIntegers
from tapeless.transforms.lowering.rewrite.rolled_indices import is_within
from tapeless.transforms.lowering.schedule.axis_maps import counts_up
from tapeless.transforms.lowering.schedule.loop_nests import LoopNest
from tapeless.transforms.lowering.schedule.view_indices import Place, ViewSpan, entries_of, is_view
from tapeless.transforms.ops.primitives import random_draws
from tapeless.transforms.ops.primitives.arithmetic import add, floordiv, mod, mul, sub, truediv
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    left_shift,
    right_shift,
)
from tapeless.transforms.ops.primitives.elementwise import maximum, minimum
from tapeless.transforms.ops.primitives.joining import array
from tapeless.transforms.ops.primitives.new_arrays import full
from tapeless.transforms.ops.primitives.random_draws import IN_KERNELS, draw
from tapeless.transforms.ops.primitives.shapes import cast
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, add_at, update
from tapeless.transforms.python_text.python_source import number, to_source, write_template

DIVISIONS = ("truediv", "floordiv", "mod")
IN_FLOATS = {
    "add": "1.0 * {0} + {1}",
    "sub": "1.0 * {0} - {1}",
    "mul": "1.0 * {0} * {1}",
    "power": "(1.0 * {0}) ** {1}",
    "left_shift": "{0} * 2.0 ** {1}",
}
BEYOND = "9223372036854775808.0"
LARGEST = 2**63 - 1
LEAST = "{0} < -9223372036854775807"
#: How operations of integers are tested for results beyond 64 bits.
OVERFLOWS = {
    **{name: f"not -{BEYOND} < {value} < {BEYOND}" for name, value in IN_FLOATS.items()},
    **dict.fromkeys(("neg", "abs"), LEAST),
    "floordiv": f"{LEAST} and {{1}} == -1",
}
NO_INTEGER = f"not -{BEYOND} <= {{0}} < {BEYOND}"
TOO_LONG = "an integer of more than 64 bits: use floats, or no jit"
SHIFTS = (left_shift, right_shift)
#: Operations whose results have a dtype that Python's integers must fit.
MET = frozenset(
    {add, sub, mul, truediv, floordiv, mod, bitwise_and, bitwise_or, bitwise_xor, *SHIFTS}
    | {cast, maximum, minimum, full, array}
)
BETWEEN = "not low <= {0} <= high"
WORD = 8  # bytes
SMALL = 2**32
FEW = 2**10

MISFIT = (
    "could not broadcast the value to the part: the lengths differ; one that run-time values "
    "decide is not stretched, even if it is 1: take its element, v[0], or np.resize(v, n)"
)


class Checks(SmallIntegers):
    """`checked` are indices and lengths that are known to be right; `refused` what has been tested
    in the suites around, and how deep; `batches` counts the loops around that go over a batch."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.checked: set[tuple[Let, int | str]] = set()
        self.refused: dict[tuple[Size, Size] | str, int] = {}
        self.batches = 0
        self.tested_ahead_of_loops: set[Let] = set()  # integers

    def end_suite(self) -> None:
        self.refused = {k: depth for k, depth in self.refused.items() if depth <= self.depth}

    def checked_first(self, s: Statement, defined: set[Var]) -> bool:
        """Checks indices that are known before the statements; whether no more is to be done."""
        if not isinstance(s, Let):
            return False
        self.check_integers(s, defined)
        stage = self.stage(s)
        first = 2 if s.op.name in ("update", "add_at") else 1
        entries = stage.entries if stage is not None else entries_of(s) if is_view(s) else ()
        shape = s.args[0].type.shape if entries else ()
        ahead = [
            e
            for e, n in zip(entries or (), shape, strict=True)
            if isinstance(e, Place)
            and not (isinstance(e.at, Slot) and s.args[first + e.at.k] in defined)
            and not any(x.var in defined or self.is_measured_later(x) for x in dims.symbols(n))
        ]
        scalar = [
            e for e in ahead if isinstance(e.at, int) or not s.args[first + e.at.k].type.shape
        ]
        bounds = {
            s.args[first + b.k]
            for e in entries or ()
            if isinstance(e, ViewSpan)
            for b in (e.start, e.stop)
            if isinstance(b, Slot)
        }
        if stage is not None and stage.fits and not bounds & defined:
            self.check_fit(stage, places=False)
        if scalar:
            self.check_index(s, entries, first, None, set(map(id, scalar)))
        return is_view(s) and not self.memory.needs(s) & defined

    def is_measured_later(self, x: dims.Symbol) -> bool:
        """Whether a length is that of a part, the ends of which are not computed yet."""
        part = self.analysis.lengths.get(x)
        return part is not None and x not in self.measured and not self.in_scope(part[0])

    def check_index(
        self,
        s: Let,
        entries: Any,
        first: int,
        index: list[ast.expr] | None = None,
        only: set[int] | None = None,
    ) -> None:
        """Raises IndexError where an element is not there, unless it is known to be."""
        rest, shape = s.args[first:], s.args[0].type.shape
        if not self.analysis.boundscheck:
            return
        for axis, (e, n) in enumerate(zip(entries, shape, strict=True)):
            if isinstance(e, ViewSpan) or (s, axis) in self.checked:
                continue
            if only is not None:
                if id(e) not in only:
                    continue
                self.checked.add((s, axis))
            if isinstance(e.at, int):
                need = e.at + 1 if e.at >= 0 else -e.at
                if not dims.at_least(n, need) and not self.has_elements(n, need):
                    self.refused[self.canon(n), need - 1] = self.depth
                    length = to_source(self.size(n))
                    self.refuse(f"{length} < {need}", str(e.at), axis, length, s.origin)
                continue
            if e.at.within:
                continue
            a = rest[e.at.k]
            if not a.type.shape:
                low, high = self.bounds(self.as_size(a))
                at_end = dims.at_least(self.canon(n) - 1 - high, 0)
                tested = (self.canon(n), self.as_size(a))
                inside = (at_end and self.never_negative(low)) or self.is_remainder(a, n)
                if inside or tested in self.refused:
                    continue
                self.refused[tested] = self.depth
                value, counted = self.atom(a), self.never_negative(low)
            elif is_within(a, n, self.memory.defs) or (
                counts_up(a, self.memory) and self.fits(a.type.shape[0], n)
            ):
                continue
            else:
                where = [number(0) if k is None else (index or [])[k] for k in e.axes]
                value, counted = self.element(a, where), counts_up(a, self.memory)
            text = "{0} >= {1}" if counted else "not -{1} <= {0} < {1}"
            test = write_template(text, value, self.size(n))
            self.refuse(test, to_source(value), axis, to_source(self.size(n)), s.origin)

    def has_elements(self, n: Size, need: int) -> bool:
        """Whether a test around, or above, has found so many elements along an axis."""
        tested = [key for key in self.refused if isinstance(key, tuple)]
        return any(m == self.canon(n) and isinstance(k, int) and k >= need - 1 for m, k in tested)

    def fits(self, count: Size, n: Size) -> bool:
        """Whether there are at least so many elements along an axis, for sure."""
        return dims.at_least(self.canon(n) - self.canon(count), 0)

    def is_remainder(self, a: Atom, n: Size) -> bool:
        """Whether an index is what is left of a division by the length of the axis."""
        s = self.memory.defs.get(a) if isinstance(a, Var) else None
        by = s.args[1] if isinstance(s, Let) and s.op.name == "mod" else None
        if by is None or by.type.dtype != scalar_form.INT or not dims.at_least(self.canon(n), 1):
            return False
        return bool(self.analysis.equal(self.as_size(by), n))

    def check_fit(self, stage: LoopNest, places: bool = True) -> None:
        """Raises where a part is not as long as what is stored to it, or `places` are not as many;
        once for each."""
        for axis in stage.fits:
            if (stage.let, ~axis) not in self.checked:
                self.checked.add((stage.let, ~axis))
                e = stage.entries[axis]
                assert isinstance(e, ViewSpan)
                assert e.axis is not None
                part = self.length(stage.let, axis)
                self.refuse_misfit(stage, self.size(stage.space[e.axis]), part)
        if places and stage.places and (stage.let, "places") not in self.checked:
            self.checked.add((stage.let, "places"))
            for count, length in stage.places:
                self.refuse_misfit(stage, self.size(length), self.size(count))

    def refuse_misfit(self, stage: LoopNest, have: ast.expr, part: ast.expr) -> None:
        """Raises where two lengths differ, unless they are spelled in one way."""
        if to_source(have) != to_source(part):
            with self.suite(f"if {write_template('{0} != {1}', have, part)}:", stage.let.origin):
                self.put(f'raise ValueError("{MISFIT}")')

    def refuse(self, test: str, index: str, axis: int, length: str, origin: Origin | None) -> None:
        """Raises what NumPy raises for an index of an axis, if a test holds."""
        with self.suite(f"if {test}:", origin):
            k, n = (x if x.lstrip("-").isdigit() else f"{{{x}}}" for x in (index, length))
            says = f"index {k} is out of bounds for axis {axis} with size {n}"
            self.put(f'raise IndexError({"f" if "{" in says else ""}"{says}")')

    def check_division(self, stage: LoopNest) -> None:
        """Python's own numbers cannot be divided by zero; floats of a batch are an array's."""
        s = stage.let
        divides = s.op.name in DIVISIONS
        of_integers = divides and s.args[1].type.dtype == scalar_form.INT
        if not s.outs[0].type.weak or (self.batches and not of_integers):
            return
        if s.op.name == "power":
            self.check_power(s.args[0], s.args[1], s.origin)
        if not divides:
            return
        divisor = s.args[1]
        if isinstance(divisor, Literal) and divisor.value:
            return
        if dims.at_least(self.as_size(divisor), 1) if divisor.type.dtype.kind == "i" else False:
            return
        with self.suite(f"if {write_template('{0} == 0', self.atom(divisor))}:", s.origin):
            what = "float division" if "f" in [a.type.dtype.kind for a in s.args] else "division"
            self.put(f'raise ZeroDivisionError("{what} by zero")')

    def check_draw(self, stage: LoopNest) -> None:
        """What NumPy tests before it draws."""
        s = stage.let
        if s.op is not draw:
            return
        parameters = random_draws.parameters(s)
        for refused in IN_KERNELS[s.params["name"]]:
            if all(isinstance(a, Literal) for a in refused.reads(parameters)):
                values = [a.value if isinstance(a, Literal) else None for a in parameters]
                if not refused.holds(*values):
                    continue
            if "isfinite" in refused.test:
                self.imports.add(("math", "isfinite"))
            with self.suite(
                f"if {write_template(refused.test, *map(self.atom, parameters))}:", s.origin
            ):
                self.put(f'raise {refused.error.__name__}("{refused.message}")')

    def check_power(self, base: Atom, exponent: Atom, origin: Origin | None) -> None:
        """Nor has zero negative powers."""
        positive = isinstance(exponent, Literal) and exponent.value >= 0
        complex_ = "c" in (base.type.dtype.kind, exponent.type.dtype.kind)
        if positive or complex_ or (isinstance(base, Literal) and base.value):
            return
        test = write_template("{0} == 0 and {1} < 0", self.atom(base), self.atom(exponent))
        with self.suite(f"if {test}:", origin):
            self.put('raise ZeroDivisionError("zero to a negative power")')

    def check_overflow(self, stage: LoopNest) -> None:
        """Python's own integers have no bounds, those of compiled code have: sums and products
        are tested, as floats, unless they are places in arrays, such as i * n + j."""
        s = stage.let
        if s.op.name == "cast" and s.params.get("python"):
            self.check_whole(s)
        test = overflow_test(s)
        if test is None or not (s.outs[0].type.weak and s.outs[0].type.dtype.kind == "i"):
            return
        if s in self.tested_ahead_of_loops or self.stays_small(s):
            return
        if s.op.name not in IN_FLOATS and self.is_above_least(s):
            return
        test, args = _by_one_factor(s) or (test, s.args)
        with self.suite(f"if {write_template(test, *map(self.atom, args))}:", s.origin):
            self.put(f'raise OverflowError("{TOO_LONG}")')

    def check_whole(self, s: Let) -> None:
        """int(x) of what is no integer of 64 bits."""
        kind = s.args[0].type.dtype
        if s.outs[0].type.dtype != scalar_form.INT or not (kind.kind == "f" or kind == np.uint64):
            return
        x = self.atom(s.args[0])
        if kind == np.uint64:
            with self.suite(f"if {write_template(f'{{0}} > {LARGEST}', x)}:", s.origin):
                self.put(f'raise OverflowError("{TOO_LONG}")')
            return
        if isinstance(s.args[0], Var) and not isinstance(x, ast.Name):
            name = self.names.new(self.names.nameless)
            self.put(f"{name} = {to_source(x)}", s.origin)
            x = self.local[s.args[0]] = ast.Name(name, ast.Load())
        with self.suite(f"if {write_template(NO_INTEGER, x)}:", s.origin):
            with self.suite(f"if {write_template('{0} != {0}', x)}:"):
                self.put('raise ValueError("cannot convert float NaN to integer")')
            self.put(f'raise OverflowError("{TOO_LONG}")')

    def stays_small(self, s: Let) -> bool:
        """Whether a result is a place in an array, or one step further than another integer."""
        small = any(isinstance(a, Literal) and abs(a.value) < SMALL for a in s.args)
        size = self.as_size(s.outs[0])
        place = all(self.is_place(*term) for term in dims.terms_of(size))
        return place or (small and s.op.name in ("add", "sub")) or self.stays_below(size)

    def is_above_least(self, s: Let) -> bool:
        """Whether no operand is one whose opposite takes more than 64 bits."""
        by = s.args[1] if len(s.args) > 1 else None
        if isinstance(by, Literal) and by.value != -1:
            return True
        return bool(dims.at_least(self.bounds(self.as_size(s.args[0]))[0], -SMALL))

    def check_integers(self, s: Let, defined: set[Var]) -> None:
        """Python's integers are those of an array's dtype, or an error, as in NumPy; tested before
        the statements if they are known there."""
        for a in met_by_arrays(s):
            dtype = s.outs[0].type.dtype
            definition = self.memory.defs.get(a) if isinstance(a, Var) else None
            low, high = _bits_that_are_kept(definition) or self.bounds(self.as_size(a))
            limits = np.iinfo(dtype)
            inside = dims.at_least(low - limits.min, 0) and dims.at_least(limits.max - high, 0)
            if a in defined or (s, str(a)) in self.checked or inside:
                continue
            self.checked.add((s, str(a)))
            test = "{0} < 0" if dtype.kind == "u" and dtype.itemsize == WORD else BETWEEN
            limited = test.replace("low", str(limits.min)).replace("high", str(limits.max))
            with self.suite(f"if {write_template(limited, self.atom(a))}:", s.origin):
                value = f" {a.value}" if isinstance(a, Literal) else ""
                what = f"Python integer{value} out of bounds for {dtype.name}"
                self.put(f'raise OverflowError("{what}")')

    def check_shift(self, s: Let) -> None:
        """Python's integers are shifted by none or more bits."""
        count = s.args[1] if s.op in SHIFTS and s.outs[0].type.weak else None
        if count is None or (isinstance(count, Literal) and count.value >= 0):
            return
        if dims.at_least(self.bounds(self.as_size(count))[0], 0):
            return
        with self.suite(f"if {write_template('{0} < 0', self.atom(count))}:", s.origin):
            self.put('raise ValueError("negative shift count")')

    def is_place(self, factors: tuple[dims.Factor, ...], coefficient: int) -> bool:
        """Whether a term is a length, a loop variable or a product of the two, or few of them:
        64 bits hold that for all arrays that there are."""
        lengths = [f for f in factors if isinstance(f, dims.Symbol) and f.given]
        loops = [f for f in factors if isinstance(f, dims.Symbol) and f.var in self.ranges]
        is_simple = len(lengths) + len(loops) == len(factors) <= 2 and len(loops) <= 1
        return is_simple and abs(coefficient) < (FEW if factors else SMALL)

    def refuse_empty(self, stage: LoopNest) -> None:
        """The largest of no numbers is none; NumPy says so also where there are no rows of them."""
        if stage.let.op.name not in ("max", "min") or (stage.let, "empty") in self.checked:
            return
        self.checked.add((stage.let, "empty"))
        full = "maximum" if stage.let.op.name == "max" else "minimum"
        for k in sorted(stage.reduced):
            n = stage.space[k]
            if (isinstance(n, int) and n > 0) or dims.at_least(n, 1):
                continue
            with self.suite(f"if {write_template('{0} == 0', self.size(n))}:", stage.let.origin):
                self.put(
                    f'raise ValueError("zero-size array to reduction operation {full} which has '
                    'no identity")'
                )


def overflow_test(s: Let) -> str | None:
    """Whether a result has more than 64 bits, as text; None where it cannot have."""
    return OVERFLOWS.get(s.op.name)


def _by_one_factor(s: Let) -> tuple[str, list[Atom]] | None:
    """The test of a multiple by a number of the program, which needs no floats: of the other
    factor; and that factor."""
    if s.op is not mul:
        return None
    for a, b in (s.args, s.args[::-1]):
        if isinstance(b, Literal) and b.value and a.type.dtype == scalar_form.INT:
            most = LARGEST // abs(int(b.value))
            return f"not -{most} <= {{0}} <= {most}", [a]
    return None


def _bits_that_are_kept(s: Statement | None) -> tuple[int, int] | None:
    """The least and the largest value of what is left of an integer by a mask of bits of the
    program; None of other statements."""
    if not isinstance(s, Let) or s.op is not bitwise_and:
        return None
    masks = [int(a.value) for a in s.args if isinstance(a, Literal) and a.value >= 0]
    return (0, min(masks)) if masks else None


def met_by_arrays(s: Let) -> list[Atom]:
    """Python's integers that an operation takes for numbers of a smaller integer dtype."""
    out = s.outs[0].type
    stores = s.op in (update, add_at)
    if not (stores or s.op in MET):
        return []
    if out.dtype.kind not in "iu" or out.dtype == scalar_form.INT:
        return []
    operands = s.args[1:2] if stores else s.args
    return [a for a in operands if a.type.weak and a.type.dtype.kind == "i"]


def of_python(s: Let) -> bool:
    """Whether an operation is one of Python's numbers that may raise: a division by zero, or
    integers beyond 64 bits."""
    kind = s.outs[0].type
    divides = s.op.name in DIVISIONS and not (isinstance(s.args[1], Literal) and s.args[1].value)
    return bool(kind.weak and (divides or (kind.dtype.kind == "i" and s.op.name in IN_FLOATS)))
