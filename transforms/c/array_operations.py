"""Writes what a driver does with arrays outside of kernels: copies, parts, products.

y = x[1:].T; z = y @ w      becomes      product_f64(3, 1, x_0 - 1, x + 3, 1, 3, w, 1, 0, z);
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tapeless.transforms.c.bessel_functions import (
    LARGEST_ORDER,
    NAMES_IN_SCIPY,
    OF_WHOLE_ORDERS,
)
from tapeless.transforms.c.library_functions import LibraryFunctions
from tapeless.transforms.c.strided import ZERO, Steps, Strided, product_of, row_strides, sum_of
from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.dialect import suffix
from tapeless.transforms.c_text.expressions import ExpressionPrinter, KernelScope, product
from tapeless.transforms.c_text.statements import out_of_bounds
from tapeless.transforms.c_text.values import (
    POSTFIX,
    SHIFT,
    SUM,
    CValue,
    NotPrintedError,
    c_type,
    cast,
    constant,
)
from tapeless.transforms.core.language import TAPE, Atom, Let, Literal, Statement
from tapeless.transforms.lowering.device_memory import memory
from tapeless.transforms.lowering.obstacles import library_of
from tapeless.transforms.lowering.optimize.materialized_views import whole as whole_value
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT
from tapeless.transforms.lowering.scalars.operations import form_of, scalar_expression
from tapeless.transforms.lowering.schedule.view_indices import (
    Entry,
    Place,
    ViewSpan,
    entries_of,
    key_entries,
)
from tapeless.transforms.lowering.sizes.size_equalities import single_symbol
from tapeless.transforms.ops.function_table import special_family
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives import joining, new_arrays, shapes, slices_and_gathers
from tapeless.transforms.ops.primitives.axis_lengths import axis_size, copy_if_set, size_if_set
from tapeless.transforms.ops.primitives.index_keys import Slot

MAKES = (memory, new_arrays.empty, new_arrays.zeros, new_arrays.ones, new_arrays.full)
COPIES = (shapes.copy, copy_if_set, whole_value)
LETTERS = "ijklmnpq"


def helper_for_scipy(s: Let) -> str:
    """The function of `helpers` for one of SciPy's operations; "" for others."""
    if "scipy.special" not in sys.modules:  # SciPy is optional
        return ""
    special = special_family()
    bessel = {getattr(special, name): f"bessel_{name}" for name in NAMES_IN_SCIPY}
    if s.args and _is_whole_order(s.args[0]):
        bessel |= {getattr(special, name): f"bessel_{name[0]}n" for name in OF_WHOLE_ORDERS}
    return {special.psi: "digamma", special.zeta: "hurwitz_zeta", **bessel}.get(s.op, "")


def _is_whole_order(a: Atom) -> bool:
    """Whether a number is one of the orders that Bessel functions have here."""
    if not isinstance(a, Literal) or a.type.dtype.kind not in "if":
        return False
    return bool(abs(a.value) <= LARGEST_ORDER and a.value == int(a.value))


class _NoModule:
    """Scalar forms of drivers need nothing but functions that C has."""

    def __init__(self) -> None:
        self.imports: set[tuple[str, str]] = set()
        self.helpers: dict[str, None] = {}


class ArrayOperations(LibraryFunctions):
    """Operations outside of kernels."""

    def is_constant(self, view: Strided) -> bool:
        """Whether memory may not be stored to."""
        raise NotImplementedError

    def check_equal(self, n: CValue, m: CValue) -> None:
        """A test of lengths that have to be equal."""
        raise NotImplementedError

    def broadcast_strides(self, view: Strided, lengths: Sequence[CValue]) -> Steps:
        """The strides of a value that is stored: none along axes that it has not, or one of."""
        missing = len(lengths) - len(view.lengths)
        if missing < 0:
            raise NotPrintedError("a store of an array with more axes than its place")
        steps = [ZERO] * missing
        for n, stride, length in zip(view.lengths, view.strides, lengths[missing:], strict=True):
            if n.known != 1 and not self.are_equal_lengths([n], [length]):
                self.check_equal(n, length)
            steps.append(ZERO if n.known == 1 else stride)
        return tuple(steps)

    def operation(self, s: Let) -> None:
        """An operation that is no call of a kernel."""
        out = s.outs[0]
        if s.op in MAKES:
            self.new_array(s)
        elif s.op in COPIES:  # without a value it is memory that none reads
            self.copy(self.view(s.args[0]), self.make(out), s)
        elif s.op is matmul:
            self.matrix_product(s)
        elif s.op is joining.array:
            whole = self.make(out)
            for k, a in enumerate(s.args):
                self.put(
                    f"{whole.element(constant(k))} = {cast(self.number(a), out.type.dtype).text};",
                    s,
                )
        elif s.op is joining.concatenate:
            self.concatenate(s)
        elif s.op is new_arrays.arange:
            self.arange(s)
        elif s.op is new_arrays.eye:
            self.diagonal(s)
        elif s.op in (slices_and_gathers.update, slices_and_gathers.add_at):
            self.update(s)
        elif s.op is new_arrays.zero_tape and out.type.shape and out.type != TAPE:
            self.zeros_like(s)
        elif s.op is shapes.broadcast_to and not s.args[0].type.shape:
            self.full(s)
        elif out.type.shape and s.args and entries_of(s, clipped=True) is not None:
            self.know(out, self.part(s))
        elif s.op is shapes.reshape and self.view(s.args[0]).is_whole:
            old, lengths = self.view(s.args[0]), self.lengths_of(out.type.shape)
            self.know(out, replace(old, lengths=lengths, strides=row_strides(lengths)))
        elif s.op is slices_and_gathers.index and not out.type.shape:
            self.element(s)
        elif s.op in (axis_size, size_if_set):  # an array without a value has no elements
            self.set(out, self.view(s.args[0]).lengths[s.params["axis"]], s)
        elif not out.type.shape and _has_form(s):
            self.scalar(s)
        elif _has_form(s):
            self.elementwise(s)
        elif not self.library_function(s):
            raise NotPrintedError(library_of(s)[1])

    def concatenate(self, s: Let) -> None:
        """Arrays one after another along an axis."""
        whole, axis = self.make(s.outs[0]), s.params["axis"] % len(s.outs[0].type.shape)
        for a in s.args:
            part = self.view(a)
            if part.dtype != whole.dtype:
                raise NotPrintedError("parts of several dtypes")
            self.copy(part, replace(whole, lengths=part.lengths), s)
            step = product_of(part.lengths[axis], whole.strides[axis])
            whole = replace(whole, offset=sum_of(whole.offset, step))

    def arange(self, s: Let) -> None:
        """start, start + step, ..."""
        view, k = self.make(s.outs[0]), self.fresh("k")
        start, _, step = (cast(self.number(a), view.dtype) for a in s.args)
        at = CValue(k, INT, natural=True)
        more = product_of(cast(at, view.dtype), step)
        value = arithmetic.binary(ast.Add(), start, more)
        head = f"for (i64 {k} = 0; {k} < {view.lengths[0].operand(SHIFT)}; {k}++)"
        self.put(f"{head} {view.element(at)} = {cast(value, view.dtype).text};", s)
        self.taken.discard(k)

    def diagonal(self, s: Let) -> None:
        """Ones on a diagonal, and zeros."""
        view, k = self.make(s.outs[0]), s.params["k"]
        row, column = constant(max(-k, 0)), constant(max(k, 0))
        self.loop_over_elements(
            *(view.lengths, (view.strides, (constant(1), ZERO), (ZERO, constant(1)))),
            lambda at: (
                f"{view.element(at[0])} = "
                f"{sum_of(at[1], column).operand(SUM)} == {sum_of(at[2], row).operand(SUM)};"
            ),
            s,
        )

    def full(self, s: Let) -> None:
        """An array of one number, which is in memory once."""
        out = s.outs[0]
        name, value = self.fresh(out.name or "same"), cast(self.number(s.args[0]), out.type.dtype)
        self.put(f"const {c_type(out.type.dtype)} {name}[1] = {{{value.text}}};", s)
        lengths = self.lengths_of(out.type.shape)
        self.know(out, Strided(name, out.type.dtype, lengths, (ZERO,) * len(lengths)))

    def update(self, s: Let) -> None:
        """A store to a part of an array, which keeps its place, or an addition to it."""
        base, value = self.view(s.args[0]), s.args[1]
        if self.is_constant(base):
            raise NotPrintedError("a store to an argument that is none")
        shape, key, rest = s.args[0].type.shape, s.params["key"], s.args[2:]
        entries = key_entries(key, rest, shape, clipped=True)
        if entries is None:
            raise NotPrintedError("a store by an array of indices outside of kernels")
        pairs = zip(entries, base.lengths, strict=True)
        axes = [(e, n) for e, n in pairs if isinstance(e, ViewSpan) and e.axis is not None]
        lengths = tuple(self.length(*axis, rest) for axis in axes)
        if value.type.shape:
            stored = self.view(value)
            strides = self.broadcast_strides(stored, lengths)
            own = dict(zip(reversed(range(len(axes))), reversed(stored.lengths), strict=False))
            lengths = tuple(
                own[k] if k in own and own[k].known != 1 else n for k, n in enumerate(lengths)
            )
            stored = replace(stored, lengths=lengths, strides=strides)
        part = self.part_of(base, entries, lengths, rest, s)
        sign = "+=" if s.op is slices_and_gathers.add_at else "="
        if not value.type.shape:
            number = cast(self.number(value), part.dtype).text
            self.loop_over_elements(
                *(part.lengths, (part.strides,)),
                lambda at: f"{part.element(*at)} {sign} {number};",
                s,
            )
        else:
            if stored.memory == base.memory:  # else loop form has copied what is read
                raise NotPrintedError("a store of a part of an array to itself outside of kernels")
            self.copy(stored, part, s, sign)
        self.know(s.outs[0], base)

    def length(self, span: ViewSpan, n: CValue, rest: Sequence[Atom]) -> CValue:
        """How many elements a slice has."""
        if span.step < 0:
            distance = self.distance_down(span, n, rest)
        else:
            distance = self.distance_up(span, n, rest)
        if abs(span.step) == 1:
            return distance
        wide = arithmetic.binary(ast.Add(), distance, constant(abs(span.step) - 1))
        return arithmetic.binary(
            ast.FloorDiv(), replace(wide, natural=True), constant(abs(span.step))
        )

    def distance_down(self, span: ViewSpan, n: CValue, rest: Sequence[Atom]) -> CValue:
        """From where a slice starts down to where it stops: 0 if that is above."""
        start = self.slice_start(span, n, rest)
        if span.stop is None:
            return arithmetic.binary(ast.Add(), start, constant(1))
        stop = self.slot(span.stop, rest)
        if not isinstance(stop.known, int):
            raise NotPrintedError("a slice that counts down to where values say")
        if stop.known < 0:
            stop = arithmetic.extreme("max", [self.from_start(stop, n), constant(-1)])
        return arithmetic.extreme("max", [arithmetic.binary(ast.Sub(), start, stop), ZERO])

    def distance_up(self, span: ViewSpan, n: CValue, rest: Sequence[Atom]) -> CValue:
        """From where a slice starts up to where it stops: 0 if that is below."""
        start, stop = self.slice_start(span, n, rest), self.end(span, n, rest)
        if start.known == 0:
            return stop
        if (
            start.known is not None
            and stop.text == n.text
            and start.known <= self.least.get(n.text, 0)
        ):
            return arithmetic.binary(ast.Sub(), stop, start)
        return arithmetic.extreme("max", [arithmetic.binary(ast.Sub(), stop, start), ZERO])

    def end(self, span: ViewSpan, n: CValue, rest: Sequence[Atom]) -> CValue:
        """Where a slice ends."""
        if span.stop is None:
            return n
        k = self.slot(span.stop, rest)
        if not isinstance(k.known, int):
            return CValue(f"slice_start({k.text}, {n.text}, {n.text})", INT, natural=True)
        if k.known >= 0:
            return arithmetic.extreme("min", [n, k])
        return arithmetic.extreme("max", [self.from_start(k, n), ZERO])

    def element(self, s: Let) -> None:
        """A number of an array."""
        view = self.part(s)
        self.set(s.outs[0], CValue(view.element(ZERO), view.dtype, POSTFIX), s)

    def scalar(self, s: Let) -> None:
        """An operation on numbers."""
        if s.op is shapes.cast and self.number(s.args[0]).dtype == s.outs[0].type.dtype:
            self.numbers[s.outs[0]] = self.number(s.args[0])
            return
        self.set(s.outs[0], self.of_numbers(s, [self.number(a) for a in s.args]), s)

    @staticmethod
    def of_numbers(s: Let, values: Sequence[CValue]) -> CValue:
        """What an operation makes of one number of each operand."""
        if helper := helper_for_scipy(s):
            texts = [cast(x, np.dtype(float)).text for x in values]
            return CValue(f"{helper}({', '.join(texts)})", np.dtype(float))
        scope, names = KernelScope(), []
        for k, value in enumerate(values):
            scope.fixed[f"a{k}"] = value
            names.append(ast.Name(f"a{k}", ast.Load()))
        module = _NoModule()
        tree = scalar_expression(s, [*names], module)
        if module.helpers:
            raise NotPrintedError(library_of(s)[1])
        return ExpressionPrinter(scope).number(tree)

    def elementwise(self, s: Let) -> None:
        """An operation on all elements, in an order that kernels do not have."""
        shaped = [self.view(a) for a in s.args if a.type.shape]
        if not shaped or any(a.type.ndim not in (0, s.outs[0].type.ndim) for a in s.args):
            raise NotPrintedError(library_of(s)[1])
        lengths = max((x.lengths for x in shaped), key=lambda ns: sum(n.known != 1 for n in ns))
        strides = [self.broadcast(x, lengths, s) for x in shaped]
        out = self.make(s.outs[0], lengths)

        def store_element(places: Sequence[CValue]) -> str:
            elements = iter(zip(shaped, places[1:], strict=True))
            values = []
            for a in s.args:
                if not a.type.shape:
                    values.append(self.number(a))
                    continue
                x, place = next(elements)
                values.append(CValue(x.element(place), x.dtype, POSTFIX))
            return f"{out.element(places[0])} = {cast(self.of_numbers(s, values), out.dtype).text};"

        self.loop_over_elements(lengths, (out.strides, *strides), store_element, s)

    def broadcast(self, x: Strided, lengths: Sequence[CValue], s: Let) -> Sequence[CValue]:
        """The strides of an operand: none along axes of one element."""
        strides = []
        for n, stride, length in zip(x.lengths, x.strides, lengths, strict=True):
            if n.known != 1 and not self.are_equal_lengths([n], [length]):
                raise NotPrintedError(f"{library_of(s)[1]} of several lengths")
            strides.append(ZERO if n.known == 1 and length.known != 1 else stride)
        return strides

    def new_array(self, s: Let) -> None:
        view = self.make(s.outs[0], self.lengths_of(s.params["shape"]))
        if s.op in (memory, new_arrays.empty):
            return
        first = {new_arrays.zeros: constant(0), new_arrays.ones: constant(1)}.get(s.op)
        value = cast(self.number(s.args[0]) if first is None else first, view.dtype)
        count, k = product(view.lengths), self.fresh("k")
        at = CValue(k, INT, natural=True)
        head = f"for (i64 {k} = 0; {k} < {count.operand(SHIFT)}; {k}++)"
        self.put(f"{head} {view.element(at)} = {value.text};", s)
        self.taken.discard(k)

    def zeros_like(self, s: Let) -> None:
        """As many zeros as an array has elements, which may be there on one side of a test only."""
        zeros = self.make(s.outs[0], self.view(s.args[0]).lengths)
        self.loop_over_elements(
            *(zeros.lengths, (zeros.strides,)), lambda at: f"{zeros.element(at[0])} = 0;", s
        )

    def part(self, s: Let) -> Strided:
        """A part or another order of an array."""
        base, entries, rest = self.view(s.args[0]), entries_of(s, clipped=True) or (), s.args[1:]
        lengths = self.lengths_of_part(s, base, entries)
        return self.part_of(base, entries, lengths, rest, s)

    def lengths_of_part(
        self, s: Let, base: Strided, entries: Sequence[Entry]
    ) -> tuple[CValue, ...]:
        """The lengths of a part; those that depend on values are computed."""
        pairs = zip(entries, base.lengths, strict=False)
        axes = {e.axis: (e, n) for e, n in pairs if isinstance(e, ViewSpan) and e.axis is not None}
        lengths = []
        for axis, size in enumerate(s.outs[0].type.shape):
            symbol = single_symbol(size)
            if symbol is not None and not self.has(symbol) and axis in axes:
                value = self.length(*axes[axis], s.args[1:])
                if not value.is_plain:
                    name = self.fresh(symbol.name if symbol.name.isidentifier() else "count")
                    self.put(f"const i64 {name} = {value.text};", s)
                    value = CValue(name, INT, natural=True)
                self.learn(size, value)
            lengths.append(self.size(size))
        return tuple(lengths)

    def part_of(
        self,
        base: Strided,
        entries: Sequence[Entry],
        lengths: tuple[CValue, ...],
        rest: Sequence[Atom],
        s: Let,
    ) -> Strided:
        """The part that entries of a key say, of such lengths. An index is tested first."""
        strides, offset = [ZERO] * len(lengths), base.offset
        for axis, entry in enumerate(entries):
            stride, n = base.strides[axis], base.lengths[axis]
            if isinstance(entry, Place):
                if entry.axes:
                    raise NotPrintedError("an array of indices outside of kernels")
                at = self.index(self.slot(entry.at, rest), n, axis, s)
            else:
                at = self.slice_start(entry, n, rest)
                if entry.axis is not None:
                    strides[entry.axis] = product_of(stride, constant(entry.step))
            offset = sum_of(offset, product_of(at, stride))
        return replace(base, lengths=lengths, strides=tuple(strides), offset=offset)

    def index(self, k: CValue, n: CValue, axis: int, s: Let) -> CValue:
        """An index that counts from the start, after the test that there is such an element."""
        error = out_of_bounds(axis)
        if isinstance(k.known, int):
            least = k.known + 1 if k.known >= 0 else -k.known
            if least <= self.least.get(n.text, 0):
                return self.from_start(k, n)
            outside = arithmetic.compare(ast.Lt(), n, constant(least))
        else:
            outside = arithmetic.compare(ast.GtE(), k, n)
            if not k.natural:
                below = arithmetic.compare(ast.Lt(), k, arithmetic.unary(ast.USub(), n))
                outside = ExpressionPrinter.and_or(False, [below, outside])
        if outside.known is True:
            raise NotPrintedError(error[1][0])
        if outside.known is None:
            self.put(f"if ({outside.text}) return {self.code(error)};", s)
        return self.from_start(k, n)

    @staticmethod
    def from_start(k: CValue, n: CValue) -> CValue:
        """An index into n elements, negative ones from their end, as one that counts from 0."""
        if isinstance(k.known, int):
            return k if k.known >= 0 else arithmetic.binary(ast.Sub(), n, constant(-k.known))
        return k if k.natural else CValue(f"from_end({k.text}, {n.text})", INT, natural=True)

    def slice_start(self, span: ViewSpan, n: CValue, rest: Sequence[Atom]) -> CValue:
        """Where a slice starts. Lengths rely on what is known of constants, which is tested."""
        if span.start is None:
            return arithmetic.binary(ast.Sub(), n, constant(1))
        k = self.slot(span.start, rest)
        if span.step < 0:
            if isinstance(k.known, int) and isinstance(n.known, int):
                return constant(slice(k.known, None, -1).indices(n.known)[0])
            return CValue(f"last_of_slice({k.text}, {n.text})", INT)
        if isinstance(k.known, int):
            return self.from_start(k, n)
        return CValue(f"slice_start({k.text}, {n.text}, {n.text})", INT, natural=True)

    def slot(self, at: int | Slot, rest: Sequence[Atom]) -> CValue:
        return cast(self.number(rest[at.k]), INT) if isinstance(at, Slot) else constant(at)

    def matrix_product(self, s: Let) -> None:
        """A product of vectors or matrices, or of stacks of them, by loops."""
        a, b = (self.view(x) for x in s.args)
        out = s.outs[0]
        if a.dtype != b.dtype or a.dtype.kind not in "iuf" or out.type.dtype != a.dtype:
            raise NotPrintedError("a product of several dtypes outside of kernels")
        if out.type.shape:
            pointer = self.make(out).memory
        else:
            name = self.fresh(out.name or "product")
            self.put(f"{c_type(out.type.dtype)} {name};")
            self.numbers[out] = CValue(name, out.type.dtype)
            pointer = f"&{name}"
        lead = [len(x.lengths) - 2 for x in (a, b)]
        stacked = max(0, *lead)
        if stacked > 1 or (stacked and min(len(a.lengths), len(b.lengths)) < 2):
            raise NotPrintedError("a product of stacks of several axes outside of kernels")
        if not stacked:
            self.product(a, b, pointer, s)
            return
        k = self.fresh("k")
        count = (a if lead[0] else b).lengths[0]
        if all(lead) and not self.are_equal_lengths(a.lengths[:1], b.lengths[:1]):
            raise NotPrintedError("a product of stacks of several lengths outside of kernels")
        with self.braces(f"for (i64 {k} = 0; {k} < {count.operand(SHIFT)}; {k}++)", s):
            pass_ = CValue(k, INT, natural=True)
            parts = [_item(x, pass_) if n else x for x, n in zip((a, b), lead, strict=True)]
            size = product([parts[0].lengths[0], parts[1].lengths[1]])
            self.product(
                parts[0], parts[1], f"{pointer} + {product_of(pass_, size).operand(SUM)}", None
            )

    def product(self, a: Strided, b: Strided, pointer: str, s: Let | None) -> None:
        """a @ b, of matrices or vectors."""
        unit, none = constant(1), constant(0)
        rows = a.lengths[0] if len(a.lengths) == 2 else unit
        columns = b.lengths[1] if len(b.lengths) == 2 else unit
        a_strides = a.strides if len(a.strides) == 2 else (none, *a.strides)
        b_strides = b.strides if len(b.strides) == 2 else (*b.strides, none)
        texts = [x.text for x in (rows, columns, a.lengths[-1])]
        texts += [a.pointer, *(x.text for x in a_strides), b.pointer, *(x.text for x in b_strides)]
        self.put(f"product_{suffix(a.dtype)}({', '.join(texts)}, {pointer});", s)

    def copy(self, view: Strided, to: Strided, s: Statement | None = None, sign: str = "=") -> None:
        """The numbers of an array, to a place of others, or added to them."""

        def store_element(places: Sequence[CValue]) -> str:
            place, source = places
            return f"{to.element(place)} {sign} {view.element(source)};"

        self.loop_over_elements(view.lengths, (to.strides, view.strides), store_element, s)

    def loop_over_elements(
        self,
        lengths: Sequence[CValue],
        strides: Sequence[Sequence[CValue]],
        text: Callable[[Sequence[CValue]], str],
        s: Statement | None,
    ) -> None:
        """Loops over all elements; the text of one is told its place, by each of the strides."""
        names = [self.fresh(letter) for letter in LETTERS[: len(lengths)]]
        counters = [CValue(name, INT, natural=True) for name in names]
        for k, (name, n) in enumerate(zip(names, lengths, strict=True)):
            head = f"for (i64 {name} = 0; {name} < {n.operand(SHIFT)}; {name}++) {{"
            self.put(head, None if k else s)
            self.depth += 1
        places = []
        for steps in strides:
            place = ZERO
            for counter, step in zip(counters, steps, strict=True):
                place = sum_of(place, product_of(counter, step))
            places.append(place)
        self.put(text(places))
        for name in names:
            self.depth -= 1
            self.put("}")
            self.taken.discard(name)


def _has_form(s: Let) -> bool:
    """Whether an operation makes a number of one of each operand."""
    return form_of(s) is not None or (
        bool(helper_for_scipy(s)) and s.outs[0].type.dtype.kind == "f"
    )


def _item(x: Strided, k: CValue) -> Strided:
    """An item of a stack."""
    offset = sum_of(x.offset, product_of(k, x.strides[0]))
    return replace(x, lengths=x.lengths[1:], strides=x.strides[1:], offset=offset)
