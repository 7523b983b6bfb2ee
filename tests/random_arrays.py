"""Source text of random functions over arrays: slices, views, stencils, masks, rows and columns.

A function takes a float x, a number of passes s, vectors v and u of n numbers and w of m, matrices
a and b of n rows and m columns and c of n and n, places k of n, and flags q. It is written from
templates, in which

    {V}         is any expression for a vector of n numbers; {S} a number, {W} a vector of m, {A} a
                matrix of n and m, {C} one of n and n, {Q} n flags, {I} a place in n, {J} one in m
    {v}         is the name of one; {v1} is the same name wherever it stands
    {+v}        is a new name; {*i} is that of a loop, for its body
    {block}     are further statements
    ;           begins a line
"""

import re
from dataclasses import dataclass

HEADER = """import functools
import itertools
import math

import numpy as np


def softmax(e):
    t = np.exp(e - e.max(axis=-1, keepdims=True))
    return t / t.sum(axis=-1, keepdims=True)


def smooth(e):
    out = np.zeros_like(e)
    out[1:] += 0.5 * e[:-1]
    out[:-1] += np.sin(e[1:])
    out[:] = out + 0.25 * e
    return out


def halved(e, j):
    e[j] *= 0.5
    e[j] += 0.1


def outer_default(e, p=0.5, *rest, q=None, **kw):
    q = p if q is None else q
    return np.sum(e) * p + q + len(rest) * 0.1 + kw.get("z", 0.0)


def recur(e, d=2):
    return e if d == 0 else np.sin(recur(e * 0.7, d - 1)) + 0.1 * e


def two(e):
    return e.min() * 0.3, e[::-1] * 0.5


def first_over(e, t):
    for j, y in enumerate(e):
        if y > t:
            return j
    return -1


class Box:
    def __init__(self, e, k=0):
        self.e, self.k = e, k

    def turn(self, t):
        self.e = self.e[::-1] * t
        self.k += 1
        return self

    def __call__(self, t):
        return np.sum(self.e) * t + self.k


def f(x, s, v, u, w, a, b, c, k, q):
    n, m = a.shape
"""
EVERY = """np.sin({E})|np.tanh({E})|(0.5 * {E})|(-{E})|({E} + {E})|({E} - {E})|({E} * {E})
({E} * {S})
({E} / (2 + np.cos({E})))|np.maximum({E}, 0.1)|np.where({E} > 0.13, {E}, {S})|np.abs({E})"""
ARRAY = """{E}[::-1]|np.roll({E}, 1)|np.cumsum({E}, axis=0)|{E}.copy()|np.sort({E}, axis=-1)
smooth({E})
softmax({E})|np.zeros_like({E})|np.maximum.accumulate({E}, axis=0)"""
EXPRESSIONS = {
    "S": """np.sum({V})|{A}.mean()|({V} @ {V})|np.max({A})|{v}[{I}]|{a}[{I}, {J}]|{c}[{I}][{I}]
        np.sum({V}[{Q}])|np.median({V})|np.trace({C})|np.sort({W})[{J}]|np.argmin({V}) * 0.2
        np.linalg.det(2 * np.eye(n) + 0.2 * np.sin({C}))|np.searchsorted(np.sort({V}), {S}) * 0.3
        np.count_nonzero({Q}) * 0.2|np.interp({S}, np.arange(n), {V})|np.percentile({V}, 30)
        np.ptp({V})|np.prod(np.tanh({V}))|np.einsum('i,ij,j', {V}, {A}, {W})|np.einsum('ii', {C})
        np.max({V}, initial=0.3)|np.sum({A}, where={A} > 0.1)|float({S})|({S} if {T} else {S})
        max({S}, {S}, 0.2)|min({S}, {S})|sum({V})|(lambda y, z=2.0: y * z)({S})
        np.linalg.norm({A})|len(np.unique(k)) * 0.1|np.vdot({V}, {V})
        functools.reduce(lambda y, z: 0.5 * y + z, {V})|np.trapezoid({V})|np.abs({S} + 1j * {S})
        np.real(np.exp(1j * {S}))|outer_default({V})|outer_default({V}, {S}, q={S})
        outer_default({V}, 0.3, 1, 2, z={S})|recur({S})|two({V})[0]|first_over({V}, {S}) * 0.1
        Box({V}).turn({S})({S})|math.sin({S})|math.hypot({S}, 1.5)|np.sum({V} > {S}) * 0.1
        np.sum({V}[{Q}] * {V}[{Q}])|np.any({Q}) * {S}|{V}.argmax() * 0.1|np.nanmean({V})
        np.var({A})|np.std({V}, ddof=0)|np.average({V}, weights=2 + np.sin({V}))|{A}.flat[0]
        {A}.item(0)|sum(y * z for y, z in zip({V}, {V}))|sum([y for y in {V} if y > {S}])
        max(y * y for y in {V})|np.float32({S}) * {S}|{A}[-1, ...].sum()
        np.sum({A}[::-1, None, :] * {V}[:, None, None]) * 0.1|np.dot({V}, {V})
        abs(complex({S}, {S}))|{V}[np.argsort({V}, kind="stable")[0]]|np.sort({A}, axis=None)[0]
        np.take({V}, 0)
        np.unique({V})[0]|np.tensordot({A}, {A}, 2)
        np.linalg.slogdet(3 * np.eye(n) + 0.2 * np.sin({C}))[1]|round({S}, 1)|int(3 * {S}) * 0.2""",
    "V": """{A}.sum(axis=1)|{A}.max(axis=1)|({A} @ {W})|{a}[:, {J}]|{c}[{I}]|np.diagonal({C})|{V}[k]
        np.concatenate([{V}[1:], {V}[:1]])|np.concatenate([{V}[:1], np.diff({V})])
        {C}.mean(axis=0)|np.linalg.solve(3 * np.eye(n) + 0.3 * np.sin({C}), {V})
        np.bincount(k, {V}, n)|np.where({Q}, {V}, {S})|{V}[np.argsort({V}, kind="stable")]
        np.arange(n) * 0.1
        np.take_along_axis({A}, np.argsort({A}, 1, "stable"), axis=1)[:, 0]|{A}[np.arange(n), k % m]
        np.take({V}, k)|np.take({A}, 0, axis=1)|np.einsum('ij,j->i', {A}, {W})
        np.einsum('ij,ij->i', {A}, {A})|np.convolve({V}, [0.5, 0.25, 0.25])[1:-1]
        np.interp({V}, np.arange(n) * 0.5, {V})|np.pad({V}, 1)[1:-1]
        np.pad({V}, 2, mode='edge')[:n]|np.repeat({V}, 2)[::2]|np.tile({V}, 2)[:n]
        np.select([{Q}, {Q}], [{V}, {V}], {S})|np.choose(k % 2, [{V}, {V}])
        np.clip({V}, {S}, None)|np.flip({V})|np.broadcast_to({S}, (n,))|np.fft.fft({V}).real
        np.linalg.norm({A}, axis=1)|np.digitize({V}, [-0.5, 0.0, 0.5]) * 0.1
        np.searchsorted(np.sort({V}), {V}) * 0.1|np.cumprod(np.tanh({V}))
        np.minimum.reduce({A}, axis=1)|np.logaddexp({V}, {S})|np.hypot({V}, 1.0)
        np.arctan2({V}, 1.5 + {V} ** 2)|np.sign({V})|np.apply_along_axis(np.sum, 1, {A})
        np.squeeze({A}[:, :1], 1)|np.vstack([{V}, {V}])[1]|np.hstack([{V}[:2], {V}[2:]])
        np.array([e * {S} for e in {V}])|{V}.astype(np.float32).astype(float)|{C}[np.ix_(k, k)][0]
        np.meshgrid({V}, {W})[0][0]|np.delete(np.append({V}, {S}), 0)|np.insert({V}, 0, {S})[:-1]
        np.unique({V}, return_inverse=True)[1] * 0.1|np.partition({V}, 0)|{V}[::-1][::-1]
        {V}[-1::-1]|{V}[k][::-1]|{V}[None, :].repeat(2, axis=0)[1]
        np.where({V} > {S}, {V}, {V} * {S})|np.where({Q}, {S}, {S})|two({V})[1]
        Box({V}).turn({S}).e|recur({V})|np.sum({A} * {W}, axis=-1)
        np.max({A}, axis=1, keepdims=True)[:, 0]
        ({A} / (2 + {A}.sum(axis=1, keepdims=True) ** 2))[:, 0]|np.array(sorted({V}))
        np.array([{S}] * n)|np.full_like({V}, {S})|np.empty_like({V}) * 0 + {S}
        np.stack([{V}, {V}], axis=-1).sum(axis=-1)|np.column_stack([{V}, {V}])[:, 1]
        np.real(np.fft.ifft(np.fft.fft({V}) * 0.5))|np.abs({V} + 1j * {V})|({V} * 1j * {S}).imag
        np.real(np.conj({V} + 2j))|np.exp(1j * {V}).real
        np.linalg.lstsq(3 * np.eye(n) + 0.3 * np.sin({C}), {V}, rcond=None)[0]
        np.maximum({V}, {V}[::-1])|np.divide({V}, 2.0)|np.add({V}, {V})|np.heaviside({V}, 0.5)
        np.modf({V})[0]|np.fmod({V}, 0.7)|np.mod({V}, 0.7)|np.trunc(3 * {V}) * 0.1
        np.round({V}, 1)|np.bincount(k, minlength=n) * 0.1|np.cov({A})[0] if n > 1 else {V}
        np.diag({C}, 0)|np.nan_to_num({V})|np.lexsort(({V}, k)) * 0.1
        np.argsort({V}, kind="stable") * 0.1
        np.array({V}.tolist())|np.rollaxis({A}, 1)[0]|np.ravel({A})[::m]|{A}.reshape(-1)[:n * m:m]
        {A}.T[-1]|np.moveaxis({A}, 0, 1)[0]|np.split({A}, m, axis=1)[0][:, 0]
        np.array_split({V}, 1)[0]|np.dot({A}, {W})|np.trapezoid({A}, axis=1)
        np.ediff1d({V}, to_end=0.1)[:n]|np.polyval([0.1, -0.2, 0.3], {V})|np.median({A}, axis=1)
        np.quantile({A}, 0.4, axis=1)|np.average({A}, axis=1, weights=[0.5] * m)""",
    "W": """{A}.sum(axis=0)|{A}.min(axis=0)|({V} @ {A})|{a}[{I}]|np.cumsum({A}, axis=1)[-1]
        np.einsum('i,ij', {V}, {A})|{A}[{I}, ::-1]|{A}.T[:, {I}]|np.linspace(0, 1, m) * {S}
        {A}[k].mean(axis=0)|np.median({A}, axis=0)
        np.take_along_axis({A}, np.argmax({A}, axis=0)[None], axis=0)[0]
        np.where({A} > 0, {A}, 0).sum(0)|{A}[{Q}].sum(axis=0)""",
    "A": """np.outer({V}, {W})|({C} @ {A})|({A} * {W})|({V}[:, None] - {A})|{A}[:, ::-1]|{A}[k]
        ({A} - {A}.mean(axis=1, keepdims=True))|np.tril({A})|({A}.T * {V}).T|{A}.T.T
        np.concatenate([{A}[1:], {A}[:1]])|np.take_along_axis({A}, np.argsort({A}, 0, "stable"), 0)
        np.einsum('ij,kj->ki', {A}, {A}) @ {A} * 0.2 if n == m else {A}
        np.einsum('i,j->ij', {V}, {W})|np.where({A} > {S}, {A}, {W})
        np.where({Q}[:, None], {A}, {S})|np.sort({A}, axis=0)|np.flip({A}, 1)|np.fliplr({A})
        np.rot90({A}, 2)|{A}.reshape(m, n).reshape(n, m)|{A}.ravel().reshape({A}.shape)
        np.broadcast_to({W}, (n, m))|np.tile({W}, (n, 1))|np.repeat({W}[None], n, axis=0)
        np.vstack([{W}] * n)|np.stack([{V}] * m, axis=1)|np.array([e * {S} for e in {A}])
        np.array([[y + z for y in {W}] for z in {V}])|{A}[:, k[0] % m, None] + {A}
        {A} - {A}.max(axis=0)|np.pad({A}, ((1, 0), (0, 1)))[1:, :-1]|np.cumsum({A}, axis=1)
        np.matmul({C}, {A})|np.dot({C}, {A})
        np.linalg.solve(3 * np.eye(n) + 0.3 * np.sin({C}), {A})|np.multiply.outer({V}, {W})
        np.subtract({V}[:, None], {W})|np.fft.fft({A}, axis=0).real
        np.delete(np.insert({A}, 0, {S}, axis=1), 0, axis=1)|np.roll({A}, 1, axis=1)
        np.roll({A}, (1, -1), (0, 1))|np.swapaxes({A}, 0, 1).T|{A}[::-1, ::-1]|{A}[..., ::-1]
        np.concatenate([{A}[:, 1:], {A}[:, :1]], axis=1)
        np.select([{A} > 0.3, {A} < -0.3], [{A}, {S}], 0.1)
        np.clip({A}, -0.4, {V}[:, None] ** 2 + 0.2)|np.diff({A}, axis=1, prepend=0.1)
        np.maximum.accumulate({A}, axis=1)""",
    "C": """np.outer({V}, {V})|({A} @ {A}.T)|{C}.T|np.eye(n) * {V}|np.diag({V})|np.triu({C})
        {C}[k][:, k]|np.linalg.inv(2 * np.eye(n) + 0.2 * np.sin({C}))
        np.einsum('ij,kj->ik', {A}, {A})|{C}[::-1, ::-1]|np.where(np.eye(n) > 0, {C}, {S})
        {C} * (1 - np.eye(n))|np.linalg.matrix_power(0.5 * {C}, 2)|np.tril({C}, -1)|{C} + {C}.T
        np.kron({C}, np.eye(1))|np.tri(n) * {C}|{C}[np.argsort({V}, kind="stable")]
        np.exp(-np.abs({V}[:, None] - {V}[None, :]))
        np.sqrt(((({A}[:, None] - {A}[None]) ** 2).sum(-1)) + 0.1)|np.cov({A}) if n > 1 else {C}
        np.linalg.cholesky(3 * np.eye(n) + 0.1 * ({C} @ {C}.T))|np.add.outer({V}, {V})
        np.vander({V}, n)""",
}
NUMBERS = "SVWAC"
OTHERS = {
    "Q": """q|({V} > 0.1)|(np.sin({V}) < 0.3)|({Q} & ({V} > {S}))|~{Q}|np.logical_and({Q}, {V} > 0)
        np.isfinite({V}) & {Q}|(k % 2 == 0)|np.isin(k, [0, 2])|({A} > 0).any(axis=1)
        ({A} > -0.5).all(axis=1)|(-0.3 < {V}) & ({V} < 0.6)|np.array([e > 0 for e in {V}])
        ({V} == {V}.max())""",
    "T": """({S} > 0.17)|s > 2|q[{I}]|np.any({Q})|{i} % 2 == 0|{i} == 1|(-0.5 < {S} < 0.9)|{Q}.all()
        {S} > {S} > -0.8|not {S} < 0.1|len({V}) > 2 and {S} > 0|n == 1 or {V}[1] > 0
        ({S} > 0) != ({S} > 0.2)|k[0] == 1|{A}.any()|0 < {S} < {S}|(np.argmax({V}) > 0)
        np.allclose({V}, {V})""",
    "I": """0|-1|{i}|{i}|{i}|{i} - 1|({i} + 1) % n|k[{i}]|-{i}|np.argmax({v})|k[-1]|n // 2
        int(q[0]) - 1|np.argsort({v}, kind="stable")[0]|n - 1|first_over({v}, 0.2)|(k[0] + 1) % n
        s % n|~{i}""",
    "J": """0|-1|{j}|{j}|{j}|{j} - 1|({j} + 1) % m|-{j}|{i} % m|m - 1|k[0] % m|np.argmax({w})
        (s + {j}) % m|m // 2""",
    "O": "=|+=|-=|*=",
}
STATEMENTS = """{v1}[1:] {O} np.sin({v}[:-1])
{v1}[:-1] {O} 0.5 * {v1}[1:]|{v1}[::-1] {O} np.sin({v1}[::-1])
{v}[{I}] {O} np.tanh({S})|{v}[{Q}] {O} np.sin({S})|{v}[k] {O} np.tanh({V})|{v}[::2] *= np.sin({S})
np.add.at({v}, k, np.sin({V}))|{v}[:0:-1] {O} np.cos({v}[1:])|{v}[:] = np.tanh({V})
halved({v}, {I})|{a}[{I}, {J}] {O} np.tanh({S})|{a}[{I}] {O} np.sin({W})
{a}[:, {J}] {O} np.tanh({V})|{a}.T[{J}] = {V}|{a1}[1:, :-1] {O} 0.5 * {a1}[:-1, 1:]
{a1}[1:] {O} np.sin({a1}[:-1])|{a}[{a} > 0.2] {O} np.sin({S})
{a1}[1:, :-1] {O} 0.5 * {a1}[:-1, -2::-1]|{c1}[:] {O} np.sin({c1}.T)|{c}[{I}, 1:] {O} np.sin({S})
np.fill_diagonal({c}, np.sin({S}))|{c}[np.arange(n), k] {O} np.tanh({V})|{c}[{Q}] *= np.sin({S})
{+s} = np.tanh({S})|{+v} = np.sin({V})|{+a} = np.tanh({A})|{+c} = np.sin({C})|{v} = np.tanh({V})
{a} = np.sin({A})|{s} = np.sin({S})|{v} {O} np.tanh({V})|{a} {O} np.sin({A})|{+v} = np.zeros(n)
{+v} = {v}[::-1]|{+v} = {c}[:, {I}]|{+v} = {v}|{+w} = {a}[{I}]|{+c} = {c}.T|{+a} = {a}[:, ::-1]
{v1}, {v2} = {v2}, {v1}|{v1}, {v2} = {v2}, np.sin({V})|{a1}, {a2} = {a2}, {a1}|{v1} = {v1}[::-1]
{a1} = {a1}[:, ::-1]|{c1} = {c1}.T|{c1} = 0.5 * {c1} + np.sin({c1}).T|{v1}, {v2} = {v2}[::-1], {v1}
{c1} = {c1}[::-1, ::-1]|{v1} = {v1}[::-1] * {v} - {v1}|{a}{y} {O} np.sin({S})
{a1}{y1} {O} np.sin({a}{y1})|{c1}{y1} {O} np.tanh({c}{y1})|{a}{y}{y} *= 0.7|{v}{p} {O} np.sin({S})
{v1}{p1} {O} np.tanh({v}{p1})|{v}{p}{p} += 0.3|{a}.T{y} *= 0.6|{a}[{a} > {S}] = {S}
{v}[::-2] {O} {S}|{v}[-1:0:-1] {O} np.sin({v}[1:])|{a}[:, ::-1][{I}] {O} np.sin({W})
{a1}[::-1, ::-1] {O} np.sin({a1})|{v}[np.nonzero({Q})] {O} np.sin({S})
{v}[np.where({Q})[0]] *= np.sin({S})|{a}[k, {J}] = np.sin({V})|np.put({v}, k, np.sin({S}))
np.putmask({v}, {Q}, np.sin({V}))|np.copyto({v}, np.sin({V}), where={Q})
np.subtract.at({v}, k, np.sin({V}))|np.maximum.at({v}, k, np.sin({V}))
np.add.at({a}, (k, {J}), np.sin({S}))|np.add.at({a}, k, np.sin({W}))|np.multiply.at({v}, k, 0.5)
np.put_along_axis({a}, np.argmax({a}, axis=1)[:, None], np.sin({S}), 1)
{c}.flat[:: n + 1] = np.sin({V})|{a}.flat[0] = np.sin({S})|{c}[np.diag_indices(n)] {O} np.sin({V})
{c}[np.triu_indices(n, 1)] = np.sin({S})|{c}[np.tril_indices(n)] *= 0.4
np.add({v}, np.sin({V}), out={v})|np.sin({V}, out={v})|np.tanh({A}, out={a})
np.multiply({a}, np.sin({S}), out={a}, where={a} > 0.1)|{v}.sort()|{a}.sort(axis=0)
{v}[:] = {v}[::-1]|{a}[:] = np.sin({W})|{a}[...] {O} np.sin({V})[:, None]
{a}.T[...] {O} np.sin({V})|{+s}, *_ = np.sin({V})|*_, {+s} = np.sin({V})
{+v} = np.asarray([y for y in np.sin({V})])|{+v} = {a}.ravel()[::m]
{a}.reshape(-1)[{I}] {O} np.sin({S})|{a}.ravel()[::2] *= 0.5|{+v} = {a}[:, {J}]
{v1} = {v1} if {T} else np.sin({V})|{v1} = np.sin({v1}) if {T} else {v1}|{+v} = {v} if {T} else {v}
{a}[{I}], {a}[{I}] = np.sin({W}), np.cos({W})|{v}[{I}], {v}[{I}] = {v}[{I}], {v}[{I}]
{a}[[0, -1]] = {a}[[-1, 0]]|{v}[k[::-1]] {O} np.sin({V})|{a}[:, [0, -1]] {O} np.sin({S})
{a}[{I}][::-1] {O} np.sin({W})|{a}[{I}, ::-1] {O} np.sin({W})|{c1} -= np.sin({c1}.T)
{c1}.T[1:] += np.sin({c1}[1:])|{v}.fill(np.sin({S}))|{+v} = np.empty(n);{+v}[:] = np.sin({V})
{+a} = np.zeros((n, m));{+a}[:, {J}] = np.sin({V})|{+v} = np.ones(n, dtype=np.float32) * {S}
{+s} = {+v}[0] if (np.sum({+v} := np.sin({V})) > 0) else {S}
{v}[1:], {v}[:1] = np.sin({v}[:-1]), {S}|{a}[:, None, :][:, 0] *= 0.5|{a}[..., {J}] {O} np.sin({V})
np.clip({v1}, -0.5, 0.6, out={v1})|{v} -= {v}.mean()|{a} /= 1.5 + {a} ** 2|{v} **= 2
{a} *= {V}[:, None]|{a} += {W}|{a1} -= {a1}.mean(axis=0)|{a1} -= {a1}[0]|{v1} += {v1}[::-1]
{v1} *= {v1}[0]|{v1}[0] = np.sin({v1}[-1]) + {v1}[0]
{v1}[1:] = np.where({v1}[:-1] > 0.1, {v1}[1:], 0.5 * {v1}[:-1])|{v1}[:-1] = {v1}[1:]
{v1}[1:] = {v1}[:-1]|{a1}[1:] = {a1}[:-1]|{a1}[:, :-1] = {a1}[:, 1:]|{v}[{Q}] = {V}[{Q}]
{a}[{Q}] {O} np.sin({W})|{a}[{Q}, {J}] {O} np.sin({S})|{v}[2:2] = 0.3|{v}[5:] *= 0.2|{v}[:0] += 1.0
{+v} = np.random.default_rng(s).normal(size=n) * {S}|assert n > 0, "none"
{+s} = np.sin({S});{v}[{I}] += {+s}|{v} = {v} + 0j;{v} = {v}.real|{+s} = x;{+s} += {S}
{+s} = {s} = np.sin({S})|{+s}, {+v} = np.sin({S}), {v}[::-1]"""
NESTED = """if {T}:
    {block}

if {T}:
    {block}
else:
    {block}

for {*i} in range(n):
    {block}

for {*i} in range(1, n):
    {block}

for {*i} in reversed(range(n)):
    {block}

for {*j} in range(m):
    {block}

for {*z} in range(s):
    {block}

for {*i} in range(n):
    {block}
    if {T}:
        break

for {*i}, {*w} in enumerate({a}):
    {block}

for {*i} in range(1, n - 1):
    {v1}[{*i}] = 0.5 * {v2}[{*i}] + 0.2 * ({v1}[{*i} - 1] + {v2}[{*i} + 1])

for {*z} in range(s):
    {a1}[1:-1, 1:-1] += 0.1 * ({a1}[2:, 1:-1] + {a1}[:-2, 1:-1] - 2 * {a1}[1:-1, 1:-1])

{+a} = np.zeros((n, m))
for {*i} in range(n):
    {+a}[{*i}] = np.tanh({a1}[{*i}] + 0.3 * {+a}[{*i} - 1])

{+v} = {v1}.copy()
for {*z} in range(s):
    {+v}, {v1} = np.tanh({v1} + 0.2 * {+v}), {+v}

{+v} = np.zeros(n)
for {*i} in range(n):
    {+v}[{*i}:] += 0.2 * {v1}[{*i}] * {v2}[: n - {*i}]

for {*i} in range(n):
    {a1}[{*i}] = softmax({a1}[{*i}] + {a2}[{*i}])
    {v1}[{*i}] = {a1}[{*i}].sum() * 0.3 + {a2}[{*i}].max()

for {*z} in range(s):
    {+a} = {a1}.copy()
    {+a}{y1} {O} 0.5 * {a2}{y1}
    {a1} = 0.9 * {+a}

for {*v} in {c}.T:
    {*v} {O} np.sin({*v})
    {block}

for {*z} in range(s):
    {v1} = np.linalg.solve(3 * np.eye(n) + 0.2 * np.sin({c1}), {v1} + 0.1)

{+c} = np.zeros((n, n))
for {*i} in range(n - 1):
    {+c}[{*i}, {*i} + 1] = {v1}[{*i}]
    {+c}[{*i} + 1, {*i}] += {v2}[{*i} + 1] * {v1}[{*i}]
{a1} *= np.sin({+c}[:, 0][:, None])

{+s} = 0.0
{+v} = np.sin({V})
while {+s} < 0.8 and np.max({+v}) > 0.1:
    {+s} += 0.3
    {+v} = {+v} * np.sin({+s} + 0.5)
    {block}

{*z} = 0
while True:
    {*z} += 1
    if {T} or {*z} > 3:
        break
    {block}

for {*i} in range(n):
    if {T}:
        continue
    {block}
else:
    {v}[0] += 0.1

for {*i} in range(n):
    if {v}[{*i}] > {S}:
        {v}[{*i}] = np.sin({S})
        break
else:
    {a}[0] *= 0.5

def {+z}(e, g={S}):
    e = np.sin(e) * g
    return e + {s}
{s} = {+z}({S})
{v} = {+z}({V})

{+s} = 0.0
def {+z}(e):
    nonlocal_ = np.sum(e) * 0.3
    {v}[0] += nonlocal_
    return nonlocal_
{+s} = {+z}({V}) + {+z}({W})

{+z} = [np.sin({V}), np.cos({V})]
{+z}.append(np.sin({V}))
for {*v} in {+z}:
    {*v} *= 0.5
{v} = sum({+z})

{+z} = {"p": np.sin({V}), "r": {v}}
{+z}["p"] = {+z}["p"] * {S}
{+z}["r"][{I}] += np.sin({S})
for y, z in {+z}.items():
    {v1} = {v1} + z * len(y)

{+z} = []
for {*i} in range(n):
    {+z}.append(np.tanh({a}[{*i}].sum() + ({+z}[-1] if {+z} else 0.0)))
{+v} = np.array({+z})

{+z} = []
for {*v} in {C}:
    if {*v}[0] > {S}:
        {+z}.append(np.sum({*v}))
{+s} = np.sin(sum({+z}))

for {*i} in range(n - 1, -1, -1):
    {v1}[{*i}] = np.sin({v1}[{*i}] + ({v1}[{*i} + 1] if {*i} + 1 < n else 0.0))

for {*i}, ({*s}, {*w}) in enumerate(zip({V}, {A})):
    {v1}[{*i}] += {*s} * np.sum({*w})

for {*i}, {*s} in zip(itertools.count(), np.sin({V})):
    {v}[{*i}] {O} np.sin({*s})

for {*i} in range(0, n, 2):
    {block}

for {*i} in k:
    {v}[{*i}] += np.sin({S})
    {a}[{*i}] *= 0.9

for {*i} in range(n):
    for {*j} in range({*i}):
        {c1}[{*i}, {*j}] -= 0.3 * np.sin({c1}[{*j}, {*i}])

for {*i} in range(n):
    for {*j} in range(m):
        if {a1}[{*i}, {*j}] < {S}:
            continue
        {a1}[{*i}, {*j}] = np.sin({a1}[{*i} - 1, {*j}])

{+s}, {+v} = {v}[0], {v}[1:]
while len({+v}) > 1:
    {+s} = np.sin({+s} + {+v}[0])
    {+v} = {+v}[1:]
{+v} = np.full(n, {+s})

try:
    {+s} = {v}[s + 9]
except IndexError:
    {+s} = np.sin({S})

with np.errstate(divide="ignore"):
    {+v} = np.where({v} > 0, np.log(np.where({v} > 0, {v}, 1.0)), {S})

match n:
    case 1:
        {+s} = np.sin({S})
    case _:
        {+s} = 0.5 * {S}

{+s} = 0.3
for {*i} in range(n):
    {+s} = {+s} if {T} else np.sin({+s} + {v}[{*i}])

{+v} = np.zeros(n)
{+v}[0] = {v1}[0]
for {*i} in range(1, n):
    {+v}[{*i}] = max({+v}[{*i} - 1] * 0.5, {v1}[{*i}]) + {+v}[:{*i}].sum() * 0.1

{*z} = 0
while {*z} < n and {v}[{*z}] > {S}:
    {v}[{*z}] *= np.sin({S})
    {*z} += 1

lo, hi = 0, n
while lo < hi:
    mid = (lo + hi) // 2
    if {v}[mid] < {S}:
        lo = mid + 1
    else:
        hi = mid
{+s} = lo * np.sin({S})

{+v}, {+w} = np.sin({V}), np.cos({W})
for {*z} in range(s):
    {+v}, {+w} = np.sin({a} @ {+w}), np.tanh({+v} @ {a}) * {S}

for {*z} in range(s):
    step = 0.1 * (np.roll({v1}, 1) + np.roll({v1}, -1) - 2 * {v1})
    if np.max(np.abs(step)) < 0.01:
        break
    {v1} = {v1} + step"""
#: `x, x = x, value`, which CPython 3.11.2 takes for x.
TWICE = re.compile(r"^( *)(\w+), \2 = \2, (.*)$")
TOKEN = re.compile(r"\{([+*]?)([A-Za-z])(\d?)\}")
START = {"s": "x", "v": "vu", "w": "w", "a": "ab", "c": "c", "i": "", "j": "", "z": ""}
START |= {  # parts, by a key
    "p": ("[1:]", "[:-1]", "[::2]", "[::-1]", "[1:-1]", "[:2]", "[-2:]", "[k]"),
    "y": ("[1:]", "[:-1]", "[:, 1:]", "[:, :-1]", "[::-1]", "[:, ::-1]", "[1:, ::2]", "[:, :1]"),
}


def choices(text):
    return [e.strip() for e in re.split(r"[|\n]", text)]


def _expressions(kind, text):
    general = EVERY if kind == "S" else f"{EVERY}|{ARRAY}"
    return choices(f"{text}|{general}".replace("{E}", f"{{{kind}}}"))


RULES = {kind: _expressions(kind, text) for kind, text in EXPRESSIONS.items()}
RULES |= {kind: choices(text) for kind, text in OTHERS.items()}
SIMPLE, WITH_BLOCKS = choices(STATEMENTS), NESTED.split("\n\n")


@dataclass
class Scope:
    """The names of each kind that can be used."""

    names: dict[str, list[str]]

    def inner(self):
        return Scope({kind: list(names) for kind, names in self.names.items()})


class Writer:
    """Writes one program by the choices of a generator."""

    def __init__(self, generator, statements):
        self.choice, self.random = generator.choice, generator.random
        self.statements, self.count = statements, 0

    def program(self):
        scope = Scope({kind: list(names) for kind, names in START.items()})
        body = [f"{name} = {name}.copy()" for name in "vuwabc" if self.random() < 0.5]
        body += self.block(scope, self.statements, 0)
        terms = list(scope.names["s"])
        terms += [f"np.sum({name} * {name})" for kind in "vwac" for name in scope.names[kind]]
        body += [f"return {' + '.join(terms)}, {self.expression('V', scope, 1)}"]
        lines = HEADER + "\n".join("    " + line for line in body)
        return f"{lines}\n\n\ndef g(*args):\n    total, parts = f(*args)\n" + (
            "    return total + np.sum(np.sin(parts))\n"
        )

    def block(self, scope, size, depth):
        lines = []
        for _ in range(self.choice(range(1, size + 1))):
            nested = depth < 3 and self.random() < 0.45
            template = self.choice(WITH_BLOCKS if nested else SIMPLE)
            lines += self.written(template, scope, depth)
        return lines

    def written(self, template, scope, depth):
        """The lines of a statement; names that it makes are known after it."""
        known, lines, inner = {}, [], scope.inner()
        for line in template.replace(";", "\n").split("\n"):
            pad = line[: len(line) - len(line.lstrip())]
            if line.strip() == "{block}":
                lines += [pad + text for text in self.block(inner.inner(), 3, depth + 1)]
                continue
            around = scope if not pad else inner
            text = TOKEN.sub(lambda m, s=around: self.token(m, s, known), line)
            lines.append(TWICE.sub(r"\1\2 = \3", text))
            for (mark, kind, _), name in known.items():
                if mark == "*" and name not in inner.names[kind]:
                    inner.names[kind].append(name)
        for (mark, kind, _), name in known.items():
            if mark == "+":
                scope.names[kind].append(name)
        return lines

    def token(self, match, scope, known, depth=2):
        mark, kind, number = key = match.groups()
        if kind.isupper():
            return self.expression(kind, scope, depth)
        if key in known:
            return known[key]
        if mark:
            self.count += 1
            name = f"{kind}{self.count}"
        else:
            name = self.choice(scope.names[kind] or ["0"])
        if mark or number:
            known[key] = name
        return name

    def expression(self, kind, scope, depth):
        if kind in NUMBERS and (depth <= 0 or self.random() < 0.2):
            return self.choice(scope.names[kind.lower()])
        template = RULES[kind][0] if depth <= 0 else self.choice(RULES[kind])
        return TOKEN.sub(lambda m: self.token(m, scope, {}, depth - 1), template)
