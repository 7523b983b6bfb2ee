"""Lists of objects, or of texts beside numbers, in an order that run-time values decide."""

import heapq
from collections import Counter
from dataclasses import dataclass
from functools import total_ordering

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, vmap
from tests.corpus.differences import gradient

NAMES = ["ann", "bob", "cid", "dan"]
X = np.array([0.3, 0.9, 0.2, 0.5])


def ranking(x):
    scores = {name: x[k] ** 2 for k, name in enumerate(NAMES)}
    ranked = sorted(scores.items(), key=lambda pair: pair[1], reverse=True)
    best, value = ranked[0]
    total = 0.0
    for place, (name, score) in enumerate(ranked):
        total += score * (place + 1) * len(name)
        if name == "bob":
            total += 10 * place
    top = [name for name, _ in ranked[:2]]
    return total + value + 0.1 * scores[best] + ("cid" in top) + (top[0] < top[1])


@dataclass
class Team:
    name: str
    points: float = 0.0
    goals: float = 0.0


def league(x):
    """Objects that are changed through the sorted list, and read through the other."""
    teams = [Team(name) for name in NAMES]
    for i in range(4):
        for j in range(4):
            if i == j:
                continue
            lead = x[i] - x[j]
            if lead > 0.5:
                teams[i].points += 3
            elif lead > -0.5:
                teams[i].points += 1
            teams[i].goals += np.exp(lead)
    table = sorted(teams, key=lambda team: (-team.points, -team.goals))
    table[0].goals += 1
    gap = table[0].points - table[-1].points
    bonus = {"ann": 1.0, "bob": 2.0, "cid": 4.0, "dan": 3.0}
    total = gap + table[0].goals + bonus[table[0].name] * x[0] + teams[1].goals
    return total + sum(team.goals * k for k, team in enumerate(table))


class Individual:
    def __init__(self, x):
        self.x, self.age = x, 0

    def fitness(self, x):
        return -np.sum((self.x - x[:2]) ** 2)


def genetic(x):
    generator = np.random.default_rng(0)
    population = [Individual(generator.normal(size=2)) for _ in range(4)]
    for _ in range(3):
        population.sort(key=lambda one: one.fitness(x), reverse=True)
        for k, one in enumerate(population):
            one.age += k
        population[-1].x = 0.5 * (population[0].x + population[1].x) + 0.1
    best = max(population, key=lambda one: one.fitness(x))
    ages = sum(one.age * (k + 1) for k, one in enumerate(population))
    return best.fitness(x) + 0.1 * ages + sum(one.x[0] for one in population)


def word_counts(x):
    counts = Counter()
    for k, word in enumerate(["the", "cat", "sat", "on", "the", "mat"]):
        counts[word] += x[k % 4] * np.exp(-0.1 * k)
    (first, most), (_, second) = counts.most_common(2)
    worst = min(counts.items(), key=lambda pair: pair[1])
    large = [word for word, _ in heapq.nlargest(2, counts.items(), key=lambda pair: pair[1])]
    order = sorted(counts, key=counts.get)
    total = most + 2 * second + sum(n for _, n in counts.most_common()) + worst[1]
    return total + 0.1 * len(first) + ("sat" in large) + 0.3 * order.index("mat") + (worst[0] > "m")


def sectors(x):
    """Texts and integers beside the numbers that decide; ties are decided by texts."""
    rows = [(np.log(x[k]), name, k) for k, name in enumerate(NAMES)]
    rows.sort(reverse=True)
    places = {name: k for k, (_, name, _) in enumerate(sorted(rows, key=lambda row: row[0]))}
    records = sorted(({"n": n, "r": r} for r, n, _ in rows), key=lambda record: record["r"])
    beside = 0.1 * places["ann"] + 2 * (rows[0][1] == "dan") + min(rows)[2]
    return rows[0][0] - 2 * rows[-1][0] + beside + records[0]["r"] + len(records[1]["n"])


def records(x):
    """Dictionaries that are changed through one list, and read through another."""
    rows = [{"name": name, "score": x[k], "rank": 0} for k, name in enumerate(NAMES)]
    for place, row in enumerate(sorted(rows, key=lambda row: row["score"])):
        row["rank"] = place
        row["score"] *= 1 + place
    return sum(row["score"] * row["rank"] * len(row["name"]) * k for k, row in enumerate(rows))


class Card:
    """Compared by the user's method, with a text where numbers are equal."""

    def __init__(self, value, suit):
        self.value, self.suit = value, suit

    def __lt__(self, other):
        if abs(self.value - other.value) > 1e-9:
            return self.value < other.value
        return self.suit < other.suit


@total_ordering
class Rate:
    def __init__(self, k):
        self.k = k

    def __eq__(self, other):
        return self.k == other.k

    def __lt__(self, other):
        return self.k < other.k


def hands(x):
    hand = [Card(v, suit) for v, suit in zip(x, "cdhs", strict=True)]
    ordered = sorted(hand)
    hand.sort(reverse=True)
    rates = [Rate(v**2) for v in x]
    fast, slow = max(rates), min(rates)
    total = ordered[0].value - 2 * ordered[-1].value + (hand[0].suit == "h") + max(hand).value
    return total + fast.k - 3 * slow.k + sorted(rates)[1].k + (fast > slow)


PROGRAMS = [hands, records, ranking, league, genetic, word_counts, sectors]
OTHERS = [X, X[::-1] + 0.1, np.array([1.3, 0.1, 0.9, 0.4])]


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives(program):
    with tapeless.strict(True):
        compiled = jit(program)
        for x in (*OTHERS, np.full(4, 0.7)):  # the last ones are equal, and keep their order
            assert compiled(x) == pytest.approx(program(x), rel=1e-12)
        for x in OTHERS:
            expected = gradient(program, x, 1e-7)
            np.testing.assert_allclose(grad(program)(x), expected, rtol=1e-5, atol=1e-5)
        batch = np.stack(OTHERS)
        values = [program(x) for x in OTHERS]
        np.testing.assert_allclose(vmap(program)(batch), values, rtol=1e-12)


def test_one_program_serves_all_orders():
    compiled = jit(league)
    with tapeless.strict(True):
        for seed in range(20):
            x = np.random.default_rng(seed).normal(size=4)
            assert compiled(x) == pytest.approx(league(x), rel=1e-12)
    assert "not the traced way" not in compiled.source(X)
