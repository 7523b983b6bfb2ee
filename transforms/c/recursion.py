"""Prints functions that call themselves as functions of C.

def half(x): return x if x < 1 else half(x / 2)      becomes

    static int half(double x, i64 depth, double* out) {
      if (depth > 1000) return 1;
      ...
      const int failed = half(0.5 * x, depth + 1, &value);
      if (failed) return failed;

What they make lies on the stack: numbers, and short arrays whose lengths are known.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tapeless.transforms.c.driver import OURS, Argument, DriverWriter
from tapeless.transforms.c.kernel import print_kernel
from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.expressions import product
from tapeless.transforms.c_text.long_lines import declaration, in_width
from tapeless.transforms.c_text.renaming import ascii_name, words
from tapeless.transforms.c_text.statements import Error
from tapeless.transforms.c_text.values import CValue, NotPrintedError, c_type, cast, constant
from tapeless.transforms.core.language import TAPE, Function, Let, Type
from tapeless.transforms.lowering.lower import Lowered, lower
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT, Dtype
from tapeless.transforms.lowering.target import C
from tapeless.transforms.ops.primitives.function_calls import is_call

DEEPEST = 1000  # calls in one another, as in Python
LONGEST = 64  # numbers of an array on the stack
TOO_DEEP: Error = ("RecursionError", ("maximum recursion depth exceeded",))
DEPTH = CValue("depth", INT, natural=True)


class RecursiveFunctions:
    """The functions that a program calls by name, each of which is printed once. `errors` are those
    of the whole program."""

    def __init__(self, taken: set[str], errors: list[Error]) -> None:
        self.taken, self.errors = taken, errors
        self.writers: dict[Function, RecursiveFunction] = {}

    def function_for(self, function: Function) -> RecursiveFunction:
        """What prints a function; its head is known before it is written, for it calls itself."""
        if function not in self.writers:
            name = ascii_name(function.name)
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            lowered = lower(name, function.block, (), boundscheck=True, target=C)
            self.writers[function] = RecursiveFunction(name, lowered, self)
            self.writers[function].write()
        return self.writers[function]

    @property
    def texts(self) -> list[str]:
        """Heads, kernels and functions, in the order of C."""
        writers = self.writers.values()
        heads = [in_width(w.head(");")) for w in writers]
        kernels = [text for w in writers for _, k in w.printed for text in (*k.called, k.text)]
        return [*heads, *dict.fromkeys(kernels), *(w.text for w in writers)]


class CallingWriter(DriverWriter):
    """Writes a function that may call others by name."""

    functions: RecursiveFunctions
    depth_of_calls = constant(0)

    def operation(self, s: Let) -> None:
        if is_call(s):
            self.call_function(s)
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
        texts.append(self.depth_of_calls.text)
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


class RecursiveFunction(CallingWriter):
    """Writes one of the functions."""

    depth_of_calls = arithmetic.binary(ast.Add(), DEPTH, constant(1))
    own_names = (*OURS, DEPTH.text)

    def __init__(self, name: str, lowered: Lowered, functions: RecursiveFunctions) -> None:
        driver, kernels = lowered.driver, lowered.kernels
        self.printed = [(kernel, print_kernel(kernel)) for kernel in kernels]
        kinds = [v.type for v in (*driver.params, *driver.results)]
        if TAPE in kinds:
            raise NotPrintedError("what a function that calls itself saves for its derivative")
        if any(not isinstance(kind, Type) for kind in kinds):
            raise NotPrintedError("a list of a function that calls itself")
        paths = [v.name for v in driver.params]
        super().__init__(name, driver, self.printed, paths, (), lowered.relied)
        self.function_name, self.functions = name, functions
        self.errors = functions.errors
        self.dtypes: list[Dtype] = [o.dtype for o in self.outputs.values()]

    def allocate(self, stem: str, dtype: Dtype, lengths: Sequence[CValue]) -> str:
        size = product(lengths).known
        if not isinstance(size, int) or size > LONGEST:
            raise NotPrintedError("a long array of a function that calls itself")
        name = self.fresh(stem)
        self.put(f"{c_type(dtype)} {name}[{max(size, 1)}];")
        return name

    def head(self, last: str) -> list[str]:
        """The declaration of the function."""
        texts = []
        for a in self.arguments:
            texts += self.parameters_of(a)
        texts.append(f"i64 {DEPTH.text}")
        texts += [f"{c_type(o.dtype)}* {o.name}" for o in self.outputs.values()]
        return declaration(f"static int {self.function_name}(", texts, last)

    @staticmethod
    def parameters_of(a: Argument) -> list[str]:
        if not a.type.shape:
            return [f"{c_type(a.type.dtype)} {a.name}"]
        pointer = f"const {c_type(a.type.dtype)}* {a.name}"
        return [pointer, *(f"i64 {n}" for n in a.lengths if n)]

    @property
    def text(self) -> str:
        used = words("\n".join(self.lines))
        names = [a.name for a in self.arguments] + [n for a in self.arguments for n in a.lengths]
        unread = [f"  (void){name};" for name in names if name and name not in used]
        code = self.code(TOO_DEEP)
        first = f"  if ({DEPTH.text} > {DEEPEST}) return {code};"
        return in_width([*self.head(") {"), *unread, first, *self.lines, "  return 0;", "}"])
