"""The fixture of tests of calls that are not done."""

import pytest

from tests.api.dispatch.asynchronous.gate import Gate


@pytest.fixture(scope="module")
def any_gate():
    return Gate()


@pytest.fixture
def gate(any_gate):
    """A gate that is closed, and opened when the test has ended."""
    any_gate.threads.clear()
    any_gate.close()
    yield any_gate
    any_gate.open()
