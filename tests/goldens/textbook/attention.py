import numpy as np


def attention_grad(q, k, v):
    """d attention / d q.  From test_goldens_textbook.py:109."""
    sqrt = np.sqrt(q.shape[1])  # line 111
    scores = q @ k.T / sqrt
    largest = np.max(scores, axis=1, keepdims=True)  # line 112
    w = np.exp(scores - largest)
    total = np.sum(w, axis=1, keepdims=True)  # line 113

    mask = scores == largest  # line 112
    total_2 = np.sum(mask, axis=1, keepdims=True, dtype=np.float64)
    w_bar = np.ones((q.shape[0], v.shape[1])) @ v.T / total  # line 113
    w_bar -= np.sum(w_bar * (w / total), axis=1, keepdims=True)
    scores_bar = w_bar * w  # line 112
    chosen = np.where(mask, np.sum(scores_bar, axis=1, keepdims=True) / total_2, 0.0)
    scores_bar -= chosen
    return scores_bar / sqrt @ k
