"""Provides the solvers of jax.scipy.sparse, for linear equations whose matrix is a function.

>>> import numpy as np
>>> from tapeless.scipy.sparse.linalg import cg
>>> cg(lambda x: 2 * x, np.ones(3))[0]
array([0.5, 0.5, 0.5])
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.scipy.sparse instead of {__name__}")

from tapeless.scipy.sparse import linalg

__all__ = ["linalg"]
