"""Calls that are made often go into machine code at once, and mean what they meant before."""

import threading

import numpy as np
import pytest

from tapeless import disable_jit, jit, value_and_grad
from tapeless.dispatch import native_entry
from tapeless.dispatch.specialisation import MISSED
from tapeless.transformations.compilation import compiled_function as compiled
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transforms.errors import TapelessError
from tests.corpus import programs
from tests.test_corpus_compiled import agree, by_python

SCALE = 3.0
TABLE = np.arange(4.0)
X = np.arange(1.0, 6.0)


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(compiled, "OFTEN", 3)


def often(f, *args):
    for _ in range(5):
        f(*args)
    return f


def scaled(x, y):
    return x * SCALE + np.sum(y)


def test_values_are_the_same_and_python_is_left_out(monkeypatch):
    f = often(jit(scaled), X, X)
    assert f.direct is not None
    monkeypatch.setattr(f.last, "enter", None)  # it would be called
    assert f(X, X).tolist() == scaled(X, X).tolist()
    assert f(X[:2], X).tolist() == scaled(X[:2], X).tolist()


def test_it_waits_for_some_calls():
    f = jit(scaled)
    f(X, X)
    assert f.direct is None
    assert compiled.OFTEN == 3
    often(f, X, X)
    assert f.direct is not None


def test_other_arguments_go_the_other_way():
    f = often(jit(scaled), X, X)
    for args in ((2.0, X), (X.astype(np.float32), X), (X[:1], X), (X[None], X)):
        np.testing.assert_allclose(f(*args), scaled(*args), rtol=1e-6)
    np.testing.assert_allclose(f(X, y=X), scaled(X, X))


def test_what_is_read_from_outside_is_looked_at_again(monkeypatch):
    f = often(jit(scaled), X, X)
    monkeypatch.setitem(scaled.__globals__, "SCALE", 5.0)
    np.testing.assert_allclose(f(X, X), scaled(X, X))


def test_containers():
    def loss(params, x):
        hidden = np.tanh(x @ params["in"][0] + params["in"][1])
        return np.mean((hidden @ params["out"]) ** 2)

    rng = np.random.default_rng(0)
    w, b, v = rng.standard_normal((3, 4)), np.zeros(4), rng.standard_normal(4)
    params, x = {"in": (w, b), "out": v}, rng.standard_normal((5, 3))
    f = jit(value_and_grad(loss))
    want = f(params, x)
    often(f, params, x)
    assert f.direct is not None
    assert f.direct(params, x) is not MISSED
    agree(f(params, x), want)
    agree(f({"out": v, "in": (w, b)}, x), (want[0], {"out": want[1]["out"], "in": want[1]["in"]}))
    with pytest.raises(TypeError):
        f({"in": (w, b), "out": v}, "x")


@pytest.mark.parametrize(
    "f",
    [
        jit(lambda x, y: x.__setitem__(0, 1.0)),
        jit(lambda x, y: x[: len(TABLE)] * TABLE),
        jit(lambda x, y: np.linalg.eigvals(np.outer(x, y))),
    ],
    ids=["stores to arguments", "arrays from outside", "library calls"],
)
def test_programs_that_take_python(f):
    x = X[:4].copy()
    often(f, x, x.copy())
    assert f.direct is None


def test_static_arguments_are_told_apart():
    f = jit(lambda x, n: x * n, static_argnums=1)
    often(f, X, 2)
    np.testing.assert_array_equal(f(X, 3), 3 * X)
    np.testing.assert_array_equal(f(X, 2), 2 * X)


def test_lengths_that_are_known_are_tested():
    f = jit(lambda x, n: np.ones((n, 2)) * np.sum(x) if n > 2 else x)
    often(f, X, 3)
    assert f(X, 3).shape == (3, 2)
    assert f(X, 2) is not None
    assert f(X, 2).shape == (5,)


def test_errors_name_the_line_of_the_user():
    def picked(x, k):
        return x[k] * 2

    f = often(jit(picked), X, 1)
    with pytest.raises(IndexError):
        f(X, 9)
    g = often(jit(lambda x, y: x + y), X, X)
    assert g.direct is not None
    with pytest.raises(ValueError, match="broadcast"):
        g(X, X[:3])


def test_without_jit():
    f = often(jit(lambda x: x + 1), X)
    assert f.direct is not None
    with disable_jit():
        assert f(X).tolist() == (X + 1).tolist()


def test_threads():
    f = often(jit(scaled), X, X)
    large = np.ones(1 << 16)
    want = scaled(large, X)
    found = []

    def calls():
        kept = [f(large, X) for _ in range(200)]
        found.append(all((k == want).all() for k in kept))

    threads = [threading.Thread(target=calls) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [True] * 4


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", [*programs()][::21], ids=lambda p: p.name)
def test_the_corpus(monkeypatch, program):
    monkeypatch.setattr(Jit, "load", by_python)
    f = jit(program.function)
    with np.errstate(all="ignore"):
        try:
            f(*program.arguments())
        except TapelessError:
            pytest.skip("refused")
        quick = native_entry.native_entry(f.last, program.arguments(), MISSED)
        if quick is None:
            pytest.skip("a driver that takes Python")
        want, got = f.last.run(*program.arguments()), quick(*program.arguments())
    if got is not MISSED:
        assert type(got) is type(want)
        agree(got, want)
