"""Functions that another process has staged: found again, and never a stale one."""

import functools
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from tapeless import TapelessError, grad, jit, value_and_grad, vmap
from tapeless.backends import cache
from tapeless.disk_cache import store, versions
from tapeless.disk_cache.load import Recalled, StandIn
from tapeless.dispatch.specialisation import forget
from tapeless.transformations.compilation.compiled_function import Jit

X = np.linspace(0.5, 2.0, 4)


@pytest.fixture(autouse=True)
def _kept(tmp_path, monkeypatch):
    """Functions are kept, in a folder of the test's own."""
    monkeypatch.delenv("TAPELESS_CHECK", raising=False)
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(store, "versions", lambda: "those of this test")


def module(folder, text, **names):
    """The names of a module with this text, whose file is always the same."""
    path = folder / "module.py"
    path.write_text(textwrap.dedent(text))
    values = {"__name__": "module", "np": np, **names}
    exec(compile(path.read_text(), str(path), "exec"), values)
    return values


def staged(function, *args, **kwargs):
    """The value of a compiled function in what stands for a new process, and whether it was
    staged there."""
    forget()
    function.cache.clear()
    function.last = function.direct = None
    value = function(*args, **kwargs)
    return value, not isinstance(function.last, Recalled)


def kept():
    return [*cache.compiled_code_folder().glob("*.staged")]


LOSS = """
    SCALE = 2.0

    def helper(x, by=1.0):
        return np.sin(x) * SCALE * by

    def make(power):
        def loss(x):
            return np.sum(helper(x) ** power)
        return loss

    f = make(2)
"""


def test_a_function_is_staged_once(tmp_path):
    first = jit(grad(module(tmp_path, LOSS)["f"]))
    value, anew = staged(first, X)
    assert anew
    assert len(kept()) == 1
    again = jit(grad(module(tmp_path, LOSS)["f"]))
    found, anew = staged(again, X)
    assert not anew
    np.testing.assert_array_equal(found, value)
    np.testing.assert_array_equal(again(X), value)  # by its entry
    assert again.source() == first.source()


def test_what_is_not_kept_is_staged_where_it_is_asked_for(tmp_path):
    staged(jit(module(tmp_path, LOSS)["f"]), X)
    f = jit(module(tmp_path, LOSS)["f"])
    _, anew = staged(f, X)
    assert not anew
    stages = f.stages()
    assert "power" in stages["core"]
    assert stages["source"] == f.source()
    assert "kernel" in stages["driver"]
    assert f.lower(X).source() == f.source()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SCALE = 2.0", "SCALE = 3.0"),
        ("by=1.0", "by=4.0"),
        ("make(2)", "make(3)"),
        ("np.sin", "np.cos"),
        ("** power", "* power"),
        ("SCALE = 2.0", "SCALE = np.float32(2)"),
        ("SCALE = 2.0", "SCALE = np.full(4, 5.0)"),
        ("SCALE = 2.0", "SCALE = True"),
        ("np.sum(", "sum("),
    ],
)
def test_other_functions_are_staged(tmp_path, old, new):
    staged(jit(module(tmp_path, LOSS)["f"]), X)
    other = module(tmp_path, LOSS.replace(old, new))["f"]
    value, anew = staged(jit(other), X)
    assert anew
    np.testing.assert_allclose(value, other(X), rtol=1e-12)


def test_a_function_on_another_line_is_another_one(tmp_path):
    staged(jit(module(tmp_path, LOSS)["f"]), X)
    f = jit(module(tmp_path, "\n" + LOSS)["f"])
    assert staged(f, X)[1]  # comments name lines


def test_what_libraries_have_is_looked_at(tmp_path, monkeypatch):
    staged(jit(module(tmp_path, LOSS)["f"]), X)
    monkeypatch.setattr(np, "sin", np.cos)
    f = module(tmp_path, LOSS)["f"]
    value, anew = staged(jit(f), X)
    assert anew
    np.testing.assert_allclose(value, np.sum((2 * np.cos(X)) ** 2))


def test_a_library_function_of_the_user_is_described(tmp_path, monkeypatch):
    staged(jit(module(tmp_path, LOSS)["f"]), X)

    def mine(x):
        return x * 10

    mine.__module__, mine.__qualname__ = "numpy", "sin"
    monkeypatch.setattr(np, "sin", mine)
    try:
        value, anew = staged(jit(module(tmp_path, LOSS)["f"]), X)
    except TapelessError:  # staging may refuse it
        return
    assert anew
    np.testing.assert_allclose(value, np.sum((X * 20) ** 2))


def test_constants_are_still_looked_at_in_each_call(tmp_path):
    staged(jit(module(tmp_path, LOSS)["f"]), X)
    values = module(tmp_path, LOSS)
    f = jit(values["f"])
    assert not staged(f, X)[1]
    for scale in (2.0, 5.0, 6.0):
        values["SCALE"] = scale
        np.testing.assert_allclose(f(X), values["f"](X))
    values["helper"].__defaults__ = (7.0,)
    np.testing.assert_allclose(f(X), values["f"](X))
    values["helper"] = lambda x: x
    np.testing.assert_allclose(f(X), np.sum(X**2))


@pytest.mark.parametrize(
    "args",
    [
        (X.astype(np.float32), 2),
        (X.reshape(2, 2), 2),
        (X[:1], 2),
        (X, 2.0),
        (np.ones(6), 3),
        (X, 4),
    ],
)
def test_other_arguments_are_staged(tmp_path, args):
    text = """
        def f(x, n):
            return np.sum(np.reshape(x, (n, -1)), axis=1) if type(n) is int else np.sum(x)
    """
    staged(jit(module(tmp_path, text)["f"]), X, 2)
    f = module(tmp_path, text)["f"]
    if args[0].size % args[1]:
        with pytest.raises(ValueError, match="reshape"):
            staged(jit(f), *args)
        return
    value, _ = staged(jit(f), *args)
    np.testing.assert_allclose(value, f(*args), rtol=1e-6)


def test_records_for_other_values_lie_beside_each_other(tmp_path):
    text = """
        def f(x, axis):
            return np.sum(x, axis=axis)
    """
    x = np.arange(6.0).reshape(2, 3)
    for expected in (True, False):
        for axis in (0, 1):
            value, anew = staged(jit(module(tmp_path, text)["f"]), x, axis)
            assert anew is expected
            np.testing.assert_array_equal(value, x.sum(axis))
    assert len(kept()) == 1


def test_relations_of_sizes_are_tested(tmp_path):
    text = """
        def f(x, y):
            return x + y
    """
    staged(jit(module(tmp_path, text)["f"]), X, X)
    f = jit(module(tmp_path, text)["f"])
    assert not staged(f, X, X)[1]
    with pytest.raises(ValueError, match="broadcast"):
        f(X, np.ones(3))
    forget()
    with pytest.raises(ValueError, match="broadcast"):
        jit(module(tmp_path, text)["f"])(X, np.ones(3))


def test_containers_and_keywords(tmp_path):
    text = """
        def f(params, *, x, flag="a"):
            w, b = params["w"], params["b"]
            return {"out": np.tanh(x @ w + b[0]), "flag": 1.0 if flag == "a" else 2.0}
    """
    params = {"w": np.ones((4, 3)), "b": [np.zeros(3), None]}
    wanted, _ = staged(jit(module(tmp_path, text)["f"]), params, x=X)
    f = jit(module(tmp_path, text)["f"])
    value, anew = staged(f, params, x=X)
    assert not anew
    np.testing.assert_array_equal(value["out"], wanted["out"])
    assert f(params, x=X, flag="b")["flag"] == 2.0
    assert staged(f, {"b": params["b"], "w": params["w"]}, x=X)[1]  # another order


@pytest.mark.parametrize(
    ("make", "x"),
    [
        (lambda f: jit(vmap(grad(f))), X),
        (lambda f: jit(value_and_grad(f, argnums=(0,))), 0.5),
        (lambda f: jit(grad(jit(grad(f)))), 0.5),
        (lambda f: jit(functools.partial(f, y=3.0)), X),
        (lambda f: jit(lambda x: f(x) + 1, fastmath=True), X),
    ],
)
def test_transformations_of_transformations(tmp_path, make, x):
    text = """
        def f(x, y=2.0):
            return np.sin(x) * x * y
    """
    wanted, _ = staged(make(module(tmp_path, text)["f"]), x)
    found, anew = staged(make(module(tmp_path, text)["f"]), x)
    assert not anew
    assert repr(found) == repr(wanted)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(x):\n    import math\n    return x * math.pi", {}),
        ("def f(x): return x + np.random.rand()", {}),
        ("def f(x): return x + RNG.normal()", {"RNG": np.random.default_rng(0)}),
        ("SEEN = []\ndef f(x):\n    SEEN.append(1.0)\n    return x * 2", {}),
        ("def f(x): return x * id(x)", {}),
    ],
)
def test_what_is_not_described_is_not_kept(tmp_path, text, names):
    f = jit(module(tmp_path, text, **names)["f"])
    f(X.copy())
    assert not kept()
    assert staged(f, X.copy())[1]


STORES = """
    def f(x, y):
        x[0] = y[1] * 2
        y[:2] += x[1]
        return x.sum()
"""


SETTINGS = """
    import logging
    import re

    LOG = logging.getLogger("a solver")
    DIGITS = re.compile(r"(\\d+)")

    def f(x):
        rows, columns = np.mgrid[0:8, 0:6]
        weights = np.asfortranarray(np.vander(np.arange(8.0), 6))
        power = int(DIGITS.match("2 times").group(1))
        LOG.debug("power %d", power)
        return np.sum(np.sin(x) ** power * (rows - columns) * weights) + np.sum(np.r_[x[0], 1.0])
"""


def test_objects_of_libraries_and_arrays_made_while_staging(tmp_path):
    x = np.random.default_rng(1).normal(size=(8, 6))
    first = jit(grad(module(tmp_path, SETTINGS)["f"]))
    value, anew = staged(first, x)
    assert anew
    names = module(tmp_path, SETTINGS)
    found, anew = staged(jit(grad(names["f"])), x)
    assert not anew
    np.testing.assert_array_equal(found, value)
    step = 1e-6 * np.cos(np.arange(48.0)).reshape(8, 6)
    change = names["f"](x + step) - names["f"](x - step)
    assert np.sum(found * 2 * step) == pytest.approx(change, rel=1e-6)


def test_arrays_of_the_caller_are_stored_to(tmp_path):
    staged(jit(module(tmp_path, STORES)["f"]), X.copy(), X.copy())
    names = module(tmp_path, STORES)
    f = jit(names["f"])
    for _ in range(3):
        got, expected = [X.copy(), X + 1], [X.copy(), X + 1]
        value = f(*got)
        assert type(f.last) is Recalled
        np.testing.assert_allclose(value, names["f"](*expected))
        np.testing.assert_allclose(got, expected)
    both = np.linspace(0.0, 1.0, 6)
    for _ in range(2):
        with pytest.raises(TapelessError, match="share memory"):
            f(both[:4], both[2:])
        frozen = X.copy()
        frozen.flags.writeable = False
        with pytest.raises(TapelessError, match="read-only"):
            f(X.copy(), frozen)


RESULTS = """
import dataclasses, typing
@dataclasses.dataclass
class Point:
    x: float
    parts: list
class Pair(typing.NamedTuple):
    a: float
    b: float = 1.0
def points(x):
    p = Point(np.sum(x), [x, 2.0])
    return {"p": p, "again": p, "pair": Pair(x * 2), "n": (None, 3, "text")}
def train(params, x):
    for key in params:
        params[key] = params[key] - 0.1 * x[0] * params[key]
    return np.sum(params["w"])
def log(history, x):
    history.append(np.sum(x))
    return len(history) * x
"""


def test_results_of_classes_are_put_together(tmp_path):
    staged(jit(module(tmp_path, RESULTS)["points"]), X)
    names = module(tmp_path, RESULTS)
    f = jit(names["points"])
    for x in (X, X + 1, X + 2):
        result = f(x)
        assert type(f.last) is Recalled
        assert type(result["p"]) is names["Point"]
        assert result["p"] is result["again"]
        assert type(result["pair"]) is names["Pair"]
        assert result["n"] == (None, 3, "text")
        np.testing.assert_allclose(result["p"].x, np.sum(x))
        np.testing.assert_allclose(result["p"].parts[0], x)
        np.testing.assert_allclose(result["pair"].a, x * 2)


def test_containers_of_the_caller_are_stored_to(tmp_path):
    params = {"w": X, "b": 2.0}
    staged(jit(module(tmp_path, RESULTS)["train"]), dict(params), X)
    staged(jit(module(tmp_path, RESULTS)["log"]), [1.0], X)
    names = module(tmp_path, RESULTS)
    train, log = jit(names["train"]), jit(names["log"])
    history = [1.0]
    for n in range(1, 4):
        compiled, plain = dict(params), dict(params)
        np.testing.assert_allclose(train(compiled, X + 1), names["train"](plain, X + 1))
        np.testing.assert_allclose(compiled["w"], plain["w"])
        np.testing.assert_allclose(compiled["b"], plain["b"])
        np.testing.assert_allclose(log(history, X), (n + 1) * X)
        assert history == [1.0] + [np.sum(X)] * n
    assert type(train.last) is Recalled


def test_orders_in_memory_are_looked_at(tmp_path):
    text = """
        def f(m):
            flat = m.ravel()
            flat[0] = 5.0
            return np.sum(m * np.arange(m.size).reshape(m.shape))
    """
    rows = np.arange(1.0, 7.0).reshape(2, 3)
    staged(jit(module(tmp_path, text)["f"]), rows.copy())
    names = module(tmp_path, text)
    f = jit(names["f"])
    for like in (rows.copy(), np.asfortranarray(rows), rows.repeat(2, 1)[:, ::2], rows.copy()):
        expected, found = like.copy("K"), like.copy("K")
        np.testing.assert_allclose(f(found), names["f"](expected))
        np.testing.assert_array_equal(found, expected)


def test_errors_name_the_user_s_line(tmp_path):
    text = """
        def f(x):
            if x[0] > 1:
                raise ValueError("too large")
            return x
    """
    staged(jit(module(tmp_path, text)["f"]), X)
    f = jit(module(tmp_path, text)["f"])
    assert not staged(f, X)[1]
    with pytest.raises(ValueError, match="too large") as info:
        f(X + 2)
    assert 'raise ValueError("too large")' in "".join(info.value.__notes__)


def test_bad_arguments_are_refused_all_the_same(tmp_path):
    f = jit(grad(module(tmp_path, LOSS)["f"]))
    staged(f, X)
    with pytest.raises(TypeError, match="cannot differentiate"):
        staged(f, np.arange(4))


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"\xff\xfe", b"[1, 2]\n[]"])
def test_damaged_files_are_made_anew(tmp_path, damage):
    f = jit(module(tmp_path, LOSS)["f"])
    value, _ = staged(f, X)
    (path,) = kept()
    path.write_bytes(damage)
    again, anew = staged(f, X)
    assert anew
    assert again == value
    assert not staged(f, X)[1]


@pytest.mark.parametrize("name", ["TAPELESS_CHECK", "TAPELESS_DISABLE_CACHE"])
def test_it_can_be_turned_off(tmp_path, monkeypatch, name):
    monkeypatch.setenv(name, "1")
    staged(jit(module(tmp_path, LOSS)["f"]), X)
    assert not kept()


def test_files_that_change_under_a_process_keep_nothing(monkeypatch):
    versions.versions.cache_clear()
    monkeypatch.setattr(versions, "STARTED", 4e9)  # in a hundred years
    assert versions.versions() is not None
    assert not versions.have_changed()
    monkeypatch.setattr(versions, "STARTED", 1e9)  # before this was written
    assert versions.have_changed()
    versions.versions.cache_clear()
    assert versions.versions() is None
    versions.versions.cache_clear()


@pytest.mark.parametrize(
    "like", [X, X[::-1], np.ones((3, 4)).T, np.ones((4, 6))[::2, ::-3], np.ones((0, 3)), X[:1]]
)
def test_stand_ins_lie_in_memory_alike(like):
    made = StandIn(like).array()
    assert (made.dtype, made.shape, made.strides) == (like.dtype, like.shape, like.strides)
    made[...] = 1.0  # inside of its memory
    assert np.all(made == 1)


def test_a_new_process_does_without_what_stages(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, numpy as np\n"
        "from tapeless import grad, jit\n"
        "from tapeless.disk_cache import store as records\n"
        "records.versions = lambda: 'those of this test'\n"
        "def f(x):\n"
        "    return np.sum(np.sin(x) ** 2)\n"
        "slope = jit(grad(f))\n"
        "for _ in range(3):\n"
        "    value = slope(np.ones(3))\n"
        "print(float(value[0]))\n"
        "stage = 'tapeless.transforms.frontend.staging.stage'\n"
        "print(stage in sys.modules, 'numba' in sys.modules)\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "TAPELESS_CHECK"}

    def run():
        made = subprocess.run(
            [sys.executable, script], env=environment, capture_output=True, text=True, check=True
        )
        return made.stdout.split()

    first, second = run(), run()
    assert float(first[0]) == pytest.approx(np.sin(2.0))
    assert first[1:] == ["True", "False"]
    assert second == [first[0], "False", "False"]


def test_threads_find_one_record(tmp_path):
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # here only

    staged(jit(module(tmp_path, LOSS)["f"]), X)
    forget()
    f = jit(module(tmp_path, LOSS)["f"])
    with ThreadPoolExecutor(4) as pool:
        values = [*pool.map(f, [X] * 8)]
    assert len(set(values)) == 1
    assert isinstance(f.last, Recalled)
    assert isinstance(f, Jit)
    assert Path(kept()[0]).exists()
