import numpy as np


def nested_vmap_vmap(x):
    """nested_vmap for a batch.  From test_goldens_batched.py:120."""
    going = x > 1  # line 122
    going_2 = np.any(going, axis=1)
    x = x.copy()
    while np.any(going_2):
        going_3 = going[going_2]
        x_2 = x[going_2]
        x_3 = np.where(
            going_3,
            x_2,
            x_2[np.arange(going_3.shape[0]), np.argmax(going_3, axis=1)][:, np.newaxis],
        )
        x_3 /= 2  # line 123
        chosen = np.where(going_3, x_3, x_2)  # line 122
        mask = np.where(going_3, x_3 > 1, going_3)
        going[going_2] = mask
        x[going_2] = chosen
        going_2[going_2] = np.any(mask, axis=1)
    return x
