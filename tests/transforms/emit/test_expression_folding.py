"""Names and folding: users' names are kept, single uses become expressions."""

import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.language import Block, Let, Type, Var
from tapeless.transforms.emit.expression_folding import lay_out
from tapeless.transforms.emit.size_expressions import Sizes
from tapeless.transforms.ops.primitives.arithmetic import add, mul
from tapeless.transforms.ops.primitives.elementwise import sin
from tapeless.transforms.ops.primitives.slices_and_gathers import update
from tests.transforms.staging import close_to, slope

V = np.array([0.3, 0.5, 0.9])
FLOAT, VECTOR = Type(np.dtype(float)), Type(np.dtype(float), (3,))


def laid_out(params, body, results, reserved=()):
    block = Block(tuple(params), tuple(body), tuple(results))
    return lay_out(block, Sizes(block).reads, set(reserved))


def var(name="", kind=FLOAT):
    return Var(kind, name)


def test_what_is_used_once_and_has_no_name_is_folded():
    x, a, b, c = var("x"), var(), var(), var("c")
    body = [Let((a,), sin, (x,)), Let((b,), mul, (a, x)), Let((c,), add, (b, x))]
    found = laid_out([x], body, [c])
    assert set(found.folded) == {a, b}
    assert [found.names[v] for v in (x, c)] == ["x", "c"]


def test_what_is_used_twice_has_a_statement():
    x, a, c = var("x"), var(), var()
    found = laid_out([x], [Let((a,), sin, (x,)), Let((c,), mul, (a, a))], [c])
    assert a not in found.folded
    assert c in found.folded


def test_a_value_read_before_a_store_is_not_moved_behind_it():
    v, w, total, last = (var(n, VECTOR) for n in ("v", "", "", ""))
    x = var("x")
    body = [
        Let((total,), mul, (v, v)),
        Let((w,), update, (v, x), {"key": (0,)}),
        Let((last,), add, (w, total)),
    ]
    found = laid_out([v, x], body, [last])
    assert total not in found.folded
    assert found.names[w] == found.names[v] == "v"  # one array, one name


def test_values_of_one_name_that_live_together_are_told_apart():
    x, first, second, both = var("x"), var("y"), var("y"), var("both")
    body = [
        Let((first,), sin, (x,)),
        Let((second,), mul, (x, x)),
        Let((both,), add, (first, second)),
    ]
    found = laid_out([x], body, [both])
    assert [found.names[v] for v in (first, second)] == ["y", "y_2"]


def test_values_of_one_name_that_follow_each_other_share_it():
    x, first, second = var("x"), var("y"), var("y")
    body = [Let((first,), sin, (x,)), Let((second,), mul, (first, first))]
    found = laid_out([x], body, [second])
    assert found.names[first] == found.names[second] == "y"


@pytest.mark.parametrize("name", ["np", "lambda", "range"])
def test_reserved_words_are_not_taken(name):
    x, y = var("x"), var(name)
    body = [Let((y,), sin, (x,)), Let((z := var("z"),), mul, (y, y))]
    found = laid_out([x], body, [z], {"np", "range"})
    assert found.names[y] == f"{name}_2"


# -- through the emitter


def layer(x, w, bias):
    hidden = np.tanh(x @ w + bias)
    pred = np.sum(hidden * hidden, axis=1)
    err = pred - 1.0
    return np.mean(err * err)


def names(source):
    """What the emitted function assigns to."""
    return set(re.findall(r"^ +(\w+) = ", source, re.M))


def test_names_of_the_user_and_of_derivatives():
    args = (np.ones((4, 3)), np.ones((3, 2)), np.ones(2))
    assert {"hidden", "err"} <= names(tapeless.grad(layer, (0, 1, 2)).source(*args))
    dotted = names(tapeless.jvp_fn(layer, (0, 1, 2)).source(*args, *args))
    assert {"hidden", "hidden_dot", "err"} <= dotted
    assert "v_bar" in names(tapeless.grad(loops).source(V, 3))


def passes(x, range):  # noqa: A002, the point
    k = 0
    while k < 3:
        x = np.sin(x) * range
        k += 1
    return x


def scaled(np, x):
    return scale(x) * np


def scale(x):
    return np.sin(x)


@pytest.mark.parametrize(("function", "args"), [(passes, (0.5, 2.0)), (scaled, (2.0, 0.5))])
def test_arguments_that_hide_what_emitted_code_uses(function, args):
    wrt = 0 if function is passes else 1
    expected = slope(lambda x: function(*args[:wrt], x, *args[wrt + 1 :]), args[wrt])
    close_to(tapeless.grad(function, wrt)(*args), expected, 1e-6)


PROGRAM = """
    import numpy as np, tapeless
    def f(params, v, n):
        kept = {"a", "b", "c"}
        for _ in range(n):
            v = np.tanh(v * params["scale"]) + params["shift"]
            if np.sum(v) > 1:
                v = v / 2
        return np.sum(v * v) + len(kept)
    print(tapeless.grad(f, (0, 1)).source({"scale": 1.5, "shift": 0.5}, np.ones(3), 3))
"""


def test_the_same_text_under_every_hash_seed(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM), encoding="utf-8")
    made = {
        subprocess.run(
            [sys.executable, str(path)],
            env={"PYTHONHASHSEED": seed, "TAPELESS_CACHE_DIR": str(tmp_path), "PATH": ""},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(made) == 1
    assert "def f_grad(params, v, n):" in made.pop()


# -- the size of what is emitted


def loops(v, n):
    for _ in range(n):
        for i in range(1, len(v)):
            v[i] = np.sin(v[i]) * v[i - 1]
    return np.sum(v)


def growing_list(v, n):
    kept = []
    for k in range(n):
        v = np.tanh(v) + k
        kept.append(v)
    return np.sum(np.stack(kept))


def while_loop(v, n):
    k = 0
    while k < n:
        v = np.sin(v)
        k += 1
    return np.sum(v)


@pytest.mark.parametrize("function", [loops, growing_list, while_loop])
def test_programs_do_not_grow_with_trip_counts_and_sizes(function):
    """Neither the emitted text nor what is staged; each size is staged anew."""
    found = {}
    for length, n in ((3, 2), (3, 50), (40, 50)):
        made = tapeless.grad(lambda v, n: function(v, n))  # a cache of its own for each size
        stages = made.stages(np.linspace(0.1, 0.9, length), n)
        found[length, n] = [str(stages[k]) for k in ("core", "source")]
        assert "every loop" in stages["notes"]
    assert len({len(core.splitlines()) for core, _ in found.values()}) == 1
    assert len({source for _, source in found.values()}) == 1
