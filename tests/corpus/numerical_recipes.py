"""Factorisations, transforms, quadrature and interpolation written by hand."""

import math

import numpy as np

from tests.corpus import definite, normal, program, uniform


@program(definite(4))
def cholesky_by_hand(a):
    n = a.shape[0]
    factor = np.zeros_like(a)
    for j in range(n):
        factor[j, j] = np.sqrt(a[j, j] - np.sum(factor[j, :j] ** 2))
        for i in range(j + 1, n):
            factor[i, j] = (a[i, j] - factor[i, :j] @ factor[j, :j]) / factor[j, j]
    return factor


@program(definite(3))
def lu_in_place(a):
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return np.tril(a, -1) + 2 * np.triu(a)


@program(normal(3, 3))
def lu_with_pivoting(a):
    sign = 1.0
    for k in range(3):
        pivot = k + np.argmax(np.abs(a[k:, k]))
        if pivot != k:
            a[[k, pivot]] = a[[pivot, k]]
            sign = -sign
        a[k + 1 :, k:] -= np.outer(a[k + 1 :, k] / a[k, k], a[k, k:])
    return sign * np.prod(np.diag(a))


@program(normal(4, 3))
def qr_by_householder(a):
    r = a.copy()
    for k in range(3):
        v = r[k:, k].copy()
        v[0] += np.sign(v[0]) * np.sqrt(v @ v)
        r[k:, k:] -= 2 * np.outer(v, v @ r[k:, k:]) / (v @ v)
    return r[:3]


@program(normal(3, 3), 8)
def matrix_exponential_by_taylor(a, terms):
    scaled = a / 4
    term = result = np.eye(3)
    for k in range(1, terms):
        term = term @ scaled / k
        result = result + term
    for _ in range(2):
        result = result @ result
    return result


@program(definite(3))
def matrix_root_by_denman_beavers(a):
    y, z = a, np.eye(3)
    for _ in range(6):
        y, z = 0.5 * (y + np.linalg.inv(z)), 0.5 * (z + np.linalg.inv(y))
    return y


@program(definite(3))
def jacobi_rotation(a):
    for p, q in ((0, 1), (0, 2), (1, 2)):
        angle = 0.5 * np.arctan2(2 * a[p, q], a[q, q] - a[p, p])
        c, s = np.cos(angle), np.sin(angle)
        rotation = np.eye(3)
        rotation[p, p] = rotation[q, q] = c
        rotation[p, q], rotation[q, p] = s, -s
        a = rotation.T @ a @ rotation
    return np.diag(a)


@program(normal(8))
def fourier_transform_recursive(x):
    def transform(re, im):
        n = len(re)
        if n == 1:
            return re, im
        even_re, even_im = transform(re[::2], im[::2])
        odd_re, odd_im = transform(re[1::2], im[1::2])
        angle = -2 * np.pi * np.arange(n // 2) / n
        c, s = np.cos(angle), np.sin(angle)
        turned_re, turned_im = c * odd_re - s * odd_im, c * odd_im + s * odd_re
        return (
            np.concatenate([even_re + turned_re, even_re - turned_re]),
            np.concatenate([even_im + turned_im, even_im - turned_im]),
        )

    re, im = transform(x, np.zeros_like(x))
    return re**2 + im**2


@program(normal(5))
def fourier_transform_by_sums(x):
    n = len(x)
    power = np.zeros(n)
    for k in range(n):
        re = im = 0.0
        for t in range(n):
            re += x[t] * math.cos(2 * math.pi * k * t / n)
            im -= x[t] * math.sin(2 * math.pi * k * t / n)
        power[k] = re**2 + im**2
    return power


@program(normal(4), 1.3, wrt=(0, 1))
def cubic_hermite_spline(values, position):
    slopes = np.empty(4)
    slopes[1:-1] = (values[2:] - values[:-2]) / 2
    slopes[0], slopes[-1] = values[1] - values[0], values[-1] - values[-2]
    i = int(position)
    t = position - i
    a = (1 + 2 * t) * (1 - t) ** 2 * values[i] + t * (1 - t) ** 2 * slopes[i]
    return a + t**2 * (3 - 2 * t) * values[i + 1] + t**2 * (t - 1) * slopes[i + 1]


@program(normal(5), 0.43, wrt=(0, 1))
def b_spline_by_de_boor(control, t):
    d = control[:4].copy()
    for r in range(1, 4):
        for j in range(3, r - 1, -1):
            weight = (t + 3 - j) / (4 - r)
            d[j] = (1 - weight) * d[j - 1] + weight * d[j]
    return d[3] ** 2 + control[4] * t


@program(normal(4, 2), 0.35, wrt=(0, 1))
def bezier_by_de_casteljau(points, t):
    while len(points) > 1:
        points = (1 - t) * points[:-1] + t * points[1:]
    return points[0]


@program(np.array([0.0, 0.7, 1.1, 2.0]), normal(4), 1.5, wrt=(0, 1, 2))
def lagrange_interpolation(nodes, values, x):
    total = 0.0
    for i, value in enumerate(values):
        basis = 1.0
        for j in range(len(nodes)):
            if j != i:
                basis *= (x - nodes[j]) / (nodes[i] - nodes[j])
        total += value * basis
    return total


@program(np.array([0.0, 0.7, 1.1, 2.0]), normal(4), wrt=(0, 1))
def divided_differences(nodes, values):
    table = values.copy()
    for k in range(1, 4):
        table[k:] = (table[k:] - table[k - 1 : -1]) / (nodes[k:] - nodes[: 4 - k])
    return table


@program(0.2, 1.7, wrt=(0, 1))
def romberg(a, b):
    rows = [[0.5 * (b - a) * (np.exp(-a * a) + np.exp(-b * b))]]
    for k in range(1, 4):
        h = (b - a) / 2**k
        middle = sum(np.exp(-((a + (2 * i + 1) * h) ** 2)) for i in range(2 ** (k - 1)))
        row = [0.5 * rows[-1][0] + h * middle]
        for m in range(1, k + 1):
            row.append(row[m - 1] + (row[m - 1] - rows[-1][m - 1]) / (4**m - 1))
        rows.append(row)
    return rows[-1][-1]


@program(uniform(3), 1.3, wrt=(0, 1))
def continued_fraction_by_lentz(x, a):
    f, c, d = x.copy(), x.copy(), np.zeros(3)
    for k in range(1, 8):
        d = 1 / (x + k * a * d)
        c = x + k * a / c
        f *= c * d
    return f


@program(1.6, 0.4, wrt=(0, 1))
def incomplete_gamma_series(a, x):
    term = total = 1 / a
    n = 1
    while term > 1e-15 * total:
        term *= x / (a + n)
        total += term
        n += 1
    return total * x**a * math.exp(-x)


@program(normal(6))
def haar_wavelet_and_threshold(x):
    average, detail = (x[::2] + x[1::2]) / 2, (x[::2] - x[1::2]) / 2
    kept = np.where(np.abs(detail) > 0.2, detail, 0.0)
    result = np.empty_like(x)
    result[::2], result[1::2] = average + kept, average - kept
    return result**2
