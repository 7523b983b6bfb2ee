"""Batches a block: from a block for one element to a block for a batch of them.

y = sin(x) @ w      becomes, for a batch of x,      y = sin(x) @ w      with one product for all

Each batched value has one more axis, in front unless another place saves a transpose. Values that
do not depend on the batch stay as they are.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.batching_context import batching, is_looped
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Effect,
    For,
    If,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    While,
    is_about_lists,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.errors import (
    InternalError,
    UnevenError,
    UnsetError,
    UnsupportedError,
    located,
)
from tapeless.transforms.ops.numpy.creation import cast_to
from tapeless.transforms.ops.primitives.function_calls import is_call
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.new_arrays import batch_of
from tapeless.transforms.ops.primitives.random_draws import draw, made_generator
from tapeless.transforms.ops.primitives.shapes import move
from tapeless.transforms.vmap import (
    branches,
    calls,
    custom_rules,
    effects,
    element_loops,
    lists,
    loops,
    masked_selections,
    random_draws,
    sizes,
    split_uneven,
)
from tapeless.transforms.vmap.align import elementwise
from tapeless.transforms.vmap.default_values import called_with_values
from tapeless.transforms.vmap.fallback_loop import least_lengths, one_by_one
from tapeless.transforms.vmap.masked_parts import has_axes
from tapeless.transforms.vmap.python_integers import check_stored, check_whole

Pair = tuple[Atom, Any]  # a value and its batch axis, None if it is the same for all elements


class Batch:
    """Records the statements for all elements in the open block.

    size     the length of the batch
    nested   inside another vmap: shapes must not depend on values
    env      what became of the variables of the block for one element
    masked   this is a part of a batch, see `region`; where shapes must not depend on it, `mask`
             says which elements belong to it
    tried    lists of a loop whose body is run to see whether they hold batches
    lengths  of lists that have grown by different numbers of elements, with the list
    ragged   what masks select that depend on the element
    counts   how many that is, with the mask
    most     the longest of lengths that depend on the element, for what is as long
    fixed    lengths that NumPy finds for one element, and that are known for a batch
    uneven   lists that have grown by different numbers of elements
    unset    what has no value where it is computed for no element
    unset_around  what of it a batch around this part must give a value
    generators  those that the program makes, each with the statement that does
    drawn    those from which numbers were drawn, the same for all elements
    parted   those of which each element has one of its own since
    seeded   the modules whose generators the program has set for all elements
    valued   there is a value also where none is computed, since it is stored for all elements
    """

    def __init__(self, size: Size, nested: bool, masked: bool = False) -> None:
        self.size, self.nested, self.masked = size, nested, masked
        self.env: dict[Var, Pair] = {}
        self.uneven: set[Var] = set()
        self.unset: set[Var] = set()
        self.unset_around: set[Var] = set()
        self.tried: set[Var] = set()
        self.lengths: dict[Any, Atom] = {}
        self.ragged: dict[Any, masked_selections.Ragged] = {}
        self.counts: dict[Any, Atom] = {}
        self.most: dict[Size, Size] = {}
        self.fixed: dict[dims.Symbol, Size] = {}
        self.mask: Atom | None = None
        self.looped = is_looped()
        self.seeded: frozenset[str] = frozenset()
        self.generators: dict[Any, Let] = {}
        self.drawn: set[Any] = set()
        self.parted: set[Any] = set()
        self.valued, self.depth = masked, 0

    # -- values

    def value(self, a: Atom) -> Pair:
        if a in self.lengths:
            lists.refuse_uneven()
        if a in self.ragged:
            masked_selections.refuse()
        return self.env.get(a, (a, None)) if isinstance(a, Var) else (a, None)

    def is_batched(self, a: Atom) -> bool:
        return self.value(a)[1] is not None

    def differs(self, v: Var) -> bool:
        """Whether a variable of the block for one element depends on the element."""
        differing = v in self.uneven or v in self.ragged or v in self.lengths
        return differing or self.env.get(v, (v, None))[1] is not None

    def bind(self, v: Var, out: Atom, axis: int | None) -> None:
        """`v` is `out` from now on; sizes, dtype and name are those that it had."""
        if isinstance(out, Var) and not out.name:
            out.name = v.name
        if axis is not None and has_axes(v.type):
            out = self._with_type_of(out, self.kind(v.type, axis), v)
        self.env[v] = (out, axis)

    def kind(self, t: Any, axis: int = 0) -> Any:
        """The type of a batch of values of type `t`."""
        if isinstance(t, StackType):
            return StackType(self.kind(t.item))
        if not has_axes(t):
            return t
        shape = self.longest(t).shape
        return Type(t.dtype, (*shape[:axis], self.size, *shape[axis:]))

    def longest(self, t: Type) -> Type:
        """The type with lengths that serve all elements."""
        if not (self.most or self.fixed):
            return t
        shape = (self.most.get(n, n) for n in t.shape)
        return t.with_shape(tuple(dims.substitute(n, self.fixed.get) for n in shape))

    @staticmethod
    def _with_type_of(out: Atom, kind: Type, v: Var) -> Atom:
        if out.type.ndim != kind.ndim:
            raise InternalError(f"the batch of {v} has the type {out.type}, not {kind}")
        out = cast_to(out, kind.dtype)
        if isinstance(out, Var) and _named_anew(out.type.shape, kind.shape):
            if builder.defining_statement(out) is None:  # an input: others find lengths there
                argument, out = out, Var(kind, out.name, v.origin)
                builder.current().let((out,), identity, (argument,), {})
            else:
                out.type = kind
        return out

    def front(self, a: Atom) -> Atom:
        """The batch of a value with its axis in front; one is made of a value without batch."""
        return self.with_batch_axis_at(a, 0)

    def with_batch_axis_at(self, a: Atom, place: int) -> Atom:
        """The same with the axis at some place."""
        value, axis = self.value(a)
        if isinstance(a.type, StackType):
            return value if axis is not None else lists.batched_list(self, value)
        if not has_axes(a.type):
            return value
        if axis is None:
            if a in self.unset_around or (a in self.unset and not self.valued):
                raise UnsetError(f"{a} may have no value")
            value, axis = batch_of(value, self.size, place), place
        return move(value, (axis,), (place,))  # type: ignore[no-any-return]

    @contextmanager
    def scope(self) -> Iterator[list[Statement]]:
        """A block of its own; what it binds is not seen afterwards."""
        before = dict(self.env)
        try:
            with builder.current().block() as statements:
                yield statements
        finally:
            self.env = before

    def for_elements(self) -> AbstractContextManager[None]:
        """What is staged inside is for one element."""
        return batching()

    # -- statements

    def block(
        self, body: Iterable[Statement], ends: Iterable[Atom], by_element: bool = False
    ) -> None:
        """Records the statements for all elements; `ends` are read afterwards. With `by_element`,
        a compiled program may have a loop over them."""
        body, ends = list(body), list(ends)
        self.depth += 1
        try:
            self._record_or_split(body, ends, by_element)
        except UnsetError:
            if self.depth > 1 or self.valued:
                raise
            self.valued = True
            self._record_or_split(body, ends, by_element)
        finally:
            self.depth -= 1

    def _record_or_split(self, body: list[Statement], ends: list[Atom], by_element: bool) -> None:
        try:
            with self.tentative():
                self.record_for_all(body, ends, by_element)
        except UnevenError as error:
            parts = split_uneven.split_around(self, body, ends, error.at)
            if parts is None:
                raise
            split_uneven.record(self, parts, ends, by_element)

    def record_for_all(self, body: list[Statement], ends: list[Atom], by_element: bool) -> None:
        if self.looped and by_element and not self.masked:
            element_loops.block(self, body, ends)
            return
        for s in body:
            builder.current().origin = s.origin
            self.statement(s)

    @contextmanager
    def tentative(self) -> Iterator[None]:
        """What is recorded inside is forgotten if something there differs in length, or has no
        value."""
        state_names = (
            "env",
            "uneven",
            "unset",
            "tried",
            "lengths",
            "ragged",
            "counts",
            "most",
            "fixed",
        )
        before = {name: copy.copy(getattr(self, name)) for name in state_names}
        try:
            with builder.current().block() as block:
                yield
        except (UnevenError, UnsetError):
            self.__dict__.update(before)
            raise
        for s in block:
            builder.current().emit(s)

    def can_be_apart(self, s: Statement) -> bool:
        """Whether a statement may be made for the elements one after the other."""
        return not (self.masked and self.nested and effects.acts(s))

    def statement(self, s: Statement) -> None:
        with located(s.origin):
            try:
                self.record(s)
            except UnevenError as error:
                error.at = s
                raise

    def record(self, s: Statement) -> None:
        match s:
            case Let():
                self.let(s)
            case If():
                branches.branch(self, s)
            case For():
                loops.for_(self, s)
            case While():
                loops.while_(self, s)
            case Effect():
                effects.effect(self, s)
            case _:
                raise UnsupportedError(f"vmap of {type(s).__name__}")

    def let(self, s: Let) -> None:
        if lists.is_about_lengths(self, s):
            lists.keep_length(self, s)
            return
        if masked_selections.applies(self, s):
            masked_selections.apply(self, s)
            return
        s = sizes.with_fixed_lengths(self, s)
        pairs = [self.value(a) for a in s.args]
        args, axes = tuple(a for a, _ in pairs), tuple(k for _, k in pairs)
        if s.op in sizes.LENGTHS and s.args[0] not in self.uneven:  # all have the same
            self.emit(sizes.length(s, args, axes))
            return
        if s.op is draw:
            random_draws.apply(self, s, args, axes)
            return
        if random_draws.is_for_each(self, s):
            random_draws.for_each(self, s, args, axes)
            return
        if s.op is made_generator and s.args:
            random_draws.make(self, s, args, axes)
            return
        uneven = sizes.differ(self, s)
        if uneven and s.op is not size_value:
            self.env[s.outs[0]] = (sizes.longest(self, s), None)
            return
        if not uneven and all(k is None for k in axes) and not calls.gives_tape(s):
            s = called_with_values(s) if is_call(s) else s
            outs = tuple(map(self.padded_variable, s.outs))
            self.emit(replace(s, args=args, outs=outs) if (args, outs) != (s.args, s.outs) else s)
            return
        if custom_rules.is_ruled(s):
            custom_rules.apply(self, s)
            return
        check_stored(s, args, axes)
        if not self.looped:  # kernels look at each element themselves
            check_whole(s, args)
        for v, (out, axis) in zip(s.outs, self.apply(s, args, axes), strict=True):
            self.bind(v, out, axis)

    def padded_variable(self, v: Var) -> Var:
        """What stands for a variable without batch, with lengths that serve all elements."""
        kind = self.longest(v.type) if isinstance(v.type, Type) else v.type
        if kind == v.type:
            return v
        lengthened = Var(kind, v.name, v.origin)
        self.env[v] = lengthened, None
        return lengthened

    def emit(self, s: Let) -> None:
        """Records a statement that has nothing to do with the batch."""
        b = builder.current()
        b.emit(s)
        for v in s.outs:
            b.definitions[v] = s

    def apply(self, s: Let, args: Any, axes: Any) -> list[Pair]:
        """The results of an operation for all elements."""
        if not s.op.pure:
            effects.refuse_masked(self, s)
        if s.op is size_value:
            return [sizes.value(self, s.params["size"])]
        if calls.is_about_calls(s):
            return calls.apply(self, s, args, axes)
        if is_about_lists(s):
            return lists.apply(self, s, args, axes)
        if s.op.elementwise:
            return [elementwise(s, args, axes)]
        pairs = _by_rule(s.op, args, axes, s.params)
        if pairs is None:
            self.fixed |= least_lengths(s)
            return list(one_by_one(s, args, axes, self.size))
        return pairs

    def literal(self, kind: Any) -> Literal:
        """Stands for a batch that is never looked at."""
        return Literal(None, self.kind(kind))


def _named_anew(old: tuple[Size, ...], new: tuple[Size, ...]) -> bool:
    """Whether the same lengths have other names now; numbers need none, and where a length of an
    input is found stays as it is."""
    pairs = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    given_sizes = all(
        isinstance(b, int) and any(s.given for s in dims.symbols(a)) for a, b in pairs
    )
    return bool(pairs) and not given_sizes


def _by_rule(op: Op, args: Any, axes: Any, params: Any) -> list[Pair] | None:
    pairs = None if op.batch is None else op.batch(op, args, axes, params)
    if pairs is None:
        return None
    values, places = pairs
    return list(zip(values, places, strict=True)) if isinstance(values, tuple) else [pairs]
