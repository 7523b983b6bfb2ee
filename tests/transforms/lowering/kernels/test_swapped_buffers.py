"""Arrays that exchange their names in each pass of a loop, as solvers with two buffers do."""

import re

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.backends.cpu.llvm import compile as ours

RNG = np.random.default_rng(8)
U, F = RNG.normal(size=(9, 10)).round(2), RNG.normal(size=(9, 10)).round(2)


def jacobi(u, f, n):
    u = u.copy()
    new = u.copy()
    for _ in range(n):
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        new[1:-1, 1:-1] = 0.25 * (around - f[1:-1, 1:-1])
        u, new = new, u
    return u, new


def by_elements(u, f, n):
    u, new = u.copy(), np.zeros_like(u)
    for k in range(n):
        for i in range(1, u.shape[0] - 1):
            new[i] = 0.5 * (u[i - 1] + u[i + 1]) - k * f[i]
        u, new = new, u
    return u, new


def until_small(u, f, n):
    u, new, k = u.copy(), u.copy(), 0
    while k < n:
        new[1:] = 0.5 * u[:-1] + 0.1 * f[1:]
        change = np.max(np.abs(new - u))
        u, new = new, u
        k += 1
        if change < 0.5:
            break
    return u, new


def three_levels(u, f, n):
    old, u, new = np.zeros_like(u), u.copy(), np.zeros_like(u)
    for _ in range(n):
        new[1:-1] = 2 * u[1:-1] - old[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        old, u, new = u, new, old
    return old, u, new


def by_parity(u, f, n):
    u, new = u.copy(), u * 0.5
    for k in range(n):
        new[0] += u[0]
        if k % 2 == 0:
            u, new = new, u
    return u, new


def inside_of_another(u, f, n):
    u, new = u.copy(), u.copy()
    for k in range(n):
        for _ in range(k + 1):
            new[1:] = np.sin(u[:-1]) + f[1:]
            u, new = new, u
        u[0] += 1.0
    return u, new


def of_few_numbers(u, f, n):
    p, q = u[:2, 0].copy(), f[:2, 0].copy()
    for _ in range(n):
        q[0] = p[1] - 0.1 * q[0]
        p, q = q, p
    return p, q


def with_a_third_name(u, f, n):
    u, new = u.copy(), u.copy()
    first = u
    for _ in range(n):
        new[1:] = u[:-1] + 1.0
        u, new = new, u
    return u, new, first * 1.0


def arguments(u, f, n):
    for _ in range(n):
        f[1:] = 0.5 * u[:-1]
        u, f = f, u
    return u, f


def life(u, f, n):
    new = np.zeros_like(u)
    for _ in range(n):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                around = np.sum(u[i - 1 : i + 2, j - 1 : j + 2]) - u[i, j]
                new[i, j] = 1.0 if around > 1.0 else 0.25 * u[i, j]
        u, new = new, u
    u[0] += 1.0
    return u, new


def arguments_until(u, f, n):
    k = 0
    while k < n:
        f[1:] = 0.5 * u[:-1] + k
        u, f = f, u
        k += 1
        if np.sum(u) > 4.0:
            break
    return u * 2.0, f


def three_arguments(u, f, n):
    w = u[::-1]
    third = np.zeros_like(u)
    for k in range(n):
        third[1:] = u[:-1] - 0.5 * f[1:] + k
        u, f, third = f, third, u
    return u, f, third, w


def arguments_inside(u, f, n):
    for k in range(n):
        for _ in range(k + 1):
            f[1:] = 0.5 * u[:-1] + k
            u, f = f, u
        u[0] -= 1.0
    return u, f


def two_pairs(u, f, n):
    a, b = np.zeros_like(u), np.ones_like(u)
    for k in range(n):
        a[:] = u + 0.1 * f
        b[:] = f - 0.1 * u + k
        u, a = a, u
        f, b = b, f
    return u, f, a, b


def read_by_another_name(u, f, n):
    first = u
    total = 0.0
    for _ in range(n):
        f[1:] = 0.5 * u[:-1]
        u, f = f, u
        total += first[3, 3]
    return u, total


def under_a_test(u, f, n):
    for k in range(n):
        f[1:] = 0.5 * u[:-1] + k
        if np.sum(f) > 0:
            u, f = f, u
    return u, f


def under_tests(u, f, n):
    a, b, c = u.copy(), f * 2, u * 3
    for k in range(n):
        c[1:] = 0.3 * a[:-1] + 0.2 * b[1:] - k
        if np.sum(c) > 0.5:
            a, b, c = b, c, a
        elif c[2, 2] > -1.0:
            a, b = b, a
        c[0] += 0.1
    return a, b, c


def under_a_test_in_a_loop(u, f, n):
    u, new = u.copy(), f.copy()
    for k in range(n):
        for i in range(k + 1):
            new[1:] = 0.5 * u[:-1] + 0.1 * i
            if u[i, 1] > 0:
                u, new = new, u
            u[0] -= 0.2
            if np.sum(u) > 8.0:
                break
    return u, new


def seen_on_one_side(u, f, n):
    a, b = u.copy(), f.copy()
    for k in range(n):
        if u[k % 9, 1] > 0:
            a, b = b, a
        else:
            a = b
            b[k % 9] += 1.0
        a[0] += 0.5
    return a, b


def parts(u, f, n):
    both = np.stack([u, f])
    a, b = both[0], both[1]
    for _ in range(n):
        b[1:] = 0.5 * a[:-1]
        a, b = b, a
    return a, both


def not_apart(u, f, n):
    a = u.copy()
    b = a[::-1]
    for _ in range(n):
        b[1:] = 0.5 * a[:-1] + 1.0
        a, b = b, a
    return a, b


def one_of_a_list(u, f, n):
    both = [u.copy(), f.copy()]
    for _ in range(n):
        both[1][1:] = 0.5 * both[0][:-1]
        both[0], both[1] = both[1], both[0]
    return both[0], both[1]


def with_what_is_left(u, f, n):
    u, new = u.copy(), u.copy()
    turned, first = f.copy(), 0.0
    for _ in range(n):
        new[1:] = u[:-1] + 0.1 * turned[1:]
        turned, first = u[::-1], first + u[3, 2]
        u, new = new, u
    return u, new, turned, first


def made_anew(u, f, n):
    for k in range(n):
        v = u.copy()
        v[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) + k * f[1:-1]
        u = v
    return u, u * 2.0


def two_steps_back(u, f, n):
    before, total = u, 0.0
    for _ in range(n):
        new = np.zeros_like(u)
        new[1:-1] = 2 * u[1:-1] - before[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        before, u = u, new
        total += u[3, 3] * before[4, 4]
    return before, u, total


def three_steps_back(u, f, n):
    a, b, c = u, u * 0.5, f
    for _ in range(n):
        a, b, c = np.roll(b, 1, axis=0) - 0.1 * c, a, b
    return a, b, c


def shifted_under_a_test(u, f, n):
    a, b = u, f
    for k in range(n):
        if np.sum(a) > 0:
            a, b = np.roll(a, 1, axis=1) - b, a
        else:
            a, b = a[::-1] + k, b
    return a, b


def by_rows(u, f, n):
    a, b = np.sin(u), np.cos(f)
    for k in range(n):
        new = np.zeros_like(a)
        new[:, 1:] = 0.5 * a[:, :-1] + 0.1 * b[:, 1:] - k
        b, a = a, new
    return a, b


def the_same_in_each_pass(u, f, n):
    a, w = f, u * 2.0
    for _ in range(n):
        a = w
    return a, w


def made_before_the_loop(u, f, n):
    a, b, w = u * 1.0, f * 1.0, u * 2.0
    for _ in range(n):
        b[1:] = a[:-1]
        a, b = b, w * 1.0
        b, a = w, b
    return a, b


def handed_to_an_inner_loop(u, f, n):
    a, w = u * 2.0, u - f
    for k in range(n):
        b = f
        for _ in range(k + 1):
            b = w
        a = a + b
        w = np.roll(w, 1, axis=0) * 0.5
    return a, w


def of_an_outer_loop(u, f, n):
    a, b = u * 2.0, u - f
    for k in range(n):
        for _ in range(k + 1):
            b = a
        a = np.roll(a, 1, axis=0) + b
    return a, b


FUNCTIONS = (
    *(the_same_in_each_pass, made_before_the_loop, handed_to_an_inner_loop, of_an_outer_loop),
    *(made_anew, two_steps_back, three_steps_back, shifted_under_a_test, by_rows),
    *(jacobi, by_elements, until_small, three_levels, by_parity, inside_of_another, of_few_numbers),
    *(under_tests, under_a_test_in_a_loop, seen_on_one_side),
    *(with_a_third_name, with_what_is_left, parts, not_apart, one_of_a_list),
)


OF_ARGUMENTS = (
    *(arguments, life, arguments_until, three_arguments, arguments_inside, two_pairs),
    *(read_by_another_name, under_a_test),
)


@pytest.mark.parametrize("f", FUNCTIONS + OF_ARGUMENTS)
def test_values_and_arguments(f):
    for n in (0, 1, 2, 3, 6):
        given, wanted = (U.copy(), F.copy()), (U.copy(), F.copy())
        for a, b in zip(jit(f)(*given, n), f(*wanted, n), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13)
        for a, b in zip(given, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13)


@pytest.mark.parametrize("f", FUNCTIONS + OF_ARGUMENTS)
@pytest.mark.parametrize("n", [1, 4])
def test_derivatives(f, n):
    def total(u):
        return sum(np.sum(np.sin(x) * (k + 1.5)) for k, x in enumerate(f(u.copy(), F.copy(), n)))

    v = RNG.normal(size=U.shape)
    wanted = (total(U + 1e-6 * v) - total(U - 1e-6 * v)) / 2e-6
    for slope in (grad(total), jit(grad(total))):
        assert abs(np.sum(slope(U) * v) - wanted) < 1e-6 * (1 + abs(wanted))


def test_kernels_exchange_the_names():
    assert re.search(r"(\w+), (\w+) = \2, \1\n", jit(jacobi).source(U, F, 5))
    assert re.search(r"(\w+), (\w+), (\w+) = \2, \3, \1\n", jit(three_levels).source(U, F, 5))
    assert re.search(r"(\w+), (\w+) = \2, \1\n", jit(made_anew).source(U, F, 5))
    assert re.search(r"(\w+), (\w+), (\w+) = \2, \3, \1\n", jit(two_steps_back).source(U, F, 5))
    few = jit(of_few_numbers).source(U, F, 5)
    assert "for " in few
    assert not re.search(r"(\w+), (\w+) = \2, \1\n", few)


@pytest.mark.parametrize("f", [arguments, life, arguments_until, three_arguments, two_pairs])
def test_arguments_are_exchanged_in_a_loop(f):
    text = jit(f).source(U, F, 5)
    assert "turn = (turn + 1) % " in text
    compiled = jit(f)
    for n in range(4):
        compiled(U.copy(), F.copy(), n)
    assert len(compiled.compilations) == 1


def test_one_program_for_all_numbers_of_passes():
    compiled = jit(jacobi)
    for n in range(30):
        np.testing.assert_allclose(compiled(U, F, n)[0], jacobi(U, F, n)[0], rtol=1e-13)
    assert len({c.kernel for c in compiled.compilations}) == len(compiled.compilations) == 1


def test_batches():
    stack = np.stack([U, 2 * U, -U])
    found = vmap(lambda u: jacobi(u, F, 3)[0])(stack)
    np.testing.assert_allclose(found, [jacobi(u, F, 3)[0] for u in stack], rtol=1e-13)


def test_without_our_own_compiler(monkeypatch):
    monkeypatch.setattr(ours, "compile_kernel", lambda *args: None)
    compiled = jit(lambda u, f, n: jacobi(u, f, n)[0] + 1)
    np.testing.assert_allclose(compiled(U, F, 4), jacobi(U, F, 4)[0] + 1, rtol=1e-13)


@pytest.mark.parametrize("f", [jacobi, three_levels, made_anew, until_small, arguments_until])
def test_with_our_own_compiler(f, monkeypatch, tmp_path):
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path))
    made = []
    compile_kernel = ours.compile_kernel
    monkeypatch.setattr(
        ours, "compile_kernel", lambda *args: made.append(compile_kernel(*args)) or made[-1]
    )

    def scaled(u, g, n):  # a kernel of its own
        return [1.25 * x for x in f(u, g, n)]

    for n in (1, 4):
        for a, b in zip(
            jit(scaled)(U.copy(), F.copy(), n), scaled(U.copy(), F.copy(), n), strict=True
        ):
            np.testing.assert_allclose(a, b, rtol=1e-13)
    assert made
    assert None not in made


def shifted(image, k):
    out = np.zeros((image.shape[0] - k.shape[0] + 1, image.shape[1] - k.shape[1] + 1))
    for a in range(k.shape[0]):
        for b in range(k.shape[1]):
            out += k[a, b] * image[a : a + out.shape[0], b : b + out.shape[1]]
    return out


def read_behind(x, n, m):
    for _ in range(n):
        y = x
        for _ in range(m):
            y = y + 0.5 * x
        x = y - 0.1 * x
    return x


def turned(x, n, m):
    for t in range(n):
        for _ in range(m):
            x = 0.5 * x[::-1] + t
    return x


def two_in_turn(x, n, m):
    for t in range(n):
        for _ in range(m):
            x = x * 1.1 + t
        for k in range(n):
            x = x - 0.1 * k
    return x


def while_small(x, n, m):
    while np.sum(x) < 100.0 * n:
        for _ in range(m):
            x = x * 1.5 + 1.0
    return x


def exchanged(x, n, m):
    y = 2 * x
    for _ in range(n):
        for _ in range(m):
            x, y = y + 1.0, 0.5 * x
    return x - y


def test_an_inner_loop_goes_on_in_the_array_of_the_outer_one(rng):
    image, k = rng.normal(size=(9, 11)), rng.normal(size=(3, 2))
    compiled = jit(shifted)
    np.testing.assert_allclose(compiled(image, k), shifted(image, k), rtol=1e-12)
    assert "out_2" not in compiled.source(image, k)


@pytest.mark.parametrize("f", [read_behind, turned, two_in_turn, while_small, exchanged])
@pytest.mark.parametrize(("n", "m"), [(3, 2), (2, 3), (1, 1)])
def test_loops_inside_of_loops(f, n, m, rng):
    x = rng.random(5) + 1.0
    np.testing.assert_allclose(jit(f)(x, n, m), f(x.copy(), n, m), rtol=1e-12)
    gradient = jit(grad(lambda x: np.sum(f(x, n, m) ** 2)))
    plain = grad(lambda x: np.sum(f(x, n, m) ** 2))
    np.testing.assert_allclose(gradient(x), plain(x), rtol=1e-10)


@pytest.mark.parametrize("f", [read_behind, turned, two_in_turn, exchanged])
@pytest.mark.parametrize(("n", "m"), [(0, 2), (2, 0)])
def test_loops_without_passes(f, n, m, rng):
    x = rng.random(5)
    np.testing.assert_allclose(jit(f)(x, n, m), f(x.copy(), n, m), rtol=1e-12)
