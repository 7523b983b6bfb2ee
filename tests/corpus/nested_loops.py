"""Loops in loops: stores, ragged bounds, break, continue and return at each depth."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(normal(3, 3))
def nested_accumulation(a):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] * a[j, i] * (i + 1)
    return total


@program(normal(4))
def triangular_nest(x):
    energy = 0.0
    for i in range(len(x)):
        for j in range(i):
            energy += 1 / (1 + (x[i] - x[j]) ** 2)
    return energy


@program(normal(3, 2), normal(2, 4, seed=1), wrt=(0, 1))
def triple_nest(a, b):
    product = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                product[i, j] += a[i, k] * b[k, j]
    return product


@program(normal(3, 4))
def break_out_of_inner(a):
    total = 0.0
    for row in a:
        for element in row:
            if element > 0.3:
                break
            total += element**2
        total = total * row[0]
    return total


@program(normal(3, 4))
def return_from_inner(a):
    total = 0.0
    for i in range(3):
        for j in range(4):
            total += a[i, j] ** 2
            if total > 1.0:
                return total * a[i, j]
    return total


@program(normal(4, 3))
def continue_and_break_nested(a):
    total = 1.0
    for i in range(4):
        if a[i, 0] < -5:
            continue
        for j in range(3):
            if j == i:
                continue
            if a[i, j] > 1.2:
                break
            total += a[i, j] * total * 0.1
        else:
            total *= 1.5
    return total


@program(normal(3, 3))
def else_at_both_depths(a):
    total = 1.0
    for i in range(3):
        for j in range(3):
            if a[i, j] > 1.0:
                total *= a[i, j]
                break
        else:
            total += np.sin(a[i, 0])
            continue
        total -= 0.5 * a[i, 1]
    else:
        total *= total
    return total


@program(uniform(4), 4)
def pascal_triangle_in_place(x, n):
    row = np.zeros(n + 1)
    row[0] = x[0]
    for i in range(n):
        for j in range(i + 1, 0, -1):
            row[j] = row[j] * x[i] + row[j - 1]
    return row


@program(normal(4, 3))
def ragged_inner_lengths(a):
    lengths = np.array([1, 3, 0, 2])
    state = np.zeros(4)
    for i, n in enumerate(lengths):
        value = 0.5
        for j in range(n):
            value = np.tanh(value + a[i, j])
        state[i] = value * a[i, 0]
    return state


@program(uniform(3))
def inner_bound_from_data(x):
    total = 0.0
    for i in range(len(x)):
        for k in range(int(3 * x[i]) + 1):
            total += x[i] ** k / (k + 1)
    return total


@program(normal(2, 3, 2))
def four_deep(a):
    total = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            for k in range(3):
                for m in range(2):
                    total[i, j] += a[i, k, m] * a[j, k, m] ** 2
    return total


@program(normal(4))
def found_by_flag(x):
    found = False
    result = 0.0
    for i in range(4):
        for j in range(4):
            if x[i] + x[j] > 0.4 and i != j:
                result = x[i] * x[j] ** 2
                found = True
                break
        if found:
            break
    return result * (1 + found)


@program(2.5, 3)
def while_in_for_in_while(x, n):
    total = 0.0
    while x > 0.7:
        for k in range(1, n):
            y = x
            while y > 1:
                y = y * 0.5
                if y < 0.55:
                    break
                total += y**k
            total += 0.1 * y
        x = x * 0.65
    return total
