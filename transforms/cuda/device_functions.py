"""Names the functions of NumPy that CuPy has, too, and that do the same there: those that the
driver of a GPU program calls.

out = np.zeros(x.shape)      becomes      out = cp.zeros(x.shape)
"""

from __future__ import annotations

import re

from tapeless.transforms.errors import UnsupportedError

#: Operations on numbers and on whole arrays, where a driver has them outside of kernels: beside
#: branches, and in functions that recur. They have NumPy's values also for nan and infinities.
ARITHMETIC = (
    *("abs", "sign", "sqrt", "square", "reciprocal", "isnan", "isinf", "isfinite", "signbit"),
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "hypot", "arctan2", "copysign"),
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "deg2rad", "rad2deg"),
    *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
    *("floor", "ceil", "trunc", "rint", "maximum", "minimum", "where"),
    *("logical_and", "logical_or", "logical_not", "logical_xor"),
    *("sum", "prod", "any", "all", "max", "min", "mean"),
)

#: What drivers may call of CuPy: what does the same as NumPy, dtype and bits of indices apart.
#: Everything else is a kernel, or refused.
DEVICE = frozenset(
    [
        *ARITHMETIC,
        "allclose",
        "bincount",
        "digitize",
        "interp",
        "isclose",
        "linalg.norm",
        "polyval",
        "split",
        "tri",
        "s_",
        "arange",
        "array",
        "asarray",
        "broadcast_to",
        "concatenate",
        "empty",
        "empty_like",
        "eye",
        "flip",
        "full",
        "full_like",
        "moveaxis",
        "ones",
        "ones_like",
        "ravel",
        "reshape",
        "roll",
        "squeeze",
        "stack",
        "swapaxes",
        "transpose",
        "zeros",
        "zeros_like",
        "matmul",
        "expand_dims",
        "ascontiguousarray",
        "argmax",
        "argmin",
        "argsort",
        "convolve",
        "correlate",
        "cumprod",
        "cumsum",
        "diag",
        "diagonal",
        "dot",
        "einsum",
        "inner",
        "kron",
        "nonzero",
        "flatnonzero",
        "outer",
        "pad",
        "repeat",
        "searchsorted",
        "sort",
        "tensordot",
        "tile",
        "trace",
        "unique",
        "tril",
        "triu",
        "vdot",
        "linalg.solve",
        "linalg.inv",
        "linalg.cholesky",
        "linalg.qr",
        "linalg.svd",
        "linalg.eigh",
        "linalg.eigvalsh",
        "linalg.det",
        "linalg.slogdet",
        "linalg.lstsq",
        "linalg.pinv",
        "fft.fft",
        "fft.ifft",
        "fft.rfft",
        "fft.irfft",
        "fft.fft2",
        "fft.ifft2",
        "fft.fftn",
        "fft.ifftn",
        "fft.fftshift",
        "fft.ifftshift",
        "fft.fftfreq",
        "bool",
        "bool_",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "newaxis",
        "pi",
        "inf",
        "nan",
        "e",
    ]
)
#: Those of `scipy.special` whose twins in `cupyx.scipy.special` take the same arguments.
SPECIAL_NAMES = """
beta betainc betaincinv betaln binom boxcox boxcox1p cosdg cotdg digamma ellipeinc ellipk ellipkinc
ellipkm1 entr erf erfc erfcinv erfcx erfinv exp1 expi expit expn exprel gamma gammainc gammaincc
gammainccinv gammaincinv gammaln gammasgn huber i0 i0e i1 i1e inv_boxcox inv_boxcox1p j0 j1 k0 k0e
k1 k1e kl_div log_expit log_ndtr loggamma logit ndtr ndtri poch pseudo_huber psi rel_entr rgamma
sindg tandg xlog1py xlogy y0 y1 yn zeta
"""
SPECIAL = frozenset(SPECIAL_NAMES.split())
#: CuPy does not say which of several stores to an element is the last.
LAST_STORE_IN_ORDER = """
def last_store(shape, key):
    \"\"\"Which elements of a fancy store survive: where an index repeats, the last one wins.\"\"\"
    count = 1
    for n in shape:
        count *= n
    places = np.arange(count).reshape(shape)[key]
    flat = places.ravel()
    order = np.argsort(flat * flat.size + np.arange(flat.size))
    survives = np.ones(flat.size, np.bool_)
    survives[order[:-1]] = flat[order[1:]] != flat[order[:-1]]
    return survives.reshape(places.shape)
"""
NAME = re.compile(r"\b(np|scipy)\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
#: Arrays of what calls saved, which are no numbers, are of the host, and so are generators.
OF_HOST = re.compile(r"\bnp(?=\.empty\(.*, object\)|\.random\.)")
NUMPY = "numpy"
#: CuPy's function has two arguments.
RIEMANN_ZETA = re.compile(r"scipy\.special\.zeta\([^(),]*\)")
STRING = re.compile(r'("""|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\')')


def device_names(noted: tuple[str, str]) -> str:
    """A line of the driver for a GPU, given with the comment that names the user's line.

    Raises UnsupportedError for what CuPy does not have, or does otherwise.

    >>> device_names(("out = np.zeros(x.shape)", "# line 3"))
    'out = cp.zeros(x.shape)'
    >>> device_names(("tapes = np.empty(5, object)", "# line 4"))
    'tapes = numpy.empty(5, object)'
    """
    line, note = noted
    if RIEMANN_ZETA.search(line):
        raise UnsupportedError(
            f"scipy.special.zeta of one number has no form on a GPU{_where(note)}",
            "write zeta(x, 1.0), which is the same for x > 1",
        )
    parts = STRING.split(OF_HOST.sub(NUMPY, line))
    parts[::2] = [NAME.sub(lambda m: _cupy_name(m[1], m[2], note), part) for part in parts[::2]]
    return "".join(parts)


def _cupy_name(module: str, name: str, note: str) -> str:
    if module == "scipy" and (name == "special" or name.removeprefix("special.") in SPECIAL):
        return f"cupyx.scipy.{name}"
    if module != "np" or name not in DEVICE:
        raise UnsupportedError(
            f"{module}.{name} has no form on a GPU{_where(note)}",
            "call the function with arrays of NumPy: it runs on the CPU then",
        )
    return f"cp.{name}"


def _where(note: str) -> str:
    return f" ({note.lstrip('# ')})" if note else ""
