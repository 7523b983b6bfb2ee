"""Control flow: values, derivatives, loops that stay loops, and what is refused."""

import numpy as np
import pytest

import tapeless
import tapeless.numpy as jnp
from tapeless import lax
from tests.api.lax.tables import agree, check_slopes, jax_lax

RNG = np.random.default_rng(3)
W, XS = RNG.normal(size=(3, 3)) / 2, RNG.normal(size=(5, 3))


def rnn(w, xs):
    def step(h, x):
        h = np.tanh(w @ h + x)
        return h, {"h": h, "pair": (x[0], 1)}

    last, kept = lax.scan(step, np.zeros(3), xs)
    return np.sum(last) + np.sum(kept["h"] ** 2) + np.sum(kept["pair"][0] * kept["pair"][1])


def rnn_by_hand(w, xs):
    h, total = np.zeros(3), 0.0
    for x in xs:
        h = np.tanh(w @ h + x)
        total = total + np.sum(h**2) + x[0]
    return np.sum(h) + total


def test_scan():
    np.testing.assert_allclose(rnn(W, XS), rnn_by_hand(W, XS))
    np.testing.assert_allclose(tapeless.jit(rnn)(W, XS), rnn_by_hand(W, XS))
    check_slopes(rnn, (W, XS), 2)


def test_gradient_of_scan_is_one_loop_there_and_one_back():
    gradient = tapeless.grad(rnn)
    want = gradient(W, XS)
    assert gradient.source().count("for ") == 2
    assert gradient.source() == tapeless.grad(rnn).source(W, XS[:2])
    np.testing.assert_allclose(tapeless.jit(gradient)(W, XS), want)
    many = np.stack([XS, 2 * XS])
    got = tapeless.vmap(gradient, in_axes=(None, 0))(W, many)
    np.testing.assert_allclose(got, np.stack([gradient(W, m) for m in many]))


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_as_jax_does(reverse):
    def run(lax, xs):
        def step(c, x):
            return (c[0] + x, 2 * c[1]), c[0]

        (a, b), ys = lax.scan(step, (np.float64(0.5), np.int64(1)), xs, reverse=reverse)
        return a, b, ys

    agree(run(lax, XS[:, 0]), run(jax_lax(), XS[:, 0]))


def test_scan_without_rows_and_without_steps():
    def double(c, _):
        return (2 * c, None)

    assert lax.scan(double, 1, None, length=5) == (32, None)
    last, ys = lax.scan(lambda c, x: (c + x, (c, x[None])), np.zeros(2), np.zeros((0, 2)))
    assert last.shape == (2,)
    assert [y.shape for y in ys] == [(0, 2), (0, 1, 2)]


def test_carry_takes_the_type_that_comes_out():
    xs = np.arange(3, dtype=np.float32)
    for run in (lax.scan, tapeless.jit(lambda f, c, x: lax.scan(f, c, x), static_argnums=0)):
        last, ys = run(_total, 0, xs)
        assert last == 3
        assert ys.dtype == np.float32


def _total(c, x):
    return c + x, c + x


def collatz(n):
    return lax.while_loop(lambda s: s[0] != 1, _collatz_step, (n, 0))[1]


def _collatz_step(s):
    n, count = s
    return lax.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, n), count + 1


def test_while_loop():
    assert collatz(27) == 111
    assert tapeless.jit(collatz)(27) == 111
    np.testing.assert_array_equal(tapeless.vmap(collatz)(np.array([1, 2, 3, 27])), [0, 1, 7, 111])


def test_while_loop_backwards():
    def power(x):
        return lax.while_loop(lambda s: s[0] < 100.0, lambda s: (s[0] * s[1], s[1]), (x, x))[0]

    assert power(3.0) == 243
    np.testing.assert_allclose(tapeless.grad(power)(3.0), 5 * 3.0**4)
    assert "while" in tapeless.grad(power).source(3.0)


def test_fori_loop():
    def f(x, n):
        return lax.fori_loop(1, n, lambda i, s: {"x": s["x"] * i + x}, {"x": x})["x"]

    want = 0.7
    for i in range(1, 6):
        want = want * i + 0.7
    np.testing.assert_allclose(f(0.7, 6), want)
    np.testing.assert_allclose(f(0.7, 6), f(1.0, 6) * 0.7)
    np.testing.assert_allclose(tapeless.grad(f)(0.7, 6), f(1.0, 6))
    np.testing.assert_allclose(tapeless.jit(tapeless.grad(f))(0.7, np.int64(6)), f(1.0, 6))
    assert f(0.7, 0) == 0.7


@pytest.mark.parametrize("x", [2.0, -2.0])
def test_cond(x):
    def f(x):
        return lax.cond(x > 0, lambda a, b: a * b, lambda a, b: a - b, x, 3.0)

    assert f(x) == (6.0 if x > 0 else -5.0)
    assert tapeless.grad(f)(x) == (3.0 if x > 0 else 1.0)
    assert tapeless.jit(f)(x) == f(x)
    assert lax.cond(x > 0, x, np.sin, 3.0, np.cos) == (np.sin(x) if x > 0 else np.cos(3.0))
    assert lax.cond(1, lambda v: v + 1, lambda v: v, operand=x) == x + 1


def test_untaken_side_contributes_zero():
    f = tapeless.grad(lambda x: lax.cond(x > 0, np.sqrt, lambda x: 0 * x, x))
    assert f(0.0) == 0
    assert f(4.0) == 0.25


def test_switch():
    branches = [np.sin, np.cos, lambda x: x * x, lambda x: x]

    def f(k, x):
        return lax.switch(k, branches, x)

    for k, want in ((0, 0), (1, 1), (2, 2), (3, 3), (9, 3), (-4, 0)):
        assert f(k, 0.5) == branches[want](0.5)
    ks, xs = np.array([0, 1, 2, 3, 9, -4]), np.linspace(0.1, 0.6, 6)
    want = [branches[np.clip(k, 0, 3)](x) for k, x in zip(ks, xs, strict=True)]
    np.testing.assert_allclose(tapeless.vmap(f)(ks, xs), want)
    np.testing.assert_allclose(tapeless.jit(f)(2, 0.5), 0.25)
    slope = tapeless.grad(f, argnums=1)
    assert [slope(k, 0.5) for k in range(4)] == [np.cos(0.5), -np.sin(0.5), 1.0, 1.0]
    assert slope.source().count("if ") == 3


@pytest.mark.parametrize("batch_size", [None, 0, 1, 3, 5, 100])
def test_map(batch_size):
    def f(xs):
        return lax.map(lambda r: (np.sum(r["a"]), r["a"] * 2), {"a": xs}, batch_size=batch_size)

    agree(f(XS), (XS.sum(1), 2 * XS))
    with tapeless.disable_jit():
        agree(tapeless.jit(f)(XS), (XS.sum(1), 2 * XS))


def test_associative_scan_of_matrices():
    ms = RNG.normal(size=(7, 2, 2))
    want = [ms[0]]
    for m in ms[1:]:
        want.append(want[-1] @ m)
    np.testing.assert_allclose(lax.associative_scan(np.matmul, ms), want)
    kept = ms.copy()
    lax.associative_scan(np.matmul, ms, reverse=True)
    np.testing.assert_array_equal(ms, kept)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 9, 16, 21])
def test_associative_scan_of_any_length(n):
    xs = (RNG.normal(size=n), RNG.normal(size=n))

    def then(a, b):
        return a[0] * b[0], a[1] * b[0] + b[1]

    scales, shifts = [xs[0][0]], [xs[1][0]]
    for a, b in zip(xs[0][1:], xs[1][1:], strict=True):
        scales.append(scales[-1] * a)
        shifts.append(shifts[-1] * a + b)
    agree(lax.associative_scan(then, xs), (np.array(scales), np.array(shifts)), 1e-10)


def test_associative_scan_backwards():
    check_slopes(lambda ms: lax.associative_scan(np.matmul, ms), (RNG.normal(size=(5, 2, 2)),), 1)


def test_platform_dependent():
    assert lax.platform_dependent(3.0, cpu=lambda x: x + 1, cuda=lambda x: x) == 4
    with pytest.raises(NotImplementedError, match="no function for 'cpu'"):
        lax.platform_dependent(3.0, cuda=lambda x: x)


ONE = np.float64(1.0)
REFUSED = {
    "scan: no pair": (lambda: lax.scan(lambda c, x: c, 0.0, XS), TypeError, "must return a pair"),
    "scan: another dtype": (
        lambda: lax.scan(lambda c, x: (c > 0, x), ONE, XS),
        TypeError,
        "given float64 and returns bool",
    ),
    "scan: another shape": (
        lambda: lax.scan(lambda c, x: (x, x), ONE, XS),
        TypeError,
        r"given float64 and returns float64\(3,\)",
    ),
    "scan: another structure": (
        lambda: lax.scan(lambda c, x: ((c, c), x), ONE, XS),
        TypeError,
        r"built like \(\*, \*\), and what it is given like \*",
    ),
    "scan: lengths": (
        lambda: lax.scan(lambda c, x: (c, x), ONE, (XS, XS[1:])),
        ValueError,
        r"are \(5, 4\), and must be the same",
    ),
    "scan: length": (
        lambda: lax.scan(lambda c, x: (c, x), ONE, XS, length=4),
        ValueError,
        "and length is 4",
    ),
    "scan: nothing": (lambda: lax.scan(lambda c, x: (c, x), ONE), ValueError, "give length=n"),
    "scan: a number": (
        lambda: lax.scan(lambda c, x: (c, x), ONE, 3.0),
        ValueError,
        "no first axis to go over in one number",
    ),
    "scan: text": (
        lambda: lax.scan(lambda c, x: (c, x), "a", XS),
        TypeError,
        "init holds str 'a'",
    ),
    "while_loop: test": (
        lambda: lax.while_loop(lambda x: x > 0, lambda x: x, XS),
        TypeError,
        "what cond_fun returns must be one boolean",
    ),
    "fori_loop: bound": (
        lambda: lax.fori_loop(0, 2.5, lambda i, x: x, ONE),
        TypeError,
        "upper must be one integer",
    ),
    "fori_loop: carry": (
        lambda: lax.fori_loop(0, 2, lambda i, x: (x,), ONE),
        TypeError,
        "fori_loop: what the body returns",
    ),
    "cond: test": (lambda: lax.cond(XS, np.sin, np.cos, ONE), TypeError, "the test must be one"),
    "cond: no function": (lambda: lax.cond(True, 1.0, 2.0), TypeError, "must be functions"),
    "cond: sides": (
        lambda: tapeless.jit(lambda x: lax.cond(x > 0, lambda x: x, lambda x: (x, x), x))(1.0),
        TypeError,
        r"the branches return float64 and \(float64, float64\)",
    ),
    "switch: index": (lambda: lax.switch(1.5, [np.sin], ONE), TypeError, "one integer"),
    "switch: nothing": (lambda: lax.switch(0, [], ONE), ValueError, "no branches"),
    "associative_scan: dtype": (
        lambda: lax.associative_scan(lambda a, b: a > b, XS),
        TypeError,
        "fn returns bool",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    run, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        run()


def test_sides_may_return_containers_of_the_callers():
    """The integer of the test is not made known for that, which would compile for each."""
    kept = [(np.zeros(2), np.ones(3))]

    @tapeless.jit
    def refreshed(i, new):
        return lax.cond(i % 2 == 0, lambda: [(w + 1, b) for w, b in new], lambda: new)

    found = [refreshed(np.int64(i), kept)[0][0][0] for i in range(2)]
    made = len(refreshed.compilations)
    found += [refreshed(np.int64(i), kept)[0][0][0] for i in range(2, 4)]
    assert found == [1, 0, 1, 0]
    assert len(refreshed.compilations) == made
    assert "i: i8" in refreshed.stages(np.int64(9), kept)["core"].splitlines()[0]


def doubled(x, n):
    """Powers of integers that data counts are integers, as JAX's are."""
    y = jnp.asarray(x)

    def body(carry):
        k, y = carry
        return k + 1, lax.fori_loop(0, 2**k, lambda i, y: y + i, y) * 2**k

    return lax.while_loop(lambda carry: (carry[0] < n) & (carry[1] < 1e9), body, (0, y))[1]


def test_powers_of_counted_integers():
    x, wanted = np.array([1.0, 2.0]), []
    for y in x:
        for k in range(4):
            y = (y + sum(range(2**k))) * 2**k
        wanted.append(y)
    assert [tapeless.jit(doubled)(y, 4) for y in x] == wanted
    np.testing.assert_array_equal(tapeless.vmap(doubled, (0, None))(x, 4), wanted)
    assert tapeless.grad(doubled)(1.0, 4) == 64
    with pytest.raises(ValueError, match="negative integer powers"):
        tapeless.jit(lambda n: jnp.ones(()) * 10**n)(-2)
