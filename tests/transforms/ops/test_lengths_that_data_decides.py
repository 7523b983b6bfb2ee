"""Operations that depend on which of two lengths is the larger one, where data decides one."""

import numpy as np
import pytest

from tests.transforms.ops.agreement import check_slopes, check_values

RNG = np.random.default_rng(3)
X = RNG.normal(size=6)
MATRIX = RNG.normal(size=(5, 3))
LONG, SHORT = np.cos(np.arange(9.0)), np.array([0.5, -1.0, 2.0])


def kept(x):
    """The elements above a limit: six at X, three at X - 2.35, one at X - 3.2."""
    return x[x > np.min(X) - 0.1]


def rows(a):
    """Rows that data chooses: all five, or two at MATRIX - 1.95."""
    return a[a[:, 0] > np.min(MATRIX[:, 0]) - 0.1]


def of_lists(x):
    """The lines of a matrix that a loop fills, of which only the last ones are kept."""
    lines = []
    for v in x:
        if v > np.min(X) - 0.1:
            lines.append(np.stack([v, v * v, np.sin(v)]))
        if len(lines) > 4:
            lines.pop(0)
    return np.stack(lines)


VECTORS = {
    "convolve": lambda x, w: np.convolve(kept(x), w),
    "convolve same": lambda x, w: np.convolve(kept(x), w, "same"),
    "convolve valid": lambda x, w: np.convolve(kept(x), w, "valid"),
    "correlate": lambda x, w: np.correlate(kept(x), w),
    "correlate same": lambda x, w: np.correlate(kept(x), w, "same"),
    "correlate same, other": lambda x, w: np.correlate(w, kept(x), "same"),
    "correlate full": lambda x, w: np.correlate(w, kept(x), "full"),
    "correlate complex": lambda x, w: np.correlate(kept(x) * (1 + 1j), w * 1j, "same").real,
    "polyadd": lambda x, w: np.polyadd(kept(x), w),
    "polysub": lambda x, w: np.polysub(w, kept(x)),
    "polymul": lambda x, w: np.polymul(kept(x), w),
    "fft cut or filled": lambda x, w: np.abs(np.fft.fft(kept(x), len(w))),
    "rfft cut or filled": lambda x, w: np.abs(np.fft.rfft(w, len(kept(x)))),
    "resize": lambda x, w: np.resize(kept(x), 7) * np.sum(w),
    "interp": lambda x, w: np.interp(w, np.cumsum(kept(x) ** 2), kept(x)),
    "part": lambda x, w: w[: len(kept(x))] * 2,
    "tail": lambda x, w: w[len(kept(x)) :] * 2,
    "pad": lambda x, w: np.pad(w, (0, len(kept(x)))),
}
MATRICES = {
    "lstsq": lambda a, b: np.linalg.lstsq(rows(a), b[: len(rows(a))])[0],
    "lstsq of more": lambda a, b: np.linalg.lstsq(rows(a), np.sin(rows(a)[:, :2]))[0],
    "residuals": lambda a, b: np.linalg.lstsq(rows(a), b[: len(rows(a))])[1],
    "residuals of more": lambda a, b: np.linalg.lstsq(rows(a), np.sin(rows(a)[:, :2]))[1],
    "lstsq of columns": lambda a, b: np.linalg.lstsq(rows(a).T, b[:3])[0],
    "lstsq of a history": lambda a, b: np.linalg.lstsq(of_lists(a[:, 0]), of_lists(a[:, 0])[:, 0])[
        0
    ],
    "pinv": lambda a, b: np.linalg.pinv(rows(a)),
    "qr": lambda a, b: np.linalg.qr(rows(a))[0],
    "r of qr": lambda a, b: np.linalg.qr(rows(a)).R,
    "svd": lambda a, b: np.abs(np.linalg.svd(rows(a))[2]),
    "u of svd": lambda a, b: np.linalg.svd(rows(a))[0][:, :1] ** 2,
    "singular values": lambda a, b: np.linalg.svdvals(rows(a)),
    "rank": lambda a, b: np.linalg.matrix_rank(rows(a)) * b,
    "diagonal": lambda a, b: np.diagonal(rows(a)),
    "trace": lambda a, b: np.trace(rows(a), 1),
    "diag": lambda a, b: np.diag(rows(a), -1),
    "cov": lambda a, b: np.cov(rows(a), rowvar=False),
    "tril": lambda a, b: np.tril(rows(a), -1),
}


@pytest.mark.parametrize("w", [LONG, SHORT], ids=["long", "short"])
@pytest.mark.parametrize("shift", [0.0, 2.35, 3.2])
@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_shorter_or_longer_than_another(name, shift, w):
    check_values(VECTORS[name], X - shift, w)
    check_slopes(VECTORS[name], X - shift, w)


@pytest.mark.parametrize("shift", [0.0, 1.95])
@pytest.mark.parametrize("name", MATRICES)
def test_a_matrix_with_more_or_fewer_rows_than_columns(name, shift):
    check_values(MATRICES[name], MATRIX - shift, SHORT.repeat(2))
    check_slopes(MATRICES[name], MATRIX - shift, SHORT.repeat(2))
