import numpy as np


def early_return_from_a_loop_grad(v):
    """d early_return_from_a_loop / d v.  From test_goldens.py:126."""
    total_saved = np.empty(v.shape)  # line 129
    total = 0.0
    returned = False
    count = 0
    for i in range(len(v)):
        count += 1
        total_saved[i] = total
        e = v[i]
        total += e * e  # line 130
        if total > 1:
            returned = True
            break

    if returned:  # line 129
        return_value_bar = 1.0
        total_bar = 0.0
    else:
        return_value_bar = 0.0
        total_bar = 1.0
    v_bar = np.zeros(v.shape)
    for i in reversed(range(count)):
        total = total_saved[i]
        e = v[i]
        total += e * e  # line 130
        if total > 1:  # line 131
            total_bar += return_value_bar / total
            return_value_bar = 0.0
        v_bar[i] += 2 * total_bar * e  # line 129
    return v_bar
