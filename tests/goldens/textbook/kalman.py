import numpy as np


def kalman_grad(zs, F, H, R, x, P):
    """d kalman / d F.  From test_goldens_textbook.py:34."""
    n = zs.shape[0]  # line 37
    x_saved = np.empty((zs.shape[0], F.shape[0]))
    P_saved = np.empty((zs.shape[0], F.shape[0], F.shape[0]))
    product_saved = np.empty((zs.shape[0], F.shape[0], F.shape[0]))
    P_saved_2 = np.empty((zs.shape[0], F.shape[0], F.shape[0]))
    y_saved = np.empty(zs.shape)
    product_saved_2 = np.empty((zs.shape[0], F.shape[0], H.shape[0]))
    inv_saved = np.empty((zs.shape[0], H.shape[0], H.shape[0]))
    K_saved = np.empty((zs.shape[0], F.shape[0], H.shape[0]))
    product_saved_3 = np.empty((zs.shape[0], F.shape[0], H.shape[1]))
    for i in range(n):
        x_saved[i] = x
        P_saved[i] = P
        x = F @ x  # line 38
        product = F @ P  # line 39
        product_saved[i] = product
        P = product @ F.T
        P_saved_2[i] = P
        y = zs[i] - H @ x  # line 40
        y_saved[i] = y
        S = H @ P @ H.T + R  # line 41
        product = P @ H.T  # line 42
        product_saved_2[i] = product
        inv = np.linalg.inv(S)
        inv_saved[i] = inv
        K = product @ inv
        K_saved[i] = K
        x += K @ y  # line 43
        product = K @ H  # line 44
        product_saved_3[i] = product
        P -= product @ P

    x_bar = np.zeros(x.shape)  # line 38
    P_bar = np.zeros(P.shape)
    F_bar = np.zeros(F.shape)
    for i in reversed(range(n)):  # line 37
        x = x_saved[i]
        P = P_saved[i]
        product = product_saved[i]
        P_2 = P_saved_2[i]
        y = y_saved[i]
        product_2 = product_saved_2[i]
        inv = inv_saved[i]
        K = K_saved[i]
        product_3 = product_saved_3[i]
        P_bar_2 = P_bar - product_3.T @ P_bar  # line 44
        difference = -2 * y - K.T @ x_bar  # line 43
        K_bar = x_bar[:, np.newaxis] * y - P_bar @ P_2.T @ H.T
        product_4 = inv.T @ (product_2.T @ K_bar @ inv.T)  # line 42
        P_bar_2 += K_bar @ inv.T @ H
        P_bar_2 -= H.T @ (product_4 @ H)  # line 41
        x_bar += H.T @ difference  # line 40
        t_bar = P_bar_2 @ F  # line 39
        F_bar += P_bar_2.T @ product
        P_bar = F.T @ t_bar
        F_bar += t_bar @ P.T
        x_bar_2 = F.T @ x_bar  # line 38
        F_bar += x_bar[:, np.newaxis] * x
        x_bar = x_bar_2
    return F_bar
