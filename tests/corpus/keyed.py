"""Dictionaries and sets whose keys depend on data: counts, groups, cells, visited nodes."""

from collections import Counter, defaultdict

import numpy as np

from tests.corpus import program

# ruff: noqa: SIM401, B023 (as users write it)

RNG = np.random.default_rng(8)
X = RNG.normal(size=10) * 2
LABELS = RNG.integers(0, 4, 10) * 3
POINTS = RNG.uniform(0.05, 2.0, (9, 2))
MASSES = {1: 1.008, 6: 12.011, 7: 14.007, 8: 15.999}
ATOMS = np.array([1, 8, 6, 1, 7, 7, 1, 6, 8, 1])
STRENGTHS = {(0, 0): 1.0, (0, 1): 2.0, (1, 1): 3.5}
MANY = {3 * k: 0.5 * k for k in range(60)}
EDGES = np.array([[0, 1], [1, 2], [5, 3], [3, 4], [0, 2], [6, 4]])
SHARES = RNG.uniform(0.05, 1.0, 8)
COLOURS = ("red", "blue", "red", "green", "blue", "red", "blue", "green")


@program(X)
def sums_by_label(x):
    sums, counts = {}, {}
    for v, label in zip(x, LABELS):
        if label not in sums:
            sums[label] = 0.0
            counts[label] = 0
        sums[label] += v
        counts[label] += 1
    return sum((sums[k] / counts[k]) ** 2 for k in sums)


@program(X)
def sums_by_floor(x):
    sums = {}
    for v in x:
        k = int(np.floor(v))
        sums[k] = sums.get(k, 0.0) + v * v
    return sum((n + 1) * sums[k] for n, k in enumerate(sorted(sums)))


@program(POINTS)
def energy_of_cells_in_a_dict(p):
    h, e = 0.6, 0.0
    cells = defaultdict(list)
    for i in range(len(p)):
        cells[int(p[i, 0] // h), int(p[i, 1] // h)].append(i)
    for (a, b), members in cells.items():
        for da in (-1, 0, 1):
            for db in (-1, 0, 1):
                for i in members:
                    for j in cells.get((a + da, b + db), []):
                        if i < j:
                            d = p[i] - p[j]
                            if d @ d < h * h:
                                e += (h * h - d @ d) ** 2
    return e


@program(X)
def means_of_groups(x):
    groups = {}
    for v, label in zip(x, LABELS):
        groups.setdefault(int(label), []).append(v)
    return sum(k * np.mean(g) ** 2 for k, g in groups.items())


@program(X)
def looked_up_in_a_table(x):
    total = 0.0
    for v, z in zip(x, ATOMS):
        total += MASSES[z] * v**2
    return total


@program(X)
def looked_up_by_pairs(x):
    e = 0.0
    for i in range(len(x)):
        for j in range(i):
            a, b = int(x[i] > 0), int(x[j] > 0)
            e += STRENGTHS[min(a, b), max(a, b)] * x[i] * x[j] + STRENGTHS.get((b, a), 0.5) * x[j]
    return e


@program(X)
def looked_up_among_many(x):
    return sum(MANY.get(int(10 * abs(v)), -1.0) * v for v in x)


@program(X)
def what_is_missing_is_caught(x):
    total = 0.0
    for v in x:
        try:
            total += MASSES[int(abs(2 * v))] * v
        except KeyError:
            total += 100.0 * v
    return total


@program(X)
def a_table_that_the_function_makes(x):
    weights = {0: 2.0, 3: x[0], 9: x[1] ** 2}
    weights[6] = x[2]
    return sum(weights[k] * v for k, v in zip(LABELS, x) if k in weights)


@program(X)
def a_table_that_changes(x):
    weights = {0: 2.0, 3: x[0], 6: 1.0, 9: x[1] ** 2}
    total = 0.0
    for k, v in zip(LABELS, x):
        total += weights[k] * v
        weights[k] = 0.5 * weights[k] + v
    return total + sum(weights.values())


@program(X)
def shares_of_groups(x):
    found = {int(k): v for k, v in zip(LABELS, x**2)}
    total = sum(found.values())
    shares = {k: v / total for k, v in found.items()}
    return sum(k * v for k, v in shares.items())


@program(X)
def the_largest_group(x):
    sums = {}
    for v in x:
        k = int(v)
        sums[k] = sums.get(k, 0.0) + abs(v)
    best = max(sums, key=sums.get)
    name, value = max(sums.items(), key=lambda item: item[1])
    return sums[best] * (1 + best) + value * name


@program(X)
def found_before(x):
    seen = {}
    for i, v in enumerate(x):
        k = int(2 * v)
        if k in seen:
            return v * (i - seen[k])
        seen[k] = i
    return -1.0 * x[0]


@program(X)
def taken_out_again(x):
    there = {}
    for v in x:
        k = int(v)
        if k in there:
            del there[k]
        else:
            there[k] = v
    return sum((n + 1) * k * v for n, (k, v) in enumerate(there.items()))


@program(X)
def popped_with_a_default(x):
    there = {}
    total = 0.0
    for v in x:
        total += there.pop(int(v), 0.5) * v
        there[int(v)] = v
    return total + len(there)


@program(X)
def vectors_by_label(x):
    sums = {}
    for k, v in zip(LABELS, x):
        if k not in sums:
            sums[k] = np.zeros(3)
        sums[k][k % 3] += v
        sums[k] += np.array([1.0, v, v * v])
    return sum(np.sum(s**2) * (1 + k) for k, s in sums.items())


@program(X)
def tuples_by_label(x):
    found = {}
    for k, v in zip(LABELS, x):
        found[k] = (v, v * v)
    return sum(k * a + b for k, (a, b) in found.items())


@program(X)
def visited_nodes(x):
    visited, stack, total = set(), [0], 0.0
    while stack:
        node = stack.pop()
        if node in visited:
            continue
        visited.add(node)
        total += x[node] * (len(visited) + 1)
        for a, b in EDGES:
            if a == node and x[b] > -2.5 and b not in visited:
                stack.append(int(b))
            if b == node and x[a] > -2.5 and a not in visited:
                stack.append(int(a))
    return total


@program(X)
def distances_in_a_graph(x):
    distance, queue = {0: 0.0}, [0]
    while queue:
        node = queue.pop(0)
        for a, b in EDGES:
            if a == node and b not in distance:
                distance[int(b)] = distance[node] + x[b] ** 2
                queue.append(int(b))
    return sum(distance.values())


@program(X)
def parents_of_sets(x):
    parent = {i: i for i in range(7)}

    def find(i):
        while parent[i] != i:
            i = parent[i]
        return i

    total = 0.0
    for k, (a, b) in enumerate(EDGES):
        if x[k] > -1.0:
            a, b = find(a), find(b)
            if a != b:
                parent[a] = b
                total += x[k] ** 2
    return total


@program(X)
def sets_of_data(x):
    a, b = {int(v) for v in x}, set(LABELS.tolist())
    c = a | b
    c -= {0}
    members = sorted(a & b)
    return x * len(c) + sum(members) - len(a - b) * 10 + len(a ^ b) + (3 in c)


@program(X)
def members_of_a_known_set(x):
    return sum(v if int(v) in {0, 2, -1} else 2 * v for v in x)


@program(X)
def counted(x):
    counts = Counter(int(v) for v in x)
    value, n = counts.most_common(1)[0]
    return x * n + value * len(counts) + counts[77]


@program(X)
def counters_by_hand(x):
    counts = defaultdict(int)
    sums = defaultdict(float)
    for v in x:
        counts[v > 0] += 1
        sums[v > 0, int(v) % 2] += v
    return sum(s * s for s in sums.values()) / (1 + counts[True])


@program(X)
def as_long_as_the_keys(x):
    d = dict.fromkeys(range(-9, 10), 0.0)
    for v in x:
        d[int(v)] += v
    return sum((k + 10) * v**2 for k, v in d.items())


class Cache:
    def __init__(self):
        self.values = {}

    def square(self, x, k):
        if k not in self.values:
            self.values[k] = x[k] ** 2
        return self.values[k]


@program(X)
def a_cache_of_an_object(x):
    cache = Cache()
    total = 0.0
    for k in LABELS:
        total += cache.square(x, k) * (1 + k)
    return total + len(cache.values)


@program(X)
def rounded_numbers_as_keys(x):
    d = {}
    for v in x:
        d[round(v, 0)] = v
    return sum(d.values())


def votes_of_nearest(x):
    votes = {}
    for i in np.argsort(x)[:4]:
        votes[COLOURS[i]] = votes.get(COLOURS[i], 0) + 1 / x[i]
    return votes


@program(SHARES)
def vote_of_the_nearest(x):
    votes = votes_of_nearest(x)
    winner = max(votes, key=votes.get)
    return votes[winner] * len(winner)


@program(SHARES)
def texts_in_the_order_in_which_they_came(x):
    total = 0.0
    for place, (colour, vote) in enumerate(votes_of_nearest(x).items()):
        total += (place + 1) * vote * len(colour)
    return total


@program(SHARES)
def a_text_taken_out_and_put_in_again(x):
    votes = votes_of_nearest(x)
    if x[0] > 0.5:
        votes.pop("red", None)
        votes["red"] = 1.0
    total = 1.0
    for colour in votes:
        total = total * 0.5 + votes[colour]
    return total


@program(SHARES)
def votes_by_size(x):
    ordered = sorted(votes_of_nearest(x).items(), key=lambda item: -item[1])
    return ordered[0][1] + 0.1 * ordered[-1][1]


@program(SHARES)
def most_common_text(x):
    colour, count = Counter(COLOURS[i] for i in np.argsort(x)[:3]).most_common(1)[0]
    return count * sum(x[i] for i in range(8) if COLOURS[i] == colour)


@program(SHARES)
def means_by_parity(x):
    groups = defaultdict(list)
    for i, v in enumerate(x):
        groups["even" if int(v * 10) % 2 == 0 else "odd"].append(i)
    means = {parity: np.mean([x[i] for i in places]) for parity, places in groups.items()}
    return sum(m**2 for m in means.values())


@program(SHARES)
def letters_at_places_of_data(x):
    total = 0.0
    for v in x:
        base = "ACGT"[int(v * 4) % 4]
        total += v if base in "GC" else -v * "ACGT".index(base)
    return total
