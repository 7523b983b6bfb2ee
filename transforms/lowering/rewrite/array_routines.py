"""Defines operations on whole arrays as small compiled functions that kernels call.

x = sort(y)      becomes      x = copy(y); sort_in_place(x)

Each overwrites its first argument and reads the others.
"""

from __future__ import annotations

import numpy as np

from tapeless.transforms.core.language import Let, Statement, Type
from tapeless.transforms.core.operation import Op

ELIMINATE = '''
@njit(error_model="numpy", fastmath={"contract"})
def eliminate_in_place(a):
    """The square part of a becomes upper triangular, with the same determinant: of two rows that
    are exchanged, one changes its sign. Other columns are right-hand sides."""
    n, m = a.shape
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            for j in range(k, m):
                a[k, j], a[p, j] = a[p, j], -a[k, j]
        if a[k, k] == 0:
            continue
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            for j in range(k + 1, m):
                a[i, j] -= factor * a[k, j]
'''
TEST_OF_PIVOTS = """    for i in range(n):
        if a[i, i] == 0:
            raise np.linalg.LinAlgError("Singular matrix")
"""
SUBSTITUTE = f'''
@njit(error_model="numpy", fastmath={{"contract"}})
def substitute_in_place(a):
    """Columns after the square part of a, which is upper triangular, become solutions."""
    n, m = a.shape
{TEST_OF_PIVOTS}    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            for j in range(n, m):
                a[i, j] -= a[i, k] * a[k, j]
        for j in range(n, m):
            a[i, j] /= a[i, i]
'''
SUBSTITUTE_UNTESTED = (
    SUBSTITUTE.replace("substitute_in_place", "substitute_untested_in_place")
    .replace("become solutions.", "become solutions; inf and nan where it is singular.")
    .replace(TEST_OF_PIVOTS, "")
)
CHOLESKY = '''
@njit(error_model="numpy", fastmath={"reassoc", "contract"})
def cholesky_in_place(a):
    """The lower triangle of a becomes its Cholesky factor, all else zero."""
    for i in range(a.shape[0]):
        for j in range(i + 1):
            rest = a[i, j]
            for k in range(j):
                rest -= a[i, k] * a[j, k]
            if i > j:
                a[i, j] = rest / a[j, j]
            elif rest <= 0:
                raise np.linalg.LinAlgError("Matrix is not positive definite")
            else:
                a[i, i] = np.sqrt(rest)
    for i in range(a.shape[0]):
        for j in range(i + 1, a.shape[0]):
            a[i, j] = 0
'''
ADJUGATE = '''
@njit(error_model="numpy", fastmath={"contract"})
def adjugate_in_place(a):
    """Of [[A, 1], [1, 0]] the last corner becomes adj A, by elimination with complete pivoting: A
    need not have an inverse. Rows and columns that are exchanged keep the determinant."""
    n, m, scale = a.shape[0] // 2, a.shape[0], a[0, a.shape[0] // 2]
    for k in range(n - 1):
        p, q = k, k
        for i in range(k, n):
            for j in range(k, n):
                if abs(a[i, j]) > abs(a[p, q]):
                    p, q = i, j
        if p != k:
            for j in range(m):
                a[k, j], a[p, j] = a[p, j], -a[k, j]
        if q != k:
            for i in range(m):
                a[i, k], a[i, q] = a[i, q], -a[i, k]
        scale *= a[k, k]
        if scale == 0:
            break
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            for j in range(k + 1, m):
                a[i, j] -= factor * a[k, j]
    for j in range(n, m):
        for i in range(n - 2, -1, -1):
            rest = a[n - 1, n - 1] * a[i, j] - a[i, n - 1] * a[n - 1, j]
            for k in range(i + 1, n - 1):
                rest -= a[i, k] * a[k, j]
            a[i, j] = rest / a[i, i]
    for i in range(n):
        for j in range(n, m):
            total = scale * 0
            for k in range(n):
                if scale != 0:
                    total += scale * a[n + i, k] * a[k, j]
            a[n + i, j] = total
'''
BEFORE = '''
@njit
def before(a, b):
    """Whether a comes before b; NaN comes last."""
    return a < b or (b != b and a == a)
'''
SORT = '''
@njit
def sort_in_place(x):
    """Insertion at falling distances (Ciura, 2001): as fast as any for some hundred numbers."""
    for gap in (19930, 8858, 3937, 1750, 701, 301, 132, 57, 23, 10, 4, 1):
        for i in range(gap, x.size):
            value, k = x[i], i
            while k >= gap and before(value, x[k - gap]):
                x[k] = x[k - gap]
                k -= gap
            x[k] = value
'''
ORDER = '''
@njit
def order_in_place(order, x):
    """Puts places into the order of the numbers there; of equal ones, the first place first."""
    for gap in (19930, 8858, 3937, 1750, 701, 301, 132, 57, 23, 10, 4, 1):
        for i in range(gap, x.size):
            place, k = order[i], i
            while k >= gap:
                other = order[k - gap]
                a, b = x[place], x[other]
                if not (before(a, b) or (place < other and not before(b, a))):
                    break
                order[k] = other
                k -= gap
            order[k] = place
'''


def _routine(name: str, *texts: str) -> Op:
    op = Op(name, lambda x, *read: x.type, None, inplace=True, costly=True)
    TEXTS[op.name] = tuple(text.strip() for text in texts)
    return op


TEXTS: dict[str, tuple[str, ...]] = {}
eliminate = _routine("eliminate_in_place", ELIMINATE)
substitute = _routine("substitute_in_place", SUBSTITUTE)
substitute_untested = _routine("substitute_untested_in_place", SUBSTITUTE_UNTESTED)
factorise = _routine("cholesky_in_place", CHOLESKY)
adjoin = _routine("adjugate_in_place", ADJUGATE)
sort = _routine("sort_in_place", BEFORE, SORT)
order = _routine("order_in_place", BEFORE, ORDER)

#: Whether an element of a sorted array comes before the place of a value, by the side.
COUNTED = {"before": "not (value <= {0} or {0} != {0})", "after": "not before(value, {0})"}
NOT_COUNTED = {"before": "not before({}, value)", "after": "before(value, {})"}
PLACE = '''
@njit
def place_{side}(x, value):
    """{how_many}"""
    low, count = 0, x.size
    while count > 1:
        half = count // 2
        low = low + half if {middle} else low
        count -= half
    return low + 1 if count == 1 and {last} else low
'''
SEARCH = '''
@njit(error_model="numpy")
def search_{side}_in_place(places, x, v):
    """For each value of v its place in x, which is sorted, {side} equal ones.

    Where x is about evenly spaced, a product tells it to one element. Values in order begin where
    the last one was found, others are searched by bisection without branches."""
    n, m = x.size, v.size
    scale, even = 0.0, 2 < n <= m
    if even:
        scale = (n - 1) / (np.float64(x[n - 1]) - np.float64(x[0]))
        for k in range(n):
            even = even and abs((np.float64(x[k]) - np.float64(x[0])) * scale - k) <= 0.5
    if even:
        for i in range(m):
            value = v[i]
            guess = (np.float64(value) - np.float64(x[0])) * scale
            k = np.int64(min(max(guess, 0.0), n - 2.0)) if guess == guess else n - 2
            places[i] = k + ({at_k}) + ({after_k})
        return
    k = 0
    for start in range(0, m, 64):
        stop = min(start + 64, m)
        falls = 0
        for i in range(start + 1, stop):
            falls += v[i] < v[i - 1]
        if falls == 0:
            for i in range(start, stop):
                value = v[i]
                if k == 0 or k >= n or {below} or {above}:
                    k = place_{side}(x, value)
                places[i] = k
        else:
            for i in range(start, stop):
                places[i] = place_{side}(x, v[i])
'''


def _search_text(text: str, side: str) -> str:
    """The text of a search for one side."""
    counted = COUNTED[side]
    how_many = {
        "before": "How many elements of x, which is sorted, come before the value.",
        "after": "How many elements of x, which is sorted, do not come after the value.",
    }
    return text.format(
        side=side,
        how_many=how_many[side],
        middle=counted.format("x[low + half - 1]"),
        last=counted.format("x[low]"),
        at_k=counted.format("x[k]"),
        after_k=counted.format("x[k + 1]"),
        below=NOT_COUNTED[side].format("x[k - 1]"),
        above=counted.format("x[k]"),
    )


PLACE_BEFORE, PLACE_AFTER = (_search_text(PLACE, side) for side in COUNTED)
#: np.searchsorted of all elements of v at once: they overwrite an array of integers.
search_before = _routine(
    "search_before_in_place", BEFORE, PLACE_BEFORE, _search_text(SEARCH, "before")
)
search_after = _routine("search_after_in_place", BEFORE, PLACE_AFTER, _search_text(SEARCH, "after"))
SOLVING = (eliminate, substitute, substitute_untested, factorise, adjoin)
ROUTINES = (*SOLVING, sort, order, search_before, search_after)

#: np.searchsorted for each element of v, as a function of the whole x
searched = Op(
    "searched", lambda x, v, *, after: Type(np.dtype(np.intp), v.type.shape), None, costly=True
)
HELPERS = ("before", "place_before", "place_after")  # names that the texts define, too
NAMES = (*TEXTS, *HELPERS)


def is_routine(s: Statement) -> bool:
    return isinstance(s, Let) and s.op in ROUTINES


def helpers(name: str) -> dict[str, None]:
    """The functions that a routine needs, in order."""
    return dict.fromkeys(TEXTS[name])


def place_helpers(after: bool) -> tuple[str, dict[str, None]]:
    """The function that finds a place, by name, and what it needs."""
    name, text = ("place_after", PLACE_AFTER) if after else ("place_before", PLACE_BEFORE)
    return name, dict.fromkeys((BEFORE.strip(), text.strip()))
