import numpy as np


def appended_list_grad(v):
    """d appended_list / d v.  From test_goldens.py:89."""
    n = len(v)  # line 93
    carried = []
    total = 0.0  # line 95
    for i in range(n):
        e = v[i]  # line 93
        total += np.sin(e)  # line 94
        carried.append(total)  # line 95
    t = np.array(carried).copy()  # line 96

    v_bar = np.zeros(v.shape)  # line 93
    total_bar = 0.0  # line 95
    carried = list(2 * t)
    for i in reversed(range(n)):
        e = v[i]  # line 93
        kept = carried.pop()  # line 95
        total_bar += kept
        v_bar[i] += total_bar * np.cos(e)  # line 93
    return v_bar
