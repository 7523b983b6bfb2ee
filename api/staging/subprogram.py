"""Stages a call of a user's function inside a staged run, and keeps its statements apart."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.staging.returned_leaves import returned_leaf
from tapeless.staging.scipy_replacements import STAND_INS as OF_SCIPY
from tapeless.staging.user_calls import call_user
from tapeless.transforms.analysis.free_variables import read_from_around
from tapeless.transforms.autodiff.residuals.saved_functions import inside_of_transformation
from tapeless.transforms.core import passes
from tapeless.transforms.core.builder import atom, building, current, defining_statement
from tapeless.transforms.core.dims import Dim, symbols
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    statements,
)
from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError
from tapeless.transforms.frontend.arrays.symbols import Symbol, atoms
from tapeless.transforms.frontend.builtins.deques import new_deque
from tapeless.transforms.frontend.builtins.replacements import STAND_INS
from tapeless.transforms.frontend.control_flow.comprehensions import Lazy
from tapeless.transforms.frontend.heap.iterators import Advancing
from tapeless.transforms.frontend.heap.list_results import with_known_lists
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.trace.trace import Trace, trace
from tapeless.transforms.frontend.values.identity import NUMBERS
from tapeless.transforms.ops.numpy.creation import cast_to
from tapeless.transforms.ops.primitives.function_calls import calls
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.optimize.hoist_invariants import hoist_invariants
from tapeless.transforms.optimize.hoist_views import hoist_views
from tapeless.transforms.optimize.outline import outline
from tapeless.transforms.optimize.shifted_lists import shifted_lists
from tapeless.transforms.optimize.tables_to_arrays import tables_to_arrays

STAND_INS.update(OF_SCIPY)

# -- leaves


def is_value(x: Any) -> bool:
    """Whether a leaf is a number or an array, also one on a GPU."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "biufc"
    return isinstance(x, (Symbol, *NUMBERS)) or on_gpu(x)


def leaf_atom(x: Any) -> Atom:
    """The present value of a number or an array."""
    return atoms(x) if isinstance(x, (Symbol, np.ndarray)) else atom(x)


def leaf_type(x: Any) -> Type:
    """dtype and shape of a number or an array."""
    if isinstance(x, Symbol):
        return x.type
    if isinstance(x, np.ndarray) or on_gpu(x):
        return Type(x.dtype, x.shape)
    return atom(x).type  # type: ignore[no-any-return]


def symbol(value: Atom, like: Any = None) -> Any:
    """What user code sees of an atom; an array if `like` is one. It is no part of another array, so
    that parts of it are parts of nothing else."""
    if isinstance(value, Literal):
        return value.value
    let = defining_statement(value)
    if let is not None and let.op.view and let.op is not identity:
        value = _equal_variable(value)
    array = isinstance(like, np.ndarray) or (isinstance(like, Symbol) and like.is_array)
    return Symbol(value, is_array=array)


def _equal_variable(value: Atom) -> Var:
    """A new variable of the value, which says nothing of how that was computed."""
    var = Var(value.type)
    trace().namesake(var, value)
    current().let((var,), identity, (value,), {})
    return var


def fresh_input(x: Any) -> tuple[Var, Symbol]:
    """A new variable equal to `x`, to differentiate with respect to."""
    var = _equal_variable(leaf_atom(x))
    input_symbol = symbol(var, x)
    if isinstance(x, Symbol):
        input_symbol.read_only = x.frozen
    return var, input_symbol


def stored_to(x: Any) -> bool:
    """Whether the function stored to the memory of an argument."""
    t = trace()
    return isinstance(x, Symbol) and x.mutable and not t.memory.overwritten.isdisjoint(x.memory())


def as_overwritable(args: Any, kept: Iterable[Any]) -> tuple[Any, list[Any]]:
    """Arguments whose arrays the function may overwrite, and their leaves; `kept` are those that
    are its own already."""
    mine = set(map(id, kept))
    leaves, structure = tree.flatten(args)
    own = [
        symbol(leaf_atom(x), x) if isinstance(x, Symbol) and x.mutable and id(x) not in mine else x
        for x in leaves
    ]
    return as_program_value(tree.unflatten(structure, own)), own


def refuse_shared(likes: list[Any], symbols_made: list[Any]) -> None:
    """Refuses arguments that may share memory (`likes`) if the function, which saw each as an array
    of its own (`symbols_made`), stored to one of them."""
    arrays = [(x, y) for x, y in zip(likes, symbols_made, strict=True) if isinstance(x, Symbol)]
    arrays = [(x, y) for x, y in arrays if x.mutable]
    for x, y in arrays:
        memory = x.memory() if stored_to(y) else ()
        others = (z for z, _ in arrays if z is not x or sum(w is x for w, _ in arrays) > 1)
        if any(not z.memory().isdisjoint(memory) for z in others):
            raise ArgumentError(
                "two arguments share memory, and the function stores to one of them",
                "pass a copy of one of them",
            )


def shape_text(shape: tuple[Any, ...]) -> str:
    """A shape as Python writes it, with the sizes of the present call."""
    sizes = [trace().value(n) or n if isinstance(n, Dim) else n for n in shape]
    return "(" + ", ".join(map(str, sizes)) + ("," if len(shape) == 1 else "") + ")"


def _kind(x: Any) -> str:
    return "list" if isinstance(x, StagedList) else type(x).__name__


def describe(x: Any) -> str:
    """What a value is, as errors say it."""
    if isinstance(x, (Lazy, Advancing)):
        return "a generator or iterator"
    if isinstance(x, (tuple, list, dict)):
        return f"{_kind(x)} {tree.structure_text(x)[:40]!r}"
    if not is_value(x):
        return "None" if x is None else f"{type(x).__name__} {str(x)[:40]!r}"
    shape = leaf_type(x).shape
    return f"an array of shape {shape_text(shape)}" if shape else "one number"


def conform_cotangent(
    value: Any, kind: Type, what: str, unknown: frozenset[Any] = frozenset()
) -> Atom:
    """A tangent or cotangent as an atom of the type of its value; refuses another shape or kind.
    Lengths that are made of `unknown` ones may be any."""
    if not is_value(value):
        raise ArgumentTypeError(f"{what} is {describe(value)}, not a number or an array")
    a = leaf_atom(value)
    if a.type.ndim != kind.ndim or not all(
        x == y or symbols(y) & unknown or (1 not in (x, y) and current().same_size(x, y))
        for x, y in zip(a.type.shape, kind.shape, strict=True)
    ):
        raise ArgumentError(
            f"{what} has shape {shape_text(a.type.shape)}, where {shape_text(kind.shape)} is needed"
        )
    if a.type.dtype.kind == "c" and kind.dtype.kind != "c":
        raise ArgumentTypeError(f"{what} is complex, where {kind.dtype.name} is needed")
    return a if a.type.dtype == kind.dtype else cast_to(a, kind.dtype)


# -- regions


class Subprogram:
    """The statements that a call of a user's function records, and the value it returns.

    rows  of vmap: the variables for one element, with the batch and its axis
    """

    def __init__(
        self,
        fun: Any,
        args: Iterable[Any],
        kwargs: dict[str, Any],
        rows: Mapping[Var, tuple[Atom, int]] | None = None,
    ) -> None:
        open_block = trace().blocks[-1]
        start, self.calls_before = len(open_block), len(trace().calls.stretches)
        began = next(trace().serials)
        with inside_of_transformation():
            value = with_known_lists(call_user(fun, *args, **kwargs))
        leaves, self.structure = tree.flatten(value)
        self.leaves = [returned_leaf(leaf, began) for leaf in leaves]
        same = all(new is old for new, old in zip(self.leaves, leaves, strict=True))
        self.value = value if same else tree.unflatten(self.structure, self.leaves)
        self.atoms = [leaf_atom(x) if is_value(x) else None for x in self.leaves]
        self.body: list[Statement] = open_block[start:]
        del open_block[start:]
        trace().keys.inner(self.body, rows or {}, open_block)

    def atom_of(self, leaf: Any) -> Atom:
        """A leaf of the value as an atom: a view is not read anew, outside of the statements."""
        for own, a in zip(self.leaves, self.atoms, strict=True):
            if own is leaf and a is not None:
                return a
        return leaf_atom(leaf)

    def add(self, more: list[Any]) -> None:
        """Makes (value, more) the value."""
        self.value = (self.value, more)
        self.leaves, self.structure = tree.flatten(self.value)
        self.atoms += map(leaf_atom, more)

    def block(self, inputs: list[Var], results: list[Atom]) -> Block:
        """The statements as a block, in which functions that were called often are functions."""
        t = trace()
        block = Block(tuple(inputs), tuple(self.body), tuple(results))
        if not (t.decisions.outlines and calls(block)):  # values of these may be read outside
            passes.verified(block, "staging", lambda: read_from_around(block))
        if t.decisions.outlines:
            block = outline(block, t.calls.stretches[self.calls_before :], set(t.hints))
        return hoist_views(hoist_invariants(tables_to_arrays(shifted_lists(block))))


def as_program_value(value: Any, but: Container[int] = ()) -> Any:
    """A tree whose containers count as made by the program: writes to them stay inside.

    but  what is left as it is, by its `id`
    """
    if id(value) in but:
        return value
    if type(value) is list:
        return trace().born(StagedList([as_program_value(v, but) for v in value]))
    if type(value) is deque:
        return trace().born(
            new_deque(None, [as_program_value(v, but) for v in value], value.maxlen)
        )
    if type(value) is dict:
        return trace().born({k: as_program_value(v, but) for k, v in value.items()})
    if isinstance(value, tuple):
        parts = [as_program_value(v, but) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if is_dataclass(value) and not isinstance(value, type):
        for f in fields(value):
            object.__setattr__(value, f.name, as_program_value(getattr(value, f.name), but))
        return trace().born(value)
    return value


def made_now(value: Any, leaves: Iterable[Any]) -> Any:
    """A tree that was put together of leaves, as one that the program made, if one is staged."""
    return as_program_value(value, set(map(id, leaves))) if isinstance(current(), Trace) else value


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
    emit_all(statements)


def emit_all(body: Iterable[Statement]) -> None:
    """Records statements that were made elsewhere, with what their variables are by now."""
    b = current()
    recorded = tuple(body)
    for s in recorded:
        b.emit(s)
    for s in statements(Block((), recorded, ())):
        if isinstance(s, Let):
            b.definitions.update(dict.fromkeys(s.outs, s))
