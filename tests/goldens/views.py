import numpy as np


def views_grad(m):
    """d views / d m.  From test_goldens.py:82."""
    m = m.copy()  # line 84
    m[0] *= 2.0  # line 86
    m_0_1 = m[0, 1]  # line 87
    m[:, 1] = np.sin(m_0_1)

    m_bar = 2 * m  # line 88
    t = m_bar[:, 1].copy()  # line 87
    m_bar[:, 1] = 0.0
    m_bar[0, 1] += np.sum(t) * np.cos(m_0_1)
    m_bar[0] *= 2.0  # line 86
    return m_bar
