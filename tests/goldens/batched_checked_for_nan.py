import numpy as np


@np.errstate(divide="ignore", invalid="ignore")
def damped_vmap(x):
    """damped for a batch.  From test_first_failure.py:14."""
    code = np.zeros(x.shape, np.int64)  # line 16
    for _ in range(4):  # line 15
        sqrt_x = np.sqrt(x)  # line 16
        mask = np.isnan(sqrt_x)
        chosen = np.where(np.logical_and(mask, np.logical_not(np.isnan(x))), -1, 0)
        code = np.where(code == 0, chosen, code)
        x = sqrt_x - 1.0
        chosen_2 = np.where(np.logical_and(np.isnan(x), np.logical_not(mask)), -2, 0)
        code = np.where(code == 0, chosen_2, code)
    return [code, x.copy()]
