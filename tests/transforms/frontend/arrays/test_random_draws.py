"""Random numbers of NumPy: drawn when the program runs, in the order of the program."""

import functools

import numpy as np
import pytest

import tapeless
from tapeless import (
    TapelessError,
    checkpoint,
    grad,
    jit,
    jvp,
    linearize,
    pmap,
    value_and_grad,
    vjp,
    vmap,
)
from tapeless.transforms.optimize import outline

X = np.array([1.0, 2.0, 3.0])
ROWS = np.arange(9.0).reshape(3, 3) + 1.0
rng = np.random.default_rng(0)


class Model:
    def __init__(self):
        self.rng = np.random.default_rng(1)

    def loss(self, x):
        return np.sum(x * (self.rng.random(3) < 0.5))


def noisy(x):
    return np.sum(x) * rng.normal()


def in_a_loop(x, n=3):
    total = 0.0
    for _ in range(n):
        total = total + np.sum(np.sin(x * rng.standard_normal(x.shape)))
    return total


def to_a_length_of_its_own(x):
    total = 1.0
    while total < 3.0:
        total = total + np.abs(rng.normal())
    return np.sum(x) * total


def in_a_branch(x):
    scale = rng.normal() if np.sum(x) > 3.0 else rng.uniform(1.0, 2.0)
    return np.sum(x) * scale


def dropout(x, keep=0.5):
    return np.sum(np.where(rng.random(x.shape) < keep, x, 0.0) / keep)


def minibatch(x):
    return np.sum(x[rng.integers(0, len(x), size=2)] ** 2) + x[rng.choice(3, replace=False)]


def shuffled(x):
    return np.sum(x[rng.permutation(len(x))] * np.arange(3))


def in_order(x):
    rng.normal(size=2)  # not used, but drawn
    b = rng.normal(1.0, 2.0, size=3)
    return np.sum(x * b) - np.sum(x**2 * rng.gamma(2.0, size=(3,)))


def many(x):
    parts = [rng.beta(2.0, 3.0), rng.poisson(2.0), rng.binomial(5, 0.3), rng.exponential(2.0, 1)[0]]
    return np.sum(x) * sum(parts) * rng.laplace(X, 0.1)[1]


def of_the_module(x):
    np.random.seed(3)
    return np.sum(x * np.random.rand(3) * np.random.randn() * np.random.uniform(0, 1, 3))


def of_a_kind(x):
    made = rng.random(3, dtype=np.float32)
    assert made.dtype == np.float32
    return np.sum(x * made)


def reset():
    global rng
    rng = np.random.default_rng(5)
    np.random.seed(7)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        noisy,
        in_a_loop,
        to_a_length_of_its_own,
        in_a_branch,
        dropout,
        minibatch,
        shuffled,
        in_order,
        many,
        of_the_module,
        of_a_kind,
    ],
)
def test_the_program_draws_what_the_function_draws(function, compiled):
    transformed = value_and_grad(function)
    transformed = jit(transformed) if compiled else transformed
    for _ in range(2):  # a generator in place of the old one is seen
        reset()
        made = [transformed(X) for _ in range(3)]
        reset()
        np.testing.assert_allclose([value for value, _ in made], [function(X) for _ in range(3)])
    for k, direction in enumerate(np.eye(3)):
        reset()
        up = function(X + 1e-6 * direction)
        reset()
        down = function(X - 1e-6 * direction)
        np.testing.assert_allclose(made[0][1][k], (up - down) / 2e-6, rtol=1e-6, atol=1e-8)


def test_every_derivative_sees_the_numbers_of_its_value():
    value, back = vjp(noisy, X)
    np.testing.assert_allclose(back(1.0)[0], np.full(3, value / 6))
    value, push = linearize(noisy, X)
    np.testing.assert_allclose(push(np.ones(3)), value / 2)
    value, dot = jvp(noisy, (X,), (np.ones(3),))
    np.testing.assert_allclose(dot, value / 2)


def test_generators_of_objects_and_arguments():
    slope = grad(Model().loss)
    assert len({tuple(slope(X)) for _ in range(30)}) > 3
    given = np.random.default_rng(2)
    slope = grad(lambda x, g: np.sum(x * g.normal(size=3)))
    made = [slope(X, given) for _ in range(2)]
    same = np.random.default_rng(2)
    np.testing.assert_array_equal(made, [same.normal(size=3), same.normal(size=3)])


def test_each_element_of_a_batch_draws_its_own():
    reset()
    got = vmap(noisy)(ROWS)
    reset()
    np.testing.assert_allclose(got, [noisy(row) for row in ROWS])
    spread = vmap(lambda x: rng.normal(x, 1e-9, size=(2, 3)) + rng.integers(1, 2))(ROWS)
    np.testing.assert_allclose(spread, np.repeat(ROWS[:, None], 2, axis=1) + 1, rtol=1e-6)


def initial(n, scale):
    np.random.seed(0)
    return np.random.rand(n) * scale


def layers(x):
    w, b = initial(3, 0.5), initial(3, 0.1)
    return np.tanh(w * x + b) + np.random.normal(1.0, 2.0, 3)


@pytest.mark.parametrize("saves", [1, 24])
def test_after_a_seed_all_elements_draw_the_same(monkeypatch, saves):
    monkeypatch.setattr(outline, "SAVES", saves)
    np.testing.assert_allclose(vmap(layers)(ROWS), [layers(row) for row in ROWS])
    got = vmap(grad(lambda x: np.sum(layers(x))))(ROWS)
    np.testing.assert_allclose(got, [grad(lambda x: np.sum(layers(x)))(row) for row in ROWS])


def seeded_by_element(x):
    np.random.seed(int(x[0]))
    return np.random.rand()


def scaled_after_a_seed(x):
    np.random.seed(0)
    return np.random.normal(0.0, x[0])


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (vmap(seeded_by_element), "np.random.seed depends on the element"),
        (vmap(scaled_after_a_seed), "normal after np.random.seed depends on the element"),
        (grad(lambda x: np.sum(rng.normal(x, 1.0))), "no derivative by its parameters"),
        (grad(lambda x: np.sum(rng.dirichlet(x))), "no derivative by its parameters"),
        (grad(lambda x: np.sum(x) * rng.bytes(3)[0]), "bytes of a generator"),
        (grad(lambda x: np.sum(rng.multinomial(5, ROWS / 100) @ x)), "several distributions"),
        (vmap(lambda r: rng.multivariate_normal(r, np.eye(3))), "one order for all"),
        (grad(lambda x: x[0] * rng.choice(2.5)), "a number that is not whole"),
        (grad(lambda x: rng.shuffle([x])), "something else than an array"),
        (grad(lambda x: np.sum(x) * rng.normal(size=3, out=x)[0]), "out"),
        (grad(checkpoint(noisy)), "would draw other random numbers"),
        (pmap(lambda r: np.sum(r) * rng.normal()), "in no fixed order"),
        (vmap(lambda r: np.sum(r[rng.permutation(3)])), "one order for all"),
        (vmap(lambda r: rng.normal() if r[0] > 3 else 0.0), "that elements decide"),
        (vmap(lambda r: np.sum(rng.random(np.sum(r > 2)))), "as many numbers as the element says"),
    ],
)
def test_what_cannot_be_recorded_is_refused(function, match):
    with pytest.raises(TapelessError, match=match):
        function(ROWS if isinstance(function, (type(vmap(noisy)), type(pmap(noisy)))) else X)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_without_a_seed_is_another_one_in_each_call(make):
    def scaled(x):
        draws = make()
        for _ in range(3):
            x = x * draws.standard_normal()
        return x

    for f in (jit(scaled), grad(scaled), jit(grad(scaled))):
        assert len({f(1.0) for _ in range(4)}) == 4
    assert len(set(vmap(scaled)(np.ones(5)))) == 5
    value, tangent = jvp(scaled, (1.0,), (2.0,))
    assert tangent == pytest.approx(2 * value)


def test_no_seed_as_a_default():
    def noisy_with(x, seed=None):
        return x + np.random.default_rng(seed).normal(size=2)

    f = jit(noisy_with)
    assert not np.array_equal(f(1.0), f(1.0))
    np.testing.assert_array_equal(f(1.0, 3), noisy_with(1.0, 3))


def test_a_seed_is_known_while_staging():
    def seeded(x, seed):
        return np.sum(x * np.random.default_rng(seed).normal(size=3))

    for seed in (1, 2):
        want = np.random.default_rng(seed).normal(size=3)
        np.testing.assert_array_equal(tapeless.grad(seeded)(X, seed), want)


def test_as_many_as_the_axes_of_an_array():
    """Its shape is written out where the text has a place for each length."""

    def masked(q, k):
        scores = q @ k.T
        return scores * (np.random.rand(*scores.shape) >= 0.0)

    q, k = np.ones((2, 3)), np.ones((4, 3))
    np.testing.assert_array_equal(tapeless.jit(masked)(q, k), np.full((2, 4), 3.0))
    np.testing.assert_array_equal(grad(lambda q: np.sum(masked(q, k)))(q), np.full((2, 3), 4.0))


def test_vectors_of_a_normal_distribution():
    def cloud(x, n):
        spread = np.diag(X) + 0.1
        return np.sum(rng.multivariate_normal(X, spread, n) @ x) + np.sum(
            rng.multivariate_normal(X, spread, size=(2, n)) + rng.multivariate_normal(X, spread) * x
        )

    expected = []
    for changed in (cloud, jit(cloud), lambda x, n: jvp(lambda y: cloud(y, n), (x,), (x,))[0]):
        reset()
        expected.append(changed(X, 4))
    np.testing.assert_allclose(expected[1:], expected[0], rtol=1e-12)


def test_elements_are_drawn_by_their_places():
    def chosen(x, p):
        few = rng.choice(x, 2) + np.random.choice(range(3, 6)) + rng.choice([1, 2, 4], p=p)
        order = np.random.permutation(x) @ rng.permutation(np.arange(3.0))
        return np.sum(few) * order + np.sum(rng.choice(np.outer(x, x), (2, 1), replace=False))

    p = np.array([0.2, 0.5, 0.3])
    expected = []
    for changed in (chosen, jit(chosen), lambda x, p: value_and_grad(chosen)(x, p)[0]):
        reset()
        expected.append(changed(X, p))
    np.testing.assert_allclose(expected[1:], expected[0], rtol=1e-12)
    assert jit(lambda x: rng.choice(x[:0] if len(x) > 9 else [x[0]]))(X) == 1.0


def noisy_rows(x):
    made = np.random.default_rng(3)
    order = np.random.RandomState(1).permutation(len(x))
    return x[order] * made.normal(size=x.shape) + made.uniform(size=(len(x), 1))


def test_a_generator_made_inside_draws_as_many_as_lengths_say():
    for n in (2, 4):
        x = np.arange(2.0 * n).reshape(n, 2)
        np.testing.assert_array_equal(jit(noisy_rows)(x), noisy_rows(x))


def test_a_generator_made_inside_is_given_what_only_the_program_knows():
    def f(x):
        return np.random.default_rng(0).normal(0.0, x[0])

    assert jit(f)(X) == f(X)
    with pytest.raises(TapelessError, match="no derivative by its parameters"):
        grad(f)(X)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_made_inside_moves_elements(make):
    def mixed(x):
        rng = make(3)
        order, pair = rng.permutation(x), rng.choice(x, 2, replace=False)
        table = rng.choice(x, size=(2, 2), p=[0.2, 0.3, 0.1, 0.4])
        shuffled = 1 * x
        rng.shuffle(shuffled)
        rows = rng.permutation(np.outer(x, x))
        return order * shuffled[::-1] + pair[0] * pair[1] + np.sum(table**2) + rows[0]

    x = np.array([1.0, 2.0, 4.0, 8.0])
    np.testing.assert_array_equal(jit(mixed)(x), mixed(x))

    def total(x):
        return np.sum(mixed(x))

    steps = 1e-6 * np.eye(4)
    slope = [(total(x + step) - total(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(grad(total)(x), slope, rtol=1e-6)


def from_a_seed(x, seed, n=80):
    own = np.random.default_rng(seed)
    total = 0.0
    for _ in range(n):
        total = total + np.sin(x * own.normal())
    return total


def of_an_old_generator(x, seed):
    own = np.random.RandomState(seed)
    for _ in range(80):
        x = 0.5 * x + own.randn() * own.uniform()
    return x


def under_a_test(x, seed=3):
    own = np.random.default_rng(seed)
    if x > 1.0:
        x = x * own.normal()
    return x * own.random()


def shuffled(x, seed):
    own = np.random.default_rng(seed)
    x = x.copy()
    for _ in range(3):
        own.shuffle(x)
        x[0] += 1
    return x


def in_epochs(w, seed):
    own = np.random.default_rng(seed)
    for _ in range(3):
        for i in own.permutation(3):
            w = w - 0.1 * (ROWS[i] @ w - X[i]) * ROWS[i] / 40
    return w


def net_of_a_seed(x, seed):
    own = np.random.default_rng(seed)
    for a, b in ((3, 4), (4, 2)):
        x = np.tanh(x @ own.normal(size=(a, b)))
    return x


@pytest.mark.parametrize("transformed", [jit, lambda f: lambda *args: jvp(f, args[:1], args[:1])])
@pytest.mark.parametrize(
    ("function", "x"),
    [
        (from_a_seed, 0.5),
        (of_an_old_generator, 0.5),
        (under_a_test, 2.0),
        (under_a_test, 0.5),
        (shuffled, X),
        (in_epochs, X),
        (net_of_a_seed, X),
    ],
)
@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
def test_generators_that_a_function_makes(transformed, function, x):
    for seed in (1, 2):
        if transformed is jit:
            np.testing.assert_allclose(jit(function)(x, seed), function(x, seed), rtol=1e-12)
        else:
            value, slope = jvp(functools.partial(function, seed=seed), (x,), (x,))
            h = 1e-6
            ends = (function(x + sign * h * x, seed) for sign in (1, -1))
            np.testing.assert_allclose(value, function(x, seed), rtol=1e-12)
            np.testing.assert_allclose(
                slope, -np.subtract(*[*ends][::-1]) / (2 * h), rtol=1e-5, atol=1e-9
            )


def test_seeds_and_generators_are_free():
    compiled = jit(from_a_seed)
    for seed in range(5):
        np.testing.assert_allclose(compiled(0.5, seed), from_a_seed(0.5, seed), rtol=1e-12)
    assert len(compiled.compilations) == 1
    drawing = jit(lambda own, x: x * own.normal())
    for seed in range(5):
        got = drawing(np.random.default_rng(seed), 2.0)
        assert got == 2.0 * np.random.default_rng(seed).normal()
    assert len(drawing.compilations) == 1


def test_elements_of_a_batch_share_a_seed():
    got = vmap(from_a_seed, (0, None))(X, 3)
    np.testing.assert_allclose(got, [from_a_seed(x, 3) for x in X], rtol=1e-12)


def test_emitted_text_makes_the_generator():
    text = grad(from_a_seed).source(0.5, 3)
    assert (
        "own = np.random.default_rng(seed)" in text or "rng = np.random.default_rng(seed)" in text
    )
    assert text.count(".normal(") == 1


def differences(one, other, n):
    total = 0.0
    for _ in range(n):
        total += one.normal() - 2 * other.normal()
    return total


def test_one_generator_passed_twice():
    compiled = jit(differences)
    for seeds in ((1, 2), (1, None), (2, 1), (3, None)):
        ours, theirs = ([np.random.default_rng(s) for s in seeds if s] for _ in range(2))
        got = compiled(ours[0], ours[-1], 5)
        np.testing.assert_allclose(got, differences(theirs[0], theirs[-1], 5), rtol=1e-12)


def test_a_generator_passed_and_read_from_outside():
    def drawing(own, n):
        return sum(own.normal() + rng.normal() for _ in range(n))

    with pytest.raises(TapelessError, match="passed as 'own' is also read from outside"):
        jit(drawing)(rng, 3)


def bounds_of_integers(rng, x):
    total = 0
    for i in range(30):
        total = total + rng.integers(6, endpoint=True) * i + rng.integers(1, i + 1, endpoint=True)
    whole = rng.integers(0, 2**63 - 1, endpoint=True), rng.integers(-(2**63), 2**63 - 1)
    return total, *whole, rng.integers(0, [1, 2], endpoint=True) * x[0]


def dtypes_of_integers(rng, x):
    bytes_ = rng.integers(0, 255, 5, dtype=np.uint8, endpoint=True)
    return bytes_, rng.integers(9, dtype=np.int32), rng.integers(0, 9, (2, 2), np.int16) * x[0]


def reordered(rng, x):
    y, z = x.copy(), np.outer(x, x)
    rng.shuffle(y)
    rng.shuffle(z)
    rng.shuffle(z[1:, 0])
    return y, z


def vectors(rng, x):
    shares = rng.dirichlet(x)
    counts = rng.multinomial(20, x / np.sum(x), 3)
    return shares, counts, rng.dirichlet([1.0, 2.0], (2, 2)), rng.zipf(x + 1)


@pytest.mark.parametrize("function", [bounds_of_integers, dtypes_of_integers, reordered, vectors])
def test_other_draws(function):
    generators = [np.random.default_rng(5) for _ in range(2)]
    ours, theirs = jit(function)(generators[0], X), function(generators[1], X)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)
        assert np.asarray(a).dtype == np.asarray(b).dtype
    assert generators[0].random() == generators[1].random()


WEIGHTS = np.array([0.2, 0.5, 1.0, 2.0])


def chosen_by_weights(x):
    own = np.random.default_rng(1)
    p = WEIGHTS**x / np.sum(WEIGHTS**x)
    return np.sum(WEIGHTS[own.choice(4, size=3, p=p)]) * x


def counted(x):
    own = np.random.default_rng(1)
    return own.poisson(3 * x) * x + own.binomial(5, 0.2) * x**2


def chosen_in_a_loop(x):
    own, total = np.random.RandomState(1), 0.0
    for _ in range(4):
        total += WEIGHTS[own.choice(4, p=WEIGHTS**x / np.sum(WEIGHTS**x))] * x
    return total


def spread(x):
    own = np.random.default_rng(1)
    return np.sum(own.multinomial(6, WEIGHTS**x / np.sum(WEIGHTS**x)) * WEIGHTS * x)


@pytest.mark.parametrize("f", [chosen_by_weights, counted, chosen_in_a_loop, spread])
def test_a_generator_made_inside_draws_counts_of_what_data_says(f):
    """Counts and choices are constant but for jumps: they have derivative zero."""
    for x in (0.6, 1.3):
        assert jit(f)(x) == pytest.approx(f(x), rel=1e-13)
        slope = (f(x + 1e-7) - f(x - 1e-7)) / 2e-7
        assert grad(f)(x) == pytest.approx(slope, rel=1e-6)
        assert jit(grad(f))(x) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("f", [chosen_by_weights, counted, chosen_in_a_loop, spread])
@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
def test_each_element_has_a_generator_made_inside(f):
    xs = np.array([0.3, 0.7, 2.0])
    with tapeless.strict(False):
        np.testing.assert_allclose(vmap(f)(xs), [f(x) for x in xs], rtol=1e-13)
        np.testing.assert_allclose(jit(vmap(f))(xs), [f(x) for x in xs], rtol=1e-13)
        np.testing.assert_allclose(vmap(grad(f))(xs), [grad(f)(x) for x in xs], rtol=1e-13)


def test_counts_of_a_generator_from_outside_have_no_derivative_by_their_mean():
    def f(x):
        return x * np.random.default_rng(5).integers(3, 4) + 0 * rng.poisson(x)

    assert grad(f)(2.0) == 3.0
