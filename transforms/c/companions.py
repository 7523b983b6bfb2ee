"""Writes what goes with a program in C: a wrapper for Python, lines for CMake, a test program.

f.c, f.h      get      f.py, CMakeLists.txt, test_f.c
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tapeless.transforms.c.blas import calls_blas
from tapeless.transforms.c.driver import Argument
from tapeless.transforms.c.growing_lists import ROOM
from tapeless.transforms.c.module import PUBLIC, CModule, fill_lines
from tapeless.transforms.c.prints import prints
from tapeless.transforms.c_text.dialect import c99
from tapeless.transforms.c_text.values import c_type, constant
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.python_text.line_breaking import wrap
from tapeless.transforms.python_text.python_source import to_source

MOST = 1 << 16  # numbers in arrays of test programs whose lengths depend on values
ENOUGH = "1 << 22"  # numbers in arrays whose lengths depend on values, where one call has to do
SINGLE, DOUBLE = 1e-4, 1e-9  # how near results must be, relative to themselves and to 1
MODULES = ("builtins", "ctypes", "operator", "sys")  # that wrappers import, where they need them
#: What wrappers read, which no parameter may hide.
OWN_NAMES = frozenset(
    [
        *("LIBRARY", "builtins", "checked_input", "checked_number", "checked_output"),
        *("ctypes", "np", "operator", "sys", "getattr", "int", "len", "max", "RuntimeError"),
    ]
)
CMAKE = """\
cmake_minimum_required(VERSION 3.10)
project({name} C)
enable_testing()

add_library({name} SHARED {name}.c)
set_property(TARGET {name} PROPERTY C_STANDARD 99)
target_compile_options({name} PRIVATE -O3 -fwrapv -Wall -Wextra -Werror)
target_link_libraries({name} PRIVATE m)
{blas}
add_executable(test_{name} test_{name}.c)
target_link_libraries(test_{name} PRIVATE {name} m)
add_test(NAME {name} COMMAND test_{name})
"""
BLAS = """\
find_library(BLAS_LIBRARY NAMES openblas cblas mkl_rt blas REQUIRED)
find_path(CBLAS_FOLDER cblas.h PATH_SUFFIXES openblas REQUIRED)
target_include_directories({name} PRIVATE ${{CBLAS_FOLDER}})
target_link_libraries({name} PRIVATE ${{BLAS_LIBRARY}})
"""


CHECKED_INPUT = """

def checked_input(name, value, dtype, shape):
    array = np.asarray(value)
    if not np.can_cast(array.dtype, dtype, "safe"):
        raise TypeError(f"{name} must be an array of {np.dtype(dtype)}, not one of {array.dtype}")
    return checked_shape(name, np.require(array, dtype, ["C", "ALIGNED"]), shape)
"""
CHECKED_OUTPUT = """

def checked_output(name, array, dtype, shape):
    if not (isinstance(array, np.ndarray) and array.dtype == dtype and array.flags.carray):
        raise ValueError(
            f"{name} is overwritten: it must be an array of {np.dtype(dtype)} that lies row by row"
            " and can be written to"
        )
    return checked_shape(name, array, shape)
"""
CHECKED_NUMBER = """

def checked_number(name, value, convert):
    try:
        return convert(value)
    except TypeError as error:
        raise TypeError(f"{name} must be a number: {error}") from None
"""
CHECKED_SHAPE = """

def checked_shape(name, array, shape):
    if array.ndim != len(shape):
        raise ValueError(f"{name} has {array.ndim} axes, and not {len(shape)}")
    for axis, length in enumerate(shape):
        if length is not None and array.shape[axis] != length:
            raise ValueError(f"axis {axis} of {name} must have length {length}")
    return array
"""


def cmake_lines(module: CModule) -> str:
    """CMakeLists.txt, which makes a library and the test program."""
    blas = BLAS.format(name=module.name) if calls_blas(module) else ""
    return CMAKE.format(name=module.name, blas=blas)


def python_wrapper(module: CModule) -> str:
    """A module of Python that calls the library beside it with arrays of NumPy."""
    name = module.name
    body = [f"    {line}" for line in _wrapper_body(module)]
    imported = [m for m in MODULES if any(re.search(rf"\b{m}\b", line) for line in body)]
    lines = [
        f'"""Calls {name} with arrays of NumPy: {name}.c, compiled to lib{name}.so beside this."""',
        *("", *sorted({f"import {m}" for m in (*imported, "ctypes")}), "from pathlib import Path"),
        *(f"from {package} import {kind}" for package, kind in _classes(module)),
        *("", "import numpy as np", ""),
        f'LIBRARY = ctypes.CDLL(str(Path(__file__).with_name("lib{name}.so")))',
    ]
    if module.has_work:
        lines.append(f"LIBRARY.{name}_work.restype = ctypes.c_size_t")
    if module.errors:
        lines.append(f"LIBRARY.{name}_error.restype = ctypes.c_char_p")
    lines += _structures(module)
    for record in module.records:
        lines += [""] * (1 if record.is_tuple else 2) + record.lines
    if any("checked_number(" in line for line in body):
        lines += CHECKED_NUMBER.rstrip().splitlines()
    for function, text in (("checked_input", CHECKED_INPUT), ("checked_output", CHECKED_OUTPUT)):
        if any(f" = {function}(" in line for line in body):
            texts = (text,) if CHECKED_SHAPE.splitlines()[2] in lines else (CHECKED_SHAPE, text)
            lines += [line for each in texts for line in each.rstrip().splitlines()]
    lines += ["", "", f"def {name}({', '.join(_parameters(module))}):", *body, ""]
    return "\n".join(part for line in lines for part in wrap(line))


def _taken_from(a: Argument) -> ast.expr:
    """Where an argument is found in those of the function of Python."""
    return _in_wrapper(a.path)


def _in_wrapper(text: str) -> ast.expr:
    """An expression of the parameters of the function of Python, of those of the wrapper."""
    e = ast.parse(text, mode="eval").body
    for n in ast.walk(e):
        if isinstance(n, ast.Name):
            n.id += "_" * (n.id in OWN_NAMES)
    return e


def _parameters(module: CModule) -> list[str]:
    """The parameters of the function of Python; those that the code is for a value of come last,
    and have it as their default."""
    parts = [n for a in module.arguments for n in ast.walk(_taken_from(a))]
    held = () if module.stores is None else module.stores.held
    parts += [n for text in held for n in ast.walk(_in_wrapper(text))]
    names = dict.fromkeys(n.id for n in parts if isinstance(n, ast.Name))
    fixed = [(e.id, value) for e, value in _fixed_values(module) if isinstance(e, ast.Name)]
    return [*names, *(f"{name}={value}" for name, value in fixed if name not in names)]


def _fixed_values(module: CModule) -> Iterable[tuple[ast.expr, str]]:
    """What the code is for a value of, as far as that can be written out."""
    for path, value in module.fixed:
        try:
            literal = ast.parse(value, mode="eval").body
            ast.literal_eval(literal)
        except (SyntaxError, ValueError):
            continue
        yield _in_wrapper(path), to_source(literal)


def _values_checked(module: CModule) -> Iterable[str]:
    """Lines that refuse other values than those that the code is for."""
    for e, value in _fixed_values(module):
        text = to_source(e)
        yield f"if {text} != {value}:"
        yield f"    raise ValueError({_quote(f'the code is for {text} = {value}')})"


def _taken_apart(module: CModule) -> Iterable[str]:
    """A line that gives what containers hold, and what is called otherwise in C, its name there;
    and `held` what is stored to after the call."""
    pairs = [(a.name, to_source(_taken_from(a))) for a in module.arguments]
    pairs = [(name, text) for name, text in pairs if name != text]
    if module.stores is not None:
        pairs.insert(0, ("held", _tuple([to_source(_in_wrapper(t)) for t in module.stores.held])))
    if pairs:
        yield f"{', '.join(name for name, _ in pairs)} = {', '.join(text for _, text in pairs)}"


def _classes(module: CModule) -> Iterable[tuple[str, str]]:
    """What the classes of records are made with, by its modules."""
    if any(record.is_tuple for record in module.records):
        yield "collections", "namedtuple"
    if not all(record.is_tuple for record in module.records):
        yield "types", "SimpleNamespace"


def _wrapper_body(module: CModule) -> list[str]:
    """The statements of the function that calls the library."""
    stores = module.stores
    body = [*_values_checked(module), *_taken_apart(module)]
    body += [line for a in module.arguments for line in _check_lines(a)]
    call = _call(module)
    if module.has_room and prints(module.source):
        body += [f"room = {ENOUGH}  # a second call with more would print again", *call]
    elif module.has_room:
        copied = [a.name for a in module.arguments if a.stored]
        body += [f"{name}_given = {name}" for name in copied]
        body += ["room = 1024", "while True:"]
        body += [f"    {name} = {name}_given.copy()" for name in copied]
        body += [*(f"    {line}" for line in call), f"    if number != {module.too_long}:"]
        body += ["        break", "    room *= 4"]
        body += [f"{name}_given[...] = {name}" for name in copied]
    else:
        body += call
    if module.errors:
        body += ["if number:"]
        body += [
            f'    kind, _, text = LIBRARY.{module.name}_error(number).decode().partition(": ")'
        ]
        body += ["    raise getattr(builtins, kind, RuntimeError)(text)"]
    for o in module.outputs:
        if any(o.counts):
            size = " * ".join(o.shape)
            shaped = f".reshape({', '.join(o.shape)})" if len(o.shape) > 1 else ""
            body.append(f"{o.name} = {o.name}[: {size}]{shaped}")
    body += [f"{o.name} = {o.name}[()]" for o in module.outputs if not o.shape]
    if stores is not None:
        return [*body, f"result, new = {module.returned}", *stores.lines, "return result"]
    return [*body, f"return {module.returned}"]


def _not_negative(length: str, module: CModule) -> str:
    """A length for memory: for numbers that the function refuses it may be negative, and the error
    is the function's own."""
    is_of_an_axis = any(length in a.lengths for a in module.arguments)
    return length if is_of_an_axis or length.isdigit() else f"max({length}, 0)"


def _call(module: CModule) -> list[str]:
    """Memory for results, and the call of the library."""
    name, lines = module.name, []
    for o in module.outputs:
        shape = ROOM.text if any(o.counts) else _tuple([_not_negative(n, module) for n in o.shape])
        lines.append(f"{o.name} = np.empty({shape}, np.{_name(o.dtype)})")
    counts = [n for o in module.outputs for n in o.counts if n]
    lines += [f"{n} = ctypes.c_int64()" for n in counts]
    passed = [text for a in module.arguments for text in _call_arguments(a)]
    passed += [f"{o.name}.ctypes" for o in module.outputs]
    passed += [f"ctypes.byref({n})" for n in counts]
    passed += [f"ctypes.c_int64({ROOM.text})"] if module.has_room else []
    if module.has_work:
        lengths = ", ".join(f"ctypes.c_int64({n})" for n in module.integers)
        lines.append(f"work = np.empty(max(LIBRARY.{name}_work({lengths}), 1), np.uint8)")
        passed.append("work.ctypes")
    call = f"LIBRARY.{name}({', '.join(passed)})"
    lines.append(f"number = {call}" if module.errors else call)
    if prints(module.source):  # in the order in which both print
        lines = ["sys.stdout.flush()", *lines, "ctypes.CDLL(None).fflush(None)"]
    return lines


def _name(dtype: np.dtype[Any]) -> str:
    return "bool_" if dtype.kind == "b" else dtype.name


def _check_lines(a: Argument) -> Iterable[str]:
    """Lines that turn an argument into what C takes. Nothing is lost: an array of floats is no
    array of integers."""
    dtype = f"np.{_name(a.type.dtype)}"
    if not a.type.shape:
        yield from _number_line(a, dtype)
        return
    function = "checked_output" if a.stored else "checked_input"
    shape = _tuple([str(n) if isinstance(n, int) else "None" for n in a.type.shape])
    yield f"{a.name} = {function}({_quote(a.path)}, {a.name}, {dtype}, {shape})"
    if any(a.lengths):
        yield f"{_tuple([n or '_' for n in a.lengths])} = {a.name}.shape"


def _number_line(a: Argument, dtype: str) -> Iterable[str]:
    """The line that turns a number into what ctypes takes; of any object it can say whether it is
    true."""
    call = f"checked_number({_quote(a.path)}, {a.name}, "
    match a.type.dtype.kind:
        case "i" | "u":
            yield f"{a.name} = {dtype}({call}operator.index))"
        case "f":
            yield f"{a.name} = {call}ctypes.c_{_ctypes(a.type.dtype)})"
        case "c":
            yield f"{a.name} = {call}complex)"


def _quote(text: str) -> str:
    """A text in the double quotes of the style, if it can be."""
    return repr(text) if {'"', "\\"} & {*text} else f'"{text}"'


def _tuple(texts: Sequence[str]) -> str:
    return f"({', '.join(texts)}{',' * (len(texts) == 1)})"


def _call_arguments(a: Argument) -> Iterable[str]:
    if a.type.shape:
        yield f"{a.name}.ctypes"
        yield from (f"ctypes.c_int64({n})" for n in a.lengths if n)
    else:
        yield _number_passed(a.name, a.type.dtype)


def _number_passed(name: str, dtype: np.dtype[Any]) -> str:
    """A number as ctypes passes it; a complex one as a structure of its parts, which C passes in
    the same way."""
    if dtype.kind == "c":
        return f"Complex{8 * dtype.itemsize}({name}.real, {name}.imag)"
    if dtype.kind == "f":
        return name
    return f"ctypes.c_{_ctypes(dtype)}({f'int({name})' if dtype.kind in 'iu' else name})"


def _structures(module: CModule) -> list[str]:
    """Classes of complex numbers that are passed by value."""
    lines = []
    for dtype in (np.dtype(np.complex64), np.dtype(np.complex128)):
        if any(a.type.dtype == dtype and not a.type.shape for a in module.arguments):
            kind = "float" if dtype.itemsize == 8 else "double"
            fields = f'(("real", ctypes.c_{kind}), ("imag", ctypes.c_{kind}))'
            lines += ["", "", f"class Complex{8 * dtype.itemsize}(ctypes.Structure):"]
            lines.append(f"    _fields_ = {fields}")
    return lines


def _ctypes(dtype: np.dtype[Any]) -> str:
    return {"float64": "double", "float32": "float"}.get(dtype.name, dtype.name)


# -- the test program


def in_order(module: CModule, result: Any) -> list[Any]:
    """The parts of what the function of Python returns, as the outputs come."""
    parts: dict[str, Any] = {}
    _take_apart(ast.parse(module.returned, mode="eval").body, result, parts)
    return [parts[o.name] for o in module.outputs]


def _take_apart(e: ast.expr, value: Any, parts: dict[str, Any]) -> None:
    """Notes what the names in an expression stand for, if its value is this."""
    match e:
        case ast.Name(id=name):
            parts[name] = value
        case (
            ast.Call(func=ast.Name("list"), args=[ast.Name(id=name)])
            | ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="tolist"))
        ):
            parts[name] = value
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for item, x in zip(items, value, strict=True):
                _take_apart(item, x, parts)
        case ast.Dict(values=items):
            for item, x in zip(items, value.values(), strict=True):
                _take_apart(item, x, parts)
        case ast.Call(keywords=[_, *_] as fields):
            for each in fields:
                _take_apart(each.value, getattr(value, str(each.arg)), parts)
        case _ if any(isinstance(n, ast.Name) for n in ast.walk(e)):
            raise UnsupportedError(
                f"a result that is put together as {ast.unparse(e)} has no form in C",
                "return arrays, in tuples, lists or dicts",
            )


def checking_program(
    module: CModule, leaves: Sequence[Any], results: Sequence[Any], after: Sequence[Any] | None
) -> str:
    """A program that calls the function once and compares its results with known ones.

    leaves   the values of the arguments
    results  what NumPy makes of them
    after    the values of the arguments after the call: some may be overwritten; None if they are
             not compared
    """
    with c99():
        return _test_text(module, leaves, results, after)


def _test_text(
    module: CModule, leaves: Sequence[Any], results: Sequence[Any], after: Sequence[Any] | None
) -> str:
    name, tables, passed, frees = module.name, [], [], []
    dtypes = [*(a.type.dtype for a in module.arguments), *(o.dtype for o in module.outputs)]
    tolerance = SINGLE if {np.dtype("f4"), np.dtype("c8")} & set(dtypes) else DOUBLE
    for a, value in zip(module.arguments, leaves, strict=True):
        x = np.asarray(value, a.type.dtype)
        if not a.type.shape:
            passed.append(_number(x.item(), x.dtype))
            continue
        tables += _table(f"{a.name}_given", x, const=not a.stored)
        passed += [
            f"{a.name}_given",
            *(str(n) for n, text in zip(x.shape, a.lengths, strict=True) if text),
        ]
    checks: list[str] = []
    counts: list[str] = []

    def compare(place: str, name: str, x: np.ndarray[Any, Any]) -> None:
        tables.extend(_table(f"{name}_expected", x))
        checks.append(f"  for (int k = 0; k < {x.size}; k++) {{")
        for part in ("creal", "cimag") if x.dtype.kind == "c" else ("",):
            pair = f"{part}({place}[k]), {part}({name}_expected[k])" if part else ""
            pair = pair or f"{place}[k], {name}_expected[k]"
            checks.append(f"    different += !same({pair}, {tolerance});")
        checks.append("  }")

    for a, value in zip(module.arguments, after or leaves, strict=True):
        if a.stored and after is not None:
            compare(f"{a.name}_given", a.name, np.asarray(value, a.type.dtype))
    for o, value in zip(module.outputs, results, strict=True):
        x = np.asarray(value, o.dtype)
        size = ROOM.text if any(o.counts) else max(x.size, 1)
        tables.append(f"static {_c(o.dtype)} {o.name}[{size}];")
        passed.append(o.name)
        for n, count in zip(x.shape, o.counts, strict=False):
            if count:
                counts.append(f"&{count}")
                tables.append(f"static int64_t {count};")
                checks.append(f"  different += {count} != {n};")
        compare(o.name, o.name, x)
    passed += counts
    if module.has_room:
        passed.append(ROOM.text)
        tables.insert(0, f"enum {{ {ROOM.text} = {MOST} }};")
    lines = ["int main(void) {", "  int different = 0;"]
    if module.has_work:
        sizes = _integer_values(module, leaves)
        lines.append(f"  void* work = malloc({name}_work({', '.join(sizes)}) + 1);")
        lines.append("  if (!work) return 2;")
        passed.append("work")
        frees = ["  free(work);"]
    call = f"{name}({', '.join(passed)})"
    if module.errors:
        lines.append(f"  const int number = {call};")
        lines.append(f'  if (number) printf("%s\\n", {name}_error(number));')
        lines.append("  different += number != 0;")
    else:
        lines.append(f"  {call};")
    lines += [*checks, *frees]
    lines += [
        f'  printf(different ? "{name}: %d numbers differ\\n" : "{name}: right\\n", different);',
        "  return different != 0;",
        "}",
        "",
    ]
    same = [
        "static int same(double x, double y, double tolerance) {",
        "  if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);",
        "  return x == y || fabs(x - y) <= tolerance * (1 + fabs(y));",
        "}",
    ]
    has_complex = any(d.kind == "c" for d in dtypes)
    head = [f'#include "{name}.h"', "", *["#include <complex.h>"] * has_complex]
    head += ["#include <math.h>", "#include <stdio.h>"]
    head += ["#include <stdlib.h>", "", "#ifndef INF64", "#define INF64 INFINITY"]
    head += ["#define NAN64 NAN", "#define INF32 INFINITY", "#define NAN32 NAN", "#endif", ""]
    return "\n".join([*head, *tables, "", *same, "", *lines])


def _integer_values(module: CModule, leaves: Sequence[Any]) -> list[str]:
    values = []
    for a, value in zip(module.arguments, leaves, strict=True):
        shape = np.shape(value)
        values += [str(n) for n, text in zip(shape, a.lengths, strict=True) if text]
        if not a.type.shape and a.type.dtype.kind in "iu":
            values.append(str(int(value)))
    return [*values, *([ROOM.text] if module.has_room else [])]


def _c(dtype: np.dtype[Any]) -> str:
    text = c_type(dtype)
    return PUBLIC.get(text, text)


def _number(x: Any, dtype: np.dtype[Any]) -> str:
    """A number as a constant of C."""
    if dtype.kind != "c":
        return constant(x, dtype).text
    return f"{constant(x.real).text} + {constant(x.imag).text} * I"


def _table(name: str, x: np.ndarray[Any, Any], const: bool = True) -> list[str]:
    """The numbers of an array."""
    texts = ", ".join(_number(v, x.dtype) for v in x.ravel().tolist()) or "0"
    head = f"static {'const ' * const}{_c(x.dtype)} {name}[{max(x.size, 1)}] = {{"
    return [head, *fill_lines(texts), "};"]
