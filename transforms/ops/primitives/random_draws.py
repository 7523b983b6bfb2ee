"""Random numbers drawn from NumPy's generators when the program runs.

noise = rng.normal(0.0, s, x.shape)      stays      noise = rng.normal(0.0, s, x.shape)

A generator from outside is a parameter of the program, of the type CALLABLE; `np.random`'s own is
reached by its name. Draws happen once each, in the order of the program, and are never repeated
for the backward part.
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Block, Let, Type, Var, statements
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import NotDifferentiableError

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
    "f": {"dfnum": None, "dfden": None},
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
}


def _infer(*args: Atom, shape: tuple[Size, ...], dtype: Any, weak: bool, **how: Any) -> Type:
    return Type(dtype, shape, weak)


def _jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: dict[str, Any]) -> Any:
    if all(t is None for t in tangents):
        return (None,)
    raise NotDifferentiableError(
        f"the numbers that {params['name']} draws have no derivative by its parameters",
        "draw standard numbers and scale them: loc + scale * rng.standard_normal(size)",
    )


#: sized: the text with the shape in it, for more axes in front; empty if there is none.
#: shape, dtype, weak: of what is drawn; text: the call, with {0} for the first argument.
draw = Op("draw", _infer, lambda args, params: params["text"], _jvp, costly=True, pure=False)


def draws(block: Block) -> bool:
    """Whether a program draws from a generator from outside."""
    return any(isinstance(s, Let) and s.op is draw for s in statements(block))
