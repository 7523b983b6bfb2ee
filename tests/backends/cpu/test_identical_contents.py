"""Whether a container holds the very objects that it held, told in machine code."""

import copy
import random

import pytest

from tapeless.backends.cpu.driver.identical_contents import test_of as same_as


def nested(rng, depth=3):
    """A container of numbers, texts and containers."""
    leaf = [1.5, 2, True, None, "text", float("nan"), 10**30, b"x", frozenset([1])]
    items = [
        nested(rng, depth - 1) if depth and rng.random() < 0.4 else rng.choice(leaf)
        for _ in range(rng.randrange(4))
    ]
    kind = rng.choice([list, tuple, dict])
    return dict(enumerate(items)) if kind is dict else kind(items)


def alike(a, b):
    """The same by Python: types, lengths, keys and objects."""
    if type(a) is not type(b) or type(a) not in (list, tuple, dict):
        return a is b
    if len(a) != len(b):
        return False
    if type(a) is dict:
        pairs = zip(a.items(), b.items(), strict=True)
        return all(k is m and alike(v, w) for (k, v), (m, w) in pairs)
    return all(map(alike, a, b))


def test_random_containers():
    rng = random.Random(0)
    held = [nested(rng) for _ in range(60)]
    for container in held:
        same = same_as(container)
        assert same(copy.deepcopy(container)) == alike(container, copy.deepcopy(container))
        for other in (*held, 1.5, "text", None, [container], {0: container}):
            assert same(other) == alike(container, other)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["a"].append(1.0),
        lambda d: d["a"].clear(),
        lambda d: d["a"].__setitem__(1, 2.5),
        lambda d: d.update(b=(1.0, "y")),
        lambda d: d.update(c=0),
        lambda d: d.update(a=d.pop("a")),  # another order
        lambda d: d.pop("b"),
    ],
)
def test_changes_are_seen(change):
    held = {"a": [1.5, "text"], "b": (1.0, "x")}
    same = same_as(held)
    assert same(held)
    change(held)
    assert not same(held)


@pytest.mark.parametrize("other", [{1, 2}, "text", 1.5, type("Mine", (list,), {})([1])])
def test_what_is_no_plain_container_is_not_tested(other):
    assert same_as(other) is None


def test_the_objects_live_as_long_as_the_test():
    held = [float("1.25")]
    same = same_as(held)
    held[0] = float("2.25")  # could be made where the first one was
    assert not same(held)
