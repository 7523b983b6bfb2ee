"""Python's search for cycles is put off, and comes back as it was."""

import gc
import sys
import threading
import weakref

import pytest

from tapeless.backends.postponed_gc import MANY, MODULES, gc_postponed


class Node:
    """One that refers to itself."""

    def __init__(self):
        self.own = self


@pytest.fixture(autouse=True)
def thresholds():
    before, enabled = gc.get_threshold(), gc.isenabled()
    frozen = gc.get_freeze_count() > 0  # by the tests as a whole
    gc.unfreeze()
    yield
    assert gc.get_threshold() == before
    assert gc.isenabled() is enabled
    if frozen:
        gc.freeze()


@pytest.mark.parametrize("imports", [0, MODULES])
def test_new_objects_are_old_after_many_imports(imports, monkeypatch):
    with gc_postponed():
        node = Node()
        for k in range(imports):
            monkeypatch.setitem(sys.modules, f"module_of_this_test_{k}", None)
    gone = weakref.ref(node)
    del node
    gc.collect(0)
    assert (gone() is None) is (imports == 0)
    gc.collect()
    assert gone() is None


def test_garbage_does_not_pile_up():
    found = []
    gc.callbacks.append(lambda phase, _: found.append(phase))
    try:
        with gc_postponed():
            for _ in range(MANY):
                Node()
    finally:
        gc.callbacks.pop()
    assert found


def test_a_search_that_is_off_stays_off():
    before = gc.get_threshold()
    gc.set_threshold(0)
    with gc_postponed():
        assert gc.get_threshold()[0] == 0
    assert gc.get_threshold()[0] == 0
    gc.set_threshold(*before)


def test_the_last_of_several_threads_sets_it_back():
    before, inside, done = gc.get_threshold(), threading.Event(), threading.Event()

    def other():
        with gc_postponed():
            inside.set()
            done.wait()

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    with pytest.raises(ValueError, match="x"), gc_postponed():
        raise ValueError("x")
    assert gc.get_threshold()[0] == MANY
    done.set()
    thread.join()
    assert gc.get_threshold() == before


def test_what_a_user_froze_stays_so(monkeypatch):
    gc.freeze()
    try:
        with gc_postponed():
            for k in range(MODULES):
                monkeypatch.setitem(sys.modules, f"module_of_this_test_{k}", None)
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
