"""Runs a script and keeps every source that is emitted on the way."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from argparse import REMAINDER, ArgumentParser, Namespace
from pathlib import Path

from tapeless.tools.errors import UsageError, writing
from tapeless.tools.load import check_no_notebook

EXAMPLES = """\
examples:
  tapeless run train.py --emit emitted
  tapeless run train.py --epochs 3 --emit emitted
  tapeless run --emit emitted train.py --emit stays-with-the-script
"""


def describe(parser: ArgumentParser) -> None:
    """Add the command's options."""
    _add_emit(parser)
    parser.add_argument("script", metavar="SCRIPT.py", type=Path)
    parser.add_argument("arguments", nargs=REMAINDER, help="passed to the script")


def execute(options: Namespace) -> int:
    """Run the script in a process of its own; 1 if it fails. What it emitted is kept either way."""
    folder, arguments = _emit(options)
    if not options.script.is_file():
        raise UsageError(f"there is no file {options.script}", "name a Python script to run")
    check_no_notebook(options.script)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", "--emit names a folder, made if need be")
    with writing(folder, "a folder, which is made if it is not there", "--emit"):
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tapeless-run-") as cache:
        command = [sys.executable, str(options.script), *arguments]
        environment = os.environ | {"TAPELESS_CACHE_DIR": cache}
        code = subprocess.run(command, env=environment, check=False).returncode
        kept_path = keep(Path(cache), folder)
    print(f"{kept_path} emitted modules in {folder}", file=sys.stderr)
    return int(code != 0)


def keep(cache: Path, folder: Path) -> int:
    """Copy the emitted modules out of the cache and write INDEX.md beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    emitted = sorted(path.relative_to(cache) for path in cache.rglob("*.py"))
    for path in emitted:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(cache / path, target)
    rows = [
        f"- [{path.as_posix()}]({path.as_posix()}): {description(folder / path)}"
        for path in emitted
    ]
    (folder / "INDEX.md").write_text("\n".join(["# Emitted modules", "", *rows, ""]), "utf-8")
    return len(emitted)


def description(path: Path) -> str:
    """What the module computes, by the docstring of its public function, and in which form: the
    function is called what the file is called, and stands behind those that it calls."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    documented = [f for f in reversed(functions) if ast.get_docstring(f)]
    name = path.stem.rpartition("_")[0]
    public = next((f for f in documented if f.name == name), next(iter(documented), None))
    if public is None:
        return (ast.get_docstring(module) or "no description").splitlines()[0]
    text = (ast.get_docstring(public) or "").splitlines()[0]
    compiled = any(isinstance(s, ast.ImportFrom) and s.module == "numba" for s in module.body)
    return f"{text} {'Compiled loops' if compiled else 'NumPy'}: `{ast.unparse(_head(public))}`."


def _head(function: ast.FunctionDef) -> ast.Call:
    """The call of a function with its parameters."""
    args: list[ast.expr] = [ast.Name(a.arg, ast.Load()) for a in function.args.args]
    return ast.Call(ast.Name(function.name, ast.Load()), args, [])


def _add_emit(parser: ArgumentParser) -> None:
    parser.add_argument("--emit", metavar="DIR", type=Path, help="where the sources are left")


def _emit(options: Namespace) -> tuple[Path, list[str]]:
    """The folder, named before the script or after it, and what is left for the script."""
    arguments: list[str] = options.arguments
    if options.emit is not None:
        return options.emit, arguments
    parser = ArgumentParser("tapeless run", add_help=False, allow_abbrev=False)
    _add_emit(parser)
    parsed, rest = parser.parse_known_args(arguments)
    if parsed.emit is None:
        raise UsageError("--emit DIR is missing", "say where the sources are left")
    return parsed.emit, rest
