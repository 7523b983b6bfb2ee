"""Derivatives of plain Python functions of pytrees by finite differences, to compare with."""

from dataclasses import fields, is_dataclass, replace

import numpy as np


def children(tree):
    """The subtrees of a tuple, list, dict (by sorted key), dataclass or None; False for a leaf."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        return [tree[key] for key in sorted(tree)]
    if isinstance(tree, (tuple, list)):
        return list(tree)
    if is_dataclass(tree):
        return [getattr(tree, field.name) for field in fields(tree)]
    return False


def leaves(tree):
    """The numbers and arrays of a pytree, in order."""
    subtrees = children(tree)
    if subtrees is False:
        return [tree]
    return [leaf for subtree in subtrees for leaf in leaves(subtree)]


def rebuild(tree, values):
    """The tree with its leaves taken, in order, from the iterator of values."""
    subtrees = children(tree)
    if subtrees is False:
        return next(values)
    rebuilt = [rebuild(subtree, values) for subtree in subtrees]
    if tree is None:
        return None
    if isinstance(tree, dict):
        by_key = dict(zip(sorted(tree), rebuilt, strict=True))
        return {key: by_key[key] for key in tree}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*rebuilt)
    if isinstance(tree, (tuple, list)):
        return type(tree)(rebuilt)
    return replace(
        tree, **{field.name: value for field, value in zip(fields(tree), rebuilt, strict=True)}
    )


def ravel(tree):
    """All numbers of a pytree as one float64 vector."""
    return np.concatenate([np.ravel(np.asarray(leaf, float)) for leaf in leaves(tree)])


def unravel(tree, vector, keep_dtypes=False):
    """A vector's numbers in the structure and shapes of a tree, in float64 or in its dtypes."""
    sizes = [np.size(leaf) for leaf in leaves(tree)]
    pieces = np.split(vector, np.cumsum(sizes)[:-1])
    filled = []
    for leaf, piece in zip(leaves(tree), pieces, strict=True):
        if type(leaf) is float:
            filled.append(float(piece[0]))
        else:
            dtype = leaf.dtype if keep_dtypes else np.float64
            values = piece.reshape(leaf.shape).astype(dtype)
            filled.append(values if isinstance(leaf, np.ndarray) else values[()])
    return rebuild(tree, iter(filled))


def inner(tree, weights):
    """The sum of products of the leaves of a tree with weights, one for each leaf."""
    total = 0.0
    for leaf, weight in zip(leaves(tree), weights, strict=True):
        total = total + np.sum(leaf * weight)
    return total


def signed(size, seed):
    """Random numbers between 1/2 and 1 in absolute value, of either sign: none is lost in a sum."""
    generator = np.random.default_rng(seed)
    return generator.choice([-1.0, 1.0], size) * generator.uniform(0.5, 1.0, size)


def gradient(function, point, step=1e-6):
    """Central differences of a function of a vector, by steps relative to its entries."""
    slopes = np.empty_like(point)
    for i, each in enumerate(point):
        offset = np.zeros_like(point)
        offset[i] = step * max(1.0, abs(each))
        slopes[i] = (function(point + offset) - function(point - offset)) / (2 * offset[i])
    return slopes


def slope(function, point, direction, step=1e-6):
    """The central difference of a function of a vector along a direction."""
    return (function(point + step * direction) - function(point - step * direction)) / (2 * step)


def curvature(function, point, first, second, step=1e-4):
    """The second derivative along two directions."""
    return slope(lambda at: slope(function, at, first, step), point, second, step)
