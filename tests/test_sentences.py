"""Sentences of README.md and docs/ that promise something and that no example of the page tries.

Each stands with the words of its page, so that one does not change without the other.
"""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import tapeless
import tapeless.numpy as jnp
from tapeless import ShapeDtypeStruct, grad, hessian, jit, lax, nn, pmap, random, vmap

pytestmark = pytest.mark.every_case

ROOT = Path(__file__).parents[1]
X = np.array([1.0, 2.0, 3.0])
TWO = tapeless.devices()[:1] * 2


def refused(call, error, words=None):
    with pytest.raises(error, match=words):
        call()
    return True


def products_of_masks(x, y):
    return np.sum(x[x > 0] * y[y > 0])


def one_element(x, y):
    return np.sum(x[x > 0][0] * y)


def stretched(x, y):
    return np.sum(np.resize(x[x > 0], y.shape) * y)


def a_length_of_one():
    short = np.array([1.0, -1.0, -2.0])
    longer = X[:2][[0, 1, 1]]

    def printed(x, y):
        print(end="")  # noqa: T201 (what others see)
        return products_of_masks(x, y)

    refused(lambda: grad(printed)(short, longer), ValueError)
    return bool(np.isfinite(grad(products_of_masks)(short, longer)).all())


def resized():
    x = np.array([2.0, -1.0])
    first = grad(one_element)(x, X).tolist() == [6.0, 0.0]
    return first and grad(stretched)(x, X).tolist() == [6.0, 0.0]


def tanh_network(w, h):
    for t in range(1, len(h)):
        h[t] = np.tanh(w * h[t - 1])
    return h[-1]


def reads_again():
    slope = grad(tanh_network)
    slope(0.5, np.ones(5))
    return "saved" not in slope.source()


def smooth_at_zero(f, bend):
    zero = np.zeros(3)
    value = hessian(f)(zero)
    return np.allclose(value, bend * np.eye(3)) and not grad(f)(zero).any()


def scaled_root(x, k):
    return k * np.sqrt(x)


def argument_of_zero():
    with np.errstate(all="ignore"):
        return bool(np.isnan(grad(scaled_root)(0.0, 0.0)))


def by_generator():
    rng = np.random.default_rng(0)
    slope = grad(lambda x: x * rng.normal())
    slope(1.0)
    return re.search(r"^def \w+\(x, rng\)", slope.source(), re.MULTILINE) is not None


def switched(x):
    return lax.psum(x, "i") if x > 1 else x


def one_device():
    normalize = pmap(lambda x: x / lax.psum(x, "i"), axis_name="i", devices=TWO[:1])
    normalize(X)
    return "shards" not in normalize.source()


def of_groups():
    def f(x):
        return lax.psum(x, "i", axis_index_groups=[[0, 1], [2, 3]])

    return vmap(f, axis_name="i")(np.arange(4.0)).tolist() == [1, 1, 5, 5]


def same_bits():
    x = np.random.default_rng(0).normal(size=(2000, 500))

    def f(x):
        return np.sum(np.exp(x) * x, axis=1)

    return np.array_equal(jit(f)(x), jit(f, parallel=False)(x))


def masked_attention():
    value = np.arange(12.0).reshape(1, 4, 1, 3)
    mask = np.zeros((1, 1, 2, 4), bool)
    key = np.ones((1, 4, 1, 3))
    out = nn.dot_product_attention(key[:, :2], key, value, mask=mask)
    return np.allclose(out, value[0, :, 0].mean(0))


def masked_as_a_whole():
    none = np.zeros(3, bool)
    return not nn.softmax(X, where=none).any() and nn.logsumexp(X, where=none) == -np.inf


def incomplete_gamma_by_its_shape():
    gradient = grad(lambda a: scipy.special.gammainc(a, 1.5))(2.0)
    h = 1e-5
    difference = scipy.special.gammainc(2.0 + h, 1.5) - scipy.special.gammainc(2.0 - h, 1.5)
    return np.isclose(gradient, difference / (2 * h), rtol=1e-8)


def schur_without_derivative():
    a = np.array([[1.0, 2.0], [0.5, 3.0]])
    t, z = jit(lambda a: scipy.linalg.schur(a))(a)
    by_entry = grad(lambda a: np.sum(scipy.linalg.schur(a)[0]))
    return np.allclose(z @ t @ z.T, a) and refused(lambda: by_entry(a), TypeError, "no derivative")


def rows_of_counts():
    found = vmap(lambda x: jnp.nonzero(x, size=2, fill_value=-1)[0])
    return found(np.array([[0, 1, 1], [0, 0, 1]])).tolist() == [[1, 2], [2, -1]]


def taken_beyond():
    table = jnp.arange(3.0)
    modes = {"clip": 2.0, "wrap": 2.0}
    filled = np.isnan(jnp.take(table, 5, mode="fill"))
    return filled and all(jnp.take(table, 5, mode=m) == v for m, v in modes.items())


def functions_of_one_dtype():
    single = np.ones(2, np.float32)
    refused(lambda: lax.add(single, np.ones(2)), TypeError)
    return lax.add(single, 1.5).dtype == np.float32


def first_of_equals():
    def pooled(x):
        return np.sum(lax.reduce_window(x, -np.inf, lax.max, (2,), (2,)))

    return grad(pooled)(np.ones(4)).tolist() == [1, 0, 1, 0]


def wide_integers():
    refused(lambda: jit(lambda x: x + 300)(np.array([1], np.uint8)), OverflowError)
    return bool(jit(lambda x: x > -1)(np.array([1], np.uint8))[0])


def unread_element():
    return jit(lambda x: (x[10], x[0])[1])(X) == 1.0


def doubled_by_a_shape():
    gradient = grad(lambda x: np.sum(x.at[0].set(5.0) * x))
    return gradient(np.ones(2)).tolist() == [5.0, 2.0]


def keyword_mapped():
    return vmap(lambda x, *, y: x + y)(X, y=X).tolist() == [2.0, 4.0, 6.0]


def first_to_fail():
    def root(x):
        if x < 0:
            raise ValueError(f"no root of {x}")
        return np.sqrt(x)

    x = np.array([1.0, -2.0, -3.0])
    refused(lambda: vmap(root)(x), ValueError, "-2")
    return refused(lambda: jit(vmap(root))(x), ValueError, "-2")


def compiled_for_these():
    run = jit(lambda x: x * 2).lower(X).compile()
    return refused(lambda: run(X[:2]), TypeError) and run(X).tolist() == [2, 4, 6]


def counted():
    return grad(lambda rate: 1.0 * random.poisson(random.key(3), rate))(3.0) == 0.0


SENTENCES = [
    (
        "README.md",
        "The emitted code imports numpy, not tapeless",
        lambda: not re.search("import tapeless", jit(grad(lambda x: np.sum(x**2))).source(X)),
    ),
    (
        "docs/guide.md",
        "So are the operands of elementwise operations",
        a_length_of_one,
    ),
    ("docs/guide.md", "Take the element (`x[mask][0]`) or repeat it (`np.resize`)", resized),
    (
        "docs/guide.md",
        "so have `cos`, `cosh` and `sinc` of a norm",
        lambda: all(
            [
                smooth_at_zero(lambda x: np.cos(np.linalg.norm(x)), -1),
                smooth_at_zero(lambda x: np.cosh(np.linalg.norm(x)), 1),
                smooth_at_zero(lambda x: np.sinc(np.linalg.norm(x)), -(np.pi**2) / 3),
            ]
        ),
    ),
    (
        "docs/guide.md",
        "A factor that is an argument is a number, too, even if it is 0",
        argument_of_zero,
    ),
    ("docs/guide.md", "saves nothing", reads_again),
    ("docs/guide.md", "A generator of random numbers stays a parameter", by_generator),
    ("docs/distributed.md", "With one device, or one shard, pmap is `vmap`", one_device),
    (
        "docs/distributed.md",
        "that only some elements take part in is refused, with its line",
        lambda: refused(
            lambda: pmap(switched, axis_name="i", devices=TWO)(X[:2]),
            tapeless.TapelessError,
            "line",
        ),
    ),
    ("docs/distributed.md", "`axis_index_groups` splits an axis into groups", of_groups),
    (
        "docs/profiling.md",
        "A callback has no derivative",
        lambda: refused(
            lambda: grad(lambda x: tapeless.pure_callback(np.sin, ShapeDtypeStruct((), float), x))(
                1.0
            ),
            TypeError,
            "custom_jvp",
        ),
    ),
    ("docs/jit.md", "Results have the same bits for any number of threads", same_bits),
    ("docs/jit.md", "is an `OverflowError`", wide_integers),
    ("docs/jit.md", "What no result needs is not computed, and does not raise", unread_element),
    ("docs/jit.md", "takes arguments of these dtypes and shapes only", compiled_for_these),
    ("docs/libraries.md", "A query that sees no key gets the mean of the values", masked_attention),
    ("docs/libraries.md", "for rows that are masked as a whole", masked_as_a_whole),
    (
        "docs/libraries.md",
        "gamma and beta functions have first derivatives by their shapes",
        incomplete_gamma_by_its_shape,
    ),
    ("docs/libraries.md", "`scipy.linalg.schur` has no derivative", schur_without_derivative),
    (
        "docs/lax.md",
        "Elementwise functions take the dtypes that JAX takes, and refuse others",
        functions_of_one_dtype,
    ),
    (
        "docs/lax.md",
        "Of equal greatest elements of a window the first one has the derivative",
        first_of_equals,
    ),
    ("docs/jnp.md", "With it they go over batches too", rows_of_counts),
    (
        "docs/jnp.md",
        '`mode="drop"`, `"fill"`, `"clip"` and `"wrap"` do what JAX does',
        taken_beyond,
    ),
    ("docs/from-jax.md", "inside, all arrays have", doubled_by_a_shape),
    ("docs/vmap.md", "Arguments passed by name are mapped over axis 0", keyword_mapped),
    ("docs/vmap.md", "with the message of the first that does", first_to_fail),
    (
        "docs/random.md",
        "Counts (`poisson`, `binomial`, ...) and choices have derivative zero",
        counted,
    ),
]


@pytest.mark.parametrize(("page", "words", "holds"), SENTENCES, ids=[w for _, w, _ in SENTENCES])
def test_a_sentence_holds(page, words, holds):
    assert words in (ROOT / page).read_text(encoding="utf-8")
    assert holds()
