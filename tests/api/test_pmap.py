"""pmap: shards, their programs, and what it is inside other transformations."""

import dataclasses
import inspect
import threading
from collections import namedtuple
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import tapeless
from tapeless import checkpoint, grad, jit, jvp, pmap, random, value_and_grad, vmap
from tapeless.lax import all_gather, axis_index, axis_size, pmax, pmean, psum
from tapeless.transformations.mapping.pmap import evenly

CPU = tapeless.devices()[:1]


def spread(f, shards=3, **options):
    return pmap(f, axis_name="i", devices=CPU * shards, **options)


def normalized(v):
    return v / psum(np.sum(v**2), "i")


def test_the_signature_is_that_of_jax():
    names = "fun axis_name in_axes out_axes devices axis_size static_broadcasted_argnums"
    assert set(inspect.signature(pmap).parameters) == {*names.split(), "donate_argnums", "backend"}


# -- shards


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 8, 17])
@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_elements_go_evenly_to_devices(n, count):
    cuts = evenly(n, count)
    assert [k for low, high in cuts for k in range(low, high)] == list(range(n))
    lengths = [high - low for low, high in cuts]
    assert len(cuts) == max(1, min(n, count))
    assert max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7])
@pytest.mark.parametrize("shards", [1, 2, 3, 5])
def test_any_length(n, shards, rng):
    x = rng.standard_normal((n, 4))
    want = x / np.sum(x**2) + np.arange(n)[:, np.newaxis] / max(n, 1)

    def f(v):
        return normalized(v) + axis_index("i") / axis_size("i")

    assert_allclose(spread(f, shards)(x), want)


def test_each_shard_has_a_thread():
    spread(lambda v: v + psum(np.sum(v), "i"))(np.ones(6))
    mine = [t for t in threading.enumerate() if t.name.startswith("tapeless-shard")]
    assert len(mine) >= 2  # the caller's own thread runs the first of three


def test_one_program_for_shards_of_all_lengths():
    f = spread(lambda v: v - pmean(v, "i"), 2)
    for n in (4, 5, 9):
        x = np.arange(float(n))
        assert_allclose(f(x), x - x.mean())
    assert [len(made) for made in f.shard.cache.values()] == [1]


def test_emitted_code_runs_by_itself():
    text = spread(normalized).source(np.ones((4, 2)))

    class Alone:
        psum = staticmethod(lambda x: x)

    names = {}
    exec(text, names)
    x = np.arange(8.0).reshape(4, 2)
    assert_allclose(names["normalized_shard"](x, Alone()), x / np.sum(x**2))


def test_arguments_with_the_names_that_we_use(rng):
    x = rng.standard_normal((5, 2))

    def f(shards, axis_index, *, axis_size):
        total = psum(shards, "i")
        return total * axis_index + axis_size - all_gather(shards, "i")[0]

    got = spread(f, in_axes=(0, None))(x, 2.0, axis_size=x)
    assert_allclose(got, x.sum(0) * 2.0 + x - x[0])


# -- arguments and results


def test_trees(rng):
    Pair = namedtuple("Pair", "a b")

    @dataclasses.dataclass
    class Both:
        a: object
        b: object

    x = rng.standard_normal((5, 2))
    got = spread(lambda p: Both(p.a + 1, {"u": psum(p.b[0], "i"), "s": "text"}))(Pair(x, [x]))
    assert_allclose(got.a, x + 1)
    assert_allclose(got.b["u"], np.stack([x.sum(0)] * 5))
    assert got.b["s"] == "text"
    got = spread(lambda p: Pair(p.b, p.a))(Both(x, 2 * x))
    assert_allclose(got.a, 2 * x)


def test_axes(rng):
    x, w = rng.standard_normal((4, 5)), rng.standard_normal((4, 3))
    f = spread(lambda v, w: (v @ w, psum(v, "i")), in_axes=(1, None), out_axes=(-1, None))
    product, total = f(x, w)
    assert_allclose(product, (x.T @ w).T)
    assert_allclose(total, x.sum(axis=1))
    assert_allclose(spread(lambda v, *, b: v + b)(x, b=x), 2 * x)


def test_axis_size_without_mapped_arguments():
    f = spread(lambda v: v + axis_index("i"), in_axes=None, axis_size=5)
    assert_array_equal(f(1.0), np.arange(1.0, 6.0))


def test_arrays_from_outside(rng):
    w, x = rng.standard_normal(2), rng.standard_normal((5, 2))
    f = spread(lambda v: v @ w + psum(1, "i"))
    assert_allclose(f(x), x @ w + 5)
    w *= 2
    assert_allclose(f(x), x @ w + 5)


def test_the_arguments_of_the_caller_stay(rng):
    x = rng.standard_normal((5, 2))
    kept = x.copy()

    def f(v):
        v[0] = psum(v[1], "i")
        v *= 2
        return v

    want = np.stack([np.full(5, 2 * kept[:, 1].sum()), 2 * kept[:, 1]], axis=1)
    assert_allclose(spread(f)(x), want)
    assert_array_equal(x, kept)


def test_static_arguments():
    def f(v, how, *, k=1.0):
        return v * 2 * k if how == "double" else v - psum(v, "i")

    mapped = spread(f, static_broadcasted_argnums=1)
    x = np.arange(4.0)
    assert_array_equal(mapped(x, "double"), 2 * x)
    assert_array_equal(mapped(x, "double", k=np.ones(4)), 2 * x)
    assert_array_equal(mapped(x, "centre"), x - 6)
    assert "v - psum" in mapped.source()
    assert_array_equal(jit(lambda x: mapped(x, "double"))(x), 2 * x)
    numbers = pmap(lambda n, v: v**n, static_broadcasted_argnums=(0,), in_axes=(None, 0))
    assert_array_equal(numbers(2, x), x**2)
    assert_array_equal(jit(numbers)(3, x), x**3)
    signs = pmap(lambda v, s: v + np.copysign(1.0, s), static_broadcasted_argnums=1)
    assert_array_equal(signs(x, 0.0) - signs(x, -0.0), np.full(4, 2.0))
    compiled = spread(jit(lambda v, k: v**k + psum(v, "i")), static_broadcasted_argnums=1)
    assert_array_equal(compiled(x, 2), x**2 + 6)
    assert "@njit" in compiled.source()
    with pytest.raises(TypeError, match="a static argument of f is not hashable"):
        mapped(x, [1])


def test_methods_and_partials(rng):
    class Model:
        def __init__(self):
            self.w = np.arange(3.0)

        def out(self, scale, v):
            return scale * np.tanh(v @ self.w)

        def losses(self, xs):
            return pmap(partial(self.out, 2.0), devices=CPU * 2)(xs)

    x = rng.standard_normal((5, 3))
    assert_allclose(Model().losses(x), 2 * np.tanh(x @ np.arange(3.0)))


# -- composition


def test_inside_other_transformations(rng):
    x, d = rng.standard_normal((2, 5, 3))
    f, whole = spread(normalized), vmap(normalized, axis_name="i")
    g, h = (lambda x: np.sum(np.sin(f(x)))), (lambda x: np.sum(np.sin(whole(x))))
    assert_allclose(grad(g)(x), grad(h)(x))
    assert_allclose(jvp(f, (x,), (d,))[1], jvp(whole, (x,), (d,))[1])
    assert_allclose(vmap(f)(np.stack([x, d])), np.stack([f(x), f(d)]))
    assert_allclose(jit(f)(x), f(x))
    assert_allclose(jit(grad(g))(x), grad(g)(x))
    assert_allclose(grad(jit(g))(x), grad(g)(x))


def test_around_other_transformations(rng):
    x = rng.standard_normal((5, 3))
    want = vmap(lambda v: normalized(v), axis_name="i")(x)
    assert_allclose(spread(jit(normalized))(x), want)
    assert_allclose(spread(vmap(lambda a: a / psum(a, "i")))(x), x / x.sum(0))
    slope = grad(lambda v: psum(np.sum(np.sin(v)), "i"))
    assert_allclose(spread(slope)(x), 5 * np.cos(x))
    assert_allclose(
        spread(grad(checkpoint(lambda v: psum(np.sum(np.sin(v)), "i"))))(x), 5 * np.cos(x)
    )
    value, slope = spread(value_and_grad(lambda v: pmean(np.sum(np.sin(v)), "i")))(x)
    assert_allclose(value, np.full(5, np.sin(x).sum() / 5))
    assert_allclose(slope, np.cos(x))
    assert_allclose(spread(lambda v: jvp(normalized, (v,), (v,))[1])(x), vmap(
        lambda v: jvp(normalized, (v,), (v,))[1], axis_name="i")(x))  # fmt: skip


@pytest.mark.parametrize("shards", [1, 3])
def test_random_numbers_of_each_element(shards, rng):
    def noisy(key, v):
        a, b = random.split(key)
        return np.tanh(v * random.normal(a, v.shape)), random.randint(b, (2,), 0, 1000)

    def folded(key, v):
        return psum(random.normal(random.fold_in(key, axis_index("i")), (3,)) * v, "i")

    keys, x = random.split(random.key(3), 5), rng.standard_normal((5, 3))
    expected = [noisy(random.clone(k), v) for k, v in zip(keys, x, strict=True)]
    for f in (noisy, jit(noisy)):
        values, numbers = spread(f, shards)(random.clone(keys), x)
        assert_allclose(values, [v for v, _ in expected], rtol=1e-14)
        assert_array_equal(numbers, [n for _, n in expected])
    slope = grad(lambda v, k: np.sum(noisy(k, v)[0]))
    slopes = [slope(v, random.clone(k)) for k, v in zip(keys, x, strict=True)]
    assert_allclose(spread(slope, shards)(x, random.clone(keys)), slopes, rtol=1e-12)
    total = sum(random.normal(random.fold_in(random.key(1), k), (3,)) * x[k] for k in range(5))
    for f in (folded, jit(folded)):
        found = spread(f, shards, in_axes=(None, 0))(random.key(1), x)
        assert_allclose(found, np.broadcast_to(total, (5, 3)), rtol=1e-13)


def test_shards_of_jit_are_compiled(rng):
    @jit
    def f(v):
        y = np.tanh(v) * np.exp(-v) + v * v
        return np.sqrt(y / psum(np.sum(y), "i"))

    x = rng.uniform(1, 2, (5, 3))
    y = np.tanh(x) * np.exp(-x) + x * x
    mapped = spread(f)
    assert_allclose(mapped(x), np.sqrt(y / y.sum()))
    assert "@njit" in mapped.source()
    assert "shards.psum" in mapped.source()
    with tapeless.disable_jit():
        assert_allclose(mapped(x), np.sqrt(y / y.sum()))
        assert "@njit" not in mapped.source()
    whole = spread(f, 1)
    assert_allclose(whole(x), np.sqrt(y / y.sum()))
    assert "@njit" in whole.source()


def test_sizes_that_are_equal_on_some_shards_only(rng):
    w, x = rng.standard_normal((3, 2)), rng.standard_normal((5, 3))  # shards of 3 and 2 elements

    def f(v, w):
        return np.sum(np.tanh(v @ w)) * psum(v, "i") + np.sum(w)

    want = vmap(f, in_axes=(0, None), axis_name="i")(x, w)
    assert_allclose(spread(f, 2, in_axes=(0, None))(x, w), want)
    assert_allclose(spread(jit(f), 2, in_axes=(0, None))(x, w), want)


def test_pmap_in_pmap(rng):
    x = rng.standard_normal((4, 3))
    f = spread(pmap(lambda v: v / psum(v, ("i", "j")), axis_name="j"))
    assert_allclose(f(x), x / x.sum())


def test_control_flow(rng):
    x = rng.standard_normal((5, 3)) + 2

    def halve(v):
        steps = 0
        while psum(np.sum(v), "i") > 1:
            v = v / 2
            steps += 1
        return v, steps

    want, count = x.copy(), 0
    while want.sum() > 1:
        want, count = want / 2, count + 1
    got, steps = spread(halve)(x)
    assert_allclose(got, want)
    assert_array_equal(steps, np.full(5, count))

    def own(v):  # each element its own branch and number of passes
        total = psum(v[0], "i")
        while v[0] > 0:
            v = v - 1
        return v * 2 if v[1] > 1 else v + total

    assert_allclose(spread(own)(x), vmap(own, axis_name="i")(x))


def test_nan_spreads_to_all(rng):
    x = rng.standard_normal((5, 2))
    x[3, 1] = np.nan
    assert_array_equal(spread(lambda v: pmax(v, "i"))(x), np.stack([x.max(axis=0)] * 5))


# -- errors


def test_an_error_in_one_shard():
    def f(v):
        if v > 3:
            raise ValueError(f"too large: {v}")
        return psum(v, "i")

    with pytest.raises(ValueError, match=r"too large: 4\.0"):
        spread(f)(np.arange(5.0))
    assert_allclose(spread(f)(np.arange(4.0)), np.full(4, 6.0))


def test_an_error_of_numpy_names_the_line():
    def f(v, k):
        total = psum(v, "i")
        return total[k] + v

    with pytest.raises(IndexError) as caught:
        spread(f, in_axes=(0, None))(np.ones((4, 3)), 5)
    (note,) = caught.value.__notes__
    assert "while running the shard of f" in note
    assert "test_pmap.py" in note


@pytest.mark.parametrize(
    ("options", "args", "says"),
    [
        ({}, (np.ones(3), np.ones(2)), "the mapped axes differ in length"),
        ({"in_axes": None}, (np.ones(3), 1.0), "no argument is mapped"),
        ({}, (1.0, 2.0), "axis 0 in in_axes is out of bounds"),
        ({"in_axes": (0,)}, (np.ones(3), 1.0), "in_axes is for 1 positional argument"),
        ({"out_axes": 3}, (np.ones(3), np.ones(3)), "axis 3 in out_axes is out of bounds"),
        ({"out_axes": None}, (np.ones(3), np.ones(3)), "out_axes is None for a result"),
    ],
)
def test_bad_calls(options, args, says):
    f = pmap(lambda a, b: a + b, devices=CPU * 2, **options)
    for call in (f, jit(f), pmap(f.fun, devices=CPU, **options)):
        with pytest.raises(ValueError, match=f"^pmap: .*{says}"):
            call(*args)


def test_bad_options():
    with pytest.raises(ValueError, match="devices is empty"):
        pmap(abs, devices=[])
    with pytest.raises(TypeError, match="static_broadcasted_argnums must be positions"):
        pmap(abs, static_broadcasted_argnums="x")
    with pytest.raises(ValueError, match="static_broadcasted_argnums holds 3, and "):
        pmap(abs, static_broadcasted_argnums=(3, 0))(2, np.ones(3))
    with pytest.raises(TypeError, match="donate_argnums must be positions"):
        pmap(abs, donate_argnums=-1)
    with pytest.raises(TypeError, match="pmap needs a function"):
        pmap(3)
