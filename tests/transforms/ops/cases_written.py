"""NumPy functions that are written with others."""

import numpy as np

from tests.transforms.ops.cases import case, flags, integers, normal, positive, stepped

PHASES = np.array([0.3, 3.0, -2.9, 1.0, 5.5, -4.0])


def parts(z):
    return np.stack([np.real(z), np.imag(z)])


POINTS = np.array([[0.0, 0.1], [1.0, 1.2], [0.2, 0.8], [0.9, 0.3], [0.7, 0.2]])
WHOLE = np.array([3, 1, 3, 0, 2])

CASES = [
    case(np.unwrap, PHASES),
    case(np.unwrap, PHASES.reshape(2, 3), axis=0),
    case(np.unwrap, PHASES, discont=4.0),
    case(np.unwrap, PHASES, period=2.5),
    case(np.unwrap, np.array([0, 3, 1, 4, 7]), period=4),
    case(lambda x: x * np.hanning(len(x)), normal(5)),
    case(lambda x: x * np.hamming(len(x)), normal(4)),
    case(lambda x: x * np.blackman(len(x)), normal(5)),
    case(lambda x: x * np.bartlett(len(x)), normal(4)),
    case(lambda x, b: x * np.kaiser(len(x), b), normal(5), 1.3, single=False),
    case(np.packbits, flags(11)),
    case(np.packbits, flags(3, 9), axis=1, bitorder="little"),
    case(np.packbits, flags(9, 2), axis=0),
    case(np.unpackbits, integers(3, high=200).astype(np.uint8)),
    case(np.unpackbits, integers(2, 3, high=200).astype(np.uint8), axis=0, bitorder="little"),
    case(np.intersect1d, WHOLE, np.array([3, 0, 9])),
    case(np.union1d, WHOLE, np.array([3, 0, 9])),
    case(np.setdiff1d, WHOLE, np.array([3, 9])),
    case(np.setdiff1d, WHOLE[1:], np.array([3, 9]), assume_unique=True),
    case(np.setxor1d, WHOLE, np.array([3, 9])),
    case(np.union1d, stepped(3), stepped(2) + 2.0),
    case(np.unique_all, WHOLE),
    case(np.unique_counts, WHOLE),
    case(np.unique_inverse, WHOLE),
    case(lambda x: np.sort(np.unique_values(x)), WHOLE),
    case(np.array_equiv, WHOLE, WHOLE[None]),
    case(np.array_equiv, WHOLE, WHOLE + 1),
    case(np.array_equiv, WHOLE, WHOLE[:2]),
    case(lambda x: np.real(np.sort_complex(x)), stepped(4), single=False),
    case(lambda x: np.sort_complex(x * 1j).imag, stepped(4), single=False),
    case(lambda x: np.fromfunction(lambda i, j: x[0] * i + x[1] * j, (2, 3)), normal(2)),
    case(lambda x: x[np.mask_indices(3, np.triu)], normal(3, 3)),
    case(lambda x: x[np.mask_indices(3, np.tril, -1)], normal(3, 3)),
    case(lambda x: np.trim_zeros(np.concatenate([[0.0], x, [0.0, 0.0]])), normal(3)),
    case(lambda x: np.trim_zeros(np.append(x, [0.0, 0.0]), "b"), normal(3)),
    case(lambda x: np.trim_zeros(x, "f"), np.zeros(3, int)),
    case(np.histogram_bin_edges, stepped(5), bins=3),
    case(np.histogram_bin_edges, stepped(5), range=(0.0, 2.0)),
    case(np.histogram_bin_edges, stepped(5), bins=[0.0, 0.5, 1.0]),
    case(
        lambda x, w: np.histogram2d(x, x**2, 3, [[0, 1], [0, 2]], weights=w),
        np.array([0.1, 0.9, 0.2, 0.45, 0.75]),
        normal(5),
        single=False,
    ),
    case(lambda x: np.histogram2d(x, x**2, [2, 3]), integers(5)),
    case(lambda x: np.histogramdd(x, 2, density=True)[0], POINTS, second=False),
    case(lambda x: np.histogramdd(x, 4), integers(5)),
    case(np.polydiv, normal(4), positive(2), single=False),
    case(np.polydiv, positive(2), positive(3), single=False),
    case(lambda p: parts(np.roots(p)), np.array([1.0, 0.3, 2.0, 0.7]), second=False),
    case(lambda p: parts(np.roots(np.append(p, 0.0))), np.array([2.0, 0.3, 2.0]), second=False),
    case(np.frexp, np.array([0.7, -1.4, 2.9, 11.0])),  # not near a power of two
    case(lambda x: np.frexp(x)[0], 4.3),
    case(np.spacing, normal(3)),
    case(np.bitwise_count, integers(4)),
    *(
        case(function, normal(3, 4), axis=1)
        for function in (
            *(np.hypot.reduce, np.fmax.reduce, np.fmin.reduce, np.subtract.reduce),
            *(np.hypot.accumulate, np.fmax.accumulate, np.fmin.accumulate),
            *(np.logaddexp.accumulate, np.logaddexp2.accumulate, np.subtract.accumulate),
        )
    ),
    case(np.divide.reduce, positive(3, 2)),
    case(np.divide.accumulate, positive(3, 2)),
    case(np.hypot.reduce, normal(3, 2), axis=None, keepdims=True),
    case(np.hypot.reduce, normal(3, 2), axis=(0, 1), where=np.array([[True], [False], [True]])),
    case(np.subtract.reduce, normal(3, 2), initial=2.0),
    case(np.hypot.reduce, np.ones((0, 2))),
    case(np.hypot.accumulate, np.ones((0, 2))),
    *(
        case(function, integers(3, 4, high=30) + 1)
        for ufunc in (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.gcd, np.lcm)
        for function in (ufunc.reduce, ufunc.accumulate)
    ),
    case(np.logical_xor.reduce, normal(3, 2)),
    case(np.logical_xor.accumulate, flags(4)),
    *(
        case(ufunc.reduceat, normal(4, 3), [2, 0, 1], axis=0)
        for ufunc in (
            *(np.add, np.multiply, np.maximum, np.minimum, np.hypot, np.fmax, np.fmin),
            *(np.logaddexp, np.logaddexp2, np.subtract),
        )
    ),
    case(np.divide.reduceat, positive(2, 5), [0, 3], axis=1),
    *(
        case(ufunc.reduceat, integers(6, high=9) + 1, [0, 2, 2])
        for ufunc in (
            *(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.gcd, np.lcm),
            *(np.logical_xor, np.logical_and, np.logical_or),
        )
    ),
    case(lambda x: x.astype(np.common_type(x, np.ones(2, np.float32))), normal(3), single=False),
    case(lambda x: np.add(x, 0 * np.ndarray(x.shape, x.dtype).size), normal(3), of=np.ndarray),
    case(np.lib.stride_tricks.sliding_window_view, normal(5), 3),
    case(np.lib.stride_tricks.sliding_window_view, normal(4, 3), (2, 3)),
    case(np.lib.stride_tricks.sliding_window_view, normal(4, 3), 2, axis=-1),
    case(np.lib.stride_tricks.sliding_window_view, normal(6), (2, 3), axis=(0, 0)),
    case(
        lambda x: np.lib.stride_tricks.as_strided(x, (3, 2), (2 * x.itemsize, x.itemsize)),
        normal(6),
        single=False,
        of=np.lib.stride_tricks.as_strided,
    ),
    case(lambda x: np.stack([v * v for v in np.nditer(x)]), normal(2, 3)),
]  # fmt: skip
