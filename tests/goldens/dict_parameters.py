import numpy as np


def dict_parameters_value_and_grad(params, x, y):
    """dict_parameters and d dict_parameters / d params.  From test_goldens.py:32."""
    b1, b2, w1, w2 = params["b1"], params["b2"], params["w1"], params["w2"]
    hidden = np.tanh(x @ w1 + b1)  # line 39
    pred = hidden @ w2 + b2  # line 40
    difference = pred - y  # line 41

    pred_bar = 2.0 / pred.size * difference
    product = pred_bar @ w2.T * (1 - hidden ** 2)  # line 39
    return (
        np.mean(difference ** 2),
        {
            "w1": x.T @ product,
            "b1": np.sum(product, axis=0),
            "w2": hidden.T @ pred_bar,
            "b2": np.sum(pred_bar, axis=0),
        },
    )
