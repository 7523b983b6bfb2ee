"""Says with which arguments functions are called that take more than one array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.tools.comparing.inputs import Sample

Form = Callable[[Sample], tuple[Any, ...]]


def _indices(s: Sample) -> Any:
    return np.array([1, 0, -1])


def _fixed_arguments(*args: Any) -> Form:
    return lambda s: args


def _mask(s: Sample, *shape: int) -> Any:
    return np.resize([True, False, True, True], shape or s.shape)


def one_array(s: Sample) -> tuple[Any, ...]:
    return (s.array(),)


def two(s: Sample) -> tuple[Any, ...]:
    return s.array(), s.array(5)


def _square(s: Sample) -> tuple[Any, ...]:
    return (s.square(),)


def _definite(s: Sample) -> tuple[Any, ...]:
    return (s.square(definite=True),)


def _array_and(*more: Any) -> Form:
    return lambda s: (s.array(), *more)


def _vectors(s: Sample) -> tuple[Any, ...]:
    return s.array_of_shape(5), s.array_of_shape(3, turn=4)


def _system(s: Sample) -> tuple[Any, ...]:
    return s.square(), s.array_of_shape(3, 2, turn=2)


def _list(s: Sample) -> tuple[Any, ...]:
    return ([s.array(), s.array(3)],)


def _along_axis(axis: int) -> Form:
    return lambda s: (np.sum, axis, s.array())


def _over_axes(axes: Any) -> Form:
    return lambda s: (np.sum, s.array(), axes)


def _power(k: int) -> Form:
    return lambda s: (s.square(), k)


def _last_length(s: Sample) -> int:
    return s.shape[-1] if s.shape else 1


FORMS: dict[str, tuple[Form, ...]] = {
    "np.copyto": (two, lambda s: (s.array(), s.array(2, "float64")), _array_and(3)),
    "np.fill_diagonal": (
        lambda s: (s.square(), s.array_of_shape()),
        lambda s: (s.array_of_shape(5, 3), s.array_of_shape(2)),
    ),
    "np.place": (lambda s: (s.array(), _mask(s), s.array_of_shape(2)),),
    "np.put": (lambda s: (s.array(), np.array([0, -1]), s.array_of_shape(2, turn=3)),),
    "np.put_along_axis": (
        lambda s: (
            s.array_of_shape(3, 4),
            np.array([[1, 0], [2, 3], [0, -1]]),
            s.array_of_shape(3, 2),
            1,
        ),
        lambda s: (s.array_of_shape(4), np.array([1, 3]), s.array_of_shape(), 0),
    ),
    "np.putmask": (lambda s: (s.array(), _mask(s), s.array_of_shape(2)),),
    "np.apply_along_axis": tuple(_along_axis(k) for k in (0, -1, 1, 5)),
    "np.apply_over_axes": tuple(_over_axes(k) for k in (0, -1, (0, 1), (0, 5))),
    "np.lib.stride_tricks.sliding_window_view": (
        lambda s: (s.array_of_shape(5), 2),
        lambda s: (s.array_of_shape(3, 4), (2, 2)),
        lambda s: (s.array_of_shape(3), 5),
    ),
    "np.piecewise": (
        lambda s: (s.array(), [s.array() < 1, s.array() >= 1], [np.negative, np.square]),
        lambda s: (s.array(), [s.array() > 1], [2, 3]),
    ),
    "np.fromfunction": (_fixed_arguments(np.add, (2, 3)), _fixed_arguments(np.multiply, (3, 0))),
    "np.fromiter": (lambda s: (list(s.array_of_shape(3)), s.dtype),),
    "np.histogram2d": (lambda s: (s.array_of_shape(6), s.array_of_shape(6, turn=2)),),
    "np.histogramdd": (lambda s: (s.array_of_shape(6, 2),),),
    **dict.fromkeys(
        ("np.intersect1d", "np.setdiff1d", "np.setxor1d", "np.union1d"),
        (_vectors, lambda s: (s.array_of_shape(2, 2), s.array_of_shape(0))),
    ),
    **dict.fromkeys(
        ("np.bartlett", "np.blackman", "np.hamming", "np.hanning"),
        (
            _fixed_arguments(0),
            _fixed_arguments(1),
            _fixed_arguments(6),
            _fixed_arguments(5.5),
            lambda s: (s.array_of_shape(turn=3),),
        ),
    ),
    "np.kaiser": (
        _fixed_arguments(0, 1.0),
        _fixed_arguments(1, 2.5),
        _fixed_arguments(6, 8.6),
        _fixed_arguments(5, 0.0),
    ),
    "np.mask_indices": (
        _fixed_arguments(3, np.triu),
        _fixed_arguments(3, np.tril),
        _fixed_arguments(0, np.triu),
    ),
    "np.packbits": (lambda s: (s.array(dtype="bool"),), one_array),
    "np.unpackbits": (lambda s: (s.array(dtype="uint8"),), one_array),
    "np.polydiv": (
        lambda s: (s.array_of_shape(4), s.array_of_shape(2, turn=2)),
        lambda s: (s.array_of_shape(2), s.array_of_shape(3)),
    ),
    "np.roots": (
        lambda s: (s.array_of_shape(4),),
        lambda s: (s.array_of_shape(4, turn=4),),
        lambda s: (s.array_of_shape(0),),
    ),
    "np.trim_zeros": (
        lambda s: (s.array_of_shape(7, turn=4),),
        lambda s: (np.zeros(3, s.dtype),),
        one_array,
    ),
    "scipy.special.comb": (two, lambda s: (s.array_of_shape(turn=3), 2), lambda s: (5, s.array())),
    "scipy.special.perm": (two, lambda s: (s.array_of_shape(turn=3), 2), lambda s: (5, s.array())),
    "scipy.special.multigammaln": (
        lambda s: (s.array(turn=3), 1),
        lambda s: (s.array_of_shape(turn=11), 3),
    ),
    "scipy.special.polygamma": (
        _array_and(2.0),
        lambda s: (1, s.array()),
        lambda s: (0, s.array()),
    ),
    "scipy.special.zeta": (one_array, two),
    "scipy.linalg.block_diag": (
        lambda s: (s.array_of_shape(2, 2), s.array_of_shape(3), s.array_of_shape()),
        two,
    ),
    "scipy.linalg.cho_solve": (
        lambda s: ((np.linalg.cholesky(np.eye(3) * 2 + 1), True), s.array_of_shape(3, 2)),
        lambda s: ((np.eye(3) * 2 + 1, False), s.array_of_shape(3)),
    ),
    "scipy.linalg.lu_solve": (
        lambda s: ((np.eye(3) * 2 + 1, np.array([1, 1, 2], np.int32)), s.array_of_shape(3, 2)),
    ),
    "scipy.linalg.solve_banded": (
        lambda s: ((1, 1), np.array([[0.0, 1, 1], [4, 5, 6], [1, 1, 0]]), s.array_of_shape(3)),
        lambda s: ((1, 1), s.array_of_shape(3, 4, turn=1), s.array_of_shape(4)),
    ),
    "scipy.linalg.solveh_banded": (
        lambda s: (np.array([[0.0, 1, 1], [4, 5, 6]]), s.array_of_shape(3, 2)),
    ),
    "scipy.linalg.fractional_matrix_power": (
        lambda s: (s.square(definite=True), 0.5),
        lambda s: (s.square(definite=True), -1.5),
        lambda s: (s.square(definite=True), 2),
    ),
    "scipy.linalg.toeplitz": (one_array, lambda s: (s.array_of_shape(3), s.array_of_shape(4))),
    "scipy.linalg.hankel": (one_array, lambda s: (s.array_of_shape(3), s.array_of_shape(4))),
    **dict.fromkeys(
        ("scipy.fft.fftfreq", "scipy.fft.rfftfreq", "np.fft.fftfreq", "np.fft.rfftfreq"),
        (
            _fixed_arguments(5),
            _fixed_arguments(4, 0.5),
            _fixed_arguments(1),
            _fixed_arguments(0),
            _fixed_arguments(2.5),
            _fixed_arguments(-1),
        ),
    ),
    "np.arange": (
        *(
            _fixed_arguments(*args)
            for args in ((5,), (2, 7), (7, 2, -2), (0.5, 3.0, 0.25), (0,), (5, 2))
        ),
        lambda s: (s.array_of_shape(turn=3),),
    ),
    **dict.fromkeys(
        ("np.ones", "np.zeros"),
        (
            _fixed_arguments(3),
            _fixed_arguments((2, 3)),
            _fixed_arguments(()),
            _fixed_arguments(-1),
            _fixed_arguments(2.0),
        ),
    ),
    # What arrays hold that nobody has filled is compared with nothing.
    **dict.fromkeys(("np.empty", "np.ndarray"), (_fixed_arguments(0), _fixed_arguments((0, 2)))),
    "np.empty_like": (lambda s: (s.array_of_shape(0),), lambda s: (s.array_of_shape(0, 2),)),
    "np.eye": (
        _fixed_arguments(3),
        _fixed_arguments(2, 4),
        _fixed_arguments(4, 2, -1),
        _fixed_arguments(0),
        _fixed_arguments(3, None, 5),
    ),
    "np.tri": (
        _fixed_arguments(3),
        _fixed_arguments(2, 4),
        _fixed_arguments(4, 2, -1),
        _fixed_arguments(0),
        _fixed_arguments(3, None, 5),
    ),
    "np.identity": (_fixed_arguments(3), _fixed_arguments(0), _fixed_arguments(-1)),
    "np.full": (
        lambda s: ((2, 3), s.array_of_shape()),
        lambda s: (4, s.array_of_shape(4)),
        _fixed_arguments(2, 3),
        _fixed_arguments((), 1.5),
    ),
    "np.full_like": (lambda s: (s.array(), 3), lambda s: (s.array(), s.array_of_shape())),
    **dict.fromkeys(
        ("np.linspace", "np.logspace"),
        (
            _fixed_arguments(0, 3),
            _fixed_arguments(1.5, -2.0, 4),
            lambda s: (s.array_of_shape(2), s.array_of_shape(2, turn=3), 3),
            lambda s: (s.array_of_shape(), s.array_of_shape(turn=3), 1),
            lambda s: (s.array_of_shape(), s.array_of_shape(turn=3), 0),
        ),
    ),
    "np.geomspace": (
        _fixed_arguments(1, 256, 9),
        _fixed_arguments(-1.0, -8.0, 4),
        lambda s: (s.array_of_shape(2, turn=5), s.array_of_shape(2, turn=8), 3),
    ),
    "np.indices": (_fixed_arguments((2, 3)), _fixed_arguments((0, 2)), _fixed_arguments(())),
    "np.vander": (lambda s: (s.array_of_shape(4),), lambda s: (s.array_of_shape(4), 3), one_array),
    "np.compress": (
        lambda s: (np.array([True, False, True]), s.array_of_shape(3, 4)),
        lambda s: ([1, 0], s.array()),
    ),
    "np.diag_indices": (_fixed_arguments(3), _fixed_arguments(0), _fixed_arguments(2, 3)),
    "np.extract": (lambda s: (_mask(s), s.array()), lambda s: (s.array(), s.array())),
    "np.ix_": (
        lambda s: (np.array([0, 2]), np.array([True, False, True])),
        lambda s: (s.array_of_shape(2), s.array_of_shape(0)),
    ),
    "np.take": (
        lambda s: (s.array(), _indices(s)),
        lambda s: (s.array(), 0),
        lambda s: (s.array(), np.array([[0, 7], [-9, 1]])),
        lambda s: (s.array(), []),
    ),
    "np.take_along_axis": (
        lambda s: (s.array_of_shape(3, 4), np.array([[1, 0], [2, 3], [0, -1]]), 1),
        lambda s: (s.array_of_shape(4), np.array([1, 3, 0]), 0),
        lambda s: (s.array_of_shape(4), np.array([1, 9]), 0),
        lambda s: (s.array_of_shape(2, 3), np.array([5, 0]), None),
    ),
    **dict.fromkeys(
        ("np.tril_indices", "np.triu_indices"),
        (_fixed_arguments(3), _fixed_arguments(0), _fixed_arguments(3, 1, 4)),
    ),
    "np.lib.scimath.logn": (lambda s: (2, s.array()), two),
    "np.lib.scimath.power": (lambda s: (s.array(), 2), lambda s: (s.array(), 0.5), two),
    "np.expand_dims": (
        _array_and(0),
        _array_and(-1),
        _array_and((0, 2)),
        _array_and(7),
        _array_and((0, 0)),
    ),
    "np.moveaxis": (
        _array_and(0, -1),
        _array_and((0, 1), (1, 0)),
        _array_and(0, 5),
        _array_and((0, 0), (0, 1)),
    ),
    "np.reshape": (
        _array_and(-1),
        _array_and((2, -1)),
        _array_and((-1, -1)),
        _array_and((3, 2)),
        _array_and(()),
    ),
    "np.rollaxis": (_array_and(0), _array_and(-1), _array_and(1, 2), _array_and(5)),
    "np.swapaxes": (_array_and(0, -1), _array_and(0, 1), _array_and(0, 5)),
    "np.broadcast_arrays": (
        two,
        lambda s: (s.array_of_shape(3, 1), s.array_of_shape(4)),
        lambda s: (s.array_of_shape(3), s.array_of_shape(2)),
    ),
    "np.broadcast_shapes": (
        _fixed_arguments((2, 1), (3,)),
        _fixed_arguments((2,), (3,)),
        _fixed_arguments((), (0, 1)),
    ),
    "np.broadcast_to": (
        _array_and((2, 3, 4)),
        _array_and((2, 6)),
        _array_and((3,)),
        _array_and(()),
    ),
    "np.meshgrid": (
        _vectors,
        lambda s: (s.array_of_shape(2), s.array_of_shape(0), s.array_of_shape(3)),
        lambda s: (s.array_of_shape(), s.array_of_shape(2)),
    ),
    "np.append": (two, lambda s: (s.array(), 1.5), lambda s: (s.array(), s.array(1, "int8"))),
    **dict.fromkeys(
        ("np.array_split", "np.split"),
        (_array_and(2), _array_and(3), _array_and([1, 2]), _array_and([-1, 9]), _array_and(0)),
    ),
    **dict.fromkeys(
        ("np.hsplit", "np.vsplit", "np.dsplit"), (_array_and(2), _array_and(1), _array_and([1]))
    ),
    **dict.fromkeys(
        ("np.column_stack", "np.concatenate", "np.dstack", "np.hstack", "np.stack", "np.vstack"),
        (
            _list,
            lambda s: ([s.array(), s.array(1, "int8")],),
            lambda s: ((s.array(), s.array(1, "float32"), s.array(2)),),
            lambda s: ([s.array(), s.array_of_shape(5)],),
            lambda s: ([],),
        ),
    ),
    "np.block": (
        _list,
        lambda s: ([[s.array_of_shape(2, 2), s.array_of_shape(2, 1)], [s.array_of_shape(1, 3)]],),
        lambda s: ([s.array_of_shape(2), 1],),
    ),
    "np.unstack": (one_array,),
    "np.roll": (_array_and(1), _array_and(-2), _array_and((1, 2)), _array_and(0), _array_and(7)),
    "np.repeat": (
        _array_and(2),
        _array_and(0),
        lambda s: (s.array(), np.arange(_last_length(s))),
        _array_and(-1),
        _array_and([2]),
    ),
    "np.tile": (
        _array_and(2),
        _array_and((2, 3)),
        _array_and(0),
        _array_and(()),
        _array_and((1, 1, 1, 2)),
    ),
    "np.pad": (
        _array_and(1),
        _array_and((1, 2)),
        lambda s: (s.array_of_shape(3, 4), ((1, 0), (2, 3))),
        _array_and(-1),
        _array_and(0),
    ),
    "np.astype": tuple(
        _array_and(np.dtype(d)) for d in ("f2", "f4", "f8", "i1", "i8", "u1", "u8", "?", "c8")
    ),
    "np.result_type": (two, lambda s: (s.array(), np.float32), lambda s: (s.array(), 1)),
    "np.argpartition": (_array_and(0), _array_and(-1), _array_and((0, 1)), _array_and(99)),
    "np.partition": (_array_and(0), _array_and(-1), _array_and((0, 1)), _array_and(99)),
    "np.isin": (
        two,
        lambda s: (s.array(), s.array_of_shape(2)),
        lambda s: (s.array(), []),
        lambda s: (s.array(), 1),
    ),
    "np.lexsort": (lambda s: ((s.array(), s.array(3)),), one_array),
    "np.searchsorted": (
        lambda s: (np.sort(s.array_of_shape(5)), s.array(2)),
        lambda s: (np.sort(s.array_of_shape(5)), 1),
        lambda s: (s.array_of_shape(0), s.array_of_shape(2)),
        lambda s: (np.sort(s.array_of_shape(5)), s.array_of_shape(3, dtype="float64")),
    ),
    "np.cross": (
        lambda s: (s.array_of_shape(3), s.array_of_shape(3, turn=4)),
        lambda s: (s.array_of_shape(2, 3), s.array_of_shape(3, turn=4)),
        lambda s: (s.array_of_shape(3, 3), s.array_of_shape(3, 3, turn=4)),
        lambda s: (s.array_of_shape(4), s.array_of_shape(4)),
    ),
    "np.linalg.cross": (
        lambda s: (s.array_of_shape(3), s.array_of_shape(3, turn=4)),
        lambda s: (s.array_of_shape(3, 3), s.array_of_shape(3, 3, turn=4)),
    ),
    **dict.fromkeys(
        (
            "np.dot",
            "np.inner",
            "np.kron",
            "np.linalg.matmul",
            "np.outer",
            "np.linalg.outer",
            "np.vdot",
            "np.matmul",
        ),
        (
            lambda s: (s.array_of_shape(4), s.array_of_shape(4, turn=3)),
            lambda s: (s.array_of_shape(3, 4), s.array_of_shape(4, turn=3)),
            lambda s: (s.array_of_shape(3, 4), s.array_of_shape(4, 2, turn=3)),
            lambda s: (s.array_of_shape(2, 3), s.array_of_shape(2, 3, turn=3)),
            lambda s: (s.array_of_shape(2, 3, 2), s.array_of_shape(2, 2, 3, turn=3)),
            lambda s: (s.array_of_shape(), s.array_of_shape(3, turn=3)),
            lambda s: (s.array_of_shape(0), s.array_of_shape(0)),
            lambda s: (s.array_of_shape(3, 0), s.array_of_shape(0, 2)),
            lambda s: (s.array_of_shape(3), s.array_of_shape(4)),
            lambda s: (s.array_of_shape(4), s.array_of_shape(4, turn=3, dtype="int8")),
        ),
    ),
    "np.matvec": (
        lambda s: (s.array_of_shape(3, 4), s.array_of_shape(4)),
        lambda s: (s.array_of_shape(2, 3, 4), s.array_of_shape(2, 4)),
        two,
    ),
    "np.vecmat": (
        lambda s: (s.array_of_shape(3), s.array_of_shape(3, 4)),
        lambda s: (s.array_of_shape(2, 3), s.array_of_shape(2, 3, 4)),
        two,
    ),
    "np.vecdot": (
        two,
        lambda s: (s.array_of_shape(3, 4), s.array_of_shape(4)),
        lambda s: (s.array_of_shape(0), s.array_of_shape(0)),
    ),
    "np.linalg.vecdot": (
        two,
        lambda s: (s.array_of_shape(3, 4), s.array_of_shape(4)),
        lambda s: (s.array_of_shape(0), s.array_of_shape(0)),
    ),
    "np.linalg.multi_dot": (
        lambda s: ([s.array_of_shape(2, 3), s.array_of_shape(3, 4), s.array_of_shape(4, 2)],),
        lambda s: ([s.array_of_shape(3), s.array_of_shape(3, 4), s.array_of_shape(4)],),
        lambda s: ([s.array_of_shape(3)],),
    ),
    **dict.fromkeys(
        ("np.tensordot", "np.linalg.tensordot"),
        (
            lambda s: (s.array_of_shape(2, 3, 2), s.array_of_shape(3, 2, 4)),
            lambda s: (s.array_of_shape(3), s.array_of_shape(3), 1),
            lambda s: (s.array_of_shape(2, 3), s.array_of_shape(3, 2), 0),
            lambda s: (s.array_of_shape(2, 3), s.array_of_shape(3, 2), ((1,), (0,))),
            lambda s: (s.array_of_shape(2, 3), s.array_of_shape(3, 2), ((0, 1), (1, 0))),
            lambda s: (s.array_of_shape(2, 3), s.array_of_shape(2, 2), 1),
        ),
    ),
    "np.einsum": (
        lambda s: ("ij,jk->ik", s.array_of_shape(2, 3), s.array_of_shape(3, 2)),
        lambda s: ("ij,ij", s.array_of_shape(2, 3), s.array_of_shape(2, 3)),
        lambda s: ("ii", s.array_of_shape(3, 3)),
        lambda s: ("ij->ji", s.array_of_shape(2, 3)),
        lambda s: ("...i,i->...", s.array_of_shape(2, 3), s.array_of_shape(3)),
        lambda s: ("i,i", s.array_of_shape(2), s.array_of_shape(3)),
        lambda s: ("ij->j", s.array_of_shape(0, 3)),
    ),
    "np.linalg.matrix_power": tuple(_power(k) for k in (0, 1, 2, 3, 5, -1, -2)),
    "np.linalg.solve": (
        _system,
        lambda s: (s.square(), s.array_of_shape(3)),
        lambda s: (s.array_of_shape(2, 3), s.array_of_shape(3)),
    ),
    "scipy.linalg.solve": (
        _system,
        lambda s: (s.square(), s.array_of_shape(3)),
        lambda s: (s.array_of_shape(2, 3), s.array_of_shape(3)),
    ),
    "scipy.linalg.solve_triangular": (_system, lambda s: (s.square(), s.array_of_shape(3))),
    "np.linalg.tensorinv": (
        lambda s: (np.eye(6).reshape(2, 3, 2, 3) + s.array_of_shape(2, 3, turn=1),),
    ),
    "np.linalg.tensorsolve": (
        lambda s: (np.eye(6).reshape(2, 3, 2, 3) * 2, s.array_of_shape(2, 3)),
    ),
    "np.linalg.lstsq": (
        lambda s: (s.array_of_shape(4, 2), s.array_of_shape(4, turn=3)),
        lambda s: (s.array_of_shape(4, 2), s.array_of_shape(4, 2, turn=3)),
        lambda s: (s.array_of_shape(2, 4), s.array_of_shape(2, turn=3)),
    ),
    "np.average": (one_array,),
    **dict.fromkeys(
        ("np.percentile", "np.nanpercentile"),
        (
            _array_and(30.0),
            _array_and([0, 50, 100]),
            _array_and(np.array([12.5, 90.0])),
            _array_and(101),
            _array_and([]),
        ),
    ),
    **dict.fromkeys(
        ("np.quantile", "np.nanquantile"),
        (
            _array_and(0.3),
            _array_and([0, 0.5, 1]),
            _array_and(np.array([0.125, 0.9])),
            _array_and(1.5),
            _array_and([]),
        ),
    ),
    "np.convolve": (
        _vectors,
        lambda s: (s.array_of_shape(3), s.array_of_shape(5)),
        lambda s: (s.array_of_shape(0), s.array_of_shape(2)),
    ),
    "np.correlate": (
        _vectors,
        lambda s: (s.array_of_shape(3), s.array_of_shape(5)),
        lambda s: (s.array_of_shape(0), s.array_of_shape(2)),
    ),
    "np.gradient": (
        one_array,
        _array_and(2.0),
        lambda s: (s.array_of_shape(4), np.array([0.0, 1.0, 3.0, 3.5])),
    ),
    "np.interp": (
        lambda s: (s.array(), np.array([-1.0, 0.0, 1.0, 2.5]), s.array_of_shape(4, turn=2)),
        lambda s: (s.array(), np.sort(s.array_of_shape(4)), np.arange(4.0)),
    ),
    "np.polyder": (
        lambda s: (s.array_of_shape(5),),
        lambda s: (s.array_of_shape(5), 2),
        lambda s: (s.array_of_shape(2), 4),
        _array_and(0),
    ),
    "np.polyint": (
        lambda s: (s.array_of_shape(4),),
        lambda s: (s.array_of_shape(4), 2),
        lambda s: (s.array_of_shape(4), 0),
    ),
    "np.polyval": (
        lambda s: (s.array_of_shape(4), s.array(2)),
        lambda s: (s.array_of_shape(0), s.array()),
    ),
    **dict.fromkeys(
        ("np.polyadd", "np.polysub", "np.polymul"),
        (_vectors, lambda s: (s.array_of_shape(), s.array_of_shape(3)), two),
    ),
    "np.poly": (
        lambda s: (s.array_of_shape(3),),
        lambda s: (s.square(),),
        lambda s: (s.array_of_shape(0),),
        one_array,
    ),
    "np.polyfit": (
        lambda s: (np.arange(6.0), s.array_of_shape(6), 2),
        lambda s: (np.arange(6.0), s.array_of_shape(6, 2), 1),
    ),
    **dict.fromkeys(
        ("np.allclose", "np.isclose"), (two, lambda s: (s.array(), s.array()), _array_and(1))
    ),
    **dict.fromkeys(
        ("np.array_equal", "np.array_equiv"),
        (
            two,
            lambda s: (s.array(), s.array()),
            lambda s: (s.array(), s.array_of_shape(1)),
            _array_and(1),
        ),
    ),
    "np.choose": (
        lambda s: (np.array([0, 1, 1, 0]), [s.array_of_shape(4), s.array_of_shape(4, turn=3)]),
        lambda s: (np.array([0, 2]), [s.array_of_shape(2), s.array_of_shape(2)]),
        lambda s: (np.array([0, -1]), [s.array_of_shape(2), s.array_of_shape(2)]),
    ),
    "np.ravel_multi_index": (
        lambda s: ((np.array([0, 1]), np.array([2, 0])), (2, 3)),
        lambda s: ((np.array([0, 5]), np.array([-2, 0])), (2, 3)),
    ),
    "np.unravel_index": (
        lambda s: (np.array([0, 5, 3]), (2, 3)),
        _fixed_arguments(7, (2, 3)),
        _fixed_arguments(4, (2, 3)),
    ),
    "np.bincount": (
        lambda s: (np.array([0, 3, 1, 1]),),
        lambda s: (s.array_of_shape(5),),
        lambda s: (s.array_of_shape(0),),
    ),
    "np.digitize": (
        lambda s: (s.array(), np.array([-1.0, 0.0, 1.0])),
        lambda s: (s.array(), [3, 1]),
    ),
    "np.delete": (
        _array_and(1),
        _array_and([0, -1]),
        _array_and(slice(None, None, 2)),
        _array_and(np.array([True, False])),
        _array_and(9),
    ),
    "np.insert": (
        lambda s: (s.array(), 1, 7),
        lambda s: (s.array(), [0, 1], 2.5),
        lambda s: (s.array(), -1, s.array_of_shape()),
        lambda s: (s.array(), 99, 1),
    ),
    "np.resize": (_array_and((2, 5)), _array_and(3), _array_and(0), _array_and(())),
    "np.clip": (
        *(
            _array_and(*bounds)
            for bounds in ((0, 2), (-0.0, 0.0), (None, 1.5), (0.0, None), (2, 1), (None, None))
        ),
        lambda s: (s.array(), s.array(3), s.array(7)),
        lambda s: (s.array(), float("nan"), 1.0),
        lambda s: (s.array(), -300, 300),
    ),
    "np.select": (
        lambda s: ([_mask(s), s.array() > 1], [s.array(), s.array(3)]),
        lambda s: ([_mask(s)], [s.array()], 7.5),
        lambda s: ([], []),
    ),
    "np.where": (
        lambda s: (_mask(s), s.array(), s.array(3)),
        lambda s: (s.array(), s.array(2), 1.5),
        one_array,
        lambda s: (_mask(s), s.array(), s.array(1, "int8")),
        lambda s: (_mask(s), s.array()),
    ),
    **dict.fromkeys(
        (
            "np.linalg.det",
            "np.linalg.inv",
            "np.linalg.slogdet",
            "np.linalg.eig",
            "np.linalg.eigvals",
            "scipy.linalg.det",
            "scipy.linalg.inv",
            "scipy.linalg.eigvals",
            "scipy.linalg.logm",
            "scipy.linalg.lu",
            "scipy.linalg.expm",
            "scipy.linalg.sqrtm",
            "scipy.linalg.lu_factor",
            "scipy.linalg.cosm",
            "scipy.linalg.sinm",
            "scipy.linalg.tanm",
            "scipy.linalg.coshm",
            "scipy.linalg.sinhm",
            "scipy.linalg.tanhm",
        ),
        (_square, one_array, _definite),
    ),
    **dict.fromkeys(
        (
            "np.linalg.cholesky",
            "np.linalg.eigh",
            "np.linalg.eigvalsh",
            "scipy.linalg.cholesky",
            "scipy.linalg.eigh",
            "scipy.linalg.eigvalsh",
            "scipy.linalg.cho_factor",
        ),
        (_definite, one_array),
    ),
    "np.linalg.cond": (_square, lambda s: (s.array_of_shape(4, 3),), one_array),
    **dict.fromkeys(
        ("np.iscomplexobj", "np.isrealobj", "np.isscalar", "np.iterable"),
        (one_array, _fixed_arguments(1.5)),
    ),
    "np.sinc": (one_array,),
    "np.nan_to_num": (one_array,),
}
