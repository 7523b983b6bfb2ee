"""for over ranges, arrays and containers; else, break, continue, return; names that live on."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(0.7, 5)
def power_by_products(x, n):
    result = 1.0
    for _ in range(n):
        result = result * x
    return result


@program(normal(4), 0.3, wrt=(0, 1))
def horner(coefficients, x):
    value = 0.0
    for i in range(len(coefficients) - 1, -1, -1):
        value = value * x + coefficients[i]
    return value


@program(normal(6))
def every_second(x):
    total = 0.0
    for i in range(0, x.shape[0], 2):
        total += x[i] ** 2 * x[i + 1]
    return total


@program(uniform(5))
def over_elements(x):
    product = 1.0
    for element in x:
        product *= np.sin(element)
    return product


@program(normal(3, 4))
def over_rows(matrix):
    state = np.zeros(4)
    for row in matrix:
        state = np.tanh(state + row)
    return state


@program(normal(3, 4))
def over_columns(matrix):
    total = 0.0
    for j, column in enumerate(matrix.T):
        total += (j + 1) * np.sum(column**2)
    return total


@program([normal(2, 3), normal(4, 2, seed=1), normal(1, 4, seed=2)], normal(3, seed=3), wrt=(0, 1))
def over_list_of_different_shapes(weights, x):
    for w in weights:
        x = np.tanh(w @ x)
    return x[0]


@program((0.4, 1.3, -0.6), 0.5, wrt=(0, 1))
def over_tuple(roots, x):
    value = 1.0
    for root in roots:
        value *= x - root
    return value


@program({"a": 0.5, "b": 1.5, "c": -0.7})
def over_dict_items(terms):
    total = 0.0
    for name, value in terms.items():
        total += value ** (ord(name) - ord("a") + 2)
    return total


@program({"mean": normal(3), "slope": normal(3, seed=1)})
def over_dict_keys_and_values(parameters):
    total = 0.0
    for key in parameters:
        total += len(key) * np.sum(parameters[key] ** 2)
    for value in parameters.values():
        total *= np.cos(value[0])
    return total


@program(normal(4), normal(4, seed=1), wrt=(0, 1))
def over_zip(x, y):
    total = 0.0
    for a, b in zip(x, y):
        total += a * np.exp(b)
    return total


@program(normal(4), uniform(4))
def over_enumerate_zip(x, y):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, y), start=1):
        total += a**i / b
    return total


@program(normal(4))
def over_reversed(x):
    discounted = 0.0
    for reward in reversed(x):
        discounted = reward + 0.9 * discounted * np.cos(discounted)
    return discounted


@program(normal(4))
def over_reversed_range(x):
    value = x[-1]
    for i in reversed(range(len(x) - 1)):
        value = x[i] + 1 / (2 + value**2)
    return value


@program(uniform(4))
def over_map_and_filter(x):
    total = 0.0
    for root in map(np.sqrt, x):
        total += root
    for k in filter(lambda n: n % 2 == 0, range(6)):
        total += x[0] ** k
    return total


@program(0.8, 6)
def loop_else(x, n):
    for _ in range(n):
        x = np.sin(x)
        if x > 2:
            x = -x
            break
    else:
        x = x * 10
    return x


@program(uniform(5), 2.0, wrt=(0, 1))
@program(uniform(5), 200.0, wrt=(0, 1))
def break_when_exceeded(x, limit):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 2
        if total > limit:
            total = total * limit
            break
    return total


@program(normal(6))
def skip_negative(x):
    total = 0.0
    for element in x:
        if element < 0:
            continue
        total += np.log1p(element)
    return total


@program(uniform(5), 1.7)
def first_crossing(x, level):
    position = 0.0
    for i in range(len(x)):
        position += x[i]
        if position > level:
            return (position - level) / x[i]
    return position


@program(0.5, 3)
def variable_lives_after_loop(x, n):
    for i in range(1, n + 1):
        term = x**i
    return term * i


@program(0.5, 4)
def integer_becomes_float(x, n):
    total = 0
    count = 0
    for k in range(n):
        total = total + x**k
        count += 1
    return total / count


@program(normal(4))
def none_before_first_pass(x):
    previous = None
    total = 0.0
    for element in x:
        if previous is not None:
            total += (element - previous) ** 2
        previous = element
    return total


@program(normal(5))
def undefined_before_first_pass(x):
    for i, element in enumerate(x):
        if i == 0:
            smooth = element
        else:
            smooth = 0.7 * smooth + 0.3 * element**2
    return smooth


@program(0.4, 1)
@program(0.4, 0)
def few_or_no_trips(x, n):
    y = x**2
    for _ in range(n):
        y = np.exp(y) * x
    return y


@program(normal(4))
def parts_that_grow_with_the_pass(x):
    total = 0.0
    for k in range(1, len(x)):
        total = total + np.sum(x[: 2 * k].reshape(k, 2) ** 2) if 2 * k <= len(x) else total
    return total
