"""Special functions of scipy: elliptic, hypergeometric, distributions, orthogonal polynomials."""

import numpy as np
import scipy.special as sc

from tests.transforms.ops.cases import (
    above_one,
    below_one,
    case,
    integers,
    normal,
    positive,
    uniform,
)

UNARY = {
    normal: [sc.exprel, sc.sindg, sc.cosdg, sc.tandg, sc.fresnel, sc.airy, sc.shichi],
    positive: [sc.k0e, sc.k1e, sc.cotdg, sc.sici],
    below_one: [sc.ellipk, sc.ellipe],
}
#: Of an order that is no float, and a number.
ORDERED = [
    *(sc.kve, sc.jve, sc.yve, sc.kn, sc.yn, sc.chdtr, sc.chdtrc, sc.hyp0f1),
    *(sc.pdtr, sc.pdtrc, sc.eval_chebyt, sc.eval_hermite, sc.eval_hermitenorm),
]
ON_INTERVAL = [sc.eval_legendre, sc.eval_chebyu, sc.eval_laguerre]
HALF = np.array([1, 2, 3])

CASES = [
    *(case(f, make(3), single=False) for make, many in UNARY.items() for f in many),
    case(lambda x: sc.lambertw(x).real, positive(3), single=False, of=sc.lambertw),
    case(lambda x: sc.lambertw(-0.3 * x, -1).real, uniform(0.2, 0.8, 3), single=False),
    case(lambda x: sc.lambertw(x + 1j).imag, normal(3), single=False),
    *(case(lambda u, k=k: sc.ellipj(u, 0.3)[k], normal(2, 3), of=sc.ellipj) for k in range(4)),
    case(lambda u: sc.ellipj(u, np.array([[0.3], [0.6]]))[1], normal(3), single=False),
    case(sc.wrightomega, normal(3), single=False),
    case(sc.struve, 2, positive(3), single=False),
    case(sc.ellipkm1, uniform(0.2, 0.8, 3), single=False),
    case(sc.ndtri_exp, uniform(-3, -0.2, 3), single=False, second=False),
    case(sc.ndtri_exp, -1.3),
    *(case(f, 2, positive(3), single=False) for f in ORDERED),
    *(case(f, n, below_one(3), single=False) for f in ON_INTERVAL for n in (0, 3)),
    case(sc.eval_gegenbauer, 3, 2, below_one(3), single=False),
    case(sc.eval_genlaguerre, 3, 2, positive(3), single=False),
    case(sc.eval_jacobi, HALF, 1, 2, below_one(3), single=False),
    case(sc.hyperu, 1, 2, positive(3), single=False),
    *(case(lambda x, f=f: f(x, 0), normal(3), of=f) for f in (sc.ellipkinc, sc.ellipeinc)),
    case(sc.boxcox, positive(3), normal(3)),
    case(sc.boxcox1p, positive(3), normal(3)),
    *(case(f, positive(3), np.array([2.0, 0.001, 0.7])) for f in (sc.inv_boxcox, sc.inv_boxcox1p)),
    case(sc.powm1, positive(3), normal(3)),
    case(sc.binom, above_one(3) + 3, positive(3)),
    case(sc.gammasgn, np.abs(normal(3)) * 0.1 - 1.6),  # between steps
    case(sc.huber, positive(3), np.array([0.2, 2.0, -3.0])),
    case(sc.pseudo_huber, positive(3), normal(3)),
    *(case(f, 2, uniform(0.2, 0.8, 3)) for f in (sc.gammaincinv, sc.gammainccinv)),
    *(case(f, 2, 3, uniform(0.2, 0.8, 3)) for f in (sc.betaincc, sc.betaincinv, sc.betainccinv)),
    *(
        case(f, positive(3), uniform(0.2, 0.8, 3), second=False)
        for f in (sc.gammaincinv, sc.gammainccinv)
    ),
    *(
        case(f, positive(3), positive(3), uniform(0.2, 0.8, 3), second=False)
        for f in (sc.betaincc, sc.betaincinv, sc.betainccinv)
    ),
    *(case(f, positive(3), positive(3), second=False, single=False) for f in (sc.chdtr, sc.chdtrc)),
    case(sc.stdtr, positive(3), normal(3), second=False, single=False),
    case(sc.stdtrit, positive(3), uniform(0.2, 0.8, 3), second=False, single=False),
    case(sc.stdtr, 3, normal(3), single=False),
    case(sc.stdtrit, 3, uniform(0.2, 0.8, 3), single=False),
    case(sc.factorial, positive(3), single=False),
    case(sc.factorial, integers(3)),
    case(sc.comb, above_one(3) + 3, positive(3)),
    case(sc.comb, above_one(3) + 3, positive(3), repetition=True),
    case(sc.perm, above_one(3) + 3, positive(3)),
]
