"""Memory profiles: the format of pprof, and what is in them."""

import gc
import gzip
import linecache
import struct
import tracemalloc
from collections import defaultdict

import numpy as np
import pytest

from tapeless import jit, live_arrays, profiler
from tapeless.profiler.pprof import ProfileLine, ProfileSample, encode
from tapeless.profiler.protobuf import varint
from tapeless.transforms.errors import ArgumentError

SIZE = 1 << 20


def fields(data):
    """The fields of a protobuf message: {number: [int or bytes, ...]}."""
    found, at = defaultdict(list), 0

    def number():
        nonlocal at
        made, shift = 0, 0
        while True:
            byte, at = data[at], at + 1
            made |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return made

    while at < len(data):
        key = number()
        if key & 7 == 0:
            found[key >> 3].append(number())
        elif key & 7 == 1:
            found[key >> 3].append(struct.unpack("<d", data[at : at + 8])[0])
            at += 8
        else:
            assert key & 7 == 2
            length = number()
            found[key >> 3].append(data[at : at + length])
            at += length
    return found


def numbers(data):
    made, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            made.append(value)
            value, shift = 0, 0
    return made


def decoded(profile):
    """(stack of (function, file, line), values, label) of each sample, and the kinds of values."""
    p = fields(gzip.decompress(profile))
    texts = [t.decode() for t in p[6]]
    assert texts[0] == ""
    functions = {}
    for raw in p[5]:
        f = fields(raw)
        functions[f[1][0]] = (texts[f[2][0]], texts[f[4][0]] if f[4] else "")
    places = {}
    for raw in p[4]:
        f = fields(raw)
        line = fields(f[4][0])
        places[f[1][0]] = (*functions[line[1][0]], line[2][0] if line[2] else 0)
    samples = []
    for raw in p[2]:
        s = fields(raw)
        stack = [places[k] for k in numbers(s[1][0])]
        label = texts[fields(s[3][0])[2][0]] if s[3] else ""
        samples.append((stack, numbers(s[2][0]), label))
    kinds = [tuple(texts[k[0]] for k in (fields(raw)[1], fields(raw)[2])) for raw in p[1]]
    return samples, kinds, texts[p[13][0]] if p[13] else ""


def test_numbers():
    assert [varint(n) for n in (1, 127, 128, 300)] == [b"\x01", b"\x7f", b"\x80\x01", b"\xac\x02"]
    assert numbers(varint(2**63) + varint(5)) == [2**63, 5]


def test_what_is_written_is_read():
    samples = [
        ProfileSample(
            (ProfileLine("f", "a.py", 3), ProfileLine("main", "a.py", 300)), (1, 800), "variable"
        ),
        ProfileSample((ProfileLine("g", "b.py", 0),), (2, 2**40)),
        ProfileSample((ProfileLine("f", "a.py", 3),), (1, 0), "module"),
    ]
    made, kinds, comment = decoded(
        encode(samples, [("allocations", "count"), ("space", "bytes")], "a remark")
    )
    assert kinds == [("allocations", "count"), ("space", "bytes")]
    assert made == [
        ([(p.function, p.file, p.line) for p in s.stack], list(s.values), s.label) for s in samples
    ]
    assert comment == "a remark"


def test_the_reader_of_these_tests_reads_profiles_of_others():
    profiler_of_jax = pytest.importorskip("jax.profiler", reason="JAX is not installed")
    jnp = pytest.importorskip("jax.numpy")
    kept = jnp.ones(1000)
    samples, kinds, _ = decoded(profiler_of_jax.device_memory_profile())
    assert kinds == [("allocations", "count"), ("space", "bytes")]
    assert sum(values[1] for _, values, _ in samples) >= kept.nbytes


def tell(path):
    profiler.save_device_memory_profile(path)
    return decoded(path.read_bytes())


def test_arrays_by_who_made_them(tmp_path):
    double = jit(lambda x: x * 2)
    double(np.ones(4))  # what is compiled while memory is traced takes long
    tracemalloc.start(10)
    try:
        made = np.ones(SIZE)  # made here
        twice = double(made)
        samples, _, comment = tell(tmp_path / "memory.prof")
    finally:
        tracemalloc.stop()
    assert "by the line that made them" in comment
    large = [s for s in samples if s[1][1] >= made.nbytes]
    texts = [" ".join(place[0] for place in stack) for stack, _, _ in large]
    assert any("# made here" in text for text in texts)
    assert any("twice = double(" in text for text in texts)
    for stack, values, _ in large:
        assert values[0] == 1
        for function, file, line in stack:
            assert "/tapeless/" not in file
            assert function == linecache.getline(file, line).strip()
    assert twice[0] == 2


class Holder:
    pass


KEPT = np.zeros(SIZE)


def test_arrays_by_who_holds_them(tmp_path):
    local = np.zeros(SIZE)
    held = Holder()
    held.weights = np.zeros(SIZE)
    views = [local[1:], local[2:]]
    samples, _, comment = tell(tmp_path / "memory.prof")
    assert "tracemalloc.start" in comment
    found = {
        stack[0][0]: (stack, values, label)
        for stack, values, label in samples
        if values[1] == 8 * SIZE
    }
    stack, values, label = found["local"]
    assert (values[0], label) == (1, "variable")
    assert stack[1][0] == "test_arrays_by_who_holds_them"
    assert stack[1][1] == __file__
    assert found[f"{__name__}.KEPT"][2] == "module"
    assert found["held.weights"][2] == "variable"
    assert [s[0][0][0] for s in samples if s[0][0][0].startswith("local")] == ["local"], views


class Layer:
    def __init__(self):
        self.weights = np.zeros(SIZE)  # of a layer


class Model:
    def __init__(self):
        self.layers = [Layer()]  # of a model


def closure():
    hidden = np.zeros(SIZE)  # in a closure
    return lambda x: x * hidden


def test_who_holds_them_is_named_with_functions_and_lines(tmp_path):
    model = Model()  # in a variable
    params = {"w": jit(lambda x: x * 2)(np.zeros(SIZE))}  # in a dict
    scaled = closure()  # calls closure
    samples, _, _ = tell(tmp_path / "memory.prof")
    found = {stack[0][0]: stack for stack, _, _ in samples}
    here = "test_who_holds_them_is_named_with_functions_and_lines"
    expected = {
        "model.layers[0].weights": [
            ("Layer.__init__", "of a layer"),
            ("Model.__init__", "of a model"),
            (here, "in a variable"),
        ],
        "params['w']": [(here, "in a dict")],
        "closure.<locals>.<lambda>: hidden": [
            ("closure", "in a closure"),
            (here, "calls closure"),
        ],
        f"{__name__}.KEPT": [(f"module {__name__}", "KEPT = ")],
    }
    for name, places in expected.items():
        own = found[name][1 : 1 + len(places)]
        assert [function for function, _, _ in own] == [function for function, _ in places]
        for (_, file, line), (_, text) in zip(own, places, strict=True):
            assert file == __file__
            assert text in linecache.getline(file, line)
    assert model is not scaled is not params


def test_objects_that_hold_one_another(tmp_path):
    first, second = Holder(), Holder()
    first.other, second.other = second, first
    second.weights = np.zeros(SIZE)
    samples, _, _ = tell(tmp_path / "memory.prof")
    names = {stack[0][0] for stack, values, _ in samples if values[1] == 8 * SIZE}
    assert "first.other.weights" in names or "second.weights" in names


@pytest.mark.usefixtures("only_new_objects")
def test_arrays_that_are_gone(tmp_path):
    gone = np.zeros(SIZE)
    weight = gone.nbytes
    before = sum(x.nbytes for x in live_arrays())
    del gone
    gc.collect()
    assert before - sum(x.nbytes for x in live_arrays()) >= weight


@pytest.mark.usefixtures("only_new_objects")
def test_live_arrays():
    x = np.zeros(SIZE)
    view = x[:5]
    found = live_arrays()
    assert sum(y is x for y in found) == 1
    assert not any(y is view for y in found)
    assert live_arrays("gpu") == []


def test_other_backends():
    with pytest.raises(ArgumentError, match="backend is 'tpu'"):
        profiler.device_memory_profile("tpu")
