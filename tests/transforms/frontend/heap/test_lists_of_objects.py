"""Objects that a comprehension makes lie in stacks: loops over them stay loops, and code does not
grow with how many there are."""

import numpy as np
import pytest

from tapeless import grad, jit, jvp, strict, value_and_grad
from tapeless.transforms.frontend.control_flow import python_loops

S, AT = 0.7, np.array([[0.1, -0.4], [0.9, 0.3], [-0.5, 0.8], [0.2, 1.1], [1.4, -0.6]])


class Body:
    def __init__(self, at, speed, mass):
        self.at, self.speed, self.mass = at, speed, mass
        self.force = np.zeros(2)

    def move(self, dt):
        self.speed += dt * self.force / self.mass
        self.at += dt * self.speed


def pairs_of_objects(s, at, n):
    bodies = [Body(at[i].copy(), np.zeros(2), 1.0 + i) for i in range(n)]
    for _ in range(3):
        for body in bodies:
            body.force = np.zeros(2)
        for i in range(n):
            for j in range(i + 1, n):
                d = bodies[j].at - bodies[i].at
                force = s * bodies[i].mass * bodies[j].mass * d / (d @ d + 0.1) ** 1.5
                bodies[i].force += force
                bodies[j].force -= force
        for body in bodies:
            body.move(0.05)
    return sum(0.5 * body.mass * (body.speed @ body.speed) for body in bodies)


def pairs_of_dicts(s, at, n):
    bodies = [{"at": at[i], "speed": np.zeros(2), "mass": 1.0 + i} for i in range(n)]
    for _ in range(3):
        for a in bodies:
            pull = np.zeros(2)
            for b in bodies:
                if a is not b:
                    d = b["at"] - a["at"]
                    pull = pull + s * b["mass"] * d / (d @ d + 0.1) ** 1.5
            a["speed"] = a["speed"] + 0.05 * pull
        for a in bodies:
            a["at"] = a["at"] + 0.05 * a["speed"]
    return sum(0.5 * a["mass"] * (a["speed"] @ a["speed"]) for a in bodies)


def neighbours(s, at, n):
    bodies = [Body(at[i].copy(), np.ones(2), 1.0) for i in range(n)]
    for body in bodies:
        near = [q for q in bodies if q is not body and np.sum((q.at - body.at) ** 2) < 2.0]
        pull = np.zeros(2)
        for q in near:
            pull = pull + s * (q.at - body.at)
        body.force = pull
    for body in bodies:
        body.speed = body.speed + 0.1 * body.force
        body.at = body.at + 0.1 * body.speed
    return sum(body.at @ body.speed for body in bodies)


PROGRAMS = [pairs_of_objects, pairs_of_dicts, neighbours]


def assert_one_program_is_right(f):
    with strict(True):
        df = value_and_grad(f)
        short = df.source(S, AT[:3], 3)
        for n in (3, 5):
            value, slope = df(S, AT[:n], n)
            e = 1e-6
            differences = (f(S + e, AT[:n], n) - f(S - e, AT[:n], n)) / (2 * e)
            np.testing.assert_allclose(value, f(S, AT[:n], n), rtol=1e-12)
            np.testing.assert_allclose(slope, differences, rtol=1e-6)
        assert df.source(S, AT, 5) == short


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_one_program_serves_any_number_of_objects(f):
    assert_one_program_is_right(f)


def test_under_jit():
    np.testing.assert_allclose(jit(neighbours)(S, AT, 5), neighbours(S, AT, 5), rtol=1e-12)
    assert np.isfinite(jit(grad(neighbours))(S, AT, 5))


def read_through_the_other_list(s, at, n):
    bodies = [Body(at[i].copy(), np.ones(2), 1.0) for i in range(n)]
    heavy = [body for body in bodies if body.at[0] > 0.0]
    bodies[1].mass = 7.0 * s
    return sum(body.mass for body in heavy)


def changed_through_the_other_list(s, at, n):
    bodies = [Body(at[i].copy(), np.ones(2), 1.0) for i in range(n)]
    heavy = [body for body in bodies if body.at[0] > 0.0]
    for body in heavy:
        body.mass = 7.0 * s
    return sum(body.mass for body in bodies)


def taken_twice(s, at, n):
    bodies = [Body(at[i].copy(), np.ones(2), 1.0) for i in range(n)]
    bodies.append(bodies[0])
    for body in bodies:
        body.mass = body.mass + s
    return sum(body.mass for body in bodies)


def compared_where_one_is_there_twice(s, at, n):
    bodies = [Body(at[i].copy(), np.ones(2), 1.0) for i in range(n)]
    bodies.append(bodies[0])
    count = 0
    for a in bodies:
        for b in bodies:
            if a is b:
                count += 1
    return s * count


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize(
    "f",
    [
        read_through_the_other_list,
        changed_through_the_other_list,
        taken_twice,
        compared_where_one_is_there_twice,
    ],
    ids=lambda f: f.__name__,
)
def test_objects_that_two_lists_have(f):
    e = 1e-6
    differences = (f(S + e, AT, 5) - f(S - e, AT, 5)) / (2 * e)
    value, slope = value_and_grad(f)(S, AT, 5)
    np.testing.assert_allclose(value, f(S, AT, 5), rtol=1e-12)
    np.testing.assert_allclose(slope, differences, rtol=1e-6)
    np.testing.assert_allclose(jit(f)(S, AT, 5), f(S, AT, 5), rtol=1e-12)


def masses_of(bodies):
    return sum((k + 1) * body.mass for k, body in enumerate(bodies))


def taken_then_replaced(s, at, n):
    bodies = [Body(at[i], np.ones(2), 1.0 + i) for i in range(n)]
    first = bodies[0]
    bodies[0] = Body(at[0], np.ones(2), s)
    first.mass = 9.0 * s
    return masses_of(bodies) + first.mass


def taken_then_exchanged(s, at, n):
    bodies = [Body(at[i], np.ones(2), 1.0 + i) for i in range(n)]
    first = bodies[0]
    bodies[0], bodies[1] = bodies[1], bodies[0]
    first.mass = 9.0 * s
    return masses_of(bodies) + first.mass


def rows_taken_then_replaced(s, at, n):
    rows = [[s * i, at[i, 0]] for i in range(n)]
    first = rows[0]
    rows[0] = [s, s]
    first[0] = 5.0 * s
    return sum(a * b for a, b in rows) + first[0]


def rows_taken_then_exchanged(s, at, n):
    rows = [[s * i, at[i, 0]] for i in range(n)]
    first = rows[0]
    rows[0], rows[1] = rows[1], rows[0]
    first[0] = 5.0 * s
    return sum((k + 1) * a * b for k, (a, b) in enumerate(rows)) + first[0]


MOVED = [
    taken_then_replaced,
    taken_then_exchanged,
    rows_taken_then_replaced,
    rows_taken_then_exchanged,
]


def indices_from_the_end(s, at, n):
    bodies = [Body(at[i], np.ones(2), s * i) for i in range(n)]
    count = 0
    for i in range(n):
        if bodies[i - 1] is bodies[n - 1] or bodies[-1] is bodies[i]:
            count += 1
        for body in bodies:
            if bodies[i - 1] is body:
                count += 10
    return s * count


def replaced_from_the_end(s, at, n):
    bodies = [Body(at[i], np.ones(2), s * i) for i in range(n)]
    last = bodies[n - 1]
    bodies[-1] = Body(at[0], np.ones(2), s)
    last.mass = 9.0 * s
    return masses_of(bodies) + last.mass


MOVED += [indices_from_the_end, replaced_from_the_end]


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("f", MOVED, ids=lambda f: f.__name__)
def test_what_was_taken_from_a_place_that_gets_another_one(f):
    e = 1e-6
    differences = (f(S + e, AT, 5) - f(S - e, AT, 5)) / (2 * e)
    value, slope = value_and_grad(f)(S, AT, 5)
    np.testing.assert_allclose(value, f(S, AT, 5), rtol=1e-12)
    np.testing.assert_allclose(slope, differences, rtol=1e-6)
    np.testing.assert_allclose(jit(f)(S, AT, 5), f(S, AT, 5), rtol=1e-12)


class Point:
    def __init__(self, mass, at, speed):
        self.mass, self.at, self.speed = mass, at, speed


def numbers_in_pairs(s, at, n):
    points = [Point(1.0 + i, at[i, 0], at[i, 1]) for i in range(n)]
    for i in range(n):
        for j in range(i, n):
            a, b = points[i], points[j]
            d = a.at - b.at + s
            a.speed -= d * b.mass
            b.speed += d * a.mass * s
    return sum(p.mass * p.speed**2 for p in points)


def arrays_in_pairs(s, at, n):
    points = [Point(1.0 + i, at[i].copy(), s * at[i]) for i in range(n)]
    for i in range(n):
        for j in range(n):
            a, b = points[i], points[j]
            d = a.at - b.at + s
            a.speed -= d * b.mass
            b.speed += d * b.speed
            a.at = a.at + 0.1 * b.speed
    return sum(p.mass * (p.at @ p.speed) for p in points)


def lists_in_pairs(s, at, n):
    points = [Point(1.0 + i, [at[i, 0], at[i, 1]], [s, 1.0]) for i in range(n)]
    for i in range(n):
        for j in range(i, n):
            a, b = points[i], points[j]
            for k in range(2):
                d = a.at[k] - b.at[k] + s
                a.speed[k] -= d * b.mass
                b.speed[k] += d * a.speed[k]
    return sum(p.mass * p.speed[0] * p.speed[1] for p in points)


def tuples_in_pairs(s, at, n):
    points = [([at[i, 0], at[i, 1]], [s, 1.0], 1.0 + i) for i in range(n)]
    for i in range(n):
        for j in range(n):
            (p, v, m), (q, w, _) = points[i], points[j]
            for k in range(2):
                v[k] -= (p[k] - q[k] + s) * m
                w[k] += 0.1 * v[k] * p[k]
    return sum(m * v[0] * v[1] for _, v, m in points)


def dicts_in_pairs(s, at, n):
    points = [{"at": at[i, 0], "speed": at[i, 1]} for i in range(n)]
    for i in range(n):
        for j in range(n):
            a, b = points[i], points[-1 - j]
            a["speed"] -= s * b["at"]
            b["at"] += 0.1 * a["speed"]
            if a["at"] > b["at"]:
                b["speed"] += s * a["at"]
    return sum(p["speed"] * p["at"] for p in points)


IN_PAIRS = [numbers_in_pairs, arrays_in_pairs, lists_in_pairs, tuples_in_pairs, dicts_in_pairs]


@pytest.mark.parametrize("f", IN_PAIRS, ids=lambda f: f.__name__)
def test_two_elements_that_may_be_one_are_changed(f):
    assert_one_program_is_right(f)
    for n in (3, 5):
        np.testing.assert_allclose(jit(f)(S, AT[:n], n), f(S, AT[:n], n), rtol=1e-12)


def a_part_is_replaced(s, at, n):
    points = [Point(1.0 + i, at[i, 0], [at[i, 1], s]) for i in range(n)]
    total = 0.0
    for i in range(n):
        for j in range(n):
            a, b = points[i], points[j]
            was = b.speed
            a.speed = [s + 0.1 * i, 0.5]
            total += was[0] * (j + 1.0)
            was[0] = total
            total += b.speed[0] * a.speed[1]
    return total


def parts_are_exchanged(s, at, n):
    points = [Point(1.0 + i, at[i, 0], [at[i, 1], s]) for i in range(n)]
    total = 0.0
    for i in range(n):
        for j in range(n):
            a, b = points[i], points[j]
            a.speed, b.speed = b.speed[:], a.speed[:]
            a.speed[0] += s
            b.speed[1] -= a.speed[0] * s
            total += a.speed[0] * (j + 1.0) - b.speed[1] * i
    return total + sum(p.speed[0] - 2 * p.speed[1] for p in points)


def a_part_is_put_into_another(s, at, n):
    points = [Point(1.0 + i, at[i, 0], [at[i, 1], s]) for i in range(n)]
    for i in range(1, n):
        a, b = points[i], points[i - 1]
        a.speed = b.speed
        a.speed[0] += s * i
        b.speed[1] -= 0.5
    return sum(p.speed[0] - 2 * p.speed[1] * p.at for p in points)


def a_new_part_is_stored_to(s, at, n):
    points = [Point(1.0 + i, at[i, 0], [at[i, 1], s]) for i in range(n)]
    for a in points:
        for b in points:
            a.speed = [s, 1.0]
            b.speed = [2.0, s * a.at]
            b.speed[1] -= s
            a.speed[0] += b.speed[1]
    return sum(p.speed[0] - 2 * p.speed[1] * p.at for p in points)


PARTS = [
    a_part_is_replaced,
    parts_are_exchanged,
    a_part_is_put_into_another,
    a_new_part_is_stored_to,
]


@pytest.mark.parametrize("f", PARTS, ids=lambda f: f.__name__)
def test_parts_of_two_elements_that_may_be_one(f):
    e = 1e-6
    for n in (1, 4):
        value, slope = value_and_grad(f)(S, AT[:n], n)
        differences = (f(S + e, AT[:n], n) - f(S - e, AT[:n], n)) / (2 * e)
        np.testing.assert_allclose(value, f(S, AT[:n], n), rtol=1e-12)
        np.testing.assert_allclose(slope, differences, rtol=1e-6)
        np.testing.assert_allclose(jit(f)(S, AT[:n], n), f(S, AT[:n], n), rtol=1e-12)


def the_last_of_a_loop(x):
    balls = [{"at": x[k], "hits": 0.0} for k in range(6)]
    for ball in balls:
        ball["hits"] += 1.0
    ball["at"] += 1.0
    return sum(b["at"] * b["hits"] * (k + 1) for k, b in enumerate(balls))


def where_a_loop_breaks_off(x):
    rows = [[x[k], 0.0] for k in range(6)]
    for row in rows:
        if row[0] > 0.4:
            break
    row[1] += 2.0 * x[0]
    return sum(r[0] * r[1] * (k + 1) for k, r in enumerate(rows))


def by_a_test(x):
    bodies = [Body(x[k : k + 2], np.ones(2), 1.0) for k in range(6)]
    body = bodies[0] if x[2] > 0.9 else bodies[4]
    body.mass *= x[1]
    body.speed[0] += x[0]
    return sum(b.mass * b.speed[0] * (k + 1) for k, b in enumerate(bodies))


def the_largest(x):
    rows = [[x[k], 0.0] for k in range(6)]
    best = rows[0]
    for row in rows:
        if row[0] > best[0]:
            best = row
    best[1] = x[0]
    return sum(r[0] * r[1] * (k + 1) for k, r in enumerate(rows))


def what_a_function_finds(x):
    bodies = [Body(x[k : k + 2], np.ones(2), 1.0) for k in range(6)]

    def first():
        for body in bodies:
            if body.at[0] > 0.4:
                return body
        return None

    first().mass += x[1]
    return sum(b.mass * b.at[1] * (k + 1) for k, b in enumerate(bodies))


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
@pytest.mark.parametrize(
    "f",
    [
        the_last_of_a_loop,
        where_a_loop_breaks_off,
        by_a_test,
        the_largest,
        what_a_function_finds,
    ],
)
def test_changes_of_an_element_that_loops_or_tests_pick(f):
    x = np.array([0.3, 0.35, 0.5, 0.2, 0.9, 0.7, 0.1, 0.15])
    slopes = [(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(8)]
    np.testing.assert_allclose(jit(f)(x), f(x), rtol=1e-12)
    np.testing.assert_allclose(grad(f)(x), slopes, rtol=1e-6, atol=1e-8)


def of_a_class_of_its_own(x, n):
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def __add__(self, other):
            return Pair(self.a + other.a, self.b * other.b)

    pairs = [Pair(x[k], 1.0 + 0.1 * k) for k in range(6)]
    for _ in range(n):
        for k in range(len(pairs) - 1):
            pairs[k] = pairs[k] + Pair(0.1 * pairs[k + 1].a, 0.99)
    return sum(p.a * p.b for p in pairs)


def test_a_function_defines_the_class(monkeypatch):
    monkeypatch.setattr(python_loops, "LONG_CODE", 0)
    x = np.linspace(0.2, 1.3, 6)
    for n in (3, 12):
        value, _ = jvp(lambda x, n=n: of_a_class_of_its_own(x, n), (x,), (x,))
        np.testing.assert_allclose(value, of_a_class_of_its_own(x, n), rtol=1e-12)


def weights_of_layers(x, n):
    layers = [{"w": np.outer(x[:3], x[k : k + 3]), "b": x[k : k + 3].copy()} for k in range(4)]
    h = x[:3]
    for _ in range(n):
        for layer in layers:
            h = np.tanh(layer["w"] @ h + layer["b"])
            layer["b"] = layer["b"] * 0.99
        for layer in layers:
            layer["w"] -= 0.01 * np.outer(h, layer["b"])
    return h @ h + sum(np.sum(layer["w"]) for layer in layers)


def test_arrays_in_elements_that_a_pass_leaves_in_two_places(monkeypatch):
    monkeypatch.setattr(python_loops, "LONG_CODE", 0)
    x = np.linspace(0.2, 1.3, 8)
    for n in (1, 4):
        np.testing.assert_allclose(jit(weights_of_layers)(x, n), weights_of_layers(x, n), 1e-12)
