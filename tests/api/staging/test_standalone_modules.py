"""Emitted modules that are written to a file need no other code, and no tapeless."""

import ast
import functools
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.special

import tapeless
from tapeless import grad, jit, lax, vjp, vmap

RUN = """
import sys, pickle, importlib.util
sys.modules["tapeless"] = None
results = {}
with open(sys.argv[1], "rb") as file:
    calls = pickle.load(file)
for path, name, args in calls:
    spec = importlib.util.spec_from_file_location("emitted", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        results[path] = getattr(module, name)(*args)
    except ValueError as error:
        results[path] = str(error)
with open(sys.argv[2], "wb") as file:
    pickle.dump(results, file)
"""
SMALL, LARGE = np.array([[1.5, -2.0], [0.25, 3.0]]), np.random.default_rng(0).normal(size=(40, 2))
SINGLE, PRODUCT, FLAG = np.array([1, np.inf], np.float32), np.array([2.0, 3.0]), np.array([True])


class Layer:
    def __init__(self, scale):
        self.w = scale * np.eye(2)


class Net:
    def __init__(self):
        self.layers = [Layer(1.0), Layer(2.0)]

    def __call__(self, x):
        for layer in self.layers:
            x = np.tanh(layer.w @ x)
        return np.sum(x)


def outer(x):
    return np.sum((LARGE @ (SMALL @ x)) ** 2) * np.sum(PRODUCT)


def minima(x):
    return np.sum(np.minimum(x, SINGLE) * FLAG)


def stored_over(x):
    total = SMALL  # the local variable gets other values
    for _ in range(3):
        total = total @ SMALL + x
    return np.sum(total)


def image(x):
    kernel = np.ones((2, 2, 1, 1))
    words = ("NHWC", "HWIO", "NHWC")
    x = x.reshape(1, 4, 4, 1)
    return np.sum(lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=words) ** 2)


def random(x):
    return np.sum(tapeless.random.normal(tapeless.random.key(3), (2,)) * x)


def library(x):
    return np.sum(scipy.special.gammaln(x) + np.linalg.det(SMALL * x))


def loud(x):
    print("x is", x[0] > 0)  # noqa: T201 (that it is printed is part of the program)
    if x[0] < 0:
        raise ValueError(f"negative {x[0]}")
    return np.sum(x * PRODUCT)


def recursive(x):
    return np.sum(x * PRODUCT) if x[0] > 20 else recursive(x * 2)


X = np.array([0.5, 1.25])
PROGRAMS = [outer, minima, stored_over, random, library, loud, recursive, Net()]
CALLS = [
    *((kind(f), (X,)) for f in PROGRAMS for kind in (grad, jit, lambda f: jit(grad(f)))),
    *(
        (kind(f), (np.stack([X, X + 1]),))
        for f in (outer, Net())
        for kind in (vmap, lambda f: jit(vmap(grad(f))))
    ),
    *((kind(grad(image)), (np.arange(16.0),)) for kind in (jit, lambda f: f)),
    (jit(loud), (-X,)),
]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What the saved modules return in a process without tapeless, beside what is right."""
    folder = tmp_path_factory.mktemp("saved")
    calls, right = [], {}
    for number, (f, args) in enumerate(CALLS):
        path = str(f.save(folder / f"module_{number}.py", *args))
        calls.append((path, f.emitted_name, args))
        try:
            right[path] = f(*args)
        except ValueError as error:
            right[path] = str(error)
    given, made, script = folder / "calls", folder / "results", folder / "run.py"
    given.write_bytes(pickle.dumps(calls))
    script.write_text(RUN)
    subprocess.run([sys.executable, str(script), str(given), str(made)], check=True)
    return pickle.loads(made.read_bytes()), right


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_saved_modules_run_without_tapeless(number, alone):
    results, right = alone
    path = [*right][number]
    if isinstance(right[path], str):
        assert results[path] == right[path] == "negative -0.5"
    else:
        np.testing.assert_allclose(results[path], right[path], rtol=1e-12)


def test_small_arrays_are_data_of_the_source():
    text = grad(minima).source(X)
    assert "SINGLE = np.array([1.0, np.inf], np.float32)" in text
    assert "FLAG = np.array([True])" in text
    assert "def minima_grad(x):" in text


def test_parameters_that_are_left_are_named_and_explained():
    slope = grad(outer)
    text = slope.source(X)
    assert "def outer_grad(x, LARGE):" in text
    docstring = ast.get_docstring(ast.parse(text).body[-1])
    assert docstring.splitlines()[1] == "Read from outside: LARGE; SMALL; PRODUCT."
    values = {}
    exec(text, values)
    np.testing.assert_allclose(values["outer_grad"](X, LARGE), slope(X))


def test_parameters_are_called_after_what_the_user_reads():
    layers = Net().layers

    def f(x):
        return np.sum(layers[0].w @ (layers[1].w @ x))

    text = grad(f).source(X)
    assert "Read from outside: layers0_w = layers[0].w; layers1_w = layers[1].w." in text
    assert "layers1_w.T @" in text


def test_the_data_are_those_of_the_moment():
    w = np.array([1.0, 2.0])
    slope = grad(lambda x: np.sum(w * x))
    assert "w = np.array([1.0, 2.0])" in slope.source(X)
    w[0] = 7.0
    assert "w = np.array([7.0, 2.0])" in slope.source(X)


def test_large_arrays_lie_beside(tmp_path):
    path = grad(outer).save(tmp_path / "slope.py", X)
    with np.load(tmp_path / "slope.npz") as data:
        np.testing.assert_array_equal(data["LARGE"], LARGE)
        assert [*data] == ["LARGE"]
    assert '    LARGE = outside["LARGE"]' in path.read_text()
    grad(minima).save(tmp_path / "small.py", X)
    assert not (tmp_path / "small.npz").exists()


def test_any_name_of_a_large_array(tmp_path):
    file = outside = LARGE

    def f(x):
        return np.sum(file @ x) + np.sum(outside[:30].T * 2)

    path = grad(f).save(tmp_path / "slope.py", X)
    values = {"__file__": str(path)}
    exec(path.read_text(), values)
    np.testing.assert_allclose(values["f_grad"](X), LARGE.sum(0))


def test_a_name_that_is_not_free(tmp_path):
    product = np.array([2.0, 3.0])  # kernels call a function of this name

    def f(x, a):
        return np.sum(np.tanh(a @ a * product) @ x)

    a = np.random.default_rng(1).normal(size=(2, 2))
    text = jit(f).source(X, a)
    values = {}
    exec(text, values)
    np.testing.assert_allclose(values["f"](X, a), f(X, a))


def test_pullbacks_and_methods(tmp_path):
    _, pull = vjp(outer, X)
    assert "SMALL = np.array(" in pull.source()

    class Model:
        w = np.array([3.0, 4.0])

        @functools.partial(grad, argnums=1)
        def slope(self, x):
            return np.sum(self.w * x**2)

    path = Model().slope.save(tmp_path / "slope.py", X)
    assert "w = np.array([3.0, 4.0])" in path.read_text()
    assert Model().slope.file(X).endswith(".py")


def test_the_file_is_the_one_that_runs():
    slope = grad(outer)
    slope(X)
    frames = []

    def note(frame, event, _):
        frames.append(frame.f_code.co_filename)

    sys.settrace(note)
    try:
        slope(X)
    finally:
        sys.settrace(None)
    assert slope.file() in frames
    assert slope.file(X) == slope.file()


def test_names_of_data_are_refused():
    with pytest.raises(tapeless.errors.ArgumentError, match=r"save: 'a.npz' is the name of data"):
        grad(minima).save("a.npz", X)


def test_arguments_that_the_module_is_made_for_are_named():
    def power(x, n, up=True):
        return (1.0 if n == 0 else x * power(x, n - 1)) * (1.0 if up else -1.0)

    assert "Only for n = 3, up = False." in tapeless.grad(power).source(1.5, 3, up=False)
    assert "Only for" not in tapeless.grad(lambda x, n: x * n).source(1.5, 3)
