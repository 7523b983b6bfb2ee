"""Draws random numbers from NumPy's generators when the program runs.

noise = rng.normal(0.0, s, x.shape)      stays      noise = rng.normal(0.0, s, x.shape)

A generator from outside is a parameter of the program, of the type CALLABLE; one that the program
makes of a seed is a value of it; `np.random`'s own is reached by its name. Draws happen once each,
in the order of the program, and are never repeated for the backward part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.dims import Size
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
from tapeless.transforms.core.operation import Op
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import NotDifferentiableError
from tapeless.transforms.ops.primitives.callbacks import CALLABLE, FOR_EACH, outside

#: Methods that draw: their parameters in NumPy's order, with defaults; `size` follows.
REALS: dict[str, dict[str, float | None]] = {
    "random": {},
    "random_sample": {},
    "standard_normal": {},
    "standard_exponential": {},
    "standard_cauchy": {},
    "normal": {"loc": 0.0, "scale": 1.0},
    "uniform": {"low": 0.0, "high": 1.0},
    "exponential": {"scale": 1.0},
    "laplace": {"loc": 0.0, "scale": 1.0},
    "logistic": {"loc": 0.0, "scale": 1.0},
    "gumbel": {"loc": 0.0, "scale": 1.0},
    "lognormal": {"mean": 0.0, "sigma": 1.0},
    "rayleigh": {"scale": 1.0},
    "standard_gamma": {"shape": None},
    "gamma": {"shape": None, "scale": 1.0},
    "beta": {"a": None, "b": None},
    "chisquare": {"df": None},
    "standard_t": {"df": None},
    "noncentral_chisquare": {"df": None, "nonc": None},
    "f": {"dfnum": None, "dfden": None},
    "noncentral_f": {"dfnum": None, "dfden": None, "nonc": None},
    "weibull": {"a": None},
    "pareto": {"a": None},
    "power": {"a": None},
    "vonmises": {"mu": None, "kappa": None},
    "wald": {"mean": None, "scale": None},
    "triangular": {"left": None, "mode": None, "right": None},
}
INTEGERS: dict[str, dict[str, float | None]] = {
    "poisson": {"lam": 1.0},
    "binomial": {"n": None, "p": None},
    "negative_binomial": {"n": None, "p": None},
    "geometric": {"p": None},
    "hypergeometric": {"ngood": None, "nbad": None, "nsample": None},
    "zipf": {"a": None},
    "logseries": {"p": None},
}
#: Methods that draw vectors: their parameters, of which one is as long as these are, and its place.
VECTORS: dict[str, tuple[tuple[str, ...], int]] = {
    "multivariate_normal": (("mean", "cov"), 0),
    "dirichlet": (("alpha",), 0),
    "multinomial": (("n", "pvals"), 1),
}


@dataclass(frozen=True)
class Refused:
    """Parameters {0}, {1}, ... of a draw for which NumPy raises an error.

    test   the condition, as text
    holds  the same of numbers, or of what NumPy's functions take as numbers
    """

    test: str
    holds: Callable[..., Any]
    message: str
    error: type[Exception] = ValueError

    def reads(self, parameters: tuple[Atom, ...]) -> list[Atom]:
        """The parameters of the test."""
        return [a for k, a in enumerate(parameters) if f"{{{k}}}" in self.test]


def _negative(name: str, place: int) -> Refused:
    return Refused(f"{{{place}}} < 0", lambda *p: p[place] < 0, f"{name} < 0")


def _not_positive(name: str, place: int) -> Refused:
    return Refused(f"{{{place}}} <= 0", lambda *p: p[place] <= 0, f"{name} <= 0")


MOST_EVENTS = 9.223372036484771e18  # of NumPy's Poisson numbers
#: What compiled loops draw from a `Generator`, number by number, and what each method refuses.
IN_KERNELS: dict[str, tuple[Refused, ...]] = {
    "random": (),
    "standard_normal": (),
    "standard_exponential": (),
    "standard_cauchy": (),
    "normal": (_negative("scale", 1),),
    "uniform": (
        Refused(
            "not isfinite({1} - {0})",
            lambda low, high: np.logical_not(np.isfinite(high - low)),
            "high - low range exceeds valid bounds",
            OverflowError,
        ),
        Refused("{1} - {0} < 0", lambda low, high: high - low < 0, "high - low < 0"),
    ),
    "exponential": (_negative("scale", 0),),
    "laplace": (_negative("scale", 1),),
    "logistic": (_negative("scale", 1),),
    "gumbel": (_negative("scale", 1),),
    "lognormal": (_negative("sigma", 1),),
    "rayleigh": (_negative("scale", 0),),
    "standard_gamma": (_negative("shape", 0),),
    "gamma": (_negative("shape", 0), _negative("scale", 1)),
    "beta": (_not_positive("a", 0), _not_positive("b", 1)),
    "chisquare": (_not_positive("df", 0),),
    "standard_t": (_not_positive("df", 0),),
    "weibull": (_negative("a", 0),),
    "pareto": (_not_positive("a", 0),),
    "power": (_not_positive("a", 0),),
    "poisson": (
        Refused("not {0} >= 0", lambda lam: np.logical_not(lam >= 0), "lam < 0 or lam is NaN"),
        Refused(f"{{0}} > {MOST_EVENTS}", lambda lam: lam > MOST_EVENTS, "lam value too large"),
    ),
    "integers": (Refused("{0} >= {1}", lambda low, high: low >= high, "low >= high"),),
    "choice": (
        Refused(
            "{1} <= 0",
            lambda low, high: high <= 0,
            "a must be a positive integer unless no samples are taken",
        ),
    ),
}


def _infer(*args: Atom, shape: tuple[Size, ...], dtype: Any, weak: bool, **how: Any) -> Type:
    return Type(dtype, shape, weak)


def _jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: dict[str, Any]) -> Any:
    whole = params["dtype"].kind not in "fc"  # counts and choices, as integers in general
    if whole or all(t is None for t in tangents):
        return (None,)
    raise NotDifferentiableError(
        f"the numbers that {params['name']} draws have no derivative by its parameters",
        "draw standard numbers and scale them: loc + scale * rng.standard_normal(size)",
    )


#: modern: whether it is a method of a `Generator`.
#: sized: the text with the shape in it, for more axes in front; empty if there is none.
#: closed: whether `endpoint=True` is in the text.
#: shape, dtype, weak: of what is drawn; text: the call, with {0} for the first argument.
draw = Op("draw", _infer, lambda args, params: params["text"], _jvp, costly=True, pure=False)
#: A generator made of a seed, or of none; maker: the function of np.random that makes it.
made_generator = Op(
    "generator",
    lambda *seed, maker: CALLABLE,
    lambda args, params: f"np.random.{params['maker']}({'{0}' if args else ''})",
    lambda primals, tangents, outs, params: (None,),
    costly=True,
    pure=False,
)


def is_compiled_by_number(s: Let) -> bool:
    """Whether compiled loops have a form for each number that a draw gives."""
    how = s.params
    whole = how["name"] in ("integers", "choice", "poisson")
    wide = how["dtype"] == np.dtype(np.int64 if whole else float) and not how["closed"]
    return how["modern"] and how["name"] in IN_KERNELS and bool(how["sized"]) and wide


def is_compiled(s: Let) -> bool:
    """Whether compiled loops have a form for a draw, which is of one number."""
    return is_compiled_by_number(s) and not any(a.type.shape for a in (*s.args, *s.outs))


def parameters(s: Let) -> tuple[Atom, ...]:
    """What a draw gets, all of it: integers below n are those from 0 to n."""
    passed = tuple(a for a in s.args if a.type != CALLABLE)
    if s.params["name"] in ("integers", "choice") and len(passed) == 1:
        return Literal(0, Type(passed[0].type.dtype, ())), *passed
    return passed


def refusals(s: Let) -> tuple[Refused, ...]:
    """What a draw refuses, as far as it is known."""
    return IN_KERNELS.get(s.params["name"], ())


def draws(block: Block) -> bool:
    """Whether a program draws from a generator from outside, or from one without a seed."""
    inside = [s for s in statements(block) if isinstance(s, Let)]
    own = {v for s in inside if s.op is made_generator and s.args for v in s.outs}
    return any(
        (s.op is draw and own.isdisjoint(s.args[:1])) or is_draw_of_python(s) for s in inside
    )


def is_draw_of_python(s: Statement) -> bool:
    """Whether a statement calls a function of Python's `random`."""
    return isinstance(s, Let) and s.op is outside and s.params["method"] == FOR_EACH
