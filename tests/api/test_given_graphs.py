"""Lists of lists of different lengths as arguments of compiled functions: they are read as arrays,
or each number is an argument where more is done with them."""

import copy

import numpy as np
import pytest

from tapeless import jit
from tests.corpus.graphs import steps_from

X = np.array([0.126, 0.332, 0.64, 0.105, 0.536])
LISTS = [[1, 2], [0, 3], [0], [1, 4], [3], [2, 4, 0]]
PAIRS = [[(1, 1.0), (2, 2.5)], [(0, 1.0)], [(0, 2.5)], [(1, 0.5), (4, 1.5)], [(3, 1.5)], []]


def most(x):
    return int(np.argmax(x))


def matched(g):
    match g:
        case [_, *rest]:
            return len(rest)
    return -1


USES = {
    "number": lambda x, g: g[most(x)][-1],
    "length": lambda x, g: len(g) + len(g[most(x)]) + (1 if g else 0),
    "known place": lambda x, g: (g[1][0], g[-2][0]),
    "loops": lambda x, g: [(u, v) for u, row in enumerate(g) for v in row],
    "class": lambda x, g: (isinstance(g, list), isinstance(g[0], list), type(g) is list),
    "equal": lambda x, g: (g == [[1]], g[2] == [0], [0] in g),
    "result": lambda x, g: g,
    "in a tuple": lambda x, g: (1.0, g),
    "row": lambda x, g: g[most(x)],
    "rows": lambda x, g: [row for row in g],  # noqa: C416
    "deep copy": lambda x, g: copy.deepcopy(g)[1],
    "sorted": lambda x, g: sorted(g, key=len)[0],
    "append": lambda x, g: g.append(g[1]),
    "append to a row": lambda x, g: g[2].append(g[1][0]),
    "store": lambda x, g: g.__setitem__(0, g[1]),
    "pop": lambda x, g: g.pop(),
    "sum": lambda x, g: len(g + [g[1]]) + len(g * 2),  # noqa: RUF005
    "slice": lambda x, g: len(g[1:3]),
    "matched": lambda x, g: matched(g),
    "longest": lambda x, g: max(len(row) for row in g),
    "star": lambda x, g: (lambda a, b, *c: a[0])(*g),
    "reversed": lambda x, g: [len(row) for row in reversed(g)],
    "index": lambda x, g: g.index(g[2]) + g.count(g[2]),
    "any": lambda x, g: (any(g), all(g)),
    "dict": lambda x, g: dict(enumerate(g)),
    "closure": lambda x, g: (lambda: g[most(x)][0])(),
    "from the end": lambda x, g: g[-most(x) - 1][0],
    "iterator": lambda x, g: next(iter(g))[0],
    "none": lambda x, g: (g is None, g is g, g == []),
}


@pytest.mark.parametrize("graph", [LISTS, PAIRS], ids=["numbers", "pairs"])
@pytest.mark.parametrize("name", USES)
def test_as_python(name, graph):
    mine, others = copy.deepcopy(graph), copy.deepcopy(graph)
    expected = USES[name](X, mine)
    assert str(jit(USES[name])(X, others)) == str(expected)
    assert others == mine


def test_the_greatest_of_lists_of_different_lengths():
    """It was as long as another one, and read what nobody had written."""
    rows = [[1, 2, 4], [0, 3], [0], [1, 4, 5, 2], [3]]
    assert jit(lambda x, g: (max(g), min(g)))(X, rows) == ([3], [0])
    assert jit(lambda x, g: sum(max(g)) * x[0])(X, rows) == 3 * X[0]


def steps(x, graph):
    return steps_from(graph, x, 0)


def test_graphs_of_all_sizes_are_one_program():
    f, rng = jit(steps), np.random.default_rng(0)
    for n in (20, 50, 300):
        graph = [rng.integers(0, n, rng.integers(1, 6)).tolist() for _ in range(n)]
        x = rng.random(n)
        np.testing.assert_allclose(f(x, graph), steps(x, graph))
    assert len(f.compilations) == 1


def test_places_beyond_the_end_raise():
    with pytest.raises(IndexError):
        jit(lambda x, g: g[most(x) + 9][0])(X, LISTS)
