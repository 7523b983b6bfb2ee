"""vmap as users call it: axes, trees, nesting, errors."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest

import tapeless
from tapeless import grad, hessian, jacfwd, jacrev, jit, jvp, linearize, vjp, vmap
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, UnsupportedError

XS = np.linspace(0.2, 2.0, 5)
A = np.arange(24.0).reshape(2, 3, 4) / 7
close = functools.partial(np.testing.assert_allclose, rtol=1e-12)


def loop(f, *columns, axis=0):
    """The results of f for each row of the arguments."""
    return np.stack([f(*row) for row in zip(*columns, strict=True)], axis)


# -- axes


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("out", [0, 1, 2, -1])
def test_axes_of_arguments_and_results(axis, out):
    def f(x):
        return np.cumsum(x, axis=1) * x[0]

    rows = np.moveaxis(A, axis, 0)
    close(vmap(f, axis, out)(A), loop(f, rows, axis=out))


def test_an_argument_that_is_the_same_for_all():
    def f(a, b):
        return a @ b

    b = np.arange(12.0).reshape(4, 3)
    close(
        vmap(f, in_axes=(2, None), out_axes=1)(A, A[0]),
        np.moveaxis([A[:, :, k] @ A[0] for k in range(4)], 0, 1),
    )
    close(vmap(f, in_axes=(None, 1))(A[0], b), [A[0] @ b[:, k] for k in range(3)])


def test_trees_of_axes():
    def f(params, pair):
        x, (y, z) = pair
        return {"sum": params["w"] * x + y, "z": z}

    params = {"w": np.arange(3.0), "b": "unused"}
    pair = (np.arange(6.0).reshape(2, 3), [np.ones(3), 5.0])
    axes = ({"w": 0, "b": None}, (1, [0, None]))
    got = vmap(f, axes, {"sum": 1, "z": None})(params, pair)
    close(got["sum"], np.stack([k * pair[0][:, k] + 1 for k in range(3)], axis=1))
    assert got["z"] == 5.0


def test_one_axis_for_a_whole_tree():
    got = vmap(lambda t: t["a"] + t["b"][0])({"a": XS, "b": (XS, XS)})
    close(got, 2 * XS)


def test_arguments_by_name_are_mapped_over_axis_0():
    def f(x, *, scale):
        return x * scale

    close(vmap(f, in_axes=None)(2.0, scale=XS), 2 * XS)
    close(vmap(f)(XS, scale=XS), XS**2)


def test_results_that_do_not_depend_on_the_element_are_repeated():
    got, same = vmap(lambda x: (np.arange(3.0), 7))(XS)
    assert got.shape == (5, 3)
    np.testing.assert_array_equal(same, [7] * 5)
    got[0] = 9.0  # memory of its own
    close(got[1], np.arange(3.0))


def test_axis_size_where_nothing_is_mapped():
    close(vmap(lambda x: 2 * x, in_axes=None, axis_size=3)(1.5), [3.0] * 3)


@pytest.mark.parametrize("n", [0, 1])
def test_small_batches(n):
    def f(x):
        y = x @ np.ones((3, 2))
        if np.sum(x) > 1:
            y = y + np.log(x[0])
        return y, np.max(y)

    x = A.reshape(-1, 3)[:n]
    y, top = vmap(f)(x)
    assert y.shape == (n, 2)
    assert top.shape == (n,)
    for k in range(n):
        close(y[k], f(x[k])[0])


def test_dtypes_are_those_of_a_loop():
    x = XS.astype(np.float32)

    def f(x):
        n = 0
        for _ in range(3):
            n += 1
        return x * n, x * 0.1, n, x > 1

    for ours, theirs in zip(vmap(f)(x), zip(*map(f, x), strict=True), strict=True):
        assert ours.dtype == np.stack(theirs).dtype


def test_the_arguments_are_not_overwritten():
    def f(x):
        x[0] = 5.0
        x *= 2
        return x

    before = A[0].copy()
    close(vmap(f)(A[0]), loop(lambda x: f(x.copy()), A[0]))
    np.testing.assert_array_equal(A[0], before)


def test_each_element_overwrites_an_argument_of_all_for_itself():
    def f(x, table):
        table[table == 0] = x[0]
        table += x
        return table

    x, table = A[0], np.arange(A[0].shape[1], dtype=float)
    before = table.copy()
    for mapped in (vmap(f, in_axes=(0, None)), jit(vmap(f, in_axes=(0, None)))):
        close(mapped(x, table), loop(lambda x: f(x, table.copy()), x))
        np.testing.assert_array_equal(table, before)

    def inside(table):
        made = vmap(f, in_axes=(0, None))(x, table)
        return np.sum(made**2) + np.sum(table)

    expected = 1 + 2 * np.sum([f(row, table.copy()) for row in x], axis=0) * (table != 0)
    close(grad(inside)(table), expected)


def test_an_argument_of_all_that_is_another_too():
    def f(x, table, same):
        table += x
        return same

    with pytest.raises(ArgumentError, match="share memory"):
        jit(lambda x, t: vmap(f, in_axes=(0, None, None))(x, t, t))(A[0], A[0][0])


# -- what can be mapped


@vmap
def decorated(x):
    return x**2 + 1


def test_as_a_decorator():
    close(decorated(XS), XS**2 + 1)
    assert decorated.__name__ == "decorated"


def test_numpy_functions():
    np.testing.assert_array_equal(vmap(np.square)(np.arange(10)), np.arange(10) ** 2)
    close(vmap(np.dot, (0, None))(A[0], np.ones(4)), A[0] @ np.ones(4))


@dataclass
class Net:
    w: np.ndarray
    b: float

    def out(self, x):
        return np.sum(np.tanh(self.w @ x + self.b))


def test_bound_methods_and_partials():
    net, xs = Net(np.ones((2, 3)), 0.5), A[0].T
    close(vmap(net.out)(xs), [net.out(x) for x in xs])
    got = vmap(functools.partial(grad(Net.out), net))(xs)
    close(got.w, np.stack([grad(Net.out)(net, x).w for x in xs]))


def test_ensembles_of_dataclasses():
    nets = Net(np.arange(12.0).reshape(2, 2, 3) / 9, np.array([0.1, 0.2]))
    got = vmap(Net.out, (0, None))(nets, np.ones(3))
    close(got, [Net(nets.w[k], nets.b[k]).out(np.ones(3)) for k in range(2)])


def test_inside_a_transformed_function():
    def total(w):
        return np.sum(vmap(lambda x: np.tanh(x * w))(XS))

    close(grad(total)(0.7), np.sum(XS * (1 - np.tanh(0.7 * XS) ** 2)))


# -- nesting


def f_of(x):
    return np.sin(x) * x


def slope_of(x):
    return np.cos(x) * x + np.sin(x)


@pytest.mark.parametrize(
    "mapped",
    [
        vmap(grad(f_of)),
        grad(lambda x: np.sum(vmap(f_of)(x))),
        lambda x: jvp(vmap(f_of), (x,), (np.ones_like(x),))[1],
        lambda x: vmap(lambda y: jvp(f_of, (y,), (1.0,))[1])(x),
        lambda x: vjp(vmap(f_of), x)[1](np.ones_like(x))[0],
        lambda x: vmap(lambda y: vjp(f_of, y)[1](1.0)[0])(x),
        lambda x: linearize(vmap(f_of), x)[1](np.ones_like(x)),
        lambda x: vmap(lambda y: linearize(f_of, y)[1](1.0))(x),
        lambda x: vmap(tapeless.checkpoint(grad(f_of)))(x),
        lambda x: np.diagonal(jacfwd(vmap(f_of))(x)),
        lambda x: np.diagonal(jacrev(vmap(f_of))(x)),
        vmap(jacfwd(f_of)),
        vmap(jacrev(f_of)),
    ],
)
def test_with_derivatives_in_any_order(mapped):
    close(mapped(XS), slope_of(XS))


@pytest.mark.parametrize(
    "mapped",
    [
        vmap(grad(grad(f_of))),
        vmap(hessian(f_of)),
        vmap(grad(lambda x: np.sum(vmap(grad(f_of))(x * np.ones(1))))),
        grad(lambda x: np.sum(vmap(grad(f_of))(x))),
        lambda x: jvp(vmap(grad(f_of)), (x,), (np.ones_like(x),))[1],
    ],
)
def test_second_derivatives(mapped):
    close(mapped(XS), 2 * np.cos(XS) - XS * np.sin(XS))


def test_three_deep():
    def f(x, y, z):
        return x * y - z if x > y else np.exp(-y) * z

    x, y, z = XS[:2], XS[1:4] - 0.1, XS
    mapped = vmap(vmap(vmap(f, (None, None, 0)), (None, 0, None)), (0, None, None))
    wanted = [[[f(a, b, c) for c in z] for b in y] for a in x]
    close(mapped(x, y, z), wanted)


@tapeless.custom_jvp
def bent(x, w):
    return np.sin(x) * w


@bent.defjvp
def _bent_rule(primals, tangents):
    (x, w), (x_dot, w_dot) = primals, tangents
    return bent(x, w), 3 * np.cos(x) * w * x_dot + np.sin(x) * w_dot


@tapeless.custom_vjp
def power(x, w):
    return np.sum(x * w) ** 2


power.defvjp(
    lambda x, w: (np.sum(x * w) ** 2, (np.sum(x * w), x, w)),
    lambda kept, ct: (5 * kept[0] * ct * kept[2], 7 * kept[0] * ct * kept[1]),
)


@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0)])
def test_rules_of_users_hold_for_batches(axes):
    x, w = (XS if axes[0] == 0 else 0.7), (XS[::-1].copy() if axes[1] == 0 else 0.4)
    sides = np.broadcast_arrays(3 * np.cos(x) * w, np.sin(x))
    sums = [s if k == 0 else np.sum(s) for s, k in zip(sides, axes, strict=True)]
    got = grad(lambda x, w: np.sum(vmap(bent, axes)(x, w)), (0, 1))(x, w)
    for ours, theirs in zip(got, sums, strict=True):
        close(ours, theirs)
    each = vmap(grad(bent, (0, 1)), axes)(x, w)
    for ours, theirs in zip(each, sides, strict=True):
        close(ours, np.broadcast_to(theirs, 5))


def test_a_backward_rule_is_batched():
    x, w = A[0], np.ones(4)
    s = x @ w
    got = grad(lambda x, w: np.sum(vmap(power, (0, None))(x, w)), (0, 1))(x, w)
    close(got[0], 5 * s[:, None] * w)
    close(got[1], 7 * s @ x)
    close(vmap(grad(power, 1), (0, None))(x, w), 7 * s[:, None] * x)


# -- errors


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: vmap(f_of, 0.5), ArgumentTypeError, "in_axes must be an int, None, or a tree"),
        (lambda: vmap(f_of, {"x": 0}), ArgumentTypeError, "in_axes must be .* not a dict"),
        (lambda: vmap(f_of, 0, "last"), ArgumentTypeError, "out_axes must be an int"),
        (lambda: vmap(3), ArgumentTypeError, "vmap needs a function, not int '3'"),
        (lambda: vmap(f_of, (0, 0))(XS), ArgumentError, "in_axes is for 2 positional arguments"),
        (lambda: vmap(f_of, 1)(XS), ArgumentError, r"axis 1 in in_axes is out of bounds .* \(5,\)"),
        (lambda: vmap(f_of)(1.0), ArgumentError, "axis 0 in in_axes is out of bounds for one"),
        (lambda: vmap(f_of)("x"), ArgumentTypeError, "str 'x' has no axis 0"),
        (lambda: vmap(f_of, None)(XS), ArgumentError, "no argument is mapped"),
        (
            lambda: vmap(np.add)(XS, XS[:4]),
            ArgumentError,
            "differ in length: axis 0 of an array of shape .* has length 5, .* has length 4",
        ),
        (lambda: vmap(f_of, axis_size=4)(XS), ArgumentError, "axis_size is 4, and axis 0"),
        (lambda: vmap(f_of, 0, None)(XS), ArgumentError, "out_axes is None for a result of f_of"),
        (lambda: vmap(f_of, 0, 1)(XS), ArgumentError, "axis 1 in out_axes is out of bounds"),
        (lambda: vmap(f_of, 0, (0, 0))(XS), ArgumentError, r"out_axes is \(0, 0\), which does not"),
        (lambda: vmap(f_of, ((0, 0),))(XS), ArgumentError, "an entry of in_axes is"),
    ],
)
def test_bad_axes_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


KEPT = []


def keeps(x):
    KEPT.append(x)
    return x


@pytest.mark.parametrize(
    ("f", "args", "words"),
    [
        (keeps, (XS,), "keeps writes to an object from outside"),
        (lambda x: x[x > 1], (A[0],), "how many elements a mask selects differs"),
        (lambda x: np.sort(x[x > 1]), (A[0],), "how many elements a mask selects differs"),
        (lambda x, n: np.zeros(n) + x, (XS, np.arange(5)), "a length in zeros depends on the ele"),
        (lambda x, n: x[:n], (A[0], np.arange(3)), "the length of the result of index differs"),
        (lambda x: np.unique(x), (A[0],), "the length of the result of unique differs"),
    ],
)
def test_what_has_no_batch_is_refused(f, args, words):
    with pytest.raises(UnsupportedError, match=words):
        vmap(f)(*args)


def test_python_needs_a_value_of_an_element():
    with pytest.raises(tapeless.TapelessError, match="depends on the contents of arrays"):
        vmap(lambda k: [1.0, 2.0][k])(np.array([0, 1]))


def test_keywords_that_a_function_takes_out():
    def scaled(x, **options):
        return x * options.pop("by", 1.0) + len(options)

    made = vmap(lambda x: scaled(x, by=3.0, other=None))(np.array([1.0, 2.0]))
    assert made.tolist() == [4.0, 7.0]


def sorted_of_chosen(x):
    chosen = x[x > 0]
    return np.sort(chosen)


@pytest.mark.parametrize(
    "transform",
    [vmap, lambda f: jit(vmap(f)), lambda f: grad(lambda x: np.sum(vmap(f)(x)))],
    ids=["vmap", "jit", "grad"],
)
def test_a_refusal_shows_the_line_that_it_is_about(transform):
    with pytest.raises(UnsupportedError) as caught:
        transform(sorted_of_chosen)(np.array([[1.0, -1.0], [2.0, 3.0]]))
    assert "\n    return np.sort(chosen)\n" in str(caught.value)


def test_a_store_by_a_mask_in_a_function_that_is_called_often():
    def attend(x, w):
        q, k, v = np.split(x @ w, 3, axis=-1)
        scores = np.stack([q @ k.T, k @ q.T]) / np.sqrt(q.shape[-1])
        scores[:, np.triu(np.ones((len(x), len(x)), dtype=bool), k=1)] = -1e9
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return np.sum(weights / weights.sum(axis=-1, keepdims=True), axis=0) @ v

    def loss(ws, x):
        for w in ws:
            x = x + attend(x, w)
        return np.sum(x**2)

    ws = [np.sin(np.arange(96.0)).reshape(2, 4, 12), np.cos(np.arange(96.0)).reshape(2, 4, 12)]
    x = np.sin(np.arange(12.0)).reshape(3, 4)
    found = vmap(grad(loss), in_axes=(0, None))(ws, x)
    for k in range(2):
        expected = grad(loss)([w[k] for w in ws], x)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a[k], b, rtol=1e-9)


def test_what_is_kept_begins_with_a_value_that_is_the_same_for_all():
    def f(s, u, n):
        e = s + u
        b = s * 1.0
        for t in range(n - 1):
            e *= u / b + float(t)
            b = (b if n == 2 else u) + np.cos(e)
            if u > 0.8:
                return min(b, float(t)) + u
        return u * 0.5 + b

    s, u, n = 0.3, np.array([0.5, 0.9, 0.7, 1.1]), np.array([3, 4, 2, 1])
    slope = grad(f, argnums=(0, 1))
    wanted = [np.stack(found) for found in zip(*map(slope, [s] * 4, u, n), strict=True)]
    for batched in (vmap(slope, in_axes=(None, 0, 0)), jit(vmap(slope, in_axes=(None, 0, 0)))):
        for got, want in zip(batched(s, u, n), wanted, strict=True):
            close(got, want)
