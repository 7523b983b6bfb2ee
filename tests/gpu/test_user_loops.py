"""Loops of the user's program inside of rows are shared by the threads of a team: those whose
passes have elements of their own, and those that only add numbers up."""

import re

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, vmap
from tests.gpu.emulator import ORDERS, emulating
from tests.gpu.test_programs import code_of

rng = np.random.default_rng(0)
points, masses = rng.normal(size=(40, 3)), rng.uniform(1, 2, 40)
wide, long = rng.normal(size=(12, 90)), rng.normal(size=90)


def heat(u):
    v = u.copy()
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = u[i, j] + 0.1 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return v


def escapes(h, w):
    counts = np.zeros((h, w), np.int64)
    for i in range(h):
        for j in range(w):
            c, z, k = complex(3 * j / w - 2, 2 * i / h - 1), 0j, 0
            while abs(z) < 2 and k < 30:
                z, k = z * z + c, k + 1
            counts[i, j] = k
    return counts


def kernel_matrix(x):
    n = x.shape[0]
    k = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            d = 0.0
            for m in range(x.shape[1]):
                d += (x[i, m] - x[j, m]) ** 2
            k[i, j] = np.exp(-d)
    return k


def next_to_one_another(x):
    y, z = np.zeros_like(x), np.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = 2 * x[i, j]
        for j in range(1, x.shape[1]):
            z[i, j] = y[i, j - 1] + y[i, j]
    return z


def running_sums_of_columns(x):
    out = np.zeros_like(x)
    for j in range(x.shape[1]):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i, j]
            out[i, j] = total
    return out


def dots(a, x):
    y = np.ones(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[i] += a[i, j] * x[j]
    return y


def single_dots(a, x):
    y = np.zeros(a.shape[0], np.float32)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[i] -= a[i, j] * x[j]
    return y


def pulls(points, masses):
    a = np.zeros_like(points)
    for i in range(len(points)):
        for j in range(len(points)):
            d = points[j] - points[i]
            a[i] += masses[j] * d * (d[0] ** 2 + d[1] ** 2 + d[2] ** 2 + 0.1) ** -1.5
    return a


def pulls_of_a_local_sum(points, masses):
    a = np.zeros_like(points)
    for i in range(len(points)):
        total = np.zeros(3)
        for j in range(len(points)):
            d = points[j] - points[i]
            total += masses[j] * d * (np.sum(d * d) + 0.1) ** -1.5
        a[i] = total
    return a


def pulls_by_element(points, masses):
    a = np.zeros_like(points)
    for i in range(len(points)):
        for j in range(len(points)):
            x, y = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1]
            w = masses[j] * (x * x + y * y + 0.1) ** -1.5
            a[i, 0] += w * x
            a[i, 1] += w * y
    return a


def nearest(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        best, near, count = np.inf, 0.0, 0
        for j in range(len(y)):
            r = abs(x[i] - y[j])
            if r < best:
                best = r
            if r < 1:
                near += 1 / (1 + r)
                count += 1
        out[i] = near + best * count
    return out


def below_the_diagonal(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(i):
            out[i] += x[j] / (1 + i - j)
    return out


def until_it_is_small(x, y):
    e, k = 1.0, 0
    while e > 1e-3 and k < 50:
        s = 0.0
        for j in range(len(x)):
            s += np.sin(x[j] * e) * y[j]
        e, k = 0.5 * e * abs(np.cos(s)), k + 1
    return e, k


def heat_in_space(u):
    v = np.zeros_like(u)
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            for k in range(1, u.shape[2] - 1):
                v[i, j, k] = u[i + 1, j, k] + u[i, j - 1, k] + u[i, j, k + 1] - 3 * u[i, j, k]
    return v


def slopes_in_space(u):
    inner = u[1:-1, 1:-1, 1:-1]
    return u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:] - 3 * inner


def pairs(x):
    d = x[None] - x[:, None]
    return np.sum(d * (np.sum(d * d, axis=-1, keepdims=True) + 0.1) ** -1.5, axis=1)


SHARED = [
    (heat, (wide,)),
    (escapes, (6, 70)),
    (kernel_matrix, (wide,)),
    (next_to_one_another, (wide,)),
    (dots, (wide, long)),
    (single_dots, (wide.astype("f4"), long.astype("f4"))),
    (pulls, (points, masses)),
    (pulls_of_a_local_sum, (points, masses)),
    (pulls_by_element, (points, masses)),
    (nearest, (long[:20], long)),
    (below_the_diagonal, (long,)),
    (until_it_is_small, (long, masses[:1].repeat(90))),
    (pairs, (points,)),
    (heat_in_space, (rng.normal(size=(14, 15, 70)),)),
    (slopes_in_space, (rng.normal(size=(14, 15, 70)),)),
]


def shared_loops(function, *args, **options):
    code = code_of(jit(function, backend="gpu", **options).lower(*args).source())
    kernels = code[code.index('extern "C"') :]
    return len(re.findall(r"\+?threadIdx\.x; |pack_loop<\d+>\(threadIdx", kernels))


def copied(args):
    return [x.copy() if isinstance(x, np.ndarray) else x for x in args]


@pytest.mark.parametrize(("function", "args"), SHARED, ids=lambda f: getattr(f, "__name__", ""))
def test_teams_share_loops(function, args, gpu):
    assert shared_loops(function, *args)
    run, expected = jit(function, backend="gpu"), function(*copied(args))
    tolerance = 1e-4 if function is single_dots else 1e-11
    for order in ORDERS:
        with emulating(order=order):
            found = tapeless.device_get(run(*copied(args)))
        for a, b in zip(tapeless.tree.leaves(found), tapeless.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def relaxed(u):
    u = u.copy()
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


def place_of_the_largest(x):
    out = np.zeros(x.shape[0], np.int64)
    for i in range(x.shape[0]):
        best, place = -np.inf, 0
        for j in range(x.shape[1]):
            if x[i, j] > best:
                best, place = x[i, j], j
        out[i] = place
    return out


def filtered(x):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        state = np.zeros(2)
        for j in range(x.shape[1]):
            state[0] = 0.5 * state[0] + x[i, j]
            state[1] = 0.5 * state[1] + state[0]
        y[i] = state[1]
    return y


def bits(x):
    out = np.zeros(x.shape[0], np.int64)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i] |= 1 << int(abs(x[i, j]) * 3) % 8
    return out


@pytest.mark.parametrize("function", [relaxed, place_of_the_largest, filtered, bits])
def test_what_passes_hand_on_keeps_their_order(function, gpu):
    assert not shared_loops(function, wide)
    found = tapeless.device_get(jit(function, backend="gpu")(wide))
    np.testing.assert_allclose(found, function(wide), rtol=1e-12)


def test_sums_keep_their_order_where_it_counts(gpu):
    assert not shared_loops(dots, wide, long, fastmath=False)
    assert shared_loops(heat, wide, fastmath=False)


def test_derivatives_and_batches(gpu):
    slope = grad(lambda x, m: np.sum(pulls(x, m) ** 2))
    found = tapeless.device_get(jit(slope, backend="gpu")(points, masses))
    np.testing.assert_allclose(found, slope(points, masses), rtol=1e-10)
    batch = vmap(dots, (0, None))
    found = tapeless.device_get(jit(batch, backend="gpu")(wide.reshape(2, 6, 90), long))
    np.testing.assert_allclose(found.ravel(), dots(wide, long), rtol=1e-12)


def where_it_is_there(x, k, n):
    y = np.zeros(4)
    for i in range(x.shape[0]):
        for j in range(n):
            if k < 4:
                y[k] += x[i, j]
    return y


def rows_of_no_pass(x, n):
    y = np.ones(3)
    for i in range(x.shape[0]):
        for j in range(n):
            y[i] += x[i, j]
    return y


def test_elements_that_no_pass_names_are_not_touched(gpu):
    for k in (2, 10**6):
        found = tapeless.device_get(jit(where_it_is_there, backend="gpu")(wide, k, 90))
        np.testing.assert_allclose(found, where_it_is_there(wide, k, 90), rtol=1e-12)
    run = jit(rows_of_no_pass, backend="gpu")
    np.testing.assert_allclose(
        tapeless.device_get(run(wide[:3], 90)), rows_of_no_pass(wide[:3], 90)
    )
    np.testing.assert_array_equal(tapeless.device_get(run(np.ones((10**5, 90)), 0)), np.ones(3))


def quotients(k, n):
    out = np.zeros(k.shape, np.int64)
    for i in range(k.shape[0]):
        for j in range(k.shape[1]):
            out[i, j] = 100 // k[i, j]
            out[i, j] += n[k[i, j]]
    return out


def test_the_first_of_several_errors_is_raised(gpu):
    k, n = np.ones((3, 80), np.int64), np.arange(4)
    assert not shared_loops(quotients, k, n)
    k[1, 7], k[1, 60] = 9, 0
    with pytest.raises(IndexError):
        tapeless.device_get(jit(quotients, backend="gpu")(k, n))


@pytest.mark.parametrize("function", [heat_in_space, slopes_in_space])
def test_threads_move_along_the_last_axis(function, gpu):
    run = jit(function, backend="gpu")
    code = code_of(run.lower(rng.normal(size=(14, 15, 70))).source())
    assert re.search(r"i64 j = (1 \+ )?i_j % ", code)
    assert re.search(r"for \(i64 k = (1 \+ )?threadIdx\.x;", code)
    for shape in [(14, 15, 70), (14, 2, 70), (3, 3, 9)]:
        u = rng.normal(size=shape)
        np.testing.assert_allclose(tapeless.device_get(run(u)), function(u), rtol=1e-12)


def test_teams_are_small_where_rows_do_not_lie_in_memory(gpu):
    launch = {
        f: jit(f, backend="gpu").lower(*args).source().rpartition(" = Kernel(")[2]
        for f, args in SHARED[:1] + SHARED[9:10]
    }
    assert "small_teams=True" in launch[nearest]
    assert "small_teams=True" not in launch[heat]
