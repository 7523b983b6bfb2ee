"""Programs as JAX's users write them: staged, they give what they give when they are run."""

import numpy as np
import pytest

import tapeless.numpy as jnp
from tapeless import disable_jit, grad, jit, tree, vmap

X = np.array([1.0, 2.0, 3.0])
MASK = np.array([True, False, True])


def rotation(x):
    t = x[0]
    return jnp.array([[jnp.cos(t), -jnp.sin(t)], [jnp.sin(t), jnp.cos(t)]]) @ x[1:]


def by_dtype(x):
    return x * 2 if jnp.issubdtype(x.dtype, jnp.floating) else x


def by_class(x):
    return x + jnp.finfo(x.dtype).eps if isinstance(x, jnp.ndarray) else x


def in_place(x):
    made = jnp.zeros(x.shape[0] + 1)
    for k in range(x.shape[0]):
        made = made.at[k + 1].set(made[k] + x[k])
    return made


def folded(x):
    return jnp.frompyfunc(lambda a, b: a + b if a > b else b, 2, 1).reduce(x)


PROGRAMS = [
    *(rotation, by_dtype, by_class, in_place, folded),
    lambda x: x.astype(jnp.float32),
    lambda x: (x[:, jnp.newaxis] * x[None]).sum(),
    lambda x: jnp.where(x > 1, jnp.full((3,), jnp.nan), jnp.inf),
    lambda x: jnp.mgrid[0:2, 0:2] * x[0],
    lambda x: jnp.meshgrid(x, x, indexing="ij"),
    lambda x: jnp.r_[x, 1.0],
    lambda x: jnp.linspace(0.0, x[-1], 4),
    lambda x: jnp.pad(x, (1, 1), mode="reflect"),
    lambda x: jnp.select([x < 1.5, x < 2.5], [x, x * 2], 0.0),
    lambda x: jnp.nonzero(x > 1.5, size=3, fill_value=-1),
    lambda x: jnp.unique(x, size=2, return_counts=True),
    lambda x: jnp.zeros_like(x, dtype=jnp.int32),
    lambda x: jnp.mean(x, where=MASK),
    lambda x: jnp.max(x, initial=0.0, where=MASK),
    lambda x: jnp.quantile(x, jnp.array([0.1, 0.5])),
    lambda x: jnp.percentile(x, 30, method="nearest"),
    lambda x: jnp.histogram(x, bins=2),
    lambda x: jnp.apply_along_axis(jnp.sum, 0, jnp.stack([x, x])),
    lambda x: jnp.abs(jnp.fft.fft(x)),
    lambda x: jnp.choose(jnp.array([0, 1, 0]), [x, x * 2]),
    lambda x: jnp.real(jnp.exp(1j * x)),
    lambda x: jnp.take(x, jnp.array([0, 5]), mode="fill"),
    lambda x: sum(jnp.sum(v) for v in [x, x * 2]),
    lambda x: jnp.linalg.eigh(jnp.outer(x, x) + jnp.diag(x))[0],
    lambda x: jnp.add.reduce(x) + jnp.maximum.reduce(x),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_staged_as_run(program):
    wanted = tree.leaves(program(jnp.array(X)))
    with disable_jit():
        made = tree.leaves(jit(program)(X))
    for a, b in zip(made, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
        assert np.asarray(a).dtype == np.asarray(b).dtype


def test_derivatives_and_batches():
    slope = grad(lambda a: jnp.sum(jnp.linalg.cholesky(a)))(jnp.array([[2.0, 0.5], [0.5, 1.0]]))
    np.testing.assert_allclose(slope, slope.T)  # of the symmetric part
    rows = jnp.stack([X, X - 1.0])
    found = vmap(lambda v: jnp.nonzero(v > 1.5, size=3, fill_value=-1)[0])(rows)
    np.testing.assert_array_equal(found, [[1, 2, -1], [2, -1, -1]])
    picked = grad(lambda x: jnp.take(x, jnp.array([0, 2, 2])).sum())(X)
    np.testing.assert_array_equal(picked, [1.0, 0.0, 2.0])
