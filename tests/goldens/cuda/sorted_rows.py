import cupy as cp


def median_of_rows(x):
    """median_of_rows.  From programs.py:230."""
    return cp.sort(x)[:, x.shape[1] // 2]
