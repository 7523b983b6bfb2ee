"""Emits the two functions of `vjp` and `linearize` at top level, for value and derivative, in one
module.

What the first saved is passed to the second.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.backends import array_form
from tapeless.dispatch.gpu_arguments import has_gpu_arrays
from tapeless.dispatch.inspection import Stages, stages_of
from tapeless.dispatch.specialisation import Specialisation
from tapeless.dispatch.transformation import Transformed
from tapeless.dispatch.ways import is_of_lengths, values_at_hand
from tapeless.lazy_import import lazy_module
from tapeless.staging.argument_checks import plural
from tapeless.staging.device_list import GPU_CHOSEN, default_gpu
from tapeless.staging.emitted_names import base_name, check_callable, parameters
from tapeless.staging.standalone_modules import StandaloneModule
from tapeless.staging.subprogram import conform_cotangent, emit_all, is_value, leaf_atom
from tapeless.transformations.cotangent_references import adding
from tapeless.transformations.linearized_call import (
    Half,
    PullBack,
    PushForward,
    ValueTree,
    plain_zero,
)
from tapeless.transforms.analysis.free_variables import close, missing_sizes
from tapeless.transforms.analysis.suggested_names import word_for
from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import active, current, defining_statement
from tapeless.transforms.core.language import Atom, Block, Type, Var
from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.substitution import refresh, replace_symbols, retype
from tapeless.transforms.emit.module import (
    Text,
    called_functions,
    flat_text,
    function_text,
    is_plain,
    join_module,
    result_text,
)
from tapeless.transforms.emit.writer import emit_function
from tapeless.transforms.errors import ArgumentTypeError, TapelessError, UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, wrap
from tapeless.transforms.frontend.objects.capture import outer
from tapeless.transforms.frontend.staging.stage import Staged
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.memory.detach_results import detach_results
from tapeless.transforms.optimize.inline_calls import expand, forget
from tapeless.transforms.optimize.simplify import simplify

if TYPE_CHECKING:
    from tapeless.transformations import vjp_on_gpu as gpu
else:
    gpu = lazy_module("tapeless.transformations.vjp_on_gpu")


class TwoPartPlan:
    """The second function of one specialisation: what it reads, and its block."""

    def __init__(self, half: Half, name: str) -> None:
        self.half, self.name = half, name
        whole = close(expand(half.body), half.results)
        params = dict.fromkeys([*whole.params, *half.given])
        block = forget(simplify(dataclasses.replace(whole, params=tuple(params))))
        block = close(*self.with_missing_sizes(block, half.given))
        self.read = [v for v in block.params if v not in half.given]
        for v in self.read:
            let = defining_statement(v)
            v.name = v.name or ("" if let is None else word_for(let))
        block = dataclasses.replace(block, params=(*self.read, *half.given))
        # variables of its own: simplifying the first function changes the types of its values
        self.block, _ = refresh(detach_results(block, len(block.results)))

    def with_missing_sizes(self, block: Block, variables: list[Var]) -> Any:
        """The block with lengths that it cannot read off an array as variables of their own: one
        that only a side of a branch saves may not be there."""
        read = [v for v in close(block.body, block.results).params if v not in variables]
        there = [v for v in (*read, *variables) if not v.partial]
        lengths = missing_sizes(block, there, set(trace().hints))
        names = {symbol: n.size for symbol, n in lengths.items()}
        for symbol, n in lengths.items():
            current().let((n,), size_value, (), {"size": dims.single(symbol)})
        block = replace_symbols(block, names)
        return block.body, block.results

    def text(self, doc: str) -> Text:
        """The second function as emitted text."""
        return function_text(self.name, self.block, doc, flat_text)


class AtPoint(Transformed):
    """The first function, (value, residuals) or (value, aux, residuals); its module has both."""

    half: type[Half]
    second = ""

    def __init__(self, fun: Callable[..., Any], has_aux: bool = False) -> None:
        self.has_aux = has_aux
        check_callable(fun, self.half.kind)
        super().__init__(fun)
        self.title = self.half.kind

    def options(self) -> tuple[Any, ...]:
        return (self.has_aux,)

    def describe(self) -> str:
        return f"{base_name(self.fun)} and what its derivative needs"

    def stage(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        half = self.half(self.fun, args, kwargs, self.has_aux)
        self.plan = TwoPartPlan(half, f"{base_name(self.fun)}_{self.second}")
        saved = tuple(map(Symbol, self.plan.read))
        return (half.value, half.aux, saved) if self.has_aux else (half.value, saved)

    def write(
        self, staged: Staged, block: Block, arguments: list[str], paths: list[str]
    ) -> tuple[str, bool]:
        names, unpack = parameters(staged, arguments, paths)
        flat = bool(staged.writes) or not is_plain(staged.result)
        result = flat_text if flat else functools.partial(result_text, staged.result)
        signature = ", ".join(names)
        inner = called_functions([block, self.plan.block], self.emitted_name, self.plan.name)
        first = emit_function(
            self.emitted_name, block, signature, unpack, result, self.doc(staged, names), set(names)
        )
        functions = [function_text(f.name, b, "") for f, b in inner.items()]
        return join_module([*functions, first, self.plan.text(self.second_doc())]), flat

    def second_doc(self) -> str:
        """The docstring of the second function."""
        raise NotImplementedError

    def compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        compiled = super().compile(args, kwargs)
        compiled.plan = self.__dict__.pop("plan")
        return compiled

    def evaluate_at(self, kind: type[LinearPart], primals: tuple[Any, ...]) -> Any:
        """(value, derivative) or (value, derivative, aux) at a point."""
        if (GPU_CHOSEN and default_gpu() is not None) or has_gpu_arrays(primals, {}):
            return gpu.at_point(self, kind, primals)
        with values_at_hand():
            specialisation = self.specialise(primals, {})
        if specialisation.keys:
            specialisation.use_keys(tree.leaves((primals, {})))
        try:
            if specialisation.traced:
                specialisation, results = self.by_its_way((primals, {}))
            else:
                results = specialisation(primals, {})
        except Exception as e:
            if not is_of_lengths(e, specialisation):
                self.locate(e, specialisation)
                raise
            specialisation, results = self.with_all_lengths((primals, {}))
        derivative = kind(
            self, specialisation, ValueTree(list(primals)), ValueTree(results[0]), results[-1]
        )
        return (results[0], derivative, results[1]) if self.has_aux else (results[0], derivative)


class Vjp(AtPoint):
    """What `vjp` runs."""

    suffix, second, half = "fwd", "bwd", PullBack

    def second_doc(self) -> str:
        return f"Cotangents of the arguments of {base_name(self.fun)}."


class Linearize(AtPoint):
    """What `linearize` runs."""

    suffix, second, half = "value", "tangent", PushForward

    def second_doc(self) -> str:
        return f"The tangent of {base_name(self.fun)}."


# -- the derivatives that users get


class LinearPart:
    """The derivative of a function at a point; may be called many times, also in functions that are
    transformed."""

    def __init__(
        self,
        owner: AtPoint,
        specialisation: Specialisation,
        arguments: ValueTree,
        returned: ValueTree,
        residuals: Any,
    ) -> None:
        self.owner, self.made, self.residuals = owner, specialisation, residuals
        self.arguments, self.returned = arguments.concrete(), returned.concrete()
        self.plan: TwoPartPlan = specialisation.plan
        self.name = self.plan.half.name
        self.zero = plain_zero

    def run(self, leaves: list[Any], side: ValueTree, what: str) -> list[Any]:
        """The results for the leaves that are given."""
        if active():
            return self.apply_in_trace(leaves, side, what)
        if self.made.second is not None:
            return list(self.made.second(list(self.residuals), leaves))
        second = inspect.unwrap(self.made.run).__globals__[self.plan.name]  # below np.errstate
        pairs = zip(leaves, side.kinds, strict=True)
        cast = [x if k.weak or isinstance(x, np.ndarray) else k.dtype.type(x) for x, k in pairs]
        try:
            return list(second(*self.residuals, *cast))
        except Exception as e:
            array_form.explain(e, f"{what} of {self.name}", self.plan.block)
            raise

    def apply_in_trace(self, leaves: list[Any], side: ValueTree, what: str) -> list[Any]:
        if not all(is_value(x) or hasattr(type(x), "as_atom") for x in self.residuals):
            raise UnsupportedError(
                f"the derivative of {self.name} holds what a while loop saved, and is called in a "
                "function that is transformed",
                f"call {what} inside that function",
            )
        return apply_plan(self.plan, map(_residual, self.residuals), leaves, side.kinds)

    def source(self) -> str:
        """The emitted module, with both functions; on a GPU there are two modules."""
        first = StandaloneModule(self.made, self.owner.emitted_name).with_small()
        if self.made.second is None:
            return first
        likes = [np.zeros(k.shape, k.dtype) for k in self.side.kinds]  # type: ignore[type-var]  # integers
        return f"{first}\n\n{self.made.second.source(list(self.residuals), likes)}"

    @property
    def side(self) -> ValueTree:
        """What calls are given: cotangents are like the result, tangents like the arguments."""
        return self.returned

    def stages(self) -> Stages:
        """Each stage of the compilation of both functions."""
        return stages_of(self.owner.emitted_name, self.made, self.owner.fun)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        return self.owner.fun

    def __reduce__(self) -> Any:
        point = (self.arguments, self.returned, self.residuals)
        return _again, (type(self), self.owner, self.made.text, *point)


def _lengths(pairs: Iterable[tuple[Var, Any]]) -> dict[Any, dims.Size]:
    """What the sizes of the program are here, by the types that its variables have."""
    length_of: dict[Any, dims.Size] = {}
    for v, kind in pairs:
        for size, n in zip(v.type.shape, kind.shape, strict=True):
            length_of |= {s: n for s in dims.symbols(size) if size == dims.single(s)}
    return length_of


def apply_plan(
    plan: TwoPartPlan, saved: Iterable[Atom], leaves: list[Any], kinds: Iterable[Type]
) -> list[Any]:
    """The second function in a staged run.

    saved   what the first one saved
    leaves  cotangents or tangents, for values of these `kinds`
    """
    read = list(zip(plan.block.params, saved, strict=False))
    linear_in = plan.block.params[len(read) :]
    pairs = [*((v, a.type) for v, a in read), *zip(linear_in, kinds, strict=True)]
    value_of: dict[Any, Any] = _lengths(pairs)
    what = f"{plan.half.kind}: a value"
    value_of |= {
        v: conform_cotangent(x, retype(v.type, value_of), what)
        for v, x in zip(linear_in, leaves, strict=True)
    }
    value_of |= dict(read)
    block, _ = refresh(Block((), plan.block.body, plan.block.results), value_of)
    emit_all(block.body)
    return [wrap(a) for a in block.results]


def _residual(x: Any) -> Any:
    """What the first function saved, in a staged run; some are functions that it calls, and arrays
    on a GPU are read from outside."""
    if on_gpu(x):
        return outer(x, lambda: x, "saved").value()
    return x.as_atom() if hasattr(type(x), "as_atom") else leaf_atom(x)


def _again(
    kind: type[LinearPart], owner: AtPoint, text: str, arguments: ValueTree, *rest: Any
) -> LinearPart:
    """A derivative from its pickle."""
    primals = tree.unflatten(arguments.structure, arguments.likes)
    specialisation = owner.specialise(tuple(primals), {})
    if specialisation.text != text:
        raise TapelessError(
            f"the derivative of {base_name(owner.fun)} was pickled where the function, or what it "
            "reads from outside, was another",
            "call vjp or linearize again",
        )
    return kind(owner, specialisation, arguments, *rest)


class VjpFunction(LinearPart):
    """Takes a cotangent built like the result; returns a tuple with a cotangent for each primal.

    Leaves without derivative have the cotangent 0.0 (an array of zeros for integer arrays, None for
    other objects). It may be called many times, also inside functions that are transformed.
    """

    @property
    def in_tree(self) -> Any:
        """The structure of the primals, and of the cotangents that a call returns: a tuple."""
        structure = self.arguments.structure
        return tree.structure(tuple(tree.unflatten(structure, [0.0] * structure.num_leaves)))

    @property
    def out_tree(self) -> Any:
        """The structure of the result, and of the cotangent that a call takes."""
        return self.returned.structure

    @property
    def opaque_residuals(self) -> list[Any]:
        """What the first function saved for the second: numbers and arrays."""
        return list(self.residuals)

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        leaves = self.returned.leaves(cotangent, "vjp: the cotangent", "result")
        cotangents = self.run(leaves, self.returned, "vjp")
        return tuple(self.arguments.tree(cotangents, self.zero))

    __staged_call__ = __call__

    def with_refs(self, *refs: Any) -> Callable[[Any], Any]:
        """The pull-back with references to which cotangents are added.

        refs  for each primal a tree like it, of references (`new_ref`) or None

        Returns a function of the cotangent, whose result has the references where they were given,
        and cotangents elsewhere. Raises TypeError or ValueError for another structure.

        >>> import tapeless
        >>> _, pull = tapeless.vjp(lambda x, y: x * y, 2.0, 3.0)
        >>> total = tapeless.new_ref(1.0)
        >>> print(pull.with_refs(total, None)(1.0), total[...])
        (Ref(4., dtype=float64), 2.0) 4.0
        """
        return adding(self, refs)

    def __repr__(self) -> str:
        return f"<pull-back of {self.name}>"


class Linearized(LinearPart):
    """Takes a tangent for each primal, built like it; returns the tangent of the value."""

    @property
    def side(self) -> ValueTree:
        return self.arguments

    def __call__(self, *tangents: Any) -> Any:
        n = len(self.arguments.structure.children())
        if len(tangents) != n:
            raise ArgumentTypeError(
                f"linearize: {plural(n, 'primal')} and {plural(len(tangents), 'tangent')}",
                "there must be one tangent for each primal",
            )
        leaves = self.arguments.leaves(list(tangents), "linearize: the tangent", "primal")
        result_tangents = self.run(leaves, self.arguments, "linearize")
        return self.returned.tree(result_tangents, lambda x: self.zero(x) if is_value(x) else x)

    __staged_call__ = __call__

    def __repr__(self) -> str:
        return f"<derivative of {self.name} at a point>"
