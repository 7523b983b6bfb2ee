"""Convolutions, correlations and trends against SciPy, and derivatives."""

import numpy as np
import pytest
import scipy.signal

from tapeless import check_grads, jit, jvp, vmap
from tapeless.scipy import signal
from tapeless.transforms.errors import ArgumentError
from tests.api.jax_peer import jax_or_skip

RNG = np.random.default_rng(0)
PAIRS = {
    "lines": (RNG.standard_normal(7), RNG.standard_normal(4)),
    "a longer kernel": (RNG.standard_normal(3), RNG.standard_normal(6)),
    "images": (RNG.standard_normal((5, 6)), RNG.standard_normal((3, 2))),
    "blocks": (RNG.standard_normal((3, 4, 5)), RNG.standard_normal((2, 2, 3))),
}
CALLS = [
    (name, pair, mode)
    for name in ("convolve", "correlate", "convolve2d", "correlate2d", "fftconvolve")
    for pair in PAIRS
    for mode in ("full", "same", "valid")
    if ("2d" not in name or pair == "images")
]


@pytest.mark.parametrize(("name", "pair", "mode"), CALLS)
def test_values(name, pair, mode):
    made = getattr(signal, name)(*PAIRS[pair], mode)
    want = getattr(scipy.signal, name)(*PAIRS[pair], mode)
    np.testing.assert_allclose(made, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("name", "pair", "mode"), CALLS)
def test_jaxs_values(name, pair, mode):
    peer = getattr(jax_or_skip().scipy.signal, name)
    if pair == "a longer kernel" and (name, mode) != ("convolve", "full"):
        pytest.skip("compared with SciPy only")
    made = getattr(signal, name)(*PAIRS[pair], mode)
    np.testing.assert_allclose(made, peer(*PAIRS[pair], mode), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate2d", "fftconvolve"])
def test_derivatives(name, mode):
    check_grads(lambda a, b: getattr(signal, name)(a, b, mode), PAIRS["images"], order=1)


def test_methods_and_dtypes():
    a, b = PAIRS["images"]
    direct, quick = (signal.convolve(a, b, method=m) for m in ("direct", "fft"))
    np.testing.assert_allclose(direct, quick, atol=1e-12)
    ints = np.array([1, 2, 3])
    made = signal.convolve(ints, ints)
    assert (made.dtype, made.tolist()) == (ints.dtype, [1, 4, 10, 12, 9])
    assert signal.convolve(a.astype("f4"), b.astype("f4")).dtype == np.float32
    turning = PAIRS["lines"][0] * 1j
    want = scipy.signal.fftconvolve(turning, b[0])
    np.testing.assert_allclose(signal.fftconvolve(turning, b[0]), want)
    rows = signal.fftconvolve(a, a[:, :2], "same", axes=1)
    np.testing.assert_allclose(rows, scipy.signal.fftconvolve(a, a[:, :2], "same", axes=1))


def test_under_jit_and_vmap():
    a, b = PAIRS["lines"]
    want = scipy.signal.convolve(a, b, "same")
    made = jit(lambda a, b: signal.convolve(a, b, "same"))(a, b)
    np.testing.assert_allclose(made, want, rtol=1e-10)
    batch = vmap(signal.convolve, (0, None))(np.stack([a, 2 * a]), b)
    np.testing.assert_allclose(batch[1], 2 * scipy.signal.convolve(a, b), rtol=1e-10)


@pytest.mark.parametrize(
    "options", [{}, {"type": "constant"}, {"axis": 0}, {"bp": [2, 4]}, {"bp": 3, "axis": 0}]
)
def test_trends(options):
    data = RNG.standard_normal((5, 6)).cumsum(axis=1)
    made = signal.detrend(data, **options)
    np.testing.assert_allclose(made, scipy.signal.detrend(data, **options), atol=1e-12)
    check_grads(lambda x: signal.detrend(x, **options), (data,), order=1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: signal.convolve(*PAIRS["lines"], mode="whole"), "mode must be one of full"),
        (lambda: signal.convolve(*PAIRS["lines"], method="slow"), "auto, direct or fft"),
        (lambda: signal.convolve(np.ones(3), np.ones((2, 2))), "same number of axes"),
        (lambda: signal.convolve2d(*PAIRS["images"], boundary="odd"), "must be fill, wrap or symm"),
        (lambda: signal.convolve2d(np.ones((2, 7)), np.ones((3, 3)), "valid"), "at least as long"),
        (lambda: signal.correlate2d(*PAIRS["lines"]), "takes matrices"),
        (lambda: signal.detrend(np.ones(3), type="square"), "'linear' or 'constant'"),
        (lambda: signal.detrend(np.ones(3), bp=7), "between 0 and 3"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()


@pytest.mark.parametrize(
    "shapes", [((5, 6), (3, 2)), ((4, 5), (2, 5)), ((3, 3), (5, 4)), ((3, 3), (3, 5))]
)
@pytest.mark.parametrize("boundary", [("fill", 1.5), ("wrap", 0), ("symm", 0)])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_matrices_that_go_on_beyond_their_ends(shapes, boundary, mode):
    rng = np.random.default_rng(0)
    x, kernel = (rng.normal(size=shape) for shape in shapes)
    for f in (scipy.signal.convolve2d, scipy.signal.correlate2d):

        def both(x, kernel, f=f):
            return f(x, kernel, mode, *boundary)

        expected = both(x, kernel)
        np.testing.assert_allclose(jit(both)(x, kernel), expected, atol=1e-13)
        tangent = jvp(both, (x, kernel), (kernel_like(x), kernel_like(kernel)))[1]
        h = 1e-6
        near = [
            both(x + s * h * kernel_like(x), kernel + s * h * kernel_like(kernel)) for s in (1, -1)
        ]
        np.testing.assert_allclose(tangent, (near[0] - near[1]) / (2 * h), rtol=1e-6, atol=1e-7)


def kernel_like(x):
    return np.cos(np.arange(x.size)).reshape(x.shape)
