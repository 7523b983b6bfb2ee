"""Deques that grow and shrink as data says, arrays without axes, factorisations of parts."""

from collections import deque

import numpy as np

from tests.corpus import definite, normal, program, uniform


@program(normal(7), 3)
def sliding_maximum(x, width):
    candidates, total = deque(), 0.0
    for i in range(len(x)):
        while candidates and x[candidates[-1]] <= x[i]:
            candidates.pop()
        candidates.append(i)
        if candidates[0] <= i - width:
            candidates.popleft()
        if i >= width - 1:
            total += (i + 1) * x[candidates[0]] ** 2
    return total


LINKS = np.array([[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]])


@program(uniform(4), LINKS)
def breadth_first(weights, links):
    steps = np.full(len(weights), -1)
    steps[0] = 0
    waiting, total = deque([0]), 0.0
    while waiting:
        here = waiting.popleft()
        total += weights[here] ** 2 * (steps[here] + 1)
        for other in range(len(weights)):
            if links[here, other] and steps[other] < 0:
                steps[other] = steps[here] + 1
                waiting.append(other)
    return total


@program(normal(6))
def window_of_three(x):
    window, total = deque(maxlen=3), 0.0
    for v in x:
        window.append(v * v)
        total += sum(window) / len(window) * v
    return total


@program(normal(6))
def both_ends(x):
    held = deque()
    for v in x:
        if v > 0:
            held.appendleft(v)
        else:
            held.append(v * v)
    held.rotate(1)
    total, k = 0.0, 1
    while held:
        total += k * held.popleft()
        k += 1
    return total


class RunningMean:
    def __init__(self, n):
        self.recent, self.total = deque(maxlen=n), 0.0

    def push(self, v):
        if len(self.recent) == self.recent.maxlen:
            self.total -= self.recent[0]
        self.recent.append(v)
        self.total += v
        return self.total / len(self.recent)


@program(normal(5))
def deque_of_an_object(x):
    mean, total = RunningMean(2), 0.0
    for k, v in enumerate(x):
        total += mean.push(v**2) * (k + 1)
    return total


@program(normal(6))
def lists_by_data_joined(x):
    low, high = [], []
    for v in x:
        if v > 0:
            high.append(v * v)
        else:
            low.append(v)
    whole = low + high
    whole += low
    return sum((k + 1) * v for k, v in enumerate(whole)) + len(whole)


@program(normal(4), 0.7)
def array_without_axes(x, v):
    total = np.zeros(())
    same = total
    for k in range(len(x)):
        total += x[k] * v
        if k == 2:
            same[...] = same * v
    same[()] += v
    return same * total


@program(definite(3))
def factors_of_leading_parts(a):
    n, total = 3, 0.0
    while n > 1:
        q, r = np.linalg.qr(a[:n, :n])
        total += r[0, 0] * q[0, -1] * (a.nbytes // a.itemsize)
        n -= 1
    return total


@program(normal(4), 3)
def none_until_filled(x, n):
    squares = [None] * n
    for k in range(n):
        squares[k] = (k + 1) * x[k] ** 2
    return sum(squares) + squares[-1]


@program(uniform(6))
def served_in_order(x):
    now, waiting, waited = 0.0, [], 0.0
    for v in x:
        now += v
        waiting.append(now)
        while waiting and waiting[0] + 1.3 < now:
            waited += (now - waiting.pop(0)) ** 2
    return waited + len(waiting) * now


@program(uniform(4))
def drained(x):
    weights, total = [x[0], x[1], x[2]], 0.0
    while weights and total < 2.1:
        total += weights.pop() ** 2
    return total + len(weights) * x[3]
