"""Writes a transformed function as files that need tapeless no more: Python, C, a wheel."""

from __future__ import annotations

import copy
import dataclasses
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.tools import internals
from tapeless.tools.errors import UsageError, writing
from tapeless.tools.overwriting import check_not_of_the_user
from tapeless.tools.target import CommandTarget, add_target
from tapeless.tools.transform import add_transform, transform
from tapeless.tools.user_output import printing_aside
from tapeless.tools.wheel import built_wheel

EXAMPLES = """\
examples:
  tapeless export models.py:logistic --transform grad --python -o derivatives
  tapeless export models.py:loss --transform grad --args "f8[3], f8[100,3], f8[100]" --c -o csrc
  tapeless export control.py:cost --transform value_and_grad --args "f8[20], f8[2]" --c
  tapeless export control.py:cost --transform grad --args "f8[20], f8[2]" --wheel -o dist
"""


def describe(parser: ArgumentParser) -> None:
    """Add the command's options."""
    add_target(parser)
    add_transform(parser)
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument(
        "--python",
        action="store_true",
        help="one module of NumPy code; large arrays that it reads lie beside it in an .npz file",
    )
    kind.add_argument(
        "--c",
        action="store_true",
        help="C99: a source file and its header, a program that tests them, lines for CMake, and a "
        "module of Python that calls the library. Lengths above 8 are arguments, shorter ones are "
        "those of --args",
    )
    kind.add_argument(
        "--wheel",
        action="store_true",
        help="a wheel of a Python package that calls the function in C; pip compiles it",
    )
    parser.add_argument(
        "--blas",
        action="store_true",
        help="with --c: large products of matrices call a BLAS library (cblas.h)",
    )
    parser.add_argument(
        "--maths",
        choices=("library", "inline", "fast"),
        default="library",
        help="with --c: inline writes sine, cosine, tanh and exp out, which is faster where steps "
        "wait for each other (gcc -march=native); fast does so, and adds sums up in the order that "
        "waits least, which rounds otherwise; library calls those of C (default)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        type=Path,
        default=Path(),
        help="where the files are written (default: here)",
    )


def execute(options: Namespace) -> int:
    """Write the files, and print their names."""
    if options.blas and not options.c:
        raise UsageError("--blas is about C", "write --c --blas, or leave --blas out")
    if options.maths != "library" and not options.c:
        raise UsageError(
            "--maths is about C", f"write --c --maths {options.maths}, or leave --maths out"
        )
    if options.output.suffix in (".py", ".c", ".h", ".whl") and not options.output.exists():
        raise UsageError(
            f"-o names a folder, and {options.output} looks like a file",
            "name a folder, as in -o src",
        )
    target = CommandTarget.of_options(options, lambda args: (0,) if args else (-1,))
    if options.c or options.wheel:
        target = _with_its_object(target)
    names = tuple(name for name in options.transform if name != "jit")
    function = transform(target, names) if names else internals.array_form(target.function)
    with printing_aside():
        write = _writer(options, function, target.args)
    with writing(options.output, "a folder, which is made if it is not there"):
        options.output.mkdir(parents=True, exist_ok=True)
        files = write(options.output)
    for file in files:
        print(file)
    return 0


def _with_its_object(target: CommandTarget) -> CommandTarget:
    """A method of an object of a dataclass as the function whose first argument that object is: C
    has no objects of its own, and leaves there what changes in it."""
    owner = getattr(target.function, "__self__", None)
    if isinstance(owner, type) or not dataclasses.is_dataclass(owner):
        return target
    wrt = tuple(k + 1 if k >= 0 else k for k in target.wrt)
    return CommandTarget(target.function.__func__, (owner, *target.args), wrt)  # type: ignore[attr-defined]


def _writer(options: Namespace, function: Any, args: tuple[Any, ...]) -> Callable[[Path], Any]:
    """What writes the files that are asked for into a folder, and gives their paths. The function
    of the user has run before."""
    if options.python:
        function.source(*args)
        return lambda folder: _write_module(function, args, folder)
    if options.wheel:
        package = internals.c_package(function, args)
        return lambda folder: [built_wheel(package, folder)]
    files = _c_files(function, args, options.blas, options.maths)
    for name in files:
        check_not_of_the_user(options.output / name)
    return lambda folder: [_write_text(folder / name, text) for name, text in files.items()]


def _write_module(function: Any, args: tuple[Any, ...], folder: Path) -> list[Path]:
    """The module in array form, and what lies beside it."""
    file = folder / f"{function.emitted_name}.py"
    check_not_of_the_user(file)
    function.save(file, *args)
    beside = file.with_suffix(".npz")
    return [file, *([beside] if beside.exists() else [])]


def _c_files(function: Any, args: tuple[Any, ...], blas: bool, maths: str) -> dict[str, str]:
    """The source in C, and what goes with it, by the names of files."""
    values = _values(args)
    after = copy.deepcopy(values)
    results = function(*after)
    return internals.c_files(function, values, results, after, blas, maths)


def _write_text(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


def _values(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments at which the function is tested: floats between 1/2 and 3/2, others as they are."""
    rng = np.random.default_rng(0)

    def value(x: Any) -> Any:
        if isinstance(x, np.ndarray) and x.dtype.kind == "f":
            return np.asarray(rng.uniform(0.5, 1.5, x.shape), x.dtype)
        return type(x)(rng.uniform(0.5, 1.5)) if isinstance(x, (float, np.floating)) else x

    return tree.map(value, args)  # type: ignore[no-any-return]
