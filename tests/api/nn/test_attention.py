"""Attention against loops over batch, heads and positions, and against JAX."""

import numpy as np
import pytest

from tapeless import check_grads, jit, nn, vmap
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from tests.api.jax_peer import jax_or_skip

RNG = np.random.default_rng(0)
B, T, S, N, K, H = 2, 3, 4, 4, 2, 3
QUERY = RNG.standard_normal((B, T, N, H))
KEY, VALUE = RNG.standard_normal((2, B, S, K, H))
BIAS = RNG.standard_normal((B, N, T, S))
MASK = RNG.random((B, 1, T, S)) < 0.6
MASK[..., 0] = True  # each query sees something
OPTIONS = {
    "plain": {},
    "scale": {"scale": 0.3},
    "bias": {"bias": BIAS},
    "one bias for all heads": {"bias": BIAS[:, :1]},
    "mask": {"mask": MASK},
    "causal": {"is_causal": True},
    "window": {"local_window_size": (1, 0)},
    "symmetric window": {"local_window_size": 1},
    "lengths": {
        "query_seq_lengths": np.array([3, 2], np.int32),
        "key_value_seq_lengths": np.array([2, 4], np.int32),
    },
    "bias, mask, causal": {"bias": BIAS, "mask": MASK, "is_causal": True},
}


def _seen(b, t, s, options):
    """Whether a query sees a key."""
    left, right = np.broadcast_to(options.get("local_window_size", T + S), 2)
    ends = options.get("key_value_seq_lengths", np.full(B, S))
    return (
        options.get("mask", np.ones((B, 1, T, S), bool))[b, 0, t, s]
        and (s <= t or not options.get("is_causal"))
        and t - left <= s <= t + right
        and s < ends[b]
    )


def _by_loops(options):
    made = np.zeros((B, T, N, H))
    bias = np.broadcast_to(options.get("bias", 0.0), (B, N, T, S))
    for b, t, n in np.ndindex(B, T, N):
        seen = [s for s in range(S) if _seen(b, t, s, options)]
        k = n // (N // K)
        logits = np.array([QUERY[b, t, n] @ KEY[b, s, k] for s in seen])
        logits = logits * options.get("scale", 1 / np.sqrt(H)) + bias[b, n, t, seen]
        weights = np.exp(logits) / np.exp(logits).sum()
        made[b, t, n] = weights @ VALUE[b, seen, k]
    if "query_seq_lengths" in options:
        for b, length in enumerate(options["query_seq_lengths"]):
            made[b, length:] = 0
    return made


@pytest.mark.parametrize("name", OPTIONS)
def test_values(name):
    made = nn.dot_product_attention(QUERY, KEY, VALUE, **OPTIONS[name])
    np.testing.assert_allclose(made, _by_loops(OPTIONS[name]), rtol=1e-12)


@pytest.mark.parametrize("name", OPTIONS)
def test_jaxs_values(name):
    """JAX takes the softmax in float32."""
    peer = jax_or_skip().nn.dot_product_attention
    made = nn.dot_product_attention(QUERY, KEY, VALUE, **OPTIONS[name])
    np.testing.assert_allclose(made, peer(QUERY, KEY, VALUE, **OPTIONS[name]), rtol=2e-5, atol=2e-6)


def test_derivatives():
    def attend(query, key, value, bias):
        return nn.dot_product_attention(query, key, value, bias, mask=MASK)

    check_grads(attend, (QUERY, KEY, VALUE, BIAS), order=1)


def test_under_jit_and_vmap():
    def attend(query, key, value):
        return nn.dot_product_attention(query, key, value, is_causal=True)

    want = attend(QUERY, KEY, VALUE)
    np.testing.assert_allclose(jit(attend)(QUERY, KEY, VALUE), want, rtol=1e-12)
    np.testing.assert_allclose(vmap(attend)(QUERY, KEY, VALUE), want, rtol=1e-12)


def test_residuals():
    made, residual = nn.dot_product_attention(
        QUERY[0], KEY[0], VALUE[0], scale=1.0, return_residual=True
    )
    assert (made.shape, residual.shape) == ((T, N, H), (T, N))
    logits = np.einsum("tnh,snh->tns", QUERY[0], KEY[0].repeat(2, axis=1))
    np.testing.assert_allclose(residual, np.log(np.exp(logits).sum(-1)), rtol=1e-12)


def test_a_query_that_sees_nothing_gets_the_mean():
    mask = np.zeros((1, 1, T, S), bool)
    made = nn.dot_product_attention(QUERY, KEY, VALUE, mask=mask)
    np.testing.assert_allclose(made[:, 0, 0], VALUE[:, :, 0].mean(axis=1), rtol=1e-12)


def test_float32_stays():
    arrays = [x.astype(np.float32) for x in (QUERY, KEY, VALUE, BIAS)]
    assert nn.dot_product_attention(*arrays).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nn.dot_product_attention(QUERY, KEY, VALUE[:, 1:]), ArgumentError, "one shape"),
        (lambda: nn.dot_product_attention(QUERY[:, :, 1:], KEY, VALUE), ArgumentError, "multiple"),
        (lambda: nn.dot_product_attention(QUERY[..., 1:], KEY, VALUE), ArgumentError, "features"),
        (
            lambda: nn.dot_product_attention(QUERY, KEY, VALUE, mask=1.0 * MASK),
            ArgumentTypeError,
            "as bias",
        ),
        (
            lambda: nn.dot_product_attention(QUERY, KEY, VALUE, mask=MASK[..., 1:]),
            ArgumentError,
            "a mask of shape",
        ),
        (
            lambda: nn.dot_product_attention(QUERY, KEY, VALUE, np.zeros((1, 3, 1, 1))),
            ArgumentError,
            "a bias of shape (1, 3, 1, 1) does not broadcast",
        ),
        (
            lambda: nn.dot_product_attention(QUERY, KEY, VALUE, implementation="cudnn"),
            UnsupportedError,
            "leave it out",
        ),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
