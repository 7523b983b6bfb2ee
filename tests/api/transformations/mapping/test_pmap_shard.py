"""The programs of shards, which show where shards talk. The goldens name lines of this file."""

import numpy as np

import tapeless
from tapeless import grad, pmap
from tapeless.lax import pmean, psum

CPU = tapeless.devices()[:1]


def test_the_program_shows_where_shards_talk(golden):
    def step(params, x, y):
        def loss(params):
            return np.mean((np.tanh(x @ params["w1"]) @ params["w2"] - y) ** 2)

        slope = grad(loss)(params)
        return {k: params[k] - 0.1 * pmean(slope[k], "batch") for k in params}

    params = {"w1": np.ones((5, 4)), "w2": np.ones((4, 2))}
    train = pmap(step, axis_name="batch", in_axes=(None, 0, 0), out_axes=None, devices=CPU * 2)
    golden("spmd/training.py", train.source(params, np.ones((8, 3, 5)), np.ones((8, 3, 2))))
    f = pmap(lambda x: x / psum(x, "i"), axis_name="i", devices=CPU * 2)
    golden("spmd/normalize.py", f.source(np.ones(4)))
    golden("spmd/elementwise.py", pmap(np.tanh, devices=CPU * 2).source(np.ones(4)))
