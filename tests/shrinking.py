"""Makes a module that fails smaller, as long as it fails the same way: statements of its function f
and levels of its tower are left out."""

import re
import time


def shrunk(text, fails, seconds=float("inf")):
    """The smallest text that is found in so many seconds; `fails` says whether one still fails the
    same way."""
    end, start, whole = time.monotonic() + seconds, 0, True
    while True:
        for k, shorter in enumerate(candidates(text)):
            if time.monotonic() > end:
                return text
            if k >= start and compiles(shorter) and fails(shorter):
                text, start, whole = shorter, k, False
                break
        else:
            if whole:
                return text
            start, whole = 0, True


def compiles(text):
    try:
        compile(text, "<module>", "exec")
    except SyntaxError:
        return False
    return True


def candidates(text):
    """Texts with a level, a statement or a term less; those that are much shorter come first."""
    for level in reversed(re.findall(r"^g(\d+) = ", text, flags=re.MULTILINE)):
        k = int(level)
        below = f"g{k - 1}" if k else "lambda x, v, m: f(x, v.copy(), m.copy(), 3)"
        shorter = re.sub(rf"^g{k} = .*$", f"g{k} = {below}", text, flags=re.MULTILINE)
        if shorter != text:
            yield shorter
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("def f(")) + 1
    end = next(i for i, line in enumerate(lines) if line.startswith("g0 = "))
    for i in (i for i in range(start, end) if lines[i].strip() not in ("", "pass")):
        before, after = lines[:i], lines[block_end(lines, i) :]
        inside = [line[4:] for line in lines[i + 1 : block_end(lines, i)]]
        pad = lines[i][: depth(lines[i])]
        for put in ([], [f"{pad}pass"], *([inside] if inside else [])):
            yield "\n".join([*before, *put, *after])
        for kept in fewer_terms(lines[i]):
            yield "\n".join([*before, kept, *after])


def depth(line):
    return len(line) - len(line.lstrip())


def block_end(lines, i):
    """Behind the statement in line i and what is inside of it."""
    j = i + 1
    while lines[j].strip() and depth(lines[j]) > depth(lines[i]):
        j += 1
    return j


def fewer_terms(line):
    """A return statement without one of its terms."""
    head, returns, value = line.partition("return ")
    terms = value.split(" + ") if returns else []
    for k in range(len(terms) if len(terms) > 1 else 0):
        yield head + returns + " + ".join(terms[:k] + terms[k + 1 :])
