import numpy as np


def views_grad(m):
    """d views / d m.  From test_goldens.py:80."""
    m = m.copy()  # line 82
    m[0] = 2.0 * m[0]  # line 84
    m_0_1 = m[0, 1]  # line 85
    m[:, 1] = np.sin(m_0_1)

    m_bar = 2 * m  # line 86
    t = m_bar[:, 1].copy()  # line 85
    m_bar[:, 1] = 0.0
    m_bar[0, 1] += np.sum(t) * np.cos(m_0_1)
    m_bar[0] = 2.0 * m_bar[0]  # line 84
    return m_bar
