"""Writes the module of a program for a GPU: CUDA C, and the driver in Python that launches it.

CODE = r'''extern "C" __global__ void f_kernel(...) {...}'''
f_kernel = Kernel("f_kernel", ...)
def f(x): out = empty(x.shape, cp.float64); f_kernel(len(x), x, out); return out
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Block, Let, Var, statements
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.uses import reads
from tapeless.transforms.cuda.device_functions import LAST_STORE_IN_ORDER, NUMPY, device_names
from tapeless.transforms.cuda.kernel import (
    CudaKernel,
    NotPrintedError,
    Parameter,
    print_kernel,
)
from tapeless.transforms.cuda.launch_text import (
    HEAP,
    HOST,
    KERNEL,
    NAMES,
    ON_DEVICE,
    RAISING,
    UNIQUE_ROWS,
    WITHIN,
    join_texts,
)
from tapeless.transforms.cuda.teams import ARRAY
from tapeless.transforms.emit.module import called_functions, function_text, join_module
from tapeless.transforms.emit.writer import emit_function
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.lowering.kernels.kernel import Kernel
from tapeless.transforms.lowering.module_text import Driver
from tapeless.transforms.lowering.obstacles import library_of
from tapeless.transforms.ops.numpy.histograms import unique, unique_part
from tapeless.transforms.ops.primitives.callbacks import CALLABLE, callback, outside
from tapeless.transforms.ops.primitives.random_draws import draw, made_generator
from tapeless.transforms.ops.primitives.slices_and_gathers import LAST_STORE, Slot, gather
from tapeless.transforms.python_text.line_breaking import NOTE, WIDTH, wrap
from tapeless.transforms.python_text.python_source import number, quote, template

HEAD = "typedef long long i64;\n"
#: C++ has more keywords than Python, and the launch has names of its own.
RESERVED = ("rows", "results", "error", "room")


def write_cuda(
    name: str,
    driver: Block,
    kernels: Sequence[Kernel],
    arguments: list[str],
    unpack: list[tuple[Var, str]],
    result: Callable[[list[str]], str],
    doc: str,
    on_device: Callable[[Var], bool],
    fastmath: bool = True,
) -> str:
    """The whole text of the module.

    on_device  whether a number that a kernel gets lies in the memory of the device
    fastmath   whether sums may be added up in any order

    Raises UnsupportedError for what has no form on a GPU, with the line of the user.
    """
    printed = [_print_kernel(kernel, on_device, fastmath) for kernel in kernels]
    driver = _without_unread_sizes(driver)
    others = called_functions([driver], name)
    for block in (driver, *others.values()):
        _refuse_unchecked(block)
        if block is not driver:
            _refuse_unique_rows(block)
        _refuse_gathers(block, block is not driver)
    functions = [function_text(f.name, b, "") for f, b in others.items()]
    taken = {*arguments, *(kernel.name for kernel in kernels), *NAMES}
    signature = ", ".join(arguments)
    writer = type("DeviceDriver", (DeviceDriver,), {"on_device": staticmethod(on_device)})
    main = emit_function(name, driver, signature, unpack, result, doc, taken, writer)
    text = join_module([*functions, main])
    text = text.replace(LAST_STORE.strip(), LAST_STORE_IN_ORDER.strip())
    with _located_in([driver, *others.values()]):
        text = "\n".join(map(device_names, _with_notes(text.splitlines())))
    head, _, rest = text.partition("\n\n\n")
    head = head.replace("import numpy as np", "import cupy as cp")
    if f"{NUMPY}." in rest:
        head += f"\nimport {NUMPY}"
    pairs = [*zip(kernels, printed, strict=True)]
    joins = join_texts(part for pair in pairs for part in _partial(*pair))
    launches = "\n".join(text for pair in pairs for text in _launch(*pair))
    parts = [_code(printed, joins, fastmath), KERNEL.strip()] if printed else []
    parts += [ON_DEVICE.strip()] * ("on_device(" in launches) + [launches]
    parts += [HOST.strip()] * bool(re.search(r"(?<!\w)host\(", rest))
    parts += [WITHIN.strip()] * bool(re.search(r"(?<!\w)within\(", rest))
    parts += [UNIQUE_ROWS.strip()] * bool(re.search(r"(?<!\w)unique_rows\(", rest))
    if "cp.linalg." in rest:
        head, rest = f"{head}\nimport cupyx", _decorate_main(name, rest)
        parts.append(RAISING.strip())
    parts = [head, *parts, rest]
    return "\n\n\n".join(part for part in parts if part) + "\n"


@contextmanager
def _located_in(blocks: Sequence[Block]) -> Iterator[None]:
    """An error that names a function is one of the user's line that calls it."""
    try:
        yield
    except UnsupportedError as e:
        for s in (s for block in blocks for s in statements(block)):
            if isinstance(s, Let) and s.origin and e.problem.startswith(library_of(s)[1]):
                e.where = (s.origin.file, s.origin.line, 0, 0)
                break
        raise


def _without_unread_sizes(driver: Block) -> Block:
    """A driver without lengths that have a name for what kernels compute themselves."""
    used = {v for s in statements(driver) for v in reads(s)} | {*driver.results}
    body = tuple(
        s
        for s in driver.body
        if not (isinstance(s, Let) and s.op is size_value and used.isdisjoint(s.outs))
    )
    return replace(driver, body=body)


class DeviceDriver(Driver):
    """Writes a driver whose numbers and arrays lie in the memory of a device.

    NumPy's generators draw on the host, and so the same bits as there: `rng.normal(x, 1.0)` becomes
    `cp.asarray(rng.normal(host(x), 1.0))`. Functions that a program calls get arrays of NumPy, too.
    """

    on_device: Callable[[Var], bool]

    def operation(self, s: Let) -> Any:
        if s.op is gather:
            return self.gather(s)
        if s.op in (unique, unique_part):
            return self.unique(s)
        if s.op not in (draw, made_generator, callback, outside):
            return super().operation(s)
        text = self.text_of(s)
        holes = {
            str(k): self.expr(a) if a.type == CALLABLE else self.host_copy(a)
            for k, a in enumerate(s.args)
        }
        for key, value in s.params.items():
            if f"{{{key}" in text:
                holes |= self.holes_of(s, key, value)
        on_host = template(text, holes)
        if not any(v.type.shape for v in s.outs):
            return on_host
        several = "tuple(map(np.asarray, {0}))" if len(s.outs) > 1 else "np.asarray({0})"
        return template(several, {"0": on_host})

    def gather(self, s: Let) -> Any:
        """`x[places]` with a check of the places, which CuPy does not make."""
        array, *indices = map(self.expr, s.args)
        for axis, entry in enumerate(s.params["key"]):
            if isinstance(entry, Slot) and _is_indices(s.args[1 + entry.k]):
                holes = {"0": indices[entry.k], "1": array, "2": number(axis)}
                indices[entry.k] = template("within({0}, {1}, {2})", holes)
        holes = {str(k): e for k, e in enumerate([array, *indices])}
        return template(self.text_of(s), holes)

    def unique(self, s: Let) -> Any:
        """`np.unique` of all numbers, which CuPy has, or of parts along an axis."""
        array, shape = self.expr(s.args[0]), s.args[0].type.shape
        part, axis = s.params.get("part"), s.params["axis"]
        if len(shape) > 1 and axis is not None:
            of_part = f', "{part}"' if part else ""
            return template(f"unique_rows({{0}}, {axis}{of_part})", {"0": array})
        flat = replace(s, params={**s.params, "axis": None})
        if len(shape) == 1:
            return template(self.text_of(flat), {"0": array})
        text = template(self.text_of(flat), {"0": template("{0}.ravel()", {"0": array})})
        if part != "inverse":
            return text
        return template("{0}.reshape({1}.shape)", {"0": text, "1": array})

    def host_copy(self, a: Atom) -> ast.expr:
        e = self.expr(a)
        if isinstance(a, Var) and (a.type.shape or self.on_device(a)):
            return ast.Call(ast.Name("host", ast.Load()), [e], [])
        return e


def _refuse_unchecked(block: Block) -> None:
    """Raises UnsupportedError for stores by arrays of indices in a driver: CuPy does not say which
    of several stores to an element is the last."""
    for s in statements(block):
        if isinstance(s, Let) and s.op.name in ("update", "add_at"):
            slots = [s.args[2 + e.k] for e in s.params["key"] if isinstance(e, Slot)]
            if any(map(_is_indices, slots)):
                raise _unchecked_indices_error(s)


def _refuse_unique_rows(block: Block) -> None:
    """Raises UnsupportedError for `np.unique` of rows in functions that the driver calls, which are
    plain NumPy code with CuPy's names: releases of CuPy differ there."""
    for s in statements(block):
        if isinstance(s, Let) and s.op in (unique, unique_part) and s.args[0].type.ndim != 1:
            where = f" ({s.origin.note.strip('# ')})" if s.origin is not None else ""
            raise UnsupportedError(
                f"np.unique of an array of {s.args[0].type.ndim} axes has no form on a GPU{where}",
                "flatten it first: np.unique(x.ravel())",
            )


def _refuse_gathers(block: Block, called: bool) -> None:
    """Raises UnsupportedError for arrays of indices that are read by and not checked: those in
    `called` functions, and beside other keys than numbers and slices."""
    for s in statements(block):
        if isinstance(s, Let) and s.op is gather:
            key = s.params["key"]
            slots = [s.args[1 + e.k] for e in key if isinstance(e, Slot)]
            plain = all(isinstance(e, (Slot, slice, int)) for e in key)
            plain = plain and all(_is_indices(a) or not a.type.shape for a in slots)
            if any(map(_is_indices, slots)) and (called or not plain):
                raise _unchecked_indices_error(s)


def _is_indices(a: Atom) -> bool:
    return bool(a.type.shape) and a.type.dtype.kind != "b"


def _unchecked_indices_error(s: Let) -> UnsupportedError:
    where = f" ({s.origin.note.strip('# ')})" if s.origin is not None else ""
    return UnsupportedError(
        f"an array of indices outside of kernels has no form on a GPU{where}",
        "call the function with arrays of NumPy: it runs on the CPU then",
    )


def _decorate_main(name: str, functions: str) -> str:
    """The functions of a driver, of which the one that users call raises what CuPy would not."""
    called, main, rest = functions.rpartition(f"def {name}(")
    return f"{called}@raising\n{main}{rest}"


def _with_notes(lines: list[str]) -> Iterable[tuple[str, str]]:
    """Each line with the comment that names the user's line for it."""
    note = ""
    for line in lines:
        match = NOTE.search(line)
        note = match[0].strip() if match else note
        yield line, note


def _print_kernel(kernel: Kernel, on_device: Callable[[Var], bool], fastmath: bool) -> CudaKernel:
    """A kernel as CUDA C."""
    (node,) = ast.parse(kernel.text).body
    assert isinstance(node, ast.FunctionDef)
    functions = {
        s.name: s
        for text in kernel.helpers
        for s in ast.parse(text).body
        if isinstance(s, ast.FunctionDef)
    }
    results = [_result(kernel, v, k) for k, v in enumerate(kernel.results)]
    try:
        parameters = _parameters(kernel, on_device)
        return print_kernel(node, parameters, results, functions, fastmath, kernel.text)
    except NotPrintedError as e:
        raise UnsupportedError(
            f"{e} has no form on a GPU ({_lines_of(kernel)})",
            "call the function with arrays of NumPy: it runs on the CPU then",
        ) from e


def _lines_of(kernel: Kernel) -> str:
    """The lines of the user that a kernel is made of."""
    numbers = sorted({int(n) for n in re.findall(r"# line (\d+)", kernel.text)})
    if len(numbers) < 2:
        return f"line {numbers[0]}" if numbers else kernel.name
    return f"lines {numbers[0]} to {numbers[-1]}"


def _result(kernel: Kernel, v: Var, k: int) -> tuple[np.dtype[Any], str]:
    """The dtype of a number that a kernel returns, and how those of its rows are put together."""
    launch = kernel.launch
    if v.type.shape:
        return v.type.dtype, ARRAY
    word = "first" if launch is None else launch.join[len(launch.sums) + k]
    return v.type.dtype, word


def _parameters(kernel: Kernel, on_device: Callable[[Var], bool]) -> list[Parameter]:
    launch, parameters = kernel.launch, []
    for a, (name, kind) in zip(kernel.arguments, kernel.types.items(), strict=True):
        role, join = "array", ""
        if not kind.shape:
            far = isinstance(a, Var) and on_device(a)
            role = "device_number" if far else "number"
        elif name in kernel.stacks:
            role = "stack"
        elif launch is not None and a in launch.own:
            role = "own"
        elif launch is not None and a in launch.sums:
            role, join = "sum", launch.join[launch.sums.index(a)]
        more = len(a.type.shape) - kind.ndim if isinstance(a, Var) and kind.shape else 0
        sizes = () if more else kind.shape
        parameters.append(Parameter(name, kind.dtype, kind.ndim, role, join, more, sizes))
    return parameters


def _partial(lowered: Kernel, kernel: CudaKernel) -> Iterable[tuple[np.dtype[Any], str]]:
    """The dtypes of what blocks leave parts of, and how these are put together."""
    yield from kernel.results
    if lowered.launch is not None:
        for a, word in zip(lowered.launch.sums, lowered.launch.join, strict=False):
            yield a.type.dtype, word


def _code(kernels: Sequence[CudaKernel], joins: Sequence[str], fastmath: bool) -> str:
    """The CUDA C of all kernels: what they call comes first, once. Without `fastmath` products and
    sums are rounded one after the other, as by the CPU."""
    helpers = list(dict.fromkeys(text.strip() for kernel in kernels for text in kernel.helpers))
    texts = [HEAD.strip(), *helpers, *(kernel.text.strip() for kernel in kernels), *joins]
    code = "\n\n".join(texts)
    options = '("--std=c++17",)' if fastmath else '("--std=c++17", "-fmad=false")'
    module = f"module = cp.RawModule(code=CODE, options={options})"
    heap = f"{HEAP.strip()}\n" if "malloc(" in code else ""
    return f'CODE = r"""\n{code}\n"""\n{heap}{module}'


def _launch(lowered: Kernel, kernel: CudaKernel) -> list[str]:
    """How a kernel is called: what the function of CUDA C gets of what the driver passes."""
    joins = lowered.launch.join[: len(lowered.launch.sums)] if lowered.launch else ()
    names = [*(["rows"] if kernel.shares_rows else []), *lowered.types]
    names += [name for name, _, _ in kernel.scratch]
    names += ["room"] if "room" in kernel.arguments else []
    names += ["results"] if kernel.results else []
    names += ["error"] if kernel.errors else []
    sizes = ", ".join(lowered.types)
    parts = [f'"{kernel.name}"', f"lambda {', '.join(names)}: {_tuple(kernel.arguments)}"]
    if kernel.team_lengths:
        parts.append(f"team=lambda {sizes}: {_tuple(kernel.team_lengths)}")
    if kernel.side:
        parts.append(f"side=lambda {sizes}: {kernel.side}")
    if kernel.tiles:
        parts.append(f"tiles=lambda rows, {sizes}: {kernel.tiles}")
    if kernel.across:
        parts.append("across=True")
    if kernel.small_teams:
        parts.append("small_teams=True")
    if kernel.width > 1:
        parts.append(f"width={kernel.width}")
    if kernel.results:
        words = tuple((dtype.name, word) for dtype, word in kernel.results)
        parts.append(f"results={_literal(words)}")
    if kernel.errors:
        parts.append(f"errors={_literal(kernel.errors)}")
    if kernel.scratch:
        scratch = ((f'"{n}"', f'"{d.name}"', f"lambda {sizes}: {s}") for n, d, s in kernel.scratch)
        parts.append(f"scratch={_tuple([_tuple(part) for part in scratch])}")
    if joins:
        parts.append(f"joins={_literal(joins)}")
    whole = f"{lowered.name} = Kernel({', '.join(parts)})"
    if len(whole) <= WIDTH:
        return [whole]
    return [f"{lowered.name} = Kernel(", *(line for part in parts for line in _part(part)), ")"]


def _literal(x: Any) -> str:
    """A value as text of Python, with the quotes that we write.

    >>> print(_literal((("float64", "sum"), ...)))
    (("float64", "sum"), ...)
    """
    if isinstance(x, tuple):
        return _tuple(map(_literal, x))
    return "..." if x is ... else quote(x)


def _tuple(parts: Iterable[str]) -> str:
    texts = list(parts)
    return f"({', '.join(texts)}{',' * (len(texts) == 1)})"


def _part(text: str) -> list[str]:
    """An argument on a line of its own, or on two: what a function takes, and what it gives."""
    line = f"    {text},"
    head, _, value = text.partition(": (")
    if len(line) <= WIDTH or not value or head.count("(") != head.count(")"):
        return wrap(line)
    value = f"{value[:-1].rstrip(',')},"
    names, passed = (textwrap.wrap(x, WIDTH - 8) for x in (f"{head}:_(", value))
    names[-1] = names[-1].replace(":_(", ": (")
    first, *more = names
    return [f"    {first}", *(f"        {x}" for x in (*more, *passed)), "    ),"]
