"""Inner functions that read and write variables of the functions around them."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(0.6)
def reads_current_value(x):
    scale = 1.0

    def scaled(t):
        return scale * t

    first = scaled(x)
    scale = x**2
    return first + 3 * scaled(x)


@program(normal(4))
def reads_value_changed_by_loop(x):
    mean = 0.0

    def deviation(t):
        return (t - mean) ** 2

    total = 0.0
    for i, element in enumerate(x):
        total += deviation(element)
        mean = (mean * i + element) / (i + 1)
    return total


@program(normal(4))
def nonlocal_accumulator(x):
    total = 0.0

    def add(value):
        nonlocal total
        total += value**2
        return total

    for element in x:
        add(element)
    return total * add(x[0])


@program(0.8)
def nonlocal_counter_and_state(x):
    calls, state = 0, x

    def advance():
        nonlocal calls, state
        calls += 1
        state = np.sin(state) + 0.1 * calls
        return state

    a = advance()
    b = advance()
    return a * b + calls * state


@program(1.8)
def nonlocal_in_while(x):
    remaining = x

    def spend(fraction):
        nonlocal remaining
        spent = remaining * fraction
        remaining -= spent
        return spent

    total = 0.0
    while remaining > 0.3:
        total += spend(0.4) ** 2
    return total + remaining


@program(0.5)
def nonlocal_two_levels_up(x):
    energy = x

    def outer():
        def inner():
            nonlocal energy
            energy = energy * 2 + x**2

        inner()
        inner()

    outer()
    return energy


@program(0.5)
def independent_closures(x):
    def accumulator(start):
        total = start

        def add(value):
            nonlocal total
            total = total + value * x
            return total

        return add

    a, b = accumulator(0.0), accumulator(x)
    a(1.0)
    b(2.0)
    return a(3.0) * b(4.0)


@program(0.5)
def shared_cell(x):
    def account(balance):
        def deposit(amount):
            nonlocal balance
            balance += amount

        def interest(rate):
            nonlocal balance
            balance *= 1 + rate

        return deposit, interest, lambda: balance

    deposit, interest, balance = account(1.0)
    deposit(x)
    interest(x)
    deposit(x**2)
    return balance() ** 2


@program(normal(3))
def closure_mutates_array(x):
    buffer = np.zeros(3)

    def write(i, value):
        buffer[i] = value
        buffer[(i + 1) % 3] += value**2

    for i in range(3):
        write(i, x[i])
    return buffer


@program(normal(3))
def closure_mutates_list(x):
    log = []

    def record(value):
        log.append(value)
        return value * len(log)

    total = record(x[0]) + record(x[1] ** 2) + record(x[2] * x[0])
    return total * log[-1]


@program(normal(2), normal(2, 2, seed=1), wrt=(0, 1))
def closure_over_array_rebound_later(x, w):
    def layer(h):
        return np.tanh(w @ h)

    h = layer(x)
    w = w.T * 2
    h = layer(h)
    return h


@program(uniform(3))
def default_keeps_closure_moves(x):
    functions = []
    offset = 0.0
    for element in x:
        offset = offset + element
        functions.append(lambda t, fixed=offset: t * fixed + offset)
    return sum(f(x[0]) for f in functions)


@program(0.7)
def comprehension_variable_shadows(x):
    t = x**2
    values = [t * x for t in (1.0, 2.0, 3.0)]
    return t * sum(values)


@program(0.9)
def recursive_closure(x):
    def chebyshev(n):
        if n == 0:
            return 1.0
        if n == 1:
            return x
        return 2 * x * chebyshev(n - 1) - chebyshev(n - 2)

    return chebyshev(4)


def scaling(k):
    return lambda v: k * v


@program(1.3)
def made_again_in_each_pass(x):
    g = scaling(1.0)
    for v in np.array([1.0, 2.0]):
        g = scaling(v * 1.5)
    return g(x) * x


@program(1.3)
def made_alike_on_both_sides(x):
    g = scaling(2.0) if x > 1 else scaling(2.0)
    return g(x) * x


@program(0.6)
def lambdas_that_assign(x):
    kept = 7.0
    squares = lambda q: (r := q * x) * r + (kept := r)  # noqa: E731
    sums = lambda q, k=2.0: [(s := q + t) * s for t in (1.0, k)][1] + s  # noqa: E731
    return squares(x) + sums(x) * kept + sum((lambda v: (u := v * x) + u)(k) for k in range(3))


def twice_below(f, limit):
    return lambda t: f(f(t)) if t < limit else t / 2


@program(0.8)
def one_code_inside_of_itself_with_other_functions(x):
    return twice_below(twice_below(np.cosh, 1.5), 3.0)(x)
