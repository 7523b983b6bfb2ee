"""if, elif, else, conditional expressions, and/or/not, chained comparisons, several returns."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(-0.7)
@program(0.7)
def leaky(x):
    if x > 0:
        return x**2
    return 0.1 * np.sin(x)


@program(-2.0)
@program(0.3)
@program(3.0)
def three_regimes(reynolds):
    if reynolds < 0:
        drag = np.exp(reynolds)
    elif reynolds < 1:
        drag = 1 + reynolds**2
    else:
        drag = 3 - 1 / reynolds
    return drag * reynolds


@program(0.4, -1.2)
@program(0.4, 1.2)
@program(-0.4, 1.2, wrt=(0, 1))
def quadrant(x, y):
    if x > 0:
        if y > 0:
            result = x * y
        else:
            result = x - y**2
    else:
        if y > 0:
            return np.cos(x) * y
        result = np.exp(x + y)
    return result + x


@program(normal(5), 0.8)
def huber(residuals, delta):
    total = 0.0
    for r in residuals:
        if abs(r) <= delta:
            total += 0.5 * r**2
        else:
            total += delta * (abs(r) - 0.5 * delta)
    return total


@program(0.3)
@program(1.7)
def conditional_expression(x):
    return x**3 if x < 1 else np.log(x) + 1


@program(0.3, 2.0, wrt=(0, 1))
@program(2.5, 2.0, wrt=(0, 1))
@program(-2.5, 2.0, wrt=(0, 1))
def nested_conditional_expressions(x, limit):
    clipped = limit if x > limit else -limit if x < -limit else x
    return clipped**2 * x


@program(1.5, 0.5, wrt=(0, 1))
@program(-1.5, 0.5, wrt=(0, 1))
def both_conditions(x, y):
    if x > 0 and y > 0:
        return x**y
    return x * y


@program(-1.5, 0.5, wrt=(0, 1))
@program(-1.5, -0.5, wrt=(0, 1))
def either_condition(x, y):
    if x > 0 or not y < 0:
        return np.sin(x * y)
    return np.cos(x - y)


@program(0.0001, 2.0, wrt=(1,))
def guarded_division(x, y):
    if x != 0 and y / x > 10 and not np.isnan(y):
        return y**2
    return y


@program(0.4)
@program(1.4)
def chained_comparison(x):
    if 0 < x < 1:
        return x * (1 - x)
    return x - x**3


@program(0.1, 0.5, 0.9, wrt=(0, 1, 2))
@program(0.1, 0.9, 0.5, wrt=(0, 1, 2))
def ordered(a, b, c):
    if a < b <= c != 0:
        return a * b + c
    return a - b * c**2


@program(0.6)
def branch_assigns_only_sometimes(x):
    scale = 2.0
    if x > 0.5:
        scale = x
        offset = x**2
    else:
        offset = 1.0
    return scale * offset


@program(0.6)
def flag_remembers_branch(x):
    saturated = False
    if x > 0.5:
        x = 0.5 + 0.1 * x
        saturated = True
    y = np.tan(x)
    if saturated:
        y = y * x
    return y


@program(uniform(4))
def smoothstep(x):
    result = np.empty_like(x)
    for i, t in enumerate(x):
        if t <= 0:
            result[i] = 0.0
        elif t >= 1.0:
            result[i] = t**2
        else:
            result[i] = t * t * (3 - 2 * t)
    return result


@program(normal(3), "cubic")
@program(normal(3), "linear")
def static_choice(x, kind):
    if kind == "linear":
        kernel = np.outer(x, x)
    elif kind == "cubic":
        kernel = np.outer(x, x) ** 3
    else:
        raise ValueError(f"unknown kernel {kind!r}")
    return kernel.sum()


@program(1.3, None)
@program(1.3, 0.4)
def optional_argument(x, offset):
    offset = offset or 0.25
    if offset is None:
        offset = 0.0
    return np.sqrt(x + offset)


@program(normal(4))
def branch_on_reduction(x):
    if np.any(x > 10) or x.sum() > 100:
        return x.sum()
    if np.all(x < 10):
        x = x / np.max(np.abs(x))
    return np.sum(x**2)


@program(0.2, 0.9)
def branch_swaps_arrays(x, y):
    small, large = np.array([x, y]), np.array([y, x * x])
    if x < y:
        small, large = large, small
    return small @ np.array([1.0, 2.0]) + large[0] ** 2


@program(0.8)
@program(-0.8)
def branch_returns_tuple(x):
    if x > 0:
        return x**2, np.array([x, 1.0])
    return np.exp(x), np.array([1.0, x**3])


@program(0.5, np.array([0.5, -0.2, 0.7, -0.9]), wrt=(0, 1))
def parts_of_unknown_size_on_one_side(x, v):
    s = 0.0
    if x > 0:
        t = v[v > 0] * 3 * x
    if x > 0:
        s = np.sum(t * t)
    if x > 0:
        t = v[v < 0] * 5 * x
    if x > 0:
        return s + np.sum(t)
    return s


@program(2.5, np.array([0.5, -0.2, 0.7, -0.9]), wrt=(0, 1))
def parts_read_on_some_sides(x, v):
    s = 0.0
    if x > 0:
        t = v[v > 0] * 3 * x
    if x > 1:
        s = s + np.sum(t * t)
    if x > 2:
        s = s + np.sum(np.sin(t))
    if x > 3:
        s = s * np.sum(t)
    return s + x


@program(normal(4), 3)
@program(normal(4), 1)
def array_or_number_by_an_integer(x, n):
    scale = x if n > 2 else 0.5
    return np.sum(scale * x**2)


@program(normal(4))
@program(normal(5))
def array_or_number_by_a_length(x):
    extra = x[1::2] if len(x) % 2 == 0 else 0.0
    return np.sum(np.sin(x)) + np.sum(extra**2)


@program(normal(3), 2)
@program(normal(3), 1)
def containers_by_an_integer(x, order):
    kept = None
    if order > 1:
        kept = {"square": x**2, "rest": [x, None]}
    return np.sum(x) if kept is None else np.sum(kept["square"] * kept["rest"][0])


@program(normal(3), 1)
@program(normal(3), 2)
def one_result_or_two(x, n):
    def both(v):
        if n == 1:
            return np.exp(v)
        return v, 2 * v

    made = both(x)
    return np.sum(made) if n == 1 else np.sum(made[0] * made[1])


@program(normal(3), 2)
def the_first_pass_is_another(x, n):
    y = None
    for k in range(n):
        y = x if k == 0 else x[:, None] * y
    return np.sum(y**2)


@program(1.3)
def else_raises(x):
    if x > 0:
        root = np.sqrt(x) * 1.5
    else:
        raise ValueError("not positive")
    return root**2 + root


@program(normal(3))
def first_row_or_an_error(x):
    def begin(rows):
        if len(rows) > 0:
            return 2.0 * rows[0], 1
        raise ValueError("no rows")

    made, first = begin(x)
    for k in range(first, len(x)):
        made = made * x[k] - 1.0
    return made
