"""Dictionaries and sets of which data says which key is meant."""

from collections import Counter, OrderedDict, defaultdict
from types import MappingProxyType

import numpy as np
import pytest

from tapeless import TapelessError, grad, jit, vmap

RNG = np.random.default_rng(5)
MASSES = {1: 1.008, 6: 12.011, 8: 15.999}


def sums(x):
    found = {}
    for v in x:
        k = int(np.floor(v))
        found[k] = found.get(k, 0.0) + v
    return found


def members(x):
    return {int(v) for v in x}


def groups(x):
    found = defaultdict(list)
    for v in x:
        found[int(v)].append(v)
    return found


def counts(x):
    return Counter(int(v) for v in x)


def ordered(x):
    found = OrderedDict()
    for v in x:
        found[int(v), v > 0] = v
    return found


def pairs(x):
    found = {}
    for v in x:
        found[int(v)] = (v, 1.0)
    return found


@pytest.mark.parametrize("function", [sums, members, groups, counts, ordered, pairs])
def test_results(function):
    call = jit(function)
    for n in (7, 12, 1):
        x = RNG.normal(size=n) * 2
        made, wanted = call(x), function(x)
        assert type(made) is type(wanted)
        assert made == wanted
        assert list(made) == list(wanted) or isinstance(wanted, set)


def test_one_compilation_whatever_the_keys():
    call = jit(sums)
    for n in (3, 30, 3000):
        x = RNG.normal(size=n) * n
        assert call(x) == sums(x)
    assert len({c.kernel for c in call.compilations}) == len(call.compilations)  # each once


def test_many_keys():
    x = RNG.integers(0, 2**50, 5000)
    x = np.concatenate([x, x[::3], x // 2**40 * 2**40])
    call = jit(lambda x: Counter(x.tolist()))
    assert call(x) == Counter(x.tolist())


def test_numbers_that_are_equal_are_one_key():
    def mixed(x, k):
        found = {}
        for v in x:
            found[v] = 1.0
        return found.get(k, -1.0), True in found

    x = np.array([1.0, 2.5, -3.0, 0.0, 1e300])
    for k in (1, 2, -3, 0, 10**6):
        assert jit(mixed)(x, np.int64(k)) == mixed(x, k)
    assert not jit(lambda x: np.nan in dict.fromkeys(x, 1))(np.array([1.0, np.nan]))


def test_missing_keys():
    def there(z):
        return MASSES[z[0]]

    def filled(x, k):
        return sums(x)[int(k)]

    assert jit(there)(np.array([6])) == 12.011
    with pytest.raises(KeyError, match="7"):
        jit(there)(np.array([7]))
    with pytest.raises(KeyError, match="77"):
        jit(filled)(np.array([1.0, 2.0]), np.array(77.0))


def changes_while_it_is_run_over(x):
    found = sums(x)
    for k in found:
        found[k + 100] = 1.0
    return len(found)


def put_in_and_changed(x):
    found = {}
    for v in x:
        new = [v]
        found[int(v)] = new
        new.append(2.0)
    return sum(sum(g) for g in found.values())


def one_list_for_all(x):
    found, one = {}, [1.0]
    for v in x:
        found[int(v)] = one
    found[int(x[0])].append(5.0)
    return sum(len(g) for g in found.values())


def default_that_grows(x):
    found = groups(x)
    found.get(77, []).append(1.0)
    return len(found)


def order_of_a_set(x):
    total = 0
    for k in members(x):
        total = 3 * total + k
    return total


def stored_outside(x):
    for v in x:
        MASSES[int(v)] = v
    return 0.0


@pytest.mark.parametrize(
    "function",
    [
        changes_while_it_is_run_over,
        put_in_and_changed,
        one_list_for_all,
        default_that_grows,
        order_of_a_set,
        stored_outside,
    ],
)
def test_never_wrong(function):
    with pytest.raises((TapelessError, RuntimeError)):
        jit(function)(RNG.normal(size=8) * 3)


def test_an_outer_table_that_changes():
    table = {0: 1.0, 1: 2.0}
    call = jit(lambda z: sum(table[k] for k in z))
    z = np.array([0, 1, 1])
    assert call(z) == 5.0
    table[1] = 10.0
    assert call(z) == 21.0
    table[2] = 3.0
    assert call(np.array([2, 0])) == 4.0


def test_derivatives_and_batches():
    def loss(x):
        return sum((k + 2) * v**2 for k, v in sums(x).items())

    x = RNG.normal(size=(3, 7)) * 2
    wanted = np.array([grad(loss)(row) for row in x])
    np.testing.assert_allclose(jit(vmap(grad(loss)))(x), wanted, rtol=1e-14)
    step = 1e-6 * np.eye(7)
    slopes = [(loss(x[0] + s) - loss(x[0] - s)) / 2e-6 for s in step]
    np.testing.assert_allclose(wanted[0], slopes, rtol=1e-6, atol=1e-7)


def of_mappings(x):
    known = Counter({1: 2, 3: 4})
    proxy = dict(MappingProxyType({1: 2.0}))
    made = dict.fromkeys(range(20), 0.0)
    made[3] = x[0]
    return known[1] * x[0], known[1, 2], proxy[1], made, dict(known, a=1), Counter("abba")


def of_others(x):
    found = sums(x)
    more = {**found, 77: x[0]}
    counted = defaultdict(lambda: 1.0, found)
    counted[88] += x[1]
    return dict(found), more, counted, len(set(found)), Counter(counts(x))


def equal(x):
    mine, other = counts(x), counts(x[::-1])
    other[99] += 0
    first, last = ordered(x), ordered(x[::-1])
    return mine == other, first == last, dict(first) == dict(last), sums(x) == sums(x)


@pytest.mark.parametrize("function", [of_mappings, of_others, equal])
def test_copies_and_comparisons(function):
    call = jit(function)
    for n in (7, 12):
        x = RNG.integers(-9, 9, n) / 2
        assert call(x) == function(x)


@pytest.mark.parametrize("holder", [lambda k: {k, (1.0, 2)}, lambda k: {k: 1}, lambda k: k in {1}])
def test_arrays_are_no_keys(holder):
    for key in (lambda x, s: x, lambda x, s: (x, s)):
        with pytest.raises(TypeError, match=r"unhashable type: 'numpy\.ndarray'"):
            jit(lambda x, s, key=key: holder(key(x, s)))(np.ones(3), 0.5)
