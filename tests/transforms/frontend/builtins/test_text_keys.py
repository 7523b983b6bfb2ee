"""Dictionaries and sets of texts and other constants: data decides which ones are there."""

import json
import warnings
from collections import Counter, OrderedDict, defaultdict
from enum import Enum

import numpy as np
import pytest

from tapeless import PerformanceWarning, check_grads, grad, jit, strict
from tests.one_program import POINTS, check_one_program


class Phase(Enum):
    SOLID = 1
    LIQUID = 2


def entered_under_tests(x, y):
    flows = {}
    if x > 1:
        flows["owl"] = x
    if y > 1:
        flows["fox", 1] = y * x
    if x + y > 1:
        flows[Phase.SOLID] = x - y
    total = sum(flows.values()) + len(flows)
    for place, (name, flow) in enumerate(flows.items()):
        total += flow * (place + 1) * (2 if name == "owl" else 3)
    if "owl" in flows:
        total += flows["owl"] ** 2
    return total + flows.get(Phase.SOLID, 3.0)


def tuples(x, y):
    events = {}
    if x > 1:
        events["ground"] = (x, np.array([x, y]))
    if y > 1:
        events["wall"] = (y, np.array([y, x]))
    total = 0.0
    for time, where in events.values():
        total += time * where[1]
    return total + (events["ground"][1] @ events["ground"][1] if "ground" in events else 0.0)


def chosen_labels(x, y):
    counts, sums, labels = Counter(), defaultdict(float), set()
    for v in (x, y, x - y, x * y):
        label = "low" if v < 0 else "high" if v > 2 else "mid"
        counts[label] += 1
        sums[label] += v
        labels.add(label)
    return sums["low"] + 2 * sums["high"] + counts["mid"] * x + len(labels) + 7 * len(counts)


def largest_by_phase(x, y):
    best = {}
    for k, v in enumerate([x, y, x * y, x + y]):
        phase = Phase.SOLID if k % 2 else Phase.LIQUID
        if v > 1 and (phase not in best or best[phase] < v):
            best[phase] = v
    return sum(best.values()) + 10 * len(best)


def values_of_many_kinds(x, y):
    info = {"n": 3, "x": x}
    if y > 1:
        info["warning"] = "y is large"
        info["both"] = np.array([x, y])
    if x > 1:
        info.pop("warning", None)
        del info["n"]
    total = np.sum(info["both"]) if "both" in info else 0.0
    return total + len(info) + (5.0 if "warning" in info else 0.0)


def lists_by_label(x, y):
    groups = defaultdict(list)
    for v in (x, y, x - y, x * y):
        groups["negative" if v < 0 else "positive"].append(v)
    return sum(groups["negative"]) + 2 * sum(groups["positive"]) + len(groups["negative"])


def lists_by_setdefault(x, y):
    groups = {}
    for v in (x, y, x - y, x * y):
        groups.setdefault("negative" if v < 0 else "positive", []).append(v)
    return sum(v**2 for v in groups["positive"]) if "positive" in groups else x


def copies(x, y):
    flows = {}
    if x > 1:
        flows["a"] = x * y
    if y > 1:
        flows["b"] = x + y
    alias, copied, spread = flows, dict(flows), {**flows, "z": 2.0}
    alias["c"] = y
    copied["q"] = x
    doubled = {name: 2 * v for name, v in flows.items()}
    joined = flows | {"a": 3.0}
    wholes = (flows, copied, spread, doubled, joined)
    return sum(sum(d.values()) * len(d) for d in wholes)


def filtered(x, y):
    flows = {"a": x, "b": y, "c": x * y}
    large = {name: 2 * v for name, v in flows.items() if v > 1}
    names = {name for name, v in flows.items() if v > 2}
    total = sum(large.values()) + len(names)
    for name in flows:
        if name in large and name in names:
            total += flows[name] ** 2
    return total


def sets(x, y):
    names = {"a"}
    if x > 1:
        names.add("b")
    if y > 1:
        names.discard("a")
    joined, common, rest = names | {"z"}, names & {"a", "b"}, names - {"b"}
    inside = sum(1 for name in ("a", "b", "c") if name in names)
    return inside * x + len(joined) + 3 * len(common) + 7 * len(rest) + (1.0 if names else 0.0)


def objects(x, y):
    class Probe:
        def __init__(self, value):
            self.value = value

    probes = {}
    if x > 1:
        probes["p"] = Probe(x)
    if y > 1:
        probes["q"] = Probe(y)
    if "p" in probes:
        probes["p"].value *= 2
    return sum(p.value**2 for p in probes.values()) + len(probes)


def changed_in_a_loop_over_it(x, y):
    flows = {}
    if x > 1:
        flows["a"] = x
    if y > 1:
        flows["b"] = x * y
    for name in flows:
        flows[name] *= 2
    return sum(flows.values())


def nested(x, y):
    table = {"u": {}, "v": {}}
    for v in (x, y, x * y):
        table["u" if v > 1 else "v"]["large" if v > 2 else "small"] = v
    return sum(table["u"].values()) - sum(table["v"].values()) + len(table["u"])


PROGRAMS = [
    entered_under_tests,
    tuples,
    chosen_labels,
    largest_by_phase,
    values_of_many_kinds,
    lists_by_label,
    lists_by_setdefault,
    copies,
    filtered,
    sets,
    objects,
    changed_in_a_loop_over_it,
    nested,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_program_for_all_values(program):
    check_one_program(program)


def test_filled_in_a_loop_that_stays_one():
    def last_values(xs, scale):
        seen = {}
        for x in xs:
            if x > 1:
                seen["large"] = seen.get("large", 0.0) + x
            elif x > 0:
                seen["small"] = x * scale
            if "small" in seen:
                seen["small"] *= 0.9
        return seen.get("large", 0.0) * 2 + seen.get("small", 0.0) + seen.setdefault("none", 1.0)

    rng = np.random.default_rng(1)
    with strict(True):
        call = jit(last_values)
        for n in (4, 7, 30):
            xs = rng.normal(size=n) * 2
            assert call(xs, 1.5) == pytest.approx(last_values(xs, 1.5))
            check_grads(last_values, (xs, 1.5), order=1)
        assert "\n    for " in grad(last_values).source(xs, 1.5)


@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_results(kind):
    def flows(x, y):
        result = kind({"k": y})
        if x > 1:
            result["a"] = x * y
        return result

    with strict(True):
        call = jit(flows)
        for point in POINTS:
            assert call(*point) == flows(*point)
            assert type(call(*point)) is kind
            assert list(call(*point)) == list(flows(*point))


def test_sets_as_results():
    def names(x, y):
        result = {"k"}
        if x > y:
            result.add("a")
        return result

    with strict(True):
        assert [jit(names)(*point) for point in POINTS] == [names(*point) for point in POINTS]


def test_missing_keys_raise():
    def read(x):
        flows = {}
        if x > 1:
            flows["a"] = x
        return flows["a"]

    def caught(x):
        try:
            return read(x)
        except KeyError:
            return -x

    with strict(True):
        assert jit(read)(2.0) == 2.0
        with pytest.raises(KeyError, match="'a'"):
            jit(read)(0.5)
        assert [jit(caught)(x) for x in (2.0, 0.5)] == [2.0, -0.5]


def in_sorted_order(x, y):
    flows, used = {}, set()
    for name, v in zip("dacb", (x, y, x * y, x + y), strict=True):
        if v > 0.8:
            flows[name] = v * v
        if v < 1.6:
            used.add(name)
    total = 0.0
    for k, name in enumerate(sorted(flows)):
        total += (k + 1) * flows[name]
        flows[name] = total
    pairs = sum(v for name, v in sorted(flows.items(), reverse=True) if name != "a")
    weights = {"a": 1.0, "b": x, "c": 3.0, "d": y}
    return total + pairs + len(sorted(flows)) + sum(weights[n] * x for n in sorted(used))


def test_sorted_keys():
    check_one_program(in_sorted_order)


def in_an_order_that_data_decides(x, y):
    flows = {}
    if x > 1:
        flows["a"] = x
    if y > 1:
        flows["b"] = y
    flows.pop("a", None)
    flows["a"] = 4.0
    return sum((k + 1) * flows[name] for k, name in enumerate(flows))


def test_order_that_data_decides():
    check_one_program(in_an_order_that_data_decides)


def test_what_stands_for_them_does_not_leak():
    """Text, keywords and code that is not staged get Python's own dictionaries, or nothing."""

    def scaled(a=0.0, b=0.0):
        return a + 2 * b

    def fill(x, y, keys):
        return {key: v for key, v in zip(keys, (x, y), strict=True) if v > 1}

    uses = [
        lambda d: scaled(**d),
        lambda d: len(str(d)),
        lambda d: len(f"{d}"),
        lambda d: len("%s" % d),  # noqa: UP031
        lambda d: len(json.dumps(d)),
        lambda d: float((Counter(d) + Counter(d))["a"]),
        lambda d: (Counter(d) | Counter(d))["b"],
        lambda d: len({**d}) + len(list(d)),
    ]
    for keys in (("a", "b"), (1, 2)):
        for k, use in enumerate(uses):
            if k == 0 and keys == (1, 2):
                continue

            def program(x, y, keys=keys, use=use):
                return use(fill(x, y, keys)) + 0.0 * x

            with strict(False), warnings.catch_warnings():
                warnings.simplefilter("ignore", PerformanceWarning)
                call = jit(program)
                for point in POINTS:
                    assert call(*point) == pytest.approx(program(*point)), (k, keys)


COLOURS = ("red", "blue", "red", "green", "blue", "red")


def in_the_order_of_distances(x):
    votes = {}
    for i in np.argsort(x):
        if x[i] > 0.3 or COLOURS[i] in votes:
            votes[COLOURS[i]] = votes.get(COLOURS[i], 0.0) + x[i]
    return votes, list(votes.values())


def test_dicts_have_their_keys_in_the_order_in_which_they_came():
    """Also where run-time values decide it, as results and lists of them show."""
    rng, orders = np.random.default_rng(0), set()
    compiled = jit(in_the_order_of_distances)
    for _ in range(20):
        x = rng.uniform(size=6)
        with strict(True):
            got = compiled(x)
        expected = in_the_order_of_distances(x)
        assert list(got[0]) == list(expected[0])
        np.testing.assert_allclose(list(got[0].values()), list(expected[0].values()))
        np.testing.assert_allclose(got[1], expected[1])
        orders.add(tuple(expected[0]))
    assert len(orders) > 4


def test_texts_of_a_dict_are_joined():
    def joined(x):
        sizes = {}
        for v in x:
            sizes["small" if v < 0.5 else "large"] = v
        return " ".join(sizes)

    for x in (np.array([0.2, 0.9]), np.array([0.9, 0.2]), np.array([0.6, 0.9])):
        with strict(False), warnings.catch_warnings():
            warnings.simplefilter("ignore", PerformanceWarning)
            assert jit(joined)(x) == joined(x)


def filled_and_read_by_name(x):
    flows = {"p": {"u": x[0]}, "q": {}, "r": {"u": x[1], "w": x[2]}}
    total = 0.0
    for v in x:
        name = "p" if v > 0.7 else "q" if v > 0.5 else "r"
        total += sum(flows[name].values()) + len(flows[name].items())
        flows[name]["u"] = v
    return total


def test_dicts_of_different_keys_by_name():
    """A key that only one of them lacked made the program raise an AttributeError."""
    rng, compiled = np.random.default_rng(0), jit(filled_and_read_by_name)
    for _ in range(10):
        x = rng.uniform(size=5)
        with strict(False), warnings.catch_warnings():
            warnings.simplefilter("ignore", PerformanceWarning)
            assert compiled(x) == pytest.approx(filled_and_read_by_name(x))


def truths_by_name(x):
    lists, total = {"p": [x[0]], "q": [], "r": [x[1], x[2]]}, 0.0
    for v in x:
        name = "p" if v > 0.7 else "q" if v > 0.5 else "r"
        if lists[name] and lists[name][0] > 0.5:
            total += 1
        if not lists[name]:
            total += v
        total += sum(lists[name])
        if name == "r":
            lists[name].append(v)
    return total


def test_truths_of_lists_by_name():
    rng, compiled = np.random.default_rng(0), jit(truths_by_name)
    for _ in range(10):
        x = rng.uniform(size=5)
        with strict(True):
            assert compiled(x) == pytest.approx(truths_by_name(x))
