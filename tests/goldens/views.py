import numpy as np


def views_grad(m):
    """d views / d m.  From test_goldens.py:80."""
    m = m.copy()  # line 82
    t = m[0]  # line 83
    t_2 = t.copy()
    t_2[:] = 2.0 * t  # line 84
    m[0] = t_2
    t = m.T  # line 85
    t_2 = m[0, 1]
    t[1] = np.sin(t_2)
    t = t.T

    t = (t + t).T
    t_3 = t[1]
    t = t.copy()
    t[1] = 0.0
    t = t.T
    t[0, 1] += np.sum(t_3) * np.cos(t_2)
    t_2 = t[0]  # line 84
    m_bar = t.copy()
    m_bar[0] = 0.0
    t = t_2.copy()
    t[:] = 0.0
    m_bar[0] += t
    m_bar[0] += 2.0 * t_2
    return m_bar
