"""Prints functions that call themselves as functions of C.

def half(x): return x if x < 1 else half(x / 2)      becomes

    static int half(double x, i64 depth, double* out) {
      if (depth > 1000) return 1;
      ...
      const int failed = half(0.5 * x, depth + 1, &value);
      if (failed) return failed;

Numbers lie on the stack, and so do short arrays whose lengths are known. Other arrays, and what is
saved for derivatives, lie in memory that the caller of the whole function passes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from tapeless.transforms.c.driver import OURS, Argument, DriverWriter, Output
from tapeless.transforms.c.driver_scope import stored_dtype
from tapeless.transforms.c.growing_lists import ROOM, TOO_LONG
from tapeless.transforms.c.kernel import print_kernel
from tapeless.transforms.c.strided import Strided
from tapeless.transforms.c.tapes import TapeRecord, TapeRecords
from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.expressions import product
from tapeless.transforms.c_text.long_lines import declaration, in_width
from tapeless.transforms.c_text.renaming import ascii_name, words
from tapeless.transforms.c_text.statements import Error
from tapeless.transforms.c_text.values import (
    POSTFIX,
    PRODUCT,
    SUM,
    CValue,
    NotPrintedError,
    c_type,
    cast,
    constant,
)
from tapeless.transforms.core.language import (
    NOTHING,
    TAPE,
    Atom,
    Function,
    Let,
    Literal,
    Statement,
    Type,
    Var,
)
from tapeless.transforms.lowering.lower import Lowered, lower
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import DOUBLE, INT, Dtype
from tapeless.transforms.lowering.target import C
from tapeless.transforms.ops.primitives.function_calls import bundle, is_call, unbundle
from tapeless.transforms.pipelines.array_form import array_form

DEEPEST = 1000  # calls in one another, as in Python
LONGEST = 64  # numbers of an array on the stack
TOO_DEEP: Error = ("RecursionError", ("maximum recursion depth exceeded",))
DEPTH = CValue("depth", INT, natural=True)
MEMORY = "memory"  # what calls are passed, if any of them needs memory
MEMORY_OF_CALLS = "memory_of_calls"  # where it lies
#: Names that functions and their callers have themselves.
RESERVED = (*OURS, MEMORY, "calls", MEMORY_OF_CALLS, "low")
PASSED = re.compile(rf", {MEMORY}\b")


class RecursiveFunctions:
    """The functions that a program calls by name, each of which is printed once. `errors` are those
    of the whole program."""

    def __init__(self, taken: set[str], errors: list[Error]) -> None:
        self.taken, self.errors = taken, errors
        self.writers: dict[Function, RecursiveFunction] = {}
        self.records = TapeRecords(taken)
        self.need_memory = False

    def function_for(self, function: Function) -> RecursiveFunction:
        """What prints a function; its head is known before it is written, for it calls itself."""
        if function not in self.writers:
            name = ascii_name(function.name)
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            block = array_form(function.block, len(function.block.results))
            lowered = lower(name, block, (), boundscheck=True, target=C)
            self.writers[function] = RecursiveFunction(name, lowered, self)
            self.writers[function].write()
        return self.writers[function]

    @property
    def texts(self) -> list[str]:
        """Heads, kernels and functions, in the order of C."""
        writers = self.writers.values()
        heads = [in_width(w.head(");")) for w in writers]
        kernels = [text for w in writers for _, k in w.printed for text in (*k.called, k.text)]
        functions = [in_width(self.with_memory(w.text)) for w in writers]
        return [*self.records.texts, *heads, *dict.fromkeys(kernels), *functions]

    def with_memory(self, lines: Sequence[str]) -> list[str]:
        """Lines with calls, without memory that no function needs."""
        if self.need_memory:
            return [*lines]
        return [PASSED.sub("", line) for line in lines]


class CallingWriter(DriverWriter):
    """Writes a function that may call others by name."""

    functions: RecursiveFunctions
    depth_of_calls = constant(0)
    stem = "call"  # of names of records
    own_names: tuple[str, ...] = RESERVED

    def write(self) -> None:
        super().write()
        self.lines = self.functions.with_memory(self.lines)
        if self.functions.need_memory:
            self.begin_memory()

    def begin_memory(self) -> None:
        """The memory of all calls, which is part of that of the function."""
        self.work.append((MEMORY_OF_CALLS, DOUBLE, (ROOM,)))
        size = f"{ROOM.text} / 2 * 2 * sizeof(double)"
        self.lines[:0] = [
            f"  call_memory calls = {{(char*){MEMORY_OF_CALLS}, 0, {size}}};",
            f"  call_memory* {MEMORY} = &calls;",
        ]

    def operation(self, s: Let) -> None:
        if is_call(s):
            self.call_function(s)
        elif s.op is bundle:
            self.save(s)
        elif s.op is unbundle:
            self.read_saved(s)
        else:
            super().operation(s)

    def call_function(self, s: Let) -> None:
        writer, texts = self.functions.function_for(s.params["function"]), []
        for a, argument in zip(s.args, writer.arguments, strict=True):
            if not isinstance(argument.type, Type):
                raise NotPrintedError("a list that a function gets which calls itself")
            if argument.type.shape:
                view = self.contiguous(a, argument.name, is_written=False)
                pairs = zip(view.lengths, argument.lengths, strict=True)
                texts += [view.pointer, *(n.text for n, name in pairs if name)]
            else:
                texts.append(cast(self.number(a), argument.type.dtype).text)
        texts += [self.depth_of_calls.text, MEMORY]
        for v, dtype in zip(s.outs, writer.dtypes, strict=True):
            if v.type.shape:
                texts.append(self.make(v).pointer)
                continue
            name = self.fresh(v.name or "value")
            self.put(f"{c_type(dtype)} {name};")
            self.numbers[v] = CValue(name, dtype)
            texts.append(f"&{name}")
        failed = self.fresh("failed_")
        self.put(f"const int {failed} = {writer.function_name}({', '.join(texts)});", s)
        self.put(f"if ({failed}) return {failed};")

    # -- tapes

    def save(self, s: Let) -> None:
        """A record of what a derivative reads."""
        (out,) = s.outs
        record = self.functions.records.record_for(s.args, self.stem)
        saved = self.fresh(out.name or "saved")
        self.take_memory("kept_memory", f"{record.name}*", saved, f"sizeof({record.name})")
        for k, a in enumerate(s.args):
            if record.fields[k]:
                self.save_part(a, k, record, saved)
        place = f"(char*){saved} - {MEMORY}->start"
        self.numbers[out] = CValue(place, INT, SUM, natural=True)

    def save_part(self, a: Atom, k: int, record: TapeRecord, saved: str) -> None:
        field = f"{saved}->{record.fields[k]}"
        if not a.type.shape:
            is_unset = isinstance(a, Literal) and a.value is None
            value = constant(0) if is_unset else self.number(a)
            self.put(f"{field} = {cast(value, stored_dtype(a.type)).text};")
            return
        if isinstance(a, Literal):  # nobody reads it
            lengths: tuple[CValue, ...] = (constant(0),) * len(a.type.shape)
        else:
            lengths = self.view(a).lengths
        for axis, n in enumerate(lengths):
            self.put(f"{saved}->{record.length(k, axis)} = {n.text};")
        dtype = stored_dtype(a.type)
        self.take_memory("kept_memory", "", field, _bytes_of(dtype, lengths))
        if isinstance(a, Var):
            self.copy(self.view(a), Strided.row_by_row(field, dtype, lengths))

    def read_saved(self, s: Let) -> None:
        """The parts of a record."""
        record = self.functions.records.record_for(s.outs, self.stem)
        part, place = self.fresh("part"), self.number(s.args[0])
        start = f"{MEMORY}->start + {place.operand(SUM)}"
        self.put(f"{record.name}* {part} = ({record.name}*)({start});", s)
        for k, v in enumerate(s.outs):
            field = f"{part}->{record.fields[k]}"
            if v.type == NOTHING:
                continue
            if not v.type.shape:
                self.set(v, CValue(field, stored_dtype(v.type), POSTFIX), None)
                if v.size is not None:
                    self.learn(v.size, self.numbers[v])
                continue
            dtype, name = stored_dtype(v.type), self.fresh(v.name or "part")
            self.put(f"{c_type(dtype)}* {name} = {field};")
            lengths = []
            for axis, size in enumerate(v.type.shape):
                if isinstance(size, int):
                    lengths.append(constant(size))
                    continue
                length = self.fresh(f"{name}_{axis}")
                self.put(f"const i64 {length} = {part}->{record.length(k, axis)};")
                lengths.append(CValue(length, INT, natural=True))
            self.know(v, Strided.row_by_row(name, dtype, lengths))

    def take_memory(self, function: str, kind: str, name: str, size: str) -> None:
        """Some bytes of the memory of calls, if there are so many."""
        self.functions.need_memory = True
        declared = f"{kind} {name}" if kind else name
        self.put(f"{declared} = {function}({MEMORY}, {size});")
        self.put(f"if (!{name}) return {self.code(TOO_LONG)};")


class RecursiveFunction(CallingWriter):
    """Writes one of the functions."""

    depth_of_calls = arithmetic.binary(ast.Add(), DEPTH, constant(1))
    own_names = (*RESERVED, DEPTH.text)
    outputs_may_be_tapes = True

    def __init__(self, name: str, lowered: Lowered, functions: RecursiveFunctions) -> None:
        driver, kernels = lowered.driver, lowered.kernels
        self.printed = [(kernel, print_kernel(kernel)) for kernel in kernels]
        kinds = [v.type for v in (*driver.params, *driver.results)]
        if any(not isinstance(kind, Type) for kind in kinds):
            raise NotPrintedError("a list of a function that calls itself")
        paths = [v.name for v in driver.params]
        super().__init__(name, driver, self.printed, paths, (), lowered.relied)
        self.function_name, self.functions = name, functions
        self.stem = re.sub(r"_(fwd|bwd)(_\d+)?$", "", name)
        self.takes_memory = False
        self.errors = functions.errors
        self.dtypes: list[Dtype] = [o.dtype for o in self.outputs.values()]

    def write(self) -> None:
        DriverWriter.write(self)

    def receive(self, v: Var, path: str) -> Argument:
        if v.type != TAPE:
            return super().receive(v, path)
        name = self.fresh(v.name or "saved")
        self.numbers[v] = CValue(name, INT, natural=True)
        return Argument(path, name, Type(INT), (), False)

    def allocate(self, stem: str, dtype: Dtype, lengths: Sequence[CValue]) -> str:
        if ROOM in lengths:
            raise NotPrintedError("a list of a function that calls itself")
        size, name = product(lengths).known, self.fresh(stem)
        if isinstance(size, int) and size <= LONGEST:
            self.put(f"{c_type(dtype)} {name}[{max(size, 1)}];")
        else:
            kind = f"{c_type(dtype)}*"
            self.take_memory("memory_of_call", kind, name, _bytes_of(dtype, lengths))
            self.takes_memory = True
        return name

    def check_room(self, lengths: Sequence[CValue]) -> None:
        """Nothing: memory is taken where it is needed, and calls know how long results are."""

    def count(self, output: Output, view: Strided, k: int) -> None:
        """The caller knows how long a result is: it has made the memory for it."""
        self.outputs[k] = replace(output, lengths=view.lengths)

    @contextmanager
    def braces(self, head: str, s: Statement | None = None) -> Iterator[None]:
        """Memory that is taken inside is given back at the end: passes of a loop have the same."""
        before, self.takes_memory = self.takes_memory, False
        with super().braces(head, s):
            start = len(self.lines)
            yield
            if self.takes_memory:
                low, space = self.fresh("low"), "  " * self.depth
                self.lines.insert(start, f"{space}const size_t {low} = {MEMORY}->low;")
                self.put(f"{MEMORY}->low = {low};")
        self.takes_memory = before

    def head(self, last: str) -> list[str]:
        """The declaration of the function."""
        texts = []
        for a in self.arguments:
            texts += self.parameters_of(a)
        texts.append(f"i64 {DEPTH.text}")
        texts += [f"call_memory* {MEMORY}"] if self.functions.need_memory else []
        texts += [f"{c_type(o.dtype)}* {o.name}" for o in self.outputs.values()]
        return declaration(f"static int {self.function_name}(", texts, last)

    @staticmethod
    def parameters_of(a: Argument) -> list[str]:
        if not a.type.shape:
            return [f"{c_type(a.type.dtype)} {a.name}"]
        pointer = f"const {c_type(a.type.dtype)}* {a.name}"
        return [pointer, *(f"i64 {n}" for n in a.lengths if n)]

    @property
    def text(self) -> list[str]:
        """The function."""
        used = words("\n".join(self.lines))
        names = [a.name for a in self.arguments] + [n for a in self.arguments for n in a.lengths]
        unread = [f"  (void){name};" for name in names if name and name not in used]
        code = self.code(TOO_DEEP)
        first, last = [f"  if ({DEPTH.text} > {DEEPEST}) return {code};"], ["  return 0;", "}"]
        if self.takes_memory:
            first.append(f"  const size_t low = {MEMORY}->low;")
            last.insert(0, f"  {MEMORY}->low = low;")
        return [*self.head(") {"), *unread, *first, *self.lines, *last]


def _bytes_of(dtype: Dtype, lengths: Sequence[CValue]) -> str:
    return f"{product(lengths).operand(PRODUCT)} * sizeof({c_type(dtype)})"
