"""SciPy's functions that work in transformed code, with the names of jax.scipy.

>>> import numpy as np
>>> from tapeless import grad
>>> from tapeless.scipy import stats
>>> grad(stats.norm.logpdf)(1.5)
-1.5
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.scipy instead of {__name__}")
