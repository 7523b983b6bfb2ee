"""Runs vjp and linearize on a GPU as two programs, of which the second reads what one saved.

value, pull = vjp(f, x)      runs (value, saved) = f_fwd(x); calls of pull are f_bwd(saved, y)
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.backends import cuda
from tapeless.dispatch.specialisation import Specialisation
from tapeless.dispatch.transformation import Transformed
from tapeless.staging.emitted_names import base_name
from tapeless.staging.gpu_arrays import like_arguments
from tapeless.staging.subprogram import is_value, leaf_atom, leaf_type
from tapeless.transformations.compilation.jit_on_gpu import GpuJit
from tapeless.transformations.eval_shape import stand_in
from tapeless.transformations.linearized_call import ValueTree, plain_zero
from tapeless.transformations.vjp_and_linearize import apply_plan
from tapeless.transforms.errors import UnsupportedError


class ForwardOnGpu(GpuJit):
    """The first program; its specialisations know the plan of the second one."""

    def compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        compiled = super().compile(args, kwargs)
        compiled.plan = self.fun.__dict__.pop("plan")
        compiled.second = GpuJit(DerivativeOnGpu(self.fun, compiled.plan))
        return compiled


class DerivativeOnGpu(Transformed):
    """What a plan says, as a function of what was saved, and of cotangents or tangents."""

    def __init__(self, owner: Any, plan: Any) -> None:
        self.plan = plan
        super().__init__(owner.fun)
        self.emitted_name = self.__name__ = plan.name

    def options(self) -> tuple[Any, ...]:
        return (self.plan,)

    def describe(self) -> str:
        return self.plan.name  # type: ignore[no-any-return]

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
        return ["saved", "given"]

    def stage(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        saved, leaves = args
        return apply_plan(self.plan, map(leaf_atom, saved), leaves, map(leaf_type, leaves))


def at_point(owner: Any, kind: type[Any], primals: tuple[Any, ...]) -> Any:
    """(value, derivative) or (value, derivative, aux) at a point on a GPU.

    owner  what `vjp` or `linearize` runs
    kind   the class of derivatives
    """
    specialisation, results = first_program(owner).call_on_device(primals, {})
    sides = [ValueTree(tree.map(stand_in, side)) for side in (list(primals), results[0])]
    saved = results[-1]
    if not all(map(is_value, saved)):
        raise UnsupportedError(
            f"{owner.half.kind}: the derivative of {base_name(owner.fun)} needs what a recursion "
            "saved, which is no argument of a program for a GPU",
            "call it inside of a compiled function: jit(lambda x, y: vjp(f, x)[1](y))",
        )
    derivative = kind(owner, specialisation, *sides, saved)
    derivative.zero = functools.partial(zero, primals)
    return (results[0], derivative, results[1]) if owner.has_aux else (results[0], derivative)


def first_program(owner: Any) -> ForwardOnGpu:
    """The program for the value and what the derivative reads."""
    program: ForwardOnGpu | None = vars(owner).get("first_on_gpu")
    if program is None:
        program = owner.first_on_gpu = ForwardOnGpu(owner)
    return program


def zero(primals: tuple[Any, ...], x: Any) -> Any:
    """The tangent or cotangent of a leaf without derivative, beside others of the class that the
    arrays among the primals have."""
    value = plain_zero(x)
    if not isinstance(value, np.ndarray):
        return value
    return like_arguments(cuda.on_device(value), tree.leaves(primals))
