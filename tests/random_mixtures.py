"""Source text of random functions that mix parameters in a dictionary, views of views that are
stored to, arrays of integers, of float32, of no axes and of no elements, options of ufuncs, loops
that are left, closures and unpacking.

A function takes parameters p, a float x, a vector v, a matrix m of 3 rows of 4, a vector g of
float32, one k of integers from -4 to 3, and a number of passes n. In templates

    {S}  is an expression for a number, {V} for a vector of 4 numbers, {B} for one of 3, {A} for one
         of 2, {M} for a matrix, {K} for 4 places, {Q} for 4 flags, {T} for a test, {G} for a vector
         of 4 of another dtype
    {2} {3} {4}  is a slice of a vector of 4 that has so many elements
    {s}  is the name of a number that may be set, {a} of a vector, {c} of a matrix, {l} of a list
    {st} is a further statement of one line; ;    begins a line
"""

import random
import re

HEADER = """import functools
import math

import numpy as np

SHIFT, SCALES = 0.25, [0.5, 0.8]


def blend(a, b=0.5, *rest, weight=0.3, **more):
    return weight * a + (1 - weight) * b + 0.1 * sum(rest) + 0.2 * sum(more.values())


def pushed(a, *, by, onto=None):
    a[::2] += by
    return a if onto is None else onto - a


def halves(a, keep=(), *, sign=1):
    low, high = a[:2], a[:1:-1]
    low -= sign * 0.5 * high
    return low * high


def bounded(e):
    return e / (1.0 + np.abs(e))


def first_above(e, level=0.3):
    for j, item in enumerate(e):
        if item > level:
            return item * (j + 1)
    else:
        return level


def spread(*, low, high=1.0, count=4):
    return low + (high - low) * np.arange(count) / count


"""

EXPRESSIONS = {
    "S": """x|t|y|x|t|y|p["b"]|0.7|-0.4|z|({S} + {S})|({S} - {S})|({S} * {S})|np.sin({S})
np.tanh({S})|np.sum({V})|{V} @ {V}|{V}[1]|{V}[-1]|{M}[1, -2]|np.max({V})|np.min({V}, initial={S})
np.mean({G})|np.sum({B})|np.prod({A})|np.sum(np.zeros(0))|np.sum({V}[4:])
np.max({V}[:0], initial={S})|np.einsum("i,i->", {V}, {V})|np.einsum("ij,ij->", {M}, {M})
np.einsum("ii->", {M}[:, 1:])|np.einsum("ii", {M}[:, ::-1][:, :3])
np.einsum("i,i,i", {V}, {V}, {V})|np.einsum(",", {S}, {S})|np.einsum("ij,kj,i->", {M}, {M}, {B})
blend({S})|blend({S}, {S}, {S}, weight={S})|blend(*({S}, {S}), **{"c": {S}})
blend(weight={S}, a={S}, b={S})|first_above({V}, level={S})|first_above({V})|float({S})|abs({S})
(y_ := {S}) * y_|({S} if {T} else {S})|np.where({T}, {S}, {S})|sum({l}[0])|np.sum({l}[-1])
sum(np.sum(e) for e in {l})|len({l}) * {S}|D["u"]|np.sum(D["w"])|np.float64({S})
np.asarray({S}) * 2|np.array({S})[()]|np.array([{S}])[0]|np.sum({V}[{K}])|np.add.reduce({V})
np.sum({V}, where={Q})|np.mean({M}, where={M} < {S}, axis=None)|np.dot({V}, {V})|np.trace({M})
np.sum({M}[:0])|np.sum({V}[{Q}])|np.count_nonzero({Q}) * {S}|np.linalg.norm({V})|f1({S})
f1({S}, k={S})|np.vdot({M}, {M})|np.inner({V}, {V})|math.sin({S})|int(n) * {S}|np.median({V})
np.ptp({V})|np.argmax({V}) * {S}|({S} / (1.5 + np.abs({S})))|min({S}, {S})|max({S}, {S}, 0.1)
np.maximum({S}, {S})|{V}.item(2)|np.sum({G}) * {S}|np.clip({S}, -0.5, {S})
np.array({S}).reshape(1)[0]|{M}.T[1, 2]|({S}) ** 2|np.hypot({S}, {S})|sum(SCALES) * {S}
SHIFT * {S}""",
    "V": """v|a|d|v|a|d|p["w"]|p["layers"][0]|p["layers"][-1]|c[0]|c[-1]|r[1]|({V} + {V})
({V} - {V})|({V} * {V})|({V} * {S})|({S} - {V})|np.sin({V})|np.tanh({V})|bounded({V})|{V}[::-1]
{V}[{4}]|np.where({Q}, {V}, {V})|np.where({Q}, {V}, {S})|np.where({Q}, {S}, {V})|{M}[1]
{M}[-1, ::-1]|np.add({V}, {V}, where={Q}, out={V}.copy())
np.multiply({V}, {S}, out=np.ones(4), where={Q})|np.exp({V}, out=np.zeros(4), where={V} < 0.5)
np.einsum("ij->j", {M})|np.einsum("i,ij->j", {B}, {M})|np.einsum("ij,ij->j", {M}, {M})
np.einsum("i,j->j", {B}, {V})|{V}[{K}]|np.take({V}, {K})|{l}[0]|{l}[-1]
np.add.reduceat({V}, [0, 2, 1, 3])|np.multiply.reduceat({V}, [0, 1, 1, 3])
np.maximum.reduceat({V}, [0, 3, 1, 2])|np.concatenate([{A}, {A}])|np.concatenate([{B}, [{S}]])
np.concatenate([np.zeros(0), {V}])|np.append({V}[4:], {V})|np.hstack([{S}, {B}])|np.sort({V})
np.cumsum({V})|np.roll({V}, 1)|{G} * {S}|{G} + {V}|{V} - {G}|np.array([*{V}])|np.array(list({V}))
np.array([e * {S} for e in {V}])|np.array([{S}, *{B}])|({V} if {T} else {V})|spread(low={S})
spread(low={S}, high={S})|np.full(4, {S})|{V}.copy()|{V}.astype(float)|np.sum({M}, axis=0)
np.max({M}, axis=0)|np.diff({V}, prepend={S})|({K} + {V})|({K} * {S})|{Q} * {V}
np.clip({V}, {S}, None)|np.outer({B}, {V})[1]|{M}.ravel()[::3]|{M}.reshape(4, 3)[:, 1]|{M}.T[:, 1]
{M}.T.ravel()[2::3]|np.stack([{V}, {V}])[1]|np.repeat({A}, 2)|np.tile({A}, 2)
np.broadcast_to({S}, (4,))|np.flip({V})|np.pad({A}, 1)|np.pad({A}, (1, 1), mode="edge")
np.interp({V}, [-1.0, 0.0, 1.0], {B})|np.square({V})|np.select([{Q}, {Q}], [{V}, {V}], {S})
np.choose(abs({K}) % 2, [{V}, {V}])|np.convolve({V}, {B})[1:5]|np.asarray({V})
({V} / (1.5 + {V} * {V}))|np.minimum({V}, {V})|np.cross({B}, {B})[[0, 1, 2, 0]]""",
    "B": """{V}[{3}]|{V}[1:]|{V}[:0:-1]|{M}[:, 1]|{M}[:, -1]|{M}[::-1, 2]|({B} + {B})|({B} * {S})
np.sum({M}, axis=1)|np.diff({V})|np.einsum("ii->i", {M}[:, 1:])|np.einsum("ij->i", {M})
np.tanh({B})|{M} @ {V}|np.array([{S}, {S}, {S}])|np.mean({M}, axis=-1)|np.array([{S}, *{A}])
np.add.reduce({M}, 1)|np.diagonal({M})|np.delete({V}, 1)|np.max({M}, axis=1, initial={S})
np.einsum("ij,j->i", {M}, {V})""",
    "A": """{V}[{2}]|{V}[::2]|{V}[1::2]|{M}[:2, 1]|{M}[::2, -1]|({A} * {S})|({A} - {A})
{V}[[1, 0]]|np.array([{S}, {S}])|halves({V}.copy())|halves({V} * 1.0, sign={S})
{V}.reshape(2, 2)[:, 1]|np.add.reduceat({V}, [0, 2])|{V}[2:][::-1]|{V}.reshape(2, 2).sum(axis=0)
np.take({V}, [3, -3])""",
    "M": """m|c|r|m|c|r|({M} + {M})|({M} * {S})|({M} - {V})|({M} * {B}[:, None])
np.outer({B}, {V})|np.sin({M})|np.tanh({M})|{M}[::-1]|{M}[:, ::-1]|np.where({M} > {S}, {M}, {V})
np.stack([{V}, {V}, {V}])|np.einsum("ij->ij", {M})|np.einsum("i,j", {B}, {V})
np.cumsum({M}, axis=0)|np.sort({M}, axis=1)|np.where({Q}, {M}, {S})
np.add({M}, {S}, out=np.ones((3, 4)), where={Q})|{M}.copy()|{M}[[2, 0, 1]]|{M}[:, {K}]
np.roll({M}, 1, axis=1)|np.concatenate([{M}[1:], {M}[:1]])|np.array([*{M}])|bounded({M})
np.array([e[::-1] for e in {M}])|np.full((3, 4), {S})|np.einsum("ij,j->ij", {M}, {V})""",
    "G": """g|g|h|({G} * 2)|({G} + 0.5)|({G} - {G})|np.sin({G})|{G}[::-1]|np.where({Q}, {G}, {G})
np.float32(0.3) * {G}|np.abs({G})|np.cumsum({G})|{V}.astype(np.float32)
np.add({G}, 1, dtype=np.float32)|np.array([*{G}])|np.sort({G})|np.zeros(4, np.float32)""",
    "K": """k|k[::-1]|np.argsort({V})|np.abs(k) % 4|np.arange(4)|(k // 2)|-(k + 1)
np.where({Q}, k, 1)|np.array([0, 2, 0, -1])|np.cumsum({Q}) - 1|({K} % 3)|np.minimum({K}, 2)
np.sort(k)|{Q}.astype(int)|(k & 1)|np.array([e % 4 for e in k])|np.clip(k, 0, 3)
np.round({V}).clip(-4, 3).astype(int)""",
    "Q": """({V} > {S})|(k > 0)|(k % 2 == 0)|({V} < {V})|({Q} & {Q})|~{Q}|({Q} | {Q})|({G} > 0)
np.array([True, False, True, True])|np.isfinite({V})|(np.arange(4) < n)|np.zeros(4, bool)
({K} != {K})""",
    "T": """{S} > {S}|{S} < 0.4|n > 2|{T} and {T}|not {T}|{S} < {S} < {S}|np.any({Q})
np.all({V} < {S})|{T} or {S} > 0.1|len({l}) > 2|bool({S} > 0)|{Q}[1]|{S} > 0.3|k[0] > 0
"u" in D""",
    "2": "::-2|::2|1:3|2:0:-1|:-3:-1|-2:|:2|2::-2|3:0:-2|1::2",
    "3": "1:|:-1|2::-1|:0:-1|-1:0:-1|:3|-2::-1",
    "4": "::-1|:|...|-1::-1|::1",
    "s": "t|y",
    "a": "a|d",
    "c": "c|r",
    "l": "L|J",
}
LINES = """{s} = {S}|{s} += {S}|{s} *= {S}|{s} -= {S}|{a} = {V}.copy()|{a}[{2}] = {A}
{a}[{3}] += {B}|{a}[{2}] *= {S}|{a}[{4}] = {V}|{a}[{3}] -= {S}|{a}[{2}] = {S}|{a} += {V}
{a} *= {S}|{a} -= {G}|{a}[1:] = {a}[:-1]|{a}[:-1] += {a}[1:]|{a}[::-1] -= {a}|{a}[::-1] = {a}
{a}[{K}] = {V}|{a}[{K}] += {V}|{a}[{Q}] = {S}|{a}[{Q}] *= {S}|{a}[4:] = {S}|{a}[k[0]] = {S}
{a}[n % 4] += {S}|{c}[1] = {V}|{c}[::-1, 1] = {B}|{c}[:, ::-2] *= {S}|{c}[::2][1] += {V}
{c}[-1, {2}] = {A}|{c}[:, {2}][1:] -= {A}|{c}.T[{3}] += {B}|{c}.T[1] = {B}|{c}[...] = {M}
{c}[{K} % 3, {K}] += {V}|{c}.ravel()[::5] = {B}|{c}.reshape(4, 3)[::-1][1] += {B}
{c}[::-1][:, 1:][0][::-1] = {B}|{c}[{c} > {S}] = {S}|{c}[:, {Q}] *= {S}|{c}[[2, 0]] -= {V}
{c}[:, None, 1] = {S}|{c} *= {S}|{c} -= {M}|np.add.at({a}, [0, 2, 0], {B})
np.subtract.at({a}, {K}, {V})|np.multiply.at({a}, [1, 1], {A})
np.add.at({c}, (slice(None), [1, 1]), {S})|np.add.at({c}, ([0, 2, 0], [1, 1, 1]), {B})
np.maximum.at({a}, [0, 3, 3], {B})|np.add({a}, {V}, out={a})|np.multiply({a}, {S}, out={a}[::-1])
np.sin({V}, out={a}, where={Q})|np.subtract({V}, {V}, out={c}[1])|np.tanh({M}, out={c})
np.sqrt(np.abs({V}) + 0.1, {a})|np.copyto({a}, {V}, where={Q})|np.copyto({c}, {V})
np.cumsum({V}, out={a})|np.put({a}, [0, -1], {A})|np.putmask({a}, {Q}, {V})
np.fill_diagonal({c}, {S})|{a}.fill({S})|{a}.sort()|np.clip({V}, -0.5, 0.6, out={a})
np.add.reduce({M}, axis=0, out={a})|np.sum({M}, axis=0, out={a})|{l}[0] += {V}|{l}[-1] *= {S}
{l}[1] = {V}|{l}[0][{2}] = {A}|{l}.append({V})|{l}.append({a})|{l}[0], {l}[1] = {l}[1], {l}[0]
{l}[0] = {a}|{l}.insert(0, {V})|{l}[1:] = [{V}, {V}]|{l}[n % 2] += {S}|{l} = {l}[::-1]
{l} = [*{l}, {V}]|{l}[0] = {l}[0] * {S}|{l}[-1] -= {l}[0]|del {l}[2:]|z += {S}|z[...] = {S}
z = z * {S}|z *= {S}|z = np.array({S})|z -= z|z[()] = {S}|g[{2}] = {A}|g *= {S}|g += {V}
h = g * {S}|h = {G}|g = g + 1|h[{3}] -= {B}|np.add.at(h, [0, 0, 1], {B})|D["u"] = {S}|D["w"] = {V}
D["u"] += {S}|D["w"] += {V}|D = {**D, "u": {S}}|D.update(w={V}, u={S})|D["w"][{2}] *= {S}
D |= {"u": {S}}|{s} = {s} + D.get("q", {S})|D.setdefault("w", {V})|{a} = pushed({a}, by={S})
{a} = pushed({V}.copy(), by={A}, onto={V})|pushed({a}, by={A})|pushed({c}[1], by={S})
pushed({c}[:, ::-1][2], by={S})|pushed({l}[0], by={A})|{s} += halves({a})[0]
{s}, {a}[0] = {S}, {S}|{a}[0], {a}[3] = {a}[3], {a}[0]|{a}[:2], {a}[2:] = {A}, {A}|k = {K}
{a}, {c}[0] = {V} * 1.0, {V}|{s} = {s} if {T} else {S}|{a} = {a} if {T} else {V}.copy()|k[{2}] = 1
k += 1;k %= 4|{a}[...] = {S}|{a}[-1:0:-2] += {A}|{a}[None, :][0, {2}] = {A}"""
BLOCKS = """
u = {c}[::-1][:, 1:]
u[1] *= {S}
{st}
u[..., 0] -= {B}

u = {a}[1:]
w = u[::-1]
w[:2] += {A}
u[0] = {S}

u = {c}.T
u[::-2] = {B}
{st}
{s} += np.sum(u[1:])

u = {c}.reshape(2, 6)
u[1, ::3] = {A}
{s} += np.sum(u[0])

o = {a}[1, ...]
o += {S}
{s} = {s} + o

o = {c}[1, 2, ...]
o *= {S}
o[...] += {S}

b = z
b += {S}
{s} = {s} + z

for row in {c}:
    row[{2}] = {A}
    {st}

for row in {c}[::-1]:
    row += {V}
    if {T}:
        break

for e in {l}[:2]:
    e *= {S}
    {st}

for j, e in enumerate({l}):
    {l}[j] = e + {S}

for e in {l}:
    e += {V}

for j in range(len({l})):
    {l}[j] += {V}
    {l}[j][0] = {S}

for j in range(n):
    {a}[j % 4] = {S}
    {a}[-1 - j % 3] += {s}
    {st}

for j in range(3, -1, -1):
    if {T}:
        continue
    {a}[j] = {a}[j - 1] * {S}

for j in range(n):
    {st}
    if {T}:
        break
else:
    {st}

for j in range(n):
    {c}[j % 3, ::-1] += {a}
    if {T}:
        continue
    {st}
    {a} = np.tanh({a})

i = 0
while i < 5:
    i += 1
    if {T}:
        break
    {st}
    if {T}:
        continue
    {s} = np.tanh({s} + 0.3)
else:
    {s} -= 0.2

i = n
while i:
    i -= 1
    {st}
    {a}[i % 4] += {S}

i = 0
while (i := i + 1) < 4:
    {st}
    {s} = {s} * 0.5 + {S}

q = {S}
while (q := 0.6 * q) > 0.05:
    {s} += q
    {a}[::2] -= q

while {T}:
    {st}
    break

if (q := {S}) > 0.2:
    {s} += q
    {st}
elif q < -0.3:
    {a}[{2}] = q
else:
    {c}[0, {3}] = {B}

if {T}:
    {st}
    {st}
else:
    {st}

if {T}:
    {a} = {a}[::-1]
{a}[1:3] += {S}

if {T}:
    {l}.append({V})
{l}[-1][{2}] = {A}

if {T}:
    u = {a}
else:
    u = {c}[1]
u[{2}] += {S}

if {T}:
    return {S} * t

def inner(e, scale={S}, *, shift={S}):
    return e * scale + shift + {s}
{s} = {S}
{a} = {a} + inner(0.5, shift={S})

def add(e, by=1.0):
    nonlocal {s}
    {s} = {s} * 0.5 + e * by
    {a}[::-2] += e
    return {s}
y = y + add({S}) - add(by={S}, e={S})

def step(e):
    if {T}:
        return e
    e = e * {S}
    return np.sum({a}) * e
{s} = step(step({S}))

def recorded(e, seen=[]):
    seen.append(e)
    return sum(seen)
{s} = recorded({S}) + recorded({S})

fs = [lambda e, j=j: e * {s} + j for j in range(3)]
{s} = {S}
{s} += fs[0]({S}) + fs[-1](0.3)

fs = {"p": lambda e: e + {s}, "q": functools.partial(blend, weight={S})}
{s} = sum(f({S}) for f in fs.values())

try:
    {st}
    {s} += {S}
finally:
    {a}[{2}] = {A}

try:
    if {T}:
        raise ValueError("low", 2)
    {st}
except ValueError as error:
    {s} += len(error.args) * {S}
else:
    {st}
finally:
    {st}

try:
    {st}
    if {T}:
        return {S} + y
finally:
    {a}[0] = {S}

for j in range(n):
    try:
        if {T}:
            break
        {st}
    finally:
        {s} = 0.7 * {s} + 0.1

match n % 3:
    case 0:
        {st}
    case 1 | 2 if {T}:
        {st}
    case _:
        {st}

match D:
    case {"u": q, **others}:
        {s} += q * len(others)
    case {"w": q}:
        {s} += q[0]

match (n, {l}):
    case (int(q), [first, *others, last]):
        {s} += q * first[0] - last[-1] * len(others)
    case _:
        {s} -= 1.0

match [{S}, {S}]:
    case [q, w] if q > w:
        {s} = q
    case [_, w]:
        {s} += w

first, *others = {V}
{s} += first * others[-1] + len(others)

*others, last = {l}
last[{2}] += {S}
{s} += np.sum(others[0])

(first, *_), [*_, last] = {V}, {B}
{s} += first - last

q, (w, *others) = {S}, {V}
{s} = q * w + sum(others)

u, w = {c}[:2]
u[{2}] = {A}
w -= u

J = [e.copy() for e in L]
J[0] += {V}

J = L
J[0][{2}] -= {A}

J = list(L)
J[0] *= {S}
J[1] = {V}

L = [{V}.copy() for _ in range(3)]
{st}

L = [row for row in {c}]
L[1] += {V}
L[-1][{2}] = {A}

rows = [[e, e * {S}] for e in {l}]
rows[0][1] += {S}
{s} += sum(np.sum(b) for _, b in rows)

D = {key: e * {S} for key, e in D.items()}
{st}

D = dict(D)
D["w"] = D["w"] + {V}
{s} += sum(np.sum(e) for e in D.values())

q = D.pop("u")
{st}
D["u"] = q + {S}

for key in D:
    D[key] = D[key] + {S}

for key, e in p.items():
    if key == "b":
        {s} += e * {S}
    elif isinstance(e, list):
        {a} = {a} + e[1] * {S}
    else:
        {a} += e

q = {"w": p["w"] + {V}, "b": p["b"] * {S}}
p = {**p, **q}

def layer(e, *, w, b=0.1):
    return np.tanh(w * e + b)
{a} = functools.reduce(lambda e, w: layer(e, w=w, b=p["b"]), p["layers"], {V})

e = {a}[4:]
{s} += np.sum(e) + np.prod(e) + len(e)
e += 1.0

e = np.zeros((0, 4))
{a} = {a} + e.sum(axis=0) + np.concatenate([e, {M}]).mean(axis=0)

e = {a}[{Q}]
e *= {S}
{s} += np.sum(e) + e.size

e = {a}[{K}]
e += {S}
{s} += np.sum(e)

u, w = np.split({V}, 2)
{s} += u @ w

u = np.zeros(4, np.float32)
u[1:] += {B}
u[{K}] += {V}
{s} += np.sum(u)

i = k * 2 - n
i[{2}] //= 2
{s} += np.sum(i * {V})

total = 0
for e in k:
    total += e * {S}
{s} += total

count = 0
for e in {V}:
    if e > {S}:
        count += 1
    elif e < -0.8:
        break
{s} += count * {S}

buffer = np.empty((n, 4))
for j in range(n):
    buffer[j] = {a}
    {st}
{s} += np.sum(buffer[::-1][0] * {V})

buffer = []
for j in range(n):
    buffer.append({a} * {S})
    {st}
{s} += np.sum(np.array(buffer))

{c}[:, 0], {c}[:, 1] = {c}[:, 1], {c}[:, 0].copy()

u = {a}.view()
u[{2}] = {A}

u = np.ascontiguousarray({a})
u[{2}] = {A}

u = np.asarray({a})
u += {S}

u = {c}[:, 1:3]
w = u[::-1, ::-1]
w[1:] = {S}
u *= {A}

{a}[:] = [e * {S} if e > 0 else {S} for e in {a}]

{c}[:] = [e * {S} for e in {c}[::-1]]
"""
TOKEN = re.compile(r"\{(\w)\}")
NESTED = re.compile(r"^( *)\{st\}$", re.MULTILINE)


def choices(text):
    return [e.strip() for e in re.split(r"(?<![| ])\|(?![|= ])|\n", text) if e.strip()]


RULES = {kind: choices(text) for kind, text in EXPRESSIONS.items()}
LEAVES = {"S": ["x", "t", "y", "0.7", 'p["b"]'], "V": ["v", "a", "d", 'p["w"]'], "K": ["k"]}
LEAVES |= {"B": ["v[1:]", "a[:0:-1]"], "A": ["a[::2]", "v[2:]"], "M": ["m", "c", "r"], "G": ["g"]}
LEAVES |= {"T": ["x > y", "t > 0.3"], "Q": ["(k > 0)", "(v > x)"]}
NAMES = "sacl"
SIMPLE = choices(LINES)
COMPOUND = BLOCKS.strip("\n").split("\n\n")
START = """t, y, z = x * 1.0, 0.5 - x, np.array(x * 0.3)
a, d, c, r = v.copy(), v * 0.5 + 0.1, m.copy(), m * 0.5
g, h, k = g.copy(), g * 2, k.copy()
L, J, D = [v * 0.3, d * 1.0], [a * 0.7, v + 1.0], {"w": v * 0.4, "u": x * 0.2}
f1 = lambda e, k=0.5: e * k"""
END = """ends = [t, y, z, a, d, c, r, g, h, *L, *J, *D.values()]
return sum(np.sum(np.sin(e + 0.3 * j)) * math.cos(j) for j, e in enumerate(ends)) + np.sum(k)"""


class Writer:
    """Writes one function."""

    def __init__(self, generator):
        self.generator = generator

    def expression(self, kind, depth):
        if kind in NAMES or kind.isdigit():
            return self.generator.choice(RULES[kind])
        template = self.generator.choice(RULES[kind] if depth else LEAVES[kind])
        text = TOKEN.sub(lambda m: self.expression(m[1], max(depth - 1, 0)), template)
        return text if text.isidentifier() or kind == "K" else f"({text})"

    def line(self):
        return self.filled(self.generator.choice(SIMPLE).replace(";", "\n"), 1)

    def filled(self, template, depth):
        names = {kind: self.generator.choice(RULES[kind]) for kind in NAMES}
        return TOKEN.sub(lambda m: names.get(m[1]) or self.expression(m[1], depth), template)

    def statement(self):
        if self.generator.random() < 0.4:
            return self.line()

        def nested(match):
            return "\n".join(match[1] + line for line in self.line().split("\n"))

        template = self.generator.choice(COMPOUND)
        return NESTED.sub(nested, self.filled(template, 1))


def program(seed):
    """The text of a module with a function f of 15 to 40 lines."""
    generator = random.Random(seed)
    writer = Writer(generator)
    lines = START.split("\n")
    length = generator.choice([9, 14, 20])
    while len(lines) < length:
        lines += writer.statement().split("\n")
    lines += END.split("\n")
    body = "\n".join("    " + line for line in lines)
    return f"{HEADER}def f(p, x, v, m, g, k, n):\n{body}\n"
