"""Iterators that are advanced by hand, by several loops, and beside arrays."""

import itertools

from tests.corpus import normal, program


@program(0.7)
def token_by_token(x):
    tokens = iter([x, 2 * x, 3 * x, x * x])
    total = 0.0
    while (token := next(tokens, None)) is not None:
        total = total * x + token
    return total


@program(0.7)
def two_at_a_time(x):
    values = iter([x, 2 * x, 3 * x, x * x])
    total = 0.0
    for a in values:
        total = total * 2 + a * next(values)
    return total


@program(0.7)
def what_a_loop_left(x):
    numbers = iter([1, 2, 3, 4])
    total = 0.0
    for n in numbers:
        total = total * 2 + n * x
        if n == 2:
            break
    return total**2 + x * sum(numbers)


@program(0.7)
def used_up_by_the_first_pass(x):
    values = iter([x, 2 * x, 3 * x])
    total = 0.0
    for i in range(3):
        for v in values:
            total += v * (i + 1) ** 2
    return total**2


@program(normal(5), 3)
def chunks(x, n):
    values, total = iter(x), 0.0
    for i in range(n):
        total += (i + 1) * sum(list(itertools.islice(values, 2))) ** 2
    return total


@program(normal(4))
def beside_a_cycle(x):
    total = 0.0
    for a, sign in zip(x, itertools.cycle([1.0, -1.0]), strict=False):
        total += sign * a**3
    return total


@program(normal(4))
def beside_a_count(x):
    return sum(k * a**2 for a, k in zip(x, itertools.count(2), strict=False))


@program(normal(3))
def beside_an_iterator(x):
    weights, total = iter([1.0, 2.0, 3.0, 4.0]), 0.0
    for a, w in zip(x, weights, strict=False):
        total += a * w * a
    return total * next(weights, 0.5)


@program(normal(3), normal(3, seed=1), wrt=(0, 1))
def strictly(x, y):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += a * b * b
    return total


@program(2.3)
def counted_until(x):
    y = x
    for k in itertools.count(1, 2):
        y = y * 0.5
        if y < 0.1:
            break
    return y**2 * k + x


@program(normal(4))
def numbered(x):
    numbers = itertools.count()
    total = 0.0
    for a in x:
        if a > -9:
            total += next(numbers) * a**2
    return total * next(numbers)


@program(0.7)
def a_generator_summed_twice(x):
    squares = ((x + k) ** 2 for k in range(3))
    first = next(squares)
    return first + 2 * sum(squares) + sum(squares)


@program(0.7)
@program(0.3)
def list_left_after_a_break(x):
    out = []
    for k, w in enumerate([1.0, 2.0, 3.0, 4.0]):
        if x * w > 1.5:
            break
        if k >= 1:
            out.append(x * w)
    return sum(out) ** 2 + x


@program(normal(3))
def generators_see_what_the_body_changes(x):
    k, total = 1.0, 0.0
    for v in (x[0] * k for _ in range(3)):
        k += v
        total += v
    for v in (w * k for w in x):
        k += v * 0.1
        total += v
    return total


@program(normal(3))
def a_list_changed_while_it_is_run_over(x):
    values, total = [x[0], x[1], x[2]], 0.0
    for i, v in enumerate(values):
        if i < 2:
            values[i + 1] += v
        if len(values) < 5:
            values.append(v * v)
        total += v * (i + 1)
    return total


@program(normal(5))
def groups(x):
    total = 0.0
    for k, group in itertools.groupby(enumerate(x), key=lambda p: p[0] // 2):
        total += (k + 1) * sum(v for _, v in group) ** 2
    return total


@program(normal(2))
def any_stops_early(x):
    tried = []

    def test(k):
        tried.append(k)
        return k > 0

    found = any(test(k) for k in range(4))
    return x[0] ** 2 * len(tried) if found else x[1]


@program(normal(2))
def lists_that_change_places(x):
    b, c = [x[0], 1.0], [0.5, 3.0]
    kept = b
    for _ in range(3):
        b, c = c, b
        b[1] = x[1]
    return kept[1] * b[0] ** 2
