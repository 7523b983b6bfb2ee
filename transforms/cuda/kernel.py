"""Prints a kernel in loop form as CUDA C.

for i in range(first, last):                    for (i64 i = team; i < rows; i += teams) {
    out[i] = 2 * x[i]               becomes       out[i] = 2.0 * x[i];
                                                }

Each row has a team of threads: blockDim.x of them, blockDim.y teams a block. The launch decides how
many; the text is right for a thread, a part of a warp, or a block a row.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tapeless.transforms.c_text.called_functions import FunctionPrinter
from tapeless.transforms.c_text.expressions import KernelScope, owner, product
from tapeless.transforms.c_text.long_lines import declaration, in_width
from tapeless.transforms.c_text.renaming import (
    fresh_name,
    rename_kernel,
    rename_reserved,
    words,
)
from tapeless.transforms.c_text.statements import notes_of
from tapeless.transforms.c_text.values import (
    PRODUCT,
    SHIFT,
    CArray,
    CValue,
    NotPrintedError,
    c_type,
    constant,
)
from tapeless.transforms.core.dims import Size
from tapeless.transforms.cuda.helpers import HELPERS, needed_helpers
from tapeless.transforms.cuda.launch_text import COMBINED
from tapeless.transforms.cuda.packed_loops import PACK_LOOP, packed_loops
from tapeless.transforms.cuda.points import PointLoop, as_points
from tapeless.transforms.cuda.sums_in_registers import sums_in_registers
from tapeless.transforms.cuda.teams import ARRAY, TeamKernelWriter
from tapeless.transforms.cuda.tiled_loops import TiledLoop, tiled_loop
from tapeless.transforms.cuda.tiled_rows import tiled_rows
from tapeless.transforms.cuda.user_loops import apart_loops, summing_loops
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import BOOL, INT

__all__ = ["CudaKernel", "NotPrintedError", "Parameter", "print_kernel"]

#: Words of C++ and CUDA, and names that printed text has for itself.
WORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern
false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
operator or or_eq private protected public register reinterpret_cast requires return short signed
sizeof static static_assert static_cast struct switch template this thread_local throw true try
typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
blockIdx threadIdx blockDim gridDim warpSize dim3 NULL INFINITY NAN atomicAdd atomicMin atomicCAS
atomicExch min max abs clock printf assert main malloc free signgam div j0 j1 jn y0 y1 yn index
i64 error rows team teams thread threads module cp results room staged shared_room
pack packed lane place row pass reads stores updates
"""
#: Names of device functions that are put together, and of the compiler.
OURS = re.compile(r"__\w*|(team|block|join|take|result|pack)_\w+")
RESERVED = frozenset(WORDS.split()) | frozenset(HELPERS)
#: Functions of loop form that are no functions here.
BUILT_IN = frozenset(
    ["plus", "plus_product", "scratch", "grown", "filled", "each", "turns", "apart", "add_at"]
)
LENGTH = re.compile(r"\b(\w+)\.shape\[(\d+)\]")
#: x[j * x_1 + i], where i is a row: neighbouring rows read neighbouring elements.
ACROSS = r"\w+\[(?!{row}\b)\w+ \* \w+ \+ {row}\]"
UNKNOWN_LENGTH = 32  # for a loop whose passes each row counts itself: a thread for each of a warp
ROOM = "extern __shared__ double2 shared_room[];"
STAGED = "char* staged = (char*)shared_room + threadIdx.y * room;  // of a team, if all fits there"
TEAMS = (
    "  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row",
    "  i64 teams = gridDim.x * (i64)blockDim.y;",
)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel in loop form.

    ndim  its axes; numbers have none
    kind  "array", "number", "device_number" (an array without axes), "own" (an array that holds
          what belongs to one row: one for each team), "sum" (an array that each block makes anew,
          and that is added up), "stack" (an array of the stacks of all rows)
    join  how a "sum" is: "sum", "prod", "max", "min", "any" or "all"
    more  axes that the caller's array has besides: the first axis stands for these and its own
    sizes its lengths as the driver knows them: equal ones are equally long
    """

    name: str
    dtype: np.dtype[Any]
    ndim: int
    kind: str = "array"
    join: str = ""
    more: int = 0
    sizes: tuple[Size, ...] = ()


@dataclass(frozen=True)
class CudaKernel:
    """A kernel in CUDA C, and what its caller passes.

    helpers       texts that come before it, in order
    arguments     for each parameter of the function an expression of Python over `rows`, the names
                  of parameters, `results` and `error`
    shares_rows   whether it has rows; else it is for one block
    team_lengths  lengths of the loops that the threads of a team share, in Python; none if each
                  row has one thread
    errors        type and arguments for each code of the error word
    results       dtype of each number that it leaves, and how those of blocks are put together;
                  "array" for the elements of an array, which it leaves in memory of its own
    scratch       memory that it needs: name, dtype, shape in Python
    width         rows that a thread takes at once, where all arrays are aligned
    across        whether neighbouring rows read neighbouring elements: they share a block, then
    side          how many rows each row of the driver is, in Python, if that is not one
    small_teams   whether teams are no larger than it takes to keep a device busy: their threads
                  share loops of the user's program, which one thread might run as well
    tiles         how many tiles of 32 rows and 32 columns there are, of which a block takes one
                  after the other, in Python over `rows` too, if it has such
    """

    name: str
    text: str
    helpers: tuple[str, ...]
    arguments: tuple[str, ...]
    shares_rows: bool
    team_lengths: tuple[str, ...]
    errors: tuple[tuple[str, tuple[Any, ...]], ...]
    results: tuple[tuple[np.dtype[Any], str], ...]
    scratch: tuple[tuple[str, np.dtype[Any], str], ...]
    notes: tuple[str, ...] = ()
    width: int = 1
    across: bool = False
    small_teams: bool = False
    side: str = ""
    tiles: str = ""


def print_kernel(
    node: ast.FunctionDef,
    parameters: Sequence[Parameter],
    results: Sequence[tuple[np.dtype[Any], str]],
    functions: Mapping[str, ast.FunctionDef],
    fastmath: bool = True,
    source: str = "",
) -> CudaKernel:
    """The kernel as CUDA C.

    node        its definition; the bounds of its rows come first, and are no `parameters`
    results     dtype of each number that it returns, and how those of rows are put together;
                "first" if all rows have the same
    functions   other functions of the module that it calls
    source      the text that the node is of, for the comments that name the user's lines

    Raises NotPrintedError for what CUDA C does not have, or the printer does not know.
    """
    try:
        return _KernelPrinter(node, parameters, results, functions, source, True, fastmath).print()
    except NotPrintedError:  # one thread of a row makes the user's loops, then
        return _KernelPrinter(node, parameters, results, functions, source, False, False).print()


class _KernelPrinter:
    """The signature of a kernel around its body. `share_loops` says whether threads share loops of
    the user's program whose passes are apart, `share_sums` also those that only add up."""

    def __init__(
        self,
        node: ast.FunctionDef,
        parameters: Sequence[Parameter],
        results: Sequence[tuple[np.dtype[Any], str]],
        functions: Mapping[str, ast.FunctionDef],
        source: str,
        share_loops: bool,
        share_sums: bool,
    ) -> None:
        node, self.renamed, self.taken = rename_kernel(node, functions, _reserved_names)
        count = len(node.args.args) - len(parameters)
        if count not in (0, 2):
            raise NotPrintedError("a kernel with other parameters")
        self.bounds = [a.arg for a in node.args.args[:count]]
        self.parameters = [replace(p, name=self.renamed.get(p.name, p.name)) for p in parameters]
        self.python = {self.renamed.get(p.name, p.name): p.name for p in parameters}
        self.more = {p.name: p.more for p in parameters}
        self.taken |= {f"result_{k}" for k in range(len(results))}
        if share_sums:
            arrays = {p.name: p.dtype for p in self.parameters if p.ndim and p.kind == "array"}
            sums_in_registers(node, arrays, functools.partial(fresh_name, taken=self.taken))
        others = {
            n: rename_reserved(f, _reserved_names)
            for n, f in functions.items()
            if n not in BUILT_IN
        }
        self.functions = FunctionPrinter(others, set(RESERVED))
        self.scope = KernelScope()
        self.far: dict[str, str] = {}  # names of parameters that the body knows otherwise
        self.lengths: dict[str, tuple[str, int]] = {}  # parameters that are lengths of arrays
        self.of_size: dict[Size, CValue] = {}  # the same by the sizes of the driver
        loops = apart_loops(node) if share_loops else set[int]()
        loops |= summing_loops(node) if share_sums else set()
        self.writer = TeamKernelWriter(
            node, self.scope, self.taken, self.functions, results, self.bounds, loops
        )
        self.writer.notes = notes_of(source)
        self.joined: list[
            tuple[Parameter, CValue]
        ] = []  # arrays that teams add up, and their sizes
        self.has_room = False  # whether teams may have memory that their block shares

    def print(self) -> CudaKernel:
        writer = self.writer
        if self.bounds:
            self.scope.fixed[self.bounds[0]] = constant(0)
            self.scope.fixed[self.bounds[1]] = CValue("rows", INT, natural=True)
        head = [line for p in self.parameters for line in self.receive(p)]
        writer.own = frozenset(p.name for p in self.parameters if p.kind in ("own", "sum"))
        writer.write()
        body: Sequence[str] = _group_guarded_lines(writer.lines)
        if writer.alone:  # the others leave before anything is loaded
            head, body = [body[0], *head], body[1:]
        tiled = self.tiles(body)
        if tiled is not None:
            body = tiled.lines
        if self.bounds and (tiled is None or {"team", "teams"} & words("\n".join([*head, *body]))):
            head[:0] = TEAMS
        while head and head[-1].lstrip().startswith("staged += "):
            head.pop()  # nobody looks where it ends
        points = self.points(head, body)
        if points is not None:
            body = points.lines
        body, packed = self.pack_loops(body)
        body = [*body, *self.of_blocks()]
        texts, arguments = self.signature("\n".join([*head, *body]))
        lines = [
            *declaration(f'extern "C" __global__ void {writer.node.name}(', texts, ") {"),
            *(h for h in head if h),
            *body,
            "}",
        ]
        text = in_width(lines)
        called = [in_width(f.text.splitlines()) for f in self.functions.printed.values()]
        own = [PACK_LOOP] * (packed or points is not None)
        more = [*called, *writer.device_functions, *own]
        helpers = (*needed_helpers([text, *more]), *writer.device_functions, *called, *own)
        own_lengths = {self.known_length(n): None for n in writer.lengths}
        return CudaKernel(
            writer.node.name,
            text,
            helpers,
            tuple(arguments),
            bool(self.bounds),
            tuple(own_lengths) if self.bounds else (),
            tuple(writer.errors),
            tuple(writer.results),
            tuple((p.name, p.dtype, self.shape_text(p)) for p in self.memory()),
            tuple(writer.notes_for_user),
            1 if points is None else points.width,
            bool(tiled is None and writer.has_teams and self.reads_across(body)),
            bool(self.bounds and writer.has_teams and writer.has_small_teams),
            self.python_text(writer.side or ""),
            "" if tiled is None else tiled.count,
        )

    def tiles(self, body: Sequence[str]) -> TiledLoop | None:
        """The body by tiles, where it reads or stores along another axis than its threads lie."""
        if not self.bounds or not self.writer.has_teams:
            return None
        arrays = {p.name: p.dtype for p in self.parameters if p.ndim and p.kind == "array"}
        nests = {
            name: replace(nest, python=tuple(map(self.python_text, nest.python)))
            for name, nest in self.writer.nests.items()
        }
        lengths = self.tile_length, self.size_of, self.writer.fresh
        nest = tiled_loop(body, arrays, nests, *lengths, self.joined != [])
        if nest is not None or self.joined:
            return nest
        return tiled_rows(body, arrays, self.writer.own, *lengths[1:])

    def size_of(self, array: str) -> str:
        """How many elements an array has, in C."""
        return product(self.scope.arrays[array].lengths).operand(SHIFT)

    def tile_length(self, counter: str) -> str | None:
        """How many passes the loop of a counter makes, in Python; None if rows find that out."""
        text = self.known_length(self.writer.length_of.get(counter, "rows"))
        return None if text == str(UNKNOWN_LENGTH) else text

    def reads_across(self, body: Sequence[str]) -> bool:
        patterns = [re.compile(ACROSS.format(row=re.escape(row))) for row in self.writer.rows]
        return any(pattern.search(line) for pattern in patterns for line in body)

    def pack_loops(self, body: Sequence[str]) -> tuple[Sequence[str], bool]:
        """The body with loops of teams that move several elements at once."""
        if not self.writer.has_teams:
            return body, False
        return packed_loops(body, {p.name: p.dtype for p in self.parameters if p.ndim})

    def points(self, head: Sequence[str], body: Sequence[str]) -> PointLoop | None:
        """The body for elements of which threads take several at once, if rows are elements."""
        plain = all(p.kind not in ("own", "sum") for p in self.parameters)
        if not self.bounds or self.writer.has_teams or not plain:
            return None
        pointwise = as_points([*head, *body], {p.name: p.dtype for p in self.parameters if p.ndim})
        return None if pointwise is None else replace(pointwise, lines=pointwise.lines[len(head) :])

    # -- what the kernel gets

    def receive(self, p: Parameter) -> list[str]:
        """Lines that begin the body for a parameter."""
        if p.ndim == 0:
            self.scope.numbers[p.name] = p.dtype
            if p.kind != "device_number":
                return []
            return [f"  const {c_type(p.dtype)} {p.name} = *{self.far_name(p)};"]
        lengths = tuple(self.length(p, k) for k in range(p.ndim))
        x = CArray(p.name, p.name, p.dtype, lengths, counted=p.kind == "stack")
        if p.kind not in ("own", "sum"):
            self.scope.arrays[p.name] = x
            return []
        pointer, size = f"{c_type(p.dtype)}* {p.name} = {self.far_name(p)}", product(lengths)
        if self.writer.has_teams or p.kind == "sum":
            self.scope.arrays[p.name] = x
            if self.writer.has_teams:
                self.joined += [(p, size)] if p.kind == "sum" else []
                return self.receive_staged(p, pointer, size)
            return [f"  {pointer} + team * {size.operand(PRODUCT - 1)};"]
        self.scope.arrays[p.name] = replace(x, where="interleaved", distance="teams")
        return [f"  {pointer} + team;"]

    def receive_staged(self, p: Parameter, pointer: str, size: CValue) -> list[str]:
        """Lines that find the memory of a team: shared by its block, where that is given room."""
        first = [] if self.has_room else [f"  {ROOM}", f"  {STAGED}"]
        self.has_room, c = True, c_type(p.dtype)
        bytes_ = size.text if p.dtype.itemsize == 1 else f"{size.operand(PRODUCT)} * sizeof({c})"
        far = f"{self.far_name(p)} + team * {size.operand(PRODUCT - 1)}"
        return [
            *first,
            f"  {pointer.partition(' = ')[0]} = room ? ({c}*)staged : {far};",
            f"  staged += ({bytes_} + 15) / 16 * 16;",
        ]

    def of_blocks(self) -> list[str]:
        """Lines that put together what the teams of a block have added up, if it lies there."""
        lines = []
        for p, size in self.joined:
            c, far = c_type(p.dtype), self.far_name(p)
            at, team, a, b = map(self.writer.fresh, ("at", "member", "a", "b"))
            names = {"a": a, "b": b}
            combined = re.sub(r"\b[ab]\b", lambda m: names[m[0]], COMBINED[p.join])  # noqa: B023  # called at once
            first = f"(char*){p.name} - threadIdx.y * room"
            lines += [
                f"    for (i64 {at} = threadIdx.y * blockDim.x + threadIdx.x; "
                f"{at} < {size.operand(SHIFT)}; {at} += blockDim.x * blockDim.y) {{",
                f"      {c} {a} = (({c}*)({first}))[{at}];",
                f"      for (unsigned {team} = 1; {team} < blockDim.y; {team}++) {{",
                f"        {c} {b} = (({c}*)({first} + {team} * room))[{at}];",
                f"        {a} = {combined};",
                "      }",
                f"      {far}[blockIdx.x * {size.operand(PRODUCT - 1)} + {at}] = {a};",
                "    }",
            ]
        if not lines:
            return []
        return [
            "  if (room) {  // one copy for all teams of the block",
            "    __syncthreads();",
            *lines,
            "  }",
        ]

    def length(self, p: Parameter, axis: int) -> CValue:
        """The length of an axis: a number, a parameter, or that of an array which is as long."""
        size = p.sizes[axis] if axis < len(p.sizes) else None
        if isinstance(size, int):
            return constant(size)
        if size is not None and size in self.of_size:
            return self.of_size[size]
        name = self.writer.fresh(f"{p.name}_{axis}")
        self.lengths[name] = p.name, axis
        length = CValue(name, INT, natural=True)
        if size is not None:
            self.of_size[size] = length
        return length

    def far_name(self, p: Parameter) -> str:
        """The name of a parameter of the function that the body knows otherwise."""
        name = f"{p.name}_at" if p.kind == "device_number" else f"{p.name}_all"
        if p.name not in self.far:
            self.far[p.name] = self.writer.fresh(name)
        return self.far[p.name]

    def memory(self) -> list[Parameter]:
        """Arrays of unknown length that a kernel of one block makes for itself."""
        parameter_names = {p.name for p in self.parameters}
        return [
            Parameter(x.name, x.dtype, len(x.lengths))
            for x in self.scope.arrays.values()
            if x.where == "global" and x.name not in parameter_names
        ]

    def shape_text(self, p: Parameter) -> str:
        """The shape of memory that the launch makes, in Python, in terms of the parameters."""
        for s in ast.walk(self.writer.node):
            match s:
                case ast.Assign([ast.Name(p.name)], ast.Call(args=[ast.Tuple(lengths), _])):
                    texts = [self.python_text(ast.unparse(n)) for n in lengths]
                    return f"({', '.join(texts)}{',' * (len(texts) == 1)})"
        raise AssertionError(p.name)

    def python_text(self, text: str) -> str:
        """A length as loop form has it, with the names that the caller knows."""
        text = re.sub(r"[A-Za-z_]\w*", lambda m: self.python.get(m[0], m[0]), text)
        return LENGTH.sub(lambda m: self.length_text(m[1], int(m[2])), text)

    def known_length(self, text: str) -> str:
        """How many passes a loop makes, in Python; a guess where each row finds that out."""
        names = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
        is_known = names <= {*self.python}
        return self.python_text(text) if is_known else str(UNKNOWN_LENGTH)

    def length_text(self, array: str, axis: int) -> str:
        """The length of an axis, of the array that the caller has."""
        more = self.more[array]
        if axis or not more:
            return f"{array}.shape[{axis + more}]"
        return f"({' * '.join(f'{array}.shape[{k}]' for k in range(more + 1))})"

    def signature(self, body: str) -> tuple[list[str], list[str]]:
        """The parameters of the function, and what is passed for each."""
        used, texts, arguments = words(body), [], []
        written = {
            n.value.id
            for n in ast.walk(self.writer.node)
            if isinstance(n, ast.Subscript)
            and isinstance(n.value, ast.Name)
            and (isinstance(n.ctx, ast.Store))
        } | self.changed_arrays()
        if self.bounds:
            texts.append("i64 rows")
            arguments.append("rows")
        for p in [*self.parameters, *self.memory()]:
            text, argument = self.parameter(p, p.name in written)
            texts.append(text)
            arguments.append(argument)
        for name, (array, axis) in self.lengths.items():
            if name in used:
                texts.append(f"i64 {name}")
                arguments.append(self.length_text(self.python[array], axis))
        if self.has_room:
            texts.append("i64 room")
            arguments.append("room")
        for k, (dtype, word) in enumerate(self.writer.results):
            c = "i64" if word == ARRAY else c_type(dtype)
            texts.append(f"{c}* __restrict__ result_{k}")
            arguments.append(f"results[{k}]")
        if self.writer.errors:
            texts.append("u64* error")
            arguments.append("error")
        return texts, arguments

    def changed_arrays(self) -> set[str]:
        """Arrays that are added to, or passed to functions, which may change them."""
        arrays = set()
        for e in ast.walk(self.writer.node):
            match e:
                case ast.Call(func=ast.Name(id="add_at"), args=[ast.Subscript() as place, _]):
                    arrays.add(owner(place))
                case ast.Call(func=ast.Name(id=name), args=args) if name in self.functions.nodes:
                    arrays |= {owner(a) for a in args if self.is_array(a)}
        return arrays

    def is_array(self, e: ast.expr) -> bool:
        """Whether an argument is an array, or a part of one, and no number."""
        if not isinstance(e, ast.Name | ast.Subscript):
            return False
        return isinstance(self.writer.value(e), CArray)

    def parameter(self, p: Parameter, written: bool) -> tuple[str, str]:
        c, python = c_type(p.dtype), self.python.get(p.name, p.name)
        name = "bool_" if p.dtype == BOOL else p.dtype.name
        if p.kind == "device_number":
            far = f"on_device({python}, cp.{name})"
            return f"const {c}* __restrict__ {self.far_name(p)}", far
        if p.ndim == 0:
            return f"{c} {p.name}", f"cp.{name}({python})"
        if p.kind in ("own", "sum"):
            return f"{c}* __restrict__ {self.far_name(p)}", python
        if p.name in self.writer.taking_turns:
            return f"{c}* {p.name}", python
        return f"{'' if written else 'const '}{c}* __restrict__ {p.name}", python


GUARDED = re.compile(r"^( *)if \(threadIdx\.x == 0\) (?!\{)(.*)$")


def _group_guarded_lines(lines: Sequence[str]) -> list[str]:
    """Statements of the first thread, one after another, as one block."""
    grouped: list[str] = []
    k = 0
    while k < len(lines):
        run: list[re.Match[str]] = []
        while k + len(run) < len(lines) and (m := GUARDED.match(lines[k + len(run)])):
            if run and m[1] != run[0][1]:
                break
            run.append(m)
        if len(run) < 2:
            grouped.append(lines[k])
            k += 1
            continue
        indent = run[0][1]
        grouped += [f"{indent}if (threadIdx.x == 0) {{", *(f"{indent}  {m[2]}" for m in run)]
        grouped.append(f"{indent}}}")
        k += len(run)
    return grouped


def _reserved_names(names: Iterable[str]) -> set[str]:
    """Names that mean something in CUDA C, and those of the given ones that it cannot have."""
    return {*RESERVED, *(n for n in names if OURS.fullmatch(n) or not n.isascii())}
