"""Values that lie in the memory of a product."""

import importlib.util

import numpy as np

import tapeless


def test_what_is_made_of_a_product_may_be_far_from_it(tmp_path):
    """More statements than Python has levels of recursion."""
    count = 350
    lines = ["import numpy as np", "def f(w, x):", "    y = w @ x"]
    lines += [*["    y = 0.5 * np.sin(y) + 0.1"] * count, "    return y"]
    path = tmp_path / "deep_chain.py"
    path.write_text("\n".join(lines))
    spec = importlib.util.spec_from_file_location("deep_chain", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    w, x = np.ones((3, 3)), np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(tapeless.jit(module.f)(w, x), module.f(w, x), rtol=1e-12)
