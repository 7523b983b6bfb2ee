"""Says why results differ from NumPy's where they do: by kind, and by function."""

from __future__ import annotations

from fnmatch import fnmatch

#: What kinds of differences mean, and why any function may have them.
GENERAL = {
    "last places": "another order of operations, or the function of another library",
    "refused": "an error of tapeless names what is not done, and a way out",
    "sign of zero": "of zeros that tie one of the other sign is taken, or `x + 0.0` is `x`",
    "nan part": "other parts of complex numbers that are not finite are NaN",
    "accepted": "arguments are taken that NumPy refuses, such as an option's unknown value",
    "exception": "an error of another class than NumPy's",
    "type": "a number for an array without axes or the other way round, or a tuple for a list",
}
EQUAL = "which of equal elements comes first: they keep their order here, in NumPy it is left open"
VECTORS = "vectors up to a factor of size one, as another function of LAPACK gives them"
FINITE = "SciPy's check for numbers that are not finite is not made, or made in spite of its option"
REAL = "real matrices have real functions here; where they are complex that is an error"
SCALED = "BLAS gives 0 for 0 times NaN where it scales by 0"
AXIS = "an axis is a number, not a tuple of one"
FLAT = "of an array without axes"
EMPTY = "of empty arrays"
OPTION = "an option is not taken, which is an error that says so"
#: (function, kind) -> why.
OWN: dict[tuple[str, str], str] = {
    ("np.argsort", "value"): EQUAL,
    ("np.argpartition", "value"): EQUAL,
    ("np.empty", "value"): "filled with zeros",
    ("np.empty_like", "value"): "filled with zeros",
    ("np.isscalar", "value"): "arrays without axes are taken for numbers",
    ("np.dot", "value"): SCALED,
    ("np.inner", "value"): SCALED,
    ("np.linalg.eig", "dtype"): "always complex",
    ("np.linalg.eigvals", "dtype"): "always complex",
    ("np.roots", "dtype"): "always complex",
    ("np.poly", "dtype"): "complex for complex roots, also for pairs of conjugates",
    ("np.linalg.qr", "value"): "a matrix of other columns where NumPy rounds them to others",
    ("np.linalg.lstsq", "shape"): "residuals are given for any rank",
    ("np.linalg.lstsq", "value"): "residuals of a matrix that has not full rank",
    ("np.frexp", "failed"): OPTION,
    ("np.concatenate", "failed"): OPTION,
    ("scipy.special.*", "failed"): OPTION,
    ("np.stack", "failed"): OPTION,
    ("np.vecdot", "failed"): OPTION,
    ("np.*space", "failed"): AXIS,
    ("np.size", "failed"): AXIS,
    ("np.lexsort", "failed"): FLAT,
    ("np.cov", "dtype"): EMPTY,
    ("np.corrcoef", "dtype"): EMPTY,
    ("np.histogram", "dtype"): EMPTY,
    ("np.median", "failed"): EMPTY,
    ("np.nanpercentile", "shape"): EMPTY,
    ("np.nanquantile", "shape"): EMPTY,
    ("np.linalg.pinv", "failed"): EMPTY,
    ("*fft*", "failed"): "transforms of no elements, or of no axes with options that do not fit",
    ("np.logical_*.reduce", "failed"): "with a mask, of dtypes other than bool",
    ("np.fromiter", "shape"): "a negative count other than -1",
    ("np.gradient", "value"): "of complex numbers that are not finite",
    ("np.polymul", "failed"): "refuses data that starts with a zero",
    ("np.polyadd", "shape"): "coefficients are taken as one line",
    ("np.polysub", "shape"): "coefficients are taken as one line",
    ("np.trim_zeros", "shape"): "an empty tuple of axes is taken for all",
    ("np.unique_values", "value"): "sorted; NumPy leaves the order open",
    ("np.setdiff1d", "shape"): "NaN in complex numbers",
    ("np.roots", "value"): "NumPy's negation of the least integer and of unsigned ones wraps",
    ("scipy.special.expm1", "value"): "of complex numbers that are not finite",
    ("scipy.special.logsumexp", "shape"): "SciPy gives a line for no axes of a number",
    ("scipy.special.logsumexp", "dtype"): "of float16 with weights",
    ("np.clip", "value"): "of complex numbers of which a part is NaN",
    (
        "scipy.linalg.cho_factor",
        "value",
    ): "the other triangle is 0, where SciPy leaves what was in it",
    ("scipy.linalg.eigh", "value"): VECTORS,
    ("scipy.linalg.svd", "value"): VECTORS,
    ("scipy.linalg.polar", "value"): "of matrices that are singular",
    ("scipy.linalg.det", "value"): "of integers: in another order, rounded otherwise",
    ("scipy.linalg.*", "value"): FINITE,
    ("scipy.linalg.logm", "failed"): REAL,
    ("scipy.linalg.sqrtm", "failed"): REAL,
    ("scipy.linalg.fractional_matrix_power", "failed"): REAL,
    ("scipy.linalg.fractional_matrix_power", "dtype"): REAL,
    ("scipy.linalg.*", "failed"): FINITE,
    ("scipy.special.factorial", "value"): "SciPy adds 1 to integers of few bits, which wrap",
    (
        "scipy.special.factorial",
        "dtype",
    ): "of arrays without axes, which are numbers here, and empty ones",
    ("math.*", "value"): "NumPy's and SciPy's functions, at NaN, infinities and poles",
    ("math.*", "dtype"): "integers have 64 bits",
    ("cmath.*", "value"): "NumPy's functions, at NaN and infinities",
}


def reason(name: str, kind: str) -> str | None:
    """Why the function may differ in this way; None if that is not known."""
    for (pattern, of_kind), why in OWN.items():
        if of_kind == kind and fnmatch(name, pattern):
            return why
    return GENERAL.get(kind)
