import numpy as np


def viterbi_grad(logp, logA, logB, obs):
    """d viterbi / d logA.  From test_goldens_textbook.py:101."""
    delta = logp + logB[:, obs[0]]  # line 103
    n = len(obs)  # line 104
    delta_saved = np.empty((len(obs) - 1, logA.shape[1]))
    largest_saved = np.empty((len(obs) - 1, logA.shape[1]))
    for t in range(1, n):
        delta_saved[t - 1] = delta
        largest = np.max(delta[:, np.newaxis] + logA, axis=0)  # line 105
        largest_saved[t - 1] = largest
        delta = largest + logB[:, obs[t]]

    mask = delta == np.max(delta)  # line 106
    logA_bar = np.zeros(logA.shape)  # line 105
    delta_bar = np.where(mask, 1.0 / np.sum(mask, dtype=np.float64), 0.0)  # line 104
    for t in reversed(range(1, n)):
        delta = delta_saved[t - 1]
        largest = largest_saved[t - 1]
        mask_2 = delta[:, np.newaxis] + logA == largest  # line 105
        chosen = np.where(mask_2, delta_bar / np.sum(mask_2, axis=0, dtype=np.float64), 0.0)
        logA_bar += chosen
        delta_bar = np.sum(chosen, axis=1)
    return logA_bar
