"""Loops over a few known items whose bodies have loops."""

import numpy as np
import pytest

from tapeless import grad, jit

X = np.array([0.5, 1.2, 0.7])


def steps_that_make_counts(x):
    errs = []
    for h in (0.1, 0.05, 0.025):
        n = round(1 / h)
        y = x[0]
        for _ in range(n):
            y = y + h * y
        errs.append(y)
    return errs


def steps_that_make_lengths(x):
    errs = []
    for h in (0.1, 0.05, 0.025):
        n = round(1 / h)
        t = np.linspace(0, 1, n + 1)
        s = 0.0
        for i in range(n):
            s += h * np.sin(t[i] * x[0])
        errs.append(s)
    return np.array(errs), np.diff(np.log(np.array(errs)))


def functions_beside_numbers(x):
    s = 0.0
    for w, f in [(0.2, np.sin), (0.3, np.cos), (0.5, np.tanh)]:
        for v in x:
            s += w * f(v)
    return s


def a_list_that_is_stored_to(x):
    rows = [x[0], x[1], x[2]]
    s = 0.0
    for r in rows:
        for q in rows:
            s += r * q
        rows[0] = 5.0
    return s


def a_list_that_grows(x):
    rows = [x[0], x[1], x[2]]
    s = 0.0
    for r in rows:
        for q in range(2):
            s += r * q
            if len(rows) < 5:
                rows.append(s)
    return s


def names_beside_numbers(x):
    d = {}
    for name, c in (("a", 1.0), ("b", 2.0), ("c", 3.0)):
        t = 0.0
        for v in x:
            t += c * v
        d[name] = t
    return d


def integers_beside_numbers(x):
    s = 0.0
    for a, b, c in [(1.0, 2, 3.0), (4.0, 5, 6.0), (7.0, 8, 9.0)]:
        for i in range(b):
            s += a * c * x[i % 3]
    return s


def rates_that_are_tried(x):
    best = None
    for lr in [0.1, 0.2, 0.3]:
        w = x.copy()
        for _ in range(5):
            w -= lr * 2 * w
        loss = w @ w
        if best is None or loss < best[0]:
            best = (loss, lr)
    return best


def flat(value):
    return np.hstack(
        [np.asarray(v) for v in (value if isinstance(value, (list, tuple)) else [value])]
    )


@pytest.mark.parametrize(
    "function",
    [
        steps_that_make_counts,
        steps_that_make_lengths,
        functions_beside_numbers,
        a_list_that_is_stored_to,
        a_list_that_grows,
        names_beside_numbers,
        integers_beside_numbers,
        rates_that_are_tried,
    ],
)
def test_values(function):
    made, wanted = jit(function)(X), function(X)
    if isinstance(wanted, dict):
        assert list(made) == list(wanted)
        made, wanted = list(made.values()), list(wanted.values())
    np.testing.assert_allclose(flat(made), flat(wanted), rtol=1e-14)


def contracted(x):
    primitives = [(0.17, 0.44), (0.62, 0.54), (3.4, 0.15)]
    total = 0.0
    for a, ca in primitives:
        for b, cb in primitives:
            for c, cc in primitives:
                total += ca * cb * cc * np.exp(-x[0] * a * b / (a + b + c)) * x[1]
    return total


def test_they_are_written_once():
    text = grad(contracted).source(X)
    assert text.count("np.exp(") <= 6
    step = 1e-6 * np.eye(3)
    slopes = [(contracted(X + s) - contracted(X - s)) / 2e-6 for s in step]
    np.testing.assert_allclose(jit(grad(contracted))(X), slopes, rtol=1e-7, atol=1e-9)


class Ball:
    def __init__(self, mass, at, speed):
        self.mass, self.at, self.speed = mass, at, speed


def balls(x, n):
    return [Ball(1.0 + k, [x[0] * k, x[1], x[2]], [0.1 * k, x[2], 0.0]) for k in range(n)]


def pulls(x, n):
    found = balls(x, n)
    for _ in range(3):
        for i in range(len(found)):
            for j in range(i + 1, len(found)):
                a, b = found[i], found[j]
                d = [a.at[k] - b.at[k] for k in range(3)]
                r = (d[0] ** 2 + d[1] ** 2 + d[2] ** 2 + 0.01) ** 1.5
                for k in range(3):
                    a.speed[k] -= 0.01 * d[k] * b.mass / r
                    b.speed[k] += 0.01 * d[k] * a.mass / r
        for ball in found:
            for k in range(3):
                ball.at[k] += 0.01 * ball.speed[k]
    return sum(b.mass * sum(v * v for v in b.speed) for b in found)


def eight_balls(x):
    return pulls(x, 8)


def overlaps(x):
    shells = [
        [Ball(c, z * x[1], x[2]) for c, z in ((0.1, 0.4), (0.5, 1.2), (0.4, 3.0))] for _ in range(2)
    ]
    total = 0.0
    for i in range(len(shells)):
        for j in range(len(shells)):
            for p in shells[i]:
                for q in shells[j]:
                    for r in shells[i][:2]:
                        for m, s in zip(shells[j], shells[i], strict=True):
                            a = p.at + q.at + r.at + (m.at - s.at) ** 2
                            total += p.mass * q.mass * r.mass * s.mass * np.exp(-x[0] * a) / a
    return total


def lengths_beside_numbers(x):
    items = [Ball(k, x[0] * k, np.zeros(k + 1)) for k in (1, 2, 3)]
    total = 0.0
    for a in items:
        for b in items:
            for c in items:
                for d in items:
                    e = a.at * b.at + c.at * d.at + len(b.speed)
                    total += np.sin(e) / (1 + e * e) + np.exp(-e) * np.cos(e) - e / (2 + e)
                    total += np.zeros(a.mass).sum() + np.ones(b.mass).sum() * e
    return total


def layers(weights, x):
    for w, b in weights:
        for _ in range(2):
            x = np.tanh(w @ x + b) + 0.1 * np.sin(x) * np.cos(b) - 0.3 * x / (1 + x * x)
    return np.sum(x * x)


@pytest.mark.parametrize("function", [eight_balls, overlaps, lengths_beside_numbers])
def test_long_code_is_written_once_where_it_can_be(function):
    step = 1e-6 * np.eye(3)
    slopes = [(function(X + s) - function(X - s)) / 2e-6 for s in step]
    np.testing.assert_allclose(jit(function)(X), function(X), rtol=1e-12)
    np.testing.assert_allclose(grad(function)(X), slopes, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jit(grad(function))(X), slopes, rtol=1e-6, atol=1e-8)


def test_code_of_objects_is_short():
    assert grad(eight_balls).source(X).count("\n") < 300  # 1,409 when written out
    assert grad(overlaps).source(X).count("np.exp(") < 10  # 648


WEIGHTS = [0.1 * k for k in range(50)]
ORDER = [3, 1, 2, 0, 5, 4] * 8
TABLE = [(0.5 * k, 2.0 - k) for k in range(48)]


def weighted(x, n):
    total = 0.0
    for i in range(n):
        a, b = TABLE[i]
        total += WEIGHTS[i] * x[ORDER[i]] ** 2 + a * np.sin(b * x[i])
    return total


def test_one_program_reads_tables_for_any_length():
    x = np.linspace(0.1, 1.0, 48)
    slope = grad(weighted)
    text = slope.source(x, 12)
    assert text.count("WEIGHTS = ") == 1
    for n in (0, 12, 48):
        differences = [
            (weighted(x + e, n) - weighted(x - e, n)) / 2e-6 for e in 1e-6 * np.eye(len(x))
        ]
        np.testing.assert_allclose(slope(x, n), differences, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(jit(weighted)(x, n), weighted(x, n), rtol=1e-12)
    assert slope.source(x, 48) == text
    with pytest.raises(IndexError):
        jit(weighted)(np.ones(60), 49)
    with pytest.raises(IndexError):
        slope(np.ones(60), 49)


def parts_of_a_known_list_are_stored_to(x, n):
    parts = [np.zeros(2 + k % 2) for k in range(12)]
    for i in range(n):
        parts[i][1] = x[i] ** 2
        parts[i] *= x[0]
    return sum(p.sum() for p in parts) * len(parts[n - 1])


NEIGHBOURS = [[(k + j) % 12 for j in range(1, 2 + k % 3)] for k in range(12)]


def along_neighbours(x, n):
    total = 0.0
    for u in range(n):
        for v in NEIGHBOURS[u]:
            total += np.sin(x[u] - x[v]) * len(NEIGHBOURS[v])
    return total


@pytest.mark.parametrize("f", [parts_of_a_known_list_are_stored_to, along_neighbours])
def test_items_at_the_index_of_a_long_loop(f):
    x = np.linspace(0.2, 1.3, 12)
    for n in (1, 12):
        slopes = [(f(x + e, n) - f(x - e, n)) / 2e-6 for e in 1e-6 * np.eye(12)]
        np.testing.assert_allclose(grad(f)(x, n), slopes, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(jit(f)(x, n), f(x, n), rtol=1e-12)


PAIRS = [{"at": 0.1 * k, "size": 2.0 - 0.1 * k} for k in range(12)]


def of_parts(x, n):
    total = along_neighbours(x, n)
    for i in range(n):
        total += PAIRS[i]["at"] * x[i] ** 2 + PAIRS[i]["size"]
    return total


def test_tables_are_called_like_the_list():
    text = grad(of_parts).source(np.linspace(0.2, 1.3, 12), 12)
    assert "constant" not in text
    assert "NEIGHBOURS_begins = " in text
    assert "PAIRS_at = " in text


MIXED = [1, 2.5, 3] * 5
TRUTHS = [True, 2, 0] * 5


def numbers_of_several_kinds(x, n):
    total = 0.0
    for i in range(n):
        print(MIXED[i], TRUTHS[i], 7 // MIXED[i])  # noqa: T201 (what is tested)
        total += x[i] * MIXED[i]
    return total


def objects_with_numbers_of_several_kinds(x, n):
    found = [Ball(1, x[0], n), Ball(2.5, x[1], n), Ball(True, x[2], n)]
    total = 0.0
    for a in found:
        for b in found:
            for c in found:
                total += a.at * b.mass + np.sin(c.at) * np.cos(a.at) / (1 + np.exp(b.at))
                total += np.tanh(total) * np.exp(-total * total) - c.mass * np.sqrt(1 + a.at**2)
        print(a.mass)  # noqa: T201
    return total


@pytest.mark.parametrize("f", [numbers_of_several_kinds, objects_with_numbers_of_several_kinds])
def test_an_integer_beside_floats_stays_one(f, capsys):
    x = np.linspace(0.3, 1.2, 12)
    wanted = f(x, 12)
    text = capsys.readouterr().out
    np.testing.assert_allclose(jit(f)(x, 12), wanted, rtol=1e-12)
    assert capsys.readouterr().out == text


def test_complex_numbers_beside_floats(capsys):
    def f(x):
        total = 0.0
        for c in (1.0, 2j, 3.0):
            for v in x:
                total = total + v * c
            print(c)  # noqa: T201
        return total

    np.testing.assert_allclose(jit(f)(X), f(X))
    ours, theirs = capsys.readouterr().out.split("\n")[:3], ["1.0", "2j", "3.0"]
    assert ours == theirs
