"""Writes emitted modules that stand alone: arrays that a function reads from outside become data.

def f_grad(x, w): ...      becomes      w = np.array([1.0, 2.0])  def f_grad(x): ...

The emitted function itself takes them as parameters, since they may be others at each call.
"""

from __future__ import annotations

import ast
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tapeless.backends import cache
from tapeless.dispatch.specialisation import Specialisation
from tapeless.staging.device_list import device_get
from tapeless.staging.emitted_names import unused_name
from tapeless.transforms.errors import ArgumentError
from tapeless.transforms.python_text.line_breaking import wrap

FEW = 64  # elements of an array that the text itself holds
NUMBERS = "biufc"


class StandaloneModule:
    """An emitted module and what its public function reads from outside.

    text      the module
    main      the public function, whose last parameters are what it reads from outside
    values    the arrays and numbers among these, by parameter
    captured  what they are for the user's function
    """

    def __init__(self, specialisation: Specialisation, name: str) -> None:
        self.text, self.values, self.captured = specialisation.text, {}, {}
        self.on_gpu = "import cupy as cp\n" in specialisation.text
        functions = [
            s for s in ast.parse(specialisation.text).body if isinstance(s, ast.FunctionDef)
        ]
        self.main = next(s for s in functions if s.name == name)
        captured = specialisation.staged.captured if specialisation.captured else []
        parameters = [a.arg for a in self.main.args.args]
        for p, c in zip(parameters[len(parameters) - len(captured) :], captured, strict=True):
            value = device_get(c.get())
            if value.dtype.kind in NUMBERS:  # else a generator of random numbers, or a function
                self.values[p], self.captured[p] = value, c

    def with_small(self) -> str:
        """The text in which small arrays are data; larger ones stay parameters."""
        return self.write({p: literal(v) for p, v in self.values.items() if is_small(v)})

    def save(self, file: Path) -> None:
        """Writes the module, and beside it what is large."""
        large = {p: v for p, v in self.values.items() if not is_small(v)}
        beside = file.with_suffix(".npz")
        data = {p: literal(v) for p, v in self.values.items() if p not in large}
        text = self.write(data, beside.name, large)
        if large:
            _write_arrays(beside, large)
            imported = "import cupy as cp\n" if self.on_gpu else "import numpy as np\n"
            text = text.replace(imported, f"from pathlib import Path\n{imported}", 1)
        file.write_text(text, encoding="utf-8")

    def write(self, data: Mapping[str, str], beside: str = "", large: Iterable[str] = ()) -> str:
        """The text in which some parameters are data of the module instead.

        data    expressions of their values, by parameter
        beside  the name of the file with those that are `large`
        """
        names = {p: p if self.is_free(p) else f"{p}_outside" for p in (*data, *large)}
        if not names:
            return self.text
        lines, doc = self.text.splitlines(), self.main.body[0]
        module_lines = ["# What the function reads from outside, as it was when this was written:"]
        module_lines += [line for p, text in data.items() for line in wrap(f"{names[p]} = {text}")]
        if large:
            file = unused_name("outside", names.values())
            module_lines.append(f'with np.load(Path(__file__).with_name("{beside}")) as {file}:')
            module_lines += [f'    {names[p]} = {file}["{p}"]' for p in large]
        if self.on_gpu:  # the same names, for arrays that lie on the device
            module_lines = [re.sub(r"\bnp\.", "cp.", line) for line in module_lines]
        start = min([self.main.lineno, *(s.lineno for s in self.main.decorator_list)]) - 1
        others = ", ".join(a.arg for a in self.main.args.args if a.arg not in names)
        return "\n".join(
            [
                *lines[:start],
                *module_lines,
                *("", "", *lines[start : self.main.lineno - 1]),
                *wrap(f"def {self.main.name}({others}):"),
                *lines[doc.lineno - 1 : doc.end_lineno],
                *(f"    {p} = {name}" for p, name in names.items() if p != name),
                *lines[doc.end_lineno :],
                "",
            ]
        )

    def is_free(self, name: str) -> bool:
        """Whether a variable of the module may have this name, which the function only reads."""
        names = (n for n in ast.walk(self.main) if isinstance(n, ast.Name))
        stored = {n.id for n in names if not isinstance(n.ctx, ast.Load)}
        top = re.findall(r"^(?:def (\w+)|.*import (.*))", self.text, re.MULTILINE)
        return name not in stored.union(*(re.findall(r"\w+", " ".join(pair)) for pair in top))


def _write_arrays(file: Path, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Writes an .npz: `np.savez` takes no array that is called `file`."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, value in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, value, allow_pickle=False)


def is_small(value: np.ndarray[Any, Any]) -> bool:
    """Whether the text of a module is readable with this array in it."""
    return value.size <= FEW and (value.dtype.kind != "c" or bool(np.isfinite(value).all()))


def literal(value: np.ndarray[Any, Any]) -> str:
    """An expression with the value of an array or a number, to the last bit."""
    if (
        not value.shape
        and type(value.item()) in (int, float, complex)
        and value.dtype.itemsize >= 8
    ):
        return _spell_constants(repr(value.item()))
    text = _spell_constants(repr(value.tolist()))
    plain = np.array(value.tolist()).dtype == value.dtype
    return f"np.array({text})" if plain else f"np.array({text}, np.{value.dtype.name})"


def _spell_constants(text: str) -> str:
    return re.sub(r"\b(nan|inf)\b", r"np.\1", text)


def checked_file(file: Any) -> Path:
    """The path of a module that is to be written."""
    path = Path(file)
    if path.suffix == ".npz":
        raise ArgumentError(
            f"save: {str(file)!r} is the name of data", "large arrays go there: end it in .py"
        )
    return path


def file_of(name: str, text: str) -> str:
    """The file of an emitted module, which a debugger shows."""
    stored = cache.store(name, text)
    if stored is None:
        raise ArgumentError("no cache folder can be written to", "set TAPELESS_CACHE_DIR")
    return str(stored)
