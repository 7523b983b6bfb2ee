"""Products, einsum, linear systems, factorisations and norms."""

import numpy as np
import scipy.linalg

from tests.transforms.ops.cases import case, definite, integers, normal, regular

#: A turn, whose eigenvalues are not real.
TURN = np.array([[0.3, -1.2, 0.1], [1.5, 0.2, 0.4], [0.2, 0.1, 2.0]])


def both(z):
    return np.stack([np.real(z), np.imag(z)])


def eigenvectors(a):
    return both(np.linalg.eig(a)[1])


def of_complex_one(function):
    """What a function makes of a matrix that is not real."""
    return lambda a: both(function(a + 0.3j * a.T))


#: Functions of a matrix that are real everywhere.
WHOLE = [
    *(scipy.linalg.expm, scipy.linalg.cosm, scipy.linalg.sinm, scipy.linalg.tanm),
    *(scipy.linalg.coshm, scipy.linalg.sinhm, scipy.linalg.tanhm),
]
#: Where the main diagonal of a matrix of four stands.
ROWS = np.array([[0.0], [1.0], [0.0], [0.0]])


def banded(beside):
    return lambda ab, b: scipy.linalg.solve_banded(beside, ab, b)


def positive(lower):
    """With a main diagonal that makes the matrix positive definite."""

    def solved(ab, b):
        rows = [9 + ab[:1], ab[1:]] if lower else [ab[1:], 9 + ab[:1]]
        return scipy.linalg.solveh_banded(np.concatenate(rows), b, lower=lower)

    return solved


def of_complex(solver, **options):
    """What a solver makes of a matrix that is not real."""
    return lambda a, b: both(solver(a + 1j * a.T, b, **options))


def of_hermitian(function, a):
    """What a function makes of a positive definite matrix that is not real."""
    z = a + 1j * LEFT
    return function(z @ z.conj().T + 2 * np.eye(3))


def of_rotated(function, a):
    """What a function makes of a matrix that is not real."""
    return function(a * (1 + 0.5j) + 1j * a[::-1] ** 2)


def outside_of_the_range(a):
    """Projections that all vectors of a matrix that is not square decide."""
    u, s, vt = np.linalg.svd(a)
    k = len(s)
    return u[:, k:] @ u[:, k:].T, s, vt[k:].T @ vt[k:]


def parts_of_svd(z, **options):
    """What does not depend on how pairs of singular vectors are turned."""
    u, s, vh = np.linalg.svd(z, full_matrices=False)
    return s, both(u[:, :1] @ vh[:1]), np.abs(u), np.abs(vh)


def parts_of_eigh(z, uplo="L"):
    w, v = np.linalg.eigh(z, uplo)
    return w, both(v[:, :1] @ v[:, :1].conj().T)


def both_each(made):
    return tuple(both(x) for x in made)


def hermitian(lower):
    """A solver by a given complex factor."""
    a = regular(3) + 1j * regular(3).T
    factor = scipy.linalg.cho_factor(a @ a.conj().T, lower=lower)
    return lambda b: both(scipy.linalg.cho_solve(factor, b))


def by_lu(a, b, trans):
    return scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b, trans=trans)


B, LEFT = normal(3, 2), np.triu(np.ones((3, 3)))

NEARLY_FLAT = np.array([[2.0, 0.3, 1.0], [1.0, 0.8, 0.1], [0.2, 0.1, 0.9]])

CASES = [
    case(lambda a: both(np.linalg.eigvals(a)), TURN, second=False, single=False),
    case(lambda a: both(np.linalg.eig(a)[0]), np.stack([TURN, TURN + 0.1]), single=False),
    case(eigenvectors, TURN, of=np.linalg.eig, second=False, single=False),
    case(lambda a: both(scipy.linalg.eig(a, right=False)), TURN, second=False, single=False),
    case(lambda a: np.abs(scipy.linalg.eig(a)[1]), TURN, second=False, single=False),
    case(lambda a: np.linalg.eigvals(a).astype(complex).real, regular(3), second=False),
    *(
        case(np.matmul, normal(*a), normal(*b))
        for a, b in (
            ((2, 3), (3, 4)),
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 2)),
            ((2, 3, 4), (2, 4, 2)),
            ((2, 3, 4), (4, 2)),
            ((3, 4), (2, 4, 2)),
            ((2, 3, 4), (4,)),
            ((4,), (2, 4, 3)),
            ((1, 3), (3, 1)),
            ((2, 0), (0, 3)),
        )
    ),
    case(lambda a, b: a @ b @ b, normal(2, 3), normal(3, 3)),
    case(np.matmul, integers(2, 3), integers(3)),
    *(
        case(np.dot, normal(*a), normal(*b))
        for a, b in (((3,), (3,)), ((2, 3), (3,)), ((2, 3), (3, 2)), ((2, 3), (2, 3, 2)))
    ),
    case(np.dot, 0.7, normal(3)),
    case(lambda a, b: a.dot(b), normal(2, 3), normal(3)),
    case(np.inner, normal(3), normal(3)),
    case(np.inner, normal(2, 3), normal(4, 3)),
    case(np.inner, normal(2, 3), normal(2, 2, 3)),
    case(np.outer, normal(2), normal(3)),
    case(np.linalg.outer, normal(2), normal(3)),
    case(np.vdot, normal(2, 3), normal(2, 3)),
    case(np.vecdot, normal(2, 3), normal(3)),
    case(np.linalg.vecdot, normal(2, 3), normal(2, 3)),
    case(np.matvec, normal(2, 3), normal(3)),
    case(np.vecmat, normal(2), normal(2, 3)),
    case(np.linalg.matmul, normal(2, 3), normal(3, 2)),
    case(np.tensordot, normal(2, 3, 4), normal(3, 4, 2)),
    case(np.tensordot, normal(2, 3), normal(2, 3), axes=([0], [0])),
    case(np.tensordot, normal(2), normal(3), axes=0),
    case(np.linalg.tensordot, normal(2, 3), normal(3, 2), axes=1),
    case(np.kron, normal(2, 2), normal(1, 3)),
    case(np.kron, normal(2), normal(3)),
    case(np.cross, normal(3), normal(3)),
    case(np.cross, normal(2, 3), normal(3)),
    case(np.linalg.cross, normal(2, 3), normal(2, 3)),
    case(np.linalg.multi_dot, [normal(2, 3), normal(3, 2), normal(2)]),
    case(np.trapezoid, normal(4)),
    *(
        case(lambda *args, s=s: np.einsum(s, *args), *(normal(*shape) for shape in shapes))
        for s, shapes in {
            "ij,jk->ik": ((2, 3), (3, 2)),
            "ij,jk": ((2, 3), (3, 2)),
            "ij->ji": ((2, 3),),
            "ii->i": ((3, 3),),
            "ii": ((3, 3),),
            "ij->": ((2, 3),),
            "i,i->i": ((3,), (3,)),
            "i,j->ij": ((2,), (3,)),
            "bij,bjk->bik": ((2, 2, 3), (2, 3, 2)),
            "...ij,...j->...i": ((2, 2, 3), (2, 3)),
            "ij,jk,kl->il": ((2, 3), (3, 2), (2, 2)),
            "ij,kj->i": ((2, 3), (2, 3)),
        }.items()
    ),
    case(np.linalg.solve, regular(3), normal(3)),
    case(np.linalg.solve, regular(3), normal(3, 2)),
    case(np.linalg.solve, regular(2, 2), normal(2, 2, 1)),
    case(np.linalg.inv, regular(3)),
    case(np.linalg.inv, regular(2, 2)),
    case(np.linalg.det, regular(3)),
    case(np.linalg.det, regular(2, 2)),
    case(
        np.linalg.det, np.array([[1.0, 2.0, 0.5], [2.0, 4.0, 1.0], [0.3, 0.1, 2.0]]), second=False
    ),
    case(np.linalg.slogdet, regular(3)),
    case(lambda a: np.linalg.slogdet(a).logabsdet, regular(3)),
    case(np.linalg.cholesky, definite(3)),
    case(np.linalg.cholesky, definite(2, 2)),
    case(lambda a: np.linalg.cholesky(a @ a.T + np.eye(3)), normal(3, 3)),
    case(np.linalg.cholesky, definite(3), upper=True),
    case(np.linalg.eigh, definite(3)),
    case(np.linalg.eigvalsh, definite(3)),
    case(np.linalg.eigvalsh, definite(3), UPLO="U"),
    case(lambda a: np.linalg.svd(a, full_matrices=False), normal(4, 2), second=False),
    case(lambda a: np.linalg.svd(a, full_matrices=False), normal(2, 4), second=False),
    case(lambda a: np.linalg.svd(a)[1], regular(3)),
    case(outside_of_the_range, normal(4, 2), second=False),
    case(outside_of_the_range, normal(2, 4), second=False),
    case(lambda a: np.linalg.svd(a, compute_uv=False), normal(3, 2)),
    case(np.linalg.svdvals, normal(3, 2)),
    case(
        lambda a: of_hermitian(lambda z: both(np.linalg.cholesky(z)), a), regular(3), single=False
    ),
    case(
        lambda a: of_hermitian(lambda z: both(np.linalg.cholesky(z, upper=True)), a),
        regular(3),
        single=False,
    ),
    case(lambda a: of_hermitian(parts_of_eigh, a), regular(3), of=np.linalg.eigh, single=False),
    case(
        lambda a: of_hermitian(lambda z: parts_of_eigh(z, "U"), a),
        regular(3),
        of=np.linalg.eigh,
        single=False,
    ),
    *(
        case(lambda a: of_rotated(parts_of_svd, a), x, of=np.linalg.svd, second=False, single=False)
        for x in (regular(3), normal(4, 2), normal(2, 4))
    ),
    *(
        case(lambda a: of_rotated(lambda z: both_each(np.linalg.qr(z)), a), x, second=False)
        for x in (regular(3), normal(4, 2))
    ),
    case(lambda a: of_rotated(lambda z: both_each(np.linalg.slogdet(z)), a), regular(3)),
    *(
        case(lambda a: of_rotated(lambda z: both(np.linalg.pinv(z)), a), x, second=False)
        for x in (normal(3, 2), normal(2, 3))
    ),
    *(
        case(
            lambda a: of_rotated(lambda z: both(np.linalg.lstsq(z, z[:, 0] ** 2)[0]), a),
            x,
            second=False,
        )
        for x in (normal(4, 2), normal(2, 4))
    ),
    case(lambda a: of_rotated(lambda z: np.linalg.lstsq(z, z[:, 0] ** 2)[1], a), normal(4, 2)),
    case(np.linalg.qr, regular(3)),
    case(np.linalg.qr, normal(4, 2)),
    case(np.linalg.qr, normal(4, 2), mode="r"),
    *(case(np.linalg.qr, normal(*n), mode="complete") for n in [(3, 3), (3, 2), (2, 3), (1, 2)]),
    case(lambda a: of_rotated(lambda z: both_each(np.linalg.qr(z, "complete")), a), normal(3, 2)),
    case(lambda a, b: np.linalg.lstsq(a, b, 0.4)[0], NEARLY_FLAT, normal(3)),
    case(lambda a, b: np.linalg.lstsq(a, b, 1e-9)[0], NEARLY_FLAT, normal(3, 2)),
    case(lambda a, b: np.linalg.lstsq(a, b, rcond=-1)[1:3], normal(4, 2), normal(4)),
    case(lambda a: np.linalg.pinv(a, 0.4), NEARLY_FLAT),
    case(lambda a: np.linalg.pinv(np.stack([a, a.T]), rtol=0.4), NEARLY_FLAT, second=False),
    case(lambda a: np.linalg.matrix_rank(a, 0.4), NEARLY_FLAT),
    case(lambda a: np.linalg.matrix_rank(a, rtol=0.4), NEARLY_FLAT),
    case(np.linalg.pinv, normal(3, 2)),
    case(np.linalg.pinv, normal(2, 3)),
    case(lambda a, b: np.linalg.lstsq(a, b)[0], normal(2, 4), normal(2)),
    case(np.linalg.lstsq, normal(4, 2), normal(4, 3)),
    case(lambda a, b: np.linalg.lstsq(a, b)[0], normal(4, 2), normal(4)),
    case(np.linalg.matrix_rank, regular(3)),
    case(np.linalg.tensorinv, regular(4).reshape(4, 2, 2), ind=1),
    case(np.linalg.tensorsolve, regular(4).reshape(2, 2, 4), normal(2, 2)),
    *(case(np.linalg.matrix_power, regular(2), n=n) for n in (0, 1, 3, -2)),
    case(np.linalg.cond, regular(3)),
    case(np.linalg.cond, regular(2), p=1),
    case(np.linalg.norm, normal(3)),
    case(np.linalg.norm, normal(2, 3)),
    case(np.linalg.norm, normal(2, 3), axis=1),
    case(np.linalg.norm, normal(2, 3), axis=0, keepdims=True),
    *(case(np.linalg.norm, normal(4), ord=p) for p in (1, 2, 3, np.inf, -np.inf, 0, 0.5)),
    *(case(np.linalg.norm, regular(3), ord=p) for p in ("fro", "nuc", 1, -1, 2, -2, np.inf)),
    case(np.linalg.norm, normal(2, 3, 3), axis=(1, 2)),
    case(np.linalg.vector_norm, normal(2, 3)),
    case(np.linalg.vector_norm, normal(2, 3), axis=1, ord=3),
    case(np.linalg.matrix_norm, regular(2)),
    case(np.linalg.matrix_norm, regular(2, 2), ord="nuc"),
    case(np.linalg.matrix_norm, regular(2, 2), ord=1),
    case(scipy.linalg.solve, regular(3), normal(3)),
    case(scipy.linalg.inv, regular(3)),
    case(scipy.linalg.lu, TURN, single=False),
    case(scipy.linalg.lu, TURN[::-1].copy(), permute_l=True, single=False),
    case(lambda a: scipy.linalg.lu_factor(a)[0], TURN[::-1].copy(), second=False),
    case(  # without a derivative
        lambda a: a * np.trace(scipy.linalg.schur(np.round(3 * a))[0]),
        TURN[::-1].copy(),
        of=scipy.linalg.schur,
    ),
    *(
        case(
            lambda a, b, t=t: scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b, trans=t),
            TURN[::-1].copy(),
            normal(3),
            single=False,
        )
        for t in (0, 1)
    ),
    case(scipy.linalg.qr, regular(3), single=False),
    *(case(scipy.linalg.qr, normal(*n), single=False) for n in [(4, 2), (2, 3)]),
    case(scipy.linalg.qr, normal(4, 2), mode="economic", single=False),
    case(lambda a: scipy.linalg.qr(a, mode="r")[0], regular(3), single=False),
    case(lambda a: scipy.linalg.qr(a, mode="r")[0], normal(3, 2), single=False),
    case(scipy.linalg.svd, normal(3, 2), full_matrices=False, single=False),
    case(scipy.linalg.svd, regular(3), compute_uv=False, single=False),
    case(lambda a: scipy.linalg.eigh(a + a.T, eigvals_only=True), regular(3), single=False),
    case(lambda a: scipy.linalg.eigh(a, lower=False)[0], definite(3), single=False),
    case(lambda a: both(scipy.linalg.eigvals(a)), TURN, second=False, single=False),
    case(scipy.linalg.polar, regular(3), single=False),
    case(scipy.linalg.polar, normal(3, 2), side="left", single=False),
    case(scipy.linalg.toeplitz, normal(3)),
    case(scipy.linalg.toeplitz, normal(3), normal(4)),
    case(scipy.linalg.hankel, normal(3), normal(4)),
    case(scipy.linalg.hankel, normal(3)),
    case(scipy.linalg.circulant, normal(4)),
    case(scipy.linalg.det, regular(3)),
    case(scipy.linalg.cholesky, definite(3)),
    case(scipy.linalg.cholesky, definite(3), lower=True),
    *(
        case(scipy.linalg.solve_triangular, regular(3), normal(3), lower=lower, trans=trans)
        for lower in (True, False)
        for trans in (0, 1)
    ),
    case(scipy.linalg.solve_triangular, regular(3), normal(3, 2), unit_diagonal=True),
    *(
        case(of_complex(scipy.linalg.solve_triangular, lower=lower, trans=trans), regular(3), B)
        for lower, trans in ((True, 1), (True, "C"), (False, 2))
    ),
    *(case(hermitian(lower), B, second=False) for lower in (True, False)),
    case(of_complex(by_lu, trans=2), regular(3), B, second=False),
    case(lambda a: both(scipy.linalg.det(a + 1j * a.T)), regular(3), single=False),
    *(
        case(lambda a, side=side: both(scipy.linalg.polar(a + 1j * LEFT, side)[1]), integers(3, 3))
        for side in ("left", "right")
    ),
    case(
        lambda a, b: scipy.linalg.cho_solve(scipy.linalg.cho_factor(a), b), definite(3), normal(3)
    ),
    case(
        lambda a, b: scipy.linalg.cho_solve((scipy.linalg.cholesky(a, lower=True), True), b),
        definite(3),
        normal(3, 2),
    ),
    case(scipy.linalg.norm, normal(3)),
    case(lambda a, b: scipy.linalg.block_diag(a, b), normal(2, 2), normal(1, 3)),
    *(case(f, 0.5 * normal(2, 2)) for f in WHOLE),
    case(scipy.linalg.sqrtm, definite(3), single=False),
    case(scipy.linalg.logm, definite(3), single=False),
    case(scipy.linalg.fractional_matrix_power, definite(3), t=0.3, single=False),
    case(of_complex_one(scipy.linalg.sqrtm), definite(3), single=False),
    *(case(banded((2, 1)), 4 * ROWS + normal(4, 5), x) for x in (normal(5), normal(5, 2))),
    *(case(positive(lower), normal(2, 5), normal(5)) for lower in (True, False)),
    case(positive(True), normal(2, 5), normal(5, 2), of=scipy.linalg.solveh_banded),
    *(case(f, definite(3)) for f in (scipy.linalg.eigvalsh,)),
    *(case(f, normal(3, 2)) for f in (scipy.linalg.pinv, scipy.linalg.svdvals)),
    case(lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [2, 0]), normal(2, 3), normal(3, 2)),
    case(lambda a, b: np.einsum(a, [..., 1], b, [1]), normal(2, 3), normal(3)),
    *(case(np.linalg.norm, normal(2, 3), ord=p) for p in (1, -1, np.inf, -np.inf)),
]
