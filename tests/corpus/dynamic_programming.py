"""Tables filled by recurrences, with soft minima where the hard ones have kinks."""

import numpy as np

from tests.corpus import normal, program, uniform


def softmin(*values, width=0.3):
    stacked = np.array(values)
    low = np.min(stacked)
    return low - width * np.log(np.sum(np.exp((low - stacked) / width)))


@program(normal(4), normal(5, seed=1), wrt=(0, 1))
def soft_time_warping(x, y):
    m, n = len(x), len(y)
    table = np.full((m + 1, n + 1), 1e3)
    table[0, 0] = 0.0
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            table[i, j] = cost + softmin(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[m, n]


@program(normal(4), normal(3, seed=1), wrt=(0, 1))
def hard_time_warping(x, y):
    table = np.full((5, 4), np.inf)
    table[0, 0] = 0.0
    for i in range(4):
        for j in range(3):
            best = min(table[i, j], table[i, j + 1], table[i + 1, j])
            table[i + 1, j + 1] = best + (x[i] - y[j]) ** 2
    return table[-1, -1]


@program(0.7, 1.2, "karma", "drama", wrt=(0, 1))
def softened_edit_distance(replace, insert, first, second):
    previous = [j * insert for j in range(len(second) + 1)]
    for i, a in enumerate(first, start=1):
        current = [i * insert]
        for j, b in enumerate(second, start=1):
            change = previous[j - 1] + (0.0 if a == b else replace)
            current.append(softmin(change, previous[j] + insert, current[-1] + insert))
        previous = current
    return previous[-1]


@program(normal(4, 3), normal(3, 3, seed=1), wrt=(0, 1))
def soft_viterbi(scores, transition):
    best = scores[0]
    for t in range(1, len(scores)):
        candidates = best[:, None] + transition
        top = candidates.max(axis=0)
        best = scores[t] + top + np.log(np.exp(candidates - top).sum(axis=0))
    return best


@program(normal(4, 3), normal(3, 3, seed=1), wrt=(0, 1))
def viterbi_with_back_pointers(scores, transition):
    best = scores[0].copy()
    pointers = np.zeros((4, 3), dtype=int)
    for t in range(1, 4):
        candidates = best[:, None] + transition
        pointers[t] = np.argmax(candidates, axis=0)
        best = candidates.max(axis=0) + scores[t]
    state = np.argmax(best)
    total = 0.0
    for t in range(3, -1, -1):
        total += scores[t, state] ** 2
        state = pointers[t, state]
    return total + best.max()


@program(uniform(4, low=1.0, high=3.0), np.array([1, 2, 3, 1]), 4)
def knapsack(values, weights, capacity):
    best = np.zeros(capacity + 1)
    for value, weight in zip(values, weights):
        for room in range(capacity, weight - 1, -1):
            best[room] = max(best[room], best[room - weight] + value)
    return best


@program(uniform(5, low=1.0, high=4.0))
def matrix_chain_cost(sizes):
    n = len(sizes) - 1
    cost = np.zeros((n, n))
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            ends = sizes[i] * sizes[j + 1]
            cost[i, j] = min(
                [cost[i, k] + cost[k + 1, j] + ends * sizes[k + 1] for k in range(i, j)]
            )
    return cost[0, n - 1]


@program(uniform(4, 4))
def shortest_paths(lengths):
    d = lengths + 5 * (1 - np.eye(4)) * np.array(
        [[0, 1, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 0]]
    )
    for k in range(4):
        for i in range(4):
            for j in range(4):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


@program(normal(3, 4))
def path_through_grid(cost):
    total = cost.copy()
    for j in range(1, 4):
        total[0, j] += total[0, j - 1]
    for i in range(1, 3):
        total[i, 0] += total[i - 1, 0]
        for j in range(1, 4):
            total[i, j] += softmin(total[i - 1, j], total[i, j - 1])
    return total[-1, -1]


@program(uniform(3), uniform(3, 3, seed=1), 0.9, wrt=(0, 1, 2))
def value_iteration(rewards, moves, discount):
    chances = moves / moves.sum(axis=1, keepdims=True)
    values = np.zeros(3)
    for _ in range(4):
        stay = rewards + discount * values
        go = 0.2 + discount * chances @ values
        values = np.maximum(stay, go)
    return values


@program(100.0, 0.2, 5, wrt=(0, 1))
def binomial_option(spot, volatility, n):
    up = np.exp(volatility * np.sqrt(1 / n))
    chance = (np.exp(0.03 / n) - 1 / up) / (up - 1 / up)
    values = np.maximum(101 - spot * up ** (2.0 * np.arange(n + 1) - n), 0.0)
    for step in range(n - 1, -1, -1):
        values = np.exp(-0.03 / n) * (chance * values[1:] + (1 - chance) * values[:-1])
        exercise = 101 - spot * up ** (2.0 * np.arange(step + 1) - step)
        values = np.maximum(values, exercise)
    return values[0]


@program(normal(4), 0.6)
def longest_run_softened(x, width):
    run, best = 0.0, 0.0
    for value in x:
        run = np.log1p(np.exp((run + value) / width)) * width
        best = -softmin(-best, -run)
    return best
