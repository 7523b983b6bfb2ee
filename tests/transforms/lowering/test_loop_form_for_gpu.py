"""Loop form for a GPU, run by Python, gives the values of NumPy: passes are right before threads
share them."""

import numpy as np
import pytest

from tapeless import grad, value_and_grad, vmap
from tests.corpus import programs
from tests.corpus.differences import leaves
from tests.transforms.lowering.gpu_loop_form import LoopForm, gradient

EVERY = 9  # programs of the corpus: all of them take two minutes
random = np.random.default_rng(0)


def assert_same(got, wanted):
    for ours, theirs in zip(leaves(got), leaves(wanted), strict=True):
        single = np.asarray(theirs).dtype in (np.float32, np.complex64)
        np.testing.assert_allclose(ours, theirs, rtol=1e-4 if single else 1e-9, atol=1e-9)


@pytest.mark.parametrize("program", programs()[::EVERY], ids=lambda each: each.name)
def test_corpus(program, capsys):
    assert_same(
        LoopForm(program.function)(*program.arguments()), program.function(*program.arguments())
    )


@pytest.mark.parametrize("program", programs()[4::EVERY], ids=lambda each: each.name)
def test_gradients_of_the_corpus(program, capsys):
    assert_same(
        LoopForm(gradient(program))(*program.arguments()), gradient(program)(*program.arguments())
    )


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def cross_entropy(z, labels):
    m = np.max(z, axis=1, keepdims=True)
    e = z - m
    lse = np.log(np.sum(np.exp(e), axis=1))
    n = z.shape[0]
    return np.sum(lse - e[np.arange(n), labels]) / n


def ten_steps(x):
    for _ in range(10):
        x = 0.5 * x + 0.1 * np.sin(x)
    return x


def histogram(x, k):
    h = np.zeros(20)
    np.add.at(h, k, x)
    return h


def kepler(m, e):
    a, d = m, 1.0
    while abs(d) > 1e-12:
        d = (a - e * np.sin(a) - m) / (1 - e * np.cos(a))
        a = a - d
    return a


def text(fun, *args):
    made = LoopForm(fun)
    assert_same(made(*args), fun(*args))
    return made.last.text


def kernels(written):
    return written.count("@njit(nogil")


def test_elementwise_kernels_are_one_loop_over_all_elements():
    written = text(lambda x: np.sin(x) + np.cos(x), random.normal(size=(6, 5)))
    assert "out[i] = sin(x[i]) + cos(x[i])" in written


def test_threads_share_the_passes_of_a_row():
    written = text(softmax, random.normal(size=(6, 5)))
    assert written.count("in each(x.shape[1])") == 3
    assert "per_team((x.shape[1],)" in written


def test_a_loop_of_the_user_is_a_loop_in_each_thread():
    written = text(ten_steps, random.normal(size=7))
    assert kernels(written) == 1
    assert "in each" not in written


def test_cross_entropy_and_its_gradient_are_one_kernel_over_rows():
    args = random.normal(size=(6, 5)), random.integers(0, 5, 6)
    written = text(value_and_grad(cross_entropy), *args)
    rows, last = written.split("@njit(nogil")[1:]
    assert "in range(first, last)" in rows
    assert "value / n" in last


@pytest.mark.parametrize("labels", [[0, 4, 2, 2, 1, 0], [-1, -5, 3, -2, 0, 4]])
def test_one_number_in_each_row_is_compared_not_scattered(labels):
    args = random.normal(size=(6, 5)), np.array(labels)
    assert "zeros" not in text(value_and_grad(cross_entropy), *args)
    assert "zeros" not in text(grad(cross_entropy), *args)  # which reads no element at the labels
    assert_same(LoopForm(grad(cross_entropy))(*args), grad(cross_entropy)(*args))
    weights = random.normal(size=6)
    assert_same(
        LoopForm(grad(lambda z, k: np.sum(weights * z[np.arange(6), k] ** 2)))(*args),
        grad(lambda z, k: np.sum(weights * z[np.arange(6), k] ** 2))(*args),
    )


def test_threads_add_to_the_same_element_at_once():
    args = random.normal(size=50), random.integers(0, 20, 50)
    assert "add_at(h[k[i]], x[i])" in text(histogram, *args)


def test_elements_of_a_batch_make_passes_of_their_own():
    args = np.linspace(0, 6, 40), np.full(40, 0.3)
    written = text(vmap(kepler), *args)
    assert "lanes" not in written
    assert kernels(written) == 1


def test_the_driver_waits_for_the_number_that_it_decides_by():
    def halved(x):
        while np.sum(x) > 1:
            x = x / 2
        return x

    x = random.uniform(size=3000)
    made = LoopForm(halved)
    big = random.uniform(size=300_000)
    assert_same(made(big), halved(big))
    assert ".item()" in made.last.text
    assert_same(made(x), halved(x))


def test_gradients_of_gathers():
    def f(x, i):
        return np.sum(np.sin(x[i]) * 2)

    assert "add_at(" in text(grad(f), random.normal(size=9), random.integers(0, 9, 30))
