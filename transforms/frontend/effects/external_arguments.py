"""Describes the arguments of calls that a program makes: the places of its values in them, and what
it makes again of its values, such as text and objects.
"""

from __future__ import annotations

import dis
import operator
import types
from typing import Any, Protocol

import numpy as np

from tapeless.transforms.core.language import Atom, Statement
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.heap.frames import Frame
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.source.original_code import original_code
from tapeless.transforms.frontend.source.rewrite import known_codes
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import has_symbols
from tapeless.transforms.frontend.values.text import Text

CONTAINERS = (list, tuple)


class Call(Protocol):
    """What makes an object of values."""

    __name__: str

    def result(self, values: list[Any]) -> Any: ...

    def does_the_same_as(self, other: Any) -> bool: ...


@dataclass(frozen=True)
class Hole:
    """The place of a value of the program in the arguments of a call."""

    number: int


@dataclass(frozen=True)
class Remade:
    """The place of an object that a call makes of values of the program, from the `first` on."""

    call: Call
    first: int


@dataclass(frozen=True)
class Recipe:
    """How an object is made that is no number or array, and of what."""

    call: Call
    atoms: list[Atom]
    block: list[Statement]


@dataclass(frozen=True)
class RangeOfValues:
    """The place of a range whose start, stop or step, which have holes, the program computes."""

    span: list[Any]

    def with_values(self, values: list[Any]) -> range:
        return range(*map(operator.index, fill_holes(self.span, values)))


@dataclass(frozen=True)
class DefinedFunction:
    """The place of a function that the program defines: it is made again around the values that
    its variables have.

    code       what the user wrote
    variables  those of functions around it that it reads, with holes
    defaults   those of its arguments, by position and by name, with holes
    """

    code: types.CodeType
    names: dict[str, Any]
    variables: tuple[Any, ...]
    defaults: Any

    def with_values(self, values: list[Any]) -> Any:
        cells = tuple(types.CellType(v) for v in fill_holes(self.variables, values))
        by_position, by_name = fill_holes(self.defaults, values)
        name = self.code.co_name
        function = types.FunctionType(self.code, self.names, name, by_position, cells)
        function.__kwdefaults__ = by_name
        return function


def _function_with_holes(f: types.FunctionType, atoms: list[Atom]) -> DefinedFunction:
    code = original_code(f.__code__)
    stores = code is None or any(
        i.opname == "STORE_DEREF" and i.argval in code.co_freevars
        for i in dis.get_instructions(code)
    )
    if code is None or stores:
        refuse_function_of_program(f)
    assert code is not None
    variables = tuple(
        with_holes(_readable(f, name, _variable(f, name)), atoms) for name in code.co_freevars
    )
    defaults = with_holes((f.__defaults__, f.__kwdefaults__), atoms)
    return DefinedFunction(code, f.__globals__, variables, defaults)


def _variable(f: types.FunctionType, name: str) -> Any:
    """What a variable of a function around another one holds now."""
    contents = [cell.cell_contents for cell in f.__closure__ or ()]
    for frame in contents:
        if isinstance(frame, Frame) and name in vars(frame):
            return vars(frame)[name]
    for closure in (getattr(hooks, "closure", {}) for hooks in contents):
        if name in closure:
            return closure[name].cell_contents
    refuse_function_of_program(f)
    return None


def _readable(f: types.FunctionType, name: str, value: Any) -> Any:
    """A variable that a function can only read when it is called; what it could change, the
    program would not see."""
    if isinstance(value, (list, dict, set)) or value is f:
        refuse_function_of_program(f)
    return value


def with_holes(value: Any, atoms: list[Atom]) -> Any:
    if isinstance(value, Symbol):
        atoms.append(value.value())
        return Hole(len(atoms) - 1)
    if (remade := trace().call.recipes.get(id(value))) is not None:
        _, recipe = remade
        if recipe.atoms and not any(b is recipe.block for b in trace().blocks):
            raise UnsupportedError(
                f"what {recipe.call.__name__} makes in a loop or branch is used after it",
                "make it where it is used",
            )
        atoms += recipe.atoms
        return Remade(recipe.call, len(atoms) - len(recipe.atoms))
    if isinstance(value, Text):
        return value.with_values(lambda v: with_holes(v, atoms))
    if is_function_of_program(value):
        return _function_with_holes(value, atoms)
    refuse_function_of_program(value)
    if type(value) is dict:
        return {k: with_holes(v, atoms) for k, v in value.items()}
    if isinstance(value, (StagedList, list)):
        return [with_holes(v, atoms) for v in value]
    if isinstance(value, tuple):
        parts = [with_holes(v, atoms) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if (is_range := own_attribute(value, "is_range")) is not None:
        if not is_range:
            raise UnsupportedError(
                "what a loop can run over is given to code without a rule", "make a list of it"
            )
        return RangeOfValues(with_holes([value.start, value.stop, value.step], atoms))
    _refuse_objects_of_values(value)
    return value


def _refuse_objects_of_values(value: Any) -> None:
    """Refuses an object of a user's class that holds values of the program."""
    if has_symbols(getattr(value, "__dict__", None)):
        raise UnsupportedError(
            f"an object of type {type(value).__name__} that holds values of the program is given "
            "to code without a rule",
            "give it a function that reads the values, or the values",
        )


def is_function_of_program(f: Any) -> bool:
    """Whether a function is one that the program defines."""
    return isinstance(f, types.FunctionType) and f.__code__ in known_codes


def refuse_function_of_program(f: Any) -> None:
    """Refuses functions that the program defines: they mean nothing when the run has ended."""
    function = f.pyfunc if isinstance(f, np.vectorize) else f
    of_python = isinstance(f, np.ufunc) and f.__name__.endswith("(vectorized)")  # np.frompyfunc
    if is_function_of_program(function) or of_python:
        name = getattr(function, "__name__", "a function").removesuffix(" (vectorized)")
        raise UnsupportedError(
            f"{name} is called by code without a rule",
            "write a loop that calls it, or np.vectorize(...) with otypes, or define it outside",
        )


def fill_holes(value: Any, values: list[Any]) -> Any:
    if isinstance(value, Hole):
        return values[value.number]
    if isinstance(value, Remade):
        return value.call.result(values[value.first :])
    if isinstance(value, (DefinedFunction, RangeOfValues)):
        return value.with_values(values)
    if isinstance(value, Text):
        return value.with_values(lambda v: fill_holes(v, values)).text_in_call()
    if type(value) is dict:
        return {k: fill_holes(v, values) for k, v in value.items()}
    if type(value) is list:
        return [fill_holes(v, values) for v in value]
    if isinstance(value, tuple):
        parts = [fill_holes(v, values) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def are_same(a: Any, b: Any) -> bool:
    """Whether arguments with holes are the same objects, or equal constants."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, Remade):
        return a.first == b.first and a.call.does_the_same_as(b.call)
    if isinstance(a, (Text, DefinedFunction, RangeOfValues)):
        return are_same(vars(a), vars(b))
    if type(a) is dict:
        return [*a] == [*b] and all(map(are_same, a.values(), b.values()))
    if isinstance(a, CONTAINERS):
        return len(a) == len(b) and all(map(are_same, a, b))
    if isinstance(a, types.CodeType):
        return bool(a == b)
    return isinstance(a, (Hole, str, int, float, type(None))) and repr(a) == repr(b)
