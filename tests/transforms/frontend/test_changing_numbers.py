"""Numbers from outside that are others at each call: inputs from the second call on."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.frontend.staging import stage
from tests.transforms.staging import staged

X = np.array([1.0, -2.0, 3.0])


class Descent:
    """Momentum with a rate that decays, and a correction that counts its steps."""

    def __init__(self):
        self.mean, self.steps, self.rate = np.zeros(3), 0, 0.5

    def step(self, x):
        self.steps += 1
        self.mean = 0.9 * self.mean + 0.1 * x
        self.rate *= 0.9
        return x - self.rate * self.mean / (1 - 0.9**self.steps)


@pytest.fixture
def runs(monkeypatch):
    """The number of staged runs that were made."""
    made, run = [], stage.stage

    def counted(*args, **kwargs):
        made.append(args)
        return run(*args, **kwargs)

    monkeypatch.setattr(stage, "stage", counted)
    return made


def test_an_object_that_changes_is_not_staged_at_each_call(runs):
    plain, compiled = Descent(), Descent()
    step, x, y = tapeless.jit(compiled.step), X, X
    for _ in range(6):
        x, y = plain.step(x), step(y)
    np.testing.assert_allclose(y, x)
    assert (compiled.steps, compiled.rate) == (plain.steps, plain.rate)
    assert [type(v) for v in (compiled.steps, compiled.rate)] == [int, float]
    assert len(runs) == 2


settings = {"scale": 1.0, "length": 2, "which": 0}
FUNCTIONS = [np.sin, np.cos, np.exp]


def configured(x):
    y = np.zeros(settings["length"])
    for i in range(settings["length"]):
        y[i] = settings["scale"] * x[i]
    return np.sum(FUNCTIONS[settings["which"]](y))


CONFIGURED = [tapeless.jit(configured), tapeless.vmap(configured), tapeless.grad(configured)]


@pytest.mark.parametrize(
    ("scale", "length", "which"),
    [(1.0, 2, 0), (2.0, 2, 0), (3.0, 3, 1), (4.0, 1, 1), (0.5, 2, 2), (2, 3, 2)],
)
def test_derivatives_batches_and_what_python_needs(scale, length, which):
    settings.update(scale=scale, length=length, which=which)
    value, batch, slope = (f(X[None] if f is CONFIGURED[1] else X) for f in CONFIGURED)
    units = 1e-6 * np.eye(3)
    expected = [(configured(X + u) - configured(X - u)) / 2e-6 for u in units]
    np.testing.assert_allclose(value, configured(X))
    np.testing.assert_allclose(batch, [configured(X)])
    np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-8)


def test_a_number_that_must_be_known_is_guarded_after_all():
    orders = [0, 1, 0]
    box = {"axis": 0}
    summed = tapeless.jit(lambda x: np.sum(x, axis=box["axis"]))
    for box["axis"] in orders:
        np.testing.assert_array_equal(summed(np.ones((2, 3))), np.ones((2, 3)).sum(box["axis"]))


TABLE = {f"order {k}": (k, 0.5 * k) for k in range(20)}


def weighed(x):
    k, weight = TABLE["order 3"]
    return weight * x[k - 3] ** k


def test_a_table_of_constants_is_one_guard():
    assert len(staged(weighed, X).guards) < 6


@pytest.mark.parametrize("entry", [(3, 2.0), (3, 3.0), (4, 3.0), (4.0, 3), (3, True), (4, X)])
def test_an_entry_of_a_table_changes(entry, monkeypatch):
    compiled = tapeless.jit(weighed)
    compiled(X)
    monkeypatch.setitem(TABLE, "order 3", entry)
    if type(entry[0]) is float:
        with pytest.raises(IndexError):
            compiled(X)
    else:
        made = compiled(X)
        np.testing.assert_allclose(made, weighed(X))
        assert type(made) is type(weighed(X))


calls_made = 1


def counts_anew(x):
    global calls_made
    calls_made = 0
    calls_made += 1
    return x * calls_made


@pytest.mark.parametrize("transform", [tapeless.jit, tapeless.grad])
def test_what_a_call_sets_itself_is_no_input(transform, monkeypatch):
    made = transform(counts_anew)
    for before in (1, 5, 9, 1, 0):  # at first a call leaves it as it is
        monkeypatch.setitem(globals(), "calls_made", before)
        assert made(1.0) == 1.0
        assert calls_made == 1


def test_a_variable_of_a_closure_that_is_left_as_it_is():
    state = 2.0

    def sets(x):
        nonlocal state
        state = 2.0
        return x * state

    made = tapeless.jit(sets)
    assert made(1.0) == 2.0
    state = 7.0
    assert made(1.0) == 2.0
    assert state == 2.0
