"""What every transformed callable has: source, stages, repr, wraps data, copies and pickles."""

import copy
import functools
import inspect
import pickle
import subprocess
import sys
import threading
import traceback
import weakref

import numpy as np
import pytest

from tapeless import TapelessError, grad, jit, jvp_fn, value_and_grad, vjp
from tapeless.transforms.errors import ArgumentError
from tests.api import importable
from tests.api.importable import Spring, square


def energy(x, stiffness=2.0):
    """Of a spring."""
    return 0.5 * stiffness * np.sum(x**2)


# -- source and stages


def test_source_runs_by_itself():
    slope = grad(energy)
    text = slope.source(np.ones(3))
    values = {}
    exec(text, values)
    np.testing.assert_array_equal(values["energy_grad"](np.arange(3.0)), [0.0, 2.0, 4.0])
    assert "tapeless" not in text
    assert f"From test_transformation.py:{energy.__code__.co_firstlineno}." in text
    assert max(map(len, text.splitlines())) < 100


def test_source_without_arguments_is_that_of_the_last_call():
    slope = grad(energy)
    slope(2.0, 3.0)
    with_stiffness = slope.source()
    slope(np.ones(3))
    assert slope.source() != with_stiffness
    assert slope.source() == slope.source(np.ones(3))
    assert slope.source(2.0, 3.0) == with_stiffness


def test_source_of_keyword_arguments():
    assert "stiffness" in grad(energy, argnames="stiffness").source(1.0, stiffness=3.0)


def test_source_before_the_first_call():
    for ask in (grad(energy).source, grad(energy).stages):
        with pytest.raises(ArgumentError) as e:
            ask()
        assert e.value.problem == "the grad of energy has not been called yet"
        assert e.value.hint == "pass arguments as in a call: .source(1.0)"


def test_stages():
    stages = value_and_grad(energy).stages(np.ones(3))
    assert [name for name, _ in stages] == ["rewritten", "core", "simplified", "notes", "source"]
    assert "__hooks__.call(" in stages["rewritten"]
    assert stages["source"] == value_and_grad(energy).source(np.ones(3))
    assert stages["notes"] == "every loop that depends on values is rolled"
    text = str(stages)
    assert text == repr(stages)
    assert text.startswith("-- rewritten --\ndef energy(")
    assert "-- source --\nimport numpy as np" in text


# -- repr and the data of wraps


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (grad(energy), "<d energy / d x>"),
        (grad(energy, argnums=(1, 0)), "<d energy / d stiffness, x>"),
        (grad(energy, argnums=-1), "<d energy / d stiffness>"),
        (grad(energy, argnames="stiffness"), "<d energy / d stiffness>"),
        (grad(grad(energy)), "<d energy_grad / d x>"),
        (value_and_grad(energy), "<energy and d energy / d x>"),
        (grad(lambda x: x), "<d function / d x>"),
        (grad(functools.partial(energy, stiffness=1.0)), "<d energy / d x>"),
        (grad(Spring(1.0)), "<d spring / d x>"),
        (jvp_fn(energy), "<energy and its derivative along a tangent>"),
    ],
)
def test_repr(made, text):
    assert repr(made) == text


def test_wraps():
    slope = grad(energy)
    assert slope.__wrapped__ is energy
    assert slope.__name__ == "energy"
    assert slope.__qualname__ == "energy"
    assert slope.__doc__ == "Of a spring."
    assert slope.__module__ == energy.__module__
    assert list(inspect.signature(slope).parameters) == ["x", "stiffness"]


def test_names_of_what_has_none():
    assert grad(functools.partial(energy)).__name__ == "energy"
    assert grad(Spring(1.0)).__name__ == "spring"


# -- methods


def test_methods_are_bound():
    spring = Spring(6.0)
    assert spring.pull == spring.pull
    assert spring.pull != Spring(6.0).pull
    assert len({spring.pull, spring.pull}) == 1
    assert repr(spring.pull).startswith("<d pull / d x, bound to <")
    assert spring.pull.__name__ == "pull"
    assert spring.pull.__wrapped__(2.0) == 12.0  # the energy
    assert list(inspect.signature(spring.pull).parameters) == ["x"]
    assert "def pull_grad(self, x" in spring.pull.source(2.0)
    spring.pull(2.0)
    assert spring.pull.source() == spring.pull.source(2.0)
    assert spring.pull.stages()["source"] == spring.pull.source()
    with pytest.raises(AttributeError):
        spring.pull.nothing  # noqa: B018 (the look-up is the test)


def test_methods_in_transformed_functions():
    assert grad(lambda x: Spring(6.0).pull(x) ** 2)(2.0) == 2 * 12.0 * 6.0


# -- copies, pickles, references

MADE = [
    importable.square_slope,
    importable.square_both,
    importable.ruled_forward,
    importable.ruled_backward,
    importable.recomputed,
    grad(square),
    grad(grad(square)),
    grad(importable.ruled_forward),
    grad(importable.ruled_backward),
    grad(importable.recomputed),
    grad(functools.partial(importable.scaled, factor=3.0)),
    grad(Spring(2.0).energy),
    grad(Spring(2.0)),
    grad(Spring.cube),
    value_and_grad(square),
    Spring(2.0).pull,
]


@pytest.mark.parametrize(
    "again",
    [
        *(lambda f, p=p: pickle.loads(pickle.dumps(f, p)) for p in range(2, 6)),
        copy.copy,
        copy.deepcopy,
    ],
)
@pytest.mark.parametrize("function", MADE)
def test_pickle_and_copy(function, again):
    assert again(function)(0.5) == function(0.5)


def test_decorated_functions_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(importable.square_slope)) is importable.square_slope
    assert copy.deepcopy(importable.recomputed) is importable.recomputed


def test_pickles_of_another_process():
    script = (
        "import pickle, sys; from tapeless import grad; from tests.api.importable import square; "
        "g = grad(square); g(1.0); sys.stdout.buffer.write(pickle.dumps(g))"
    )
    made = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert pickle.loads(made.stdout)(3.0) == 6.0


@pytest.mark.parametrize("function", MADE)
def test_hash_and_weak_references(function):
    assert len({function, function}) == 1
    if not isinstance(function, functools.partial):
        assert weakref.ref(function)() is function


# -- errors in emitted code


def looked_up(x, k):
    y = x * 2
    return y[k] ** 2


def test_errors_name_the_users_line():
    x = np.ones(3)
    slope = grad(looked_up)
    slope(x, 1)
    with pytest.raises(IndexError) as e:
        slope(x, 7)
    (note,) = e.value.__notes__
    line = looked_up.__code__.co_firstlineno + 2
    assert note == (
        f'while running the grad of looked_up, from\n  File "{__file__}", line {line}\n'
        "    return y[k] ** 2"
    )
    shown = "".join(traceback.format_exception(e.value))
    assert "looked_up_grad_" in shown
    assert "in looked_up_grad\n    " in shown


def picked_from_the_product(x, k):
    y = x * 2
    return np.sum(y[k] * y)


@pytest.mark.parametrize("transform", [grad, jit, lambda f: jit(grad(f))])
def test_the_line_is_that_of_what_fails(transform):
    with pytest.raises(IndexError) as e:
        transform(picked_from_the_product)(np.ones(3), 7)
    assert "return np.sum(y[k] * y)" in "".join(e.value.__notes__)


def test_errors_of_helpers_name_the_helpers_file():
    def f(x):
        return importable.scaled(x).sum() + np.linalg.inv(x).sum()

    with pytest.raises(np.linalg.LinAlgError) as e:
        grad(f)(np.zeros((2, 2)))
    (note,) = e.value.__notes__
    assert "while running the grad of f, from" in note
    assert "np.linalg.inv(x)" in note


def test_errors_in_the_backward_function():
    def f(x):
        return np.sqrt(x)

    _, pull = vjp(f, 4.0)
    with np.errstate(all="raise"):
        _, pull = vjp(lambda x: np.sqrt(x), 0.0)
        with pytest.raises((FloatingPointError, ZeroDivisionError)) as e:
            pull(1.0)
    (note,) = e.value.__notes__
    assert note.startswith("while running the vjp of function")


def test_assertions_of_users_stay_theirs():
    def f(x):
        assert x > 0, "must be positive"
        return x**2

    assert grad(f)(1.0) == 2.0
    with pytest.raises(AssertionError, match="must be positive") as e:
        grad(f)(-1.0)
    assert not isinstance(e.value, TapelessError)


# -- the same bytes everywhere

DETERMINISTIC = """
import numpy as np
from tapeless import grad, vjp
from tests.api.dispatch.test_transformation import corners, network
params = {"w": np.ones((3, 2)), "b": np.ones(2), "more": [1.0, (2.0,)]}
print(grad(network).source(params, np.ones((4, 3)), k=3, names={"b", "a", "c"} and 1))
print(vjp(network, params, np.ones((4, 3)), )[1].source())
print(grad(corners).source(np.eye(3)))
"""


def network(params, x, k=2, names=0):
    scale = {"u": 1.0, "v": 2.0}
    for _ in range(k):
        hidden = np.tanh(x @ params["w"] + params["b"])
        x = np.concatenate([hidden, x[:, :1]], axis=1)
        if np.sum(x) > 0:
            x = x * scale["v"]
    return np.sum(x) * params["more"][0] * params["more"][1][0]


def corners(a):
    """Both lengths of a part are saved from pass to pass: they get their names in one order."""
    n, total = 3, 0.0
    while n > 1:
        q, r = np.linalg.qr(a[:n, :n])
        total += r[0, 0] * q[0, -1]
        n -= 1
    return total


def test_the_same_bytes_in_every_process():
    found = [
        subprocess.run(
            [sys.executable, "-c", DETERMINISTIC],
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PATH": "", "HOME": "/nonexistent"},
        ).stdout
        for seed in ("1", "7")
    ]
    assert found[0] == found[1]
    assert b"def network_grad(" in found[0]


# -- threads


def test_many_threads_at_once():
    slope = grad(energy)
    found, n = [], 8
    barrier = threading.Barrier(n)

    def work(k):
        barrier.wait(timeout=10)
        found.append((k, slope(np.full(k + 2, float(k)))))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(timeout=20)
    assert len(found) == n
    for k, gradient in found:
        np.testing.assert_array_equal(gradient, np.full(k + 2, 2.0 * k))


def test_errors_in_what_is_returned_name_its_line():
    def pick(x, i):
        y = np.sin(x)
        return y[i] * y[0] + x[i]  # the line that fails

    with pytest.raises(IndexError) as e:
        vjp(pick, np.ones(3), 7)
    assert "# the line that fails" in "".join(e.value.__notes__)
