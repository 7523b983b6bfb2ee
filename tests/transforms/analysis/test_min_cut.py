"""The minimum cut against all cuts of small graphs."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeless.transforms.analysis.min_cut import minimum_cut


def separates(kept, edges, fixed, needed):
    """Whether every needed node is kept, or made from kept nodes only."""
    left, seen = [n for n in needed if n not in kept], set()
    while left:
        n = left.pop()
        if n in fixed:
            return False
        if n not in seen:
            seen.add(n)
            left += [a for a, b in edges if b == n and a not in kept]
    return True


def cheapest(nodes, cost, edges, fixed, needed):
    cuts = itertools.chain.from_iterable(
        itertools.combinations(nodes, k) for k in range(len(nodes) + 1)
    )
    return min(sum(cost[n] for n in c) for c in cuts if separates(c, edges, fixed, needed))


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 7))
    nodes = list(range(n))
    pairs = list(itertools.combinations(nodes, 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    some = st.sets(st.sampled_from(nodes))
    cost = {k: draw(st.integers(1, 9)) for k in nodes}
    return nodes, cost, edges, draw(some), draw(some)


@given(graphs())
def test_the_cut_separates_and_none_is_cheaper(graph):
    nodes, cost, edges, fixed, needed = graph
    kept = minimum_cut(nodes, cost, edges, fixed, needed)
    assert kept <= set(nodes)
    assert separates(kept, edges, fixed, needed)
    assert sum(cost[n] for n in kept) == cheapest(*graph)


@pytest.mark.parametrize(
    ("cost", "kept"),
    [
        ({"x": 1, "sin": 9, "sq": 9, "y": 9}, {"x"}),  # one input instead of two values
        ({"x": 9, "sin": 1, "sq": 1, "y": 9}, {"sin", "sq"}),
        ({"x": 9, "sin": 4, "sq": 4, "y": 1}, {"y"}),  # what both are made into
    ],
)
def test_what_is_kept_of_a_diamond(cost, kept):
    edges = [("x", "sin"), ("x", "sq"), ("sin", "y"), ("sq", "y")]
    assert minimum_cut(list(cost), cost, edges, {"x"}, {"y"}) == kept


def test_what_is_needed_but_cannot_be_made_again_is_kept_itself():
    assert minimum_cut(["a", "b"], {"a": 100, "b": 1}, [], {"a"}, {"a", "b"}) == {"a"}


def test_nothing_is_kept_for_nothing():
    assert minimum_cut(["a", "b"], {"a": 1, "b": 1}, [("a", "b")], {"a"}, set()) == set()
