"""Linear systems, factorisations and norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import current, join, static
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.core.op import Op
from tapeless.transforms.errors import NotDifferentiableError, UnsupportedError
from tapeless.transforms.ops.batching import Axes, Batched, reducing
from tapeless.transforms.ops.elementwise import (
    absolute,
    add,
    conjugate,
    equal,
    mul,
    neg,
    nonzero,
    not_equal,
    power,
    real,
    select,
    sub,
    truediv,
)
from tapeless.transforms.ops.fresh import eye, tri
from tapeless.transforms.ops.joining import as_array, axes_of
from tapeless.transforms.ops.linalg import matmul
from tapeless.transforms.ops.parts import index
from tapeless.transforms.ops.rearranging import diagonal, least, tril
from tapeless.transforms.ops.reductions import amax, amin
from tapeless.transforms.ops.shapes import (
    Atoms,
    Params,
    axes_text,
    cast,
    cast_to,
    column,
    flat,
    front,
    kept,
    lifted,
    move,
    reduced,
    reshape,
    row,
    stacked,
    sum,
    sum_to,
    swap,
)


def _dtype(*args: Atom) -> Any:
    return np.result_type(
        np.float32, *(np.float64 if a.type.dtype.kind in "iub" else a.type.dtype for a in args)
    )


def _square(x: Atom) -> tuple[Size, ...]:
    if x.type.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{x.type.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    join(x.type.shape[-1], x.type.shape[-2])
    return x.type.shape  # type: ignore[no-any-return]


def _identity(x: Atom) -> Any:
    n = x.type.shape[-1]
    return eye(sides=(n, n), k=0, dtype=x.type.dtype)


def _total(x: Atom) -> Any:
    """The sum over both axes of each matrix."""
    return sum(x, axes=(x.type.ndim - 2, x.type.ndim - 1), keepdims=False)


def _real_only(name: str, x: Atom) -> None:
    if x.type.dtype.kind == "c":
        raise NotDifferentiableError(
            f"np.linalg.{name} of complex matrices has no derivative here",
            "give its derivative with custom_vjp",
        )


# -- solve, inv, det


def _solve_infer(a: Atom, b: Atom) -> Type:
    join(_square(a)[-1], b.type.shape[-2 if b.type.ndim > 1 else 0])
    return Type(_dtype(a, b), matmul.infer(a, b).shape)


def _solve_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    a_dot, b_dot = tangents
    if a_dot is not None:
        moved = matmul(a_dot, outs[0])
        b_dot = neg(moved) if b_dot is None else sub(b_dot, moved)
    return (None if b_dot is None else solve(primals[0], b_dot),)


def _solve_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    return (None, sum_to(solve(swap(args[0]), ct), args[1].type))


def _solve_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    """One factorisation for all right-hand sides that share a matrix."""
    (a, b), (i, j) = args, axes
    m, n = a.type.ndim - (i is not None), b.type.ndim - (j is not None)
    if i is None and m == 2:
        b = move(b, (j,), (1,))
        size, inner = b.type.shape[1], b.type.shape[2:]
        made = op(a, reshape(b, shape=(b.type.shape[0], size * dims.product(inner))))
        return reshape(made, shape=(made.type.shape[0], size, *inner)), 1
    a, b = front(a, i), front(b, j)
    b = column(b) if n == 1 else b
    ndim = max(m, n)
    made = op(lifted(a, None if i is None else 0, ndim), lifted(b, None if j is None else 0, ndim))
    return reshape(made, shape=made.type.shape[:-1]) if n == 1 else made, 0


solve = Op(
    "solve",
    _solve_infer,
    "np.linalg.solve({0}, {1})",
    _solve_jvp,
    _solve_transpose,
    costly=True,
    batch=_solve_batch,
)


def _solve(a: Any, b: Any) -> Any:
    a, b = as_array(a), as_array(b)
    if b.type.ndim == 1 and a.type.ndim > 2:  # a vector for each matrix
        made = solve(a, column(b))
        return reshape(made, shape=made.type.shape[:-1])
    return solve(a, b)


def _inv_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    return (neg(matmul(matmul(outs[0], tangents[0]), outs[0])),)


inv = Op(
    "inv",
    lambda a: Type(_dtype(a), _square(a)),
    "np.linalg.inv({0})",
    _inv_jvp,
    costly=True,
    batch=stacked,
)

ADJUGATE = '''
def adjugate(a):
    """The transposed cofactors of a matrix, which need not have an inverse."""
    u, s, vh = np.linalg.svd(a)
    others = np.prod(np.where(np.eye(s.shape[-1], dtype=bool), 1.0, s[..., np.newaxis, :]), axis=-1)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    left, right = np.swapaxes(vh.conj(), -1, -2), np.swapaxes(u.conj(), -1, -2)
    return sign[..., np.newaxis, np.newaxis] * (left * others[..., np.newaxis, :]) @ right
'''


def _adjugate_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """tr(A^-1 dA) adj A - A^-1 dA adj A, for a matrix that has an inverse."""
    if tangents[0] is None:
        return (None,)
    moved = matmul(inv(primals[0]), tangents[0])
    trace = sum(diagonal(moved, k=0), axes=(moved.type.ndim - 2,), keepdims=False)
    return (sub(mul(column(column(trace)), outs[0]), matmul(moved, outs[0])),)


adjugate = Op(
    "adjugate",
    lambda a: Type(_dtype(a), _square(a)),
    lambda args, params: ("adjugate({0})", ADJUGATE),
    _adjugate_jvp,
    costly=True,
    batch=stacked,
)


def _det_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    return (_total(mul(tangents[0], swap(adjugate(primals[0])))),)


det = Op(
    "det",
    lambda a: Type(_dtype(a), _square(a)[:-2]),
    "np.linalg.det({0})",
    _det_jvp,
    costly=True,
    batch=stacked,
)


def _slogdet_infer(a: Atom) -> tuple[Type, Type]:
    shape, dtype = _square(a)[:-2], _dtype(a)
    return Type(dtype, shape), Type(np.zeros((), dtype).real.dtype, shape)


def _slogdet_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None, None)
    _real_only("slogdet", primals[0])
    return (None, _total(mul(tangents[0], swap(inv(primals[0])))))


slogdet = Op(
    "slogdet", _slogdet_infer, "np.linalg.slogdet({0})", _slogdet_jvp, costly=True, batch=stacked
)


# -- factorisations


def _half(x: Atom) -> Any:
    """The lower triangle, with half of the diagonal."""
    n = x.type.shape[-1]
    return mul(x, sub(tri(sides=(n, n), k=0, dtype=x.type.dtype), 0.5 * _identity(x)))


def _mirrored(x: Atom) -> Any:
    """The symmetric matrix with the lower triangle of x, all that NumPy reads of it."""
    return add(tril(x, k=0), swap(tril(x, k=-1)))


def _cholesky_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    _real_only("cholesky", primals[0])
    (low,), moved = outs, _mirrored(tangents[0])
    return (matmul(low, _half(solve(low, swap(solve(low, moved))))),)


cholesky = Op(
    "cholesky",
    lambda a: Type(_dtype(a), _square(a)),
    "np.linalg.cholesky({0})",
    _cholesky_jvp,
    costly=True,
    batch=stacked,
)


def _gaps(w: Atom) -> Any:
    """1 / (w_j - w_i), and 0 where they are equal."""
    gaps = sub(row(w), column(w))
    return select(equal(gaps, 0), 0.0, truediv(1.0, nonzero(gaps)))


def _eigh_infer(a: Atom) -> tuple[Type, Type]:
    shape, dtype = _square(a), _dtype(a)
    return Type(np.zeros((), dtype).real.dtype, shape[:-1]), Type(dtype, shape)


def _eigh_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None, None)
    _real_only("eigh", primals[0])
    w, v = outs
    moved = matmul(matmul(swap(v), _mirrored(tangents[0])), v)
    return (diagonal(moved, k=0), matmul(v, mul(_gaps(w), moved)))


eigh = Op("eigh", _eigh_infer, "np.linalg.eigh({0})", _eigh_jvp, costly=True, batch=stacked)


def _svd_infer(a: Atom, *, k: Size) -> tuple[Type, ...]:
    *lead, n, m = a.type.shape
    dtype = _dtype(a)
    values = Type(np.zeros((), dtype).real.dtype, (*lead, k))
    return Type(dtype, (*lead, n, k)), values, Type(dtype, (*lead, k, m))


def _svd_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None, None, None)
    _real_only("svd", primals[0])
    (u, s, vt), a_dot, k = outs, tangents[0], params["k"]
    left, right = matmul(swap(u), a_dot), matmul(a_dot, swap(vt))
    core = matmul(left, swap(vt))
    wide = mul(core, row(s))
    gaps = _gaps(mul(s, s))
    skew_u = mul(gaps, add(wide, swap(wide)))
    wide = mul(column(s), core)
    skew_v = mul(gaps, add(wide, swap(wide)))
    u_dot, v_dot = matmul(u, skew_u), matmul(swap(vt), skew_v)
    n, m = primals[0].type.shape[-2:]
    if n != k:
        u_dot = add(u_dot, mul(sub(right, matmul(u, core)), row(truediv(1.0, nonzero(s)))))
    if m != k:
        outside = sub(swap(left), matmul(swap(vt), swap(core)))
        v_dot = add(v_dot, mul(outside, row(truediv(1.0, nonzero(s)))))
    return (u_dot, diagonal(core, k=0), swap(v_dot))


svd = Op(
    "svd",
    _svd_infer,
    "np.linalg.svd({0}, full_matrices=False)",
    _svd_jvp,
    costly=True,
    batch=stacked,
)


def _qr_infer(a: Atom, *, k: Size) -> tuple[Type, Type]:
    *lead, n, m = a.type.shape
    return Type(_dtype(a), (*lead, n, k)), Type(_dtype(a), (*lead, k, m))


def _qr_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None, None)
    _real_only("qr", primals[0])
    if params["k"] != primals[0].type.shape[-1]:
        raise NotDifferentiableError(
            "np.linalg.qr of a matrix with more columns than rows has no derivative here",
            "factorise its transpose",
        )
    q, r = outs
    scaled = swap(solve(swap(r), swap(tangents[0])))  # a_dot r^-1
    inside = matmul(swap(q), scaled)
    below = tril(inside, k=-1)
    turn = sub(below, swap(below))
    return (add(matmul(q, sub(turn, inside)), scaled), matmul(sub(inside, turn), r))


qr = Op("qr", _qr_infer, "np.linalg.qr({0})", _qr_jvp, costly=True, batch=stacked)


def _pinv_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """Golub and Pereyra 1973, for a matrix whose rank does not change."""
    (a,), (a_dot,), (p,) = primals, tangents, outs
    if a_dot is None:
        return (None,)
    _real_only("pinv", a)
    n, m = a.type.shape[-2:]
    turned = swap(a_dot)
    left = sub(eye(sides=(n, n), k=0, dtype=p.type.dtype), matmul(a, p))
    right = sub(eye(sides=(m, m), k=0, dtype=p.type.dtype), matmul(p, a))
    made = neg(matmul(matmul(p, a_dot), p))
    made = add(made, matmul(matmul(matmul(p, swap(p)), turned), left))
    return (add(made, matmul(matmul(right, turned), matmul(swap(p), p))),)


def _pinv_infer(a: Atom) -> Type:
    *lead, n, m = a.type.shape
    return Type(_dtype(a), (*lead, m, n))


pinv = Op("pinv", _pinv_infer, "np.linalg.pinv({0})", _pinv_jvp, costly=True, batch=stacked)


# -- least squares


def _least_squares_infer(a: Atom, b: Atom, *, tall: bool) -> Type:
    join(a.type.shape[-2], b.type.shape[0])
    return Type(_dtype(a, b), (a.type.shape[1], *b.type.shape[1:]))


def _least_squares_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """p (b_dot - a_dot x) + p p^T a_dot^T (b - a x) for p = pinv(a), a of full column rank; for
    more unknowns than equations there is (1 - p a) a_dot^T p^T x instead."""
    (a, b), (a_dot, b_dot), (x,) = primals, tangents, outs
    if a_dot is None and b_dot is None:
        return (None,)
    p, total = pinv(a), b_dot
    if a_dot is None:
        return (matmul(p, total),)
    moved = matmul(a_dot, x)
    made = matmul(p, neg(moved) if total is None else sub(total, moved))
    if params["tall"]:
        pulled = matmul(swap(a_dot), sub(b, matmul(a, x)))
        return (add(made, matmul(p, matmul(swap(p), pulled))),)
    pulled = matmul(swap(a_dot), matmul(swap(p), x))
    return (add(made, sub(pulled, matmul(p, matmul(a, pulled)))),)


least_squares = Op(
    "least_squares",
    _least_squares_infer,
    "np.linalg.lstsq({0}, {1})[0]",
    _least_squares_jvp,
    costly=True,
)
matrix_rank = Op(
    "matrix_rank",
    lambda a: Type(np.dtype(np.intp), a.type.shape[:-2]),
    "np.linalg.matrix_rank({0})",
    costly=True,
    batch=stacked,
)


# -- norms


def _norm_infer(x: Atom, *, axes: tuple[int, ...], keepdims: bool) -> Type:
    return Type(np.zeros((), _dtype(x)).real.dtype, reduced(x.type.shape, axes, keepdims))


def _norm_source(args: Atoms, params: Params) -> str:
    keep = ", keepdims=True" if params["keepdims"] else ""
    return f"np.linalg.norm({{0}}{axes_text(params['axes'], args[0].type.ndim)}{keep})"


def _norm_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    """x.x_dot / |x|: 0 at 0."""
    if tangents[0] is None:
        return (None,)
    (x,), axes = primals, params["axes"]
    unit = truediv(x, kept(nonzero(outs[0]), x.type, axes))
    product = mul(tangents[0], unit)
    if x.type.dtype.kind == "c":
        product = real(mul(tangents[0], conjugate(unit)))
    return (cast_to(sum(product, axes=axes, keepdims=params["keepdims"]), outs[0].type.dtype),)


def _norm_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    """NumPy takes norms over one or two axes; over all others they are one."""
    over = params["axes"]
    if len(over) <= 2:
        return reducing(op, args, axes, params)  # type: ignore[return-value]
    x = front(args[0], axes[0])
    size, *inner = x.type.shape
    made = op(reshape(x, shape=(size, dims.product(inner))), axes=(1,), keepdims=False)
    return reshape(made, shape=(size, *(1,) * len(inner))) if params["keepdims"] else made, 0


norm = Op("norm", _norm_infer, _norm_source, _norm_jvp, costly=True, batch=_norm_batch)


# The NumPy functions ---------------------------------------------------------------------------


def _floats(x: Any) -> Any:
    x = as_array(x)
    return x if x.type.dtype.kind in "fc" else cast(x, dtype=np.dtype(float))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    x = _floats(x)
    if axis is None and ord is not None and x.type.ndim > 2:
        raise ValueError("Improper number of dimensions to norm.")
    axes = axes_of(axis, x.type.ndim)
    if ord is None or (ord == 2 and len(axes) == 1) or (ord in ("fro", "f") and len(axes) == 2):
        return norm(x, axes=axes, keepdims=bool(keepdims))
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, bool(keepdims))
    return _matrix_norm(x, ord, axes, bool(keepdims))


def _vector_norm(x: Atom, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    size = absolute(x)
    if ord == np.inf:
        return amax(size, axes=axes, keepdims=keepdims)
    if ord == -np.inf:
        return amin(size, axes=axes, keepdims=keepdims)
    if ord == 0:
        return sum(cast_to(not_equal(x, 0), size.type.dtype), axes=axes, keepdims=keepdims)
    if ord == 1:
        return sum(size, axes=axes, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    p = float(static(ord, "the order of a norm must be known"))
    total = sum(power(size, p), axes=axes, keepdims=keepdims)
    flat_at = equal(total, 0)
    return select(flat_at, total, power(select(flat_at, 1.0, total), 1 / p))


def _matrix_norm(x: Atom, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    rows, columns = axes
    if ord in (1, -1, np.inf, -np.inf):
        along, over = (rows, columns) if ord in (1, -1) else (columns, rows)
        sums = sum(absolute(x), axes=(along,), keepdims=True)
        extremum = amax if ord in (1, np.inf) else amin
        made = extremum(sums, axes=(over,), keepdims=True)
    elif ord in (2, -2, "nuc"):
        from_last = (x.type.ndim - 2, x.type.ndim - 1)
        values = _singular_values(move(x, axes, from_last))
        op = {2: amax, -2: amin, "nuc": sum}[ord]
        made = op(values, axes=(values.type.ndim - 1,), keepdims=False)
        made = reshape(made, shape=reduced(x.type.shape, axes, True))
    else:
        raise ValueError("Invalid norm order for matrices.")
    return made if keepdims else reshape(made, shape=reduced(x.type.shape, axes, False))


def _reduced_svd(a: Any) -> Any:
    return svd(a, k=least(*a.type.shape[-2:]))


def _singular_values(a: Any) -> Any:
    return _reduced_svd(as_array(a))[1]


def _svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    a = as_array(a)
    if not compute_uv:
        return _singular_values(a)
    n, m = a.type.shape[-2:]
    if full_matrices and not current().same_size(n, m):
        raise UnsupportedError(
            "np.linalg.svd with full_matrices=True of a matrix that is not square",
            "pass full_matrices=False",
        )
    return type(np.linalg.svd(np.eye(1)))(*_reduced_svd(a))


def _qr(a: Any, mode: str = "reduced") -> Any:
    a = as_array(a)
    made = qr(a, k=least(*a.type.shape[:-3:-1]))
    if mode == "r":
        return made[1]
    if mode != "reduced":
        raise UnsupportedError(f"np.linalg.qr with mode={mode!r}", "use mode='reduced' or 'r'")
    return type(np.linalg.qr(np.eye(1)))(*made)


def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    if rcond is not None:
        raise UnsupportedError("np.linalg.lstsq with rcond=", "leave rcond out")
    a, b = as_array(a), as_array(b)
    n, m = a.type.shape
    tall = current().clamp(m, n) == m
    x = least_squares(a, b, tall=tall)
    left = sub(b, matmul(a, x))
    squares = sum(mul(left, left), axes=(0,), keepdims=True)
    residuals = reshape(squares, shape=(b.type.shape[1] if b.type.ndim > 1 else 1,))
    return x, residuals, cast_to(matrix_rank(a), np.dtype(np.int32)), _singular_values(a)


def _matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:  # noqa: N803 (NumPy's)
    if tol is not None or rtol is not None or hermitian:
        raise UnsupportedError("np.linalg.matrix_rank with options", "count the singular values")
    return matrix_rank(as_array(A))


def _tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    if axes is not None:
        raise UnsupportedError("np.linalg.tensorsolve with axes=", "transpose the array first")
    a, b = as_array(a), as_array(b)
    unknown = a.type.shape[b.type.ndim :]
    n = dims.product(b.type.shape)
    made = solve(reshape(a, shape=(n, dims.product(unknown))), flat(b))
    return reshape(made, shape=unknown)


def _tensorinv(a: Any, ind: int = 2) -> Any:
    a = as_array(a)
    shape = a.type.shape
    n = dims.product(shape[ind:])
    made = inv(reshape(a, shape=(dims.product(shape[:ind]), n)))
    return reshape(made, shape=(*shape[ind:], *shape[:ind]))


def _slogdet(a: Any) -> Any:
    return type(np.linalg.slogdet(np.eye(1)))(*slogdet(as_array(a)))


def _lower(a: Any, uplo: str) -> Any:
    a = as_array(a)
    return a if uplo.upper() == "L" else swap(a)


def _eigh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803 (NumPy's)
    return type(np.linalg.eigh(np.eye(1)))(*eigh(_lower(a, UPLO)))


def _cholesky(a: Any, /, *, upper: bool = False) -> Any:
    a = as_array(a)
    return swap(cholesky(swap(a))) if upper else cholesky(a)


def _matrix_power(a: Any, n: Any) -> Any:
    a, n = as_array(a), int(static(n, "the exponent must be known"))
    _square(a)
    if n == 0:
        return add(mul(a, 0), _identity(a))
    if n < 0:
        a, n = inv(a), -n
    done, square = None, a
    while True:
        if n % 2:
            done = square if done is None else matmul(done, square)
        n //= 2
        if not n:
            return done
        square = matmul(square, square)


def _cond(x: Any, p: Any = None) -> Any:
    x = as_array(x)
    if p in (None, 2):
        values = _singular_values(x)
        lead = (slice(None),) * (values.type.ndim - 1)
        return index(values, key=(*lead, 0)) / index(values, key=(*lead, -1))
    axes = (x.type.ndim - 2, x.type.ndim - 1)
    return _norm(x, p, axes) * _norm(inv(x), p, axes)


def _vector_norm_api(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    x = _floats(x)
    if axis is None and x.type.ndim != 1:
        made = _norm(flat(x), ord)
        return reshape(made, shape=(1,) * x.type.ndim) if keepdims else made
    if isinstance(axis, (tuple, list)) and len(axis) > 1 and ord == 2:
        return norm(x, axes=axes_of(axis, x.type.ndim), keepdims=bool(keepdims))
    return _norm(x, ord, axis, keepdims)


def _matrix_norm_api(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Any:
    return _norm(x, ord, (-2, -1), keepdims)


NUMPY: dict[Any, Any] = {
    np.linalg.norm: _norm,
    np.linalg.solve: _solve,
    np.linalg.inv: lambda a: inv(as_array(a)),
    np.linalg.lstsq: _lstsq,
    np.linalg.matrix_rank: _matrix_rank,
    np.linalg.tensorsolve: _tensorsolve,
    np.linalg.tensorinv: _tensorinv,
    np.linalg.det: lambda a: det(as_array(a)),
    np.linalg.slogdet: _slogdet,
    np.linalg.cholesky: _cholesky,
    np.linalg.eigh: _eigh,
    np.linalg.eigvalsh: lambda a, UPLO="L": eigh(_lower(a, UPLO))[0],  # noqa: N803 (NumPy's)
    np.linalg.svd: _svd,
    np.linalg.svdvals: _singular_values,
    np.linalg.qr: _qr,
    np.linalg.pinv: lambda a: pinv(as_array(a)),
    np.linalg.matrix_power: _matrix_power,
    np.linalg.cond: _cond,
    np.linalg.vector_norm: _vector_norm_api,
    np.linalg.matrix_norm: _matrix_norm_api,
}
