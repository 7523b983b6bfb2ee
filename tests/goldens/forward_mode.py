import numpy as np


def forward_mode_jvp(v, v_dot):
    """forward_mode and its derivative along a tangent.  From test_goldens.py:157."""
    t = v[1]  # line 159
    t_2 = v[2]
    t_3 = v_dot[1] * t_2 + v_dot[2] * t
    v = v.copy()
    v[0] = t * t_2
    v_dot = v_dot.copy()
    v_dot[0] = t_3
    return (np.cumsum(np.sin(v)), np.cumsum(v_dot * np.cos(v)))
