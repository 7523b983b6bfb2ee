"""Solves equations that are differentiated by the implicit function theorem, not through the
solver: `custom_root`, `custom_linear_solve`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import tapeless
from tapeless import tree
from tapeless.lax.loop_body_types import checked_function
from tapeless.staging.subprogram import describe, is_value, leaf_type
from tapeless.staging.user_calls import call_user
from tapeless.transformations.custom_rules import CustomJvp, CustomVjp
from tapeless.transformations.linear_functions import closure_convert
from tapeless.transforms.core.builder import active
from tapeless.transforms.errors import ArgumentTypeError, NotDifferentiableError

LINEAR = "custom_linear_solve"


def custom_root(
    f: Any, initial_guess: Any, solve: Any, tangent_solve: Any, has_aux: bool = False
) -> Any:
    """A root of a function, whose derivative is that of the implicit function.

    f              value to value, a tree of the same structure and shapes
    initial_guess  where the solver begins; it has no derivative
    solve          (f, initial_guess) to x with f(x) = 0, by any method
    tangent_solve  (g, y) to x with g(x) = y, for the linear function g, the derivative of f at the
                   root; such as `lambda g, y: y / g(1.0)` for one number
    has_aux        solve returns (x, aux)

    Returns what solve returns. Differentiable, in both modes and to any order, in what f reads from
    outside. Raises TypeError for a solver that returns another structure.

    >>> from tapeless import grad, lax
    >>> def newton(f, x):
    ...     return lax.fori_loop(0, 20, lambda _, x: x - f(x) / (2 * x), x)
    >>> def root(a):
    ...     return lax.custom_root(lambda x: x**2 - a, 1.0, newton, lambda g, y: y / g(1.0))
    >>> float(root(4.0)), float(grad(root)(4.0))
    (2.0, 0.25)
    """
    for what, fun in (("f", f), ("solve", solve), ("tangent_solve", tangent_solve)):
        checked_function("custom_root", what, fun)

    def run(guess: Any) -> Any:
        return _solution("custom_root", call_user(solve, f, guess), guess, has_aux)

    if not active():
        return run(initial_guess)
    equation, read = closure_convert(f, initial_guess)
    solver, read_outside = closure_convert(run, initial_guess)
    rooted = CustomJvp(lambda guess, read, captured: solver(guess, *captured))

    @rooted.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        read = primals[1]
        returned = rooted(*primals)
        x = returned[0] if has_aux else returned
        moved = tapeless.jvp(lambda *v: equation(x, *v), tuple(read), tuple(tangents[1]))[1]
        slope = _slope(lambda z: equation(z, *read), x)
        step = tree.map(lambda d: -d, call_user(tangent_solve, slope, moved))
        return returned, (step, _zeros(returned[1])) if has_aux else step

    rooted.__name__ = rule.__name__ = "custom_root"
    stopped = [tapeless.stop_gradient(v) for v in read_outside]
    return rooted(tapeless.stop_gradient(initial_guess), read, stopped)


def _slope(f: Any, x: Any) -> Any:
    """The derivative of f at x, as a function of a direction."""
    return _AsIs(lambda d: tapeless.jvp(f, (x,), (d,))[1])


class _AsIs:
    """A function of ours that user code calls in a staged run."""

    def __init__(self, fun: Any) -> None:
        self.fun = fun

    def __call__(self, x: Any) -> Any:
        return self.fun(x)

    __staged_call__ = __call__


def _zeros(aux: Any) -> Any:
    return tree.map(lambda x: np.zeros(np.shape(x)) if is_value(x) else x, aux)


def _solution(name: str, returned: Any, like: Any, has_aux: bool) -> Any:
    """What a solver returns; refused where it is built otherwise than `like`."""
    if has_aux and not (isinstance(returned, tuple) and len(returned) == 2):
        raise ArgumentTypeError(f"lax.{name}: solve must return (x, aux), not {describe(returned)}")
    x = returned[0] if has_aux else returned
    same = tree.structure(x) == tree.structure(like) and all(
        len(leaf_type(a).shape) == len(leaf_type(b).shape)
        for a, b in zip(tree.leaves(x), tree.leaves(like), strict=True)
    )
    if not same:
        raise ArgumentTypeError(
            f"lax.{name}: solve must return a value built like {describe(like)}, not {describe(x)}"
        )
    return returned


class _LinearSolve(CustomVjp):
    """A function with a rule for forward mode as well."""

    kind = LINEAR
    rule: Any = None
    apply = CustomJvp.apply
    forward = CustomJvp.forward


def custom_linear_solve(
    matvec: Any,
    b: Any,
    solve: Any,
    transpose_solve: Any = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """The solution of a linear equation, whose derivative takes another such solution.

    matvec           linear function: value to value, trees of the same structure and shapes
    b                the right-hand side
    solve            (matvec, b) to x with matvec(x) = b, by any method
    transpose_solve  the same for the transposed function; needed in reverse mode
    symmetric        matvec is its own transpose, and `solve` serves for both
    has_aux          solve and transpose_solve return (x, aux)

    Returns what solve returns. Differentiable, in both modes and to any order, in b and in what
    matvec reads from outside.

    >>> import numpy as np
    >>> from tapeless import grad, lax
    >>> a = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> def total(a):
    ...     by_numpy = lambda matvec, b: np.linalg.solve(a, b)
    ...     x = lax.custom_linear_solve(lambda x: a @ x, np.ones(2), by_numpy, symmetric=True)
    ...     return np.sum(x)
    >>> grad(total)(a).round(2)
    array([[-0.16, -0.08],
           [-0.08, -0.04]])
    """
    for what, fun in (("matvec", matvec), ("solve", solve)):
        checked_function(LINEAR, what, fun)
    if not active():
        return _solution(LINEAR, call_user(solve, matvec, b), b, has_aux)
    back = solve if transpose_solve is None and symmetric else transpose_solve
    product, read = closure_convert(matvec, b)
    equation, rest = closure_convert(
        lambda b: _solution(LINEAR, call_user(solve, matvec, b), b, has_aux), b
    )
    solved = _LinearSolve(lambda b, read, rest: equation(b, *rest))
    system = _LinearSystem(solved, product, solve, back, symmetric, has_aux)
    solved.__name__, solved.rule = LINEAR, system.rule
    solved.defvjp(system.forwards, system.backward)
    return solved(b, read, [tapeless.stop_gradient(v) for v in rest])


@dataclass(frozen=True)
class _LinearSystem:
    """The rules of a linear equation.

    solved   (b, read, rest) to what the solver returns
    product  (x, *read) to the left-hand side
    solve    the solver of the user's, and `back` that of the transposed function
    """

    solved: Any
    product: Any
    solve: Any
    back: Any
    symmetric: bool
    has_aux: bool

    def solve_again(self, matvec: Any, b: Any, solve: Any, back: Any) -> Any:
        returned = custom_linear_solve(matvec, b, solve, back, self.symmetric, self.has_aux)
        return self.solution(returned)

    def solution(self, returned: Any) -> Any:
        return returned[0] if self.has_aux else returned

    def rule(self, primals: Any, tangents: Any) -> Any:
        """The step of the solution solves the equation for the step of b - matvec(x)."""
        returned = self.solved(*primals)
        x, read = self.solution(returned), tuple(primals[1])
        moved = tapeless.jvp(lambda *v: self.product(x, *v), read, tuple(tangents[1]))[1]
        right = tree.map(lambda d, m: d - m, tangents[0], moved)
        step = self.solve_again(_product(self.product, read), right, self.solve, self.back)
        return returned, (step, _zeros(returned[1])) if self.has_aux else step

    def forwards(self, b: Any, read: Any, rest: Any) -> Any:
        returned = self.solved(b, read, rest)
        return returned, (self.solution(returned), read, len(rest))

    def backward(self, residuals: Any, cotangent: Any) -> Any:
        """The cotangent of b solves the transposed equation."""
        if self.back is None:
            raise NotDifferentiableError(
                f"lax.{LINEAR} is differentiated in reverse mode, and has no transpose_solve",
                "give one, or symmetric=True",
            )
        x, read, n = residuals
        mine = _product(self.product, read)
        other = mine if self.symmetric else _AsIs(lambda y: tapeless.vjp(mine, x)[1](y)[0])
        b_bar = self.solve_again(other, self.solution(cotangent), self.back, self.solve)
        down = tree.map(lambda y: -y, b_bar)
        bars = tapeless.vjp(lambda *v: self.product(x, *v), *read)[1](down)
        return b_bar, list(bars), [None] * n


def _product(product: Any, read: Any) -> Any:
    return _AsIs(lambda x: product(x, *read))
