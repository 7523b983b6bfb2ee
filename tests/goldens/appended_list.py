import numpy as np


def appended_list_grad(v):
    """d appended_list / d v.  From test_goldens.py:91."""
    n = len(v)  # line 95
    kept = []
    total = 0.0
    for i in range(n):
        e = v[i]
        total += np.sin(e)  # line 96
        kept.append(total)  # line 97

    v_bar = np.zeros(v.shape)  # line 95
    total_bar = 0.0
    kept_bar = list(2 * np.array(kept))
    for i in reversed(range(n)):
        e = v[i]
        item_bar = kept_bar.pop()  # line 97
        total_bar += item_bar
        v_bar[i] += total_bar * np.cos(e)  # line 95
    return v_bar
