"""Traces: what is recorded, in which files, and that nothing is left behind."""

import gzip
import json
import threading

import numpy as np
import pytest

import tapeless
import tapeless.numpy as jnp
from tapeless import grad, jit, lax, pmap, profiler, vjp
from tapeless.configuration.instrumentation import kinds
from tapeless.dispatch.transformation_state import TransformationState
from tapeless.profiler import recorder
from tapeless.transforms.errors import ArgumentError, UnsupportedError


def walk(k, x, n):
    for _ in range(n):
        x = x - k * np.sin(x)
    return np.sum(x)


def read(folder):
    """The events of the only trace in a folder."""
    (path,) = folder.glob("plugins/profile/*/*.trace.json.gz")
    document = json.loads(gzip.decompress(path.read_bytes()))
    assert document == json.loads((path.parent / "trace.json").read_text())
    return document["traceEvents"]


def spans(folder):
    return [e for e in read(folder) if e["ph"] == "X"]


def inside(events, outer):
    """The names of what was done during an event, in its thread."""
    stop = outer["ts"] + outer["dur"]
    return [
        e["name"]
        for e in events
        if e is not outer
        and e["tid"] == outer["tid"]
        and outer["ts"] <= e["ts"]
        and e["ts"] + e["dur"] <= stop + 1e-3
    ]


def test_all_that_a_first_call_does(tmp_path):
    f = jit(grad(walk))
    x = np.linspace(0.0, 1.0, 10)
    with profiler.trace(tmp_path):
        first = f(0.1, x, 3)
        second = f(0.1, x, 3)
        grad(walk)(0.1, x, 3)
    assert first == second
    found = spans(tmp_path)
    calls = [e for e in found if e["cat"] == "calls"]
    assert [e["name"] for e in calls] == ["jit of walk_grad"] * 2 + ["grad of walk"]
    done = inside(found, calls[0])
    order = ["stage", "linearize", "transpose", "simplify", "lower to loops", "compile"]
    places = [next(k for k, n in enumerate(done) if n.startswith(name)) for name in order]
    assert places == sorted(places)
    assert [n for n in inside(found, calls[1]) if "kernel" in n] == ["walk_grad_kernel"]
    categories = {e["cat"] for e in found}
    assert {"staging", "transforms", "emission", "compilation", "calls", "kernels"} <= categories


def test_events_are_what_viewers_read(tmp_path):
    with profiler.trace(str(tmp_path)):
        grad(lambda x: x * x)(3.0)
    events = read(tmp_path)
    assert events[0] == {**events[0], "ph": "M", "name": "process_name"}
    for e in events:
        assert {"ph", "pid", "tid", "name"} <= set(e)
        if e["ph"] == "X":
            assert e["ts"] >= 0
            assert e["dur"] >= 0
            assert isinstance(e["cat"], str)


def test_threads_and_collectives(tmp_path):
    device = tapeless.devices()[0]
    shards = pmap(lambda x: x / lax.psum(x, "i"), "i", devices=[device, device])
    with profiler.trace(tmp_path):
        shards(np.arange(4.0))
    events = read(tmp_path)
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    sums = [e for e in events if e["name"] == "psum"]
    assert sorted(names[e["tid"]].rstrip("_0") for e in sums) == ["MainThread", "tapeless-shard"]
    assert all(e["cat"] == "collectives" for e in sums)


def test_calls_that_are_handed_over(tmp_path):
    f = jit(lambda x: jnp.tanh(x @ x))
    x = jnp.ones((256, 256))
    f(x).block_until_ready()
    with profiler.trace(tmp_path):
        f(x)
    (call, work) = (e for e in spans(tmp_path) if e["cat"] == "calls")
    assert (call["name"], work["name"]) == ("jit of function", "jit of function, handed over")
    assert call["tid"] != work["tid"]


def test_pull_backs(tmp_path):
    _, pull = vjp(np.sin, np.arange(3.0))
    with profiler.trace(tmp_path):
        pull(np.ones(3))
    (span,) = spans(tmp_path)
    assert (span["name"], span["cat"]) == ("pull-back of sin", "calls")


def test_annotations(tmp_path):
    @profiler.annotate_function(name="loading", rows=3)
    def load(n):
        return list(range(n))

    with profiler.trace(tmp_path):
        for step in range(2):
            with profiler.StepTraceAnnotation("train", step_num=step):
                assert load(2) == [0, 1]
                with profiler.TraceAnnotation("inner", what=np.float64(1.5)):
                    pass
    found = spans(tmp_path)
    steps = [e for e in found if e["name"] == "train"]
    assert [e["args"] for e in steps] == [{"step_num": 0}, {"step_num": 1}]
    assert inside(found, steps[1]) == ["loading", "inner"]
    assert {e["name"]: e["args"] for e in found if e["cat"] == "user"} == {
        "loading": {"rows": 3},
        "inner": {"what": 1.5},
    }


def test_annotated_functions_are_staged_and_are_methods():
    class Model:
        scale = 3.0

        @profiler.annotate_function
        def apply(self, x):
            return self.scale * x if x > 0 else x

    assert grad(Model().apply)(2.0) == 3.0
    assert Model.apply.__name__ == "apply"


def test_nothing_is_left_behind(tmp_path):
    f = jit(walk)
    x = np.ones(4)
    before = f(0.1, x, 2)
    classes = list(kinds(TransformationState))
    attributes = [dict(vars(cls)) for cls in classes]
    module = dict(f.last.run.__globals__)
    with profiler.trace(tmp_path):
        assert f(0.1, x, 2) == before
        assert dict(f.last.run.__globals__) != module
    assert [dict(vars(cls)) for cls in classes] == attributes
    assert dict(f.last.run.__globals__) == module
    assert recorder.recorder() is None
    assert f(0.1, x, 2) == before


def test_errors_end_the_trace_and_keep_it(tmp_path):
    def fail(x):
        raise KeyError("gone")

    with pytest.raises(KeyError), profiler.trace(tmp_path):
        grad(fail)(1.0)
    assert "grad of fail" in [e["name"] for e in spans(tmp_path)]


def test_a_trace_at_a_time(tmp_path):
    with pytest.raises(RuntimeError, match="no trace is running"):
        profiler.stop_trace()
    with profiler.trace(tmp_path), pytest.raises(RuntimeError, match="running already"):
        profiler.start_trace(tmp_path)


def test_the_file_that_jax_writes_on_request(tmp_path):
    with profiler.trace(tmp_path, create_perfetto_trace=True):
        pass
    (path,) = tmp_path.glob("plugins/profile/*/perfetto_trace.json.gz")
    assert "traceEvents" in json.loads(gzip.decompress(path.read_bytes()))
    with pytest.raises(UnsupportedError, match="create_perfetto_link"):
        profiler.start_trace(tmp_path, create_perfetto_link=True)
    with pytest.raises(ArgumentError, match="profiler_options"):
        profiler.start_trace(tmp_path, profiler_options={})


def test_spans_of_many_threads_are_all_there(tmp_path):
    f = grad(lambda x: np.sum(x * x))
    f(np.ones(3))
    with profiler.trace(tmp_path):
        workers = [
            threading.Thread(target=lambda: [f(np.ones(3)) for _ in range(50)]) for _ in range(4)
        ]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
    assert len([e for e in spans(tmp_path) if e["cat"] == "calls"]) == 200


def test_spans_beyond_the_limit_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder, "MOST", 2)
    with profiler.trace(tmp_path):
        for _ in range(5):
            with profiler.TraceAnnotation("x"):
                pass
    (path,) = tmp_path.glob("plugins/profile/*/trace.json")
    document = json.loads(path.read_text())
    assert document["metadata"]["dropped"] == 3
    assert len(spans(tmp_path)) == 2


def test_threads_that_follow_one_another_are_told_apart(tmp_path):
    """A thread often gets the id of one that has ended."""
    with profiler.trace(tmp_path):
        for name in ("first", "second", "third"):
            each = threading.Thread(target=walk_annotated, args=(name,), name=name)
            each.start()
            each.join()
    found = read(tmp_path)
    names = {e["tid"]: e["args"]["name"] for e in found if e["name"] == "thread_name"}
    assert [names[e["tid"]] for e in found if e["ph"] == "X"] == ["first", "second", "third"]


def walk_annotated(name):
    with profiler.TraceAnnotation(name):
        walk(0.1, 1.0, 3)
