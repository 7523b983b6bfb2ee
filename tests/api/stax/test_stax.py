"""Layers and combinators by hand, trained, and against JAX's."""

import numpy as np
import pytest

from tapeless import check_grads, grad, optimizers, random, stax, tree, vmap
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError
from tests.api.jax_peer import jax_or_skip

IMAGES = np.random.default_rng(0).standard_normal((2, 8, 7, 3))
LINES = np.random.default_rng(1).standard_normal((2, 8, 3))
ROWS = np.random.default_rng(2).standard_normal((4, 5))
# A layer by the names that both libraries have, and its inputs.
LAYERS = {
    "Dense": (lambda s: s.Dense(3), ROWS),
    "Dense of images": (lambda s: s.Dense(3), IMAGES),
    "Conv": (lambda s: s.Conv(4, (3, 3)), IMAGES),
    "Conv, same": (lambda s: s.Conv(4, (3, 2), strides=(2, 1), padding="SAME"), IMAGES),
    "Conv, pairs": (lambda s: s.Conv(4, (3, 2), padding=[(1, 0), (2, 1)]), IMAGES),
    "Conv, same lower": (lambda s: s.Conv(4, (2, 2), padding="SAME_LOWER"), IMAGES),
    "Conv, channels first": (
        lambda s: s.GeneralConv(("NCHW", "OIHW", "NHWC"), 4, (3, 3), padding="SAME"),
        IMAGES.transpose(0, 3, 1, 2),
    ),
    "ConvTranspose": (lambda s: s.ConvTranspose(2, (3, 3), strides=(2, 2)), IMAGES),
    "ConvTranspose, same": (
        lambda s: s.ConvTranspose(2, (3, 4), strides=(3, 2), padding="SAME"),
        IMAGES,
    ),
    "Conv1DTranspose": (lambda s: s.Conv1DTranspose(2, (3,), strides=(2,)), LINES),
    "BatchNorm": (lambda s: s.BatchNorm(), IMAGES),
    "BatchNorm, one axis": (lambda s: s.BatchNorm(axis=0, scale=False), ROWS),
    "BatchNorm, an integer of NumPy": (lambda s: s.BatchNorm(axis=np.int64(0)), ROWS),
    "BatchNorm, no center": (lambda s: s.BatchNorm(axis=(0, 1), center=False), LINES),
    "MaxPool": (lambda s: s.MaxPool((2, 2)), IMAGES),
    "MaxPool, same": (lambda s: s.MaxPool((3, 2), strides=(2, 2), padding="SAME"), IMAGES),
    "MaxPool, same lower": (lambda s: s.MaxPool((2, 2), padding="SAME_LOWER"), IMAGES),
    "MaxPool, channels first": (lambda s: s.MaxPool((2, 2), spec="NCHW"), IMAGES),
    "SumPool": (lambda s: s.SumPool((2,), strides=(2,)), LINES),
    "AvgPool": (lambda s: s.AvgPool((2, 3), strides=(2, 1)), IMAGES),
    "AvgPool, same": (lambda s: s.AvgPool((3,), padding="SAME"), LINES),
    "Flatten": (lambda s: s.Flatten, IMAGES),
    "Identity": (lambda s: s.Identity, ROWS),
    "Relu": (lambda s: s.Relu, ROWS),
    "LogSoftmax": (lambda s: s.LogSoftmax, ROWS),
    "elementwise": (lambda s: s.elementwise(np.cos), ROWS),
    "parallel": (
        lambda s: s.serial(s.FanOut(2), s.parallel(s.Dense(3), s.Dense(3)), s.FanInSum),
        ROWS,
    ),
    "joined": (
        lambda s: s.serial(s.FanOut(2), s.parallel(s.Dense(3), s.Identity), s.FanInConcat()),
        ROWS,
    ),
    "shape_dependent": (lambda s: s.shape_dependent(lambda shape: s.Dense(shape[-1])), ROWS),
    "residual block": (
        lambda s: s.serial(
            s.FanOut(2),
            s.parallel(s.serial(s.Conv(3, (3, 3), padding="SAME"), s.BatchNorm()), s.Identity),
            s.FanInSum,
            s.Relu,
        ),
        IMAGES,
    ),
}
ELEMENTWISE = {
    "Tanh": np.tanh,
    "Exp": np.exp,
    "Softplus": lambda x: np.log(1 + np.exp(x)),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Relu": lambda x: np.maximum(x, 0),
    "LeakyRelu": lambda x: np.maximum(x, 0.01 * x),
    "Elu": lambda x: np.where(x > 0, x, np.exp(x) - 1),
    "Selu": lambda x: 1.05070098735548 * np.where(x > 0, x, 1.673263242354377 * (np.exp(x) - 1)),
    "Gelu": lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "Softmax": lambda x: np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True),
}


def _made(name):
    layer, inputs = LAYERS[name]
    init, apply = layer(stax)
    shape, params = init(random.key(3), (-1, *inputs.shape[1:]))
    return shape, params, apply, inputs


@pytest.mark.parametrize("name", LAYERS)
def test_shapes(name):
    shape, params, apply, inputs = _made(name)
    made = apply(params, inputs)
    assert made.shape == tuple(len(inputs) if n == -1 else n for n in shape)
    assert made.dtype == float
    assert shape[0] == -1


@pytest.mark.parametrize("name", ["Conv, same", "ConvTranspose", "AvgPool", "residual block"])
def test_derivatives(name):
    _, params, apply, inputs = _made(name)
    check_grads(apply, (params, inputs), order=1)


@pytest.mark.parametrize("name", LAYERS)
def test_jaxs_layers(name):
    jax = jax_or_skip()
    from jax.example_libraries import stax as peer  # noqa: PLC0415 (optional)

    shape, params, apply, inputs = _made(name)
    init, peer_apply = LAYERS[name][0](peer)
    peer_shape, peer_params = init(jax.random.PRNGKey(3), (-1, *inputs.shape[1:]))
    assert shape[1:] == tuple(peer_shape)[1:]  # where JAX makes 0 of an unknown batch
    assert str(jax.tree.structure(params)) == str(jax.tree.structure(peer_params))
    pairs = zip(tree.leaves(params), jax.tree.leaves(peer_params), strict=True)
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(
        apply(params, inputs), peer_apply(peer_params, inputs), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_functions_of_each_element(name):
    made = getattr(stax, name)[1]((), ROWS)
    np.testing.assert_allclose(made, ELEMENTWISE[name](ROWS), rtol=1e-12)


def test_dense_by_hand():
    _, (w, b), apply, inputs = _made("Dense")
    np.testing.assert_allclose(apply((w, b), inputs), inputs @ w + b, rtol=1e-14)


def test_convolution_by_loops():
    _, (w, b), apply, inputs = _made("Conv")
    made = apply((w, b), inputs)
    want = [
        np.einsum("nhwi,hwio->no", inputs[:, i : i + 3, j : j + 3], w) + b[0, 0]
        for i in range(6)
        for j in range(5)
    ]
    np.testing.assert_allclose(made, np.reshape(want, (6, 5, 2, 4)).transpose(2, 0, 1, 3))


def test_pools_by_hand():
    line = np.array([1.0, 5.0, 2.0, 4.0]).reshape(1, 4, 1)
    pools = {"MaxPool": [5, 5, 4, 4], "SumPool": [6, 7, 6, 4], "AvgPool": [3, 3.5, 3, 4]}
    for name, want in pools.items():
        made = getattr(stax, name)((2,), padding="SAME")[1]((), line)
        assert made.ravel().tolist() == want


def test_batch_norm_by_hand():
    init, apply = stax.BatchNorm(axis=0)
    _, (beta, gamma) = init(random.key(0), (-1, 5))
    made = apply((beta + 1, gamma * 2), ROWS)
    want = 2 * (ROWS - ROWS.mean(0)) / np.sqrt(ROWS.var(0) + 1e-5) + 1
    np.testing.assert_allclose(made, want, rtol=1e-9)


def test_axes_of_batch_norm_from_the_end():
    (shape, params), (_, same) = [
        stax.BatchNorm(axis=axes)[0](random.key(0), (-1, 8, 3)) for axes in ((-3, -2), (0, 1))
    ]
    assert shape == (-1, 8, 3)
    assert [p.shape for p in params] == [p.shape for p in same] == [(3,), (3,)]
    made, want = [stax.BatchNorm(axis=axes)[1](params, LINES) for axes in ((-3, -2), (0, 1))]
    np.testing.assert_array_equal(made, want)


def test_dropout():
    _, apply = stax.serial(stax.Identity, stax.Dropout(0.25))
    ones = np.ones((200, 50))
    made = apply([(), ()], ones, rng=random.key(0))
    assert set(np.unique(made)) == {0.0, 4.0}
    assert made.mean() == pytest.approx(1.0, rel=0.05)
    assert np.array_equal(made, apply([(), ()], ones, rng=random.key(0)))
    assert not np.array_equal(made, apply([(), ()], ones, rng=random.key(1)))
    assert stax.Dropout(0.25, mode="test")[1]((), ones, rng=random.key(0)) is ones
    slopes = grad(lambda x: np.sum(apply([(), ()], x, rng=random.key(0))))(ones)
    np.testing.assert_array_equal(slopes, made)


def test_dropout_without_a_key():
    with pytest.raises(ArgumentError, match="without a key") as caught:
        stax.Dropout(0.5)[1]((), ROWS)
    assert "rng=key" in str(caught.value)


@pytest.mark.parametrize(
    ("made", "shape", "message"),
    [
        (lambda: stax.Conv(1, (3, 3), padding="FULL"), (-1, 8, 8, 1), "padding 'FULL' is none of"),
        (lambda: stax.Conv(1, (3, 3), padding=1), (-1, 8, 8, 1), "a word or pairs"),
        (lambda: stax.Conv(1, (3, 3), strides=2), (-1, 8, 8, 1), "must be integers, not 2"),
        (lambda: stax.ConvTranspose(1, (3, 3), strides=(2,)), (-1, 8, 8, 1), "1 entries for 2"),
        (lambda: stax.Conv(1, (3,)), (-1, 8, 8, 1), "'NHWC' does not name 3 axes"),
        (lambda: stax.Conv(1, (3, 3)), (-1, 8, 1), r"do not have the shape \(-1, 8, 1\)"),
        (lambda: stax.MaxPool((2, 2), strides=2), (-1, 8, 8, 1), "must be integers, not 2"),
        (lambda: stax.SumPool((2,)), (-1, 8, 8, 1), "do not have the 3 axes"),
        (lambda: stax.AvgPool((2, 2), spec="NHW"), (-1, 8, 8, 1), "'NHW' does not name N, C and 2"),
        (lambda: stax.BatchNorm(), (-1, 8), r"do not have the axes \(0, 1, 2\)"),
    ],
)
def test_what_does_not_fit(made, shape, message):
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        made()[0](random.key(0), shape)


def test_examples_one_by_one():
    """Per-example gradients: vmap of grad of a network with a convolution."""
    init, apply = stax.serial(stax.Conv(2, (3, 3)), stax.Relu, stax.Flatten, stax.Dense(1))
    _, params = init(random.key(0), (-1, 8, 7, 3))

    def loss(params, image):
        return np.sum(apply(params, image[None]) ** 2)

    batched = vmap(grad(loss), (None, 0))(params, IMAGES)
    for k, image in enumerate(IMAGES):
        each = tree.leaves(grad(loss)(params, image))
        for got, want in zip(tree.leaves(batched), each, strict=True):
            np.testing.assert_allclose(got[k], want, rtol=1e-9, atol=1e-12)


def test_a_convolutional_network_learns():
    """Bars that lie and bars that stand."""
    rng = np.random.default_rng(0)
    images, labels = 0.3 * rng.standard_normal((24, 6, 6, 1)), np.arange(24) % 2
    for image, label, at in zip(images, labels, rng.integers(0, 6, 24), strict=True):
        image[(at, slice(None)) if label else (slice(None), at)] += 1
    init, apply = stax.serial(
        stax.Conv(4, (3, 3), padding="SAME"),
        stax.Relu,
        stax.MaxPool((2, 2), strides=(2, 2)),
        stax.Flatten,
        stax.Dense(2),
        stax.LogSoftmax,
    )
    _, params = init(random.key(0), (-1, 6, 6, 1))

    def loss(params):
        return -np.mean(apply(params, images)[np.arange(24), labels])

    opt_init, opt_update, get_params = optimizers.adam(0.03)

    slope, state = grad(loss), opt_init(params)
    for i in range(40):
        state = opt_update(i, slope(get_params(state)), state)
    assert np.mean(np.argmax(apply(get_params(state), images), axis=1) == labels) == 1
