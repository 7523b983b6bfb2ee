"""Maps a function of one element over a batch (`vmap`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from tapeless import tree
from tapeless.dispatch.specialisation import Specialisation
from tapeless.dispatch.transformation import Transformed
from tapeless.dispatch.typed_function import P, R, TypedFunction
from tapeless.dispatch.ways import at_hand
from tapeless.staging.emitted_names import base_name, place
from tapeless.staging.subprogram import (
    Subprogram,
    as_program_value,
    emit_all,
    leaf_atom,
    refuse_shared,
    symbol,
)
from tapeless.transformations.ignored_parameters import check_unneeded
from tapeless.transformations.mapping.element_calls import ElementCalls, called_by_element
from tapeless.transformations.mapping.elements_one_by_one import (
    WRITTEN_OUT,
    Refusable,
    one_by_one,
)
from tapeless.transformations.mapping.vmap_axes import (
    axes_key,
    axis_per_leaf,
    batch_length,
    check_axis_name,
    checked_axis_size,
    input_axes,
    output_axis,
)
from tapeless.transforms.core.batching_context import batching, is_nested
from tapeless.transforms.core.builder import building, current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Block, Statement, Var
from tapeless.transforms.core.size_inequalities import Relied, facts_of
from tapeless.transforms.errors import ArgumentError, ManyElementsError, UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.trace.journals import Journal
from tapeless.transforms.frontend.trace.trace import Trace, trace
from tapeless.transforms.ops.primitives.shapes import broadcast_to, move, reshape
from tapeless.transforms.optimize.dead_code import dead_code
from tapeless.transforms.optimize.tables_to_arrays import tables_to_arrays
from tapeless.transforms.spmd.axes import Axis, bound
from tapeless.transforms.spmd.named_axis_map import batch_class, refuse_left


class Vmap(Transformed):
    """A function over a batch."""

    suffix = title = "vmap"

    def __init__(
        self,
        fun: Callable[..., Any],
        in_axes: Any = 0,
        out_axes: Any = 0,
        axis_name: Any = None,
        axis_size: int | None = None,
    ) -> None:
        self.in_axes, self.out_axes = in_axes, out_axes = tree.plain(in_axes), tree.plain(out_axes)
        self.axis_name, self.axis_size = axis_name, axis_size
        check_axis_name(axis_name, self.title)
        if axis_size is not None:
            checked_axis_size(axis_size, self.title)
        keys = (
            axes_key(in_axes, "in_axes", self.title),
            axes_key(out_axes, "out_axes", self.title),
        )
        self.key = (*keys, axis_name, axis_size)
        super().__init__(fun)

    def options(self) -> tuple[Any, ...]:
        return self.key

    def describe(self) -> str:
        return f"{base_name(self.fun)} for a batch"

    def axes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Size]:
        """The batch axis of each leaf of the arguments, and the length of the batch."""
        axes = input_axes(self.in_axes, args, kwargs, base_name(self.fun))
        return axes, batch_length(tree.leaves((args, kwargs)), axes, self.axis_size)

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.axes(args, kwargs)

    def outermost(self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[Any]) -> Any:
        trace().outer_map = self
        return super().outermost(args, kwargs, leaves)

    def element_calls(self, why: ManyElementsError, wrap: Callable[[Any], Any]) -> Specialisation:
        fun, at = wrap(self.fun), place(self.fun)
        what = f"{self.title} calls {base_name(self.fun)} for each element: {why.problem}"

        def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            axes, n = self.axes(args, kwargs)
            return called_by_element(fun, args, kwargs, axes, int(n), self.out_axes)  # type: ignore[arg-type]

        return ElementCalls(call, why, () if at is None else ((what, *at),))

    def stage(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        leaves, structure = tree.flatten((args, kwargs))
        axes, size = self.axes(args, kwargs)
        axis = None if self.axis_name is None else Axis(self.axis_name, size)
        most = WRITTEN_OUT if trace().outer_map is self else None
        call = at_hand()
        if call is not None and call.apart and axis is None and trace().observing:
            return one_by_one(self.fun, leaves, structure, axes, size, self.out_axes, most)
        with Refusable() as all_at_once:
            mapped = Mapped(self.fun, leaves, structure, axes, size, axis)
            out_axes = axis_per_leaf(self.out_axes, mapped.value, "out_axes")
            return mapped.results(out_axes)
        if axis is not None and all_at_once.error is not None:
            raise all_at_once.error
        return one_by_one(self.fun, leaves, structure, axes, size, self.out_axes, most)


class Mapped:
    """One call for all elements of a batch, in a staged run."""

    def __init__(
        self,
        fun: Any,
        leaves: list[Any],
        structure: Any,
        axes: list[Any],
        size: Size,
        axis: Axis | None = None,
    ) -> None:
        self.name, self.size = base_name(fun), size
        run = trace()
        whole = [None if k is None else leaf_atom(x) for x, k in zip(leaves, axes, strict=True)]
        pairs = list(zip(whole, axes, strict=True))
        elements = [None if a is None else _element(a, k) for a, k in pairs]
        with bound(axis), batching(), written_out(axis), _refuse_writes(run, self.name):
            values = [
                overwritable_copy(x) if e is None else symbol(e, x if e.type.shape else None)
                for x, e in zip(leaves, elements, strict=True)
            ]
            own = (e for e in elements if e is not None)
            run.orders.chosen.update(dict.fromkeys(own, ("C", None)))  # as arrays of their own
            args, kwargs = as_program_value(tree.unflatten(structure, values))
            region = Subprogram(fun, args, kwargs, _rows(elements, pairs))
            refuse_shared(leaves, values)
        self.value, self.leaves, self.structure = region.value, region.leaves, region.structure
        self.batch = batch_class(axis)(size, is_nested())
        for e, (a, k) in zip(elements, pairs, strict=True):
            if e is not None and a is not None:
                self.batch.env[e] = (a, k)
        with record_statements() as recording:
            body = region.body if axis is None else read_of(region)
            ends = tuple(a for a in region.atoms if a is not None)
            body = tables_to_arrays(Block((), tuple(body), ends)).body
            self.batch.block(body, ends, by_element=True)
            refuse_left(recording.builder.blocks[0], axis)
        self.atoms = [None if a is None else self.batch.value(a) for a in region.atoms]

    def results(self, out_axes: list[Any]) -> Any:
        """The value of the call, with the batch at the given axes of its leaves."""
        with record_statements():
            results = [
                x if pair is None else self.place_result(*pair, k)
                for x, pair, k in zip(self.leaves, self.atoms, out_axes, strict=True)
            ]
        ends = zip(results, self.leaves, self.atoms, strict=True)
        values = [x if pair is None else symbol(a, x) for a, x, pair in ends]
        return as_program_value(tree.unflatten(self.structure, values))

    def place_result(self, value: Atom, axis: int | None, wanted: Any) -> Any:
        if wanted is None:
            if axis is not None:
                raise ArgumentError(
                    f"vmap: out_axes is None for a result of {self.name} that differs between the "
                    "elements of the batch",
                    "give it an axis",
                )
            return value
        ndim = value.type.ndim - (axis is not None)
        to = output_axis(wanted, ndim)
        if axis is not None:
            return move(value, (axis,), (to,))
        shape = value.type.shape
        wide = reshape(value, shape=(*shape[:to], 1, *shape[to:])) if to else value
        return broadcast_to(wide, shape=(*shape[:to], self.size, *shape[to:]))


def _rows(elements: list[Any], pairs: list[Any]) -> dict[Var, Any]:
    """The batch and its axis by the variable for one element."""
    return {e: pair for e, pair in zip(elements, pairs, strict=True) if e is not None}


def read_of(region: Subprogram) -> tuple[Statement, ...]:
    """The statements that the results need: whoever takes part in a collective must take part in
    all of them."""
    results = tuple(a for a in region.atoms if a is not None)
    return dead_code(Block((), tuple(region.body), results)).body


@contextmanager
def written_out(axis: Axis | None) -> Iterator[None]:
    """Collectives are met where the axis is mapped, not in functions of the program."""
    decisions = trace().decisions
    before = decisions.outlines
    decisions.outlines = before and axis is None
    try:
        yield
    finally:
        decisions.outlines = before


@contextmanager
def _refuse_writes(run: Trace, name: str) -> Iterator[None]:
    """Refuses writes to what was there before: they would be made for one element."""
    outer = run.journals[-1]
    run.journals[-1] = journal = Journal(next(run.serials))
    changed: list[Any] = []
    try:
        yield
        changed = journal.changed_locations()
    finally:
        run.journals[-1] = outer
        run.rollback(journal)
    if changed:
        raise UnsupportedError(
            f"{name} writes to an object from outside, and is mapped over a batch",
            "return the value instead",
        )


def overwritable_copy(x: Any) -> Any:
    """What all elements are given, as an array that each may overwrite for itself."""
    return symbol(leaf_atom(x), x) if isinstance(x, Symbol) and x.mutable else x


def _element(a: Atom, axis: int) -> Var:
    """A variable for one element of a batch."""
    shape = a.type.shape
    kind = a.type.with_shape((*shape[:axis], *shape[axis + 1 :]))
    element = Var(kind)
    trace().namesake(element, a)
    return element


class record_statements:  # noqa: N801 (a context manager)
    """Statements inside go to the open block of the run, and rely on no further facts of sizes than
    what it has been staged for."""

    def __enter__(self) -> record_statements:
        self.builder = Relied(facts_of(trace().guards))
        self.builder.definitions = current().definitions
        self.inside = building(self.builder)
        self.inside.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.inside.__exit__(*error)
        if error[0] is None:
            emit_all(self.builder.blocks[0])


def vmap(
    fun: Callable[P, R],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
    sum_match: bool = False,
) -> TypedFunction[P, R]:
    """The function for a batch: written for one element, it takes arrays of them.

    in_axes    which axis of each positional argument runs over the batch: an int (negative from
               the end), None for what is the same for all elements, or a tuple with one of these,
               or a tree of them built like the argument, for each argument. Arguments passed by
               name are mapped over axis 0
    out_axes   where that axis is in the results: an int, or a tree of ints; None for a result that
               does not depend on the element
    axis_name  a name of the axis, for collectives
    axis_size  the length of the batch, where no argument is mapped

    Returns a function of the same arguments. It returns what the function returns, with one more
    axis for each leaf. What it emits is array code: products over the batch are one product, and
    branches and loops that depend on the element are masked.

    Raises at the call, before anything runs: ValueError for axes that do not fit and for lengths
    that differ, TypeError for what has no axes.

    >>> import numpy as np
    >>> vmap(lambda x, w: x @ w, in_axes=(0, None))(np.ones((2, 3)), np.ones(3))
    array([3., 3.])
    >>> vmap(lambda x: x / 2 if x > 1 else x)(np.array([4.0, 1.0]))
    array([2., 1.])
    """
    check_unneeded("vmap", spmd_axis_name=spmd_axis_name, sum_match=sum_match)
    batched = Vmap(fun, in_axes, out_axes, axis_name, axis_size)
    return cast("TypedFunction[P, R]", batched)


__all__ = ["Mapped", "Vmap", "vmap"]
