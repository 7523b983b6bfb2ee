"""Special functions of scipy: distribution functions, relatives of Bessel's functions."""

import numpy as np
import scipy.special as sc

from tests.transforms.ops.cases import case, normal, positive, uniform

PRIVATE = sc._ufuncs
P = uniform(0.2, 0.8, 3)


def by_last(name, *parameters, at=None, second=True):
    """A function by its last argument: the others are parameters without a derivative."""
    f = getattr(PRIVATE, name)
    x = positive(3) if at is None else at
    return case(lambda x: f(*parameters, x), x, of=f, single=False, second=second)


def by_first(name, *parameters, at=None, second=True):
    """A function by its first argument."""
    f = getattr(PRIVATE, name)
    x = positive(3) if at is None else at
    return case(lambda x: f(x, *parameters), x, of=f, single=False, second=second)


def without(name, *args):
    """A function of SciPy's distributions that has no derivative in any argument here."""
    f = getattr(PRIVATE, name)
    return case(lambda k: f(*args) + 0 * k, np.array([1, 2]), of=f)


CASES = [
    case(sc.chdtri, positive(3) + 1, P, second=False, single=False),
    *(
        case(f, positive(3), positive(3), positive(3), second=False, single=False)
        for f in (sc.fdtr, sc.fdtrc, sc.gdtr, sc.gdtrc)
    ),
    case(sc.fdtri, positive(3) + 2, positive(3) + 2, P, second=False, single=False),
    case(sc.gdtrix, positive(3), positive(3), P, second=False, single=False),
    by_last("pdtri", 2, at=P),
    *(without(name, 2, 0.4, 3) for name in ("bdtrik", "nbdtrik")),
    without("pdtrik", 0.4, 3),
    case(lambda p: sc.bdtr(2, 5, p), P, of=sc.bdtr, single=False),
    case(lambda p: sc.bdtrc(2, 5, p), P, of=sc.bdtrc, single=False),
    by_first("_ncx2_pdf", 2.3, 1.2),
    by_last("_ncx2_pdf", 1.3, 2.3),
    by_first("chndtr", 2.3, 1.2),
    by_last("chndtr", 1.3, 2.3),
    by_first("chndtrix", 2.3, 1.2, at=P),
    by_last("chndtrix", 0.4, 2.3),
    by_first("_ncx2_sf", 2.3, 1.2),
    by_first("_ncx2_isf", 2.3, 1.2, at=P),
    by_last("_ncx2_isf", 0.4, 2.3),
    by_last("nctdtr", 3.1, 0.4, at=normal(3), second=False),
    by_last("nctdtrit", 3.1, 0.4, at=P, second=False),
    by_first("_nct_sf", 3.1, 0.4, at=normal(3), second=False),
    by_first("_nct_isf", 3.1, 0.4, at=P, second=False),
    without("_nct_pdf", 0.5, 3.1, 0.4),
    by_last("ncfdtr", 2.5, 3.5, 0.6, second=False),
    by_last("ncfdtri", 2.5, 3.5, 0.6, at=P, second=False),
    by_first("_ncf_sf", 2.5, 3.5, 0.6, second=False),
    by_first("_ncf_isf", 2.5, 3.5, 0.6, at=P, second=False),
    without("_ncf_pdf", 0.5, 2.5, 3.5, 0.6),
    *(
        case(getattr(PRIVATE, f"_skewnorm_{f}"), x, 0.3, 1.2, 0.7, single=False, second=False)
        for f, x in (("cdf", normal(3)), ("ppf", P), ("isf", P))
    ),
    by_first("_cosine_cdf", at=normal(3)),
    by_first("_cosine_invcdf", at=P),
    *(by_first(f"_landau_{f}", 0.0, 1.0, second=False) for f in ("cdf", "sf")),
    *(by_first(f"_landau_{f}", 0.0, 1.0, at=P, second=False) for f in ("ppf", "isf")),
    without("_landau_pdf", 0.5, 0.0, 1.0),
    case(sc.tklmbda, uniform(-0.3, 0.3, 3), positive(3), single=False, second=False),
    *(
        case(getattr(PRIVATE, f"_invgauss_{f}"), P, 1.2, 1.4, single=False, second=False)
        for f in ("ppf", "isf")
    ),
    by_first("kolmogorov", second=False),
    by_first("_kolmogc", second=False),
    *(by_first(name, at=P, second=False) for name in ("kolmogi", "_kolmogci")),
    without("_kolmogp", 0.5),
    *(
        by_last(name, 5, at=uniform(0.22, 0.35, 3), second=False)
        for name in ("smirnov", "_smirnovc")
    ),
    *(by_last(name, 5, at=P, second=False) for name in ("smirnovi", "_smirnovci")),
    without("_smirnovp", 5, 0.27),
    by_last("_binom_pmf", 2, 5, at=P),
    by_last("_binom_cdf", 2, 5, at=P),
    by_last("_binom_sf", 2, 5, at=P),
    by_last("_nbinom_pmf", 2, 2.5, at=P),
    by_last("_nbinom_cdf", 2, 2.5, at=P),
    by_last("_nbinom_sf", 2, 2.5, at=P),
    *(
        case(lambda n, f=f: f(2, n, 0.4), positive(3), of=f, second=False, single=False)
        for f in (PRIVATE._nbinom_pmf, PRIVATE._nbinom_cdf, PRIVATE._nbinom_sf)
    ),
    *(without(f"_{name}binom_{f}", 0.4, 5, 0.3) for name in ("", "n") for f in ("ppf", "isf")),
    *(without(f"_hypergeom_{f}", 2, 7, 12, 20) for f in ("pmf", "cdf", "sf")),
    by_first("_scaled_exp1"),
    case(PRIVATE._beta_pdf, P, positive(3), positive(3), single=False),
    case(PRIVATE._beta_ppf, P, positive(3), positive(3), single=False, second=False),
    *(case(getattr(PRIVATE, f"_cauchy_{f}"), P, normal(3), positive(3)) for f in ("ppf", "isf")),
    case(lambda x: PRIVATE._log1mexp(-x), positive(3), of=PRIVATE._log1mexp, single=False),
    # relatives of Bessel's functions
    *(
        case(lambda x, f=f: f(1.5, x).imag, positive(3), of=f, single=False)
        for f in (sc.hankel1, sc.hankel2, sc.hankel1e, sc.hankel2e)
    ),
    by_last("modstruve", 1.5),
    *(by_first(name) for name in ("ber", "bei", "ker", "kei", "berp", "beip", "kerp", "keip")),
    *(by_last(f"_spherical_{k}n{d}", 2) for k in "jyik" for d in ("", "_d")),
    *(
        case(lambda x, f=f, d=d: f(2, x, derivative=d), positive(3), of=f, single=False)
        for f in (sc.spherical_jn, sc.spherical_yn, sc.spherical_in, sc.spherical_kn)
        for d in (False, True)
    ),
    *(
        case(lambda x, f=f: f(np.array([1, 2, 3]), x), positive(3), of=f, single=False)
        for f in (sc.spherical_jn, sc.spherical_kn)
    ),
    without("elliprd", 1.2, 0.7, 0.4),
    *(
        case(f, positive(3), positive(3) + 1, positive(3) + 2, single=False, second=False)
        for f in (sc.elliprf, sc.elliprg)
    ),
    case(sc.elliprc, positive(3), positive(3) + 1, single=False, second=False),
    case(sc.agm, positive(3), positive(3) + 1, single=False, second=False),
    by_last("wright_bessel", 0.7, 1.2),
    by_last("log_wright_bessel", 0.7, 1.2),
    by_last("lpmv", 1, 2.0, at=uniform(-0.8, 0.8, 3)),
    case(sc.softplus, normal(3)),
    case(sc.voigt_profile, normal(3), positive(3), positive(3), single=False),
    *(
        case(lambda x, f=f, k=k: f(x)[k], positive(3), of=f, single=False)
        for f, many in (
            (sc.itj0y0, 2),
            (sc.iti0k0, 2),
            (sc.it2j0y0, 2),
            (sc.it2i0k0, 2),
            (sc.airye, 4),
        )
        for k in range(many)
    ),
    *(  # of which SciPy has eight digits elsewhere
        case(lambda x, k=k: sc.itairy(x)[k], np.array([0.5, 0.55, 0.6]), of=sc.itairy, single=False)
        for k in range(4)
    ),
    *(by_first(name) for name in ("itstruve0", "it2struve0", "itmodstruve0")),
    *(
        case(lambda x, f=f, k=k: f(0.7, x)[k], positive(3), of=f, single=False)
        for f in (sc.pbdv, sc.pbvv, sc.pbwa)
        for k in range(2)
    ),
    *(
        case(lambda x, f=f: f(1.5, x, 2), positive(3), of=f, single=False)
        for f in (sc.jvp, sc.yvp, sc.ivp, sc.kvp)
    ),
    *(
        case(lambda x, f=f: f(1.5, x, 2).imag, positive(3), of=f, single=False)
        for f in (sc.h1vp, sc.h2vp)
    ),
    *(
        case(f, 3, uniform(0.2, 0.8, 3), single=False)
        for f in (
            *(sc.eval_sh_legendre, sc.eval_sh_chebyt, sc.eval_sh_chebyu),
            *(sc.eval_chebyc, sc.eval_chebys),
        )
    ),
    case(lambda x: sc.eval_sh_jacobi(3, 2.0, 1.5, x), P, of=sc.eval_sh_jacobi, single=False),
    case(lambda x: sc.diric(x, 4), normal(3), of=sc.diric, single=False),
    case(sc.logsumexp, normal(4), b=np.array([1.0, -2.0, 0.5, 1.0]), return_sign=True),
]
