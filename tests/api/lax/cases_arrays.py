"""Calls of functions that rearrange, reduce, sort and cut arrays."""

import numpy as np

from tests.api.lax.tables import B, Case, J, P, V, X, Y, named

A3 = np.arange(24.0).reshape(2, 3, 4) / 7
T = np.array([[2.0, 1.0, 2.0], [np.nan, 3.0, -1.0]])
WORDS = np.array([1.5, -2.0], np.float32)


def _window_sum(x):
    return np.array([[x[i : i + 2, j : j + 2].sum() for j in range(0, 3, 2)] for i in range(2)])


ARRAYS = {
    # shapes
    "reshape": Case(lambda lax, x: lax.reshape(x, (2, 6)), (X,), lambda x: x.reshape(2, 6), 1),
    "reshape in another order": Case(
        lambda lax, x: lax.reshape(x, (12,), (1, 0)), (X,), lambda x: x.T.reshape(12), 1
    ),
    "transpose": Case(
        lambda lax, x: lax.transpose(x, (2, 0, 1)), (A3,), lambda x: np.moveaxis(x, 2, 0), 1
    ),
    "squeeze": Case(lambda lax, x: lax.squeeze(x, (1,)), (X[:, :1],), lambda x: x[:, 0], 1),
    "expand_dims": Case(
        lambda lax, x: lax.expand_dims(x, (0, 2)), (X,), lambda x: x[None, :, None], 1
    ),
    "collapse": Case(lambda lax, x: lax.collapse(x, 0, 2), (A3,), lambda x: x.reshape(6, 4), 1),
    "broadcast": Case(lambda lax, x: lax.broadcast(x, (2,)), (X,), lambda x: np.stack([x, x]), 1),
    "broadcast_in_dim": Case(
        lambda lax, x: lax.broadcast_in_dim(x, (5, 2), (0,)), (V,), lambda x: np.stack([x, x], 1), 1
    ),
    "broadcast_like": Case(
        lambda lax, x, y: lax.broadcast_like(x, y), (X[0], Y), lambda x, y: np.stack([x] * 3), 1
    ),
    "broadcast_to_rank": Case(
        lambda lax, x: lax.broadcast_to_rank(x, 3), (X,), lambda x: x[None], 1
    ),
    "rev": Case(lambda lax, x: lax.rev(x, (0, 1)), (X,), lambda x: x[::-1, ::-1], 1),
    "concatenate": Case(
        lambda lax, x, y: lax.concatenate([x, y], 1), (X, Y), lambda x, y: np.hstack([x, y]), 2
    ),
    "stack": Case(
        lambda lax, x, y: lax.stack([x, y], 1), (X, Y), lambda x, y: np.stack([x, y], 1), 2
    ),
    "unstack": Case(lambda lax, x: lax.unstack(x, 1), (X,), lambda x: tuple(x.T), 1),
    "split": Case(lambda lax, x: lax.split(x, (1, 3), 1), (X,), lambda x: (x[:, :1], x[:, 1:]), 1),
    "tile": Case(lambda lax, x: lax.tile(x, (2, 1)), (X,), lambda x: np.vstack([x, x]), 1),
    "pad": Case(
        lambda lax, x: lax.pad(x, 0.5, [(1, 0, 0), (0, 2, 0)]),
        (X,),
        lambda x: np.pad(x, [(1, 0), (0, 2)], constant_values=0.5),
        1,
    ),
    "pad within and away": Case(
        lambda lax, x: lax.pad(x, 0.0, [(-1, 2, 1)]),
        (V,),
        lambda x: np.array([0, x[1], 0, x[2], 0, x[3], 0, x[4], 0, 0]),
        1,
    ),
    "pad by a number": Case(
        lambda lax, x, v: lax.pad(x, v[0], [(1, 0, 0), (0, 0, 1)]),
        (X[:, :2], V),
        lambda x, v: np.array([[v[0]] * 3] + [[a, v[0], b] for a, b in x]),
        2,
    ),
    # creation
    "full": Case(lambda lax: lax.full((2, 3), 1.5), (), lambda: np.full((2, 3), 1.5)),
    "full_like": Case(lambda lax, x: lax.full_like(x, 2), (X,), lambda x: 2 + 0 * x),
    "iota": Case(lambda lax: lax.iota(np.int32, 4), (), lambda: np.arange(4, dtype=np.int32)),
    "broadcasted_iota": Case(
        lambda lax: lax.broadcasted_iota(np.float32, (2, 3), 1),
        (),
        lambda: np.array([[0, 1, 2]] * 2, np.float32),
    ),
    "convert_element_type": Case(
        lambda lax, x: lax.convert_element_type(x, np.int32),
        (X * 3,),
        lambda x: np.trunc(x).astype("i4"),
    ),
    "convert_element_type of floats": Case(
        lambda lax, x: lax.convert_element_type(x, np.float64), (X,), lambda x: x, 1
    ),
    "bitcast_convert_type": Case(
        lambda lax, x: lax.bitcast_convert_type(x, np.int32),
        (WORDS,),
        lambda x: x.view(np.int32),
        staged=False,
    ),
    "bitcast_convert_type to parts": Case(
        lambda lax, x: lax.bitcast_convert_type(x, np.uint8),
        (WORDS,),
        lambda x: np.frombuffer(x.tobytes(), np.uint8).reshape(2, 4),
        staged=False,
    ),
    "bitcast_convert_type of parts": Case(
        lambda lax, x: lax.bitcast_convert_type(x, np.float32),
        (WORDS.view(np.uint16).reshape(2, 2),),
        lambda x: WORDS,
        staged=False,
    ),
    "reduce_precision": Case(
        lambda lax, x: lax.reduce_precision(x, 8, 7),
        (np.array([3.14159, 1e39, 1e-39, 1 + 2**-8]),),
        lambda x: np.array([3.140625, np.inf, 0, 1]),
    ),
    # reductions
    "reduce_sum": Case(lambda lax, x: lax.reduce_sum(x, (0,)), (X,), lambda x: x.sum(0), 1),
    "reduce_prod": Case(lambda lax, x: lax.reduce_prod(x, (0, 1)), (P,), np.prod, 1),
    "reduce_max": Case(lambda lax, x: lax.reduce_max(x, (1,)), (X,), lambda x: x.max(1), 1),
    "reduce_min": Case(lambda lax, x: lax.reduce_min(x, (1,)), (X,), lambda x: x.min(1), 1),
    "reduce_and": Case(lambda lax, x: lax.reduce_and(x, (0,)), (B,), lambda x: x.all(0)),
    "reduce_or": Case(lambda lax, x: lax.reduce_or(x, (0,)), (B,), lambda x: x.any(0)),
    "reduce_xor": Case(lambda lax, x: lax.reduce_xor(x, (1,)), (B,), lambda x: x.sum(1) % 2 == 1),
    "reduce_and of integers": Case(
        lambda lax, x: lax.reduce_and(x, (0,)), (J,), lambda x: x[0] & x[1] & x[2]
    ),
    "reduce": Case(
        lambda lax, x: lax.reduce(x, 1.0, lax.add, (1,)), (X,), lambda x: 1 + x.sum(1), 1
    ),
    "reduce by a function": Case(
        lambda lax, x: lax.reduce(x, 0.0, lambda a, b: a + b, (0,)), (X,), lambda x: x.sum(0), 1
    ),
    "argmax": Case(
        lambda lax, x: lax.argmax(x, 1, np.int32), (T,), lambda x: np.array([0, 0], np.int32)
    ),
    "argmin": Case(lambda lax, x: lax.argmin(x, 0, np.int64), (J,), lambda x: np.argmin(x, axis=0)),
    "cumsum": Case(lambda lax, x: lax.cumsum(x, 1), (X,), lambda x: np.cumsum(x, 1), 1),
    "cumsum of small integers": Case(
        lambda lax, x: lax.cumsum(x), (J.astype(np.int8),), lambda x: np.cumsum(x, 0, np.int8)
    ),
    "cumprod": Case(
        lambda lax, x: lax.cumprod(x, 1, True),
        (X,),
        lambda x: np.cumprod(x[:, ::-1], 1)[:, ::-1],
        1,
    ),
    "cummax": Case(lambda lax, x: lax.cummax(x), (X,), np.maximum.accumulate, 1),
    "cummin": Case(lambda lax, x: lax.cummin(x, 0), (X,), np.minimum.accumulate, 1),
    "cumlogsumexp": Case(
        lambda lax, x: lax.cumlogsumexp(x, 1), (X,), lambda x: np.log(np.cumsum(np.exp(x), 1)), 1
    ),
    # order
    "sort": Case(lambda lax, x: lax.sort(x, 0), (X,), lambda x: np.sort(x, 0), 1),
    "sort of several": Case(
        lambda lax, x, k: lax.sort((k, x), num_keys=1)[1],
        (V, np.array([2, 0, 1, 0, 2])),
        lambda x, k: x[[1, 3, 2, 0, 4]],
        1,
    ),
    "sort by two": Case(
        lambda lax, x, k: lax.sort((k, x), num_keys=2)[1],
        (np.array([5.0, 4.0, 3.0, 2.0, 1.0]), np.array([2, 0, 1, 0, 2])),
        lambda x, k: np.array([2.0, 4.0, 3.0, 1.0, 5.0]),
        1,
    ),
    "sort_key_val": Case(
        lambda lax, k, x: lax.sort_key_val(k, x, 0),
        (np.array([3, 1, 2]), np.array([7.0, 8.0, 9.0])),
        lambda k, x: (np.array([1, 2, 3]), np.array([8.0, 9.0, 7.0])),
    ),
    "top_k": Case(
        lambda lax, x: lax.top_k(x, 2),
        (V,),
        lambda x: (np.sort(x)[::-1][:2], np.argsort(x)[::-1][:2].astype(np.int32)),
        1,
    ),
    "top_k of equal ones and NaN": Case(
        lambda lax, x: lax.top_k(x, 2),
        (T,),
        lambda x: (np.array([[2, 2], [np.nan, 3]]), np.array([[0, 2], [0, 1]], np.int32)),
    ),
    "approx_max_k": Case(
        lambda lax, x: lax.approx_max_k(x, 2)[0], (V,), lambda x: np.sort(x)[::-1][:2], 1
    ),
    "approx_min_k": Case(
        lambda lax, x: lax.approx_min_k(x, 2)[0], (V,), lambda x: np.sort(x)[:2], 1
    ),
    # parts
    "slice": Case(
        lambda lax, x: lax.slice(x, (0, 1), (3, 4), (2, 1)), (X,), lambda x: x[::2, 1:], 1
    ),
    "slice_in_dim": Case(
        lambda lax, x: lax.slice_in_dim(x, 1, -1, 2, 1), (X,), lambda x: x[:, 1:3:2], 1
    ),
    "index_in_dim": Case(
        lambda lax, x: lax.index_in_dim(x, -1, 1, False), (X,), lambda x: x[:, 3], 1
    ),
    "index_take": Case(
        lambda lax, x, i, j: lax.index_take(x, (i, j), (0, 1)),
        (X, np.array([0, 2]), np.array([1, 3])),
        lambda x, i, j: x[i, j],
        1,
    ),
    "dynamic_slice": Case(
        lambda lax, x, s: lax.dynamic_slice(x, (s[0], s[1]), (2, 2)),
        (X, np.array([-1, 1])),
        lambda x, s: x[1:3, 1:3],
        1,
    ),
    "dynamic_update_slice": Case(
        lambda lax, x, y, s: lax.dynamic_update_slice(x, y, (s[0], s[1])),
        (X, Y[:2, :2], np.array([7, 0])),
        lambda x, y, s: np.vstack([x[:1], np.hstack([y, x[1:, 2:]])]),
        2,
    ),
    "dynamic_slice_in_dim": Case(
        lambda lax, x, s: lax.dynamic_slice_in_dim(x, s[0], 2, 1),
        (X, np.array([2])),
        lambda x, s: x[:, 2:],
        1,
    ),
    "dynamic_index_in_dim": Case(
        lambda lax, x, s: lax.dynamic_index_in_dim(x, s[0], 1, False),
        (X, np.array([9])),
        lambda x, s: x[:, 3],
        1,
    ),
    "dynamic_update_slice_in_dim": Case(
        lambda lax, x, y, s: lax.dynamic_update_slice_in_dim(x, y, s[0], 1),
        (X, Y[:, :2], np.array([1])),
        lambda x, y, s: np.hstack([x[:, :1], y, x[:, 3:]]),
        2,
    ),
    "dynamic_update_index_in_dim": Case(
        lambda lax, x, y, s: lax.dynamic_update_index_in_dim(x, y, s[0], 0),
        (X, Y[0], np.array([-1])),
        lambda x, y, s: np.vstack([x[:2], y]),
        2,
    ),
    # products
    "dot": named("dot", X, Y.T, want=np.matmul, smooth=2),
    "dot of vectors": named("dot", V, V[::-1], want=np.inner, smooth=2),
    "dot_general": Case(
        lambda lax, x, y: lax.dot_general(x, y, (((2, 1), (1, 2)), ((0,), (0,)))),
        (A3, np.swapaxes(A3, 1, 2)[:, :, :, None] + 1),
        lambda x, y: np.einsum("bij,bjik->bk", x, y),
        2,
    ),
    "batch_matmul": named("batch_matmul", A3, np.swapaxes(A3, 1, 2), want=np.matmul, smooth=2),
    "ragged_dot": Case(
        lambda lax, x, y, n: lax.ragged_dot(x, y, n),
        (A3.reshape(6, 4), np.swapaxes(A3, 1, 2), np.array([2, 3])),
        lambda x, y, n: np.vstack([x[:2] @ y[0], x[2:5] @ y[1], np.zeros((1, 3))]),
        2,
    ),
    "fft": Case(lambda lax, x: lax.fft(x, "RFFT", (4,)), (X,), np.fft.rfft),
    "ifft over two": Case(lambda lax, x: lax.fft(x, "IFFT", (3, 4)), (X,), np.fft.ifft2),
    # windows
    "reduce_window": Case(
        lambda lax, x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 2)), (X,), _window_sum, 1
    ),
    "associative_scan": Case(
        lambda lax, x: lax.associative_scan(lambda a, b: a * b, x, axis=1),
        (X,),
        lambda x: np.cumprod(x, 1),
        1,
    ),
    "associative_scan, reversed": Case(
        lambda lax, x: lax.associative_scan(lambda a, b: a + b, x, reverse=True),
        (V,),
        lambda x: np.cumsum(x[::-1])[::-1],
        1,
    ),
}
