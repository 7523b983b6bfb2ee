"""Batches calls of functions of the program: the same call, of a function for batches.

y = f(x)      becomes      y = f_batch(x)

Everything on a tape is a batch, also what is the same for all elements: a backward part takes a
tape apart without being told which is which. Lists are as long for all elements: where they are
not, the call is made for the elements one after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import Builder, atom_of_size, building, current
from tapeless.transforms.core.language import TAPE, Atom, Block, Function, Let, Var
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.errors import UnevenError
from tapeless.transforms.ops.primitives.function_calls import (
    add_if_set,
    add_tapes,
    bundle,
    is_call,
    repeat_tape,
    sum_tape,
    unbundle,
)
from tapeless.transforms.ops.primitives.new_arrays import zero_tape
from tapeless.transforms.vmap.lists import refuse_uneven
from tapeless.transforms.vmap.masked_parts import has_axes
from tapeless.transforms.vmap.random_draws import seeds

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch

Flags = tuple[bool, ...]
TAPES = (bundle, unbundle, add_tapes, add_if_set, zero_tape, repeat_tape, sum_tape)


def is_about_calls(s: Let) -> bool:
    return is_call(s) or s.op in TAPES


def gives_tape(s: Let) -> bool:
    return s.op is not unbundle and any(v.type == TAPE for v in s.outs)


def apply(batch: Batch, s: Let, args: Any, axes: Any) -> list[Any]:
    if is_call(s):
        if any(a in batch.uneven for a in s.args):
            refuse_uneven()
        flags = _flags(s, axes)
        function = s.params["function"]
        sized = _is_sized(s, flags)
        function_batch = batched_function(
            type(batch), function, flags, batch.nested, batch.seeded, counted=not sized
        )
        batch.seeded |= seeds(function.block)
        pairs = zip(s.args, flags, strict=True)
        function_arguments = [batch.front(a) if on else batch.value(a)[0] for a, on in pairs]
        function_arguments += [] if sized else [atom_of_size(batch.size)]
        return _record_call(batch, s, tuple(function_arguments), {"function": function_batch})
    if s.op in (repeat_tape, sum_tape):
        return _record_call(batch, s, args, {**s.params, "axis": s.params["axis"] + 1})
    if s.op in (bundle, add_if_set, add_tapes, zero_tape):
        parts = (of_batch(batch, a) if a.type == TAPE else batch.front(a) for a in s.args)
        return _record_call(batch, s, tuple(parts), s.params)
    return _record_call(batch, s, args, {"kinds": tuple(map(batch.kind, s.params["kinds"]))})


def _flags(s: Let, axes: Any) -> Flags:
    """Which arguments are batches: where there are batches, one that shows how long they are, if
    there is one."""
    flags = tuple(k is not None for k in axes)
    showing = [k for k, a in enumerate(s.args) if has_axes(a.type)]
    if any(flags[k] for k in showing) or not (any(flags) or gives_tape(s)):
        return flags
    return tuple(on or k in showing[:1] for k, on in enumerate(flags))


def _is_sized(s: Let, flags: Flags) -> bool:
    """Whether an argument shows how long the batch is, as lists and tapes do not; or there is
    none."""
    shows = (on and has_axes(a.type) for a, on in zip(s.args, flags, strict=True))
    return any(shows) or not (any(flags) or gives_tape(s))


def of_batch(batch: Batch, tape: Atom) -> Atom:
    """A tape whose parts are batches; one from outside of the batch is the same for all of it."""
    value, axis = batch.value(tape)
    return value if axis is not None else repeat_tape(value, size=batch.size, axis=0)


def _record_call(batch: Batch, s: Let, args: Any, params: Any) -> list[Any]:
    """The statement with results for the whole batch."""
    outs = tuple(Var(batch.kind(v.type), v.name) for v in s.outs)
    current().let(outs, s.op, args, params)
    return [(v, 0) for v in outs]


def batched_function(
    kind: type[Batch],
    function: Function,
    flags: Flags,
    nested: bool,
    seeded: frozenset[str] = frozenset(),
    counted: bool = False,
) -> Function:
    """The function for batches of the arguments that are flagged; its results are batches.
    `counted`: its last argument is how long they are."""
    key = ("vmap", flags, nested, seeded, counted)
    if key not in function.derived:
        batched_function = Function(
            f"{function.name}_batch",
            lambda: _batched_block(kind, function, flags, nested, seeded, counted),
        )
        function.derived[key] = batched_function
        try:
            batched_function.block  # noqa: B018 (what it refuses is known where it is called)
        except UnevenError:
            del function.derived[key]
            raise
    return function.derived[key]  # type: ignore[no-any-return]


def _batched_block(
    kind: type[Batch],
    function: Function,
    flags: Flags,
    nested: bool,
    seeded: frozenset[str],
    counted: bool,
) -> Block:
    block, _ = refresh(function.block)
    count = Var(INT, "n") if counted else None
    batch = kind(dims.symbol("n", 0, var=count), nested)
    batch.seeded, batch.valued = seeded, True  # a tape holds batches
    params = [
        Var(batch.kind(p.type), p.name) if on else p
        for p, on in zip(block.params, flags, strict=True)
    ]
    batch.env = {p: (v, 0) for p, v in zip(block.params, params, strict=True) if v is not p}
    with building(Builder()) as b:
        batch.block(block.body, block.results)
        if any(a in batch.uneven for a in block.results):
            refuse_uneven()
        results = tuple(batch.front(a) for a in block.results)
    params += [] if count is None else [count]
    return Block(tuple(params), tuple(b.blocks[0]), results)
