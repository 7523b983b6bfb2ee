"""Source text of random functions over arrays of all dtypes, which casts and stores mix.

A function takes arrays of n numbers: a of float64, b of float32, k of int64 (places), p of int32,
c of complex128 and flags q, a matrix A of n rows, and numbers s, t (float32) and i. In templates
{V} is an expression for n numbers, {S} for one, {Q} for n flags, {I} for a place.
"""

import random
import re

EXPRESSIONS = {
    "V": """a|b|k|p|c|({V} + {V})|({V} - {V})|({V} * {S})|({S} - {V})|({V} / (2.5 + abs({V})))
({V}**2)|np.where({Q}, {V}, {V})|np.where({Q}, {V}, {S})|{V}.astype(np.float32)|np.real({V})
np.abs({V})|np.cumsum({V})|np.sort({V})|{V}[k]|{V}[::-1]|np.roll({V}, 1)|A.sum(axis=1)|A[:, -1]
np.concatenate([{V}[:2], {V}[2:]])|np.array([e * {S} for e in {V}])|np.array(list({V}))
np.array([e for e in {V}] + [{S}])[1:]|np.full(n, {S})|np.ones_like({V})|np.arange(n) * {S}
np.clip(np.real({V}), -0.5, 0.6)|np.sqrt(abs({V}))|-{V}|({V} > {S})|np.mod(k, 3)|(k << 1)|(p & 3)
np.float32(s) * {V}|{V} * np.int32(3)|np.insert({V}[:-1], 0, s)|np.append({V}[1:], {S})
np.stack([{V}, {V}], axis=1)[:, 0]|np.real({V}) // 0.7|np.rint({V})|np.average(A, 1, [1.0, 2.0, 1])
np.average(np.stack([{V}, {V}]), 0, np.stack([b, b]) + 2)|np.zeros(n, dtype={V}.dtype)""",
    "S": """s|t|i|0.5|2|{V}[{I}]|np.sum({V})|np.mean({V})|np.max(np.real({V}))|({S} + {S})
({S} * {S})
abs({S})|np.float32(0.3)|np.int64(2)|sum({V})|len({V})|np.count_nonzero({Q})|np.std({V})|i // 2
np.sum([{S}, {S}])|np.array([{S}, {S}]).sum()|np.linalg.norm({V})|({V} @ {V})|{V}[0]""",
    "Q": "q|(np.real({V}) > 0.1)|({V} != 0)|({Q} & {Q})|~{Q}|(k % 2 == 0)",
    "I": "0|1|-1|i|k[0]",
}
STATEMENTS = """X = {V}|X[{I}] = {S}|X[1:] = {V}[:-1]|X[::-1] = {V}|X[{Q}] = {S}|X[k] = {V}|X += {V}
X[:2] += {S}|X *= {S}|X[...] = {S}|B[{I}] = {S}|B[:, 0] = {V}|B[{Q}] = {S}|B *= {S}
np.copyto(X, {V})|np.add.at(X, k, {S})|X.fill({S})|X = np.array([s, {S}] + [{S}] * (n - 2))
X[[0, -1]] = X[[-1, 0]]
for j in range(n): X[j] = {V}[j] * {S}|for j in range(1, n): X[j] += X[j - 1] * {S}
for r in B: r *= {S}|for e in {V}: X = X + e|L = [0.0] * n; L[i] = 0.5; X = np.array(L)
if s > np.real({S}): X = {V}|if s > 0.1: X[{I}] = {S}|X = np.array([{V}[j] for j in range(n)])"""
TOKEN = re.compile(r"\{(\w)\}")


def choices(text):
    return [e.strip() for e in re.split(r"[|\n]", text)]


RULES = {kind: choices(text) for kind, text in EXPRESSIONS.items()}
LEAVES = {"V": ["a", "b", "k", "p", "c", "X"], "S": ["s", "t", "i", "0.5"], "Q": ["q"], "I": ["0"]}


def program(seed):
    """The text of a module with a function f."""
    generator = random.Random(seed)

    def expression(kind, depth):
        template = generator.choice(RULES[kind] if depth else LEAVES[kind])
        text = TOKEN.sub(lambda m: expression(m[1], depth - 1), template)
        return text if text.isidentifier() else f"({text})"

    start = generator.choice(["a.copy()", "b.copy()", "k.copy()", "c.copy()", "a * 2"])
    lines = [f"n, X, B = len(a), {start}, A.copy()"]
    for _ in range(generator.choice([2, 3, 4])):
        statement = generator.choice(choices(STATEMENTS))
        lines.append(TOKEN.sub(lambda m: expression(m[1], 2), statement))
    lines.append(f"return X, B, {expression('V', 2)}")
    body = "\n".join("    " + line for line in lines)
    return f"import numpy as np\n\n\ndef f(a, b, k, p, c, q, A, s, t, i):\n{body}\n"
