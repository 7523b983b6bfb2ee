import numpy as np


def kepler_vmap(m):
    """kepler for a batch.  From test_goldens_batched.py:78."""
    e = m.copy()
    going = np.ones(m.shape, bool)  # line 81
    for _ in range(50):
        e_2 = e[going]  # line 84
        m_2 = m[going]
        d = (e_2 - 0.3 * np.sin(e_2) - m_2) / (1 - 0.3 * np.cos(e_2))  # line 82
        e[going] -= d  # line 84
        going[going] = np.logical_not(np.abs(d) < 1e-12)
        if not np.any(going):
            break
    return e
