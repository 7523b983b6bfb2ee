"""Each process has some elements of an axis of 7; what each gets is compared with NumPy."""

import sys

import numpy as np

import tapeless
from tapeless import grad, pmap, random
from tapeless.lax import (
    all_gather,
    all_to_all,
    axis_index,
    axis_size,
    pmax,
    pmean,
    pmin,
    ppermute,
    psum,
    psum_scatter,
)

shards = int(sys.argv[1])
tapeless.distributed.initialize()
rank, count = tapeless.process_index(), tapeless.process_count()
x = np.sin(np.arange(21.0)).reshape(7, 3)
cuts = [7 * k // count for k in range(count + 1)]
own = slice(cuts[rank], cuts[rank + 1])
devices = tapeless.local_devices()[:1] * shards


def check(f, want, dtype=np.float64):
    got = pmap(f, axis_name="i", devices=devices)(x[own].astype(dtype))
    np.testing.assert_allclose(got, want[own], rtol=1e-6 if dtype == np.float32 else 1e-13)
    assert got.dtype == dtype


every = np.ones((7, 1))
check(lambda v: psum(v, "i"), every * x.sum(axis=0))
check(lambda v: psum(v, "i"), every * x.sum(axis=0), np.float32)
check(lambda v: pmean(v, "i"), every * x.mean(axis=0))
check(lambda v: pmax(v, "i"), every * x.max(axis=0))
check(lambda v: pmin(v, "i"), every * x.min(axis=0))
check(lambda v: all_gather(v, "i"), np.broadcast_to(x, (7, 7, 3)))
check(lambda v: ppermute(v, "i", [(k, (k + 1) % 7) for k in range(7)]), np.roll(x, 1, axis=0))
check(lambda v: psum_scatter(np.outer(np.arange(7.0), v), "i"), np.outer(np.arange(7.0), x.sum(0)))
check(
    lambda v: all_to_all(np.outer(np.arange(7.0), v), "i", 0, 0),
    np.arange(7.0)[:, None, None] * x,
)
check(lambda v: v * axis_index("i") + axis_size("i"), x * np.arange(7.0)[:, None] + 7)
check(grad(lambda v: psum(np.sum(v**2), "i") * v[0]), 2 * x * x[:, 0].sum()
      + np.sum(x**2) * np.array([1.0, 0.0, 0.0]))  # fmt: skip
masked = np.where(x > 0.9, np.nan, x)
got = pmap(lambda v: pmax(v, "i"), axis_name="i", devices=devices)(masked[own])
np.testing.assert_array_equal(got, (every * masked.max(axis=0))[own])
total = pmap(lambda v: psum(v > 0, "i"), axis_name="i", devices=devices)(x[own])
np.testing.assert_array_equal(total, (every * (x > 0).sum(axis=0))[own])


def noise(key, v):
    mine = random.fold_in(key, axis_index("i"))
    return psum(random.normal(mine, (3,)) * v, "i")


def drawn(key, v):
    return random.uniform(key, (2,)) * v[:2]


keys = random.split(random.key(1), 7)
draws = [drawn(random.clone(keys[k]), x[k]) for k in range(7)]
got = pmap(drawn, devices=devices)(keys[own], x[own])
np.testing.assert_allclose(got, np.array(draws)[own], rtol=1e-13)
total = sum(random.normal(random.fold_in(random.key(2), k), (3,)) * x[k] for k in range(7))
got = pmap(noise, axis_name="i", in_axes=(None, 0), devices=devices)(random.key(2), x[own])
np.testing.assert_allclose(got, (every * total)[own], rtol=1e-13)
sys.stdout.write(f"fine {rank}\n")
