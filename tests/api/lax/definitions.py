"""Collectives and what they mean: for arrays of n elements along axis 0, what all of them get."""

import numpy as np

from tapeless.lax import (
    all_gather,
    all_to_all,
    axis_index,
    axis_size,
    pbroadcast,
    pmax,
    pmean,
    pmin,
    ppermute,
    pshuffle,
    psum,
    psum_scatter,
)

N = 6
GROUPS = [[0, 3], [5, 1], [2, 4]]
PAIRS = [[0, 1, 2], [3, 4, 5]]
SHIFT = [(k, (k + 1) % N) for k in range(N)]
SOME = [(0, 4), (4, 1), (5, 0)]
ORDER = [2, 0, 1, 5, 4, 3]


def same(value, n=N):
    """Each of n elements gets the value."""
    return np.stack([value] * n)


def by_group(f, x, groups):
    """f, which says what each element of a batch gets, for each group by itself."""
    made = [None] * len(x)
    for group in groups:
        for k, value in zip(group, f(x[group]), strict=True):
            made[k] = value
    return np.stack(made)


def permuted(x, pairs):
    made = np.zeros_like(x)
    for i, j in pairs:
        made[j] = x[i]
    return made


def exchanged(x, split, concat):
    """Element j gets part j of each."""
    return np.stack(
        [np.stack([np.take(e, j, axis=split) for e in x], axis=concat) for j in range(len(x))]
    )


def joined(x, split, concat):
    n = len(x)
    parts = [np.split(e, n, axis=split) for e in x]
    return np.stack([np.concatenate([p[j] for p in parts], axis=concat) for j in range(n)])


# name: (what one element computes, the shape of its value, what all get)
DEFINITIONS = {
    "psum": (lambda v: psum(v, "i"), (3,), lambda x: same(x.sum(0))),
    "psum of numbers": (lambda v: psum(v, "i"), (), lambda x: same(x.sum(0))),
    "psum in groups": (
        lambda v: psum(v, "i", axis_index_groups=GROUPS),
        (3,),
        lambda x: by_group(lambda g: same(g.sum(0), 2), x, GROUPS),
    ),
    "psum in neighbours": (
        lambda v: psum(v, "i", axis_index_groups=PAIRS),
        (2, 2),
        lambda x: by_group(lambda g: same(g.sum(0), 3), x, PAIRS),
    ),
    "pmean": (lambda v: pmean(v, "i"), (3,), lambda x: same(x.mean(0))),
    "pmean in groups": (
        lambda v: pmean(v, "i", axis_index_groups=GROUPS),
        (),
        lambda x: by_group(lambda g: same(g.mean(0), 2), x, GROUPS),
    ),
    "pmax": (lambda v: pmax(v, "i"), (3,), lambda x: same(x.max(0))),
    "pmin": (lambda v: pmin(v, "i"), (3,), lambda x: same(x.min(0))),
    "pmin in groups": (
        lambda v: pmin(v, "i", axis_index_groups=GROUPS),
        (3,),
        lambda x: by_group(lambda g: same(g.min(0), 2), x, GROUPS),
    ),
    "all_gather": (lambda v: all_gather(v, "i"), (3,), same),
    "all_gather to the end": (
        lambda v: all_gather(v, "i", axis=-1),
        (2, 3),
        lambda x: same(np.moveaxis(x, 0, -1)),
    ),
    "all_gather tiled": (
        lambda v: all_gather(v, "i", axis=1, tiled=True),
        (2, 3),
        lambda x: same(np.concatenate(list(x), axis=1)),
    ),
    "all_gather in groups": (
        lambda v: all_gather(v, "i", axis_index_groups=GROUPS),
        (3,),
        lambda x: by_group(lambda g: same(g, 2), x, GROUPS),
    ),
    "psum_scatter": (lambda v: psum_scatter(v, "i"), (N, 3), lambda x: x.sum(0)),
    "psum_scatter along 1": (
        lambda v: psum_scatter(v, "i", scatter_dimension=1),
        (3, N),
        lambda x: x.sum(0).T,
    ),
    "psum_scatter tiled": (
        lambda v: psum_scatter(v, "i", scatter_dimension=1, tiled=True),
        (2, 2 * N),
        lambda x: np.stack(np.split(x.sum(0), N, axis=1)),
    ),
    "psum_scatter in groups": (
        lambda v: psum_scatter(v, "i", axis_index_groups=PAIRS),
        (3, 2),
        lambda x: by_group(lambda g: g.sum(0), x, PAIRS),
    ),
    "all_to_all": (lambda v: all_to_all(v, "i", 0, 0), (N, 2), lambda x: exchanged(x, 0, 0)),
    "all_to_all 0 to 1": (lambda v: all_to_all(v, "i", 0, 1), (N, 2), lambda x: exchanged(x, 0, 1)),
    "all_to_all 1 to 0": (lambda v: all_to_all(v, "i", 1, 0), (2, N), lambda x: exchanged(x, 1, 0)),
    "all_to_all tiled": (
        lambda v: all_to_all(v, "i", 1, 0, tiled=True),
        (3, 2 * N),
        lambda x: joined(x, 1, 0),
    ),
    "all_to_all in groups": (
        lambda v: all_to_all(v, "i", 0, 1, axis_index_groups=GROUPS),
        (2, 3),
        lambda x: by_group(lambda g: exchanged(g, 0, 1), x, GROUPS),
    ),
    "ppermute": (lambda v: ppermute(v, "i", SHIFT), (3,), lambda x: np.roll(x, 1, axis=0)),
    "ppermute of some": (lambda v: ppermute(v, "i", SOME), (3,), lambda x: permuted(x, SOME)),
    "ppermute of none": (lambda v: ppermute(v, "i", []), (3,), np.zeros_like),
    "ppermute by length": (
        lambda v: ppermute(v, "i", [(k, axis_size("i") - 1 - k) for k in range(axis_size("i"))]),
        (3,),
        lambda x: x[::-1],
    ),
    "pshuffle": (lambda v: pshuffle(v, "i", ORDER), (3,), lambda x: x[ORDER]),
    "pbroadcast": (lambda v: pbroadcast(v, "i", 2), (3,), lambda x: same(x[2])),
    "axis_index": (
        lambda v: v * axis_index("i"),
        (3,),
        lambda x: x * np.arange(N)[:, np.newaxis],
    ),
    "axis_size": (lambda v: v * axis_size("i"), (), lambda x: x * N),
    "psum of a constant": (lambda v: v / psum(1, "i"), (), lambda x: x / N),
    "psum of what all share": (lambda v: v + psum(np.ones(3), "i"), (3,), lambda x: x + N),
    "normalised": (lambda v: v / psum(v**2, "i"), (3,), lambda x: x / (x**2).sum(0)),
    "softmax": (
        lambda v: np.exp(v - pmax(v, "i")) / psum(np.exp(v - pmax(v, "i")), "i"),
        (),
        lambda x: np.exp(x) / np.exp(x).sum(),
    ),
    "several steps": (
        lambda v: relaxed(v, 4),
        (2,),
        lambda x: np.stack(list(relaxed_all(x, 4))),
    ),
}


def relaxed(v, steps):
    for k in range(steps):
        v = np.sin(v) - 0.3 * pmean(v, "i") * (k + 1)
    return v


def relaxed_all(x, steps):
    for k in range(steps):
        x = np.sin(x) - 0.3 * x.mean(axis=0) * (k + 1)
    return x
