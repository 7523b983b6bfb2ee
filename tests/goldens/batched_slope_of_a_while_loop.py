import numpy as np


def slope_of_a_while_loop_grad_vmap(x):
    """slope_of_a_while_loop_grad for a batch.  From test_goldens_batched.py:71."""
    going = x > 1  # line 73
    passes = np.zeros(x.shape, np.int64)
    x_saved = []
    x = x.copy()
    while np.any(going):
        x_2 = x[going]
        x_saved.append(x_2)
        x_2 = 0.7 * x_2 * np.sin(x_2)  # line 74
        passes[going] += 1  # line 73
        x[going] = x_2
        going[going] = x_2 > 1

    x_bar = np.ones(passes.shape)
    for passes_2 in reversed(range(np.max(passes, initial=0))):
        mask = passes_2 < passes
        x_bar_2 = x_bar[mask]
        x = x_saved.pop()
        x_bar_3 = 0.7 * x_bar_2 * x * np.cos(x)  # line 74
        x_bar_3 += 0.7 * x_bar_2 * np.sin(x)
        x_bar[mask] = x_bar_3
    return x_bar
