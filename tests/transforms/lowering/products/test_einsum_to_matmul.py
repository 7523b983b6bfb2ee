"""np.einsum in compiled programs: products of matrices, with NumPy's values, dtypes and axes."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap

LENGTHS = dict(zip("ijklmb", (3, 4, 5, 2, 6, 3), strict=True))


def operands(subscripts, dtype, rng):
    made = []
    for letters in subscripts.partition("->")[0].split(","):
        x = rng.normal(size=[LENGTHS[c] for c in letters])
        y = rng.normal(size=x.shape)
        made.append((5 * (x + 1j * y if np.dtype(dtype).kind == "c" else x)).astype(dtype))
    return made


def random_subscripts(seed):
    rng = np.random.default_rng(seed)
    count = rng.integers(1, 5)
    inputs = ["".join(rng.permutation(list(LENGTHS))[: rng.integers(1, 5)]) for _ in range(count)]
    letters = rng.permutation(sorted({*"".join(inputs)}))
    return f"{','.join(inputs)}->{''.join(letters[: rng.integers(0, 5)])}"


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "c16"])
@pytest.mark.parametrize("seed", range(12))
def test_random_subscripts(seed, dtype, rng):
    subscripts = random_subscripts(seed)
    args = operands(subscripts, dtype, rng)

    def f(*args):
        return np.einsum(subscripts, *args)

    found, wanted = jit(f)(*args), f(*args)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    tolerance = 1e-4 if dtype == "f4" else 1e-10
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * 100)
    if dtype == "f8":
        many = tuple(range(len(args)))
        slopes = [run(lambda *a: np.sum(np.sin(f(*a))), many) for run in (grad, _fast)]
        for plain, fast in zip(*(slope(*args) for slope in slopes), strict=True):
            np.testing.assert_allclose(fast, plain, rtol=1e-8, atol=1e-8)


def _fast(f, argnums):
    return jit(grad(f, argnums))


@pytest.mark.parametrize(
    ("subscripts", "text"),
    [
        ("ij,jk->ik", "matmul(a, b)"),
        ("ij,kj->ik", "matmul(a, b.T)"),
        ("ij,jk->ki", "matmul(b.T, a.T)"),
        ("bij,bjk->bik", "matmul(a, b)"),
        ("bij,bkj->bik", "matmul(a, np.swapaxes(b, -1, -2))"),
    ],
)
def test_two_arrays_are_one_product(subscripts, text, rng):
    f = jit(lambda a, b: np.einsum(subscripts, a, b))
    f(*operands(subscripts, "f8", rng))
    assert text in f.source()
    assert "np.einsum" not in f.source()


def test_the_order_takes_the_fewest_multiplications(rng):
    def chain(a, b, v):
        return np.einsum("ij,jk,k->i", a, b, v)

    a, b, v = rng.normal(size=(30, 40)), rng.normal(size=(40, 50)), rng.normal(size=50)
    f = jit(chain)
    np.testing.assert_allclose(f(a, b, v), a @ (b @ v))
    assert "matmul(b, v)" in f.source()  # of matrices with vectors


def test_what_is_no_product_stays(rng):
    square = rng.normal(size=(3, 3))
    f = jit(lambda a: np.einsum("ii->i", a))
    assert "np.diagonal(a)" in f.lower(square).source()
    np.testing.assert_array_equal(f(square), np.diag(square))
    thin = rng.normal(size=(3, 1))
    f = jit(lambda a, b: np.einsum("ij,ij->i", a, b))
    np.testing.assert_allclose(f(square, thin), np.sum(square * thin, axis=1))
    exact = jit(lambda a: np.einsum("ij,kj->ik", a, a), fastmath=False)
    np.testing.assert_array_equal(exact(square), np.einsum("ij,kj->ik", square, square))


def test_in_a_loop_and_in_a_batch(rng):
    def f(a, b):
        for _ in range(3):
            a = np.tanh(np.einsum("ij,kj->ik", a, b))
        return np.einsum("ij,ij->", a, a)

    a, b = rng.normal(size=(2, 5, 4)), rng.normal(size=(4, 4))
    np.testing.assert_allclose(jit(f)(a[0], b), f(a[0], b))
    found = jit(vmap(grad(f), in_axes=(0, None)))(a, b)
    np.testing.assert_allclose(found, [grad(f)(x, b) for x in a])


def test_sizes_of_later_calls(rng):
    f = jit(lambda a, b: np.einsum("ij,jk->ik", a, b))
    for n, m, k in ((3, 4, 5), (7, 1, 2), (0, 4, 5), (3, 0, 2)):
        a, b = rng.normal(size=(n, m)), rng.normal(size=(m, k))
        np.testing.assert_allclose(f(a, b), a @ b)
    with pytest.raises(ValueError, match="broadcast"):
        f(rng.normal(size=(3, 4)), rng.normal(size=(5, 2)))
