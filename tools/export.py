"""Writes a transformed function as files that need tapeless no more: Python, C, a wheel."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.tools import internals
from tapeless.tools.errors import UsageError, writing
from tapeless.tools.target import CommandTarget, add_target
from tapeless.tools.transform import add_transform, transform
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
    target = CommandTarget.of_options(options, lambda args: (0,) if args else (-1,))
    names = tuple(name for name in options.transform if name != "jit")
    function = transform(target, names) if names else internals.array_form(target.function)
    with writing(options.output):
        options.output.mkdir(parents=True, exist_ok=True)
        for file in _write(options, function, target.args):
            print(file)
    return 0


def _write(options: Namespace, function: Any, args: tuple[Any, ...]) -> list[Path]:
    """The files that are asked for."""
    if options.python:
        return _python(function, args, options.output)
    if options.wheel:
        return [built_wheel(internals.c_package(function, args), options.output)]
    return _c(function, args, options.output, options.blas)


def _python(function: Any, args: tuple[Any, ...], folder: Path) -> list[Path]:
    """The module in array form, and what lies beside it."""
    file = folder / f"{function.emitted_name}.py"
    function.save(file, *args)
    beside = file.with_suffix(".npz")
    return [file, *([beside] if beside.exists() else [])]


def _c(function: Any, args: tuple[Any, ...], folder: Path, blas: bool) -> list[Path]:
    """The source in C, and what goes with it."""
    values = _values(args)
    after = _copy_arguments(values)
    results = function(*after)
    files = internals.c_files(function, values, results, after, blas)
    paths = [folder / name for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def _values(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments at which the function is tested: floats between 1/2 and 3/2, others as they are."""
    rng = np.random.default_rng(0)

    def value(x: Any) -> Any:
        if isinstance(x, np.ndarray) and x.dtype.kind == "f":
            return np.asarray(rng.uniform(0.5, 1.5, x.shape), x.dtype)
        return type(x)(rng.uniform(0.5, 1.5)) if isinstance(x, (float, np.floating)) else x

    return tree.map(value, args)  # type: ignore[no-any-return]


def _copy_arguments(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tree.map(lambda x: x.copy() if isinstance(x, np.ndarray) else x, args)  # type: ignore[no-any-return]
