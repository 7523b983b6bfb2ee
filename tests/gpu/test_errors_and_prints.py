"""Errors and prints of programs on a GPU are those of Python, in its order; errors come once, where
somebody waits, and later calls are right."""
# ruff: noqa: T201  # what programs print is tested

import io
from contextlib import redirect_stdout

import numpy as np
import pytest

import tapeless
from tapeless import jit

x, matrix = np.linspace(1, 2, 300), np.arange(1.0, 61.0).reshape(20, 3)


def with_(array, place, value):
    """A copy with another element."""
    array = array.copy()
    array[place] = value
    return array


def raising_in_rows(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError("a negative number")
        out[i] = np.sqrt(x[i])
    return out


def telling_the_row(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError("negative", i)
        out[i] = np.sqrt(x[i])
    return out


def naming_the_pass(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0:
            raise ArithmeticError(f"number {i} is negative")
        total += x[i]
    return total


def raising_in_an_inner_loop(m):
    out = np.zeros(len(m))
    for i in range(len(m)):
        for j in range(3):
            if m[i, j] < 0:
                raise ValueError("negative", i, j)
            out[i] += m[i, j]
    return out


def raising_for_a_sum(m):
    out = np.zeros(len(m))
    for i in range(len(m)):
        total = m[i].sum()
        if total < 0:
            raise OverflowError("a row is too small")
        out[i] = np.log(total)
    return out


def asserting(x):
    total = 0.0
    for v in x:
        assert v > 0, "all must be positive"
        total += v
    return total


def telling_a_number(x):
    least = np.min(x)
    if least < 0:
        raise ValueError("the least is", least)
    return x / least


def gathering(k):
    return x[k] * 2


def gathering_in_a_loop(k):
    out = np.zeros(len(k))
    for i in range(len(k)):
        out[i] = x[k[i]] + 1
    return out


def differentiated(labels):
    def loss(z):
        e = z - np.max(z, axis=1, keepdims=True)
        picked = e[np.arange(30), labels]
        return np.sum(np.log(np.sum(np.exp(e), axis=1)) - picked)

    return tapeless.grad(loss)(x.reshape(30, 10))


def storing(k):
    out = np.zeros(400)
    out[k] = 1.0
    return out


def dividing(n):
    total = 0
    for i in range(len(n)):
        total += 100 // int(n[i])
    return total


def factorising(m):
    a = m[:3] + 0.0
    return np.linalg.inv(a)


def looking_up(n):
    names = {1: 10.0, 2: 20.0}
    total = 0.0
    for i in range(len(n)):
        total += names[int(n[i])]
    return total


good = with_(matrix, (slice(3), slice(3)), np.eye(3))
ones = np.ones(30, int)
#: A function, an argument that it takes, one that it does not take.
CASES = [
    (raising_in_rows, x, with_(x, [7, 250], -1.0)),
    (telling_the_row, x, with_(x, [7, 250], -1.0)),
    (naming_the_pass, x[:9], with_(x[:9], 7, -1.0)),
    (raising_in_an_inner_loop, matrix, with_(matrix, ([4, 9], [2, 0]), -1.0)),
    (raising_for_a_sum, matrix, with_(matrix, 5, -100.0)),
    (telling_a_number, x, with_(x, 7, -1000.0)),
    (asserting, x, with_(x, 7, -1.0)),
    (gathering, ones, with_(ones, 20, 300)),
    (gathering, ones, with_(ones, 20, -301)),
    (gathering_in_a_loop, ones, with_(ones, 20, 300)),
    (differentiated, ones, with_(ones, 20, 10)),
    (differentiated, with_(ones, 5, -10), with_(ones, 20, -11)),
    (storing, ones, with_(ones, 20, 400)),
    (dividing, ones, with_(ones, 20, 0)),
    (factorising, good, np.zeros((20, 3))),
    (looking_up, ones, with_(ones, [20, 25], [5, 6])),
]
#: Versions of Python say it in other words.
IN_OTHER_WORDS = (ZeroDivisionError, AssertionError)


@pytest.mark.parametrize(("function", "right", "wrong"), CASES)
def test_errors_are_those_of_python(function, right, wrong, gpu):
    with pytest.raises(Exception) as expected:  # noqa: PT011  # whatever Python raises
        function(wrong)
    on_gpu = jit(function, backend="gpu")
    with pytest.raises(expected.type) as caught:
        tapeless.device_get(on_gpu(wrong))
    if expected.type not in IN_OTHER_WORDS:
        assert caught.value.args == expected.value.args
    ours = tapeless.device_get(on_gpu(right))
    np.testing.assert_allclose(ours, function(right), rtol=1e-12)


def test_messages_of_errors_that_say_it_in_other_words(gpu):
    for function, argument, message in [
        (asserting, with_(x, 7, -1.0), "all must be positive"),
        (dividing, with_(ones, 20, 0), "division by zero"),
    ]:
        with pytest.raises(IN_OTHER_WORDS) as caught:
            tapeless.device_get(jit(function, backend="gpu")(argument))
        assert caught.value.args == (message,)


@pytest.mark.parametrize("wait", [tapeless.block_until_ready, tapeless.device_get])
def test_errors_come_at_the_wait_and_once(wait, gpu):
    on_gpu = jit(raising_in_rows, backend="gpu")
    right, wrong = (
        tapeless.device_put(a, tapeless.devices("gpu")[0]) for a in (x, with_(x, 7, -1.0))
    )
    tapeless.block_until_ready(on_gpu(right))
    failed = on_gpu(wrong)
    with pytest.raises(ValueError, match="a negative number") as caught:
        wait(failed)
    assert caught.value.__notes__ == ["noted by raising_in_rows_kernel on the GPU, for row 7"]
    wait(failed)  # what it holds is undefined; the error was told
    np.testing.assert_allclose(tapeless.device_get(on_gpu(right)), np.sqrt(x), rtol=1e-15)


def test_the_next_call_tells_an_error_that_nobody_waited_for(gpu):
    on_gpu, other = jit(raising_in_rows, backend="gpu"), jit(np.sin, backend="gpu")
    on_gpu(with_(x, 7, -1.0))
    tapeless.devices("gpu")[0]
    gpu.cuda.Device().synchronize()
    with pytest.raises(ValueError, match="a negative number"):
        other(x)
    np.testing.assert_allclose(tapeless.device_get(other(x)), np.sin(x), rtol=1e-15)


def largest_first(c, b):
    c -= c.max(axis=0)
    b[b.argmax()] = 1.0
    return c, b


def test_an_error_of_the_driver_does_not_leave_one_to_the_next_call(gpu):
    twice = jit(lambda x: 2 * x, backend="gpu")
    twice(np.ones(3))
    with pytest.raises(ValueError, match="reduction operation maximum"):
        jit(largest_first, backend="gpu")(np.zeros((0, 2)), np.zeros(0))
    assert tapeless.device_get(twice(np.ones(3))).tolist() == [2, 2, 2]


def test_the_first_of_several_rows_is_told(gpu):
    with pytest.raises(ValueError, match="negative") as caught:
        tapeless.device_get(jit(telling_the_row, backend="gpu")(with_(x, [280, 3, 120], -1.0)))
    assert caught.value.args == ("negative", 3)


def test_integers_of_errors_are_signed_ones(gpu):
    def told(n):
        total = 0
        for i in range(len(n)):
            if n[i] < 0:
                raise ValueError("below zero", n[i])
            total += n[i]
        return total

    with pytest.raises(ValueError, match="below zero") as caught:
        tapeless.device_get(jit(told, backend="gpu")(np.array([3, -(2**40), 5])))
    assert caught.value.args == ("below zero", -(2**40))


def test_programs_that_may_fail_do_not_wait(stand_in):
    on_gpu = jit(raising_in_rows, backend="gpu")
    on_device = tapeless.device_put(x, tapeless.devices("gpu")[0])
    on_gpu(on_device)
    stand_in.clear()
    on_gpu(on_device)
    assert (stand_in.waits, stand_in.transfers) == (0, 0)


# -- prints


def printing_numbers(x):
    print("the sum is", np.sum(x), "of", len(x))
    y = x * 2
    print(f"then {y.max():.3f}")
    return y


def printing_arrays(x):
    print(x[:3])
    y = np.cumsum(x)
    print("sums:", y[-2:], y.shape, sep=" ")
    return y


def printing_containers(x):
    total, last = np.sum(x), np.argmax(x)
    print((total, 1), [x.max(), x[:2]], {"last": last})
    print(f"{total!r} and {total}")
    return x


def printing_passes(x):
    total = 0.0
    for i in range(4):
        total += x[i]
        print(i, total)
    print("end")
    return total


def printing_if_large(x):
    y = x
    for k in range(5):
        y = y * 1.5
        if y[0] > 3:
            print("large in pass", k)
    return y


def printing_until_it_fails(x):
    print("before")
    for i in range(len(x)):
        if x[i] > 1.5:
            raise ValueError(f"element {i} is large")
    print("after")
    return x


def printed(function, *args):
    """What a function prints, and its result."""
    text = io.StringIO()
    with redirect_stdout(text):
        result = tapeless.device_get(function(*args))
    return text.getvalue(), result


@pytest.mark.parametrize(
    "function",
    [
        printing_numbers,
        printing_arrays,
        printing_containers,
        printing_passes,
        printing_if_large,
    ],
)
def test_prints_are_those_of_python(function, gpu):
    x = np.array([1.0, 0.5, 0.25, 4.0, 2.0])  # sums of which are exact
    expected, values = printed(function, x)
    on_gpu = jit(function, backend="gpu")
    for _ in range(2):
        text, ours = printed(on_gpu, x)
        assert text == expected
        np.testing.assert_allclose(ours, values, rtol=1e-15)


def test_what_comes_before_an_error_is_printed(gpu):
    text = io.StringIO()
    with redirect_stdout(text), pytest.raises(ValueError, match="element 4 is large"):
        tapeless.device_get(jit(printing_until_it_fails, backend="gpu")(np.arange(5.0) / 2))
    assert text.getvalue() == "before\n"


def test_errors_tell_pairs_of_integers(gpu):
    strengths = {(0, 0): 1.0, (0, 1): 2.0, (1, 2): 3.0}

    def energy(kinds):
        total = 0.0
        for i in range(len(kinds)):
            for j in range(i):
                a, b = int(kinds[i]), int(kinds[j])
                total += strengths[min(a, b), max(a, b)]
        return total

    run = jit(energy, backend="gpu")
    assert float(run(np.array([0, 1, 0]))) == 5
    with pytest.raises(KeyError) as caught:
        float(run(np.array([0, 1, 2, 0])))
    assert caught.value.args == ((0, 2),)
