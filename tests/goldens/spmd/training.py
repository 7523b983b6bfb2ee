import numpy as np


def step_shard(params, x, y, axis_size, shards):
    """step for the elements of one shard.  From test_pmap_shard.py:13."""
    w1, w2 = params["w1"], params["w2"]
    tanh = np.tanh(x @ w1)  # line 15

    product = 2.0 / (w2.shape[1] * x.shape[1]) * (tanh @ w2 - y)
    w2_bar = np.swapaxes(tanh, -1, -2) @ product
    w1_bar = np.swapaxes(x, -1, -2) @ (product @ w2.T * (1 - tanh ** 2))
    psum = shards.psum(np.sum(w1_bar, axis=0))  # line 18
    difference = w1 - 0.1 * (psum / axis_size)
    psum_2 = shards.psum(np.sum(w2_bar, axis=0))
    return {"w1": difference, "w2": w2 - 0.1 * (psum_2 / axis_size)}
