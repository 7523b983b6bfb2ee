"""Data-parallel training, which goes on from its file; it fails after a number of steps."""

import sys
from pathlib import Path

import numpy as np

import tapeless
from tapeless import checkpoint_io, grad, pmap
from tapeless.lax import pmean

path, fails_at = Path(sys.argv[1]), int(sys.argv[2])
tapeless.distributed.initialize()
rank, count = tapeless.process_index(), tapeless.process_count()


def loss(params, x, y):
    hidden = np.tanh(x @ params["w1"] + params["b1"])
    return np.sum((hidden @ params["w2"] - y) ** 2)


def step(params, x, y):
    slope = grad(loss)(params, x, y)
    return {k: params[k] - 0.1 * pmean(slope[k], "batch") for k in params}


rng = np.random.default_rng(0)
x, y = rng.standard_normal((16, 5)), rng.standard_normal((16, 2))
params = {
    "w1": rng.standard_normal((5, 4)),
    "b1": np.zeros(4),
    "w2": rng.standard_normal((4, 2)),
}
done = 0
if path.exists():
    done, params = checkpoint_io.load(path, (done, params))
train = pmap(step, axis_name="batch", in_axes=(None, 0, 0), out_axes=None)
own = slice(16 * rank // count, 16 * (rank + 1) // count)
for k in range(done, 20):
    if k == fails_at and rank == count - 1:
        raise RuntimeError("the machine is gone")
    params = train(params, x[own], y[own])
    if rank == 0:
        checkpoint_io.save(path, (k + 1, params))
