"""Programs of many small launches become one CUDA graph after some calls, with the same values."""

import threading
from dataclasses import replace

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit
from tapeless.backends.cuda import graphs
from tapeless.transforms.lowering.target import GPU
from tests.gpu import cupy_cuda

SAME = 1e-12
EAGER = graphs.SEEN + graphs.COMPARED + 1  # calls before the first one that is a graph alone


@pytest.fixture(autouse=True)
def no_loops_in_one_block(monkeypatch):
    """Loops are the driver's, as they are of larger arrays."""
    monkeypatch.setattr(
        "tapeless.transformations.compilation.jit_on_gpu.GPU", replace(GPU, one_block=0)
    )


def put(x):
    return tapeless.device_put(x, tapeless.devices("gpu")[0])


def network(seed, layers=3):
    rng = np.random.default_rng(seed)
    params = [{"w": rng.normal(size=(5, 5)), "b": rng.normal(size=5)} for _ in range(layers)]
    return params, rng.normal(size=(1, 5)), rng.normal(size=(1, 5))


def loss(params, x, y):
    for layer in params:
        x = np.tanh(x @ layer["w"] + layer["b"])
    return np.mean((x - y) ** 2)


def recurrent(w, xs):
    state = np.zeros(w.shape[0])
    for t in range(len(xs)):
        state = np.tanh(w @ state) + xs[t]
    return state


def scaled(w, x, rate):
    for _ in range(3):
        x = np.tanh(w @ x) * rate
    return x


def looked_up(w, x, k):
    for _ in range(3):
        x = np.tanh(w @ x)
    return x[k]


def until_small(w, x):
    while np.sum(x * x) > 1:
        x = 0.5 * (w @ x)
    return x


def noisy(w, x):
    for _ in range(4):
        x = np.tanh(w @ x + np.random.default_rng(3).normal(size=5))
    return x


def telling(w, x):
    for _ in range(4):
        x = np.tanh(w @ x)
    print("the sum is", np.sum(x))  # noqa: T201  # what programs print is tested
    return x


def entry(run, *args):
    """What runs for arguments after the first call: with a `reason`, if a graph is possible."""
    call = run.entries.find(args)
    cells = [cell.cell_contents for cell in getattr(call, "__closure__", None) or ()]
    return next((c for c in (call, *cells) if isinstance(c, graphs.ReplayedRun)), None)


def assert_near(ours, theirs):
    pairs = zip(*map(tapeless.tree.leaves, (tapeless.device_get(ours), theirs)), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=SAME, atol=SAME)


def call_often(run, arguments, counters, calls=EAGER + 2):
    """The launches and waits of the last call, each of which has arguments of its own; results of
    all calls are looked at when all have been made."""
    results = []
    for seed in range(calls):
        args = tapeless.tree.map(put, arguments(seed))
        counters.clear()
        results.append(run(*args))
        last = [name for name, _, _ in counters.launches], counters.waits
    return results, last


def test_the_gradient_of_a_small_network_is_one_graph(stand_in):
    run = jit(grad(loss), backend="gpu")
    results, (launches, waits) = call_often(run, network, stand_in)
    assert launches == ["copy_arrays", "graph", "copy_arrays"]
    assert waits == 0
    for seed, result in enumerate(results):
        assert_near(result, grad(loss)(*network(seed)))


def test_a_loop_of_the_driver_is_one_graph(stand_in):
    def arguments(seed):
        rng = np.random.default_rng(seed)
        return rng.normal(size=(5, 5)), rng.normal(size=(12, 5))

    run = jit(recurrent, backend="gpu")
    results, (launches, waits) = call_often(run, arguments, stand_in)
    assert launches == ["copy_arrays", "graph", "copy_arrays"]
    assert waits == 0
    for seed, result in enumerate(results):
        assert_near(result, recurrent(*arguments(seed)))


def test_many_arrays_are_copied_by_several_launches(stand_in):
    run = jit(grad(loss), backend="gpu")
    _, (launches, _) = call_often(run, lambda seed: network(seed, 6), stand_in)
    assert launches == ["copy_arrays"] * 2 + ["graph"] + ["copy_arrays"] * 2


def test_other_shapes_have_a_graph_of_their_own(stand_in):
    run = jit(recurrent, backend="gpu")
    for n in (12, 7, 12):
        w, xs = np.eye(5) * 0.5, np.ones((n, 5))
        for _ in range(EAGER + 1):
            assert_near(run(put(w), put(xs)), recurrent(w, xs))
        assert entry(run, put(w), put(xs)).graph is not None


def test_other_numbers_are_launched(stand_in):
    run = jit(scaled, backend="gpu")
    w, x = np.eye(5) * 0.7, np.arange(5.0)
    for rate in [*[0.5] * EAGER, 0.25, 0.5, 0.125]:
        stand_in.clear()
        assert_near(run(put(w), put(x), rate), scaled(w, x, rate))
        names = {name for name, _, _ in stand_in.launches}
        assert ("graph" in names) == (rate == 0.5 and entry(run, put(w), put(x), rate).compared > 0)


def test_errors_are_raised_where_somebody_waits(stand_in):
    run = jit(looked_up, backend="gpu")
    w, x = np.eye(5) * 0.7, np.arange(5.0)
    good, bad = np.array([1, 4]), np.array([1, 5])
    for _ in range(EAGER + 1):
        assert_near(run(put(w), put(x), put(good)), looked_up(w, x, good))
    assert entry(run, put(w), put(x), put(good)).graph is not None
    result = run(put(w), put(x), put(bad))
    with pytest.raises(IndexError):
        tapeless.block_until_ready(result)
    assert_near(run(put(w), put(x), put(good)), looked_up(w, x, good))


@pytest.mark.parametrize("function", [until_small, noisy, telling])
def test_drivers_that_do_more_than_launch_have_no_graph(function, stand_in, capsys):
    run = jit(function, backend="gpu")
    w, x = np.eye(5) * 0.7, np.arange(5.0)
    expected = function(w, x)
    capsys.readouterr()
    for _ in range(EAGER + 2):
        assert_near(run(put(w), put(x)), expected)
    assert "graph" not in {name for name, _, _ in stand_in.launches}
    assert capsys.readouterr().out.count("the sum") == (EAGER + 2) * (function is telling)
    assert entry(run, put(w), put(x)) is None


def test_results_that_differ_are_those_of_launches(stand_in, monkeypatch):
    monkeypatch.setattr(graphs, "_same_bits", lambda a, b: False)
    run = jit(grad(loss), backend="gpu")
    _, (launches, waits) = call_often(run, network, stand_in)
    assert "graph" not in launches
    assert waits == 0
    assert "differ" in entry(run, *tapeless.tree.map(put, network(0))).reason


def test_what_cuda_refuses_is_launched(stand_in, monkeypatch):
    def refuse(self, mode=None):
        raise cupy_cuda.CUDARuntimeError("cudaErrorStreamCaptureUnsupported")

    monkeypatch.setattr(cupy_cuda.Stream, "begin_capture", refuse)
    run = jit(grad(loss), backend="gpu")
    results, (launches, _) = call_often(run, network, stand_in)
    assert "graph" not in launches
    assert "Unsupported" in entry(run, *tapeless.tree.map(put, network(0))).reason
    for seed, result in enumerate(results):
        assert_near(result, grad(loss)(*network(seed)))


def test_what_the_user_records_is_left_alone(stand_in):
    run = jit(grad(loss), backend="gpu")
    args = tapeless.tree.map(put, network(0))
    for _ in range(graphs.SEEN):
        run(*args)
    stream = cupy_cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        result = run(*args)
        graph = stream.end_capture()
    assert entry(run, *args).graph is None
    graph.launch()
    assert_near(result, grad(loss)(*network(0)))


def test_few_launches_and_large_arrays_have_no_graph(stand_in, monkeypatch):
    small = jit(lambda x: x * 2, backend="gpu")
    for _ in range(EAGER):
        small(put(np.ones(9)))
    assert "launches" in entry(small, put(np.ones(9))).reason
    monkeypatch.setattr(graphs, "BYTES", 10)
    run = jit(grad(loss), backend="gpu")
    call_often(run, network, stand_in)
    assert "large" in entry(run, *tapeless.tree.map(put, network(0))).reason


def test_graphs_can_be_turned_off(stand_in, monkeypatch):
    monkeypatch.setenv("TAPELESS_GPU_GRAPHS", "0")
    run = jit(grad(loss), backend="gpu")
    _, (launches, _) = call_often(run, network, stand_in)
    assert "graph" not in launches


def test_another_stream_waits_for_the_one_of_the_last_call(stand_in, monkeypatch):
    events = []
    monkeypatch.setattr(cupy_cuda.Stream, "record", lambda self, event=None: ("of", self.ptr))
    monkeypatch.setattr(
        cupy_cuda.Stream, "wait_event", lambda self, event: events.append((self.ptr, event))
    )
    run = jit(grad(loss), backend="gpu")
    call_often(run, network, stand_in)
    events.clear()
    args = tapeless.tree.map(put, network(3))
    other = cupy_cuda.Stream(non_blocking=True)
    for stream, waits_for in ((other, 0), (other, None), (cupy_cuda.Stream.null, other.ptr)):
        with stream:
            assert_near(run(*args), grad(loss)(*network(3)))
        expected = [] if waits_for is None else [(stream.ptr, ("of", waits_for))]
        assert events == expected
        events.clear()


def test_threads_do_not_mix_their_arguments(stand_in):
    run = jit(grad(loss), backend="gpu")
    call_often(run, network, stand_in)
    wrong = []

    def work(seed):
        args = tapeless.tree.map(put, network(seed))
        for _ in range(5):
            try:
                assert_near(run(*args), grad(loss)(*network(seed)))
            except AssertionError as e:
                wrong.append(e)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
