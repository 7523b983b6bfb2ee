"""Collects the tables of all families: which NumPy function, method or ufunc is which operation."""

from __future__ import annotations

import functools
import importlib.util
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom, atom_of_size, static
from tapeless.transforms.core.language import Literal, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.fourier import fft
from tapeless.transforms.ops.linalg import (
    eigen,
    einsum,
    factorisations,
    least_squares,
    norms,
    products,
    solve,
    sparse_systems,
)
from tapeless.transforms.ops.numerics import calculus, covariances, polynomials, statistics
from tapeless.transforms.ops.numpy import (
    argmax,
    bits,
    broadcasting,
    complex,
    copies_and_queries,
    creation,
    cumulative,
    diagonals,
    flipping,
    histograms,
    index_arithmetic,
    indexing,
    insert_and_delete,
    join_and_split,
    logsumexp,
    padding,
    put_functions,
    real_or_complex,
    reductions,
    repeating,
    reshape_and_transpose,
    sorting,
    squeezing,
)
from tapeless.transforms.ops.numpy.put_functions import WRITERS as WRITERS
from tapeless.transforms.ops.numpy.run_time_errors import require_shape
from tapeless.transforms.ops.primitives import (
    arithmetic,
    axis_lengths,
    comparisons_and_rounding,
    elementwise,
    extrema_at,
    joining,
    module_functions,
    new_arrays,
    selection,
    shapes,
    slices_and_gathers,
    stacks,
)
from tapeless.transforms.ops.primitives.dtypes import computed_dtypes, result_dtype
from tapeless.transforms.ops.primitives.ufuncs import UFUNCS

FAMILIES = (
    axis_lengths,
    shapes,
    arithmetic,
    comparisons_and_rounding,
    elementwise,
    selection,
    new_arrays,
    slices_and_gathers,
    joining,
    stacks,
    creation,
    indexing,
    real_or_complex,
    reshape_and_transpose,
    broadcasting,
    squeezing,
    join_and_split,
    flipping,
    repeating,
    padding,
    diagonals,
    copies_and_queries,
    reductions,
    logsumexp,
    argmax,
    cumulative,
    sorting,
    products,
    einsum,
    solve,
    factorisations,
    least_squares,
    norms,
    statistics,
    covariances,
    calculus,
    complex,
    bits,
    put_functions,
    index_arithmetic,
    histograms,
    insert_and_delete,
    polynomials,
    fft,
    eigen,
    extrema_at,
    sparse_systems,
)

Rule = Callable[..., Any]


class Rules(dict[Any, Rule]):
    """The rules of functions; those of a part of scipy join once a program has imported it."""

    def __init__(self, rules: dict[Any, Rule]) -> None:
        super().__init__(rules)
        self.missing = dict(SCIPY)

    def _complete(self) -> None:
        for module in [m for m in self.missing if m in sys.modules]:
            self.update(self.missing.pop(module)())

    def __contains__(self, function: object) -> bool:
        self._complete()
        return super().__contains__(function)

    def __getitem__(self, function: Any) -> Rule:
        self._complete()
        return super().__getitem__(function)

    def get(self, function: Any, default: Any = None) -> Any:
        self._complete()
        return super().get(function, default)


def special_family() -> Any:
    from tapeless.transforms.ops.special import special  # noqa: PLC0415 (scipy is optional)

    return special


def special_rules() -> dict[Any, Rule]:
    rules: dict[Any, Rule] = {}
    for family in special_families():
        rules |= {ufunc: _ufunc(ufunc, op) for ufunc, op in family.SPECIAL.items()}
        rules |= family.RULES
    return rules


def special_families() -> tuple[Any, ...]:
    from tapeless.transforms.ops.special import (  # noqa: PLC0415 (scipy is optional)
        special_bessel,
        special_distributions,
        special_inverses,
        special_more,
    )

    more = special_more, special_inverses, special_distributions, special_bessel
    return (special_family(), *more)


def linalg_family() -> Any:
    from tapeless.transforms.ops.linalg import scipy_linalg  # noqa: PLC0415 (scipy is optional)

    return scipy_linalg


def factors_family() -> Any:
    from tapeless.transforms.ops.linalg import scipy_factors  # noqa: PLC0415 (scipy is optional)

    return scipy_factors


def matrix_families() -> tuple[Any, ...]:
    from tapeless.transforms.ops.linalg import (  # noqa: PLC0415 (scipy is optional)
        banded,
        scipy_matrix_functions,
    )

    return linalg_family(), factors_family(), scipy_matrix_functions, banded


def linalg_rules() -> dict[Any, Rule]:
    return {f: rule for family in matrix_families() for f, rule in family.RULES.items()}


def fft_rules() -> dict[Any, Rule]:
    from tapeless.transforms.ops.fourier import scipy_cosines, scipy_fft  # noqa: PLC0415 (scipy is optional)

    return scipy_fft.RULES | scipy_cosines.RULES


def fftpack_rules() -> dict[Any, Rule]:
    from tapeless.transforms.ops.fourier import scipy_cosines, scipy_fft  # noqa: PLC0415 (scipy is optional)

    return scipy_fft.FFTPACK | scipy_cosines.FFTPACK


def integrate_rules() -> dict[Any, Rule]:
    from tapeless.transforms.ops.numerics import scipy_integrate  # noqa: PLC0415 (scipy is optional)

    return scipy_integrate.RULES


#: The rules of each part of scipy.
SCIPY: dict[str, Callable[[], dict[Any, Rule]]] = {
    "scipy.special": special_rules,
    "scipy.linalg": linalg_rules,
    "scipy.fft": fft_rules,
    "scipy.fftpack": fftpack_rules,
    "scipy.integrate": integrate_rules,
}


def _special(name: str) -> Rule:
    """The rule of a function of `math` or NumPy that scipy has too."""

    def call(*args: Any) -> Any:
        if importlib.util.find_spec("scipy") is None:
            raise UnsupportedError(f"{name} needs scipy", "install scipy")
        return getattr(special_family(), name)(*map(creation.as_array, args))

    return call


def _i0(x: Any) -> Any:
    """SciPy's, which gives float64 for float16."""
    x = creation.as_array(x)
    value = _special("i0")(x)
    return creation.cast_to(value, x.type.dtype) if x.type.dtype == np.float16 else value


def _gives(ufunc: np.ufunc, types: tuple[Any, ...], dtype: np.dtype[Any]) -> bool:
    """Whether results have this dtype where none is asked for."""
    try:
        return result_dtype(ufunc, types) == dtype
    except TypeError:  # there is no loop for the arguments as they are
        return False


def _ufunc(ufunc: np.ufunc, op: Op) -> Rule:
    def call(*args: Any, dtype: Any = None) -> Any:
        atoms = [creation.as_array(a) for a in args]
        types = tuple(a.type for a in atoms)
        if dtype is not None and not _gives(ufunc, types, np.dtype(dtype)):
            kinds = computed_dtypes(ufunc, types, np.dtype(dtype))
            atoms = [creation.cast_to(a, kind) for a, kind in zip(atoms, kinds, strict=True)]
        return op(*atoms)

    return call


def _outer(op: Op) -> Rule:
    """ufunc.outer: each element of the first with each of the second."""

    def outer(a: Any, b: Any) -> Any:
        a, b = creation.as_array(a), creation.as_array(b)
        return op(shapes.reshape(a, shape=a.type.shape + (1,) * b.type.ndim), b)

    return outer


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return FUNCTIONS[np.nonzero](condition)
    return selection.select(*(creation.as_array(a) for a in (condition, x, y)))


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    chosen = creation.as_array(default)
    condlist, choicelist = (_rows(rows) for rows in (condlist, choicelist))
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    for k, condition in enumerate(condlist):
        if creation.as_array(condition).type.dtype.kind != "b":
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    kinds = [_kind_of(creation.as_array(a).type) for a in (chosen, *reversed(choicelist))]
    dtype = np.result_type(*kinds)
    if np.result_type(*kinds[:2]) != dtype:  # a number of Python's adapts to all choices
        chosen = creation.cast_to(shapes.cast(chosen, dtype=chosen.type.dtype), dtype)
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        chosen = _where(condition, choice, chosen)
    return chosen


def _kind_of(t: Type) -> Any:
    return t.dtype.type(0).item() if t.weak else t.dtype


def _rows(arrays: Any) -> Any:
    """What a list of arrays holds, that may be an array."""
    if not isinstance(arrays, (Var, Literal)):
        return arrays
    count = static(atom_of_size(arrays.type.shape[0]), "the number of conditions must be known")
    return [indexing.get(arrays, k) for k in range(int(count))]


def _clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
) -> Any:
    low, high = a_min if min is None else min, a_max if max is None else max
    clipped = creation.as_array(a)
    if low is not None and not _is_out_of_range(low, clipped.type.dtype, -1):
        clipped = elementwise.maximum(clipped, _kept_inside(low, clipped.type.dtype, -1))
    if high is not None and not _is_out_of_range(high, clipped.type.dtype, 1):
        clipped = elementwise.minimum(clipped, _kept_inside(high, clipped.type.dtype, 1))
    return clipped


def _is_out_of_range(bound: Any, dtype: np.dtype[Any], side: int) -> bool:
    """Whether a bound is an integer of Python's that no number of the dtype lies beyond."""
    value = bound.value if isinstance(bound, Literal) else bound
    if type(value) is not int or dtype.kind not in "iu":
        return False
    limits = np.iinfo(dtype)
    return value <= limits.min if side < 0 else value >= limits.max


def _kept_inside(bound: Any, dtype: np.dtype[Any], side: int) -> Any:
    """A bound, which is the last number of the dtype where it is an integer of Python's beyond."""
    limit = creation.as_array(bound)
    if isinstance(limit, Literal) or not limit.type.weak or limit.type.dtype.kind != "i":
        return limit
    wide = dtype == limit.type.dtype or (dtype == np.uint64 and side > 0)
    if wide or dtype.kind not in "iu":
        return limit
    limits, less = np.iinfo(dtype), comparisons_and_rounding.less
    last = int(limits.min if side < 0 else limits.max)
    beyond = less(limit, last) if side < 0 else less(last, limit)
    return selection.select(beyond, last, limit)


def _log(x: Any, base: Any = None) -> Any:
    natural_log = FUNCTIONS[np.log](x)
    return natural_log if base is None else arithmetic.truediv(natural_log, FUNCTIONS[np.log](base))


def _hypot(*coordinates: Any) -> Any:
    if len(coordinates) < 2:
        return FUNCTIONS[np.fabs](coordinates[0]) if coordinates else 0.0
    return functools.reduce(FUNCTIONS[np.hypot], coordinates)


OTHER_DIMENSIONS = "both points must have the same number of dimensions"


def _dist(p: Any, q: Any) -> Any:
    p, q = (shapes.cast_to(creation.as_array(a), np.dtype(float)) for a in (p, q))
    require_shape(p.type.shape, q.type.shape, ValueError, OTHER_DIMENSIONS)
    difference = arithmetic.sub(p, q)
    return _as_number(FUNCTIONS[np.linalg.norm](difference))


def _of_numbers(rule: Rule, small: type = float) -> Rule:
    """A function of `math`: it takes numbers, and gives Python's. Those for which NumPy has small
    floats, unsigned ones and truth values, are taken as `small`."""
    kinds = {"f": float, "i": int, "u": small, "b": small}

    def call(*args: Any) -> Any:
        results = rule(*(_as_number(creation.as_array(a), kinds) for a in args))
        return (
            tuple(map(_as_number, results)) if isinstance(results, tuple) else _as_number(results)
        )

    return call


def _of_floats(rule: Rule) -> Rule:
    """A function of `math` that gives floats for integers, where NumPy's gives integers."""
    return _of_numbers(lambda *args: rule(*(_as_number(a, {"i": float}) for a in args)))


#: The types of Python's that numbers which `math` gives have.
GIVEN = {"f": float, "i": int, "u": int, "b": bool}


def _as_number(a: Any, kinds: dict[str, type] = GIVEN) -> Any:
    """A number as one of Python's, of the type for its kind."""
    if a.type.shape:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    dtype = np.dtype(kinds.get(a.type.dtype.kind, a.type.dtype))
    is_right_kind = a.type.dtype.kind == "c" or (a.type.weak and a.type.dtype == dtype)
    return a if is_right_kind else shapes.cast(a, dtype=dtype, python=True)


def _of_several(rule: Rule, neutral: int) -> Rule:
    """A function of `math` that takes any number of integers, by that of NumPy for two."""

    def of_all(*numbers: Any) -> Any:
        return functools.reduce(rule, numbers, atom(neutral))

    return of_all


MATH = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "exp": np.exp,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "expm1": np.expm1,
    "fabs": np.fabs,
    "pow": np.power,
    "copysign": np.copysign,
    "fmod": np.fmod,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "radians": np.radians,
    "degrees": np.degrees,
    "cbrt": np.cbrt,
    "exp2": np.exp2,
    "ldexp": np.ldexp,
    "frexp": np.frexp,
    "nextafter": np.nextafter,
    "modf": np.modf,
    "fsum": np.sum,
    "prod": np.prod,
    "gcd": np.gcd,
    "lcm": np.lcm,
}
SPECIAL = {
    math.erf: "erf",
    math.erfc: "erfc",
    math.gamma: "gamma",
    math.lgamma: "gammaln",
}

FUNCTIONS = Rules({ufunc: _ufunc(ufunc, op) for ufunc, op in UFUNCS.items()})
METHODS: dict[str, Rule] = {"clip": _clip}
for _family in FAMILIES:
    FUNCTIONS |= getattr(_family, "NUMPY", {})
    METHODS |= getattr(_family, "METHODS", {})
OURS = creation.OURS | module_functions.OURS
FUNCTIONS |= OURS
FUNCTIONS |= {np.where: _where, np.clip: _clip, np.select: _select}
FUNCTIONS |= {ufunc.outer: _outer(op) for ufunc, op in UFUNCS.items() if ufunc.nin == 2}
FUNCTIONS |= {
    getattr(math, name): _of_numbers(FUNCTIONS[f]) if isinstance(f, np.ufunc) else FUNCTIONS[f]
    for name, f in MATH.items()
}
FUNCTIONS |= {
    getattr(math, name): _of_floats(FUNCTIONS[MATH[name]]) for name in ("pow", "fmod", "modf")
}
FUNCTIONS |= {
    math.ldexp: _of_numbers(FUNCTIONS[np.ldexp], int),
    math.gcd: _of_numbers(_of_several(FUNCTIONS[np.gcd], 0), int),
    math.lcm: _of_numbers(_of_several(FUNCTIONS[np.lcm], 1), int),
}
FUNCTIONS |= {math.log: _of_numbers(_log), math.hypot: _of_numbers(_hypot), math.dist: _dist}
FUNCTIONS |= {np.i0: _i0}
FUNCTIONS |= {function: _of_numbers(_special(name)) for function, name in SPECIAL.items()}

for _function, _rule in FUNCTIONS.items():
    _own = getattr(_rule, "__qualname__", "")
    if "<locals>" in _own or _own.startswith("_"):  # Python's errors show it
        _rule.__qualname__ = getattr(_function, "__name__", _rule.__name__)


def full_name(function: Any) -> str:
    """`np.linalg.inv`, `np.add.at`, `scipy.special.erf`: how users write a function."""
    owner = getattr(function, "__self__", None)
    if isinstance(function, np.ufunc):
        module = "scipy.special" if getattr(np, function.__name__, None) is not function else "np"
        return f"{module}.{function.__name__}"
    if isinstance(owner, np.ufunc):
        return f"{full_name(owner)}.{function.__name__}"
    module = getattr(function, "__module__", None) or ""
    public = [part for part in module.split(".") if not part.startswith("_")]
    name = getattr(function, "__name__", str(function))
    return ".".join([*("np" if part == "numpy" else part for part in public), name])


def families() -> tuple[Any, ...]:
    """All families; those for scipy only where it is installed."""
    if importlib.util.find_spec("scipy") is None:
        return FAMILIES
    return (*FAMILIES, *special_families(), *matrix_families())


def operations() -> dict[str, Op]:
    """Every operation by name."""
    values = (value for family in families() for value in vars(family).values())
    return {value.name: value for value in values if isinstance(value, Op)}
