"""Compilation ahead of time: what traced, lowered and compiled functions tell, and what compiled
ones refuse, as those of JAX 0.10.2 do."""

import numpy as np
import pytest

from tapeless import ShapeDtypeStruct, grad, jit, stages, vmap


def layer(x, w):
    for _ in range(3):
        x = np.tanh(x @ w)
    return np.sort(x) + 1, {"total": x.sum()}


X = np.linspace(-1, 1, 25).reshape(5, 5)
F8 = np.dtype(float)


@pytest.fixture
def compiled():
    return jit(layer).lower(X, X).compile()


def test_what_each_step_tells():
    traced = jit(layer).trace(X, X)
    lowered = traced.lower()
    compiled = lowered.compile()
    assert [type(s) for s in (traced, lowered, compiled)] == [
        stages.Traced,
        stages.Lowered,
        stages.Compiled,
    ]
    for step in (traced, lowered, compiled):
        info = stages.ArgInfo((5, 5), F8, False)
        assert step.args_info == ((info, info), {})
        assert step.in_avals == ((ShapeDtypeStruct((5, 5), float),) * 2, {})
        assert step.out_info == (
            ShapeDtypeStruct((5, 5), float),
            {"total": ShapeDtypeStruct((), float)},
        )
        assert step.in_tree.num_leaves == 2
        assert step.out_tree.num_leaves == 2
        assert step.donate_argnums == ()
        assert step.fun_name == "layer"
    assert "matmul" in str(traced.jaxpr)
    assert lowered.as_text() == compiled.as_text() == jit(layer).source(X, X)
    assert compiled.input_shardings[0][0].num_devices == 1
    assert compiled.output_shardings[1]["total"].num_devices == 1


def test_costs(compiled):
    # 3 products of 5 x 5 matrices, 25 additions of 1, a sum of 25 numbers; 3 times 25 tanh
    assert compiled.cost_analysis() == {
        "flops": 3 * 2 * 125 + 25 + 25,
        "transcendentals": 75.0,
        "bytes accessed": 8.0 * (25 + 25 + 25 + 1),
    }
    used = compiled.memory_analysis()
    assert (used.argument_size_in_bytes, used.output_size_in_bytes) == (400, 208)
    assert used.temp_size_in_bytes >= 200  # np.sort makes an array


def branches(x):
    y = np.exp(x) if x[0] > 0 else x * x + x
    for k in range(x.shape[0]):
        y[k] = y[k] * 2
    while y[0] < 100:
        y = y + 1
    return y


def test_costs_of_branches_and_loops():
    found = jit(branches).lower(np.ones(10)).cost_analysis()
    # ten exponentials, or ten products and sums; ten products; one pass of `while`
    assert found["flops"] == 20 + 10 + 10
    assert found["transcendentals"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X[:4], X), r"for x: float64\[5,5\], and is called with float64\[4,5\]"),
        ((X, X.astype(np.float32)), r"for w: float64\[5,5\], and is called with float32\[5,5\]"),
        ((X, X.astype(int)), r"and is called with int64\[5,5\]"),
        ((X,), r"built like \(\(\*, \*\), \{\}\), and is called with \(\(\*,\), \{\}\)"),
        (([X], X), r"and is called with \(\(\[\*\], \*\), \{\}\)"),
        (("s", X), "and is called with str 's'"),
        ((1.0, X), r"and is called with float64\[\]"),
    ],
)
def test_other_types_are_refused(compiled, arguments, message):
    with pytest.raises(TypeError, match=message):
        compiled(*arguments)


def test_numbers():
    double = jit(lambda x: 2 * x).lower(1.0).compile()
    assert double(2.5) == double(np.float64(2.5)) == 5.0
    for other in (2, np.float32(2), True, np.zeros(1)):
        with pytest.raises(TypeError, match="compiled for x: float64"):
            double(other)


def test_values_that_decide_the_program():
    cut = jit(lambda x, n: x.reshape(n + 0, -1).sum(axis=1), static_argnums=1)
    compiled = cut.lower(np.arange(4.0), 2).compile()
    np.testing.assert_array_equal(compiled(np.arange(4.0)), [1.0, 5.0])
    with pytest.raises(TypeError, match="without static arguments"):
        compiled(np.arange(4.0), 2)
    named = jit(lambda x, how: x.sum() if how == "sum" else x.max())
    with_text = named.lower(np.arange(3.0), "sum").compile()
    assert with_text(np.arange(3.0), "sum") == 3.0
    with pytest.raises(TypeError, match="compiled for how: str 'sum'"):
        with_text(np.arange(3.0), "max")
    axis = jit(lambda x, k: x.sum(axis=k)).lower(np.ones((2, 3)), 1).compile()
    np.testing.assert_array_equal(axis(np.ones((2, 3)), 1), [3.0, 3.0])
    with pytest.raises(TypeError, match=r"compiled for k = 1, which decides what the program is"):
        axis(np.ones((2, 3)), 0)


@pytest.mark.parametrize("transform", [jit, vmap, lambda f: grad(lambda x: f(x, X)[1]["total"])])
def test_compiled_functions_cannot_be_transformed(compiled, transform):
    with pytest.raises(TypeError, match="called inside another transformed function"):
        transform(compiled)(*((X, X) if transform in (jit, vmap) else (X,)))


def test_donated_arguments():
    lowered = jit(lambda p, x: {"w": p["w"] + x}, donate_argnums=0).lower({"w": X}, X)
    assert lowered.donate_argnums == (0,)
    assert lowered.args_info[0][0]["w"].donated
    assert not lowered.args_info[0][1].donated
