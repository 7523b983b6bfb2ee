"""The benchmarked functions, written once for any module that is like NumPy."""

import numpy as np


def models(np):
    """Name -> function of (params, x, y), with `np` that of NumPy, autograd or JAX."""

    def mlp(params, x, y):
        hidden = np.tanh(x @ params["w1"] + params["b1"])
        scores = hidden @ params["w2"] + params["b2"]
        scores = scores - np.max(scores, axis=1, keepdims=True)
        log_p = scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
        return -np.sum(y * log_p) / len(x)

    def mixture(params, x, y):
        scale = np.exp(params["log_scale"])
        apart = (x[:, None, :] - params["means"]) / scale
        log_p = -0.5 * np.sum(apart**2, axis=2) - np.sum(params["log_scale"], axis=1)
        weights = params["weights"]
        log_p = log_p + weights - np.log(np.sum(np.exp(weights)))
        most = np.max(log_p, axis=1, keepdims=True)
        return -np.sum(most[:, 0] + np.log(np.sum(np.exp(log_p - most), axis=1)))

    def logistic(params, x, y):
        margin = y * (x @ params["w"] + params["b"])
        return np.sum(np.log1p(np.exp(-margin))) + 0.1 * np.sum(params["w"] ** 2)

    return {"MLP step": mlp, "GMM likelihood": mixture, "logistic regression": logistic}


def arguments(name):
    """The parameters and data of a model, as NumPy arrays of 64-bit floats."""
    rng = np.random.default_rng(0)
    normal = rng.normal
    if name == "MLP step":
        params = {
            "w1": normal(size=(64, 256)) / 8,
            "b1": np.zeros(256),
            "w2": normal(size=(256, 10)) / 16,
            "b2": np.zeros(10),
        }
        return params, normal(size=(512, 64)), np.eye(10)[rng.integers(0, 10, 512)]
    if name == "GMM likelihood":
        params = {
            "means": normal(size=(16, 8)),
            "log_scale": 0.1 * normal(size=(16, 8)),
            "weights": normal(size=16),
        }
        return params, normal(size=(4000, 8)), None
    params = {"w": normal(size=100) / 10, "b": 0.1}
    return params, normal(size=(5000, 100)), rng.choice([-1.0, 1.0], 5000)
