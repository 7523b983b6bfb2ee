"""Defines the functions of scipy.special, for programs that use them; nothing else imports
SciPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from tapeless.transforms.core.builder import current, static
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import NotDifferentiableError
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched, reducing
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal, isfinite, sign
from tapeless.transforms.ops.primitives.dtypes import result_dtype
from tapeless.transforms.ops.primitives.elementwise import absolute, exp, log, log1p, maximum, real
from tapeless.transforms.ops.primitives.joining import as_array, axes_of
from tapeless.transforms.ops.primitives.make_elementwise import (
    Over,
    as_floats,
    as_integers,
    elementwise,
)
from tapeless.transforms.ops.primitives.scalar_forms import LOG_GAMMA, in_double, of_math
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    axes_text,
    batch_size,
    broadcast_to,
    cast_to,
    keep_reduced_axes,
    reduced_shape,
    repeat_batch,
    sum,
)
from tapeless.transforms.ops.primitives.ufuncs import UFUNCS
from tapeless.transforms.ops.special.incomplete import beta_by_shape, gamma_by_shape
from tapeless.transforms.ops.special.special_parts import (
    log_softmax_parts,
    logsumexp_parts,
    softmax_parts,
)
from tapeless.transforms.ops.special.special_scalar_forms import (
    ENTR,
    EXPIT,
    KL_DIV,
    LOG_EXPIT,
    LOGIT,
    REL_ENTR,
    XLOG1PY,
    XLOGY,
)

ROOT_PI = math.sqrt(math.pi)
ROOT_2PI = math.sqrt(2 * math.pi)


def special(name: str, *partials: Any, operands: Any = as_floats, **facts: Any) -> Op:
    """A function of scipy.special with one partial derivative an argument; `facts` as those of
    `elementwise`."""
    ufunc = getattr(sc, name)
    places = ", ".join(f"{{{k}}}" for k in range(ufunc.nin))
    return elementwise(
        ufunc,
        *partials,
        operands=operands,
        name=name,
        costly=True,
        source=f"scipy.special.{name}({places})",
        **facts,
    )


def refuse_derivative(*args: Atom) -> Any:
    """Stands for a partial derivative that has no formula here."""
    raise NotDifferentiableError(
        "a special function has no derivative here in its order or shape",
        "give its derivative with custom_vjp",
    )


# -- logistic function, error function, normal distribution

expit = special("expit", lambda x, y: y * (1 - y), scalar=EXPIT, finite="always")
logit = special("logit", lambda x, y: Over(x * (1 - x)), scalar=LOGIT)
log_expit = special("log_expit", lambda x, y: expit(-x), scalar=LOG_EXPIT, finite="always")
erf = special(
    "erf", lambda x, y: 2 / ROOT_PI * exp(-(x * x)), scalar=of_math("erf"), finite="always"
)
erfc = special(
    "erfc", lambda x, y: -2 / ROOT_PI * exp(-(x * x)), scalar=of_math("erfc"), finite="always"
)
erfcx = special("erfcx", lambda x, y: 2 * x * y - 2 / ROOT_PI, finite="always")
erfi = special("erfi", lambda x, y: 2 / ROOT_PI * exp(x * x), finite="always")
erfinv = special("erfinv", lambda x, y: ROOT_PI / 2 * exp(y * y))
erfcinv = special("erfcinv", lambda x, y: -ROOT_PI / 2 * exp(y * y))
dawsn = special("dawsn", lambda x, y: 1 - 2 * x * y, finite="always")
ndtr = special(
    "ndtr",
    lambda x, y: exp(-(x * x) / 2) / ROOT_2PI,
    scalar=in_double("erfc", f"0.5 * erfc({-math.sqrt(0.5)} * {{0}})"),
    finite="always",
)
log_ndtr = special("log_ndtr", lambda x, y: exp(-(x * x) / 2 - y) / ROOT_2PI, finite="always")
ndtri = special("ndtri", lambda x, y: ROOT_2PI * exp(y * y / 2))

# -- gamma function and relatives

gammaln = special(
    "gammaln", lambda x, y: psi(x), scalar=LOG_GAMMA, finite="positive", math_errors=True
)
loggamma = special("loggamma", lambda x, y: psi(x), finite="positive")
gamma = special(
    "gamma",
    lambda x, y: y * psi(x),
    scalar=in_double("gamma", "gamma({0})"),
    finite="positive",
    math_errors=True,
)
rgamma = special("rgamma", lambda x, y: -y * psi(x), finite="always")
psi: Op = special("psi", lambda x, y: polygamma(x, n=1), finite="positive")
beta = special(
    "beta", lambda a, b, y: y * (psi(a) - psi(a + b)), lambda a, b, y: y * (psi(b) - psi(a + b))
)
betaln = special("betaln", lambda a, b, y: psi(a) - psi(a + b), lambda a, b, y: psi(b) - psi(a + b))
poch = special("poch", lambda a, n, y: y * (psi(a + n) - psi(a)), lambda a, n, y: y * psi(a + n))


def gamma_density(a: Atom, x: Atom) -> Any:
    return exp((a - 1) * log(x) - x - gammaln(a))


gammainc_by_a = gamma_by_shape(lambda a, x: gamma_density(a, x) * (log(x) - psi(a)))
gammainc = special(
    "gammainc", lambda a, x, y: gammainc_by_a(a, x), lambda a, x, y: gamma_density(a, x)
)
gammaincc = special(
    "gammaincc", lambda a, x, y: -gammainc_by_a(a, x), lambda a, x, y: -gamma_density(a, x)
)
zeta: Op = elementwise(
    sc.beta,  # of the same dtypes
    refuse_derivative,
    lambda x, q, y: -x * zeta(x + 1, q),
    name="zeta",
    costly=True,
    source="scipy.special.zeta({0}, {1})",
)
riemann_zeta: Op = elementwise(
    sc.gamma,  # of the same dtypes
    refuse_derivative,
    name="riemann_zeta",
    costly=True,
    source="scipy.special.zeta({0})",
)


def beta_density(a: Atom, b: Atom, x: Atom) -> Any:
    return exp((a - 1) * log(x) + (b - 1) * log1p(-x) - betaln(a, b))


betainc_by_a = beta_by_shape(
    0, lambda a, b, x: beta_density(a, b, x) * (log(x) - psi(a) + psi(a + b))
)
betainc_by_b = beta_by_shape(
    1, lambda a, b, x: beta_density(a, b, x) * (log1p(-x) - psi(b) + psi(a + b))
)
betainc = special(
    "betainc",
    lambda a, b, x, y: betainc_by_a(a, b, x),
    lambda a, b, x, y: betainc_by_b(a, b, x),
    lambda a, b, x, y: beta_density(a, b, x),
)


def _polygamma_infer(x: Atom, *, n: int) -> Type:
    return Type(sc.polygamma(n, np.ones(1, x.type.dtype)).dtype, x.type.shape)


def _polygamma_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    slope = polygamma(primals[0], n=params["n"] + 1)
    return (cast_to(mul(tangents[0], slope), outs[0].type.dtype),)


def _polygamma_parts(x: Atom, n: int) -> Any:
    """(-1)^(n + 1) n! zeta(n + 1, x): Abramowitz and Stegun, "Handbook of Mathematical Functions",
    6.4.10."""
    if n == 0:
        return psi(x)
    return mul(float((-1) ** (n + 1) * math.factorial(n)), zeta(float(n + 1), x))


polygamma: Op = Op(
    "polygamma",
    _polygamma_infer,
    "scipy.special.polygamma({n}, {0})",
    _polygamma_jvp,
    costly=True,
    elementwise=True,
    parts=_polygamma_parts,
)

# -- Bessel functions, exponential integrals

iv: Op = special("iv", refuse_derivative, lambda v, x, y: (iv(v - 1, x) + iv(v + 1, x)) / 2)
jv: Op = special("jv", refuse_derivative, lambda v, x, y: (jv(v - 1, x) - jv(v + 1, x)) / 2)
kv: Op = special("kv", refuse_derivative, lambda v, x, y: -(kv(v - 1, x) + kv(v + 1, x)) / 2)
yv: Op = special("yv", refuse_derivative, lambda v, x, y: (yv(v - 1, x) - yv(v + 1, x)) / 2)
ive: Op = special(
    "ive", refuse_derivative, lambda v, x, y: (ive(v - 1, x) + ive(v + 1, x)) / 2 - sign(x) * y
)
i0 = special("i0", lambda x, y: i1(x), finite="always")
i1: Op = special("i1", lambda x, y: (i0(x) + iv(2.0, x)) / 2, finite="always")
i0e = special("i0e", lambda x, y: i1e(x) - sign(x) * y, finite="always")
i1e: Op = special("i1e", lambda x, y: (i0e(x) + ive(2.0, x)) / 2 - sign(x) * y, finite="always")
j0 = special("j0", lambda x, y: -j1(x), finite="always")
j1: Op = special("j1", lambda x, y: (j0(x) - jv(2.0, x)) / 2, finite="always")
k0 = special("k0", lambda x, y: -k1(x), finite="positive")
k1: Op = special("k1", lambda x, y: -(k0(x) + kv(2.0, x)) / 2, finite="positive")
y0 = special("y0", lambda x, y: -y1(x), finite="positive")
y1: Op = special("y1", lambda x, y: (y0(x) - yv(2.0, x)) / 2, finite="positive")
exp1 = special("exp1", lambda x, y: -exp(-x) / x, finite="positive")
expi = special("expi", lambda x, y: exp(x) / x, finite="positive")
cosm1 = special("cosm1", lambda x, y: neg(UFUNCS[np.sin](x)), finite="always")
exp10 = special("exp10", lambda x, y: y * math.log(10), finite="always")

expn: Op = special(
    "expn", refuse_derivative, lambda n, x, y: -_expn_below(n, x), operands=as_integers
)


def _expn_below(n: Atom, x: Atom) -> Any:
    """The exponential integral of order n - 1; that of order -1 is known in closed form."""
    closed = (1 + 1 / x) * exp(-x) / x
    return select(equal(n, 0), closed, expn(maximum(n - 1, 0), x))


# -- dilogarithm, Faddeeva function, Owen's T, hypergeometric functions

wofz: Op = special("wofz", lambda z, w: 2j / ROOT_PI - 2 * z * w, finite="always")
hyp1f1: Op = special(
    "hyp1f1",
    refuse_derivative,
    refuse_derivative,
    lambda a, b, x, y: a / b * hyp1f1(a + 1, b + 1, x),
)
hyp2f1: Op = special(
    "hyp2f1",
    refuse_derivative,
    refuse_derivative,
    refuse_derivative,
    lambda a, b, c, x, y: a * b / c * hyp2f1(a + 1, b + 1, c + 1, x),
)
owens_t = special(
    "owens_t",
    lambda h, a, y: -exp(-(h * h) / 2) * erf(a * h / math.sqrt(2)) / (2 * ROOT_2PI),
    lambda h, a, y: exp(-(h * h) * (1 + a * a) / 2) / (2 * math.pi * (1 + a * a)),
)


def _spence_slope(x: Atom, y: Atom) -> Any:
    """log(x) / (1 - x), which is -1 at 1."""
    is_one = equal(x, 1)
    return select(is_one, -1.0, log(x) / (1 - select(is_one, 2.0, x)))


spence = special("spence", _spence_slope)

# -- entropies: the slope in x at x = 0 is that of the limit, in y it is 0 there


def _ratio(x: Atom, y: Atom) -> Any:
    """x / y, and 0 where x is 0."""
    zero = equal(x, 0)
    return select(zero, 0.0, x / select(zero, 1.0, y))


xlogy = special("xlogy", lambda x, y, z: log(y), lambda x, y, z: _ratio(x, y), scalar=XLOGY)
xlog1py = special(
    "xlog1py", lambda x, y, z: log1p(y), lambda x, y, z: _ratio(x, 1 + y), scalar=XLOG1PY
)
entr = special("entr", lambda x, y: -log(x) - 1, scalar=ENTR, finite="positive")
rel_entr = special(
    "rel_entr",
    lambda x, y, z: log(x) - log(y) + 1,
    lambda x, y, z: -_ratio(x, y),
    scalar=REL_ENTR,
)
kl_div = special(
    "kl_div",
    lambda x, y, z: log(x) - log(y),
    lambda x, y, z: 1 - _ratio(x, y),
    scalar=KL_DIV,
)

# -- log-sum-exp and softmax


def _logsumexp_infer(x: Atom, *b: Atom, axes: tuple[int, ...], keepdims: bool) -> Type:
    dtype = np.result_type(
        np.float32 if x.type.dtype == np.float32 else float, *(a.type.dtype for a in (x, *b))
    )
    return Type(dtype, reduced_shape(x.type.shape, axes, keepdims))


def _logsumexp_source(args: Atoms, params: Params) -> str:
    weights = ", b={1}" if len(args) > 1 else ""
    keep = ", keepdims=True" if params["keepdims"] else ""
    axis = axes_text(params["axes"], args[0].type.ndim)
    return f"scipy.special.logsumexp({{0}}{axis}{weights}{keep})"


def _logsumexp_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """The mean of the tangents, weighted by exp(x - y)."""
    x, axes = primals[0], params["axes"]
    share = exp(sub(x, keep_reduced_axes(outs[0], x.type, axes)))
    terms = []
    if tangents[0] is not None:
        scaled = mul(tangents[0], share)
        terms.append(mul(scaled, primals[1]) if len(primals) > 1 else scaled)
    if len(tangents) > 1 and tangents[1] is not None:
        terms.append(mul(tangents[1], share))
    if not terms:
        return (None,)
    total = terms[0] if len(terms) == 1 else terms[0] + terms[1]
    return (sum(total, axes=axes, keepdims=params["keepdims"]),)


def _logsumexp_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched | None:
    if len(args) > 1:
        size = batch_size(args, axes)
        args = tuple(repeat_batch(a, k, size) for a, k in zip(args, axes, strict=True))
        over = tuple(k + 1 for k in params["axes"])
        return op(*args, axes=over, keepdims=params["keepdims"]), 0
    return reducing(op, args, axes, params)


def _logsumexp_op(name: str, parts: Any = None) -> Op:
    return Op(
        name,
        _logsumexp_infer,
        _logsumexp_source,
        _logsumexp_jvp,
        costly=True,
        batch=_logsumexp_batch,
        parts=parts,
    )


#: Of one element at least: the program relies on that.
logsumexp = _logsumexp_op("logsumexp", logsumexp_parts)
logsumexp_of_any = _logsumexp_op("logsumexp_of_any")  # maybe of nothing, or with weights


def _softmax_source(name: str) -> Any:
    def source(args: Atoms, params: Params) -> str:
        return f"scipy.special.{name}({{0}}{axes_text(params['axes'], args[0].type.ndim)})"

    return source


def _softmax_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    scaled = mul(tangents[0], outs[0])
    return (sub(scaled, mul(outs[0], sum(scaled, axes=params["axes"], keepdims=True))),)


def _log_softmax_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    scaled = mul(tangents[0], exp(outs[0]))
    return (sub(tangents[0], sum(scaled, axes=params["axes"], keepdims=True)),)


def _exponential_infer(x: Atom, *, axes: tuple[int, ...]) -> Type:
    """SciPy subtracts the largest element in the dtype of x; np.exp decides the dtype then."""
    if x.type.dtype.kind == "b":
        np.subtract(np.True_, np.True_)  # raises NumPy's TypeError
    return Type(result_dtype(np.exp, (x.type,)), x.type.shape)


softmax = Op(
    "softmax",
    _exponential_infer,
    _softmax_source("softmax"),
    _softmax_jvp,
    costly=True,
    batch=reducing,
    parts=softmax_parts,
)
log_softmax = Op(
    "log_softmax",
    _exponential_infer,
    _softmax_source("log_softmax"),
    _log_softmax_jvp,
    costly=True,
    batch=reducing,
    parts=log_softmax_parts,
)


# The functions of scipy.special ----------------------------------------------------------------


def _logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: Any = False, return_sign: bool = False
) -> Any:
    a = as_array(a)
    if return_sign:
        return _with_sign(a, axes_of(axis, a.type.ndim), b, bool(keepdims))
    operands: Atoms = (a,)
    if b is not None:
        b = as_array(b)
        operands = (a, broadcast_to(b, shape=a.type.shape))
    axes = axes_of(axis, a.type.ndim)
    plain = b is None and all(_is_surely_nonempty(a.type.shape[k]) for k in axes)
    op = logsumexp if plain else logsumexp_of_any
    return op(*operands, axes=axes, keepdims=bool(keepdims))


def _with_sign(a: Atom, axes: tuple[int, ...], b: Any, keepdims: bool) -> tuple[Any, Any]:
    """The logarithm of the size of a weighted sum of exponentials, and its sign."""
    weights = 1.0 if b is None else as_array(b)
    top = logsumexp_of_any(real(a) if a.type.dtype.kind == "c" else a, axes=axes, keepdims=True)
    top = select(isfinite(top), top, 0.0)
    total = sum(mul(exp(sub(a, top)), weights), axes=axes, keepdims=True)
    size = add(log(absolute(total)), top)
    if keepdims:
        return size, sign(total)
    return sum(size, axes=axes, keepdims=False), sum(sign(total), axes=axes, keepdims=False)


def _is_surely_nonempty(n: Size) -> bool:
    """Whether an axis is known not to be empty."""
    return current().at_least(n, 1).certain


def _over_axis(op: Op) -> Any:
    def run(x: Any, axis: Any = None) -> Any:
        x = as_array(x)
        return op(x, axes=axes_of(axis, x.type.ndim))

    return run


def _polygamma(n: Any, x: Any) -> Any:
    order = int(static(n, "the order of polygamma must be known"))
    x = as_array(x)
    if order == 0:
        return cast_to(psi(x), _polygamma_infer(x, n=0).dtype)
    return polygamma(x, n=order)


def _zeta(x: Any, q: Any = None) -> Any:
    return riemann_zeta(as_array(x)) if q is None else zeta(as_array(x), as_array(q))


def _multigammaln(a: Any, d: Any) -> Any:
    a = cast_to(as_array(a), np.dtype(float))
    d = int(static(d, "the dimension of multigammaln must be known"))
    total = as_array(d * (d - 1) / 4 * math.log(math.pi))
    for k in range(d):
        total = total + gammaln(a - k / 2)
    return total


SPECIAL: dict[Any, Op] = {
    getattr(sc, op.name): op
    for op in tuple(globals().values())
    if isinstance(op, Op) and isinstance(getattr(sc, op.name, 0), np.ufunc)
}


def _as_in_numpy(ufunc: np.ufunc, op: Op) -> Any:
    """SciPy's function by NumPy's, in the dtype that SciPy computes in."""

    def run(x: Any, dtype: Any = None) -> Any:
        x = as_array(x)
        kinds = (x.type.dtype, None), (None, dtype and np.dtype(dtype))
        picked = ufunc.resolve_dtypes(kinds[0], signature=kinds[1], casting="same_kind")[0]
        return op(cast_to(x, picked))

    return run


RULES: dict[Any, Any] = {
    getattr(sc, f.__name__): _as_in_numpy(getattr(sc, f.__name__), UFUNCS[f])
    for f in (np.expm1, np.log1p, np.exp2, np.cbrt)
}
RULES |= {
    sc.logsumexp: _logsumexp,
    sc.softmax: _over_axis(softmax),
    sc.log_softmax: _over_axis(log_softmax),
    sc.polygamma: _polygamma,
    sc.zeta: _zeta,
    sc.multigammaln: _multigammaln,
}
