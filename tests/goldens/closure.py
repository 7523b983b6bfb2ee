import numpy as np


def closure_grad(v, scale):
    """d closure / d v, scale.  From test_goldens.py:110."""
    product = v * scale  # line 113
    tanh_product = np.tanh(product)
    tanh = np.tanh(2 * product)

    product_2 = tanh_product * (1 - tanh ** 2)
    product_3 = tanh * (1 - tanh_product ** 2)
    scale_bar = np.sum(2 * product_2 * v) + np.sum(product_3 * v)
    return product_2 * (2 * scale) + product_3 * scale, scale_bar
