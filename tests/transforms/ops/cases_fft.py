"""Fourier transforms: through real functions of them, for the derivative of a case is real."""

import numpy as np
import scipy.fft
import scipy.fftpack

from tests.transforms.ops.cases import case, normal


def real(function, *args, **static):
    """Both parts of what the function gives for a complex array, made of two real ones."""
    return case(
        lambda x, y: _both(function(x + 1j * y, **static)), *args, of=function, single=False
    )


def _both(z):
    return np.stack([np.real(z), np.imag(z)])


def spectrum(function, *args, **static):
    """Both parts of the frequencies of a real array."""
    return case(lambda x: _both(function(x, **static)), *args, of=function, single=False)


NORMS = ("backward", "ortho", "forward")

WAVE = np.cos(np.arange(16.0)).reshape(4, 4)

CASES = [
    *(real(np.fft.fft, normal(5), normal(5), norm=norm) for norm in NORMS),
    real(np.fft.fft, normal(5), normal(5), n=3),
    real(np.fft.fft, normal(2, 3), normal(2, 3), n=6, axis=0),
    spectrum(np.fft.fft, normal(4)),
    spectrum(np.fft.fft, normal(2, 3), axis=0),
    real(np.fft.ifft, normal(2, 4), normal(2, 4)),
    real(np.fft.ifft, normal(4), normal(4), n=7, norm="ortho"),
    real(np.fft.fft2, normal(2, 3), normal(2, 3)),
    real(np.fft.fft2, normal(2, 3, 2), normal(2, 3, 2), axes=(0, 1)),
    real(np.fft.ifft2, normal(2, 3), normal(2, 3), norm="forward"),
    real(np.fft.fftn, normal(2, 3, 2), normal(2, 3, 2)),
    real(np.fft.fftn, normal(2, 3), normal(2, 3), s=(3, 2), axes=(0, 1)),
    real(np.fft.fftn, normal(2, 3), normal(2, 3), axes=(1, 1)),
    real(np.fft.ifftn, normal(2, 3, 2), normal(2, 3, 2), axes=(0, 2)),
    *(spectrum(np.fft.rfft, normal(n), norm=norm) for n in (5, 6) for norm in NORMS),
    spectrum(np.fft.rfft, normal(3, 4), axis=0, n=5),
    spectrum(np.fft.rfft, normal(6), n=4),
    spectrum(np.fft.rfft2, normal(3, 4)),
    spectrum(np.fft.rfftn, normal(3, 2, 4)),
    spectrum(np.fft.rfftn, normal(3, 4), s=(2, 5), axes=(0, 1)),
    *(real(np.fft.irfft, normal(4), normal(4), n=n, norm=norm) for n in (6, 7) for norm in NORMS),
    real(np.fft.irfft, normal(3, 4), normal(3, 4)),
    real(np.fft.irfft, normal(4, 2), normal(4, 2), n=9, axis=0),
    real(np.fft.irfft2, normal(3, 4), normal(3, 4)),
    real(np.fft.irfftn, normal(2, 3, 3), normal(2, 3, 3)),
    real(np.fft.irfftn, normal(3, 3), normal(3, 3), s=(4, 5), axes=(0, 1)),
    real(np.fft.hfft, normal(4), normal(4)),
    real(np.fft.hfft, normal(4), normal(4), n=7, norm="ortho"),
    spectrum(np.fft.ihfft, normal(6)),
    case(np.fft.fftshift, normal(5)),
    case(np.fft.fftshift, normal(2, 3), axes=1),
    case(np.fft.ifftshift, normal(5)),
    case(np.fft.ifftshift, normal(4, 3)),
    case(lambda x, d: np.fft.fftfreq(len(x), d) * x, normal(5), 0.3),
    case(lambda x, d: np.fft.fftfreq(len(x), d) * x, normal(4), 0.3),
    case(lambda x, d: np.fft.rfftfreq(2 * len(x) - 2, d) * x, normal(4), 0.3),
    case(lambda x: np.fft.irfft(np.fft.rfft(x) ** 2, len(x)), normal(6)),
    *(
        case(f, normal(4), type=kind, norm=norm)
        for f in (scipy.fft.dct, scipy.fft.dst)
        for kind in (1, 2, 3, 4)
        for norm in NORMS
    ),
    *(case(f, normal(5), type=1) for f in (scipy.fft.idct, scipy.fft.idst)),
    *(case(f, normal(2, 3), n=5, axis=0) for f in (scipy.fft.dct, scipy.fft.idst)),
    *(case(f, normal(2, 3), norm="ortho") for f in (scipy.fft.dctn, scipy.fft.dstn)),
    *(case(f, normal(2, 3, 2), axes=(2, 0)) for f in (scipy.fft.idctn, scipy.fft.idstn)),
    case(scipy.fft.dctn, normal(4, 3), s=(2, 5)),
    *(
        case(f, WAVE[0], type=kind, norm=norm)
        for f in (scipy.fftpack.dct, scipy.fftpack.idst)
        for kind in (1, 2, 3, 4)
        for norm in (None, "ortho")
    ),
    *(case(f, WAVE[:2, :3], n=5, axis=0) for f in (scipy.fftpack.idct, scipy.fftpack.dst)),
    case(scipy.fftpack.dctn, WAVE[:, :3], shape=(2, 5)),
    *(
        case(f, WAVE[:2, :3, None] * [1.0, 0.4], axes=(2, 0))
        for f in (scipy.fftpack.idctn, scipy.fftpack.dstn)
    ),
    case(scipy.fftpack.idstn, WAVE[:2, :3], norm="ortho"),
    real(scipy.fft.idct, normal(5), normal(5)),
    case(lambda x, w: np.abs(np.fft.fft(x)) ** 2 @ w, normal(4), normal(4)),
    *(real(f, normal(3, 4), normal(3, 4)) for f in (scipy.fft.fft, scipy.fft.ifft)),
    *(real(f, normal(3, 4), normal(3, 4)) for f in (scipy.fftpack.fft, scipy.fftpack.ifft)),
    real(scipy.fftpack.fft2, normal(3, 4), normal(3, 4), overwrite_x=False),
    real(scipy.fftpack.ifft2, normal(3, 4), normal(3, 4)),
    real(scipy.fftpack.fftn, normal(3, 4), normal(3, 4), shape=(2, 5)),
    real(scipy.fftpack.ifftn, normal(3, 4), normal(3, 4), axes=(0,)),
    *(real(f, normal(3, 4), normal(3, 4)) for f in (scipy.fft.fft2, scipy.fft.ifft2)),
    *(real(f, normal(3, 2), normal(3, 2)) for f in (scipy.fft.fftn, scipy.fft.ifftn)),
    *(real(f, normal(3, 4), normal(3, 4)) for f in (scipy.fft.irfft, scipy.fft.irfft2)),
    *(real(f, normal(3, 4), normal(3, 4)) for f in (scipy.fft.irfftn, scipy.fft.hfft)),
    *(spectrum(f, normal(3, 4)) for f in (scipy.fft.rfft, scipy.fft.rfft2)),
    *(spectrum(f, normal(3, 4)) for f in (scipy.fft.rfftn, scipy.fft.ihfft)),
    spectrum(scipy.fft.rfft, normal(3, 4), n=6, axis=0, norm="ortho", workers=1),
    *(case(f, normal(5)) for f in (scipy.fft.fftshift, scipy.fft.ifftshift)),
    case(lambda x: scipy.fft.fftfreq(len(x), 0.3) * x, normal(4)),
    case(lambda x: scipy.fft.rfftfreq(2 * len(x) - 2, 0.3) * x, normal(4)),
]
