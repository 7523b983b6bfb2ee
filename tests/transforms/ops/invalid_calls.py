"""Calls that NumPy or Python refuses, and what they stand in: each must raise that error.

`python -m tests.transforms.ops.invalid_calls` runs all of them in all surroundings, and tells where
another error is raised, or none; with parts of texts, only the calls that have them.
"""

import functools
import inspect
import sys

import numpy as np

from tapeless import jit, value_and_grad, vmap

X = np.array([1.0, 2.0, 3.0])
M = np.arange(6.0).reshape(2, 3) + 1
#: Each a function of a vector and a matrix.
CALLS = [
    lambda x, m: np.linalg.inv(m),
    lambda x, m: np.linalg.solve(m, x),
    lambda x, m: np.linalg.det(m),
    lambda x, m: np.linalg.slogdet(m)[1],
    lambda x, m: np.linalg.eigh(m)[0],
    lambda x, m: np.linalg.eigvalsh(m),
    lambda x, m: np.linalg.eigvals(m),
    lambda x, m: np.linalg.cholesky(m),
    lambda x, m: np.linalg.matrix_power(m, 2),
    lambda x, m: np.linalg.inv(x),
    lambda x, m: np.linalg.det(x),
    lambda x, m: np.linalg.tensorinv(m),
    lambda x, m: np.linalg.svd(x)[1],
    lambda x, m: np.linalg.qr(x)[0],
    lambda x, m: np.linalg.lstsq(m, x)[0],
    lambda x, m: np.linalg.pinv(x),
    lambda x, m: np.linalg.cond(x),
    lambda x, m: np.linalg.norm(m, 3),
    lambda x, m: np.linalg.norm(x, "nuc"),
    lambda x, m: np.linalg.norm(x, "bad"),
    lambda x, m: np.linalg.norm(m, axis=(0, 0)),
    lambda x, m: np.linalg.norm(m, axis=3),
    lambda x, m: np.cross(x[:1], x[:1]),
    lambda x, m: np.cross(np.ones(4), np.ones(4)),
    lambda x, m: np.cross(m, np.ones((3, 3))),
    lambda x, m: np.linalg.cross(x[:2], x[:2]),
    lambda x, m: np.maximum.reduce(x[:0]),
    lambda x, m: np.minimum.reduce(x[:0]),
    lambda x, m: np.max(x[:0]),
    lambda x, m: x[:0].min(),
    lambda x, m: np.argmax(x[:0]),
    lambda x, m: x[:0].argmin(),
    lambda x, m: np.ptp(x[:0]),
    lambda x, m: np.subtract.reduce(x[:0]),
    lambda x, m: np.divide.reduce(x[:0]),
    lambda x, m: np.fmax.reduce(x[:0]),
    lambda x, m: np.nanmax(x[:0]),
    lambda x, m: np.add.reduce(x, axis=3),
    lambda x, m: np.add.reduceat(x, [5]),
    lambda x, m: np.add.reduceat(x[:0], [0]),
    lambda x, m: np.add.accumulate(m, axis=2),
    lambda x, m: (lambda a, b: a)(*x),
    lambda x, m: (lambda: 0)(*x),
    lambda x, m: np.histogram(x, bins=0)[0],
    lambda x, m: np.histogram(x, bins=-1)[0],
    lambda x, m: np.histogram(x, bins=[3, 1, 2])[0],
    lambda x, m: np.histogram(x, range=(2, 1))[0],
    lambda x, m: np.histogram(x, bins=np.ones((2, 2)))[0],
    lambda x, m: np.histogram(x, bins=2.5)[0],
    lambda x, m: np.histogram(x, bins="nope")[0],
    lambda x, m: np.histogram2d(x, m, bins=2)[0],
    lambda x, m: np.histogram_bin_edges(x, bins=0),
    lambda x, m: np.digitize(x, [1, 3, 2]),
    lambda x, m: np.digitize(x, m),
    lambda x, m: np.bincount([-1, 2]),
    lambda x, m: np.bincount([1, 2], minlength=-1),
    lambda x, m: np.bincount([1, 2], weights=x),
    lambda x, m: np.bincount(m.astype(int)),
    lambda x, m: np.bincount(x),
    lambda x, m: (lambda y: (np.place(y, y > 0, []), y)[1])(x.copy()),
    lambda x, m: (lambda y: (np.place(y, m > 0, [1.0]), y)[1])(x.copy()),
    lambda x, m: (lambda y: (np.put(y, [7], 1.0), y)[1])(x.copy()),
    lambda x, m: (lambda y: (np.put(y, [7], 1.0, mode="bad"), y)[1])(x.copy()),
    lambda x, m: (lambda y: (np.putmask(y, m > 0, 1.0), y)[1])(x.copy()),
    lambda x, m: (lambda y: (np.copyto(y, m), y)[1])(x.copy()),
    lambda x, m: (lambda y: (np.copyto(y, 1.0, where=m > 0), y)[1])(x.copy()),
    lambda x, m: (lambda y: (np.fill_diagonal(y, 1.0), y)[1])(x.copy()),
    lambda x, m: (lambda y: (np.put_along_axis(y, np.array([5]), 1.0, 0), y)[1])(x.copy()),
    lambda x, m: np.take_along_axis(x, np.array([5]), 0),
    lambda x, m: np.take_along_axis(m, np.array([0]), 0),
    lambda x, m: np.take_along_axis(x, np.array([0.5]), 0),
    lambda x, m: x[:0].reshape(0, -1),
    lambda x, m: x.reshape(2, 2),
    lambda x, m: x.reshape(-1, -1),
    lambda x, m: x.reshape(-1, 2),
    lambda x, m: x.reshape(1.5, 2),
    lambda x, m: x.reshape(3, order="Q"),
    lambda x, m: x.ravel("Q"),
    lambda x, m: m.flatten("Q"),
    lambda x, m: np.resize(x, -1),
    lambda x, m: m.transpose(0, 0),
    lambda x, m: m.transpose(0),
    lambda x, m: np.transpose(m, (0, 2)),
    lambda x, m: m.swapaxes(0, 2),
    lambda x, m: np.moveaxis(m, 0, 3),
    lambda x, m: np.moveaxis(m, (0, 1), 0),
    lambda x, m: np.rollaxis(m, 3),
    lambda x, m: np.squeeze(m, 0),
    lambda x, m: np.squeeze(m, 5),
    lambda x, m: np.expand_dims(x, 3),
    lambda x, m: np.expand_dims(x, (0, 0)),
    lambda x, m: np.flip(x, 2),
    lambda x, m: np.fliplr(x),
    lambda x, m: np.flipud(np.sum(x)),
    lambda x, m: np.rot90(x),
    lambda x, m: np.rot90(m, 1, (0, 0)),
    lambda x, m: np.diag(np.ones((2, 2, 2))),
    lambda x, m: np.diagonal(x),
    lambda x, m: np.trace(x),
    lambda x, m: np.diagonal(m, 0, 0, 0),
    lambda x, m: np.tril(np.sum(x)),
    lambda x, m: np.broadcast_to(x, (2, 2)),
    lambda x, m: np.broadcast_to(m, (3,)),
    lambda x, m: np.broadcast_arrays(x, np.ones(2))[0],
    lambda x, m: np.concatenate([x, m]),
    lambda x, m: np.concatenate([]),
    lambda x, m: np.concatenate([m, m], axis=2),
    lambda x, m: np.concatenate([np.sum(x), np.sum(x)]),
    lambda x, m: np.stack([x, m]),
    lambda x, m: np.stack([]),
    lambda x, m: np.stack([x, x], axis=3),
    lambda x, m: np.vstack([x, x[:2]]),
    lambda x, m: np.hstack([x, m]),
    lambda x, m: np.dstack([m, m.T]),
    lambda x, m: np.column_stack([x, x[:2]]),
    lambda x, m: np.block([[x], [m.T]]),
    lambda x, m: np.append(m, x, axis=0),
    lambda x, m: np.split(x, 2),
    lambda x, m: np.hsplit(np.sum(x), 1),
    lambda x, m: np.vsplit(x, 1),
    lambda x, m: np.dsplit(m, 1),
    lambda x, m: np.tile(x, -1),
    lambda x, m: np.repeat(x, -1),
    lambda x, m: np.repeat(x, [1, 2]),
    lambda x, m: np.repeat(x, 2, axis=1),
    lambda x, m: np.delete(x, 5),
    lambda x, m: np.delete(m, 0, axis=2),
    lambda x, m: np.insert(x, 7, 1.0),
    lambda x, m: np.insert(m, 0, x[:2], axis=0),
    lambda x, m: np.unique(m, axis=3),
    lambda x, m: np.sort(x, axis=1),
    lambda x, m: np.sort(x, kind="bad"),
    lambda x, m: np.argpartition(x, 5),
    lambda x, m: np.partition(x, -4),
    lambda x, m: np.searchsorted(m, 1.0),
    lambda x, m: np.searchsorted(x, 1.0, side="bad"),
    lambda x, m: np.lexsort((x, x[:2])),
    lambda x, m: np.lexsort(()),
    lambda x, m: x[5],
    lambda x, m: x[-4],
    lambda x, m: x[0, 0],
    lambda x, m: x[1.0],
    lambda x, m: x["a"],
    lambda x, m: x[np.array([True, False])],
    lambda x, m: x[[0, 7]],
    lambda x, m: m[..., ...],
    lambda x, m: m[[0, 1], [0, 1, 2]],
    lambda x, m: x[m > 0],
    lambda x, m: x[np.array([0.0, 1.0])],
    lambda x, m: x[::0],
    lambda x, m: m[:, 3],
    lambda x, m: np.sum(x)[0],
    lambda x, m: x[{}],
    lambda x, m: (lambda y: (y.__setitem__(slice(None), m), y)[1])(x.copy()),
    lambda x, m: x + m.T,
    lambda x, m: x * np.ones(2),
    lambda x, m: m @ m,
    lambda x, m: x @ m,
    lambda x, m: x @ 2.0,
    lambda x, m: np.dot(m, m),
    lambda x, m: np.vdot(x, m),
    lambda x, m: np.inner(x, np.ones(2)),
    lambda x, m: np.tensordot(m, m, 1),
    lambda x, m: np.tensordot(m, m, ([0], [1])),
    lambda x, m: np.tensordot(x, x, 2),
    lambda x, m: np.einsum("ij,jk", m, m),
    lambda x, m: np.einsum("ijk", m),
    lambda x, m: np.einsum("i->j", x),
    lambda x, m: np.einsum("i,i", x),
    lambda x, m: np.einsum("i$", x),
    lambda x, m: np.einsum("i->ii", x),
    lambda x, m: np.kron(x),
    lambda x, m: np.outer(x),
    lambda x, m: np.matvec(m, x[:2]),
    lambda x, m: np.vecdot(x, x[:2]),
    lambda x, m: np.vecdot(x, x[:1]),
    lambda x, m: np.vecdot(m[:, :1], m),
    lambda x, m: np.linalg.vecdot(m[:1], m, axis=0),
    lambda x, m: np.linalg.multi_dot([m, m]),
    lambda x, m: np.linalg.multi_dot([m]),
    lambda x, m: x.sum(axis=1),
    lambda x, m: m.sum(axis=(0, 0)),
    lambda x, m: m.sum(axis=0.5),
    lambda x, m: np.sum(x, bad=1),
    lambda x, m: np.mean(x, axis=2),
    lambda x, m: np.std(x, axis=2),
    lambda x, m: np.median(x, axis=2),
    lambda x, m: np.quantile(x, 1.5),
    lambda x, m: np.quantile(x, -0.1),
    lambda x, m: np.quantile(x, 0.5, method="bad"),
    lambda x, m: np.percentile(x, [50, 120]),
    lambda x, m: np.cumsum(x, axis=1),
    lambda x, m: np.cumprod(m, axis=2),
    lambda x, m: np.diff(x, -1),
    lambda x, m: np.diff(np.sum(x)),
    lambda x, m: np.diff(x, axis=1),
    lambda x, m: np.gradient(x[:1]),
    lambda x, m: np.gradient(x, x[:2]),
    lambda x, m: np.interp(0.5, x, x[:2]),
    lambda x, m: np.interp(0.5, [], []),
    lambda x, m: np.convolve(x, []),
    lambda x, m: np.convolve(m, x),
    lambda x, m: np.convolve(x, x, "bad"),
    lambda x, m: np.correlate(x, m),
    lambda x, m: np.cov(np.ones((2, 2, 2))),
    lambda x, m: np.cov(x, ddof=1.5),
    lambda x, m: np.polyfit(x, x, -1),
    lambda x, m: np.polyfit(x, x[:2], 1),
    lambda x, m: np.polyfit([], [], 1),
    lambda x, m: np.roots(m),
    lambda x, m: np.polyder(x, -1),
    lambda x, m: np.polyint(x, -1),
    lambda x, m: np.vander(m),
    lambda x, m: np.clip(x, np.ones(2), 3.0),
    lambda x, m: np.where(x > 0, x, np.ones(2)),
    lambda x, m: np.where(x > 0, x),
    lambda x, m: np.select([x > 0], [x, x]),
    lambda x, m: np.select([], []),
    lambda x, m: np.choose([0, 3], [x, x]),
    lambda x, m: np.piecewise(x, [x > 0], [1.0, 2.0, 3.0]),
    lambda x, m: np.compress([True] * 5, x),
    lambda x, m: np.take(x, 7),
    lambda x, m: np.take(x, 7, mode="bad"),
    lambda x, m: np.take(x, 0, axis=2),
    lambda x, m: np.pad(x, -1),
    lambda x, m: np.pad(x, 1, mode="bad"),
    lambda x, m: np.pad(x, (1, 2, 3)),
    lambda x, m: np.pad(x[:0], 1, mode="edge"),
    lambda x, m: np.fft.fft(x, -1).real,
    lambda x, m: np.fft.fft(x[:0]).real,
    lambda x, m: np.fft.fft(x, axis=2).real,
    lambda x, m: np.fft.fft(x, norm="bad").real,
    lambda x, m: np.fft.rfft(x * 1j).real,
    lambda x, m: np.fft.fft2(x).real,
    lambda x, m: np.zeros(-1),
    lambda x, m: np.zeros(1.5) * x,
    lambda x, m: np.full((2, 2), x),
    lambda x, m: np.eye(-1),
    lambda x, m: np.linspace(0, 1, -1) * x[0],
    lambda x, m: np.geomspace(0, 1, 3) * x,
    lambda x, m: np.arange(0, 3, 0) * x,
    lambda x, m: np.array([[1, 2], [3]]) * x[0],
    lambda x, m: np.array([x, m]),
    lambda x, m: np.array(x, dtype="bad"),
    lambda x, m: x.astype("bad"),
    lambda x, m: x.item(),
    lambda x, m: x.item(5),
    lambda x, m: float(x),
    lambda x, m: int(m),
    lambda x, m: 1.0 if x > 0 else 2.0,
    lambda x, m: x.tolist().index(9.0),
    lambda x, m: len(np.sum(x)),
    lambda x, m: list(np.sum(x)),
    lambda x, m: max(x[:0]),
    lambda x, m: min([]),
    lambda x, m: sum(np.sum(x)),
    lambda x, m: [a for a, b in zip(x, x[:2], strict=True)],
    lambda x, m: next(iter(x[:0])),
    lambda x, m: functools.reduce(lambda a, b: a + b, x[:0]),
    lambda x, m: round(x),
    lambda x, m: abs("a") + x,
    lambda x, m: ord("ab") + x,
    lambda x, m: {"a": x}["b"],
    lambda x, m: x.nope,
    lambda x, m: np.nope(x),
    lambda x, m: x(1),
    lambda x, m: [x][3],
    lambda x, m: [].pop() + x,
    lambda x, m: [1.0].remove(3.0),
    lambda x, m: (x,)[2],
    lambda x, m: "a" + x[0],
    lambda x, m: [x] - x[0] if False else [1] - [2],
    lambda x, m: x[0] < "a",
    lambda x, m: ~x,
    lambda x, m: x << 1,
    lambda x, m: x & 1,
    lambda x, m: 1 // 0 + x,
    lambda x, m: 5 % 0 + x,
    lambda x, m: 1 / 0 + x,
    lambda x, m: 0.0 ** (-1) + x,
    lambda x, m: np.bitwise_and(x, 1),
    lambda x, m: np.gcd(x, 2),
    lambda x, m: np.ldexp(x, x),
    lambda x, m: np.sin(x, x, x),
    lambda x, m: np.sin("a") + x,
    lambda x, m: np.sin(x, out=np.ones(2)),
    lambda x, m: np.sin(),
    lambda x, m: np.sin(x, bad=1),
    lambda x, m: np.matmul(x, 1.0),
    lambda x, m: np.unravel_index(9, (2, 2))[0] * x[0],
    lambda x, m: np.ravel_multi_index((3, 0), (2, 2)) * x,
    lambda x, m: np.meshgrid(m, x, indexing="bad")[0],
    lambda x, m: np.apply_along_axis(np.sum, 2, m),
    lambda x, m: np.vectorize(lambda a, b: a)(x, x[:2]),
    lambda x, m: np.lib.stride_tricks.sliding_window_view(x, 5),
    lambda x, m: np.trim_zeros(x, "q"),
    lambda x, m: np.ix_(m)[0],
    lambda x, m: np.shape(x)[2] + x,
    lambda x, m: np.nanargmax(x * np.nan),
    lambda x, m: np.nanargmin(x[:0]),
    lambda x, m: np.average(x, weights=np.zeros(3)),
    lambda x, m: np.average(m, weights=x),
]


def text(call):
    """What stands in the table."""
    return inspect.getsource(call).strip().rstrip(",").removeprefix("lambda x, m: ")


def total(result):
    """A number that reads all that a call returns."""
    parts = result if isinstance(result, (tuple, list)) else (result,)
    found = 0.0
    for part in parts:
        found = found + np.sum(np.real(part) * 1.0)
    return found


def under_a_test(call):
    def chosen(x, m):
        if x[0] > 0:
            return total(call(x, m))
        return 0.0

    return chosen


def in_a_loop(call):
    def repeated(x, m):
        found = 0.0
        for i in range(3):
            found = found + total(call(x + i * 0, m))
        return found

    return repeated


def batched(call):
    return lambda x, m: vmap(call)(np.stack([x, x]), np.stack([m, m]))


def differentiated(call):
    return value_and_grad(lambda x, m: total(call(x, m)))


SURROUNDINGS = {
    "grad": differentiated,
    "jit": jit,
    "vmap": batched,
    "jit under a test": lambda call: jit(under_a_test(call)),
    "grad under a test": lambda call: value_and_grad(under_a_test(call)),
    "jit in a loop": lambda call: jit(in_a_loop(call)),
    "grad in a loop": lambda call: value_and_grad(in_a_loop(call)),
}


def error_of(function):
    """What a function raises, None if it does not."""
    try:
        function(X.copy(), M.copy())
    except Exception as error:  # noqa: BLE001 (which it is is compared)
        return error
    return None


def disagreement(call, surrounding):
    """What is wrong in a surrounding, in words; empty if the error is that of plain NumPy."""
    with np.errstate(all="ignore"):
        expected, actual = error_of(call), error_of(SURROUNDINGS[surrounding](call))
    if expected is None:
        return "NumPy raises nothing"
    kind = TypeError if isinstance(expected, TypeError) else type(expected)
    if isinstance(actual, kind):
        return ""
    return f"{actual!r} for {expected!r}"


def main(parts):
    calls = [call for call in CALLS if not parts or any(p in text(call) for p in parts)]
    wrong = 0
    for call in calls:
        for surrounding in SURROUNDINGS:
            if problem := disagreement(call, surrounding):
                wrong += 1
                sys.stdout.write(f"{text(call)}, {surrounding}: {problem}\n")
    sys.stdout.write(f"{len(calls)} calls, {wrong} wrong\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
