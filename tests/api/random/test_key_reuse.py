"""Keys that are used twice in functions that are staged, and what is no such use."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, lax, make_jaxpr, random, test_util, vmap
from tapeless.random import KeyReuseWarning

KEY = np.array([0, 1], np.uint32)
KEYS = np.arange(8, dtype=np.uint32).reshape(4, 2)
TWICE, PASSES = "used a second time", "again in each pass"


def reports(f, *args):
    """What is reported when a function is staged: where a report is, what it says."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        make_jaxpr(f)(*args)
    start = f.__code__.co_firstlineno
    return [(w.lineno - start, str(w.message)) for w in seen]


def noise(key):
    return random.normal(key)


def test_both_lines_are_named():
    def f(key):
        x = random.normal(key)
        y = random.uniform(key)
        return x + y

    ((line, message),) = reports(f, KEY)
    assert line == 2
    first = f.__code__.co_firstlineno + 1
    assert f"the key 'key' is used a second time; the first was in {__file__}, line {first}." in (
        message
    )


def test_lines_are_those_where_two_uses_differ():
    def f(key):
        x = noise(key)
        return x + noise(key)

    ((line, message),) = reports(f, KEY)
    assert line == 2
    assert f"line {f.__code__.co_firstlineno + 1}." in message


def drawn_and_split(key):
    x = random.normal(key)
    key, other = random.split(key)
    return x + random.normal(key) + random.normal(other)


def one_row(key):
    keys = random.split(key, 3)
    return random.normal(keys[0]) + random.normal(keys[-1]) + random.normal(keys[2])


def row_in_slice(key):
    keys = random.split(key, 6)
    return np.sum(vmap(random.normal)(keys[1:4])) + random.normal(keys[3])


def a_copy(key):
    return random.normal(key) + random.normal(key.copy())


def put_together(key):
    one, other = random.split(key)
    return np.sum(vmap(random.normal)(np.stack([one, other]))) + random.normal(one)


def put_together_later(key):
    one, other = random.split(key)
    x = random.normal(other)
    return x + random.normal(np.array([one, other])[1])


def row_after_vmap(keys):
    return np.sum(vmap(random.normal)(keys)) + random.normal(keys[1])


def two_maps(keys):
    return vmap(random.normal)(keys) + vmap(random.uniform)(keys)


def inside_of_vmap(keys):
    return vmap(lambda key: random.normal(key) * random.uniform(key))(keys)


def a_column(key):
    keys = random.split(key, (3, 2))
    return np.sum(vmap(random.normal)(keys[:, 0])) + random.normal(keys[2, 0])


def dictionary(keys):
    return random.normal(keys["a"]) + random.uniform(keys["b"]) + random.normal(keys["a"])


def known_key(x):
    key = random.key(0)
    return x * random.normal(key) + x * random.uniform(key)


def after_branch(key):
    x = random.normal(random.fold_in(key, 7))
    if x > 0:
        x = random.normal(key)
    return x + random.uniform(key)


def overlapping(key):
    x = random.normal(random.fold_in(key, 7))
    if x > 1:
        x = random.normal(key)
    if x >= 1:
        x = random.uniform(key)
    return x


def one_of_two(key):
    a, b = random.split(key)
    x = random.normal(a)
    chosen = a if x > 0 else b
    return x + random.uniform(chosen)


def value_beside_slope(key):
    def loss(x):
        return x * random.normal(key)

    return loss(2.0) + grad(loss)(2.0)


def inside_of_grad(key):
    return grad(lambda x: x * random.normal(key) * random.uniform(key))(2.0)


def second_order(key):
    slope = grad(grad(lambda x: x**3 * random.normal(key)))(2.0)
    return slope + random.normal(key)


def same_number_folded_in(key):
    return random.normal(random.fold_in(key, 1)) + random.uniform(random.fold_in(key, 1))


def old_key_after_loop(key):
    first, x = key, 0.0
    for _ in range(5):
        key, sub = random.split(key)
        x += random.normal(sub)
    return x + random.normal(first)


def last_key_of_loop(key, n):
    x = 0.0
    for _ in range(n):
        key, sub = random.split(key)
        x += random.normal(sub)
    return x + random.normal(sub)


def rows_of_two_loops(keys, n):
    x = 0.0
    for i in range(n):
        x += random.normal(keys[i])
    for i in range(n):
        x += random.uniform(keys[i])
    return x


def custom_rule(key):
    @tapeless.custom_jvp
    def f(x):
        return x * random.normal(key)

    f.defjvp(lambda x, dot: (f(*x), dot[0]))
    return f(2.0) + random.normal(key)


def rematerialised(key):
    f = tapeless.checkpoint(lambda x: x * random.normal(key))
    return grad(lambda x: f(x) ** 2)(2.0) + random.normal(key)


def recursive(key, x):
    def down(x):
        return 0.0 if x < 1 else random.normal(key) + down(x / 2)

    return down(x)


CASES = {
    drawn_and_split: (KEY,),
    one_row: (KEY,),
    row_in_slice: (KEY,),
    a_copy: (KEY,),
    put_together: (KEY,),
    put_together_later: (KEY,),
    row_after_vmap: (KEYS,),
    two_maps: (KEYS,),
    inside_of_vmap: (KEYS,),
    a_column: (KEY,),
    dictionary: ({"a": KEY, "b": KEY.copy()},),
    known_key: (2.0,),
    after_branch: (KEY,),
    overlapping: (KEY,),
    one_of_two: (KEY,),
    value_beside_slope: (KEY,),
    inside_of_grad: (KEY,),
    second_order: (KEY,),
    same_number_folded_in: (KEY,),
    old_key_after_loop: (KEY,),
    last_key_of_loop: (KEY, 3),
    rows_of_two_loops: (KEYS, 3),
    custom_rule: (KEY,),
    rematerialised: (KEY,),
}


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_a_key_used_twice_is_reported_once(f):
    ((_, message),) = reports(f, *CASES[f])
    assert TWICE in message


def outer_key(key, n):
    x = 0.0
    for _ in range(n):
        x += random.normal(key)
    return x


def split_again(key, n):
    x = 0.0
    for _ in range(n):
        _, sub = random.split(key)
        x += random.normal(sub)
    return x


def by_while(key, x):
    while x > 1:
        x = x / 2 + random.uniform(key) / 9
    return x


def scanned(key, xs):
    return lax.scan(lambda c, x: (c + x * random.normal(key), None), 0.0, xs)[0]


def grad_of_loop(key, n):
    def loss(x):
        for _ in range(n):
            x = x * random.normal(key)
        return x

    return grad(loss)(2.0)


def grad_in_loop(key, n):
    x = 2.0
    for _ in range(n):
        x = x - grad(lambda x: x * random.normal(key))(x)
    return x


def rows_in_each_pass(keys, n):
    x = 0.0
    for _ in range(n):
        for j in range(4):
            x += random.normal(keys[j])
    return x


def vmapped_loop(keys, n):
    return vmap(lambda key: outer_key(key, n))(keys)


def row_of_carried(keys, n):
    x = 0.0
    for i in range(n):
        x += random.normal(keys[i]) * random.normal(keys[0])
    return x


LOOPS = {
    outer_key: (KEY, 3),
    split_again: (KEY, 3),
    by_while: (KEY, 9.0),
    scanned: (KEY, np.ones(4)),
    grad_of_loop: (KEY, 3),
    grad_in_loop: (KEY, 3),
    rows_in_each_pass: (KEYS, 3),
    vmapped_loop: (KEYS, 3),
    row_of_carried: (KEYS, 3),
    recursive: (KEY, 9.0),
}


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_a_key_from_outside_of_a_loop_is_reported(f):
    ((_, message),) = reports(f, *LOOPS[f])
    assert PASSES in message


def rows_that_are_put_together(key, n):
    one, other, third = random.split(key, 3)
    keys = np.stack([one, other])
    return random.normal(keys[0]) + random.normal(keys[1]) + random.normal(third)


def two_sides(key, x):
    return random.normal(key) if x > 0 else random.uniform(key)


def returned_early(key, x):
    if x > 0:
        return random.normal(key)
    if x < -1:
        return random.uniform(key)
    return random.exponential(key)


def opposite_tests(key, x):
    training = x > 0
    y = random.normal(key) if training else 0.0
    if not training:
        y = y + random.uniform(key)
    return y


def excluded_tests(key, x):
    y = 0.0
    if x > 1:
        y = random.normal(key)
    if x < 1:
        y = random.uniform(key)
    if x == 1:
        y = random.exponential(key)
    return y


def modes(key, n):
    x = 0.0
    if n == 1:
        x = random.normal(key)
    if n == 2:
        x = random.uniform(key)
    return x


def both_or_none(key, x):
    y = random.normal(key) if x > 0 and x < 5 else x
    if not (x > 0):
        y = random.uniform(key)
    return y


def break_after(key, x):
    for _ in range(9):
        x = x / 2
        if x < 1:
            x = random.normal(key)
            break
    return x


def break_or_not(key, x):
    for _ in range(9):
        x = x / 2
        if x < 1:
            return random.normal(key)
    return random.uniform(key)


def one_pass(key, n):
    x = 0.0
    for i in range(n):
        if i == n - 1:
            x += random.normal(key)
    return x


def one_step(key, x):
    step = 0
    while x > 1:
        step, x = step + 1, x / 2
        if step == 2:
            x += random.uniform(key)
    return x


def raised(key, x):
    if x < 0:
        raise ValueError(random.normal(key))
    return random.normal(key)


def folded(key, n):
    x = random.normal(key)
    for i in range(n):
        x += random.normal(random.fold_in(key, i))
    return x


def carried(key, n):
    x = 0.0
    for _ in range(n):
        key, sub = random.split(key)
        x += random.normal(sub)
    return x + random.normal(key)


def rows(key, n):
    x = 0.0
    for k in random.split(key, 5):
        x += random.normal(k)
    keys = random.split(random.fold_in(key, 1), 8)
    for i in range(n):
        x += random.normal(keys[2 * i]) * random.normal(keys[2 * i + 1])
    return x


def made_again(key, seed):
    return random.normal(random.key(seed)) + random.normal(random.key(seed)) + random.normal(key)


def cloned(key, x):
    return x * random.normal(random.clone(key)) + random.normal(key)


def one_draw_for_slopes(key, x):
    value, slope = tapeless.value_and_grad(lambda x: x * random.normal(key))(x)
    return value + slope


def jitted_inside(key, x):
    a, b = random.split(key)
    return x + jit(noise)(a) + jit(noise)(b)


def shape_only(key, x):
    like = tapeless.eval_shape(noise, key)
    return x + np.zeros(like.shape) + random.normal(key)


def same_noise_for_all(key, x):
    return np.sum(vmap(lambda y: y * random.normal(key))(np.full(3, x)))


def back_through_a_loop(key, x):
    def loss(x):
        def step(c, k):
            return c * x + random.normal(k), None

        return lax.scan(tapeless.checkpoint(step), 0.0, random.split(key, 4))[0]

    return grad(loss)(x)


PLAIN = [
    two_sides,
    rows_that_are_put_together,
    returned_early,
    opposite_tests,
    excluded_tests,
    modes,
    both_or_none,
    break_after,
    break_or_not,
    one_pass,
    one_step,
    raised,
    folded,
    carried,
    rows,
    made_again,
    cloned,
    one_draw_for_slopes,
    jitted_inside,
    shape_only,
    same_noise_for_all,
    back_through_a_loop,
]


@pytest.mark.parametrize("f", PLAIN, ids=lambda f: f.__name__)
def test_no_alarm(f):
    assert reports(f, KEY, 3.0 if "x" in f.__code__.co_varnames[:2] else 3) == []


def test_emitted_code_has_nothing_of_it():
    def f(key):
        return random.normal(key) + random.normal(random.clone(key))

    with_reports = jit(f).source(KEY)
    assert "key" in with_reports
    assert not any(word in with_reports for word in ("clone", "used", "identity"))


# -- calls of compiled functions


@pytest.mark.parametrize("transformed", [jit, lambda f: grad(f, 1), lambda f: jit(grad(f, 1))])
def test_a_key_given_in_two_calls(transformed):
    f, key = transformed(lambda key, x: x * random.normal(key)), random.key(0)
    f(key, 2.0)
    for other in random.split(random.key(1), 3):
        f(other, 2.0)
    with pytest.warns(KeyReuseWarning, match=TWICE) as seen:
        f(key, 3.0)
    assert seen[0].filename == __file__
    with pytest.warns(KeyReuseWarning, match=TWICE):
        random.uniform(key)


def test_a_key_given_to_vjp_and_to_jit():
    def f(x, key):
        return x * random.normal(key)

    key = random.key(0)
    tapeless.vjp(f, 2.0, key)[1](1.0)
    with pytest.warns(KeyReuseWarning, match=TWICE) as seen:
        jit(f)(2.0, key)
    assert seen[0].filename == __file__


def test_keys_given_in_two_calls_of_vmap():
    f, keys = vmap(noise), random.split(random.key(0), 3)
    f(keys)
    f(random.split(random.key(1), 3))
    with pytest.warns(KeyReuseWarning, match="keys are used a second time"):
        f(keys)


def test_a_key_among_parameters():
    f, key = jit(lambda p: p["w"] * random.normal(p["key"])), random.key(0)
    for k in range(3):
        f({"w": 2.0, "key": random.key(k)})
    f({"w": 2.0, "key": key})
    with pytest.warns(KeyReuseWarning, match=TWICE):
        f({"w": 3.0, "key": key})


@pytest.mark.filterwarnings("error")
def test_calls_that_do_not_use_a_key():
    key = random.key(0)
    folded = jit(lambda key, i: random.normal(random.fold_in(key, i)))
    sometimes = jit(lambda key, x: random.normal(key) if x > 0 else x)
    for i in range(4):
        folded(key, i)
        sometimes(key, -1.0 - i)
    outer = jit(lambda x: x * random.normal(key))
    assert outer(2.0) == outer(2.0)


@pytest.mark.filterwarnings("error")
def test_checks_of_derivatives_use_the_same_numbers():
    key = random.key(0)

    def f(x):
        return x * random.normal(key)

    tapeless.check_grads(f, (2.0,))
    test_util.check_jvp(f, lambda x, dots: tapeless.jvp(f, x, dots), (2.0,))
    with pytest.raises(KeyReuseWarning):
        random.normal(key) + random.normal(key)


@pytest.mark.filterwarnings("error")
def test_the_switch_for_calls():
    f, key = jit(noise), random.key(0)
    with random.report_reuse(False):
        make_jaxpr(drawn_and_split)(key)
        for _ in range(4):
            f(key)
    f(key)
    with pytest.raises(KeyReuseWarning):
        f(key)


PROGRAM = """
import numpy as np, warnings
from tapeless import jit, random
warnings.simplefilter("always")
@jit
def f(key):
    return random.normal(key) + random.uniform(key)
f(np.array([0, 1], np.uint32))
"""


def test_other_processes_say_it_too(tmp_path, monkeypatch):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        run = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True)
        assert run.stderr.count("KeyReuseWarning") == 1
        assert f"{file}:7: KeyReuseWarning" in run.stderr
