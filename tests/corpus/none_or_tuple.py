"""Tuples, and numbers in containers, that are None at first, or for some data."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tests.corpus import program

X = np.array([0.126, -0.132, 0.64, 0.105, -0.536])


class Place(NamedTuple):
    i: object
    v: object


@dataclass
class Track:
    last: object = None
    n: int = 0


@program(X)
def least_from_none_and_infinity(x):
    best = (None, np.inf)
    for i, v in enumerate(x):
        if v < best[1]:
            best = (i, v)
    return best[1] * 2 + best[0] * best[1]


@program(X)
def greatest_in_a_dict_that_begins_with_none(x):
    best = {"i": None, "v": -np.inf}
    for i, v in enumerate(x):
        if v > best["v"]:
            best = {"i": i, "v": v}
    return best["i"] * best["v"] ** 2


@program(X)
def least_in_a_list_that_begins_with_none(x):
    best = [None, np.inf]
    for i, v in enumerate(x):
        if v < best[1]:
            best = [i, v]
    return best[1] * 2 + best[0] * best[1]


def root(a, b, c):
    d = b * b - 4 * a * c
    if d < 0:
        return None
    return (-b - np.sqrt(d)) / (2 * a), (-b + np.sqrt(d)) / (2 * a)


@program(X)
def roots_where_there_are_some(x):
    total = 0.0
    for v in x:
        r = root(1.0, v, 0.05)
        if r is None:
            continue
        p, q = r
        total += p * q * v
    return total


@program(X)
def roots_until_there_are_none(x):
    total = 0.0
    for v in x:
        r = root(1.0, v, 0.003)
        if r is None:
            break
        p, q = r
        total += p * q * v
    return total


@program(X)
def a_root_that_may_be_none_is_asked_for_its_truth(x):
    def root(a, b, c):
        d = b * b - 4 * a * c
        if d < 0:
            return None
        return -b - np.sqrt(d)

    total = 0.0
    for v in x:
        r = root(1.0, v, 0.05)
        if not r:
            continue
        total += r * v
    return total


@program(X)
def least_of_tuples(x):
    best = None
    for v in x:
        cand = (v * v, v)
        if best is None or cand < best:
            best = cand
    return best[1]


@program(X)
def a_change_of_sign_if_there_is_one(x):
    hit = None
    for i in range(len(x) - 1):
        if x[i] * x[i + 1] < 0:
            hit = (x[i], x[i + 1])
            break
    if hit is None:
        return 0.0
    lo, hi = hit
    return lo * 3 + hi


@program(X)
def a_ray_hits_a_sphere(x):
    # ray-sphere
    def hit(o, d):
        b = np.dot(o, d)
        c = np.dot(o, o) - 1.0
        disc = b * b - c
        if disc < 0:
            return None
        t = -b - np.sqrt(disc)
        if t < 0:
            return None
        p = o + t * d
        return t, p

    col = np.zeros(3)
    for i in range(4):
        d = np.array([x[0] + 0.1 * i, x[1], 1.0])
        d = d / np.sqrt(np.sum(d**2))
        r = hit(np.array([0.0, 0.2 * i, -3.0]), d)
        if r is not None:
            t, p = r
            col += p * t
    return col


@program(X)
def closest_of_those_that_are_positive(x):
    closest = None
    for k, v in enumerate(x):
        r = (k, v) if v > 0 else None
        if r and (closest is None or r[1] < closest[1]):
            closest = r
    return closest[1] * closest[0] if closest else 0.0


@program(X)
def a_named_tuple_that_begins_with_none(x):
    best = Place(None, np.inf)
    for i, v in enumerate(x):
        if v < best.v:
            best = Place(i, v)
    return x[best.i] * 2


@program(X)
def closest_pair(x):
    hit = None
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            d = (x[i] - x[j]) ** 2
            if d > 0.01 and (hit is None or d < hit[0]):
                hit = (d, i, j)
    d, i, j = hit
    return d + x[i] * x[j]


@program(X)
def an_array_in_a_tuple_that_may_be_none(x):
    w = x.copy()
    r = None
    for i in range(len(x)):
        if x[i] > 0.1:
            r = (w, i)
    w[0] = 7.0
    arr, k = r
    return arr[0] + arr[k]


@program(X)
def a_new_array_in_a_tuple_that_may_be_none(x):
    r = None
    for i in range(len(x)):
        if x[i] > 0.1:
            r = (x * x[i], i)
    arr, k = r
    arr[0] = 3.0
    return np.sum(r[0]) + arr[k]


@program(X)
def the_two_least(x):
    lo = (None, None)
    for v in x:
        a, b = lo
        if a is None or v < a:
            lo = (v, a)
        elif b is None or v < b:
            lo = (a, v)
    return lo[0] * lo[1]


@program(X)
def the_last_one_in_a_dict(x):
    state = {"last": None, "n": 0}
    total = 0.0
    for v in x:
        if v > 0:
            if state["last"] is not None:
                total += v * state["last"]
            state["last"] = v
            state["n"] += 1
    return total + state["n"]


@program(X)
def the_last_one_in_an_object(x):
    s = Track()
    total = 0.0
    for v in x:
        if v > 0:
            if s.last is not None:
                total += v * s.last
            s.last = v
            s.n += 1
    return total + s.n


@program(X)
def brackets_of_three_kinds(x):
    def bracket(v):
        if v < 0:
            return None
        if v > 0.5:
            return v, 1.0
        return 0.0, v

    s = 0.0
    for v in x:
        br = bracket(v)
        if br is not None:
            lo, hi = br
            s += lo * hi + hi**2
        else:
            s -= v
    return s


@program(X)
def found_by_a_function(x):
    def find(v):
        for k in range(len(x)):
            if x[k] == v:
                return k, x[k]

    r = find(x[2])
    return r[1] ** 2 if r else 0.0


@program(X)
def best_of_a_while_loop(x):
    best = None
    k = 0
    while k < 5 and np.sum(x) < 10:
        v = x[k]
        if v > 0.05 and (not best or v > best[0]):
            best = (v, (k, v * v))
        k += 1
    if not best:
        return 0.0
    v, (k, q) = best
    return v * q + k


@program(X)
def means_of_runs(x):
    cur = None
    runs = 0.0
    for v in x:
        if v > 0.1:
            cur = (v, 1) if cur is None else (cur[0] + v, cur[1] + 1)
        else:
            if cur:
                runs += cur[0] / cur[1]
            cur = None
    if cur:
        runs += cur[0] / cur[1]
    return runs


@program(X)
def an_array_or_none_in_a_tuple(x):
    y = x if x[0] > 1 else None
    pair = (y, 2.0)
    out = 0.0
    for v in x:
        if pair[0] is not None:
            out += v * pair[0][0]
        if v > 0.5:
            pair = (x * v, 1.0)
    return out * pair[1]


@program(X)
def none_and_tuples_in_a_dict(x):
    best = {"i": None, "pair": None, "v": 0.0}
    for i, v in enumerate(x):
        if v > best["v"]:
            best.update(i=i, pair=(i, v * v), v=v)
    return best["pair"][1] * best["i"] + best["v"]


@program(X)
def two_of_a_list_that_are_none_at_first(x):
    out = [None, None]
    for v in x:
        if v > 0:
            out[0] = v if out[0] is None else max(v, out[0])
        else:
            out[1] = v if out[1] is None else out[1] + v
    return out[0] * out[1]


@program(X)
def first_and_last_that_fit(x):
    left, right = None, None
    for k, v in enumerate(x):
        if v < 0 and left is None:
            left = (k, v)
        if v < 0:
            right = (k, v)
    return (right[0] - left[0]) * right[1] * left[1]


@program(X)
def one_of_two_tuples_with_none(x):
    r = (None, None)
    if x[0] > 0:
        r = (1, x[1])
    else:
        r = (None, x[2])
    a, b = r
    return b * 2 if a is None else b * a


@program(X)
def none_again_in_each_pass(x):
    k, pair = 0, (x[0] if x[0] > 0 else None, 0.0)
    while k < 5 and np.sum(x) < 10:
        pair = (None, x[k] ** 2)
        k += 1
    return pair[1] + (1.0 if pair[0] is None else 2.0)


@program(X)
def none_or_a_number_by_turns(x):
    k, held = 0, {"a": x[0] if x[0] > 0 else None, "b": 0.0}
    while k < 5 and np.sum(x) < 10:
        held["a"] = None if x[k] > 0 else x[k] ** 2
        held["b"] += x[k]
        k += 1
    return held["b"] + (1.0 if held["a"] is None else held["a"])
