"""Draws random numbers from explicit keys: jax.random's functions, with the same bits.

A key is an array of two uint32 words. Whoever has the key has the numbers: drawing changes nothing,
and a key is used once. `split` makes new keys from one.

>>> from tapeless import random
>>> key, subkey = random.split(random.key(0))
>>> random.uniform(subkey, (2,)).round(4)
Array([0.0806, 0.9239], dtype=float64)

Outside of transformed functions the numbers are arrays of `tapeless.numpy`, with `.at` and its kin.

The generator is Threefry-2x32 with a counter for each element (Salmon et al., "Parallel random
numbers: as easy as 1, 2, 3", SC 2011), so the numbers do not depend on the machine, on blocks or on
threads.
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.random instead of {__name__}")

from tapeless.numpy.array_functions import creation_functions
from tapeless.random.continuous import (
    cauchy,
    exponential,
    gumbel,
    laplace,
    logistic,
    normal,
    truncated_normal,
)
from tapeless.random.discrete import binomial, geometric, multinomial, poisson
from tapeless.random.gammas import (
    ball,
    beta,
    chisquare,
    dirichlet,
    f,
    gamma,
    generalized_normal,
    loggamma,
    t,
)
from tapeless.random.key_reuse import KeyReuseWarning, report_reuse
from tapeless.random.keys import (
    PRNGKey,
    clone,
    fold_in,
    key,
    key_data,
    key_dtype,
    key_impl,
    split,
    wrap_key_data,
)
from tapeless.random.multivariate import multivariate_normal, orthogonal
from tapeless.random.parametric import (
    double_sided_maxwell,
    lognormal,
    maxwell,
    pareto,
    rayleigh,
    triangular,
    wald,
    weibull_min,
)
from tapeless.random.permutations import categorical, choice, permutation, shuffle
from tapeless.random.uniforms import bernoulli, bits, rademacher, randint, uniform

_FUNCTIONS = """
PRNGKey ball bernoulli beta binomial bits categorical cauchy chisquare choice clone dirichlet
double_sided_maxwell exponential f fold_in gamma generalized_normal geometric gumbel key key_data
laplace loggamma logistic lognormal maxwell multinomial multivariate_normal normal orthogonal pareto
permutation poisson rademacher randint rayleigh shuffle split t triangular truncated_normal uniform
wald weibull_min wrap_key_data
"""
globals().update(creation_functions(_FUNCTIONS, globals()))

__all__ = [
    "KeyReuseWarning",
    "PRNGKey",
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "clone",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "generalized_normal",
    "geometric",
    "gumbel",
    "key",
    "key_data",
    "key_dtype",
    "key_impl",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "report_reuse",
    "shuffle",
    "split",
    "t",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
    "wrap_key_data",
]
