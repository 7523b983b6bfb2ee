"""Computes norms of gradients, and clips gradients to a norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless import tree

__staged__ = True  # plain NumPy code: a staged run enters it


def l2_norm(tree_of_arrays: Any) -> Any:
    """The root of the sum of the squares of all elements of a tree; its slope at 0 is 0.

    >>> import numpy as np
    >>> float(l2_norm({"a": np.array([3.0]), "b": 4.0}))
    5.0
    """
    return np.linalg.norm(np.array([np.linalg.norm(x) for x in tree.leaves(tree_of_arrays)]))


def clip_grads(grad_tree: Any, max_norm: Any) -> Any:
    """The tree, scaled down to a norm of max_norm where it is longer; integers become floats.

    >>> import numpy as np
    >>> clip_grads({"a": np.array([3.0, 4.0])}, 1.0)
    {'a': array([0.6, 0.8])}
    """
    norm = l2_norm(grad_tree)
    scale = np.where(norm < max_norm, 1.0, max_norm / np.where(norm == 0, 1.0, norm))
    return tree.map(lambda g: g * scale.astype(np.result_type(np.asarray(g), 0.0)), grad_tree)
