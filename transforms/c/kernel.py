"""Prints a kernel in loop form as a function of C99.

for i in range(x.shape[0]):                     for (i64 i = 0; i < x_0; i++) {
    out[i] = 2 * x[i]             becomes         out[i] = 2.0 * x[i];
                                                }

Arrays lie row by row. What may fail returns the number of its error, and 0 else.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tapeless.transforms.c.growing_lists import ROOM, GrowingLists, KernelResult
from tapeless.transforms.c.helpers import NAMES
from tapeless.transforms.c.matrices import matrix_of
from tapeless.transforms.c_text.called_functions import (
    FunctionCalls,
    FunctionPrinter,
    FunctionWriter,
    PrintedFunction,
    call,
    may_fail,
)
from tapeless.transforms.c_text.dialect import suffix
from tapeless.transforms.c_text.expressions import KernelScope, owner
from tapeless.transforms.c_text.long_lines import declaration, in_width
from tapeless.transforms.c_text.renaming import (
    rename_kernel,
    rename_reserved,
    words,
)
from tapeless.transforms.c_text.statements import Error, notes_of
from tapeless.transforms.c_text.values import (
    CArray,
    CValue,
    Meaning,
    NotPrintedError,
    c_type,
    cast,
    constant,
)
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Type
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.kernels.kernel import Kernel
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT, Dtype

#: Words of C99, of math.h and string.h, and names that printed text has for itself.
WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while bool true false asm typeof main NULL INFINITY NAN size_t memcpy memmove memset
abs fabs exp expm1 exp2 log log10 log1p log2 sqrt cbrt sin cos tan asin acos atan sinh cosh tanh
asinh acosh atanh erf erfc lgamma tgamma floor ceil trunc rint round atan2 hypot copysign fmax fmin
fmod nextafter pow isnan isinf isfinite signgam div j0 j1 jn y0 y1 yn index gamma remove rename
work at room failed error
printf sprintf fflush stdout atoi strtod strtof strchr
complex imaginary I creal cimag conj cabs carg cexp clog csqrt c64 c128
"""
RESERVED = frozenset(WORDS.split()) | NAMES
OURS = re.compile(r"_\w*|\w+_[biufc]\d+(x\d)?|result_\d+(_length)?")
#: Functions of loop form that are no functions here.
BUILT_IN = frozenset(
    ["plus", "plus_product", "scratch", "grown", "filled", "each", "turns", "add_at", "product"]
)


def reserved_names(names: Iterable[str]) -> set[str]:
    """Names that mean something in C, and those of the given ones that it cannot have."""
    return {*RESERVED, *(n for n in names if OURS.fullmatch(n) or not n.isascii())}


@dataclass(frozen=True)
class Passed:
    """A parameter of a printed kernel: what the caller passes for the parameter `name` of loop
    form. It is the array or the number itself, the length of an axis, or, with a dtype, memory for
    a list of `room` numbers."""

    name: str
    axis: int | None = None
    written: bool = False
    dtype: Dtype | None = None


@dataclass(frozen=True)
class CFunction:
    """A kernel in C.

    called   texts of functions that it calls
    results  what it leaves where the last arguments point to
    errors   type and arguments for each number that it may return, from 1
    """

    name: str
    text: str
    called: tuple[str, ...]
    passed: tuple[Passed, ...]
    results: tuple[KernelResult, ...]
    errors: tuple[Error, ...]


def print_kernel(kernel: Kernel) -> CFunction:
    """The kernel as a function of C. Raises NotPrintedError for what the printer does not know."""
    (node,) = ast.parse(kernel.text).body
    assert isinstance(node, ast.FunctionDef)
    functions = {
        s.name: s
        for text in kernel.helpers
        for s in ast.parse(text).body
        if isinstance(s, ast.FunctionDef) and s.name not in BUILT_IN
    }
    return SerialKernelWriter(node, kernel, functions).print()


def _kind(x: Meaning) -> str:
    """What stands for the type of an argument in names of functions."""
    if isinstance(x, CArray):
        axes = len(x.lengths)
        return f"{suffix(x.dtype)}{f'x{axes}' * (axes > 1)}"
    return suffix(x.dtype) if isinstance(x, CValue) else ""


class HelperWriter(FunctionWriter):
    """Writes a function that kernels call, in C99."""

    qualifier = "static"
    for_nvrtc = False

    def name_for(self, args: Sequence[Meaning]) -> str:
        """A name of its own for each signature: C has one function of a name."""
        return "_".join([self.node.name, *dict.fromkeys(map(_kind, args))])

    def result_parameter(self, dtype: Dtype, k: int) -> str:
        return f"{c_type(dtype)}* result_{k}"

    def result_place(self, k: int) -> str:
        return f"*result_{k}"

    @staticmethod
    def passed_place(text: str) -> str:
        return f"&{text}"

    @staticmethod
    def failing(text: str, number: str) -> tuple[str, str]:
        return f"const int {number} = {text};", f"if ({number})"

    def array_parameter(self, name: str, x: CArray) -> str:
        const = "" if name in stored_arrays(self.node, self.functions.nodes) else "const "
        return f"{const}{c_type(x.dtype)}* {name}"

    def write(self) -> PrintedFunction:
        function = super().write()
        unused = [p.split()[-1] for p in self.parameters]
        unused = [name for name in unused if name not in words("\n".join(self.lines))]
        if not unused:
            return function
        head, rest = function.text.split("\n", 1)
        voids = "\n".join(f"  (void){name};" for name in unused)
        return replace(function, text=f"{head}\n{voids}\n{rest}")


class SerialKernelWriter(FunctionCalls, GrowingLists):
    """Writes one kernel."""

    for_nvrtc = False

    def __init__(
        self, node: ast.FunctionDef, kernel: Kernel, functions: Mapping[str, ast.FunctionDef]
    ) -> None:
        node, self.renamed, taken = rename_kernel(node, functions, reserved_names)
        super().__init__(node, KernelScope(), taken)
        nodes = {n: rename_reserved(f, reserved_names) for n, f in functions.items()}
        self.functions = FunctionPrinter(nodes, set(RESERVED), HelperWriter)
        self.call_other = lambda name, args: call(self.functions, name, args)
        self.kernel = kernel
        self.results: tuple[KernelResult, ...] = ()
        self.lengths: dict[str, tuple[str, int]] = {}  # an axis that each is the length of
        self.named: dict[Size, str] = {}
        self.notes = notes_of(kernel.text)

    def print(self) -> CFunction:
        for name, kind in self.kernel.types.items():
            if not isinstance(kind, Type):
                raise NotPrintedError("a list whose length is not known before")
            self.receive(self.renamed.get(name, name), kind)
        self.results = tuple(
            KernelResult(v.type.dtype, v.type.ndim > 0) for v in self.kernel.results
        )
        self.begin()
        self.fails = bool(self.growing) or may_fail(self.node, self.functions.nodes)
        self.suite(self.node)
        if self.fails and not isinstance(self.node.body[-1], ast.Return):
            self.put("return 0;")
        texts, passed = self.signature()
        head = declaration(
            f"static {'int' if self.fails else 'void'} {self.node.name}(", texts or ["void"], ") {"
        )
        return CFunction(
            self.node.name,
            in_width([*head, *self.lines, "}"]),
            tuple(in_width(f.text.splitlines()) for f in self.functions.printed.values()),
            tuple(passed),
            self.results,
            tuple(self.errors),
        )

    def receive(self, name: str, kind: Type) -> None:
        """A parameter of loop form."""
        if not kind.shape:
            self.scope.numbers[name] = kind.dtype
            return
        lengths = tuple(
            constant(n) if isinstance(n, int) else self.length(n, name, k)
            for k, n in enumerate(kind.shape)
        )
        self.scope.arrays[name] = CArray(name, name, kind.dtype, lengths)

    def length(self, size: Size, name: str, axis: int) -> CValue:
        """The length of an axis: a parameter, one for all that are as long."""
        if size not in self.named:
            self.named[size] = self.fresh(f"{name}_{axis}")
            self.lengths[self.named[size]] = name, axis
        return CValue(self.named[size], INT, natural=True)

    def signature(self) -> tuple[list[str], list[Passed]]:
        """The parameters of the function, and what is passed for each."""
        used = words("\n".join(self.lines))
        python = {self.renamed.get(name, name): name for name in self.kernel.types}
        stored = stored_arrays(self.node, self.functions.nodes)
        texts, passed = [], []
        for name, original in python.items():
            kind, c = self.kernel.types[original], c_type(self.kernel.types[original].dtype)
            if name not in used:
                continue
            passed.append(Passed(original, None, bool(kind.shape) and name in stored))
            if not kind.shape:
                texts.append(f"{c} {name}")
            elif name in self.taking_turns:
                texts.append(f"{c}* {name}")
            else:
                texts.append(f"{'' if name in stored else 'const '}{c}* restrict {name}")
        for text, (name, axis) in self.lengths.items():
            if text in used:
                texts.append(f"i64 {text}")
                passed.append(Passed(python[name], axis))
        for name in sorted(self.growing & used):
            dtype = self.scope.arrays[name].dtype
            texts.append(f"{c_type(dtype)}* restrict {name}")
            passed.append(Passed(name, dtype=dtype))
        if ROOM.text in used:
            texts.append(f"i64 {ROOM.text}")
            passed.append(Passed(ROOM.text))
        texts += [text for k, r in enumerate(self.results) for text in r.parameters(k)]
        return texts, passed

    # -- statements

    def effect(self, e: ast.Call, s: ast.stmt) -> None:
        match e:
            case ast.Call(func=ast.Name(id="product"), args=[a, b, out]):
                self.product(a, b, out, s)
            case _:
                super().effect(e, s)

    def product(self, a: ast.expr, b: ast.expr, out: ast.expr, s: ast.stmt) -> None:
        """out = a @ b, of matrices."""
        x, y, place = matrix_of(self, a), matrix_of(self, b), self.value(out)
        if not isinstance(place, CArray) or place.dtype.kind != "f" or x.dtype != y.dtype:
            raise NotPrintedError(ast.unparse(s))
        sides = [n.text for n in (x.lengths[0], y.lengths[1], x.lengths[1])]
        texts = ", ".join([*sides, *x.texts, *y.texts, place.pointer])
        self.put(f"product_{suffix(place.dtype)}({texts});", s)

    def give_back(self, e: ast.expr | None, s: ast.stmt) -> None:
        values = [] if e is None else list(e.elts) if isinstance(e, ast.Tuple) else [e]
        for k, (value, result) in enumerate(zip(values, self.results, strict=True)):
            if not result.is_array:
                self.put(f"*result_{k} = {cast(self.number(value), result.dtype).text};", s)
        if self.fails or s is not self.node.body[-1]:
            self.put("return 0;" if self.fails else "return;")

    def fail_telling(self, error: Error, values: Sequence[CValue], s: ast.stmt) -> None:
        self.fail(error, s)  # an error is a number: it tells no values


def stored_arrays(node: ast.AST, functions: Mapping[str, ast.FunctionDef]) -> set[str]:
    """The arrays that a function stores to, or passes to one that does."""
    names_stored = set()
    for e in ast.walk(node):
        match e:
            case ast.Subscript(ctx=ast.Store()):
                names_stored.add(owner(e))
            case ast.Assign(targets=[ast.Tuple(elts=targets)]):  # arrays that take turns
                names_stored |= {t.id for t in targets if isinstance(t, ast.Name)}
            case ast.Call(func=ast.Name(id="product"), args=[*_, out]):
                names_stored.add(owner(out))
            case ast.Call(func=ast.Name(id="add_at"), args=[place, _]):
                names_stored.add(owner(place))
            case ast.Call(func=ast.Name(id=name), args=args) if name in functions:
                inner = stored_arrays(
                    functions[name], {n: f for n, f in functions.items() if n != name}
                )
                names = [a.arg for a in functions[name].args.args]
                names_stored |= {owner(a) for n, a in zip(names, args, strict=False) if n in inner}
    return names_stored
