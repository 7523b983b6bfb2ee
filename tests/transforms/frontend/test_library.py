"""Python's library on data: heaps, bisection, queues, averages, colours; and objects of it that
may change unseen."""

import bisect
import colorsys
import heapq
import io
import queue
import statistics

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError

X = np.array([5.0, 1.0, 4.0, 3.0, 2.0, 6.0])
ROADS = np.array(
    [[0.0, 2.0, 5.0, 0.0], [2.0, 0.0, 1.0, 7.0], [5.0, 1.0, 0.0, 2.0], [0.0, 7.0, 2.0, 0.0]]
)


def heap_of_all(x):
    heap = []
    for k, v in enumerate(x):
        heapq.heappush(heap, (v % 3, k))
    first = heapq.heapreplace(heap, (0.5, 10))
    second = heapq.heappushpop(heap, (9.0, 11))
    return first, second, np.array([k for _, k in heap])


def heapified(a, b, c, d):
    heap = [a, b, c, d]
    heapq.heapify(heap)
    return heap, heapq.nsmallest(2, [a, b, c]), heapq.nlargest(1, [a, b, c], key=lambda v: -v)


def places(x, v):
    line = sorted(x)
    low, high = bisect.bisect_left(line, v), bisect.bisect(line, v)
    bisect.insort(line, v)
    bisect.insort_left(line, -v, key=abs)
    return low, high, np.array(line)


def nearest_first(roads):
    waiting = queue.PriorityQueue()
    waiting.put((0.0, 0))
    far = np.full(len(roads), np.inf)
    far[0] = 0.0
    while not waiting.empty():
        way, here = waiting.get()
        for other in range(len(roads)):
            if roads[here, other] > 0 and way + roads[here, other] < far[other]:
                far[other] = way + roads[here, other]
                waiting.put((far[other], other))
    return far


def in_order(x):
    line, pile = queue.Queue(), queue.LifoQueue()
    for v in x:
        if v > 2.5:
            line.put(v)
            pile.put(v)
    total = 0.0
    while not line.empty():
        total = total * 0.5 + line.get() * pile.get_nowait()
    return total, line.qsize(), pile.full()


def doubled(x, n):
    text = io.StringIO()
    for k in range(n):
        text.write(str(k))
        x = x * 2
    return x, text.getvalue()


def averages(x):
    v = statistics.variance(x), statistics.pvariance(x), statistics.stdev(x), statistics.pstdev(x)
    return statistics.mean(x), statistics.fmean(x, x), statistics.median(x), *v


def averages_of_iterators(x):
    named = {"a": x[0], "b": x[1]}
    means = statistics.mean(2 * v for v in x), statistics.mean(map(abs, x))
    more = statistics.geometric_mean(v * v for v in x), statistics.harmonic_mean(named.values())
    weighted = statistics.harmonic_mean(x, weights=range(1, len(x) + 1))
    return *means, *more, weighted, statistics.median_low(x), statistics.median_high(iter(x))


def colours(r, g, b):
    return colorsys.rgb_to_hsv(r, g, b), colorsys.hls_to_rgb(r, g, b)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (heap_of_all, (X,)),
        (heapified, (3.0, 2.0, 5.0, 1.0)),
        (places, (X, 3.0)),
        (places, (X, 2.5)),
        (nearest_first, (ROADS,)),
        (in_order, (X,)),
        (doubled, (1.5, 4)),
        (averages, (list(X),)),
        (averages, (list(X[:5]),)),
        (averages_of_iterators, (X,)),
        (colours, (0.2, 0.3, 0.7)),
        (colours, (0.8, 0.3, 0.1)),
    ],
)
def test_as_python_does(function, args):
    np.testing.assert_equal(_rounded(tapeless.jit(function)(*args)), _rounded(function(*args)))


def _rounded(value):
    if isinstance(value, (list, tuple)):
        return type(value)(map(_rounded, value))
    return np.round(value, 12) if isinstance(value, (float, np.floating)) else value


@pytest.mark.parametrize("weights", [None, [0.5, 1.0, 2.0]])
def test_derivatives_of_averages(weights):
    slopes = tapeless.grad(lambda x: statistics.fmean(x, weights))([1.0, 2.0, 4.0])
    expected = np.array(weights or [1.0, 1.0, 1.0])
    np.testing.assert_allclose(slopes, expected / expected.sum())


@pytest.mark.parametrize("mean", [statistics.geometric_mean, statistics.harmonic_mean])
def test_averages_of_positive_numbers_only(mean):
    with pytest.raises(statistics.StatisticsError):
        tapeless.jit(mean)(np.array([1.0, -2.0]))


def test_a_queue_that_nobody_fills_is_empty():
    def waits(x):
        line = queue.Queue()
        return x + line.get()

    with pytest.raises(queue.Empty):
        tapeless.jit(waits)(1.0)


def test_an_exception_may_be_raised_by_its_class():
    def always(x):
        raise queue.Full

    with pytest.raises(queue.Full):
        tapeless.jit(always)(1.0)


def test_what_changes_an_object_on_one_side_of_a_test_is_refused():
    def writes(x):
        text = io.StringIO()
        if x > 0:
            text.write("positive")
        return len(text.getvalue())

    with pytest.raises(UnsupportedError, match=r"StringIO\.write, which may change an object"):
        tapeless.jit(writes)(1.0)


def test_too_little_data_is_said_as_python_does():
    with pytest.raises(statistics.StatisticsError, match="at least two data points"):
        tapeless.jit(lambda x: statistics.stdev([x]))(1.0)
