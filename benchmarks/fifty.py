"""A function of fifty lines, to measure what staging costs."""

import numpy as np


def fifty_lines(a, b, c, x, n):
    """A made-up chain of scalar and array work with branches and loops."""
    k1 = a * b + c
    k2 = np.sin(k1) * a
    k3 = np.exp(-k2 * k2)
    k4 = np.log(k3 + 1.0)
    k5 = np.sqrt(k4 + a * a)
    if k5 > 1.0:
        k6 = k5 * c
        k5 = k5 + 1.0
    else:
        k6 = k5 + c
    u = x * k6
    v = np.tanh(u) + b
    w = u * v - np.cos(v)
    s = np.sum(w)
    m = np.mean(w * w)
    t = np.max(w)
    total = s * m + t
    for _ in range(n):
        total = total + np.sin(total * a) * 0.1
        if total > 10.0:
            total = total * 0.5
        k1 = k1 + total * b
    y = np.outer(u, v)
    z = y @ w
    q = z / (1.0 + z * z)
    r = np.where(q > 0.0, q, 0.1 * q)
    p = np.cumsum(r)
    p = p - np.mean(p)
    d = p[1:] - p[:-1]
    e = np.sum(d * d)
    f = np.abs(r)
    g = np.maximum(f, 0.01)
    h = np.sum(np.log(g))
    u = u.copy()
    u[0] = e
    u[1:] += d
    o = np.concatenate([u, v])
    l1 = np.sum(np.abs(o))
    l2 = np.sqrt(np.sum(o**2) + 1.0)
    j = np.stack([u, v, w])
    jj = j.T @ j
    tr = np.trace(jj)
    mean, spread = np.mean(jj), np.std(jj)
    count = 0
    while k1 > 1.0:
        k1 = k1 * 0.5
        count = count + 1
    last = tr * 0.01 + mean + spread
    penalty = 0.1 * (l1 + l2) + h
    loss = total + penalty + last
    return loss + k1 * count
