"""Journals undo stores to what is older than their block."""

import pytest

from tapeless.transforms.frontend.trace.journals import Journals, Location


class Variable(Location):
    def __init__(self, value, birth=0):
        self.value, self.birth, self.key = value, birth, (id(self),)

    def get(self):
        return self.value

    def set(self, value):
        self.value = value


@pytest.fixture
def journals():
    return Journals()


def store(journals, variable, value):
    journals.touch(variable)
    variable.set(value)


def store_and_fail(journals, value, *variables):
    for variable in variables:
        store(journals, variable, value)
    raise ValueError("here")


def test_a_block_is_undone(journals):
    x, y = Variable(1), Variable(2)
    with journals.recording() as journal:
        store(journals, x, 10)
        store(journals, x, 11)
        store(journals, y, 2)
        assert journals.wrote(x.key)
    assert not journals.wrote(x.key)
    assert journal.changed_locations() == [(x, 1)]
    journals.rollback(journal)
    assert (x.value, y.value) == (1, 2)


def test_what_is_younger_stays(journals):
    with journals.recording() as journal:
        young = Variable(1, birth=next(journals.serials))
        store(journals, young, 5)
    assert journal.changed_locations() == []
    journals.rollback(journal)
    assert young.value == 5


def test_blocks_in_blocks(journals):
    x = Variable(1)
    with journals.recording() as outer:
        store(journals, x, 2)
        with journals.recording() as inner:
            store(journals, x, 3)
        assert inner.changed_locations() == [(x, 2)]
        journals.rollback(inner)
        assert x.value == 2
    assert outer.changed_locations() == [(x, 1)]


def test_an_error_undoes_its_block(journals):
    x = Variable(1)
    with pytest.raises(ValueError, match="here"), journals.recording():
        store_and_fail(journals, 2, x)
    assert x.value == 1
    assert len(journals.journals) == 1


def test_an_error_undoes_its_statements_only(journals):
    x, y = Variable(1), Variable(1)
    with journals.recording() as journal:
        store(journals, x, 2)
        with pytest.raises(ValueError, match="here"), journals.undone_by_errors():
            store_and_fail(journals, 3, x, y)
        assert (x.value, y.value) == (2, 1)
    assert journal.changed_locations() == [(x, 1)]


def test_watchers_note_the_same(journals):
    x = Variable(1)
    with journals.watching() as seen:
        store(journals, x, 2)
    store(journals, x, 3)
    assert seen.changed_locations() == [(x, 1)]


def test_ages(journals):
    old, new = [], []
    journals.born(old)
    with journals.recording():
        journals.born(new)
        assert journals.is_done_again(journals.birth(old))
        assert not journals.is_done_again(journals.birth(new))
        assert journals.birth(journals.as_old([], old)) == journals.birth(old)
    assert journals.birth({}) == 0
    assert not journals.is_done_again(0)
