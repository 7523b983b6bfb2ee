"""Defines the scalar form of an elementwise operation: how compiled code computes one element.

mul(2, x), x of float32      becomes      np.float32(2) * x

Numba types a scalar expression as Python does, which is not always what NumPy makes of arrays:
operands are cast where the two differ, so the value has the dtype of the core program.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Literal, Protocol

import numpy as np

from tapeless.transforms.core import language
from tapeless.transforms.core.language import Let
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.python_text.python_source import number, template

FLOAT, INT, BOOL = np.dtype(float), np.dtype(int), np.dtype(bool)
WIDE = np.dtype(complex)


class ModuleNeeds(Protocol):
    """The compiled module in which a scalar form is written: what it imports and defines."""

    imports: set[tuple[str, str]]
    helpers: dict[str, None]


@dataclass(frozen=True)
class ScalarForm:
    """The value of an elementwise operation for single numbers.

    text        Python with {0}, {1} for the operands, or (statement, operands, module) -> tree
    operands    the dtype to which operands are converted: that of the `result`, of truth values,
                of `float64` or `complex128`, each its `own`; `natural`: that of the result without
                the casts that Python does itself
    results     kinds of the dtypes of results that have this form
    accepts     a further condition on the statement
    of_complex  the form for complex operands: `same` is this one, None is none
    imports     the functions that the text may call, modules and names: no variable has these names
    helpers     text of functions that the module must define
    repeats     whether the text names an operand more than once
    exact       whether an integer that comes out has its dtype, without a cast
    work        the cost, in additions; 0 is that of a function of the C library if `Op.costly`,
                else one addition
    """

    text: str | Callable[[Let, Operands, ModuleNeeds], ast.expr]
    operands: Literal["result", "own", "truth", "float64", "complex128", "natural"] = "result"
    results: str = "biuf"
    accepts: Callable[[Let], bool] | None = None
    of_complex: ScalarForm | Literal["same"] | None = None
    imports: tuple[tuple[str, str], ...] = ()
    helpers: tuple[str, ...] = ()
    repeats: bool = False
    exact: bool = False
    work: int = 0

    def form_for(self, s: Let) -> ScalarForm | None:
        """The form for the operands of this statement; None where there is none."""
        if any(t.type.dtype.kind == "c" for t in (*s.args, *s.outs)):
            form = self if self.of_complex == "same" else self.of_complex
        else:
            form = self if s.outs[0].type.dtype.kind in self.results else None
        return form if form is None or form.accepts is None or form.accepts(s) else None

    def write(self, s: Let, values: list[ast.expr], module: ModuleNeeds) -> ast.expr:
        """The value for operands with these texts, in the dtype of the result of the statement."""
        out = s.outs[0].type.dtype
        operands = Operands(s, values)
        if isinstance(self.text, str):
            value = template(self.text, operands.convert(self.operands, out))
            self.note_needs(module)
        else:
            value = self.text(s, operands, module)
        wide = {"float64": FLOAT, "complex128": WIDE}.get(self.operands)
        if wide is not None:
            return cast(value, wide, out)
        return value if self.exact else narrow(value, out)

    def note_needs(self, module: ModuleNeeds) -> None:
        """Notes what the text calls; a text that depends on the statement notes that itself."""
        module.imports |= set(self.imports)
        module.helpers |= dict.fromkeys(text.strip() for text in self.helpers)


class Operands:
    """The operands of one statement, each with its text, converted on request."""

    def __init__(self, s: Let, values: list[ast.expr]) -> None:
        self.atoms, self.values = s.args, values

    def convert(self, how: str, out: np.dtype[Any]) -> dict[str, ast.expr]:
        """As a scalar form takes operands, for a result of this dtype."""
        if how == "natural":
            return self.natural(out)
        if how == "own":
            return {str(k): self.convert_operand(k, a.type.dtype) for k, a in enumerate(self.atoms)}
        return self.convert_all(
            {"result": out, "truth": BOOL, "float64": FLOAT, "complex128": WIDE}[how]
        )

    def convert_all(self, dtype: np.dtype[Any]) -> dict[str, ast.expr]:
        return {str(k): self.convert_operand(k, dtype) for k in range(len(self.values))}

    def convert_operand(self, k: int, dtype: np.dtype[Any]) -> ast.expr:
        atom = self.atoms[k]
        if isinstance(atom, language.Literal):
            return literal(atom.value, dtype)
        return cast(self.values[k], atom.type.dtype, dtype)

    def natural(self, dtype: np.dtype[Any]) -> dict[str, ast.expr]:
        """As `convert_all`, without casts that Python does itself: an integer beside a float."""
        dtypes = [a.type.dtype for a in self.atoms]
        others = [
            d == dtype and not isinstance(a, language.Literal)
            for a, d in zip(self.atoms, dtypes, strict=True)
        ]
        holes = self.convert_all(dtype)
        if dtype == FLOAT and sum(others):
            for k, a in enumerate(self.atoms):
                if dtypes[k] == INT or isinstance(a, language.Literal):
                    holes[str(k)] = self.values[k]
        return holes


# -- numbers and casts


def literal(value: Any, dtype: np.dtype[Any]) -> ast.expr:
    """A constant of this dtype."""
    if value is None:
        value = dtype.type(0).item()
    value = value.item() if isinstance(value, np.generic) else value
    if dtype == BOOL:
        return number(bool(value))
    if dtype in (FLOAT, INT):
        return number(value if dtype == FLOAT and not isinstance(value, bool) else int(value))
    if dtype == WIDE:
        return number(complex(value))
    return convert(dtype, number(value))


def convert(dtype: np.dtype[Any], value: ast.expr) -> ast.expr:
    """The value converted to a dtype."""
    if dtype == BOOL:
        return template("{0} != 0", {"0": value})  # type: ignore[no-any-return]
    return template(f"np.{dtype.name}({{0}})", {"0": value})  # type: ignore[no-any-return]


def cast(value: ast.expr, have: np.dtype[Any], wanted: np.dtype[Any]) -> ast.expr:
    """The value of one dtype as one of another."""
    return value if have == wanted else convert(wanted, value)


def narrow(value: Any, out: np.dtype[Any]) -> ast.expr:
    """Integers that are not of Python's size come out of arithmetic wider than they are."""
    return convert(out, value) if out.kind in "iu" and out != INT else value
