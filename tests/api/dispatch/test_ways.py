"""Ways through functions that are traced: kept, compiled, left again as if they had not begun."""

import pickle
import warnings

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit
from tapeless.dispatch import ways
from tests.traced_programs import halved

X = np.array([3.0, -10.0, 2.0])
pytestmark = pytest.mark.usefixtures("traced")


def stored(x):
    x[0] = 7.0
    return halved(x) + x[0]


def printed(x):
    print("begins")  # noqa: T201  (is what is tested)
    total = halved(x)
    print("ends with", total)  # noqa: T201
    return total


def kept_at_once(f):
    return [s for kept in f.cache.values() for s in kept]


@pytest.mark.parametrize("transformation", [jit, grad, lambda f: jit(grad(f))])
def test_each_way_is_staged_once(transformation):
    slope = transformation(halved)
    for _ in range(2):
        for scale in (1.0, 0.01, 5.0):
            np.testing.assert_allclose(slope(scale * X), transformation(halved)(scale * X))
    assert len(kept_at_once(slope)) == 3
    assert slope.last.reason in ("", "the values take another way")


def test_the_code_guards_its_way():
    """A copy of it elsewhere raises where the traced values would be wrong."""
    slope = grad(halved)
    slope(X)
    values = {}
    exec(slope.source(), values)
    assert "Traced on the values of one call" in slope.source()
    np.testing.assert_array_equal(values["halved_grad"](X), slope(X))
    with pytest.raises(RuntimeError, match=r"not the traced way: line \d+ goes on with True"):
        values["halved_grad"](0.01 * X)


@pytest.mark.parametrize("transformation", [jit, tapeless.value_and_grad])
def test_arguments_are_as_they_were(transformation):
    """What a way stored before it is left is put back; the function stores once."""
    f = transformation(stored)
    for scale in (1.0, 0.01, 5.0, 1.0):
        ours, theirs = scale * X, scale * X
        value = f(ours)
        plain = stored(theirs)
        assert (value if transformation is jit else value[0]) == pytest.approx(plain)
        np.testing.assert_array_equal(ours, theirs if transformation is jit else scale * X)


@pytest.mark.parametrize("transformation", [jit, grad])
def test_what_is_printed_is_printed_once(transformation, capsys):
    f = transformation(printed)
    for scale in (1.0, 0.01, 5.0, 0.01):
        printed(scale * X)
        expected = capsys.readouterr().out
        f(scale * X)
        assert capsys.readouterr().out == expected


@pytest.mark.parametrize("transformation", [jit, grad])
def test_what_another_way_prints_before_it_raises_is_printed_once(transformation, capsys):
    @transformation
    def f(x):
        size = len(f"{x:g}")
        print("size", size, x)  # noqa: T201 (what is tested)
        if x > 1:
            raise ValueError("too large")
        return x * size

    f(0.5)
    capsys.readouterr()
    for _ in range(2):
        with pytest.raises(ValueError, match="too large"):
            f(2.0)
        assert capsys.readouterr().out == "size 1 2.0\n"


def test_the_number_of_ways_is_limited():
    def halved_anew(x):
        return halved(x)

    f, slope = jit(halved_anew), grad(lambda x: halved_anew(x))
    inputs = [2.0**k * np.array([1.5, 0.1]) for k in range(ways.WAYS + 4)]
    for x in inputs[: ways.WAYS]:
        assert f(x) == pytest.approx(halved(x))
    with pytest.warns(tapeless.PerformanceWarning, match=f"more than {ways.WAYS} calls took ways"):
        f(inputs[ways.WAYS])
    for x in inputs:
        assert f(x) == pytest.approx(halved(x))
        slope(x)
    assert len(kept_at_once(f)) == len(kept_at_once(slope)) == ways.WAYS
    compiled = [s for s in kept_at_once(f)[1:] if "njit" in s.text]
    assert len(compiled) < ways.COMPILED + 1
    with pytest.raises(tapeless.TapelessError, match="ways of their own"):
        kept_at_once(f)[0].text  # noqa: B018  # it has none


def walk(steps, x):
    seen = {}
    for k in range(int(steps)):
        x = np.sin(x + k)
        seen[f"{x:.3f}"] = x
    return sum(seen.values())


def test_a_long_way_is_no_program():
    f = jit(walk)
    with pytest.warns(tapeless.PerformanceWarning, match="jit calls walk as it is"):
        assert f(20_000.0, 0.5) == pytest.approx(walk(20_000, 0.5))
    assert f(20_000.0, 0.7) == pytest.approx(walk(20_000, 0.7))
    with pytest.raises(tapeless.TapelessError, match="more than 10000 operations") as refusal:
        grad(walk, argnums=1)(20_000.0, 0.5)
    assert refusal.value.where[0] == __file__
    assert grad(walk, argnums=1)(50.0, 0.5) == pytest.approx(
        (walk(50, 0.5 + 1e-6) - walk(50, 0.5 - 1e-6)) / 2e-6, rel=1e-4
    )
    batches = tapeless.vmap(walk, in_axes=(None, 0))(20_000.0, np.array([0.5, 0.7]))
    np.testing.assert_allclose(batches, [walk(20_000, 0.5), walk(20_000, 0.7)])


def seeded(x):
    np.random.seed(1)
    sums = {}
    for _ in range(4):
        u = np.random.rand()
        if u > 0.5:
            sums[f"{u:.3f}"] = u * x
    np.random.seed(7)
    if np.random.normal() > 0.0:
        sums[str(x > 0)] = np.random.uniform(0.0, 2.0) * x
    return sum(sums.values())


def test_a_trace_draws_by_the_seeds_of_the_program():
    assert jit(seeded)(2.0) == pytest.approx(seeded(2.0))
    assert grad(seeded)(2.0) == pytest.approx(seeded(1.0))
    np.testing.assert_allclose(tapeless.vmap(seeded)(np.array([2.0]))[0], seeded(2.0))


def test_errors_of_the_function_are_raised():
    def checked(x):
        if halved(x) > 100:
            raise ValueError(f"too large: {x[0]}")
        return halved(x)

    for transformation in (jit, grad):
        f = transformation(checked)
        f(X)
        with pytest.raises(ValueError, match=r"too large: 300\.0"):
            f(100 * X)
        f(X)


def test_nothing_is_traced_where_that_is_said():
    slope = grad(halved)
    slope(X)
    with tapeless.strict(True):
        for f in (slope, grad(halved), jit(halved), tapeless.vmap(halved)):
            with pytest.raises(tapeless.TapelessError, match="must be unrolled"):
                f(
                    np.stack([X, X])
                    if f is not slope and isinstance(f, tapeless.vmap(halved).__class__)
                    else X
                )
    np.testing.assert_array_equal(slope(X), [1.0, 0.0625, 0.0625])


def test_a_warning_says_what_is_traced():
    def of_its_own(x):
        history = 0.0
        while np.sum(x) > 1.0:
            x = x / 2
            history = np.append(history, x)
        return np.sum(history)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            jit(of_its_own)(np.array([3.0, 1.0]))
    (warning,) = [w for w in caught if w.category is tapeless.PerformanceWarning]
    assert "is traced on the values of each call" in str(warning.message)
    assert warning.lineno == of_its_own.__code__.co_firstlineno + 2
    assert warning.filename == __file__


def test_types_alone_are_not_traced():
    shape = tapeless.ShapeDtypeStruct((3,), np.float64)
    for ask in (grad(halved).source, jit(halved).lower, jit(halved).source):
        with pytest.raises(tapeless.TapelessError, match="must be unrolled"):
            ask(shape)
    assert "not the traced way" in grad(halved).source(X)


def test_pickles():
    slope = pickle.loads(pickle.dumps(jit(halved)))
    assert slope(X) == pytest.approx(halved(X))


def test_saved_code_stands_alone(tmp_path):
    file = grad(halved).save(tmp_path / "slope.py", X)
    values = {}
    exec(file.read_text(), values)
    np.testing.assert_array_equal(values["halved_grad"](X), grad(halved)(X))


def test_lists_of_the_caller_are_changed_once():
    seen = []

    def noted(x):
        seen.append(1.0)
        return halved(x)

    slope = grad(noted)
    for n, scale in enumerate((1.0, 0.01, 5.0, 0.01), start=1):
        slope(scale * X)
        assert seen == [1.0] * n


def sampled(x, steps, rng):
    """Metropolis' walk with what it keeps in a list of tuples and texts."""
    kept, v = [], x[0]
    for _ in range(steps):
        new = v + rng.normal()
        if rng.random() < np.exp(0.5 * (v * v - new * new)):
            v = new
            kept.append((v, "moved", x * v))
        elif v > 0:
            kept.append(np.append(x, v))
    return v * x[1] + len(kept), sum(np.sum(k if isinstance(k, np.ndarray) else k[2]) for k in kept)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_draws_are_those_of_numpy(make):
    """In each call, also where ways are left; the generator goes on from where NumPy's would."""
    ours, theirs = make(3), make(3)
    walk = jit(lambda x: sampled(x, 6, ours))
    for _ in range(5):
        np.testing.assert_allclose(walk(X), sampled(X, 6, theirs))
    assert ours.uniform() == theirs.uniform()


def test_draws_of_numpys_own_generator():
    walk = jit(lambda x: sampled(x, 6, np.random))
    np.random.seed(5)
    found = [walk(X) for _ in range(5)]
    ours = np.random.uniform()
    np.random.seed(5)
    np.testing.assert_allclose(found, [sampled(X, 6, np.random) for _ in range(5)])
    assert ours == np.random.uniform()


def picked(x, k):
    """Of two ways, only one has as many rows as it picks."""
    rows = [x] if x[0] > 0 else [x, x, x]
    kinds = ["one"] if x[0] > 0 else ["three"]
    table = np.array(rows)
    return np.sum(table[k]) * len(kinds[0])


def test_kernels_that_test_indices_first_do_not_raise_for_another_way():
    f = jit(picked)
    k = np.array([0, 2, 1])
    for sign in (-1.0, 1.0, -1.0):
        x = sign * np.array([1.0, 2.0])
        at = k if sign < 0 else 0 * k
        assert f(x, at) == pytest.approx(picked(x, at))
    with pytest.raises(IndexError):
        f(np.array([1.0, 2.0]), k)


def compiled_code_leaves_its_way(monkeypatch):
    one_way = ways.one_way

    def turned(specialisation, *rest):
        if specialisation.reorders:
            raise ways.TakesOtherWay
        return one_way(specialisation, *rest)

    monkeypatch.setattr(ways, "one_way", turned)


def test_rounding_that_turns_a_test_is_numpys(monkeypatch):
    """Where the code of a way says that it is another one, NumPy's goes it: once."""
    calls = []

    def f(x):
        calls.append(1.0)
        x[0] = x[0] + 1.0
        return halved(x)

    ours = jit(f)
    compiled_code_leaves_its_way(monkeypatch)
    a, b = X.copy(), X.copy()
    assert ours(a) == pytest.approx(f(b))
    np.testing.assert_array_equal(a, b)
    assert len(calls) == 2


def test_static_arguments_of_code_that_leaves_its_way(monkeypatch):
    def f(x, mode, k=1):
        return halved(x) * (k if mode == "times" else 0.0)

    compiled_code_leaves_its_way(monkeypatch)
    ours = jit(f, static_argnames=("mode", "k"))
    assert ours(X, "times", k=3) == pytest.approx(3 * halved(X))


def test_arguments_that_share_memory_are_refused_in_all_ways():
    def f(x, y):
        x[0] = 5.0
        return halved(x) + np.sum(y)

    ours = jit(f)
    for scale in (1.0, 0.01):
        ours(scale * X, X.copy())
    for scale in (1.0, 0.01):
        x = scale * X
        with pytest.raises(tapeless.transforms.errors.ArgumentError, match="share memory"):
            ours(x, x[1:])
        np.testing.assert_array_equal(x, scale * X)


def test_ways_are_forgotten():
    f = jit(halved)
    f(X)
    f.clear_cache()
    assert f(X) == pytest.approx(halved(X))


def test_mistakes_of_ours_are_traced_and_told(monkeypatch):
    """What fails after staging for all values, as by a length that no text reads, is traced; where
    programs are checked after each pass it is raised."""
    monkeypatch.delenv("TAPELESS_CHECK")

    def f(x):
        return np.sum(x[x > 0.5]) * 2

    class Broken(jit(f).__class__):
        def write(self, staged, *rest):
            if not staged.decisions.traced:
                raise tapeless.transforms.errors.InternalError("a mistake")
            return super().write(staged, *rest)

    broken = Broken(f)
    assert broken(X) == pytest.approx(f(X))
    assert "an error of tapeless itself: a mistake" in "\n".join(broken.last.staged.notes)
    with tapeless.strict(True), pytest.raises(tapeless.TapelessError, match="a mistake"):
        Broken(lambda x: f(x))(X)


LIMIT = 4.100000000000003 * (0.1 * 7.0)  # above which only products as they are written are


def halved_above(x):
    history = []
    while np.max(x) * 0.1 * 7.0 > LIMIT:
        history = np.append(history, x)
        x = x / 2
    return np.sum(x) + np.sum(history)


def test_a_test_that_algebra_turns_by_a_rounding_error():
    x = np.array([4.100000000000003, 0.5])
    assert np.max(x) * 0.1 * 7.0 > LIMIT and np.max(x) * (0.1 * 7.0) == LIMIT  # noqa: PT018
    assert jit(halved_above)(x) == halved_above(x)
    np.testing.assert_array_equal(grad(halved_above)(x), [1.5, 1.5])
    batch = np.stack([x, x / 4])
    np.testing.assert_allclose(tapeless.vmap(halved_above)(batch), [*map(halved_above, batch)])


@pytest.mark.parametrize("transformation", [lambda f: f, grad, tapeless.vmap])
def test_what_algebra_turns_is_made_again_once(transformation):
    ours = jit(transformation(halved_above))
    x = np.array([4.100000000000003, 0.5])
    arg = np.stack([x, x / 4]) if transformation is tapeless.vmap else x
    first = ours(arg)
    kept = sum(map(len, ours.cache.values()))
    np.testing.assert_array_equal(ours(arg), first)
    assert sum(map(len, ours.cache.values())) == kept
    np.testing.assert_allclose(ours(arg * 4), transformation(halved_above)(arg * 4))
