import numpy as np


def appended_list_grad(v):
    """d appended_list / d v.  From test_goldens.py:89."""
    t = v.shape[0]  # line 93
    t_2 = []
    total = 0.0  # line 95
    for i in range(t):
        e = v[i]  # line 93
        total = total + np.sin(e)  # line 94
        t_2.append(total)  # line 95
    t_2 = np.array(t_2).copy()  # line 96

    v_bar = np.zeros(v.shape)  # line 93
    total_bar = 0.0  # line 95
    t_2 = list(2 * t_2)
    for i in reversed(range(t)):
        e = v[i]  # line 93
        t_3 = t_2.pop()  # line 95
        total_bar += t_3
        v_bar[i] += total_bar * np.cos(e)  # line 93
    return v_bar
