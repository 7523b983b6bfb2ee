"""Special functions of scipy."""

import numpy as np
import scipy.special as sc

from tests.transforms.ops.cases import below_one, case, normal, positive, uniform

UNARY = {
    normal: [
        *(sc.expit, sc.log_expit, sc.erf, sc.erfc, sc.erfcx, sc.erfi, sc.dawsn, sc.ndtr),
        *(sc.log_ndtr, sc.i0, sc.i1, sc.i0e, sc.i1e, sc.j0, sc.j1, sc.cosm1, sc.exp10, sc.exp2),
        *(sc.expm1, sc.cbrt),
    ],
    positive: [
        *(sc.gammaln, sc.loggamma, sc.gamma, sc.rgamma, sc.psi, sc.k0, sc.k1, sc.y0, sc.y1),
        *(sc.exp1, sc.expi, sc.entr, sc.log1p),
    ],
    below_one: [sc.erfinv],
}
POSITIVE_PAIRS = [sc.beta, sc.betaln, sc.poch, sc.xlogy, sc.xlog1py, sc.rel_entr, sc.kl_div]
ORDERED = [sc.iv, sc.jv, sc.kv, sc.yv, sc.ive]

CASES = [
    *(case(f, make(3)) for make, many in UNARY.items() for f in many),
    *(case(f, float(make()), second=False) for make, many in UNARY.items() for f in many[::4]),
    *(case(f, uniform(0.2, 0.8, 3)) for f in (sc.logit, sc.ndtri, sc.erfcinv)),
    *(case(f, positive(2, 3), positive(3)) for f in POSITIVE_PAIRS),
    *(case(f, 2, positive(3)) for f in ORDERED),
    *(case(f, 2, positive(3)) for f in (sc.gammainc, sc.gammaincc)),
    case(lambda a, x: sc.gammainc(a, x), positive(3), positive(3), second=False),
    case(sc.gammaincc, positive(3), positive(3), second=False),
    case(sc.betainc, 2, 3, uniform(0.2, 0.8, 3)),
    case(
        lambda a, b, x: sc.betainc(a, b, x),
        *(positive(3), positive(3), uniform(0.2, 0.8, 3)),
        second=False,
    ),
    case(sc.zeta, 2, positive(3)),
    case(lambda x: x * sc.zeta(np.round(x) + 2), positive(3), of=sc.zeta),
    *(case(sc.expn, n, positive(3)) for n in (0, 1, 3)),
    case(sc.owens_t, normal(3), positive(3)),
    case(sc.spence, positive(3)),
    case(sc.spence, np.array([0.5, 1.0]), second=False),
    case(sc.hyp1f1, 2, 3, normal(3)),
    case(sc.hyp2f1, 1, 2, 4, uniform(0.2, 0.8, 3)),
    case(lambda x: sc.wofz(x + 0.5j).imag, normal(3), of=sc.wofz),
    case(sc.xlogy, np.array([0.0, 0.5]), np.array([0.3, 2.0]), second=False),
    case(sc.polygamma, 0, positive(3)),
    case(sc.polygamma, 2, positive(3)),
    case(sc.multigammaln, 3.5, d=3),
    case(sc.logsumexp, normal(2, 3)),
    case(sc.logsumexp, normal(2, 3), axis=1),
    case(sc.logsumexp, normal(2, 3), axis=0, keepdims=True),
    case(lambda a, b: sc.logsumexp(a, axis=1, b=b), normal(2, 3), positive(3)),
    case(sc.softmax, normal(2, 3)),
    case(sc.softmax, normal(2, 3), axis=1),
    case(sc.log_softmax, normal(2, 3), axis=0),
]
