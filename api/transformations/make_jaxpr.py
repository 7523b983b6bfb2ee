"""Shows the core programs of functions, and clears the caches of what was emitted: `make_jaxpr`,
`clear_caches`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

from tapeless import tree
from tapeless.dispatch import specialisation
from tapeless.dispatch.transformation import Transformed
from tapeless.staging.argument_checks import checked_argnums
from tapeless.staging.emitted_names import base_name
from tapeless.transformations.array_form import Unchanged
from tapeless.transformations.bound_arguments import Fixed
from tapeless.transformations.eval_shape import eval_shape, stand_in
from tapeless.transforms.core.language import Program
from tapeless.transforms.core.printer import show
from tapeless.transforms.errors import ArgumentError


class CoreProgram:
    """What a function is staged to; prints as text. `program` is the object itself
    (`transforms/core/language.py` is the whole language)."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def __str__(self) -> str:
        return show(self.program)

    __repr__ = __str__


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: Any = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """A function that shows the program that `fun` is staged to: our core language in the place of
    a jaxpr.

    fun             any function that can be staged
    static_argnums  positions of arguments whose values are part of the program
    axis_env        of JAX; None: put `vmap` around the function
    return_shape    whether the shapes of the results are returned, too

    Returns a function of the arguments (numbers, arrays, `ShapeDtypeStruct`s, and trees of them)
    that returns the program, or (program, shapes). Loops are loops in it, and statements have
    the user's lines. What is emitted for it is `f.source()` of every transformed function.

    >>> print(make_jaxpr(lambda x: x * 2 + 1)(3.0))
    program function(x: pyf8):
        t1: pyf8 = mul(x, 2)  # line 1
        t2: pyf8 = add(t1, 1)  # line 1
        return t2
    """
    if axis_env is not None:
        raise ArgumentError("make_jaxpr: axis_env", "put vmap(axis_name=...) around the function")
    chosen = checked_argnums(static_argnums, "make_jaxpr", "static_argnums")
    static = chosen if isinstance(chosen, tuple) else (chosen,)

    def make(*args: Any, **kwargs: Any) -> Any:
        static_arguments = {k % len(args): args[k] for k in static}
        of = Unchanged(Fixed(fun, static_arguments)) if static_arguments else Unchanged(fun)
        rest = tuple(x for k, x in enumerate(args) if k not in static_arguments)
        stand_ins, named = tree.map(stand_in, (rest, kwargs))
        compiled = of.specialise(stand_ins, named)
        core_program = CoreProgram(Program(base_name(fun), compiled.staged.block))
        return (core_program, eval_shape(of, *rest, **kwargs)) if return_shape else core_program

    return make


def clear_caches() -> None:
    """Forgets everything that was staged and compiled in this process; what is on disk stays.

    The next call of each function stages it again.

    >>> clear_caches()
    """
    specialisation.forget()
    for each in gc.get_objects():
        if issubclass(type(each), Transformed) and "cache" in vars(each):
            each.clear_cache()
