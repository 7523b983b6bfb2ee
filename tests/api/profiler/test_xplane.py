"""Traces for TensorBoard's profile plugin: what is in the file, and what the plugin makes of it."""

import json
import threading

import numpy as np
import pytest

from tapeless import grad, jit, profiler
from tests.api.profiler.test_memory import fields


def walk(k, x, n):
    for _ in range(n):
        x = x - k * np.sin(x)
    return np.sum(x)


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """The file of a trace of three steps, and of a second thread."""
    folder = tmp_path_factory.mktemp("trace")
    slope = jit(grad(walk))
    with profiler.trace(folder):
        for step in range(3):
            with profiler.StepTraceAnnotation("train", step_num=step):
                slope(0.1, np.ones(4), 3)
        with profiler.TraceAnnotation("load", rows=-3, part=0.5, file="a.npz"):
            other = threading.Thread(target=slope, args=(0.1, np.ones(4), 3), name="second")
            other.start()
            other.join()
    (file,) = folder.glob("plugins/profile/*/*.xplane.pb")
    return file


def names_of(plane, field):
    """The names of a plane's events or stats, by number."""
    entries = [fields(fields(entry)[2][0]) for entry in plane[field]]
    return {entry[1][0]: entry[2][0].decode() for entry in entries}


def test_threads_are_lines_of_the_host(trace):
    (space,) = fields(trace.read_bytes())[1]
    plane = fields(space)
    assert plane[2] == [b"/host:CPU"]
    lines = [fields(line) for line in plane[3]]
    assert [line[2][0].decode() for line in lines] == [threading.current_thread().name, "second"]
    names = names_of(plane, 4)
    events = [fields(event) for event in lines[1][4]]
    assert "jit_of_walk_grad:call" in [names[event[1][0]] for event in events]
    starts = [event[2][0] for event in map(fields, lines[0][4])]
    assert starts == sorted(starts)


def test_what_is_told_with_a_span(trace):
    plane = fields(fields(trace.read_bytes())[1][0])
    names, stats = names_of(plane, 4), names_of(plane, 5)
    events = [fields(event) for event in fields(plane[3][0])[4]]
    told = {
        names[event[1][0]]: {stats[s[1][0]]: s for s in map(fields, event[4])} for event in events
    }
    assert set(told["train"]) == {"_r", "step_num"}
    assert told["train"]["step_num"][4] == [2]
    assert told["load"]["rows"][4] == [(1 << 64) - 3]
    assert told["load"]["part"][2] == [0.5]
    assert told["load"]["file"][5] == [b"a.npz"]


@pytest.fixture
def plugin():
    reason = "pip install 'tapeless[interplay]' brings it"
    return pytest.importorskip("xprof.convert.raw_to_tool_data", reason=reason)


def shown(plugin, trace, tool):
    data, _ = plugin.xspace_to_tool_data([str(trace)], tool, {})
    return json.loads(data)


def test_the_plugin_has_tools_for_it(plugin, trace):
    tools = set(plugin.xspace_to_tool_names([str(trace)]))
    assert {"trace_viewer@", "overview_page", "framework_op_stats"} <= tools


def test_the_plugin_shows_all_spans(plugin, trace):
    found = [e["name"] for e in shown(plugin, trace, "trace_viewer@")["traceEvents"]]
    assert {"train 0", "train 1", "train 2", "load", "jit of walk_grad"} <= set(found)


def test_the_plugin_adds_up_operations(plugin, trace):
    table = shown(plugin, trace, "framework_op_stats")[1]
    columns = [column["id"] for column in table["cols"]]
    rows = [dict(zip(columns, [c["v"] for c in r["c"]], strict=True)) for r in table["rows"]]
    by_name = {row["operation"]: row for row in rows}
    assert by_name["compile_walk_grad_kernel"]["type"] == "compilation"
    assert by_name["jit_of_walk_grad"]["occurrences"] >= 4


def test_the_plugin_finds_the_steps(plugin, trace):
    steps = shown(plugin, trace, "input_pipeline_analyzer")[1]["rows"]
    assert [row["c"][0]["v"] for row in steps] == ["train 0", "train 1", "train 2"]
