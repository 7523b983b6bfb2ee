"""zip, map, enumerate, reversed and iter of arrays, kept in variables: they are run over once."""

from tests.corpus import normal, program

X = normal(5)
Y = normal(5, seed=1)


@program(X, Y)
def run_over_twice(x, y):
    pairs = zip(x, y)
    total = 0.0
    for u, v in pairs:
        total = total + u * v
    for u, v in pairs:  # nothing is left
        total = total + 100 * u * v
    return total


@program(X)
def first_and_rest(x):
    values = iter(x)
    total = next(values)
    for v in values:
        total = total * 0.5 + v * v
    return total


@program(X)
def numbered_from_the_third(x):
    numbered = enumerate(x)
    _, first = next(numbered)
    k, second = next(numbered)
    return first * second * k + sum(v * k for k, v in numbered)


@program(X)
def largest_square_of_the_rest(x):
    squares = map(lambda v: v * v, x)  # noqa: C417 (it is what is tried)
    return next(squares) + 2 * next(squares) + max(squares)


@program(X)
def backwards_from_the_end(x):
    values = reversed(x)
    total = 0.0
    for k in range(3):
        total = total + (k + 1) * next(values) ** 2
    for v in values:
        total = total + v
    return total


@program(X)
def until_it_stops(x):
    values, total = iter(x), 0.0
    while True:
        try:
            v = next(values)
        except StopIteration:
            break
        total = total + v * v
    return total


@program(X)
def a_default_beyond_the_end(x):
    values, total = iter(x[:2]), 0.0
    for k in range(4):
        total = total + k * next(values, 7.0) ** 2
    return total


@program(X)
def one_more_where_data_says_so(x):
    values, total = iter(x), 0.0
    if x[0] > 0:
        total = total + next(values)
    for v in values:
        total = total + 2 * v * v
    return total


@program(X)
def left_by_data_and_gone_on_with(x):
    values, total = iter(x), 0.0
    for v in values:
        if v > 0.5:
            break
        total = total + v
    for v in values:
        total = total + 10 * v * v
    return total


@program(X)
def left_by_data_after_two_at_a_time(x):
    values, total = iter(x), 0.0
    for v in values:
        if v > 0.5:
            break
        total = total + v * next(values, 0.0)
    for v in values:
        total = total + 10 * v * v
    return total


@program(X)
def advanced_in_its_loop(x):
    values, total = iter(x), 0.0
    for u in values:
        total = total + u * u + 10 * next(values, 0.0)
    return total


@program(X)
def in_pairs(x):
    values = iter(x)
    return sum(a * b for a, b in zip(values, values, strict=False))


@program(X, Y)
def taken_by_a_function(x, y):
    def head(items):
        return next(items)

    pairs = zip(x, y)
    (a, b), (c, d) = head(pairs), head(pairs)
    return a * b * c * d + sum(p * q for p, q in pairs)


@program(X)
def an_error_at_a_known_step(x):
    total = 0.0
    for k in range(len(x)):
        try:
            if k == 2:
                raise ValueError("the third")
            total = total + x[k] ** 2
        except ValueError:
            total = total * 2
    return total
