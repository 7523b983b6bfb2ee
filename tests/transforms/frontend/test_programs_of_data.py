"""Programs as they are written, in which data says what containers hold."""

import heapq
from collections import Counter, defaultdict, deque

import numpy as np
import pytest

from tapeless import jit

# ruff: noqa: B905, E741, N803 (as users write it)

RNG = np.random.default_rng(0)
CENTRES = np.repeat([[0, 0], [2, 2], [0, 2]], 12, axis=0)
POINTS = RNG.normal(size=(36, 2)) * 0.2 + CENTRES
EDGES, WEIGHTS = RNG.integers(0, 8, (14, 2)), RNG.uniform(0.1, 1, 14)
LABELS = RNG.integers(0, 4, 50)
OTHERS = (LABELS + RNG.integers(0, 2, 50)) % 4
X = RNG.normal(size=60)


def dbscan(X, eps, min_pts):
    n = len(X)
    labels = [-1] * n
    cid = 0
    for i in range(n):
        if labels[i] != -1:
            continue
        nb = [j for j in range(n) if np.sum((X[i] - X[j]) ** 2) <= eps**2]
        if len(nb) < min_pts:
            continue
        labels[i] = cid
        seeds = list(nb)
        k = 0
        while k < len(seeds):
            j = seeds[k]
            if labels[j] == -1:
                labels[j] = cid
                nb2 = [m for m in range(n) if np.sum((X[j] - X[m]) ** 2) <= eps**2]
                if len(nb2) >= min_pts:
                    seeds.extend(nb2)
            k += 1
        cid += 1
    return np.array(labels), cid


def kmeans(X, k, iters):
    centers = [X[i].copy() for i in range(k)]
    for _ in range(iters):
        sums = [np.zeros(X.shape[1]) for _ in range(k)]
        counts = [0] * k
        for x in X:
            d = [np.sum((x - c) ** 2) for c in centers]
            j = int(np.argmin(d))
            sums[j] += x
            counts[j] += 1
        centers = [s / c if c > 0 else m for s, c, m in zip(sums, counts, centers)]
    return np.array(centers)


def dijkstra(edges, w, src):
    graph = defaultdict(list)
    for (a, b), c in zip(edges, w):
        graph[a].append((b, c))
        graph[b].append((a, c))
    dist = {src: 0.0}
    heap = [(0.0, src)]
    done = set()
    while heap:
        d, u = heapq.heappop(heap)
        if u in done:
            continue
        done.add(u)
        for v, c in graph[u]:
            nd = d + c
            if v not in dist or nd < dist[v]:
                dist[v] = nd
                heapq.heappush(heap, (nd, v))
    return sum(dist.values())


def histogram(x, width):
    h = defaultdict(int)
    for v in x:
        h[int(v // width)] += 1
    keys = sorted(h)
    return np.array(keys), np.array([h[k] for k in keys])


def entropy(labels):
    c = Counter(labels.tolist())
    n = len(labels)
    return -sum((v / n) * np.log(v / n) for v in c.values())


def mutual_info(a, b):
    joint = Counter(zip(a.tolist(), b.tolist()))
    ca, cb, n = Counter(a.tolist()), Counter(b.tolist()), len(a)
    return sum(v / n * np.log(v * n / (ca[i] * cb[j])) for (i, j), v in joint.items())


def naive_bayes(X, y, q):
    groups = {}
    for row, l in zip(X, y):
        groups.setdefault(int(l), []).append(row)
    best, top = -1, -np.inf
    for l, rows in groups.items():
        r = np.array(rows)
        mu, sd = r.mean(axis=0), r.std(axis=0) + 1e-3
        ll = np.log(len(rows) / len(X)) - np.sum(np.log(sd)) - 0.5 * np.sum(((q - mu) / sd) ** 2)
        if ll > top:
            best, top = l, ll
    return best, top


def pagerank(edges, n, iters):
    out = defaultdict(list)
    for a, b in edges:
        out[a].append(b)
    r = np.ones(n) / n
    for _ in range(iters):
        new = np.full(n, 0.15 / n)
        for a in range(n):
            if a in out:
                for b in out[a]:
                    new[b] += 0.85 * r[a] / len(out[a])
        r = new
    return r


def peaks(x, gap):
    found = []
    for i in range(1, len(x) - 1):
        if x[i] > x[i - 1] and x[i] > x[i + 1]:
            if found and i - found[-1] < gap:
                if x[i] > x[found[-1]]:
                    found[-1] = i
            else:
                found.append(i)
    return found


def spikes(v, th):
    trains, t = defaultdict(list), 0
    for t in range(v.shape[0]):
        for n in np.where(v[t] > th)[0]:
            trains[n].append(t)
    return {int(k): np.mean(np.diff(s)) if len(s) > 1 else 0.0 for k, s in trains.items()}


def ising_clusters(s):
    n = len(s)
    label = np.zeros((n, n), int)
    sizes = {}
    cur = 0
    for i in range(n):
        for j in range(n):
            if label[i, j] == 0:
                cur += 1
                q = deque([(i, j)])
                label[i, j] = cur
                sizes[cur] = 0
                while q:
                    a, b = q.popleft()
                    sizes[cur] += 1
                    for da, db in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                        c, d = (a + da) % n, (b + db) % n
                        if label[c, d] == 0 and s[c, d] == s[i, j]:
                            label[c, d] = cur
                            q.append((c, d))
    return max(sizes.values()), len(sizes)


CASES = [
    (dbscan, (POINTS, 0.4, 3)),
    (kmeans, (POINTS, 3, 5)),
    (dijkstra, (EDGES, WEIGHTS, 0)),
    (histogram, (X, 0.5)),
    (entropy, (LABELS,)),
    (mutual_info, (LABELS, OTHERS)),
    (naive_bayes, (POINTS, np.repeat([0, 1, 2], 12), np.array([1.8, 1.9]))),
    (pagerank, (EDGES, 8, 5)),
    (peaks, (X, 4)),
    (spikes, (RNG.normal(size=(40, 5)), 1.0)),
    (ising_clusters, (np.sign(RNG.normal(size=(6, 6))),)),
]


def alike(a, b):
    if isinstance(a, tuple):
        return all(map(alike, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(np.isclose(a[k], b[k], rtol=1e-12) for k in a)
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize(("function", "args"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_values(function, args):
    call = jit(function)
    assert alike(function(*args), call(*args))
    first = args[0][::-1].copy()  # the same code for other contents
    assert alike(function(first, *args[1:]), call(first, *args[1:]))
