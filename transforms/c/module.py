"""Puts a program in C99 together: a header, a source file, and what its arguments are.

f(x), x of float64[n]      becomes      void f(const double* x, int64_t x_0, double* out);
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tapeless.transforms.c.driver import Argument, Output, integers_of
from tapeless.transforms.c.growing_lists import ROOM, TOO_LONG
from tapeless.transforms.c.helpers import needed_helpers, without_underscores
from tapeless.transforms.c.kernel import print_kernel, reserved_names
from tapeless.transforms.c.records import ContainerStores, ResultClass
from tapeless.transforms.c.recursion import MEMORY_OF_CALLS, CallingWriter, RecursiveFunctions
from tapeless.transforms.c_text.dialect import c99
from tapeless.transforms.c_text.expressions import product
from tapeless.transforms.c_text.long_lines import declaration, in_width
from tapeless.transforms.c_text.renaming import ascii_name, words
from tapeless.transforms.c_text.statements import Error
from tapeless.transforms.c_text.values import PRODUCT, CValue, NotPrintedError, c_type, constant
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Block, Var
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.lowering.kernels.kernel import Kernel

PUBLIC = {
    "i64": "int64_t",
    "u64": "uint64_t",
    "c64": "float _Complex",
    "c128": "double _Complex",
}
#: A file `math.h` of ours, or `Math.h` where file names have no case, would hide that of C.
HEADERS = """
    assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg
    stdbool stddef stdint stdio stdlib string tgmath time wchar wctype
"""
#: Functions of the C library and of POSIX: one of the same name would be called in their place in
#: the whole program. Those that kernels call are reserved anyway.
LIBRARY = """
    abort accept access alarm aligned_alloc asctime atexit atof atoi atol bcmp bcopy bind bsearch
    bzero calloc chdir chmod chown clearerr clock close connect creat ctime daemon difftime dup dup2
    execl execv execve exit fchmod fclose fcntl fdopen feof ferror fflush fgetc fgets fileno fopen
    fork fprintf fputc fputs fread free freopen fscanf fseek fstat fsync ftell ftruncate fwrite
    getc getchar getcwd getenv getline getopt getpid gets getuid gmtime htonl htons ioctl isalnum
    isalpha isatty isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit
    kill labs ldexp link listen localeconv localtime lockf longjmp lseek lstat malloc mblen mbstowcs
    memchr memcmp mkdir mkfifo mktime mmap modf munmap nice ntohl ntohs open pause perror pipe poll
    popen pread printf putc putchar putenv puts pwrite qsort raise rand random read readdir readlink
    realloc recv rewind rmdir scanf select send setbuf setenv setlocale setvbuf shutdown sigaction
    sleep snprintf socket sprintf srand srandom sscanf stat strcat strchr strcmp strcoll strcpy
    strcspn strdup strerror strftime strlen strncat strncmp strncpy strpbrk strrchr strspn strstr
    strtod strtok strtol strtoul strxfrm swab symlink sync sysconf system tmpfile tmpnam tolower
    toupper truncate umask uname ungetc unlink usleep utime vfork vfprintf vprintf vsprintf wait
    waitpid wcstombs write
"""
MOST_CONSTANTS = 100_000  # numbers that the program has read outside: they are written out
ROUNDED = """
static size_t rounded(size_t bytes) {  // so that what follows is aligned
  return (bytes + 15) / 16 * 16;
}"""
#: Headers of C, and what is of each.
INCLUDED = {
    "complex.h": {"c64", "c128"},
    "math.h": set(),
    "stdio.h": {"printf", "sprintf", "fflush"},
    "stdlib.h": {"atoi", "strtod", "strtof"},
    "string.h": {"memcpy", "memmove", "strchr"},
}
ADVICE = "call the function from Python, or write the part that C does not have by itself"


@dataclass(frozen=True)
class CModule:
    """A program as text of C, and what is known of its function.

    doc             what the function is
    header, source  the two files
    arguments       its parameters, in order, each followed by its lengths
    outputs         where it leaves its results: pointers that follow
    returned        what the Python function returns, in Python, of the names of outputs
    has_work        whether `NAME_work` says how many bytes it needs for itself
    errors          what the numbers from 1 mean that it may return; if none, it returns nothing
    records         classes of the user's that `returned` names
    stores          what it changes in containers of its caller: then `returned` is the result, and
                    the values that they get
    """

    name: str
    doc: str
    header: str
    source: str
    arguments: tuple[Argument, ...]
    outputs: tuple[Output, ...]
    returned: str
    has_room: bool
    has_work: bool
    errors: tuple[Error, ...]
    records: tuple[ResultClass, ...] = ()
    stores: ContainerStores | None = None
    fixed: tuple[tuple[str, str], ...] = ()

    @property
    def too_long(self) -> int:
        """The number of the error that there is not enough room."""
        return self.errors.index(TOO_LONG) + 1 if TOO_LONG in self.errors else -1

    @property
    def integers(self) -> list[str]:
        """What `NAME_work` takes."""
        return [*integers_of(self.arguments), *([ROOM.text] if self.has_room else [])]


def write_c(
    name: str,
    driver: Block,
    kernels: Sequence[Kernel],
    paths: Sequence[str],
    stored: Sequence[Var],
    constants: Mapping[Var, Any],
    relations: Sequence[tuple[str, Size, Size]],
    result: Callable[[list[str]], str],
    doc: str,
    fixed: Sequence[tuple[str, str]] = (),
    stores: ContainerStores | None = None,
) -> CModule:
    """The program as C99.

    driver     what calls the kernels; its parameters are arguments, then what was read outside
    paths      what each argument is in the user's program
    stored     arguments that it overwrites
    constants  values of what was read outside
    relations  of lengths, on which the code relies
    result     the expression of what is returned, for the names of results
    doc        what the function is
    fixed      arguments of the user's program whose values the code is for, as text
    stores     what it changes in containers of its caller

    Raises UnsupportedError for what has no form in C, with the line of the user.
    """
    with c99():
        try:
            return _ModuleWriter(
                *(name, driver, kernels, paths, stored, constants, relations, result, doc, fixed),
                stores,
            ).write()
        except NotPrintedError as e:
            where = None if e.origin is None else (e.origin.file, e.origin.line, 0, 0)
            raise UnsupportedError(f"{e} has no form in C", ADVICE, where) from e


class _ModuleWriter:
    def __init__(
        self,
        name: str,
        driver: Block,
        kernels: Sequence[Kernel],
        paths: Sequence[str],
        stored: Sequence[Var],
        constants: Mapping[Var, Any],
        relations: Sequence[tuple[str, Size, Size]],
        result: Callable[[list[str]], str],
        doc: str,
        fixed: Sequence[tuple[str, str]],
        stores: ContainerStores | None,
    ) -> None:
        name = ascii_name(name)
        other = (
            name in {*reserved_names([name]), *LIBRARY.split()} or name.lower() in HEADERS.split()
        )
        self.name = f"{name}_" if other else name
        self.doc, self.result, self.fixed, self.stores = doc, result, fixed, stores
        self.kernels = [(kernel, print_kernel(kernel)) for kernel in kernels]
        self.tables: dict[str, str] = {}  # by name
        self.driver = CallingWriter(self.name, driver, self.kernels, paths, stored, relations)
        self.driver.functions = RecursiveFunctions(self.driver.taken, self.driver.errors)
        for v, value in constants.items():
            self.know(v, value)
        self.driver.write()

    def know(self, v: Var, value: Any) -> None:
        """A value that was read outside becomes a constant of the program."""
        if not v.type.shape:
            self.driver.numbers[v] = constant(np.asarray(value).item(), v.type.dtype)
            return
        array = np.asarray(value)
        if array.size > MOST_CONSTANTS or array.dtype.kind not in "biuf":
            raise NotPrintedError(f"the array {v.name or 'read outside'}, of {array.size} numbers,")
        name = self.driver.fresh(v.name or "table")
        texts = ", ".join(constant(x, array.dtype).text for x in array.ravel().tolist()) or "0"
        head = f"static const {c_type(array.dtype)} {name}[{max(array.size, 1)}] = {{"
        self.tables[name] = "\n".join([head, *fill_lines(texts), "};"])
        self.driver.constant_array(v, name, [constant(n) for n in array.shape])

    def write(self) -> CModule:
        driver, functions = self.driver, self.driver.functions.texts
        body = self.memory() + driver.lines
        if driver.errors:
            body.append("  return 0;")
        unread = set(self.names_of_parameters()) - words("\n".join(body))
        body[:0] = [f"  (void){name};" for name in self.names_of_parameters() if name in unread]
        texts = [text for _, k in self.kernels for text in (*k.called, k.text)]
        main = in_width([*self.head(") {"), *body, "}"])
        parts = [*self.work_size(), *dict.fromkeys(texts), *functions, main]
        tables = [text for name, text in self.tables.items() if name in words(main)]
        code = without_underscores("\n\n".join([*tables, *parts, *self.error_names()]))
        head = [*self.includes(code), "", "typedef int64_t i64;"]
        named = words("\n".join([code, *needed_helpers([code])]))
        head += [f"typedef {PUBLIC[c]} {c};" for c in ("u64", "c64", "c128") if c in named]
        helpers = [_public(text) for text in needed_helpers([code])]
        source = "\n\n".join(["\n".join(head), *helpers, code]) + "\n"
        return CModule(
            self.name,
            self.doc,
            self.header(),
            source,
            tuple(driver.arguments),
            tuple(driver.outputs.values()),
            self.returned_value(),
            driver.has_room,
            bool(driver.work),
            tuple(driver.errors),
            stores=self.stores,
            fixed=tuple(self.fixed),
        )

    # -- the function

    def parameters(self) -> list[str]:
        texts = []
        for a in self.driver.arguments:
            c = _public(c_type(a.type.dtype))
            if not a.type.shape:
                texts.append(f"{c} {a.name}")
                continue
            texts.append(f"{'' if a.stored else 'const '}{c}* {a.name}")
            texts += [f"int64_t {n}" for n in a.lengths if n]
        texts += [f"{_public(c_type(o.dtype))}* {o.name}" for o in self.driver.outputs.values()]
        texts += [f"int64_t* {n}" for o in self.driver.outputs.values() for n in o.counts if n]
        texts += ["int64_t room"] if self.driver.has_room else []
        return [*texts, *(["void* work"] if self.driver.work else [])]

    def names_of_parameters(self) -> list[str]:
        return [re.split(r"[ *]+", text)[-1] for text in self.parameters()]

    def head(self, last: str) -> list[str]:
        """The head of the function."""
        kind = "int" if self.driver.errors else "void"
        return declaration(f"{kind} {self.name}(", self.parameters() or ["void"], last)

    def work_declared(self, last: str) -> list[str]:
        """The head of the function that says how much memory it needs."""
        texts = [f"int64_t {name}" for name in self.work_integers()]
        return declaration(f"size_t {self.name}_work(", texts or ["void"], last)

    def work_integers(self) -> list[str]:
        """What sizes of memory depend on."""
        room = [ROOM.text] if self.driver.has_room else []
        return [*integers_of(self.driver.arguments), *room]

    def returned_value(self) -> str:
        """What the function of Python returns."""
        return self.result([o.name for o in self.driver.outputs.values()])

    # -- memory

    def bytes_of(self, dtype: np.dtype[Any], lengths: Sequence[CValue]) -> str:
        return f"{product(lengths).operand(PRODUCT)} * sizeof({c_type(dtype)})"

    def memory(self) -> list[str]:
        """Lines that part the memory for the function itself."""
        if not self.driver.work:
            return []
        lines, last = ["  char* at = work;"], self.driver.work[-1]
        for item in self.driver.work:
            name, dtype, lengths = item
            lines.append(f"  {c_type(dtype)}* {name} = ({c_type(dtype)}*)at;")
            if item is not last:
                lines.append(f"  at += rounded({self.bytes_of(dtype, lengths)});")
        return lines

    def work_size(self) -> list[str]:
        if not self.driver.work:
            return []
        first, *others = [f"rounded({self.bytes_of(d, n)})" for _, d, n in self.driver.work]
        lines = [f"  size_t bytes = {first};", *(f"  bytes += {other};" for other in others)]
        read, names = words("\n".join(lines)), self.work_integers()
        unread = [f"  (void){name};" for name in names if name not in read]
        lines = [*self.work_declared(") {"), *unread, *lines]
        return [ROUNDED.strip(), "\n".join([*lines, "  return bytes;", "}"])]

    # -- errors

    def error_names(self) -> list[str]:
        if not self.driver.errors:
            return []
        lines = [f"const char* {self.name}_error(int number) {{", "  switch (number) {"]
        for k, error in enumerate(self.driver.errors, 1):
            lines.append(f"    case {k}: return {_c_string(message(error))};")
        return ["\n".join([*lines, "  }", '  return "";', "}"])]

    # -- the files

    def includes(self, code: str) -> list[str]:
        text = "\n".join([code, *needed_helpers([code])])
        named = words(text)
        names = [name for name, called in INCLUDED.items() if name == "math.h" or named & called]
        return [
            *self.comment(),
            f'#include "{self.name}.h"',
            "",
            *(f"#include <{n}>" for n in names),
        ]

    def comment(self) -> list[str]:
        """What the function is, in lines of a comment."""
        return [f"// {line}".rstrip() for line in self.doc.splitlines()]

    def header(self) -> str:
        guard = f"{self.name.upper()}_H"
        declarations = self.head(");")
        if self.driver.work:
            declarations += ["", "// The bytes that it needs at work.", *self.work_declared(");")]
        if self.driver.errors:
            declarations += ["", "// What a number that it returns means."]
            declarations += [f"const char* {self.name}_error(int number);"]
        return "\n".join(
            [
                *(f"#ifndef {guard}", f"#define {guard}", ""),
                *("#include <stdbool.h>", "#include <stddef.h>", "#include <stdint.h>", ""),
                *("#ifdef __cplusplus", 'extern "C" {', "#endif", ""),
                *self.description(),
                *declarations,
                *("", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""),
            ]
        )

    def description(self) -> list[str]:
        """What the function does, and what its parameters are."""
        rows = [(a.name, self.describe_argument(a)) for a in self.driver.arguments]
        for o in self.driver.outputs.values():
            counts = o.counts or ("",) * len(o.lengths)
            lengths = [count or n.text for count, n in zip(counts, o.lengths, strict=True)]
            shape = "".join(f"[{n}]" for n in lengths)
            rows.append((o.name, f"{_public(c_type(o.dtype))}{shape}, a result"))
            rows += [(n, f"a result: a length of {o.name}") for n in o.counts if n]
        if self.driver.has_room:
            rows.append(("room", "how many numbers each array may have whose length depends on"))
            rows.append(("", "values, results among them; more are an error"))
            if any(name == MEMORY_OF_CALLS for name, _, _ in self.driver.work):
                rows.append(("", "So many have all calls together that are in one another"))
        if self.driver.work:
            rows.append(("work", "memory for the function itself, aligned as malloc aligns"))
        width = max((len(name) for name, _ in rows), default=0)
        lines = [*self.comment(), "//"]
        lines += [f"//   {name:{width}}  {text}" for name, text in rows]
        if self.fixed:
            values = ", ".join(f"{path} = {value}" for path, value in self.fixed)
            lines += [
                "//",
                f"// The code is for {' '.join(values.split())} of the Python function.",
            ]
        if self.stores is not None:
            lines += [
                "//",
                f"// result, new = {self.returned_value()}, of which the function of Python",
            ]
            lines += ["// returns the result, and leaves what is new in its arguments:"]
            lines += ["//", f"//   held = {', '.join(self.stores.held)},"]
            lines += [f"//   {line}" for line in self.stores.lines]
        elif len(self.driver.outputs) > 1:
            lines += ["//", f"// The function of Python returns {self.returned_value()}."]
        lines += ["//", "// Arrays lie row by row; results share no memory with anything else."]
        if self.driver.errors:
            lines.append("// It returns 0, or the number of an error.")
        return lines

    def describe_argument(self, a: Argument) -> str:
        lengths = [
            str(n) if isinstance(n, int) else text
            for n, text in zip(a.type.shape, a.lengths, strict=True)
        ]
        shape = "".join(f"[{n}]" for n in lengths)
        text = f"{_public(c_type(a.type.dtype))}{shape}"
        path = f", {a.path} of the Python function" if a.path != a.name else ""
        return f"{text}{path}{', which is overwritten' if a.stored else ''}"


def message(error: Error) -> str:
    """An error as text: its type, and what it says, with dots for what depends on values."""
    kind, args = error
    return ": ".join([kind, *(str(a).replace("Ellipsis", "...") for a in args)])


def _public(text: str) -> str:
    return PUBLIC.get(text, text)


def _c_string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def fill_lines(text: str, width: int = 96) -> Iterable[str]:
    """A long list in lines."""
    line = "   "
    for piece in text.split(", "):
        if len(line) + len(piece) + 2 > width:
            yield line
            line = "   "
        line += f" {piece},"
    yield line.rstrip(",")
