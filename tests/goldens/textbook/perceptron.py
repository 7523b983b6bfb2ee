import numpy as np


def perceptron_grad(params, x):
    """d perceptron / d params.  From test_goldens_textbook.py:60."""
    W, b, W_2, b_2 = params[0][0], params[0][1], params[1][0], params[1][1]
    x_2 = np.tanh(x @ W + b)  # line 63
    x_3 = np.tanh(x_2 @ W_2 + b_2)

    difference = 1 - x_3 ** 2
    product = difference @ W_2.T * (1 - x_2 ** 2)
    return [
        (x.T @ product, np.sum(product, axis=0)), (x_2.T @ difference, np.sum(difference, axis=0))
    ]
