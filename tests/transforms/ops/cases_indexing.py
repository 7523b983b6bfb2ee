"""Elements read and written, positions, sorting and searching."""

import numpy as np

from tests.transforms.ops.cases import case, flags, integers, normal, positive, stepped

INDEX = np.array([2, 0, 2])
GRID = np.array([[2, 0], [1, 1]])
ROWS = np.array([[0.7, 0.3, 0.5], [0.2, 0.9, 0.4]])


def tenths(*shape):
    """Numbers away from the bounds that masks are made with."""
    return integers(*shape, low=-4, high=4) * 0.2 + 0.05


def written(store):
    """A case of an argument that is overwritten, and of the values written."""

    def run(x, v):
        y = x * 1.0
        store(y, v)
        return y * y

    run.__name__ = f"written_{store.__name__}"
    return run


def at_rows(y, v):
    np.add.at(y, INDEX, v)
    np.subtract.at(y, (INDEX, INDEX), v[:, 0])
    np.add.at(y, (slice(None), 1), v[0, 0])


PAIRS = (*(np.multiply, np.divide, np.power, np.maximum, np.minimum, np.fmax, np.fmin),)
SINGLE = (*(np.negative, np.absolute, np.exp, np.log, np.sqrt, np.square, np.sin, np.cos, np.tanh),)


def at(ufunc):
    """A row, elements under a mask and elements named twice, overwritten by a ufunc."""

    def run(x, v):
        y = x * 1.0
        values = (v,) if ufunc.nin == 2 else ()
        ufunc.at(y, 1, *values)
        ufunc.at(y, (np.array([True, False, True]), 2), *(value[0] for value in values))
        if values:
            ufunc.at(y, (INDEX, 0), v[1])
        return y * y * v

    return run


def highest(y, v):
    np.maximum.at(y, INDEX, v)
    np.maximum.at(y, (INDEX, INDEX), v[:, 0])


def lowest(y, v):
    np.minimum.at(y, (slice(None), INDEX), v)


def put(y, v):
    np.put(y, [0, 5, 7], v[0])
    y.put([2, 3], v[1, 0])
    np.put(y, [9, -1], v[2, 1], mode="wrap")
    np.put(y, [4, 12], v[0, :2], mode="clip")


def put_along(y, v):
    np.put_along_axis(y, np.array([[2, 0], [1, 1], [0, 2]]), v[:, :2], axis=1)
    np.put_along_axis(y, np.array([[1, 2, 0]]), v[0, 0], axis=0)
    np.put_along_axis(y, np.array([8, 3]), v[1, :2], axis=None)


def masked(y, v):
    np.place(y, y > 0.2, v[0])
    np.putmask(y, y < -0.2, v)
    np.copyto(y[2], v[1])
    np.copyto(y, v * 2, where=v > 0.4)


def diagonal(y, v):
    np.fill_diagonal(y, v[0, 0])
    np.fill_diagonal(y[:2], v[1, :2])


def filled(y, v):
    y.fill(0.5)
    y[0] = v[0]
    y.T[1:] *= 3.0
    y.flat[2] = 1.0


def outs(y, v):
    np.add(y, v, out=y)
    np.sum(v, axis=0, out=y[0])
    np.multiply(y[1], 2.0, out=y[1], where=v[1] > 0)


CASES = [
    case(lambda x: (x[0], x[-1], x[1:3], x[::-1], x[::2], x[3:0:-2]), normal(5)),
    case(lambda x: (x[0, 1], x[1], x[:, 1], x[..., -1], x[1:, ::2]), normal(3, 4)),
    case(lambda x: (x[None], x[:, None], x[..., None, :], x[np.newaxis, 1]), normal(3, 4)),
    case(lambda x: x[[0, 2, 2]], normal(4)),
    case(lambda x, i: x[i], normal(4), INDEX),
    case(lambda x, i: x[i], normal(3, 4), GRID),
    case(lambda x, i, j: x[i, j], normal(3, 4), np.array([0, 2]), np.array([1, 3])),
    case(lambda x, i: x[:, i], normal(2, 3), INDEX),
    case(lambda x, i: x[1, i], normal(2, 3), INDEX),
    case(lambda x, i: x[i, :, i], normal(3, 2, 3), INDEX),
    case(lambda x, i, j: x[i[:, None], j], normal(3, 4), INDEX, np.array([1, 3])),
    case(lambda x, k: (x[k], x[k:], x[:k], x[-k]), normal(4), 1),
    case(lambda x: x[x > 0], normal(5), second=False),
    case(lambda x, m: x[m], normal(2, 3), flags(2, 3)),
    case(lambda x, m: x[m], normal(3, 2), flags(3)),
    case(lambda x, m: x[:, m], normal(2, 3), flags(3)),
    case(lambda x: x[()], normal(2)),
    case(lambda x: x[1:1], normal(3)),
    case(lambda x: x.item() + x[0].item(), normal(1), single=False),
    case(lambda x: x.item(1) * x.tolist()[0], normal(3), single=False),
    case(np.take, normal(4), INDEX),
    case(np.take, normal(2, 3), INDEX, axis=1),
    case(np.take, normal(2, 3), GRID),
    case(np.take, normal(4), np.array([5, -1]), mode="wrap"),
    case(np.take, normal(4), np.array([5, -1]), mode="clip"),
    case(lambda x: x.take([0, 2]), normal(4)),
    case(np.take_along_axis, normal(2, 3), GRID, axis=1),
    case(np.take_along_axis, normal(6), np.array([5, 0]), axis=None),
    case(lambda x: np.take_along_axis(x, np.argsort(x, axis=0), axis=0), stepped(3, 2)),
    case(np.compress, np.array([True, False, True]), normal(2, 3), axis=1),
    case(lambda x: x.compress([True, False, True]), normal(3)),
    case(np.extract, flags(2, 3), normal(2, 3)),
    case(np.choose, np.array([0, 1, 0]), [normal(3), normal(3)]),
    case(
        lambda x, k: np.choose(k, x, mode="clip"),
        [normal(3), normal(3)],
        np.array([0, 5, -3]),
    ),
    case(np.nonzero, np.array([[0, 1], [2, 0]])),
    case(lambda x: x[(x > 0).nonzero()], normal(5), second=False),
    case(lambda x: x[np.where(x > 0)], normal(5), second=False),
    case(np.flatnonzero, np.array([[0, 1], [2, 0]])),
    case(np.argwhere, np.array([[0, 1], [2, 0]])),
    case(lambda x: x[np.ix_([0, 2], [1, 0])], normal(3, 2)),
    case(np.unravel_index, np.array([5, 2, 0]), shape=(2, 3)),
    case(lambda x: x[np.unravel_index(np.argmax(x), x.shape)], stepped(2, 3)),
    case(np.ravel_multi_index, (np.array([1, 0]), np.array([2, 1])), dims=(2, 3)),
    case(lambda x: x[np.diag_indices(3)], normal(3, 3)),
    case(lambda x: x[np.diag_indices_from(x)], normal(3, 3)),
    case(lambda x: (x[np.tril_indices(3)], x[np.triu_indices(3, 1)]), normal(3, 3)),
    case(lambda x: (x[np.tril_indices_from(x)], x[np.triu_indices_from(x, 1)]), normal(3, 3)),
    case(np.sort, stepped(5)),
    case(np.sort, stepped(3, 4), axis=0),
    case(np.sort, stepped(2, 3), axis=None),
    case(np.sort, stepped(5), kind="stable"),
    case(lambda x: np.sort(x)[::-1], stepped(5)),
    case(lambda x: -np.sort(-x, axis=1), stepped(2, 4)),
    case(lambda x: np.sort(x, stable=True), stepped(3)),
    case(np.argsort, stepped(5)),
    case(np.argsort, stepped(3, 4), axis=0),
    case(lambda x: x[x.argsort()[::-1]], stepped(5)),
    case(lambda x: x[np.lexsort((x,))], stepped(5)),
    case(np.lexsort, (np.array([3, 1, 2, 1]), np.array([0, 1, 0, 1]))),
    case(lambda x: np.partition(x, 2)[2], stepped(5)),
    case(lambda x: x[np.argpartition(x, 2)[2]], stepped(5)),
    case(lambda x: x[x.argpartition(2)[2]], stepped(5)),
    case(lambda x: np.partition(x, 1, axis=0)[1], stepped(3, 4)),
    case(np.searchsorted, np.array([0.1, 0.4, 0.9]), np.array([0.2, 0.95])),
    case(np.searchsorted, np.array([1, 4, 9]), np.array([4, 0]), side="right"),
    case(lambda a, v: a.searchsorted(v), np.array([1, 4, 9]), np.array([4, 0])),
    case(np.digitize, normal(4), np.array([-0.5, 0.0, 0.5]), single=False),
    case(np.digitize, normal(4), np.array([0.5, 0.0, -0.5]), right=True, single=False),
    case(np.isin, integers(4), np.array([1, 2, 3])),
    case(np.isin, integers(4), np.array([1, 2, 3]), invert=True),
    case(np.bincount, np.array([0, 2, 1, 2])),
    case(np.bincount, np.array([0, 2, 1, 2]), minlength=5),
    case(np.bincount, np.array([0, 2, 1, 2]), normal(4)),
    case(lambda i, w: np.bincount(i, weights=w, minlength=4), np.array([0, 2, 1, 2]), normal(4)),
    case(np.unique, np.array([3, 1, 3, 2])),
    case(lambda x: np.unique(x) * 2.0, stepped(4)),
    case(np.unique, np.array([[3, 1], [1, 2], [3, 1]]), axis=0, return_inverse=True),
    case(lambda x: np.unique(x, True, True, True, axis=1), ROWS),
    case(np.unique, ROWS, axis=-1, equal_nan=False),
    case(lambda x: np.histogram(x, bins=4, range=(-2.0, 2.0))[0] * x[0], normal(5), second=False),
    case(lambda x, e: np.histogram(x, e)[0], tenths(5), np.array([-1.0, 0.0, 2.0]), second=False),
    *(case(written(store), tenths(3, 3), tenths(3, 3)) for store in (filled, outs)),
    *(case(written(store), stepped(3, 3), stepped(3, 3) - 0.04) for store in (highest, lowest)),
    *(case(at(f), tenths(3, 3) + 1.0, tenths(3) + 1.1, of=f.at) for f in PAIRS),
    *(case(at(f), positive(3, 3), positive(3), of=f.at) for f in SINGLE),
    *(
        case(written(store), tenths(3, 3), tenths(3, 3), of=f)
        for f, store in {
            np.add.at: at_rows,
            np.subtract.at: at_rows,
            np.put: put,
            "put": put,
            np.put_along_axis: put_along,
            np.place: masked,
            np.putmask: masked,
            np.copyto: masked,
            np.fill_diagonal: diagonal,
        }.items()
    ),
]
