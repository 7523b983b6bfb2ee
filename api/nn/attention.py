"""Computes scaled dot-product attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeless.nn.softmaxes import logsumexp, softmax
from tapeless.transformations.public_functions import stop_gradient
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, UnsupportedError

__staged__ = True  # plain NumPy code: a staged run enters it

#: What a masked logit becomes: a row that is masked as a whole then gives the mean, not nan.
MASKED = -0.7 * float(np.finfo(np.float32).max)


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: Any = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: Any = None,
    implementation: Any = None,
    return_residual: bool = False,
) -> Any:
    """softmax(query @ key.T * scale + bias) @ value, for each head.

    query       array of shape (B, T, N, H): batch, target length, heads, features; or (T, N, H)
    key, value  arrays of shape (B, S, K, H), or (S, K, H); N is a multiple of K, and N / K
                neighbouring heads share one (grouped queries)
    bias        array that broadcasts to (B, N, T, S); is added to the logits
    mask        boolean array that broadcasts to (B, N, T, S): which keys a query sees
    scale       of the logits, 1 / sqrt(H) by default
    is_causal   whether a query sees the keys up to its own position only
    query_seq_lengths, key_value_seq_lengths  integers of shape (B,): what lies behind is padding
    local_window_size  (left, right): how far a query sees; an integer is both
    implementation     None or 'xla': there is one
    return_residual    whether a pair is returned: the result, and the logsumexp of the logits, of
                       shape (B, T, N), which is held constant

    Returns an array of the shape of the query; a query that sees no key gets the mean of values.

    Raises ValueError for shapes that do not fit, TypeError for a mask that is not boolean. Source:
    Vaswani et al., "Attention is all you need", NeurIPS 2017; Ainslie et al., "GQA" (2023).

    >>> x = np.arange(6.0).reshape(3, 1, 2)
    >>> dot_product_attention(x, x, x, is_causal=True)[0]
    array([[0., 1.]])
    """
    if implementation not in (None, "xla"):
        raise UnsupportedError(
            f"dot_product_attention has no implementation {implementation!r}", "leave it out"
        )
    batched = np.ndim(query) == 4
    query, key, value, bias, mask = [_four(x) for x in (query, key, value, bias, mask)]
    _check(query, key, value, mask)
    _check_added(bias, "bias", query, key)
    _check_added(mask, "mask", query, key)
    heads, shared = query.shape[2], key.shape[2]
    groups = heads // shared
    q, k, v = _split_groups(query, groups), _split_groups(key, 1), _split_groups(value, 1)
    if scale is None:
        scale = 1.0 / math.sqrt(query.shape[-1])
    logits = (q @ np.swapaxes(k, -1, -2)) * scale
    if bias is not None:
        logits = (logits + _by_group(bias, shared, groups)).astype(logits.dtype)
    for seen in _masks(
        logits.shape[-2:],
        None if mask is None else _by_group(mask, shared, groups),
        is_causal,
        local_window_size,
        (query_seq_lengths, key_value_seq_lengths),
    ):
        logits = np.where(seen, logits, MASKED)
    values = _merge_groups(softmax(logits).astype(key.dtype) @ v)
    if query_seq_lengths is not None:
        real = np.arange(values.shape[1]) < np.asarray(query_seq_lengths)[:, None]
        values = np.where(real[:, :, None, None], values, 0)
    values = values if batched else values[0]
    if not return_residual:
        return values
    residual = stop_gradient(_merge_groups(logsumexp(logits, axis=-1, keepdims=True))[..., 0])
    return values, residual if batched else residual[0]


def _four(x: Any) -> Any:
    """With leading axes of length 1, so that there are four."""
    if x is None:
        return None
    x = np.asarray(x)
    return np.expand_dims(x, tuple(range(4 - x.ndim)))


def _check(query: Any, key: Any, value: Any, mask: Any) -> None:
    if query.ndim != 4 or key.ndim != 4 or value.shape != key.shape:
        raise ArgumentError(
            f"dot_product_attention: query, key and value have shapes {query.shape}, {key.shape} "
            f"and {value.shape}",
            "key and value must have one shape, (B, S, K, H) or (S, K, H)",
        )
    same = (query.shape[0], query.shape[3]) == (key.shape[0], key.shape[3])
    if not same or query.shape[2] % key.shape[2]:
        raise ArgumentError(
            f"dot_product_attention: a query of shape {query.shape} does not fit a key of shape "
            f"{key.shape}",
            "batch and features must be the same, and the heads of the query a multiple",
        )
    if mask is not None and mask.dtype != bool:
        raise ArgumentTypeError(
            f"dot_product_attention: the mask has dtype {mask.dtype}, not bool",
            "pass numbers that are to be added as bias",
        )


def _check_added(x: Any, what: str, query: Any, key: Any) -> None:
    """Refuses a bias or a mask that does not broadcast to the logits."""
    if x is None:
        return
    logits = (query.shape[0], query.shape[2], query.shape[1], key.shape[1])
    if len(x.shape) != 4 or not all(n in (1, m) for n, m in zip(x.shape, logits, strict=True)):
        raise ArgumentError(
            f"dot_product_attention: a {what} of shape {x.shape} does not broadcast to {logits}",
            "the axes are batch, heads of the query, its length, and that of the key",
        )


def _split_groups(x: Any, groups: Any) -> Any:
    """(B, T, K * groups, H) to (B, K, groups, T, H)."""
    b, t, n, h = x.shape
    return np.transpose(np.reshape(x, (b, t, n // groups, groups, h)), (0, 2, 3, 1, 4))


def _merge_groups(x: Any) -> Any:
    b, shared, groups, t, h = x.shape
    return np.reshape(np.transpose(x, (0, 3, 1, 2, 4)), (b, t, shared * groups, h))


def _by_group(x: Any, shared: Any, groups: Any) -> Any:
    """(B, N, T, S) to (B, K, groups, T, S), also where N is 1."""
    b, n, t, s = x.shape
    return x[:, :, None] if n == 1 else np.reshape(x, (b, shared, groups, t, s))


def _masks(shape: Any, mask: Any, is_causal: bool, window: Any, lengths: Any) -> Any:
    """All that says which keys a query sees, to broadcast to (B, K, groups, T, S)."""
    at, of = np.arange(shape[0])[:, None], np.arange(shape[1])
    masks = [] if mask is None else [mask]
    if is_causal:
        masks.append(of <= at)
    if window is not None:
        left, right = window if isinstance(window, (tuple, list)) else (window, window)
        masks.append((of >= at - left) & (of <= at + right))
    for positions, length in zip((at, of), lengths, strict=True):
        if length is not None:
            masks.append(positions < np.asarray(length)[:, None, None, None, None])
    return masks
