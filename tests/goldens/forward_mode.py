import numpy as np


def forward_mode_jvp(v, v_dot):
    """forward_mode and its derivative along a tangent.  From test_goldens.py:159."""
    v_1 = v[1]  # line 161
    v_2 = v[2]
    total = v_dot[1] * v_2 + v_dot[2] * v_1
    v = v.copy()
    v[0] = v_1 * v_2
    v_dot = v_dot.copy()
    v_dot[0] = total
    return np.cumsum(np.sin(v)), np.cumsum(v_dot * np.cos(v))
