"""The staged run: a function and its arguments to a core program."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import NeedStatic, building, size_of
from tapeless.transforms.core.checker import well_formed
from tapeless.transforms.core.language import Atom, Block, Literal, Origin, Type, Var
from tapeless.transforms.errors import (
    InternalError,
    NeedStaticError,
    Signal,
    TapelessError,
    UnsupportedError,
)
from tapeless.transforms.expand import identity
from tapeless.transforms.frontend.cells import CellLocation
from tapeless.transforms.frontend.effects import Unreachable
from tapeless.transforms.frontend.hooks import Hooks
from tapeless.transforms.frontend.layouts import Order
from tapeless.transforms.frontend.reads import Captured, Guard, input_type
from tapeless.transforms.frontend.rewrite import known_codes
from tapeless.transforms.frontend.staged_list import settle_lengths
from tapeless.transforms.frontend.symbols import Symbol
from tapeless.transforms.frontend.trace import Trace
from tapeless.transforms.frontend.values import (
    MISSING,
    ContentsLocation,
    Spec,
    certain,
    entry_spec,
    refuse_text,
    take_apart,
)
from tapeless.transforms.ops.calls import calls


@dataclass
class Decisions:
    """What earlier attempts found must be known: values of inputs, lengths of axes, loops."""

    leaves: set[int] = field(default_factory=set)
    axes: set[tuple[Any, int]] = field(default_factory=set)  # of leaves, and of arrays from outside
    unroll: dict[Any, str] = field(default_factory=dict)
    outlines: bool = True  # functions that are called often become functions of the program
    recursive: set[Any] = field(default_factory=set)  # code that becomes a function of the program
    homes: dict[dims.Symbol, tuple[Any, int]] = field(
        default_factory=dict
    )  # symbol -> leaf, axis (-1: value)
    exact: bool = False  # branches and loops carry which memory arrays are in
    aliased: bool = False  # an array was read that a store may have changed

    def write_out(self) -> None:
        """A transformation needs the whole program: start again without functions in it."""
        if self.outlines:
            self.outlines = False
            raise Restart

    def recurse(self, code: Any) -> None:
        """A function calls itself to a depth that data decides: start again, calling it by name."""
        self.recursive.add(code)
        raise Restart

    def unroll_all(self, loops: dict[Any, str]) -> None:
        """Start again with these loops unrolled, if they were not."""
        if loops.keys() - self.unroll.keys():
            self.unroll |= loops
            raise Restart

    def fix_sizes(self, symbols: set[dims.Symbol]) -> None:
        """An axis whose length must be known after all: start again with it."""
        for s in symbols:
            if s not in self.homes:
                raise UnsupportedError(
                    f"the size {s} is one in this call, and not made from those of the arguments"
                )
            leaf, axis = self.homes[s]
            if axis < 0:
                self.leaves.add(leaf)
            else:
                self.axes.add((leaf, axis))
        raise Restart


class Restart(Signal):
    """Stage again with the decisions made so far."""


@dataclass
class Leaf:
    """One leaf of the arguments: a parameter of the program (`var`), or a value it relies on."""

    value: Any
    name: str
    var: Var | None = None
    static: bool = False
    axes: tuple[int, ...] = ()


@dataclass
class Staged:
    """The result of a staged run."""

    block: Block  # parameters: the leaves that are variables, then captured arrays
    leaves: list[Leaf]
    captured: list[Captured]
    guards: list[Guard]
    sizes: list[tuple[str, dims.Size, dims.Size]]
    result: Spec
    notes: list[str]
    writes: list[tuple[Any, Spec]]
    decisions: Decisions
    hints: dict[dims.Symbol, int]
    orders: list[Order]  # memory orders of inputs that the program relies on
    overwritten: set[Var]  # inputs that the program stores to
    tangents: set[Var]  # inputs that the user's function does not get
    functional: bool = False  # whether functions of tapeless.numpy were called


def is_dynamic(value: Any) -> bool:
    """Whether a leaf becomes a parameter: arrays and numbers do, flags and other objects do not."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufc"
    return isinstance(value, (int, float, complex, np.number)) and not isinstance(value, bool)


def leaf_parameter(k: int, leaf: Leaf, decisions: Decisions, trace: Trace) -> Any:
    """What the program gets for an argument leaf: a symbol, or the value itself."""
    value = leaf.value
    if not is_dynamic(value) or k in decisions.leaves:
        leaf.static = True
        return value
    if isinstance(value, np.ndarray):
        kind, symbols = input_type(value, leaf.name)
        shape = list(kind.shape)
        for axis, s in enumerate(symbols):
            if (k, axis) in decisions.axes:
                shape[axis] = int(value.shape[axis])
            elif s is not None:
                trace.hints[s] = value.shape[axis]
                decisions.homes[s] = (k, axis)
        leaf.axes = tuple(axis for axis in range(value.ndim) if (k, axis) in decisions.axes)
        leaf.var = Var(Type(kind.dtype, tuple(shape)), _short(leaf.name))
        trace.inputs[leaf.var] = value
        symbol = Symbol(leaf.var, is_array=True)
        symbol.read_only = not value.flags.writeable
        if symbol.cell is not None and getattr(value, "functional", False):
            symbol.cell.functional = trace.functional = True
        return symbol
    if isinstance(value, np.number):
        leaf.var = Var(Type(value.dtype), _short(leaf.name))
    else:
        leaf.var = Var(Type(np.dtype(type(value)), (), True), _short(leaf.name))
    if leaf.var.type.dtype.kind in "iu":
        leaf.var.size = dims.symbol(leaf.var.name, None, leaf.var)
        (s,) = dims.symbols(leaf.var.size)
        trace.hints[s] = int(value)
        decisions.homes[s] = (k, -1)
    return Symbol(leaf.var)


def _short(name: str) -> str:
    """A variable name for a path such as params["w"][0]."""
    words = re.findall(r"[A-Za-z_][A-Za-z_0-9]*|\d+", name)
    if not words:
        return "x"
    last = words[-1]
    return last if not last.isdigit() else "".join(words[-2:] if len(words) > 1 else ["x", last])


class Run(Trace):
    """A trace whose statements carry the user's line that made them."""

    def let(self, *args: Any) -> None:
        self.origin = find_origin() or self.origin
        super().let(*args)

    def place(self) -> Origin | None:
        return find_origin()

    def enter(self, method: Any, *args: Any) -> Any:
        return Hooks(method).enter_function(method, args, {})


def _is_users(frame: FrameType) -> bool:
    """Whether rewritten code runs in it that is not of our own libraries."""
    return frame.f_code in known_codes and not frame.f_globals.get("__staged__", False)


def find_origin() -> Origin | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _is_users(frame):
            return Origin(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname)
        frame = frame.f_back
    return None


def stage(
    call: Callable[[list[Any]], Any], leaves: list[Any], names: list[str], outlines: bool = True
) -> Staged:
    """Runs `call` on symbols for `leaves` until no more of them need be known; `outlines`:
    functions that are called often may become functions of the program."""
    decisions = Decisions(outlines=outlines)
    try:
        return _settled(call, leaves, names, decisions)
    except TapelessError as e:
        if not decisions.aliased:
            raise
        try:
            return _settled(call, leaves, names, Decisions(outlines=False, exact=True))
        except InternalError:
            raise
        except TapelessError:
            raise e from None


def _settled(
    call: Callable[[list[Any]], Any], leaves: list[Any], names: list[str], decisions: Decisions
) -> Staged:
    for _ in range(50):
        try:
            return _attempt(
                call, [Leaf(v, n) for v, n in zip(leaves, names, strict=True)], decisions
            )
        except Restart:
            continue
    raise InternalError("the staged run does not settle")


@contextmanager
def _undone_by_errors(run: Run) -> Iterator[None]:
    """An attempt that is given up leaves outer objects as they were."""
    try:
        yield
    except BaseException:
        run.rollback(run.journals[0])
        raise


def _attempt(call: Callable[[list[Any]], Any], leaves: list[Leaf], decisions: Decisions) -> Staged:
    run = Run(decisions)
    with building(run), _undone_by_errors(run):
        params = [leaf_parameter(k, leaf, decisions, run) for k, leaf in enumerate(leaves)]
        try:
            value = call(params)
            settle_lengths(value)
            result = certain(take_apart(value))
            writes = _writes(run)
            for spec in (result, *(spec for _, spec in writes)):
                refuse_text(spec)
        except NeedStatic as e:
            run.rollback(run.journals[0])
            _resolve(e, run, leaves, decisions)
            raise Restart from None
        except TapelessError as e:
            run.rollback(run.journals[0])
            if e.where is None:
                e.where = _where(e)
            raise
        except Unreachable as e:
            run.rollback(run.journals[0])
            error = UnsupportedError(
                "the function raises an error in all cases, and says in it what is known only "
                "when it runs",
                "leave values out of the error, or raise it under a test",
            )
            error.where = _where(e)
            raise error from None
        except RecursionError as e:
            run.rollback(run.journals[0])
            raise UnsupportedError(
                "the recursion does not end while staging: its depth depends on values "
                "that are known only when the program runs",
                "write it as a loop",
            ) from e
        except BaseException:
            run.rollback(run.journals[0])  # outer objects are as they were before
            raise
    captured = [
        v[0] for v in run.reads.values() if isinstance(v, tuple) and isinstance(v[0], Captured)
    ]
    guards = [v for v in run.reads.values() if isinstance(v, Guard)]
    variables = tuple(leaf.var for leaf in leaves if leaf.var is not None)
    results = (*result.leaves(), *(a for _, spec in writes for a in spec.leaves()))
    block = Block((*variables, *(c.var for c in captured)), tuple(run.blocks[0]), tuple(results))
    if decisions.outlines and calls(block) and not well_formed(block):
        decisions.outlines = False  # a value of a function that became one is used outside of it
        raise Restart
    return Staged(
        block,
        leaves,
        captured,
        guards,
        run.guards,
        result,
        run.notes,
        writes,
        decisions,
        run.hints,
        list(run.orders),
        _overwritten(run),
        run.tangents,
        run.functional,
    )


def _overwritten(run: Run) -> set[Var]:
    """The inputs that the program stores to."""
    found = set()
    for cell in run.overwritten:
        at = getattr(cell, "made", None)
        while at in run.definitions and run.definitions[at].op is identity:
            at = run.definitions[at].args[0]
        if at in run.inputs:
            found.add(at)
    return found


class ArrayLocation:
    """The elements of an array from outside."""

    def __init__(self, get: Callable[[], Any]) -> None:
        self.get = get

    def set(self, value: Any) -> None:
        self.get()[...] = value


def _writes(run: Run) -> list[tuple[Any, Spec]]:
    """What the program left in objects from outside; they get their old contents back."""
    found: list[tuple[Any, Spec]] = []
    containers = [read for key, read in run.reads.items() if key[0] == "container"]
    originals = {id(copy): value for value, copy, _ in containers}
    arrays = {id(read[1].cell): read for key, read in run.reads.items() if key[0] == "array"}
    for location, old in run.journals[0].old.values():
        if location.birth:
            continue
        final = location.get()
        if final is MISSING:
            raise UnsupportedError(f"'{location.name}' is deleted from an outer object")
        if isinstance(location, CellLocation):
            captured, symbol = arrays[id(location.cell)]
            found.append((ArrayLocation(captured.get), certain(take_apart(symbol))))
            location.set(old)
            continue
        spec = entry_spec(location, final)
        location.set(old)
        if isinstance(location, ContentsLocation) and id(location.obj) in originals:
            tail = getattr(final, "tail", None)
            if tail is not None:
                raise UnsupportedError(
                    "a list from outside grows in a loop that stays a loop",
                    "append to a list of the function, and store that at the end",
                )
            location = ContentsLocation(originals[id(location.obj)])
        found.append((location, spec))
    return found


def _where(error: BaseException) -> tuple[str, int, int, int] | None:
    """The innermost line of rewritten code in the traceback, with its columns."""
    found = None
    tb = error.__traceback__
    while tb is not None:
        if _is_users(tb.tb_frame):
            places = list(tb.tb_frame.f_code.co_positions())
            at = places[tb.tb_lasti // 2] if tb.tb_lasti >= 0 else (tb.tb_lineno, None, 0, 0)
            found = (
                tb.tb_frame.f_code.co_filename,
                tb.tb_lineno,
                at[2] or 0,
                (at[3] or 0) if at[1] == tb.tb_lineno else 10_000,
            )
        tb = tb.tb_next
    return found


def _resolve(need: NeedStatic, run: Run, leaves: list[Leaf], decisions: Decisions) -> None:
    """Decides which inputs or loops must be known for `need`; refuses what arrays contain."""
    loops: dict[Any, str] = {}
    inputs: set[int] = set()
    axes: set[tuple[int, int]] = set()
    blame: list[Var] = []
    by_var = {leaf.var: k for k, leaf in enumerate(leaves) if leaf.var is not None}
    seen: set[Any] = set()
    left: list[Any] = [need.atom]

    def size(s: dims.Size) -> None:
        for symbol in dims.symbols(s):
            if symbol in decisions.homes:
                k, axis = decisions.homes[symbol]
                inputs.add(k) if axis < 0 else axes.add((k, axis))
            elif symbol.var is not None:
                left.append(symbol.var)
            else:
                blame.append(need.atom)  # type: ignore[arg-type]

    while left:
        a: Atom = left.pop()
        if not isinstance(a, Var) or a in seen:
            continue
        seen.add(a)
        if a in by_var:
            if a.type.shape or a.type.dtype.kind not in "iu":
                blame.append(a)
            else:
                inputs.add(by_var[a])
        elif a in run.parents:
            kind, key, sources = run.parents[a]
            if kind == "loop":
                loops[key] = need.why
            else:
                left += sources
        elif a in run.definitions:
            let = run.definitions[a]
            left += let.args
            if let.op.name == "size_value":
                size(let.params["size"])
        else:
            blame.append(a)
    progress = (
        (inputs - decisions.leaves)
        or (axes - decisions.axes)
        or (set(loops) - set(decisions.unroll))
    )
    if blame or not progress:
        what = next(
            (f"'{v.name}'" for v in [need.atom, *blame] if isinstance(v, Var) and v.name), "a value"
        )
        error = NeedStaticError(
            f"{need.why}, but {what} depends on the contents of arrays",
            need.hint
            or "use np.where, a loop or an array operation, or pass the value as an int argument",
        )
        error.where = _where(need)
        raise error from None
    decisions.leaves |= inputs
    decisions.axes |= axes
    decisions.unroll |= loops


__all__ = ["Literal", "Staged", "size_of", "stage"]
