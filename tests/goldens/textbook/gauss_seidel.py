import numpy as np


def gauss_seidel_grad(A, b, x, sweeps):
    """d gauss_seidel / d A.  From test_goldens_textbook.py:49."""
    x = x.copy()  # line 51
    n = len(b)  # line 52
    x_saved = np.empty((sweeps, n, len(x)))  # line 53
    s_saved = np.empty((sweeps, n))
    for j in range(sweeps):
        for i in range(n):  # line 54
            x_saved[j, i] = x
            A_i_i = A[i, i]  # line 55
            s = A[i] @ x - A_i_i * x[i]
            s_saved[j, i] = s
            x[i] = (b[i] - s) / A_i_i  # line 56

    A_bar = np.zeros(A.shape)  # line 55
    x_bar = np.ones(x.shape)  # line 53
    for j in reversed(range(sweeps)):
        for i in reversed(range(n)):  # line 54
            x = x_saved[j, i]
            s = s_saved[j, i]
            A_i_i = A[i, i]  # line 55
            ratio = x_bar[i] / A_i_i  # line 56
            difference = ratio * x[i] - ratio * ((b[i] - s) / A_i_i)  # line 55
            x_bar[i] = ratio * A_i_i  # line 56
            A_bar[i, i] += difference  # line 55
            x_bar -= ratio * A[i]
            A_bar[i] -= ratio * x
    return A_bar
