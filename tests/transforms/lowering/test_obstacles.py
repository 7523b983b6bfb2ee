"""What has no loop form is called by the function that the driver calls for it."""

import pytest

from tapeless.transforms.lowering.obstacles import FUNCTION


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("np.add.at({0}, {1})", "np.add.at"),
        ("{0}[:, np.newaxis] @ np.linalg.inv({1})", "np.linalg.inv"),
        ("np.maximum.accumulate", "np.maximum.accumulate"),
        ("{0}[np.s_[1:], np.newaxis]", None),
        ("{0} > np.inf", None),
    ],
)
def test_functions_in_the_text_of_operations(text, function):
    match = FUNCTION.search(text)
    assert (match and match.group()) == function
