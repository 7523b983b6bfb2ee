"""What an element held is needed unless each path stores to it first."""

import pytest

from tapeless.transforms.cuda.stored_first import is_stored_first

FIRST = {
    "a store": "x[i] = 1.0;",
    "a store, then reads": "x[i] = a;\nfor (i64 k = 0; k < 9; k++) {\n  x[i] *= x[i];\n}",
    "both arms": "if (a > 0) {\n  x[i] = a;\n} else {\n  double b = a;\n  x[i] = b;\n}",
    "both arms of a nested test": (
        "if (a > 0) {\n  if (b > 0) {\n    x[i] = 1;\n  } else {\n    x[i] = 2;\n  }\n"
        "} else {\n  x[i] = 3;\n}"
    ),
    "a block": "{\n  x[i] = 1;\n}",
    "behind a loop that is left": "while (1) {\n  if (a < 1) break;\n  a /= 2;\n}\nx[i] = a;",
    "a name that begins alike": "double x_2[1];\nx_2[0] = a;\nx[i] = x_2[0];",
}
NOT_FIRST = {
    "an update": "x[i] += 1.0;",
    "of itself": "x[i] = 2 * x[i];",
    "read before": "double a = x[i];\nx[i] = 1;",
    "in a test": "if (a > 0) x[i] = 1;",
    "in one arm": "if (a > 0) {\n  x[i] = 1;\n}\nx[i] = 2;",
    "read in one arm": "if (a > 0) {\n  a = x[i];\n} else {\n  x[i] = 1;\n}",
    "read by the test": "if (x[i] > 0) {\n  x[i] = 1;\n} else {\n  x[i] = 2;\n}",
    "in a loop, which may make no pass": "for (i64 k = 0; k < n; k++) {\n  x[i] = k;\n}",
    "after an early end": "if (a > 0) continue;\nx[i] = 1;",
    "after an early end in a loop": "while (1) {\n  return;\n}\nx[i] = 1;",
    "a part of it": "x[i].re = 1;",
    "only in a comment": "a = 1;  // x[i] = 1;",
}


@pytest.mark.parametrize("name", FIRST)
def test_stored_on_all_paths(name):
    assert is_stored_first("x", FIRST[name].splitlines())


@pytest.mark.parametrize("name", NOT_FIRST)
def test_read_or_kept_on_some_path(name):
    assert not is_stored_first("x", NOT_FIRST[name].splitlines())
