import numpy as np


def gradients_by_example_grad_vmap(params, x, y):
    """gradients_by_example_grad for a batch.  From test_goldens_batched.py:43."""
    b1, b2, w1, w2 = params["b1"], params["b2"], params["w1"], params["w2"]
    hidden = np.tanh(x @ w1 + b1)  # line 38
    pred = hidden @ w2 + b2  # line 39

    pred_bar = 2.0 / w2.shape[1] * (pred - y)  # line 40
    b1_bar = pred_bar @ w2.T * (1 - hidden ** 2)  # line 38
    return {
        "w1": x[:, :, np.newaxis] * b1_bar[:, np.newaxis, :],
        "b1": b1_bar,
        "w2": hidden[:, :, np.newaxis] * pred_bar[:, np.newaxis, :],
        "b2": pred_bar,
    }
