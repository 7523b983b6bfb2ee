"""Says which values of keyword options functions are called with, by the name of the option."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.tools.comparing.inputs import Sample


def _mask(s: Sample) -> Any:
    return np.resize([True, False, True, True, False], s.shape)


def _weights(s: Sample) -> Any:
    return np.resize([1.0, 0.5, 2.0, 0.0], s.shape)


AXES = (None, 0, -1, 1, (0,), (0, 1), (0, -1), (-2, -1), (), 5, -4, (0, 0))
AXIS = (None, 0, -1, 1, 2, 5, -4, np.int64(0))
DTYPES = (*map(np.dtype, ("f4", "f8", "i4", "u1", "c16", "?")), None)
ORDERS = (None, 1, 2, 3, 0.5, 0, -1, -2, -0.5, np.inf, -np.inf, "fro", "nuc", "x")
METHODS = (
    *("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "hazen", "weibull"),
    *("interpolated_inverted_cdf", "linear", "median_unbiased", "normal_unbiased", "lower"),
    *("higher", "midpoint", "nearest", "x"),
)
PAD_MODES = (
    *("constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect"),
    *("symmetric", "wrap", "empty", "x"),
)
OPTIONS: dict[str, tuple[Any, ...]] = {
    "axis": AXES,
    "axes": (None, 0, -1, (0, 1), (1, 0), (-1,), (), 5, (0, 0)),
    "axis1": (0, 1, -1, 5),
    "axis2": (0, 1, -1),
    "axisa": (0, -1),
    "axisb": (0,),
    "axisc": (0, 5),
    "keepdims": (True, False),
    "ddof": (1, 0.5, 5, -1),
    "correction": (1, 0.5),
    "where": (_mask, True, False),
    "initial": (2, -1.5, np.nan, True),
    "mean": (0.5,),
    "dtype": DTYPES,
    "ord": ORDERS,
    "p": ORDERS,
    "order": ("C", "F", "A", "K", "x"),
    "side": ("left", "right", "x"),
    "kind": ("quicksort", "stable", "heapsort", "mergesort", None, "x"),
    "stable": (True, False, None),
    "mode": ("raise", "wrap", "clip", "x"),
    "method": METHODS,
    "overwrite_input": (True,),
    "norm": (None, "ortho", "forward", "backward", "x"),
    "n": (None, 1, 2, 5, 0, -1),
    "s": (None, (2,), (2, 3), (4, 1), (0, 2)),
    "shape": (None, (2,), (2, 3)),
    "type": (1, 2, 3, 4, 5),
    "orthogonalize": (True, False),
    "k": (0, 1, -1, 5),
    "offset": (1, -1, 7),
    "decimals": (0, 1, -1, 3),
    "equal_nan": (True, False),
    "return_index": (True,),
    "return_inverse": (True,),
    "return_counts": (True,),
    "return_indices": (True,),
    "return_sign": (True,),
    "return_rank": (True,),
    "returned": (True,),
    "assume_unique": (True,),
    "invert": (True,),
    "sorted": (False,),
    "weights": (_weights,),
    "aweights": ((1.0, 2.0, 0.5, 1.0),),
    "fweights": ((1, 2, 0, 1),),
    "bias": (True,),
    "rowvar": (False,),
    "density": (True,),
    "bins": (1, 3, (0.0, 0.5, 1.0, 2.0), "auto", "fd", 0, (1.0, 0.0)),
    "range": ((0, 2), (2, 0)),
    "full_matrices": (False, True),
    "compute_uv": (False,),
    "hermitian": (True,),
    "UPLO": ("U", "L", "x"),
    "upper": (True,),
    "lower": (True, False),
    "trans": (0, 1, 2, "T", "C"),
    "unit_diagonal": (True,),
    "assume_a": (None, "gen", "sym", "her", "pos", "diagonal", "upper triangular", "x"),
    "transposed": (True,),
    "permute_l": (True,),
    "p_indices": (True,),
    "pivoting": (True,),
    "eigvals_only": (True,),
    "check_finite": (False,),
    "include_initial": (True,),
    "prepend": (0, 1.5),
    "append": (0, 2),
    "to_end": (1, (1, 2)),
    "to_begin": (1,),
    "edge_order": (1, 2, 3),
    "dx": (2.0, 0.5),
    "left": (-9.0,),
    "right": (True,),
    "period": (2.5,),
    "discont": (4.0,),
    "rtol": (0.1,),
    "atol": (0.5,),
    "rcond": (0.1, None),
    "tol": (0.1,),
    "nan": (1.0,),
    "posinf": (2.0,),
    "neginf": (-3.0,),
    "deg": (True,),
    "indexing": ("ij", "x"),
    "sparse": (True,),
    "num": (3, 1, 0, -1),
    "endpoint": (False,),
    "retstep": (True,),
    "base": (2.0,),
    "increasing": (True,),
    "N": (0, 2),
    "M": (0, 2),
    "ndmin": (3,),
    "minlength": (0, 7),
    "repetition": (True,),
    "exact": (True,),
    "trim": ("f", "b", "x"),
    "bitorder": ("little", "x"),
    "count": (3, -2),
    "default": (1.5,),
    "start": (1, 5),
    "casting": ("unsafe", "safe", "no"),
    "include_end": (),
    "wrap": (True,),
    "full": (True,),
    "cov": (True, "unscaled"),
    "right_": (),
    "sorter": ((4, 3, 2, 1, 0),),
    "copy": (True, False),
    "subset_by_index": ((0, 1),),
    "optimize": (True,),
}
OF: dict[str, dict[str, tuple[Any, ...]]] = {
    "np.pad": {"mode": PAD_MODES},
    "np.convolve": {"mode": ("full", "same", "valid", "x")},
    "np.correlate": {"mode": ("full", "same", "valid", "x")},
    "np.linalg.qr": {"mode": ("reduced", "complete", "r", "raw", "x")},
    "scipy.linalg.qr": {"mode": ("full", "r", "economic", "raw", "x")},
    "np.interp": {"right": (9.0,)},
    "np.isin": {"kind": ("sort", "table", None, "x")},
    "scipy.linalg.polar": {"side": ("right", "left", "x")},
    "scipy.special.logsumexp": {"b": (2.0, -1.0, _weights)},
    "scipy.special.lambertw": {"k": (0, 1, -1)},
    "np.diff": {"n": (0, 1, 2, 9, -1)},
    "np.linalg.tensorsolve": {"axes": (None, (0,), (1, 0))},
    "np.linalg.tensorinv": {"ind": (1, 2, 3, 0)},
    "np.partition": {"kind": ("introselect", "x"), "order": ()},
    "np.argpartition": {"kind": ("introselect", "x"), "order": ()},
    "np.sort": {"order": ()},
    "np.argsort": {"order": ()},
    "np.average": {"weights": (_weights, (1.0, 2.0, 0.5, 1.0))},
    "np.ravel_multi_index": {"order": ("C", "F")},
    "np.unravel_index": {"order": ("C", "F")},
    "scipy.fft.dct": {"n": (None, 1, 2, 5)},
    "np.cov": {"y": (lambda s: s.array(4),), "ddof": (0, 1, 2)},
    "np.corrcoef": {"y": (lambda s: s.array(4),)},
    "np.clip": {"min": (0,), "max": (1,)},
    "scipy.linalg.eigh": {"type": ()},
    "scipy.linalg.eigvalsh": {"type": ()},
}
#: Options that are not walked, because they say how a result is made, never which one it is.
HOW = (
    *("out", "overwrite_a", "overwrite_b", "overwrite_ab", "overwrite_x", "workers", "plan"),
    *("subok", "like", "device", "xp", "lwork", "lapack_driver", "driver", "blocksize", "disp"),
    *("cache", "doc", "signature", "excluded"),
)


def values(name: str, option: str) -> tuple[Any, ...]:
    """The values to call a function with; none for options that are not walked."""
    if option in HOW:
        return ()
    own = OF.get(name, {})
    return own[option] if option in own else OPTIONS.get(option, ())
