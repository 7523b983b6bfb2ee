"""jit: what it computes, when it compiles, how it is switched off."""

import functools
import re

import numpy as np
import pytest

import tapeless
from tapeless import ShapeDtypeStruct, debug, disable_jit, grad, jit, tree_util, vmap
from tapeless.transforms.errors import ArgumentError, UnsupportedError


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def test_scalars_come_back_with_the_types_of_numpy():
    def f(x, y):
        return x * y + 1, x > y

    for x, y in [(2.0, 3.0), (np.float32(2), np.float32(3)), (2, 3)]:
        got, want = jit(f)(x, y), f(x, y)
        assert got == want
        assert [np.asarray(v).dtype for v in got] == [np.asarray(v).dtype for v in want]


def test_rows_of_a_softmax_share_one_loop():
    @jit
    def softmax(x):
        e = np.exp(x - np.max(x, axis=1, keepdims=True))
        return e / np.sum(e, axis=1, keepdims=True)

    x = normal(7, 5)
    np.testing.assert_allclose(softmax(x).sum(axis=1), 1.0, rtol=1e-14)
    assert softmax.source(x).count("for i in") == 1


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), -1])
@pytest.mark.parametrize("reduce", [np.sum, np.max, np.min, np.prod, np.any, np.all])
def test_reductions_over_axes(reduce, axis):
    x = normal(4, 3)
    np.testing.assert_allclose(jit(lambda x: reduce(x, axis=axis))(x), reduce(x, axis=axis))


def test_nan_wins_in_extrema():
    x = np.array([1.0, np.nan, 3.0])
    assert np.isnan(jit(lambda x: np.max(x))(x))
    np.testing.assert_array_equal(
        jit(lambda x, y: np.maximum(x, y))(x, x[::-1]), np.maximum(x, x[::-1])
    )


def test_gradients_are_compiled_too():
    def loss(w, x):
        return np.sum(np.tanh(x @ w) ** 2)

    w, x = normal(3, seed=1), normal(5, 3)
    np.testing.assert_allclose(
        jit(tapeless.grad(loss))(w, x), tapeless.grad(loss)(w, x), rtol=1e-12
    )
    np.testing.assert_allclose(
        tapeless.grad(jit(loss))(w, x), tapeless.grad(loss)(w, x), rtol=1e-12
    )


def test_arrays_that_are_overwritten_are_the_callers():
    @jit
    def step(u):
        u[1:-1] = 0.5 * (u[2:] + u[:-2])
        return np.sum(u)

    u, v = np.arange(5.0) ** 2, np.arange(5.0) ** 2
    v[1:-1] = 0.5 * (v[2:] + v[:-2])
    assert step(u) == pytest.approx(v.sum())
    np.testing.assert_array_equal(u, v)


def test_swapped_arguments():
    @jit
    def swap(x, y):
        x[:], y[:] = y.copy(), x.copy()

    x, y = np.zeros(3), np.ones(3)
    swap(x, y)
    np.testing.assert_array_equal((x, y), (np.ones(3), np.zeros(3)))


def test_index_out_of_bounds_is_an_error():
    @jit
    def pick(x, i):
        return x[i]

    x = np.arange(3.0)
    assert pick(x, 2) == 2.0
    assert pick(x, -3) == 0.0
    for i in (3, -4):
        with pytest.raises(IndexError):
            pick(x, i)


def test_sizes_that_differ_are_an_error():
    add = jit(lambda x, y: x + y)
    add(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="broadcast"):
        add(np.ones(3), np.ones(4))


def test_python_numbers_are_not_divided_by_zero():
    divide = jit(lambda x, y: x / y)
    with pytest.raises(ZeroDivisionError):
        divide(1.0, 0.0)
    with np.errstate(divide="ignore"):
        assert divide(np.float64(1), np.float64(0)) == np.inf


def test_floating_point_errors_that_a_program_asks_for_are_raised():
    def f(x):
        with np.errstate(divide="raise"):
            return np.sum(np.log(x) / x)

    for g in (jit(f), jit(grad(f)), grad(f)):
        g(np.ones(3))
        with pytest.raises(FloatingPointError, match="divide by zero"):
            g(np.array([1.0, 0.0]))
    assert "np.errstate(divide='raise') asks for errors of NumPy" in str(jit(f).stages(np.ones(3)))
    assert "errstate" in jit(f).source(np.ones(3))


def contradicted(x):
    with np.errstate(all="raise"):
        y = np.sum(1 / x)
    with np.errstate(divide="ignore"):
        return y + np.sum(1 / (x + 1))


@pytest.mark.parametrize("transform", [jit, grad])
def test_settings_for_floating_point_errors_that_contradict_are_refused(transform):
    with pytest.raises(UnsupportedError, match=r"two settings of np.errstate for divide \(line"):
        transform(contradicted)(np.zeros(2))


def test_one_compilation_for_all_sizes():
    f = jit(lambda x: np.sum(x * x))
    for n in range(2, 50):
        assert f(np.ones(n)) == n
    assert len(f.compilations) == 1


def test_what_has_no_loop_form_stays_numpy():
    @jit
    def f(a, b):
        return np.sin(np.linalg.solve(a, np.cos(b)))

    a, b = normal(3, 3), normal(3, seed=1)
    np.testing.assert_allclose(f(a, b), np.sin(np.linalg.solve(a, np.cos(b))), rtol=1e-12)
    assert "np.linalg.solve(" in f.source(a, b)


def test_switched_off(monkeypatch):
    f = jit(lambda x: np.sin(x) + 1)
    with disable_jit():
        assert f(1.0) == np.sin(1.0) + 1
    monkeypatch.setattr(
        "tapeless.transformations.compilation.disable_jit.ALWAYS_DISABLED", True
    )  # TAPELESS_DISABLE_JIT=1
    assert f(2.0) == np.sin(2.0) + 1
    assert not f.compilations


def test_a_loop_that_carries_the_value_of_the_pass_before():
    def f(x):
        before = np.zeros(x.shape)
        for _ in range(3):
            x, before = x * 2 + 1, x
        return x, before

    for x in (np.arange(4.0), np.arange(6.0).reshape(2, 3)):
        np.testing.assert_array_equal(jit(f)(x), f(x))


def test_a_loop_that_swaps_arrays():
    def f(x, y):
        for _ in range(3):
            x, y = y, x + 1
        return x, y

    np.testing.assert_array_equal(jit(f)(np.zeros(3), np.ones(3)), f(np.zeros(3), np.ones(3)))


def test_static_arguments_are_part_of_the_signature():
    @jit(static_argnums=1, static_argnames="how")
    def f(x, powers, how="sum"):
        terms = [x**k for k in powers]
        return sum(terms) if how == "sum" else terms[-1]

    assert f(2.0, (1, 2)) == 6.0
    assert f(2.0, (1, 3)) == 10.0
    assert f(2.0, (1, 3), how="last") == 8.0
    with pytest.raises(TypeError, match="not hashable"):
        f(2.0, [1, 2])


def test_ahead_of_time():
    f = jit(lambda x: np.sum(np.exp(x)))
    lowered = f.lower(np.zeros(3))
    assert "@njit" in lowered.source()
    assert not f.compilations
    assert lowered.compile()(np.zeros(3)) == 3.0
    assert len(f.compilations) == 1


def test_static_trees_beside_trees():
    """A static argument is one leaf, where what is emitted takes leaves."""

    @tree_util.register_pytree_node_class
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def __hash__(self):
            return hash((self.a, self.b))

        def __eq__(self, other):
            return (self.a, self.b) == (other.a, other.b)

        def tree_flatten(self):
            return (self.a, self.b), None

        @classmethod
        def tree_unflatten(cls, _, parts):
            return cls(*parts)

    @functools.partial(jit, static_argnums=0)
    def f(sizes, p, x):
        return np.sum(p.a[: sizes.a]) * p.b * x

    p = Pair(np.arange(4.0), 2.0)
    assert f(Pair(2, 5), p, 3.0) == 6.0
    assert f(Pair(3, 5), p, 3.0) == 18.0
    assert f(Pair(3, 5), p, 5.0) == 30.0
    assert f.lower(Pair(2, 5), p, 1.0).compile()(p, 1.0) == 2.0


def test_ahead_of_time_for_shapes():
    def fit(params, x, steps):
        w = params["w"]
        for _ in range(steps):
            w = w - 0.1 * np.tanh(x @ w)
        return {"w": w, "loss": np.sum(w**2)}

    f = jit(fit)
    w, x = ShapeDtypeStruct((3,), np.float32), ShapeDtypeStruct((3, 3), np.float32)
    lowered = f.lower({"w": w}, x, 4)
    assert lowered.out_info["w"] == w
    assert lowered.out_info["loss"].shape == ()
    compiled = lowered.compile()
    made = [c.signature for c in f.compilations]
    assert len(made) == 1
    assert "float32[:, ::1]" in made[0]
    given = {"w": np.ones(3, np.float32)}, np.eye(3, dtype=np.float32), 4
    np.testing.assert_allclose(compiled(*given)["w"], fit(*given)["w"], rtol=1e-6)
    assert len(f.compilations) == 1


def test_ahead_of_time_nothing_is_run():
    seen = []

    def grow(x):
        debug.callback(seen.append, x)
        while x < 10:  # for ever, if it begins with zero
            x = x * 2
        return x

    f = jit(grow)
    compiled = f.lower(ShapeDtypeStruct((), float)).compile()
    assert not seen
    assert compiled(np.float64(3.0)) == 12.0
    assert seen == [3.0]


def test_sources_for_shapes():
    def halved(x):
        y = x.reshape(-1)  # a view
        y[0] = 0.0
        return np.sum(x / 2)

    for f, shape in ((jit(halved), (3,)), (vmap(np.sum), (2, 3)), (grad(np.sum), (3,))):
        assert f.source(ShapeDtypeStruct(shape, float)) == f.source(np.zeros(shape))


def test_without_bounds_checks():
    def pick(x, i):
        return x[i] * np.sum(x)

    assert "IndexError" in jit(pick).source(np.ones(3), 1)
    assert "IndexError" not in jit(pick, boundscheck=False).source(np.ones(3), 1)


def test_stages_show_the_driver():
    f = jit(lambda x: np.sin(x) * 2)
    assert [name for name, _ in f.stages(np.ones(3))][-2:] == ["driver", "source"]


def test_unknown_device():
    with pytest.raises(ValueError, match="device"):
        jit(np.sin, device="tpu")


def test_registered_classes_come_back():
    class Span:
        def __init__(self, low, high):
            self.low, self.high = low, high

    tapeless.tree.register_pytree_node(
        Span, lambda s: ((s.low, s.high), None), lambda _, children: Span(*children)
    )

    @jit
    def wider(span, by):
        by[0] = 0.0  # an array of the caller, which is overwritten
        return Span(span.low - 1, span.high * 2)

    changed = np.ones(2)
    made = wider(Span(1.0, np.array([2.0, 3.0])), changed)
    assert type(made) is Span
    assert (made.low, made.high.tolist(), changed.tolist()) == (0.0, [4.0, 6.0], [0.0, 1.0])


@pytest.mark.parametrize("reduce", [np.sum, np.prod, np.max, np.min, np.mean, np.any, np.all])
def test_reductions_over_no_axis(reduce):
    x = normal(3)
    np.testing.assert_array_equal(jit(lambda x: reduce(x, axis=()))(x), reduce(x, axis=()))


@pytest.mark.parametrize("keepdims", [False, True])
def test_extrema_of_nothing(keepdims):
    def largest(x):
        return np.max(x, axis=1, keepdims=keepdims, initial=-np.inf)

    x = np.zeros((3, 0))
    np.testing.assert_array_equal(jit(largest)(x), largest(x))


@pytest.mark.parametrize("transform", [jit, lambda f: lambda *a: tapeless.jvp(f, a, a)[0]])
def test_numbers_of_python_take_the_dtype_of_arrays(transform):
    """float(v[0]) * x of a float32 x is float32, and v[0] * x is float64."""

    def scaled(x, v, n):
        return x * float(v[0]), x * float(len(x)), x * float(n), x * v[0]

    args = np.ones(2, np.float32), np.array([0.5, 0.25]), 3.0
    for made, want in zip(transform(scaled)(*args), scaled(*args), strict=True):
        assert made.dtype == want.dtype
        np.testing.assert_array_equal(made, want)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"static_argnums": 2}, "jit: static_argnums has 2, but scale takes 2 by position"),
        ({"static_argnums": -3}, "jit: static_argnums has -3, but scale takes 2 by position"),
        ({"donate_argnums": (0, 5)}, "jit: donate_argnums has 5, but scale takes 2 by position"),
        (
            {"static_argnames": "m"},
            "jit: static_argnames has 'm', but scale has no argument of this name\n  it has x, n",
        ),
        ({"fastmath": "no"}, "jit: fastmath is 'no'\n  pass True, False or None"),
        ({"parallel": 3}, "jit: parallel is 3\n  pass True or False"),
        ({"boundscheck": None}, "jit: boundscheck is None\n  pass True or False"),
    ],
)
def test_options_that_do_not_fit_are_refused_at_once(options, message):
    def scale(x, n):
        return x * n

    with pytest.raises(ArgumentError, match=re.escape(message)):
        jit(scale, **options)


def test_options_of_any_number_of_arguments():
    first = jit(lambda *args, **named: args[0] * named["n"], static_argnums=4, static_argnames="n")
    assert first(2.0, n=3) == 6.0
    assert jit(grad(lambda x, n: x * n), static_argnums=-1)(2.0, 3) == 3.0


def test_reasons_for_further_compilations():
    f = jit(lambda x, n: np.sum(x) * n, static_argnums=1)
    single = np.ones((2, 3), np.float32)
    for x in (np.ones((2, 3)), single, single[:1], single[:0], np.ones(3)):
        f(x, 2)
    f(np.ones((2, 3)), 3)
    f(2.0, 3)
    f(x=np.ones((2, 3)), n=3)
    assert [c.reason for c in f.compilations] == [
        "first call",
        "new dtype of x: float32",
        "x gained an axis of length one",
        "x gained an axis of length zero",
        "x has 1 axis, not 2",
        "n is 3",
        "x is float",
        "other arguments or containers",
    ]


def test_reasons_where_values_are_found_to_matter():
    def pick(x, k):
        return x * (2.0, np.arange(3.0))[k]

    f = jit(pick)
    f(np.ones(3), 0)
    f(np.ones(3), 1)
    assert [c.reason for c in f.compilations] == ["first call", "k is 1"]


class Settings:
    def __init__(self):
        self.scaled, self.mode, self.weights = True, "sum", np.ones((2, 3))


def test_reasons_name_what_is_read_from_outside():
    settings = Settings()

    def f(x):
        x = x * 2 if settings.scaled else x
        return np.sum(x) * np.sum(settings.weights) if settings.mode == "sum" else np.max(x)

    f = jit(f)
    changes = [("scaled", False), ("scaled", True), ("mode", "max"), ("mode", "sum")]
    for name, value in [
        *changes,
        ("weights", np.ones((2, 3), "f4")),
        ("weights", np.ones(3, "f4")),
    ]:
        f(np.ones(4))
        setattr(settings, name, value)
    f(np.ones(4))
    assert [c.reason for c in f.compilations] == [
        "first call",
        "settings.scaled is False, not True",
        "settings.mode is 'max', not 'sum'",
        "new dtype of settings.weights: float32",
        "settings.weights has 1 axis, not 2",
    ]


def test_reasons_name_sizes_and_what_they_were():
    rows = jit(lambda x: np.sum(np.split(x, x.shape[0])[1]))
    for n in (3, 5):
        rows(np.ones((n, 2)))
    assert [c.reason for c in rows.compilations] == ["first call", "x.shape[0] is 5, not 3"]

    def solved(a):
        for _ in range(2):
            a = np.linalg.solve(a + np.eye(len(a)), a)
        return a

    f = jit(solved)
    for n in (3, 70):
        f(np.eye(n))
    *_, last = f.compilations
    assert last.reason == "2*a.shape[1]*a.shape[1]*a.shape[1] is 686000, more than 524288"


def test_the_reason_where_threads_are_worth_it():
    def f(x, w):
        hidden = np.tanh(x @ w)
        return np.sum(hidden / np.sum(hidden**2))

    f = jit(f)
    f(np.ones((3, 2)), np.ones((2, 4)))
    f(np.ones((3000, 2)), np.ones((2, 400)))
    assert {c.reason.partition(":")[0] for c in f.compilations} == {
        "first call",
        "the work is worth threads",
    }


def test_functions_under_errstate_are_compiled_ahead_and_counted():
    def entropy(p):
        with np.errstate(divide="ignore"):
            return np.sum(np.log(p))

    compiled = jit(entropy)
    run = compiled.lower(np.ones(3)).compile()
    assert len(compiled.compilations) == 1  # before it is called
    assert run(np.ones(3)) == compiled(np.ones(3)) == 0
    assert [c.reason for c in compiled.compilations] == ["first call"]
