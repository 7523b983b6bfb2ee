"""Source text of random functions over arrays of all dtypes, which casts and stores mix.

A function takes arrays of n numbers: a of float64, b of float32, h of float16, c of complex128, g
of complex64, k of int64 (places), p, r and e of fewer bits, u, o, w and y of unsigned integers,
flags q, matrices A and E (int16) of n rows, and numbers s, t (float32), i, l (int32), z (complex).
In templates

    {V}  is an expression for n numbers, {R} for n that are not complex, {Z} for n integers, {Q}
         for n flags
    {S}  is one for a number, {D} for one that is not complex, {N} for an integer, {C} for one of
         the program, {I} for a place
    {T}  is a dtype, {F} one of floats, {J} one of integers
    ;    begins a line, which is the body of what ends with a colon
"""

import random
import re

VECTORS = """a|b|h|c|g|k|p|r|e|u|o|w|y|q|X|({V} + {V})|({V} - {V})|({V} * {V})|({V} * {S})
({S} - {V})|({V} + {S})|({V} / (2.5 + abs({V})))|({V} / {S})|({S} / {V})|({V}**2)|({R}**3)|{Z}|{R}
np.where({Q}, {V}, {V})|np.where({Q}, {V}, {S})|np.where({Q}, {S}, {S})|{V}.astype({T})
np.real({V})|np.imag({V})|np.conj({V})|np.abs({V})|np.cumsum({V})|np.sort({R})|{V}[k]|{V}[::-1]
np.roll({V}, 1)|A.sum(axis=1)|A[:, -1]|E.sum(axis=1)|E[:, 0]|np.concatenate([{V}[:2], {V}[2:]])
np.array([e_ * {S} for e_ in {V}])|np.array(list({V}))|np.array([e_ for e_ in {V}] + [{S}])[1:]
np.full(n, {S})|np.ones_like({V})|np.full_like({V}, 1)|np.zeros(n, dtype={V}.dtype)
np.arange(n) * {S}|np.clip(np.real({V}), -0.5, 0.6)|np.sqrt(abs({V}))|({V} > {S})|-(k + {Z})
np.mod({Z}, 3)|np.insert({V}[:-1], 0, s)|np.append({V}[1:], {S})|np.stack([{V}, {V}], axis=1)[:, 0]
np.real({V}) // 0.7|np.rint({V})|np.sign({R})|np.exp(1j * {R})|np.square({V})
np.multiply({V}, {V}, dtype=complex)|np.minimum({R}, {C})|np.maximum({V}, {V})|np.fmax({R}, {R})
np.add.accumulate({V})|np.cumprod({Z})|np.diff({V}, prepend={S})|np.flip({V})|np.tile({V}, 2)[n:]
np.repeat({V}, 2)[1::2]|np.asarray({V}, dtype=complex)|np.take({V}, k)|np.take({V}, {Q})
np.choose(k % 2, [{V}, {V}])|np.select([{Q}, {Q}], [{V}, {V}], {C})|np.outer({V}, {V})[:, 0]
np.nan_to_num({V})|np.broadcast_to({S}, (n,))|({V} if {D} > 0.4 else {V})|np.array([{S}] * n)
np.copysign({R}, {R})|np.ldexp(1.0, k)|np.frexp({R})[1]|np.divmod({R}, 0.3)[1]|np.hypot({R}, {R})
np.average(A, 1, [1.0, 2.0, 1])|np.average(np.stack([{V}, {V}]), 0, np.stack([b, b]) + 2)
([{S}] * n + {V})|({V} * [{S}] * 1)"""
EXPRESSIONS = {
    "V": VECTORS,
    "R": """a|b|h|k|p|e|u|({R} + {R})|({R} * {R})|({R} - {D})|np.real({V})|np.abs({V})|A[:, 1]
np.where({Q}, {R}, {R})|{R}[::-1]|np.floor({R})|np.sin({R})|np.tanh({R})|({R} % 0.7)|np.trunc({R})
np.sort({R})|np.arctan2({R}, {R})|{R}.astype({F})""",
    "Z": """k|p|r|e|u|o|w|y|({Z} + {Z})|({Z} - {Z})|({Z} * {Z})|({Z} // 3)|({Z} // {Z})|({Z} % {Z})
({Z} % 3)|({Z} // -2)|({Z} % -3)|-{Z}|~{Z}|({Z} & {Z})|({Z} ^ 5)|({Z} << 1)|({Z} >> 1)|({Z} * 3)
({Z} + 1)|({Z} - 1)|({Z} + 100)|({Z}**2)|(k**2)|np.abs({Z})|np.argsort({R}, kind="stable")
{Z}.astype({J})|np.cumsum({Z})|np.where({Q}, {Z}, {Z})|np.where({Q}, {Z}, {N})
np.minimum({Z}, {Z})|np.maximum({Z}, 3)|({Z} - {N})|({Z} * {N})|np.sign({Z})|np.left_shift({Z}, k)
np.floor_divide({Z}, {N})|np.gcd({Z}, 6)|np.bitwise_count({Z})|np.invert({Z})|np.sort({Z})
np.arange(n)|np.searchsorted(np.sort({R}), {R})|np.add({Z}, {Z}, dtype=np.int64)
np.bincount(k, minlength=n)[:n]|np.count_nonzero(A > 0, axis=1)|np.argmax(A, axis=1)
np.unique(k, return_inverse=True)[1]|np.power(k, 2)""",
    "S": """s|t|i|z|l|0.5|2|-1|1j|{V}[{I}]|np.sum({V})|np.mean({V})|np.max(np.real({V}))|{D}|{N}
({S} + {S})|({S} - {S})|({S} * {S})|abs({S})|-{S}|np.float32(0.3)|np.int64(2)|np.int8(3)|sum({V})
np.float16(0.2)|np.uint8(250)|np.count_nonzero({Q})|np.std({V})|np.sum([{S}, {S}])
np.array([{S}, {S}]).sum()|np.linalg.norm({V})|({V} @ {V})|{V}[0]|np.prod({Z})|np.vdot({V}, {V})
np.sum({V}, dtype=complex)|np.dot({V}, {V})|np.trace(A)|np.sum({Q})|np.any({V})|np.ptp({R})
np.median({R})|np.max({V})|{R}.min()|{C}""",
    "C": "s|t|i|l|0.5|2|-1|1.5|np.float32(0.3)|np.int64(2)",
    "D": """s|t|0.5|float({D})|abs({S})|np.real({S})|({D} * {D})|({D} + 1)|({D} // 0.3)|({D} % 0.3)
round({D}, 1)|{R}[{I}]|float({N})|({D} / 3)|int({D})|{R}.max()""",
    "N": """i|l|2|-3|({N} + {N})|({N} * {N})|({N} // 2)|({N} % 3)|({N} - 7)|int({N})|len({V})
{Z}[{I}]|np.argmax({R})|np.argmin({Z})|np.sum({Z})|abs({N})|({N} & 6)|({N} << 2)|({N} >> 1)|~{N}
-{N}|np.count_nonzero({Q})|divmod({N}, 4)[1]|({N} // -2)|np.int32({N})|np.max({Z})|({N}**2)|n
round({N})|{Z}.min()|{Z}.item(0)""",
    "Q": """q|(np.real({V}) > 0.1)|({V} != 0)|({Q} & {Q})|~{Q}|(k % 2 == 0)|({R} > {D})
({Z} == {N})|({V} == {V})|np.isfinite({V})|np.logical_not({V})|({Q} ^ {Q})|({Z} < {Z})
(np.arange(n) == {N})|{V}.astype(bool)|np.isin({Z}, [1, 2])|np.logical_and({V}, {Q})""",
    "I": "0|1|-1|i|k[0]|(i - 1)|-i|np.argmax(a)",
    "T": """np.float32|np.float16|np.int64|np.complex64|float|int|np.int16|np.uint8|bool|complex
np.int8|np.uint32""",
    "F": "np.float32|np.float16|float",
    "J": "np.int64|np.int8|np.uint8|np.int16|np.uint32|int|np.uint64|np.int32|bool",
}
STATEMENTS = """X = {V}|X[{I}] = {S}|X[1:] = {V}[:-1]|X[::-1] = {V}|X[{Q}] = {S}|X[k] = {V}|X += {V}
X -= {V}|X *= {V}|X /= 1.5|X //= {N}|X %= 3|X **= 2|X <<= 1|X &= {Z}|X ^= {N}|X[:2] += {S}|X *= {S}
X[...] = {S}|B[{I}] = {S}|B[:, 0] = {V}|B[{Q}] = {S}|B *= {S}|B[1] += {S}|B //= {D}|X += {S}
X[{Q}] += {S}|X[{Q}] *= {V}[{Q}]|X[{Q}] = {V}[{Q}]|X[k] += {V}|X[k] += {S}|np.copyto(X, {V})
np.add.at(X, k, {S})|X.fill({S})|X = np.array([s, {S}] + [{S}] * (n - 2))|X.real = {R}|X.sort()
np.copyto(X, {V}, where={Q})|np.copyto(X, {V}, casting="unsafe")|X[[0, -1]] = X[[-1, 0]]
X.imag[:] = {R}|np.add(X, {V}, out=X)|np.multiply({V}, {V}, out=X)|np.sqrt(np.abs(X), out=X)
np.putmask(X, {Q}, {V})|np.put(X, k, {S})|np.put(X, {Q}, {S})|np.place(X, {Q}, [{C}])
np.add(X, {S}, out=X, where={Q})|np.cumsum(X, out=X)|np.minimum.at(X, k, {C})|E += {N}|E[:, 0] = {Z}
for j in range(n):; X[j] = {V}[j] * {S}|for j in range(1, n):; X[j] += X[j - 1] * {S}
for j in range(n):; X[j] -= {V}[j]|for j in range(n):; X[j] = X[j] // 2
for j in range(n):; E[j] += {N}
for r_ in B:; r_ *= {S}|for e_ in {V}:; X = X + e_|E *= {Z}[:, None]|E[{Q}] -= 1|E[:, 1] <<= 1
L = [0.0] * n; L[i] = 0.5; X = np.array(L)|if s > np.real({S}):; X = {V}|if s > 0.1:; X[{I}] = {S}
X = np.array([{V}[j] for j in range(n)])|X = {V}[{Q}].sum() + X
W = {V}[{Q}]; X = np.sum(W * {V}[{Q}]) + X|m1 = {Q}; X = X + np.sum({V}[m1] * {V}[m1])
m1 = {Q}; X[m1] = {V}[m1] * {S}|m1 = {Q}; X[m1] += {V}[m1]
m = np.int64(2); for j in range(n):; m += {Z}[j]; X = X + m
m = np.float64(0.1); for j in range(n):; m = m + {V}[j]; X = X + m
m = {N}; for j in range(n):; m = m * 3 + int({Z}[j]); X = X + m % 7|X[:] = np.sort({R})
B[:, 1] = {V}|X = X.astype({T})|X = X.reshape(n, 1)[:, 0]
E = E.astype({J})|X[{I}], X[{I}] = X[{I}], X[{I}]|V2 = X[::2]; V2 += {S}
V2 = X[::-1]; V2[1:] = V2[:-1]
X[1:] += X[:-1]|X[:-1] -= X[1:]|X = X[::-1]|X[::-1] += X|X[-1:0:-1] = {V}[1:]
L = [{S}] * n; L += X; X = L"""
TOKEN = re.compile(r"\{(\w)\}")
NAMES = "a, b, h, c, g, k, p, r, e, u, o, w, y, q, A, E, s, t, i, l, z"


def choices(text):
    return [e.strip() for e in re.split(r"[|\n]", text)]


RULES = {kind: choices(text) for kind, text in EXPRESSIONS.items()}
LEAVES = {"V": [*"abhcgkpreuowyqX"], "S": ["s", "t", "i", "l", "z", "0.5"], "Q": ["q"], "I": ["0"]}
LEAVES |= {"R": [*"abhkpeu"], "Z": [*"kpreuowy"], "D": ["s", "t", "0.5"], "N": ["i", "l", "2"]}


def program(seed):
    """The text of a module with a function f."""
    generator = random.Random(seed)

    def expression(kind, depth):
        template = generator.choice(RULES[kind] if depth else LEAVES.get(kind, RULES[kind]))
        text = TOKEN.sub(lambda m: expression(m[1], max(depth - 1, 0)), template)
        return text if text.isidentifier() or kind in "TFJ" else f"({text})"

    start = generator.choice([*"abhckgreuowy"])
    lines = [f"n, X, B, E = len(a), {start}.copy(), A.copy(), E.copy()"]
    for _ in range(generator.choice([1, 2, 3])):
        parts = generator.choice(choices(STATEMENTS)).split("; ")
        for before, part in zip(["", *parts], parts, strict=False):
            text = TOKEN.sub(lambda m: expression(m[1], 2), part)
            lines.append("    " + text if before.endswith(":") else text)
    lines.append(f"return X, B, E, {expression('V', 2)}")
    body = "\n".join("    " + line for line in lines)
    return f"import numpy as np\n\n\ndef f({NAMES}):\n{body}\n"
