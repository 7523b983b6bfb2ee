"""A call of a user's function inside a staged run, with its statements kept apart to be transformed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.transforms.core.builder import Builder, atom, building, current
from tapeless.transforms.core.language import Atom, Block, Let, Literal, Statement, Type, Var
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError
from tapeless.transforms.expand import expand, identity
from tapeless.transforms.frontend.hooks import Hooks
from tapeless.transforms.frontend.staged_list import StagedList
from tapeless.transforms.frontend.symbols import Symbol, atoms, trace
from tapeless.transforms.frontend.trace import Trace
from tapeless.transforms.frontend.values import NUMBERS
from tapeless.transforms.linearize import linearize
from tapeless.transforms.ops.creation import cast_to
from tapeless.transforms.residuals import resolve
from tapeless.transforms.transpose import transpose


def stage_call(fun: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls a user's function inside a staged run, through the hooks."""
    return Hooks(_nothing).call(fun, *args, **kwargs)


def _nothing() -> None:
    """Stands in for the calling function where hooks are used without one."""


# -- leaves


def is_value(x: Any) -> bool:
    """Whether a leaf is a number or an array."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "biufc"
    return isinstance(x, (Symbol, *NUMBERS))


def leaf_atom(x: Any) -> Atom:
    """The present value of a number or an array."""
    return atoms(x) if isinstance(x, (Symbol, np.ndarray)) else atom(x)  # type: ignore[no-any-return]


def leaf_type(x: Any) -> Type:
    """dtype and shape of a number or an array."""
    if isinstance(x, Symbol):
        return x.type
    if isinstance(x, np.ndarray):
        return Type(x.dtype, x.shape)
    return atom(x).type  # type: ignore[no-any-return]


def symbol(value: Atom, like: Any = None) -> Any:
    """What user code sees of an atom; an array if `like` is one."""
    if isinstance(value, Literal):
        return value.value
    array = isinstance(like, np.ndarray) or (isinstance(like, Symbol) and like.is_array)
    return Symbol(value, is_array=array)


def fresh_input(x: Any) -> tuple[Var, Symbol]:
    """A new variable equal to `x`, to differentiate with respect to."""
    value = leaf_atom(x)
    var = Var(value.type, value.name if isinstance(value, Var) else "")
    current().let((var,), identity, (value,), {})
    return var, symbol(var, x)


def shape_text(shape: tuple[Any, ...]) -> str:
    """A shape as Python writes it."""
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def matched(value: Any, kind: Type, what: str) -> Atom:
    """A tangent or cotangent as an atom of the type of its value; refuses another shape or kind."""
    if not is_value(value):
        raise ArgumentTypeError(
            f"{what} is {type(value).__name__} {str(value)[:40]!r}, not a number or an array"
        )
    a = leaf_atom(value)
    if a.type.ndim != kind.ndim or not all(
        x == y or (1 not in (x, y) and current().same_size(x, y))
        for x, y in zip(a.type.shape, kind.shape, strict=True)
    ):
        raise ArgumentError(
            f"{what} has shape {shape_text(a.type.shape)}, where {shape_text(kind.shape)} is needed"
        )
    if a.type.dtype.kind == "c" and kind.dtype.kind != "c":
        raise ArgumentTypeError(f"{what} is complex, where {kind.dtype.name} is needed")
    return a if a.type.dtype == kind.dtype else cast_to(a, kind.dtype)  # type: ignore[no-any-return]


# -- regions


class Region:
    """The statements that a call of a user's function records, and the value it returns."""

    def __init__(self, fun: Any, args: Iterable[Any], kwargs: dict[str, Any]) -> None:
        open_block = trace().blocks[-1]
        start = len(open_block)
        self.value = stage_call(fun, *args, **kwargs)
        self.leaves, self.structure = tree.flatten(self.value)
        self.atoms = [leaf_atom(x) if is_value(x) else None for x in self.leaves]
        self.body: list[Statement] = open_block[start:]
        del open_block[start:]

    def block(self, inputs: list[Var], results: list[Atom]) -> Block:
        return Block(tuple(inputs), tuple(self.body), tuple(results))


def owned(value: Any) -> Any:
    """A tree whose containers count as made by the program: writes to them stay inside."""
    if type(value) is list:
        return trace().born(StagedList(map(owned, value)))
    if type(value) is dict:
        return trace().born({k: owned(v) for k, v in value.items()})
    if isinstance(value, tuple):
        parts = map(owned, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for f in dataclasses.fields(value):
            object.__setattr__(value, f.name, owned(getattr(value, f.name)))
        return trace().born(value)
    return value


@contextmanager
def continuing(run: Trace) -> Iterator[None]:
    """User code may run on a staged run again while a transformation is at work; what it records
    goes to the block that is open."""
    outer = current()
    if outer is run:
        yield
        return
    run.definitions.update(outer.definitions)
    origin = run.origin
    with building(run), run.block() as statements:
        yield
    run.origin = origin
    put(statements)


def put(body: Iterable[Statement]) -> None:
    """Records statements that were made elsewhere."""
    b = current()
    for s in body:
        b.emit(s)
        if isinstance(s, Let):
            for v in s.outs:
                b.definitions[v] = s


class Reverse:
    """A region run forwards and then backwards.

    forward  its statements, which also save what the backward part needs
    back     from cotangents of the results to `bars`, the cotangents of the inputs
    """

    def __init__(self, block: Block, cotangents: list[Any]) -> None:
        split = linearize(block, list(range(len(block.params))))
        pairs = zip(split.outputs, cotangents, strict=True)
        known = [(o, ct) for o, ct in pairs if isinstance(o, Var) and ct is not None]
        b = Builder()
        b.definitions = current().definitions
        with building(b):
            bars = transpose(split.body, split.inputs, known)
        forward, back, new = resolve(split.primal, b.blocks[0])
        self.forward = expand(forward, rules=False)
        self.back = expand(back, rules=False)
        self.bars: list[Atom] = [new.get(a, a) if isinstance(a, Var) else a for a in bars]


def cotangent(a: Atom) -> Var:
    """A variable for the cotangent of a result."""
    return Var(a.type, f"{a.name}_bar" if isinstance(a, Var) and a.name else "out_bar")
