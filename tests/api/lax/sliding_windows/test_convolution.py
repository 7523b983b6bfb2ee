"""Convolutions and windows, against loops written out, against jax.lax, and their derivatives."""

import itertools

import numpy as np
import pytest

import tapeless
from tapeless import lax
from tests.api.lax.tables import agree, by_jax, check_slopes

RNG = np.random.default_rng(5)


def normal(*shape):
    return RNG.normal(size=shape)


NHWC = ("NHWC", "HWIO", "NHWC")
PAIRS = ((1, -1), (0, 2))
CALLS = {
    "same": (
        normal(2, 6, 7, 3),
        normal(3, 2, 3, 4),
        {"padding": "SAME", "dimension_numbers": NHWC},
    ),
    "strides, lower": (
        normal(2, 6, 7, 3),
        normal(3, 2, 3, 4),
        {"window_strides": (2, 3), "padding": "SAME_LOWER", "dimension_numbers": NHWC},
    ),
    "default order": (normal(2, 3, 6, 7), normal(4, 3, 3, 2), {"padding": "VALID"}),
    "dilations": (
        normal(2, 3, 6, 7),
        normal(4, 3, 3, 2),
        {
            "padding": PAIRS,
            "lhs_dilation": (2, 1),
            "rhs_dilation": (1, 2),
            "window_strides": (1, 2),
        },
    ),
    "groups": (
        normal(2, 4, 6, 7),
        normal(6, 2, 3, 2),
        {"padding": "SAME", "feature_group_count": 2},
    ),
    "features by themselves": (
        normal(2, 4, 6, 7),
        normal(8, 1, 3, 2),
        {
            "padding": PAIRS,
            "feature_group_count": 4,
            "rhs_dilation": (2, 1),
            "window_strides": (2, 1),
        },
    ),
    "groups of the batch": (
        normal(4, 3, 6, 7),
        normal(8, 3, 3, 2),
        {"padding": "VALID", "batch_group_count": 2},
    ),
    "one axis": (normal(2, 3, 9), normal(4, 3, 3), {"window_strides": (2,), "padding": "SAME"}),
    "three axes": (
        normal(2, 2, 4, 5, 3),
        normal(3, 2, 2, 3, 2),
        {"window_strides": (2, 1, 1), "padding": "SAME"},
    ),
    "no axes": (normal(2, 3), normal(4, 3), {"window_strides": (), "padding": "VALID"}),
    "window of one": (
        normal(2, 6, 7, 3),
        normal(1, 1, 3, 4),
        {"window_strides": (2, 1), "padding": "VALID", "dimension_numbers": NHWC},
    ),
    "mixed orders": (
        normal(6, 3, 7, 2),
        normal(3, 3, 2, 4),
        {"padding": "SAME", "dimension_numbers": ("HCWN", "HIWO", "CNWH")},
    ),
}


def conv(lax, x, kernel, window_strides=None, padding="SAME", **options):
    strides = (1,) * (x.ndim - 2) if window_strides is None else window_strides
    return lax.conv_general_dilated(x, kernel, strides, padding, **options)


def by_hand(x, kernel, strides, pads):
    """(N, C, H, W) by (O, I, H, W), one number after the other."""
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    n, _, height, width = x.shape
    out, _, h, w = kernel.shape
    rows, columns = (height - h) // strides[0] + 1, (width - w) // strides[1] + 1
    made = np.zeros((n, out, rows, columns))
    for b, o, i, j in itertools.product(*map(range, made.shape)):
        seen = x[b, :, i * strides[0] : i * strides[0] + h, j * strides[1] : j * strides[1] + w]
        made[b, o, i, j] = np.sum(seen * kernel[o])
    return made


@pytest.mark.parametrize("strides", [(1, 1), (2, 3)])
def test_by_hand(strides):
    x, kernel, pads = normal(2, 3, 6, 7), normal(4, 3, 3, 2), [(1, 0), (2, 1)]
    want = by_hand(x, kernel, strides, pads)
    agree(lax.conv_general_dilated(x, kernel, strides, pads), want)
    changed = np.transpose(x, (0, 2, 3, 1)), np.transpose(kernel, (2, 3, 1, 0))
    got = lax.conv_general_dilated(*changed, strides, pads, dimension_numbers=NHWC)
    agree(got, np.transpose(want, (0, 2, 3, 1)))


def test_words_for_padding_by_hand():
    x, kernel = normal(1, 2, 5, 6), normal(3, 2, 3, 2)
    agree(lax.conv(x, kernel, (1, 1), "SAME"), by_hand(x, kernel, (1, 1), [(1, 1), (0, 1)]))
    agree(lax.conv(x, kernel, (2, 2), "SAME"), by_hand(x, kernel, (2, 2), [(1, 1), (0, 0)]))
    agree(lax.conv(x, kernel, (1, 1), "VALID"), by_hand(x, kernel, (1, 1), [(0, 0), (0, 0)]))


def test_groups_by_hand():
    x, kernel = normal(2, 4, 5, 5), normal(6, 2, 3, 3)
    pads = [(1, 1), (1, 1)]
    halves = [by_hand(x[:, k : k + 2], kernel[3 * k // 2 :][:3], (1, 1), pads) for k in (0, 2)]
    got = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", feature_group_count=2)
    agree(got, np.concatenate(halves, 1))


def called(options):
    return lambda lax, x, kernel: conv(lax, x, kernel, **options)


@pytest.fixture(scope="module")
def theirs():
    return by_jax({k: (called(options), (x, w)) for k, (x, w, options) in CALLS.items()})


@pytest.mark.parametrize("name", CALLS)
def test_as_jax_does(name, theirs):
    x, kernel, options = CALLS[name]
    agree(conv(lax, x, kernel, **options), theirs[name], 1e-11)


@pytest.mark.parametrize("name", CALLS)
def test_slopes(name):
    x, kernel, options = CALLS[name]
    check_slopes(lambda x, k: np.sin(conv(lax, x, k, **options)), (x, kernel), 2)


def test_single_precision_stays():
    x, kernel = normal(1, 2, 5, 6).astype(np.float32), normal(3, 2, 3, 2).astype(np.float32)
    made = lax.conv(x, kernel, (1, 1), "SAME")
    assert made.dtype == np.float32
    wide = lax.conv(x, kernel, (1, 1), "SAME", preferred_element_type=np.float64)
    assert wide.dtype == np.float64
    np.testing.assert_allclose(made, wide, rtol=1e-5, atol=1e-5)
    bars = tapeless.grad(lambda x, k: np.sum(lax.conv(x, k, (1, 1), "SAME")), (0, 1))(x, kernel)
    assert [b.dtype for b in bars] == [np.float32, np.float32]


def loss(x, kernel):
    return np.sum(lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=NHWC) ** 2)


def test_derivative_is_loops_of_copies_and_products_of_matrices():
    gradient = tapeless.grad(loss, argnums=(0, 1))
    x, kernel = normal(2, 6, 7, 3), normal(3, 2, 3, 4)
    want = gradient(x, kernel)
    source = gradient.source()
    assert source.count("@") == 3
    assert source.count("    for ") == 4
    for got, bar in zip(tapeless.jit(gradient)(x, kernel), want, strict=True):
        np.testing.assert_allclose(got, bar, rtol=1e-10)


def test_batched():
    many, kernels = normal(3, 2, 6, 7, 3), normal(3, 3, 2, 3, 4)
    got = tapeless.vmap(tapeless.grad(loss, argnums=1), in_axes=(0, None))(many, kernels[0])
    want = [tapeless.grad(loss, argnums=1)(x, kernels[0]) for x in many]
    np.testing.assert_allclose(got, want, rtol=1e-10)
    got = tapeless.vmap(tapeless.grad(loss))(many, kernels)
    want = [tapeless.grad(loss)(x, k) for x, k in zip(many, kernels, strict=True)]
    np.testing.assert_allclose(got, want, rtol=1e-10)


def test_second_order():
    x, kernel = normal(1, 3, 3, 1), normal(2, 2, 1, 1)
    hessian = tapeless.hessian(loss, argnums=1)(x, kernel)
    image = np.transpose(x, (0, 3, 1, 2))
    seen = lax.conv_general_dilated_patches(image, (2, 2), (1, 1), "SAME").reshape(4, 9)
    np.testing.assert_allclose(hessian.reshape(4, 4), 2 * seen @ seen.T)


@pytest.mark.parametrize("padding", ["SAME", "VALID", PAIRS])
@pytest.mark.parametrize("option", ["none", "transpose_kernel", "use_consistent_padding"])
def test_conv_transpose_as_jax_does(padding, option):
    x, kernel = normal(2, 4, 5, 3), normal(3, 2, 3, 3)
    options = {} if option == "none" else {option: True}

    def call(lax, x, kernel):
        many = ((1, 1), (2, 3), (4, 1))
        return [lax.conv_transpose(x, kernel, strides, padding, **options) for strides in many]

    agree(call(lax, x, kernel), by_jax({"all": (call, (x, kernel))})["all"], 1e-11)


def test_conv_transpose_is_the_transpose():
    """<conv(x), y> = <x, conv_transpose(y)>."""
    x, kernel, y = normal(1, 8, 6, 2), normal(3, 3, 2, 4), normal(1, 4, 3, 4)
    there = lax.conv_general_dilated(x, kernel, (2, 2), "SAME", dimension_numbers=NHWC)
    back = lax.conv_transpose(y, kernel, (2, 2), "SAME", transpose_kernel=True)
    np.testing.assert_allclose(np.sum(there * y), np.sum(x * back))


IMAGE = normal(2, 6, 7, 3)
POOLS = {
    "max": (-np.inf, lambda lax: lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID", {}),
    "max, same": (-np.inf, lambda lax: lax.max, (1, 3, 2, 1), (1, 2, 1, 1), "SAME", {}),
    "min, dilated": (
        np.inf,
        lambda lax: lax.min,
        (1, 2, 2, 1),
        (1, 1, 1, 1),
        "VALID",
        {"window_dilation": (1, 2, 1, 1)},
    ),
    "sum, pairs": (
        0.0,
        lambda lax: lax.add,
        (1, 2, 3, 2),
        (1, 1, 2, 1),
        ((0, 0), (1, 2), (3, 0), (0, 1)),
        {},
    ),
    "sum, spread": (
        0.0,
        lambda lax: lax.add,
        (1, 3, 2, 1),
        (1, 1, 1, 1),
        "VALID",
        {"base_dilation": (1, 2, 1, 1)},
    ),
    "greatest, spread, as long as before": (
        -np.inf,
        lambda lax: lax.max,
        (1, 2, 1, 1),
        (1, 2, 2, 1),
        "SAME",
        {"base_dilation": (1, 2, 1, 1)},
    ),
    "product by a function": (
        1.0,
        lambda lax: lambda a, b: a * b,
        (1, 2, 2, 1),
        (1, 1, 1, 1),
        "VALID",
        {},
    ),
}


def pool(lax, name, x):
    init, computation, window, strides, padding, options = POOLS[name]
    return lax.reduce_window(x, init, computation(lax), window, strides, padding, **options)


def test_reduce_window_as_jax_does():
    calls = {name: (lambda lax, x, name=name: pool(lax, name, x), (IMAGE,)) for name in POOLS}
    for name, want in by_jax(calls).items():
        agree(pool(lax, name, IMAGE), want)


@pytest.mark.parametrize("name", POOLS)
def test_slopes_of_reduce_window(name):

    def bounded(x):
        return np.sum(np.where(np.isfinite(y := pool(lax, name, x)), y, 0) ** 2)

    check_slopes(lambda x: np.reshape(bounded(x), (1,)), (IMAGE,), 1)


def test_pools_by_hand():
    got = pool(lax, "max", IMAGE)
    want = IMAGE[:, :, :6].reshape(2, 3, 2, 3, 2, 3).max((2, 4))
    agree(got, want)
    agree(lax.reduce_window(IMAGE, 0.0, lax.add, (1, 6, 7, 1)), IMAGE.sum((1, 2), keepdims=True))


@pytest.mark.parametrize("shape", [(5, 2), (2, 5)])
def test_windows_that_fit_nowhere(shape):
    def pooled(x):
        return lax.reduce_window(x, 0.0, lax.add, (2, 2), (2, 2), window_dilation=(2, 2))

    x = np.ones(shape)
    assert pooled(x).size == 0
    assert tapeless.jit(pooled)(x).shape == pooled(x).shape
    np.testing.assert_array_equal(tapeless.grad(lambda x: np.sum(pooled(x)))(x), np.zeros(shape))
    assert tapeless.vmap(pooled)(np.stack([x, x])).shape == (2, *pooled(x).shape)


def test_first_of_equal_ones_has_the_derivative():
    x = np.array([1.0, 2.0, 2.0, 0.0])

    def f(x):
        return np.sum(lax.reduce_window(x, -np.inf, lax.max, (4,)))

    np.testing.assert_array_equal(tapeless.grad(f)(x), [0, 1, 0, 0])
    assert np.isnan(lax.reduce_window(np.array([1.0, np.nan, 2.0]), -np.inf, lax.max, (3,)))


def test_reduce_window_of_a_tree():
    def better(a, b):
        first = a[0] >= b[0]
        return np.where(first, a[0], b[0]), np.where(first, a[1], b[1])

    values, places = normal(6), np.arange(6)
    got = lax.reduce_window((values, places), (-np.inf, -1), better, (3,))
    agree(got[1], np.array([k + np.argmax(values[k : k + 3]) for k in range(4)]))


def test_patches_and_local_as_jax_does():
    x, kernels = normal(2, 3, 5, 6), normal(4, 18, 5, 3)

    def call(lax, x, kernels):
        args = (x, (3, 2), (1, 2), "SAME")
        return [
            lax.conv_general_dilated_patches(*args),
            lax.conv_general_dilated_patches(*args, rhs_dilation=(1, 2)),
            lax.conv_general_dilated_local(x, kernels, (1, 2), "SAME", (3, 2)),
        ]

    agree(call(lax, x, kernels), by_jax({"all": (call, (x, kernels))})["all"], 1e-11)


def test_patches_by_hand():
    x = normal(1, 2, 3, 3)
    seen = lax.conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID")
    want = [np.ravel(x[0, :, i : i + 2, j : j + 2]) for i in range(2) for j in range(2)]
    agree(seen[0].reshape(8, 4).T, np.array(want))


def test_shapes_ahead():
    x, kernel = (2, 6, 7, 3), (3, 2, 3, 4)
    for padding in ("SAME", "VALID", [(1, 0), (2, 1)]):
        args = (np.zeros(x), np.zeros(kernel), (2, 1), padding)
        made = lax.conv_general_dilated(*args, dimension_numbers=NHWC)
        assert made.shape == lax.conv_general_shape_tuple(x, kernel, (2, 1), padding, NHWC)
        if padding != [(1, 0), (2, 1)]:
            back = lax.conv_transpose(np.zeros(x), np.zeros(kernel), (2, 1), padding)
            assert back.shape == lax.conv_transpose_shape_tuple(x, kernel, (2, 1), padding, NHWC)
    assert lax.padtype_to_pads((6, 7), (3, 2), (2, 1), "SAME") == [(0, 1), (0, 1)]


REFUSED = {
    "dtypes": (
        lambda: lax.conv(np.zeros((1, 1, 3)), np.zeros((1, 1, 2), np.float32), (1,), "SAME"),
        TypeError,
        "must be of one dtype, not float64, float32",
    ),
    "features": (
        lambda: lax.conv(np.zeros((1, 2, 3)), np.zeros((1, 1, 2)), (1,), "SAME"),
        ValueError,
        "lhs has 2 features, and the kernel takes 1 in each of 1 groups",
    ),
    "strides": (
        lambda: lax.conv(np.zeros((1, 1, 3)), np.zeros((1, 1, 2)), (1, 1), "SAME"),
        TypeError,
        "window_strides has 2 entries for 1 axes",
    ),
    "padding": (
        lambda: lax.conv(np.zeros((1, 1, 3)), np.zeros((1, 1, 2)), (1,), "FULL"),
        ValueError,
        "the padding 'FULL' is none of",
    ),
    "words": (
        lambda: lax.conv_dimension_numbers((1, 1, 3), (1, 1, 2), ("NCH", "OIH", "NCW")),
        ValueError,
        "the spatial axes of .* differ",
    ),
    "dilation": (
        lambda: lax.conv_with_general_padding(
            np.zeros((1, 1, 3)), np.zeros((1, 1, 2)), (1,), "SAME", (2,), None
        ),
        ValueError,
        "use lax.conv_transpose",
    ),
    "groups": (
        lambda: lax.conv_general_dilated(
            np.zeros((1, 4, 3)), np.zeros((3, 2, 2)), (1,), "SAME", feature_group_count=2
        ),
        ValueError,
        "3 features out cannot be divided into 2 groups",
    ),
    "window": (
        lambda: lax.reduce_window(np.zeros((2, 2)), 0.0, lax.add, (2,)),
        TypeError,
        "window_dimensions has 1 entries for 2 axes",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    run, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        run()


PADDED = {  # what a window of 3 by 2 makes of the words
    "SAME": ((1, 1), (0, 1)),
    "SAME_LOWER": ((1, 1), (1, 0)),
    "VALID": ((0, 0), (0, 0)),
}


def windows_times(kernel, image, strides, pads):
    """The convolution, place by place of the window."""
    image = np.pad(image, ((0, 0), *pads, (0, 0)))
    high, wide = kernel.shape[:2]
    rows, columns = (image.shape[k + 1] - kernel.shape[k] + 1 for k in (0, 1))
    seen = (
        (i, j, image[:, i : i + rows, j : j + columns]) for i in range(high) for j in range(wide)
    )
    return sum(part @ kernel[i, j] for i, j, part in seen)[:, :: strides[0], :: strides[1]]


@pytest.mark.parametrize(
    ("padding", "strides"),
    [*((word, (1, 1)) for word in PADDED), ("VALID", (2, 3)), (((2, 1), (0, 3)), (2, 1))],
)
def test_one_compilation_is_for_images_of_all_sizes(padding, strides):
    def of(image, kernel):
        return lax.conv_general_dilated(image, kernel, strides, padding, dimension_numbers=NHWC)

    value, slope = (
        tapeless.jit(of),
        tapeless.jit(tapeless.grad(lambda *a: np.sum(of(*a) ** 2), (0, 1))),
    )
    for shape in ((2, 8, 7), (3, 9, 16), (5, 6, 8), (2, 20, 6)):
        image, kernel = normal(*shape, 3), normal(3, 2, 3, 4)
        move = normal(*shape, 3), normal(3, 2, 3, 4)

        def right(x, k):
            return windows_times(k, x, strides, PADDED.get(padding, padding))

        agree(value(image, kernel), right(image, kernel))
        along = [np.sum(s * m) for s, m in zip(slope(image, kernel), move, strict=True)]
        made = right(image, kernel)  # linear in both
        want = [2 * np.sum(made * right(move[0], kernel)), 2 * np.sum(made * right(image, move[1]))]
        np.testing.assert_allclose(along, want, rtol=1e-10)
    assert {c.reason for f in (value, slope) for c in f.compilations} <= {"first call"}


@pytest.mark.parametrize("strides", [(1, 1, 1, 1), (1, 2, 3, 1)])
def test_one_compilation_is_for_pooling_of_all_sizes(strides):
    f = tapeless.jit(lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), strides))
    for shape in ((2, 8, 7, 3), (3, 9, 16, 2), (2, 5, 6, 4)):
        x = normal(*shape)
        parts = [x[:, i : shape[1] - 1 + i, j : shape[2] - 1 + j] for i in (0, 1) for j in (0, 1)]
        agree(f(x), np.maximum.reduce(parts)[:, :: strides[1], :: strides[2]])
    assert {c.reason for c in f.compilations} <= {"first call"}


# What JAX 0.10.2 does, in 64-bit mode: the dtype of the result, or None where it raises TypeError.
MIXED = [
    ("f4", "f8", None, None),
    ("f4", "f2", None, None),
    ("f4", "i1", None, None),
    ("i1", "u1", None, None),
    ("f4", "f8", "f8", None),
    ("i1", "i1", "i4", "i4"),
    ("i1", "i1", "f4", "f4"),
    ("f2", "f2", "f4", "f4"),
    ("f4", "f4", "f2", None),
    ("f4", "f4", "c8", None),
    ("f4", "f4", "f8", "f8"),
    ("?", "?", None, "?"),
]


@pytest.mark.parametrize(("left", "right", "preferred", "wanted"), MIXED)
def test_dtypes_of_operands_and_results(left, right, preferred, wanted):
    x, w = np.ones((1, 1, 3, 3), left), np.ones((1, 1, 2, 2), right)

    def convolved():
        kind = None if preferred is None else np.dtype(preferred)
        return lax.conv_general_dilated(x, w, (1, 1), "VALID", preferred_element_type=kind)

    if wanted is None:
        with pytest.raises(TypeError):
            convolved()
        return
    made = convolved()
    assert made.dtype == np.dtype(wanted)
    np.testing.assert_array_equal(made, np.full((1, 1, 2, 2), 4).astype(wanted))
