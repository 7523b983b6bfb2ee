"""Lists in a list, of which data says which one grows: cells, bins, graphs."""

import numpy as np

from tests.corpus import program

# ruff: noqa: PERF401 (loops that fill lists are what is tested)

RNG = np.random.default_rng(3)
X = RNG.uniform(0.05, 0.95, 9)
POINTS = RNG.uniform(0.05, 0.95, (8, 2))
EDGES = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [0, 4], [1, 3]])
WEIGHTS = RNG.uniform(0.1, 1.0, (5, 5))
TRIANGLES = np.array([[0, 1, 2], [1, 2, 3], [2, 3, 4], [0, 2, 4]])


@program(WEIGHTS[0], second=False)
def sums_over_neighbours(w):
    neighbours = [[] for _ in range(5)]
    for k in range(len(w)):
        i, j = EDGES[k]
        neighbours[i].append((j, w[k]))
        neighbours[j].append((i, w[k]))
    total = 0.0
    for i in range(5):
        for j, v in neighbours[i]:
            total += v**2 * (j + 1) * (i + 2)
    return total


@program(POINTS)
def energy_by_cells(p):
    n, e = 3, 0.0
    cells = [[[] for _ in range(n)] for _ in range(n)]
    for i in range(len(p)):
        cells[min(int(p[i, 0] * n), n - 1)][min(int(p[i, 1] * n), n - 1)].append(i)
    for i in range(len(p)):
        a, b = min(int(p[i, 0] * n), n - 1), min(int(p[i, 1] * n), n - 1)
        for c in range(max(a - 1, 0), min(a + 2, n)):
            for d in range(max(b - 1, 0), min(b + 2, n)):
                for j in cells[c][d]:
                    if j > i:
                        e += np.exp(-10 * np.sum((p[i] - p[j]) ** 2))
    return e


@program(X)
def means_of_bins(x):
    bins = [[] for _ in range(4)]
    for v in x:
        bins[int(4 * v)].append(v)
    return np.array([np.mean(row) ** 2 if len(row) > 0 else 0.0 for row in bins])


@program(X)
def as_many_bins_as_numbers(x):
    bins = [[] for _ in range(len(x))]
    for k, v in enumerate(x):
        bins[int(v * len(x))].append((k, v))
    s = 0.0
    for i, row in enumerate(bins):
        for k, v in row:
            s += v**2 * (k + i)
    return s


@program(X)
def taken_back_one_by_one(x):
    bins = [[], [], [], []]
    for v in x:
        bins[int(4 * v)].append(v)
    t = 0.0
    for k in range(4):
        while bins[k]:
            t = t * 0.9 + bins[k].pop() ** 2
    return t


@program(X)
def sorted_bins(x):
    bins = [[] for _ in range(4)]
    for v in x:
        bins[int(4 * v)].append(v)
    for row in bins:
        row.sort()
    return sum(row[0] ** 2 * (k + 1) for k, row in enumerate(bins) if row)


@program(X)
def steps_from_the_last_one(x):
    bins, s = [list() for _ in range(4)], 0.0  # noqa: C408
    for v in x:
        k = int(4 * v)
        if bins[k]:
            s += (v - bins[k][-1]) ** 2
        bins[k].append(v)
    return s


@program(X)
def emptied_when_full(x):
    bins, s = [[] for _ in range(4)], 0.0
    for v in x:
        k = int(4 * v)
        bins[k] += [v, v * 2]
        if len(bins[k]) > 3:
            s += sum(bins[k]) ** 2
            bins[k] = []
    return s + sum(len(row) * sum(row) for row in bins)


@program(WEIGHTS)
def shortest_paths(w):
    n = len(w)
    after = [[] for _ in range(n)]
    for i in range(n):
        for j in range(n):
            if w[i, j] > 0.5:
                after[i].append((j, w[i, j]))
    far = np.full(n, 9.0)
    far[0] = 0.0
    queue = [0]
    while queue:
        u = queue.pop(0)
        for v, c in after[u]:
            if far[u] + c < far[v]:
                far[v] = far[u] + c
                queue.append(v)
    return np.sum(far**2)


@program(WEIGHTS)
def longest_path_in_order(w):
    n = len(w)
    after, before = [[] for _ in range(n)], [0] * n
    for i in range(n):
        for j in range(i + 1, n):
            if w[i, j] > 0.4:
                after[i].append(j)
                before[j] += 1
    ready = [i for i in range(n) if before[i] == 0]
    longest = [0.0] * n
    while ready:
        u = ready.pop()
        for v in after[u]:
            longest[v] = max(longest[v], longest[u] + w[u, v] ** 2)
            before[v] -= 1
            if before[v] == 0:
                ready.append(v)
    return max(longest)


@program(RNG.uniform(size=(5, 2)))
def elements_around_nodes(nodes):
    around = [[] for _ in range(len(nodes))]
    for e in range(len(TRIANGLES)):
        for n in TRIANGLES[e]:
            around[n].append(e)
    area = np.zeros(len(TRIANGLES))
    for e in range(len(TRIANGLES)):
        a, b, c = nodes[TRIANGLES[e]]
        area[e] = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]))
    s = 0.0
    for n in range(len(nodes)):
        s += np.mean([area[e] for e in around[n]]) ** 2 * n
    return s


class Grid:
    def __init__(self, n):
        self.n, self.cells = n, [[] for _ in range(n)]

    def add(self, v):
        self.near(v).append(v)

    def near(self, v):
        return self.cells[int(self.n * v)]


@program(X)
def bins_of_an_object(x):
    grid = Grid(4)
    for v in x:
        grid.add(v)
    return sum(sum(grid.near(v)) * v for v in x)


@program(X)
def rows_that_hold_arrays(x):
    bins = [[] for _ in range(4)]
    for v in x:
        bins[int(4 * v)].append(np.array([v, v * 2]))
    return sum(np.sum(row[0] ** 2) for row in bins if row)


@program(X)
def made_anew_in_each_step(x):
    s = 0.0
    for t in range(3):
        bins = [[] for _ in range(4)]
        for v in x * (1 - 0.2 * t):
            bins[int(4 * v)].append(v)
        s += sum(sum(row) ** 2 for row in bins)
    return s


@program(WEIGHTS[0] + 0.5)
def connected_components(w):
    n = len(EDGES)
    seen, found = [False] * n, []
    for start in range(n):
        if not seen[start]:
            part, stack = [], [start]
            seen[start] = True
            while stack:
                u = stack.pop()
                part.append(u)
                for k in range(len(w)):
                    a, b = EDGES[k]
                    if w[k] > 0.8 and a == u and not seen[b]:
                        seen[b] = True
                        stack.append(int(b))
            found.append(part)
    return sum(len(p) * (k + 1) * w[p[0] % len(w)] ** 2 for k, p in enumerate(found))


@program(X)
def runs_that_rise(x):
    groups, run = [], []
    for v in x:
        if run and v < run[-1]:
            groups.append(run)
            run = []
        run.append(v)
    groups.append(run)
    return sum(len(g) * np.prod(np.array(g)) * (k + 1) for k, g in enumerate(groups))


@program(X)
def segments_of_near_numbers(x):
    groups, run = [], [x[0]]
    for v in x[1:]:
        if abs(v - run[-1]) < 0.3:
            run.append(v)
        else:
            groups.append(run)
            run = [v]
    groups.append(run)
    longest = max(groups, key=len)
    return np.mean(longest) * len(groups) + sum(g[-1] ** 2 for g in groups)


@program(X)
def emptied_when_it_is_full(x):
    sums, part = [], []
    for v in x:
        part.append(v)
        if sum(part) > 1.0:
            sums.append(sum(part) ** 2)
            part = []
    return sum((k + 1) * s for k, s in enumerate(sums)) + sum(part)


@program(X)
def groups_that_get_more(x):
    groups, centres = [], []
    for v in x:
        home = -1
        for k in range(len(centres)):
            if abs(centres[k] - v) < 0.2:
                home = k
                break
        if home < 0:
            groups.append([v])
            centres.append(v)
        else:
            groups[home].append(v)
            centres[home] = sum(groups[home]) / len(groups[home])
    return sum(c * c * len(g) for c, g in zip(centres, groups))
