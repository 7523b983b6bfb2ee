"""Gives functions derivative rules of their own: `custom_jvp` and `custom_vjp`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.dispatch.reloading import notice_reloads
from tapeless.staging.argument_checks import checked_argnames
from tapeless.staging.derivative_blocks import VjpOfBlock, cotangent_variable
from tapeless.staging.emitted_names import base_name, check_callable, global_name
from tapeless.staging.subprogram import conform_cotangent, continuing, describe, symbol
from tapeless.staging.user_calls import call_user
from tapeless.transformations.custom_rule_calls import BackwardRule, RuleCall, zero_like
from tapeless.transformations.gradient_by_entries import by_entries
from tapeless.transforms.analysis.activity import dependents, variables_if_test_depends
from tapeless.transforms.analysis.free_variables import close
from tapeless.transforms.core.builder import active, current
from tapeless.transforms.core.language import Atom, Block, Let, Var, statements
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.errors import (
    ArgumentError,
    ArgumentTypeError,
    NotDifferentiableError,
    UnsupportedError,
)
from tapeless.transforms.frontend.trace.recorded_reads import Guard
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.ops.primitives.new_arrays import (
    stack_length,
    zero,
    zero_tape,
    zeros_of_items,
)
from tapeless.transforms.optimize.inline_calls import expand_linear
from tapeless.transforms.optimize.simplify import dead_code


class Custom:
    """A function with a rule. Outside of a staged run it is the function itself."""

    kind = "custom"

    def __init__(self, fun: Callable[..., Any]) -> None:
        check_callable(fun, self.kind)
        notice_reloads()
        self.fun = fun
        functools.update_wrapper(self, fun, updated=())
        self.__name__ = base_name(fun)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if active():
            return self.__staged_call__(*args, **kwargs)
        self.complete()
        return self.fun(*args, **kwargs)

    def __staged_call__(self, /, *args: Any, **kwargs: Any) -> Any:
        self.complete()
        return RuleCall(self, *self.arguments(args, kwargs)).value

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.__name__}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return global_name(self) or super().__reduce_ex__(protocol)

    def complete(self) -> None:
        """Refuses a call before the rule is there."""

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Positional arguments of the rule, and keyword arguments that only the function sees."""
        return args, kwargs

    def refuse_stores(self) -> None:
        """Refuses a function that stores to its arguments, where the rule cannot know of that."""

    def forward(self, call: RuleCall, primals: list[Atom], dots: list[Any]) -> list[Any]:
        """Forward mode: the tangents of the results, recorded in the open block."""
        raise NotImplementedError

    def reverse(self, call: RuleCall, s: Let) -> Let:
        """Reverse mode: the statement of the forward part."""
        raise NotImplementedError


class WithRule(Custom):
    """What custom_jvp and custom_vjp share: positional arguments, some without derivative."""

    def __init__(
        self, fun: Callable[..., Any], nondiff_argnums: Any = (), nondiff_argnames: Any = ()
    ) -> None:
        super().__init__(fun)
        numbers = nondiff_argnums if isinstance(nondiff_argnums, (tuple, list)) else None
        if numbers is None or not all(type(k) is int and k >= 0 for k in numbers):
            raise ArgumentTypeError(
                f"{self.kind}: nondiff_argnums must be a tuple of positions, "
                f"not {nondiff_argnums!r}"
            )
        by_name = self.positions(checked_argnames(nondiff_argnames, self.kind))
        self.nondiff_argnums = tuple(sorted({*numbers, *by_name}))

    def positions(self, names: tuple[str, ...]) -> list[int]:
        """Where the function has the arguments of these names."""
        have = list(inspect.signature(self.fun).parameters) if names else []
        for name in names:
            if name not in have:
                raise ArgumentError(
                    f"{self.kind}: nondiff_argnames has {name!r}, and {self.__name__} takes "
                    f"{', '.join(have) or 'nothing'}"
                )
        return [have.index(name) for name in names]

    def __staged_call__(self, /, *args: Any, **kwargs: Any) -> Any:
        trace().reads["rule", id(self)] = Guard(
            f"the rule of {self.__name__}", self.rules, self.rules()
        )
        return super().__staged_call__(*args, **kwargs)

    def refuse_stores(self) -> None:
        raise UnsupportedError(
            f"{self.__name__} stores to an argument, of which its {self.kind} rule says nothing",
            "store to a copy, and return that",
        )

    def rules(self) -> tuple[Any, ...]:
        """The functions that make up the rule; what was staged with others is out of date."""
        raise NotImplementedError

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            bound = inspect.signature(self.fun).bind(*args, **kwargs)
        except ValueError:  # no signature is known
            return args, kwargs
        bound.apply_defaults()
        if bound.kwargs:
            raise ArgumentError(
                f"{self.__name__} has a {self.kind} rule and keyword-only arguments "
                f"({', '.join(bound.kwargs)})",
                "a rule has positional arguments only",
            )
        if any(k >= len(bound.args) for k in self.nondiff_argnums):
            raise ArgumentError(
                f"{self.kind}: nondiff_argnums is {self.nondiff_argnums}, but {self.__name__} "
                f"is called with {len(bound.args)} arguments"
            )
        return bound.args, {}

    def split_arguments(self, values: list[Any]) -> tuple[list[Any], list[Any]]:
        """Arguments without and with a derivative."""
        nondiff = [values[k] for k in self.nondiff_argnums]
        return nondiff, [v for k, v in enumerate(values) if k not in self.nondiff_argnums]

    def refuse(self, call: RuleCall, dots: list[Any]) -> None:
        """Tangents of what the rule does not know of."""
        outside = dots[len(call.inputs) :]
        fixed = [dots[k] for k in call.positions(self.nondiff_argnums)]
        if any(d is not None for d in outside):
            raise NotDifferentiableError(
                f"{self.__name__} has a {self.kind} rule and reads a variable from outside that "
                "is differentiated",
                "pass it as an argument, so that the rule knows of it",
            )
        if any(d is not None for d in fixed):
            raise NotDifferentiableError(
                f"an argument of {self.__name__} that is in nondiff_argnums is differentiated",
                f"take it out of nondiff_argnums, so that the {self.kind} rule knows of it",
            )

    def smooth_inputs(self, call: RuleCall, s: Let) -> list[int]:
        """Which inputs the rule has cotangents for."""
        fixed = call.positions(self.nondiff_argnums)
        smooth = [k for k in range(len(call.inputs)) if s.args[k].type.differentiable]
        return [k for k in smooth if k not in fixed]


# -- the two kinds


#: What asks for the form of a value only.
FORMS = (stack_length, zeros_of_items, zero_tape)


class CustomJvp(WithRule):
    """What `custom_jvp` makes."""

    kind = "custom_jvp"
    rule: Callable[..., Any] | None = None

    def rules(self) -> tuple[Any, ...]:
        return (self.rule,)

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Sets the rule: `jvp(*nondiff, primals, tangents)` returns (value, tangent of the value).

        It must be linear in the tangents. Usable as a decorator; returns the rule.
        """
        check_callable(jvp, "defjvp")
        self.rule = jvp
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Sets one rule for each argument: `jvp(tangent, value, *primals)` returns its share of
        the tangent of the value; None: no share."""
        if self.nondiff_argnums:
            raise ArgumentError("defjvps cannot be used with nondiff_argnums", "use defjvp")
        for jvp in jvps:
            if jvp is not None:
                check_callable(jvp, "defjvps")
        self.rule = functools.partial(_sum_of_parts, self, jvps)

    def complete(self) -> None:
        if self.rule is None:
            raise ArgumentError(
                f"{self.__name__} has no rule yet", f"give it one with {self.__name__}.defjvp"
            )

    def apply(self, call: RuleCall, primals: list[Atom], dots: list[Any]) -> tuple[Any, list[Atom]]:
        """Stages the rule: value and tangents of the results."""
        values = call.tree(primals)[0]
        tangents = call.tree(dots, lambda d, x: zero_like(x) if d is None else symbol(d, x))[0]
        nondiff, values = self.split_arguments(values)
        returned = call_user(
            self.rule, *nondiff, tuple(values), tuple(self.split_arguments(tangents)[1])
        )
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise ArgumentTypeError(
                f"the custom_jvp rule of {self.__name__} must return a pair (value, tangent), "
                f"not {describe(returned)}"
            )
        return returned[0], call.results(returned[1], "the tangent from the custom_jvp rule")

    def forward(self, call: RuleCall, primals: list[Atom], dots: list[Any]) -> list[Any]:
        self.refuse(call, dots)
        return self.apply(call, primals, dots)[1]

    def reverse(self, call: RuleCall, s: Let) -> Let:
        n = len(call.inputs)
        at = self.smooth_inputs(call, s)
        dots = [Var(s.args[k].type, _dot(s.args[k])) if k in at else None for k in range(n)]
        tangents_given = [d for d in dots if d is not None]
        smooth = [k for k, v in enumerate(s.outs) if v.type.differentiable]
        with continuing(call.run), call.run.block() as body:
            value, tangents = self.apply(call, list(s.args[:n]), dots)
            results = call.results(value, "the value from the custom_jvp rule")
        cts = [cotangent_variable(results[k]) for k in smooth]
        block = Block(tuple(tangents_given), tuple(body), tuple(tangents[k] for k in smooth))
        program = VjpOfBlock(expand_linear(block, tangents_given), cts)
        bars = dict(zip(at, program.bars, strict=True))
        used = dead_code(Block((), tuple(program.back), tuple(program.bars)))
        back = BackwardRule(self.__name__, used.body, cts, bars)
        exports = back.exports(program.forward)
        forward = dead_code(Block((), tuple(program.forward), (*results, *exports)))
        read = {*close(forward.body, forward.results).params, *back.read}
        if not read.isdisjoint(tangents_given):
            if not dependents(forward, tangents_given).isdisjoint([*results, *_by_value(back)]):
                raise NotDifferentiableError(
                    f"the custom_jvp rule of {self.__name__} is not linear in its tangents",
                    "each term of the tangent that it returns needs one tangent as a factor",
                )
            if not variables_if_test_depends(forward, tangents_given).isdisjoint(
                [*forward.results, *back.read]
            ):
                return self.by_directions(call, s, at)
            forward = _without_tangents(tangents_given, forward)
        return back.replacing(s, forward, exports, lambda dots: self.refuse(call, dots))

    def by_directions(self, call: RuleCall, s: Let, at: list[int]) -> Let:
        """Reverse mode by forward mode: tests in the rule, such as whether a loop goes on, depend
        on the tangents, so that each entry of the arguments needs a run of its own."""
        new: dict[Any, Any] = dict(zip(call.block.params, s.args, strict=True))
        forward, _ = refresh(replace(call.block, params=()), new)
        cts = {k: cotangent_variable(v) for k, v in enumerate(s.outs) if v.type.differentiable}
        args = list(s.args[: len(call.inputs)])

        def slope(k: int, direction: Any) -> Any:
            dots = [
                conform_cotangent(direction, a.type, "") if j == k else None
                for j, a in enumerate(args)
            ]
            tangents = self.apply(call, args, dots)[1]
            terms = [FUNCTIONS[np.sum](ct * tangents[j]) for j, ct in cts.items()]
            return symbol(functools.reduce(lambda a, b: a + b, terms))

        with continuing(call.run), call.run.block() as body:
            bars = {k: self.by_entries(functools.partial(slope, k), args[k]) for k in at}
        back = BackwardRule(self.__name__, body, list(cts.values()), bars)
        return back.replacing(s, forward, [], lambda dots: self.refuse(call, dots))

    def by_entries(self, slope: Callable[[Any], Any], a: Atom) -> Atom:
        if a.type.dtype.kind == "c":
            raise NotDifferentiableError(
                f"the custom_jvp rule of {self.__name__} has tests that depend on its tangents, "
                "and a complex argument",
                "pass the real and the imaginary part as two arguments",
            )
        if not a.type.shape:
            return conform_cotangent(slope(1.0), a.type, "")
        like = symbol(a)
        return conform_cotangent(call_user(by_entries, Native(slope), like.shape), a.type, "")


class Native:
    """A function of ours that staged code calls as it is."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)

    __staged_call__ = __call__


def _by_value(back: BackwardRule) -> set[Var]:
    """What a backward part reads, but for lists of which it only asks how long they are."""
    block = back.op.block
    asks = [s for s in statements(block) if isinstance(s, Let) and s.op in FORMS]
    rest = reads_of(block)
    for s in asks:
        rest.subtract(a for a in s.args if isinstance(a, Var))
    return {v for v in back.read if rest[v]}


def _without_tangents(tangents: list[Var], forward: Block) -> Block:
    """A forward part that names tangents only in arguments on which nothing depends."""
    with current().block() as zeros:
        zero_of = {v: zero(v.type) for v in tangents}
    without_tangents, _ = refresh(forward, zero_of)
    return replace(without_tangents, body=(*zeros, *without_tangents.body))


def _sum_of_parts(fun: CustomJvp, jvps: Any, primals: Any, tangents: Any) -> Any:
    value = fun(*primals)
    parts = [
        call_user(jvp, dot, value, *primals)
        for jvp, dot in zip(jvps, tangents, strict=True)
        if jvp is not None
    ]
    if not parts:
        return value, tree.map(zero_like, value)
    total = functools.reduce(lambda a, b: tree.map(lambda x, y: x + y, a, b), parts)
    return value, total


class CustomVjp(WithRule):
    """What `custom_vjp` makes."""

    kind = "custom_vjp"
    fwd: Callable[..., Any] | None = None
    bwd: Callable[..., Any] | None = None

    def rules(self) -> tuple[Any, ...]:
        return (self.fwd, self.bwd)

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Sets the rule: `fwd(*args)` returns (value, residuals), and
        `bwd(*nondiff, residuals, cotangent)` a tuple with a cotangent for each argument."""
        check_callable(fwd, "defvjp")
        check_callable(bwd, "defvjp")
        self.fwd, self.bwd = fwd, bwd

    def complete(self) -> None:
        if self.fwd is None:
            raise ArgumentError(
                f"{self.__name__} has no rule yet", f"give it one with {self.__name__}.defvjp"
            )

    def forward(self, call: RuleCall, primals: list[Atom], dots: list[Any]) -> list[Any]:
        raise NotDifferentiableError(
            f"forward mode (jvp) cannot pass through {self.__name__}, which has a custom_vjp rule",
            "give it a custom_jvp rule, which serves both modes",
        )

    def reverse(self, call: RuleCall, s: Let) -> Let:
        args = list(s.args[: len(call.inputs)])
        smooth = [k for k, v in enumerate(s.outs) if v.type.differentiable]
        with continuing(call.run), call.run.block() as body:
            returned = call_user(self.fwd, *call.tree(args)[0])
            if not isinstance(returned, tuple) or len(returned) != 2:
                raise ArgumentTypeError(
                    f"the forward rule of {self.__name__} must return a pair (value, residuals), "
                    f"not {describe(returned)}"
                )
            results = call.results(returned[0], "the value from the forward rule")
        cts = [cotangent_variable(results[k]) for k in smooth]
        with continuing(call.run), call.run.block() as back_body:
            values = [zero_like(x) for x in call.result_likes]
            for k, a in zip(call.kept, results, strict=True):
                values[k] = zero_like(symbol(a, call.result_likes[k]))
            for k, ct in zip(smooth, cts, strict=True):
                values[call.kept[k]] = symbol(ct, call.result_likes[call.kept[k]])
            bars = self.bars(call, s, returned[1], values)
        back = BackwardRule(self.__name__, back_body, cts, bars)
        exports = back.exports(body)
        forward = Block((), tuple(body), (*results, *exports))
        return back.replacing(s, forward, exports, lambda dots: self.refuse(call, dots))

    def bars(self, call: RuleCall, s: Let, residuals: Any, values: list[Any]) -> dict[int, Atom]:
        """Stages the backward rule; cotangents of the inputs by position."""
        nondiff, primals = self.split_arguments(call.tree(s.args)[0])
        returned = call_user(self.bwd, *nondiff, residuals, tree.unflatten(call.result, values))
        if not isinstance(returned, (tuple, list)) or len(returned) != len(primals):
            count = len(returned) if isinstance(returned, (tuple, list)) else describe(returned)
            raise ArgumentTypeError(
                f"the backward rule of {self.__name__} must return a tuple of {len(primals)} "
                f"cotangents, one for each argument with a derivative, not {count}"
            )
        remaining = iter(returned)
        n = len(nondiff) + len(primals)
        whole = [None if k in self.nondiff_argnums else next(remaining) for k in range(n)]
        return self.by_input(call, s, whole)

    def by_input(self, call: RuleCall, s: Let, whole: list[Any]) -> dict[int, Atom]:
        arguments = tree.unflatten(call.structure, range(len(call.likes)))[0]
        place = {leaf: k for k, leaf in enumerate(call.dynamic)}
        smooth = self.smooth_inputs(call, s)
        bar_of: dict[int, Atom] = {}
        what = f"a cotangent from the backward rule of {self.__name__}"
        for argument, bar in zip(arguments, whole, strict=True):
            if bar is None:
                continue
            leaves, structure = tree.flatten(argument)
            try:
                bars = structure.flatten_up_to(tree.plain(bar))
            except (ValueError, TypeError) as e:
                raise ArgumentTypeError(
                    f"{what} must be built like its argument: {tree.structure_text(argument)}, "
                    f"not {tree.structure_text(bar)}"
                ) from e
            for leaf, b in zip(leaves, bars, strict=True):
                k = place.get(leaf)
                if k in smooth and b is not None:
                    bar_of[k] = conform_cotangent(b, s.args[k].type, what)
        return bar_of


def _dot(a: Atom) -> str:
    return f"{a.name}_dot" if isinstance(a, Var) and a.name else "dot"
