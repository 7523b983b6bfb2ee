"""Tabulates the public functions of NumPy and SciPy: which have a rule, and why the others have
none.

Run `python -m tapeless.tools.census > docs/census.md` after giving a function a rule.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

import tapeless.staging.subprogram  # noqa: F401 (it tells what stands for SciPy's functions)
from tapeless.transforms.frontend.builtins.builtins import BUILTINS
from tapeless.transforms.frontend.builtins.numpy_callbacks import staging_of
from tapeless.transforms.ops.function_table import FUNCTIONS, WRITERS

MODULES = (
    *("numpy", "numpy.linalg", "numpy.fft", "numpy.lib.stride_tricks"),
    *("numpy.polynomial.polynomial", "numpy.polynomial.chebyshev", "numpy.polynomial.legendre"),
    *("scipy.special", "scipy.linalg", "scipy.fft", "scipy.integrate", "scipy.interpolate"),
    *("scipy.ndimage", "scipy.optimize", "scipy.signal", "scipy.stats", "scipy.spatial.distance"),
)
#: Why functions have no rule: names and patterns of names, by module. The first that fits counts.
REASONS: dict[str, dict[str, str]] = {
    "takes no numbers of the program: types, text, files, settings, dates, memory": {
        "numpy": "__array_namespace_info__ array2string array_repr array_str base_repr binary_repr "
        "broadcast busday* can_cast datetime_* dtype einsum_path errstate finfo flatiter "
        "format_float_* from_dlpack frombuffer fromfile fromregex fromstring genfromtxt "
        "get_include get_printoptions getbufsize geterr* iinfo info is_busday isdtype isfortran "
        "isnat issubdtype load loadtxt may_share_memory memmap min_scalar_type mintypecode "
        "nested_iters printoptions promote_types save* set_printoptions setbufsize seterr* "
        "shares_memory show_config show_runtime test typename ufunc vectorize",
        "scipy.special": "errstate geterr seterr",
        "scipy.fft": "get_workers set_* skip_backend register_backend next_fast_len prev_fast_len",
        "scipy.optimize": "show_options linprog_verbose_callback OptimizeResult RootResults Bounds "
        "*Constraint",
        "scipy.linalg": "find_best_blas_type get_*_funcs",
        "scipy.integrate": "OdeSolution DenseOutput",
    },
    "of integers, which are known while staging; it is called as it is": {
        "scipy.special": "*_roots roots_* *_zeros bernoulli euler chebyc chebys chebyt chebyu "
        "gegenbauer genlaguerre hermite hermitenorm jacobi laguerre legendre sh_* assoc_laguerre "
        "stirling2 factorial2 factorialk mathieu_*_coef ellip_normal obl_cv_seq pro_cv_seq",
        "scipy.linalg": "dft hadamard helmert hilbert invhilbert invpascal pascal diagsvd",
        "scipy.integrate": "lebedev_rule newton_cotes",
        "scipy.signal": "get_window max_len_seq unit_impulse correlation_lags czt_points "
        "savgol_coeffs firls firwin* remez kaiser* gammatone choose_conv_method check_?OLA "
        "closest_STFT_dual_window",
        "scipy.ndimage": "generate_binary_structure iterate_structure",
        "numpy.polynomial.*": "*gauss",
        "scipy.stats": "random_table poisson_means_test",
    },
    "rounds, counts, orders or labels: its derivative is 0 wherever there is one": {
        "scipy.special": "round",
        "scipy.linalg": "bandwidth ishermitian issymmetric",
        "scipy.ndimage": "binary_* label find_objects histogram value_indices watershed_ift "
        "distance_transform_* *_position",
        "scipy.signal": "argrel* find_peaks* peak_*",
        "scipy.stats": "rankdata mode cumfreq relfreq percentileofscore tiecorrect binned_* "
        "somersd kendalltau weightedtau spearmanrho chatterjeexi",
        "scipy.spatial.distance": "dice hamming jaccard rogerstanimoto russellrao sokalsneath yule "
        "is_valid_* num_obs_*",
        "scipy.optimize": "linear_sum_assignment quadratic_assignment milp",
    },
    "draws random numbers, or resamples": {
        "scipy.stats": "*_group random_correlation uniform_direction bootstrap *permutation* "
        "monte_carlo_test *Method power sobol_indices goodness_of_fit",
        "scipy.linalg": "clarkson_woodruff_transform",
        "scipy.integrate": "qmc_quad",
        "scipy.optimize": "basinhopping dual_annealing differential_evolution shgo direct",
    },
    "a class with a state of its own, or an older form of another function": {
        "numpy": "matrix bmat asmatrix poly1d recarray row_stack asarray_chkfinite",
        "numpy.polynomial.*": "Polynomial Chebyshev Legendre",
        "scipy.integrate": "BDF DOP853 LSODA OdeSolver RK23 RK45 Radau complex_ode ode",
        "scipy.interpolate": "interp2d Rbf *Univariate* *Bivariate* NdBSpline NdPPoly",
        "scipy.signal": "CZT ShortTimeFFT StateSpace TransferFunction ZerosPolesGain ZoomFFT lti "
        "dlti",
        "scipy.stats": "Binomial CensoredData Covariance Logistic Mixture Normal Uniform "
        "make_distribution rv_* gaussian_kde exp log abs order_statistic truncate ecdf",
        "scipy.optimize": "*Jacobian LbfgsInvHessProduct BFGS SR1 HessianUpdateStrategy Broyden*",
    },
    "steps of an iteration in Fortran or C; differentiate the equation that the result fulfils: "
    "`lax.custom_root`, `tapeless.scipy.optimize`": {
        "scipy.optimize": "*",
        "scipy.integrate": "solve_bvp cubature nsum quad_vec tanhsinh",
        "scipy.stats": "fit expectile *_normmax ppcc_max *_normplot mvsdist bayes_mvs",
        "scipy.interpolate": "AAA make_smoothing_spline bisplrep make_splrep make_splprep splprep "
        "generate_knots make_lsq_spline",
        "scipy.signal": "minimum_phase envelope",
    },
    "a decomposition whose derivative has no formula here": {
        "scipy.linalg": "cdf2rdf cossin eig eig_banded eigh_tridiagonal eigvals_banded ldl ordqz "
        "qz rq rsf2csf funm matrix_balance null_space orth subspace_angles qr_*",
        "numpy.polynomial.*": "*fit *roots *companion",
    },
    "the derivative by an order, a shape or a degree of freedom has no formula here, nor has the "
    "function itself one in others": {
        "scipy.special": "bdtri* btdtri* chdtriv chndtri* fdtridfd gdtria gdtrib nbdtr* ncfdtri* "
        "nctdtri* nrdtri* stdtridf zetac lmbda lqmn lqn riccati_* pb*_seq besselpoly",
        "scipy.stats": "kappa4 nchypergeom_* norminvgauss poisson_binom multivariate_hypergeom "
        "matrix_t",
    },
    "rarely met: not done": {
        "numpy.polynomial.*": "*2d",
        "scipy.special": "assoc_legendre_* legendre_p* sph_* ellip_harm* elliprj kelvin mathieu_* "
        "modfresnel? obl_* pro_* radian",
        "scipy.linalg": "cho_solve_banded cholesky_banded expm_cond expm_frechet signm solve_*_are",
        "scipy.fft": "fht* ifht hfft* ihfft*",
        "scipy.integrate": "cumulative_simpson",
        "scipy.interpolate": "*",
        "scipy.ndimage": "*",
        "scipy.signal": "*",
        "scipy.stats": "*",
        "scipy.spatial.distance": "directed_hausdorff jensenshannon",
    },
}


def functions(module: str) -> Iterator[tuple[str, Any]]:
    """The public functions and classes of a module; types of numbers and errors apart."""
    owner = importlib.import_module(module)
    names = getattr(owner, "__all__", None) or [n for n in dir(owner) if n[0] != "_"]
    for name in sorted(set(names)):
        f = getattr(owner, name, None)
        is_type = isinstance(f, type) and issubclass(f, (np.generic, BaseException, bool))
        if callable(f) and not isinstance(f, types.ModuleType) and not is_type:
            yield name, f


def has_rule(f: Any) -> bool:
    """Whether a staged run knows a function, or the methods of a distribution."""
    tables = (FUNCTIONS, WRITERS, BUILTINS)
    if f is np.frompyfunc:  # what it makes has one
        return True
    return not f.__hash__ or any(f in table for table in tables) or staging_of(f) is not None


def reason(module: str, name: str) -> str | None:
    """Why a function has no rule; None if the table does not say."""
    for why, names in REASONS.items():
        patterns = " ".join(ps for of, ps in names.items() if fnmatchcase(module, of)).split()
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return why
    return None


def without_rule() -> Iterator[tuple[str, str, str | None]]:
    """Module, name and reason of all functions that have none."""
    for module in MODULES:
        for name, f in functions(module):
            if not has_rule(f):
                yield module, name, reason(module, name)


HEAD = """\
# What has no rule, and why

Written by `python -m tapeless.tools.census`; a test compares it with NumPy 2.4 and SciPy 1.17.

All public functions of these modules, classes that make objects among them. What has a rule works
in transformed functions, compiled and differentiated; of the distributions of `scipy.stats` these
are the methods that SciPy has formulas for. What has none may still be called with values that do
not depend on arguments.
"""


def page() -> str:
    """The text of docs/census.md: the counts by module, and the reasons, as two tables."""
    rows = [HEAD, "| Module | With a rule | Without |", "|---|---|---|"]
    missing = [*without_rule()]
    for module in MODULES:
        count = sum(m == module for m, _, _ in missing)
        rows.append(f"| `{module}` | {len([*functions(module)]) - count} | {count} |")
    rows += ["", "| Why there is no rule | Functions |", "|---|---|"]
    for why in REASONS:
        by_module = [(m, [n for of, n, r in missing if of == m and r == why]) for m in MODULES]
        told = "; ".join(f"`{m}`: {' '.join(names)}" for m, names in by_module if names)
        rows.append(f"| {why} | {told} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(page(), end="")
