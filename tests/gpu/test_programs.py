"""Programs on a GPU give NumPy's values, whatever the order of blocks and threads."""

import ast
import shutil

import numpy as np
import pytest

import tapeless
from tapeless import jit
from tapeless.transforms.cuda.device_functions import ARITHMETIC
from tapeless.transforms.errors import ArgumentError, UnsupportedError
from tests.gpu.conftest import REAL, installed
from tests.gpu.emulator import Code, compile_batch, emulating
from tests.gpu.programs import PROGRAMS
from tests.transforms.lowering.test_memory_seen_twice import BRANCHES

#: Never wait for the device, with arguments that lie there.
WITHOUT_WAITS = ["s1", "s2", "s3", "s4", "softmax", "cross-entropy", "mlp", "layer-norm"]
WITHOUT_WAITS += ["cross-entropy-gradient", "mlp-gradient"]
#: What the backend does not do yet, and says so.
REFUSED: dict[str, str] = {}
ORDERED = ["softmax", "cross-entropy-gradient", "attention", "heat-2d", "standardise"]
ORDERED += ["conjugate-gradients", "column-sums", "last-store-wins"]


def code_of(source):
    """The CUDA C of an emitted module; "" if it has none."""
    for s in ast.parse(source).body:
        match s:
            case ast.Assign(targets=[ast.Name("CODE")], value=ast.Constant(str(text))):
                return text
    return ""


def source_of(program):
    """The emitted module."""
    return jit(program.transformed, backend="gpu").lower(*program.arguments()).source()


def on_gpu(program):
    """The result, transferred to the host."""
    return tapeless.device_get(jit(program.transformed, backend="gpu")(*program.arguments()))


def assert_near(program, found, expected):
    found, expected = (tapeless.tree.leaves(x) for x in (found, expected))
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        b = np.asarray(b)
        scale = np.abs(b).max() if b.size else 0
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=program.rtol, atol=program.rtol * scale)


@pytest.fixture(scope="module")
def compiled():
    """The texts of all programs, compiled at once, for the emulator."""
    if REAL or shutil.which("g++") is None:
        return
    with pytest.MonkeyPatch.context() as patch:
        installed(patch)
        texts = [code_of(source_of(p)) for name, p in PROGRAMS.items() if name not in REFUSED]
    compile_batch(Code(text) for text in texts if text)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in REFUSED])
def test_values_are_those_of_numpy(name, compiled, gpu):
    program = PROGRAMS[name]
    assert_near(program, on_gpu(program), program.expected())


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_form_on_a_gpu_is_refused(name, gpu):
    with pytest.raises(UnsupportedError, match=REFUSED[name]):
        on_gpu(PROGRAMS[name])


@pytest.mark.parametrize("order", ["forward", "backward"])
@pytest.mark.parametrize("name", ORDERED)
def test_values_do_not_depend_on_the_order_of_threads(name, order, compiled, stand_in):
    with emulating(order=order):
        assert_near(PROGRAMS[name], on_gpu(PROGRAMS[name]), PROGRAMS[name].expected())


@pytest.mark.parametrize("name", WITHOUT_WAITS)
def test_programs_do_not_wait(name, compiled, stand_in):
    program = PROGRAMS[name]
    device = tapeless.devices("gpu")[0]
    args = [tapeless.device_put(x, device) for x in program.arguments()]
    run = jit(program.transformed)
    run(*args)
    stand_in.clear()
    run(*args)
    assert (stand_in.waits, stand_in.transfers) == (0, 0)
    assert stand_in.launches


@pytest.mark.parametrize(
    "failing",
    [
        lambda a: np.linalg.solve(a, np.ones(40)),
        np.linalg.inv,
        lambda a: np.linalg.cholesky(a - np.eye(40)),
        tapeless.grad(lambda a: np.sum(np.linalg.inv(a))),
    ],
)
def test_matrices_that_cannot_be_factorised_are_errors(failing, gpu):
    with pytest.raises(np.linalg.LinAlgError):
        tapeless.device_get(jit(failing, backend="gpu")(np.zeros((40, 40))))


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_of_drivers_is_numpys(name, gpu):
    """A function that recurs is one of the driver: its operations are calls of CuPy's. Without a
    GPU this only shows that CuPy has the names."""
    operation = getattr(np, name)
    two = getattr(operation, "nin", 1) == 2
    x = np.array([0.5, -0.0, 2.0, -1.5, 0.0, 1.0, np.inf, np.nan, -7.25])
    args = {"where": (x > 0, x, x[::-1])}.get(name, (x, x[::-1].copy()) if two else (x,))
    on_device = [tapeless.device_put(a, tapeless.devices("gpu")[0]) for a in args]
    with np.errstate(all="ignore"):
        expected = operation(*args)
        ours = tapeless.device_get(getattr(gpu, name)(*on_device))
    assert ours.dtype == expected.dtype
    np.testing.assert_allclose(ours, expected, rtol=1e-14)


def layer_norm(x):
    mean = x.mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (layer_norm, [(4, 6, 40)]),
        (layer_norm, [(3, 2, 5, 130)]),
        (lambda x: np.sum(x * x, axis=-1), [(4, 6, 40)]),
        (lambda x: np.max(np.exp(x), axis=(1, 2)), [(4, 6, 40)]),
        (lambda x, y: np.sum(x * y[:, None], axis=2), [(4, 6, 40), (4, 40)]),
        (lambda x: np.argmax(x, axis=-1), [(2, 3, 200)]),
        (lambda x: np.sort(x, axis=-1)[..., 1], [(4, 6, 9)]),
        (tapeless.grad(lambda x: np.sum(layer_norm(x) ** 3)), [(4, 6, 40)]),
    ],
)
def test_rows_of_several_axes(function, shapes, gpu):
    random = np.random.default_rng(0)
    arguments = [random.normal(size=shape) for shape in shapes]
    ours = tapeless.device_get(jit(function, backend="gpu")(*arguments))
    np.testing.assert_allclose(ours, function(*arguments), rtol=1e-9, atol=1e-12)


def test_rows_named_by_an_array_of_indices(gpu):
    table, tokens = np.arange(27.0).reshape(9, 3), np.array([[0, 2], [1, 1], [8, -1]])
    ours = jit(lambda table, tokens: table[tokens], backend="gpu")(table, tokens)
    np.testing.assert_array_equal(tapeless.device_get(ours), table[tokens])


def test_results_of_kernels_that_the_driver_computes_with(gpu):
    def searched(x):
        grid = np.cumsum(x)
        i = 0
        while grid[i] < 2.0:
            i += 1
        return (2.0 - grid[i - 1]) / (grid[i] - grid[i - 1])

    x = np.linspace(0.3, 0.9, 9)
    assert float(jit(searched, backend="gpu")(x)) == pytest.approx(searched(x), rel=1e-12)


def test_the_last_of_several_stores_wins_in_derivatives(gpu):
    places = np.array([0, 1, 1, 2, 1])

    def stored(x):
        y = np.zeros(4)
        y[places] = x**2
        return np.sum(y * np.arange(1.0, 5.0))

    x = np.linspace(1, 2, 5)
    ours = tapeless.device_get(jit(tapeless.grad(stored), backend="gpu")(x))
    np.testing.assert_allclose(ours, 2 * x * [1, 0, 0, 3, 2], rtol=1e-14)


def test_arrays_of_indices_in_functions_that_recur_are_refused(gpu):
    def gathered(x, i):
        return x if np.sum(x) > 100 else gathered(2 * x[i], i)

    with pytest.raises(UnsupportedError, match="array of indices"):
        jit(gathered, backend="gpu")(np.arange(4.0), np.array([1, 2, 3, 1]))


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def primes(n):
    found = []
    for k in range(2, n):
        if all(k % p for p in found):
            found.append(k)
    return np.array(found)


def squares_of_positive(x):
    found = []
    for v in x:
        if v > 0:
            found.append(v * v)  # noqa: PERF401  # a list that grows is what is tested
    return sum(found)


def path(x):
    steps, i = [], 0
    while i < len(x):
        steps.append(x[i])
        i += 1 + int(steps[-1] > 0.5)
    return sum(k * step for k, step in enumerate(steps))


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (newton, 2.0),
        (tapeless.grad(newton), 2.0),
        (primes, 2000),
        (squares_of_positive, np.arange(500.0) - 2),
        (tapeless.grad(squares_of_positive), np.arange(500.0) - 2),
        (path, np.linspace(0, 1, 900)),
        (tapeless.grad(path), np.linspace(0, 1, 900)),
    ],
)
def test_lists_that_grow_in_kernels(function, argument, gpu):
    ours = jit(function, backend="gpu")(argument)
    np.testing.assert_allclose(tapeless.device_get(ours), function(argument), rtol=1e-12)


def test_errors_tell_integers(gpu):
    table = {3: 1.0, 5: 2.0}

    def looked_up(keys):
        total = 0.0
        for k in keys:
            total += table[int(k)]
        return total

    on_gpu = jit(looked_up, backend="gpu")
    assert float(on_gpu(np.array([3, 5, 3]))) == 4
    with pytest.raises(KeyError) as caught:
        float(on_gpu(np.array([3, -5, 3, 7])))
    assert caught.value.args == (-5,)
    assert float(on_gpu(np.array([5, 5]))) == 4


def test_lists_take_integers_of_kernels(gpu):
    def repeated(x):
        n = 0
        while n < len(x) and x[n] > 0:
            n += 1
        return np.array([x[0]] * n)

    x = np.array([2.0, 1.0, 3.0, -1.0])
    np.testing.assert_array_equal(
        tapeless.device_get(jit(repeated, backend="gpu")(x)), [2.0, 2.0, 2.0]
    )


@pytest.mark.parametrize(
    "computed",
    [
        lambda x, y: np.sin(x),
        lambda x, y: np.stack([x, x * 2]),
        lambda x, y: np.concatenate([x, y]),
        lambda x, y: x + y,
        lambda x, y: y + x,
        lambda x, y: y @ x,
        lambda x, y: x > y,
        lambda x, y: x.sum(),
        lambda x, y: x[1],
        lambda x, y: x.astype("f4").reshape(2, 2).T,
    ],
)
def test_arrays_outside_of_programs_stay_on_the_gpu(computed, gpu):
    x, y = np.arange(4.0), np.linspace(1, 2, 4)
    ours = computed(tapeless.device_put(x, tapeless.devices("gpu")[0]), y)
    assert ours.block_until_ready() is ours
    expected = computed(x, y)
    np.testing.assert_allclose(tapeless.device_get(ours), expected, rtol=1e-14)
    assert ours.dtype == expected.dtype


def test_arrays_of_the_host_that_share_memory_and_are_stored_to_are_refused(gpu):
    def stored(x, y):
        x[0] = 5
        return x + y

    on_gpu, a = jit(stored, backend="gpu"), np.array([1.0, 2.0, 3.0])
    with pytest.raises(ArgumentError, match="'x' and 'y' share memory"):
        on_gpu(a, a)
    np.testing.assert_array_equal(tapeless.device_get(on_gpu(a, a.copy())), [6, 4, 6])
    assert a[0] == 5


def test_stores_to_arrays_of_the_host_in_any_order(gpu):
    def stored(x):
        x[0, 1] = 7
        return x * 2

    a = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    ours = tapeless.device_get(jit(stored, backend="gpu")(a))
    np.testing.assert_array_equal(a, [[0, 7, 2], [3, 4, 5]])
    np.testing.assert_array_equal(ours, 2 * a)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.var(x),
        lambda x: np.sum(x, axis=None, keepdims=True),
        lambda x: np.nanmean(x, keepdims=True),
        lambda x: np.round(x, 2),
        lambda x: np.sinc(x),
        lambda x: np.interp(x[0, :, 0], np.linspace(-1, 1, 5), np.arange(5.0)),
        lambda x: np.isclose(x, x + 1e-9).astype(int),
        lambda x: np.abs(x > 0).astype(int),
        lambda x: np.abs(x.astype("u1")),
        lambda x: np.exp(1j * x[0]),
        lambda x: np.mean(x * 1j, axis=1),
        tapeless.grad(lambda x: np.sum(np.abs(np.fft.rfft(x[0, :, 0])) ** 2)),
        tapeless.grad(lambda x: np.sum(np.sort(x, axis=1) * np.arange(3.0))),
        tapeless.hessian(lambda x: np.linalg.norm(x[0, :5, 0])),
    ],
)
def test_functions_of_arrays_of_three_axes(function, gpu):
    x = np.random.default_rng(0).normal(size=(2, 129, 3)) + 2
    ours, expected = tapeless.device_get(jit(function, backend="gpu")(x)), function(x)
    assert ours.dtype == expected.dtype
    np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("first", [0, 200])
@pytest.mark.parametrize("function", BRANCHES)
def test_a_branch_of_a_driver_results_in_memory_that_is_not_stored_to(function, first, gpu):
    b = np.arange(first, first + 7)
    ours, expected = b.copy(), b.copy()
    found = tapeless.device_get(jit(function, backend="gpu")(ours))
    np.testing.assert_array_equal(np.stack(found), np.stack(function(expected)))
    np.testing.assert_array_equal(ours, expected)


def outer_sum(d, a):
    return np.sum(np.cos(d[:, None] * 0.5 + np.swapaxes(a, 0, 1)))


def test_memory_of_teams_says_how_many_rows_there_are(gpu):
    slopes = tapeless.value_and_grad(outer_sum, argnums=(0, 1))
    d, a = np.random.default_rng(0).normal(size=(2, 33, 33))
    found = tapeless.device_get(jit(slopes, backend="gpu")(d, a))
    for ours, expected in zip(*map(tapeless.tree.leaves, (found, slopes(d, a))), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-10)


def half_of_each(c, d):
    d[1::2] += d[:-1:2]
    return c


def test_lengths_of_memory_are_python_in_launches(gpu):
    c, d = np.zeros((0, 8)), np.zeros((8, 0))
    assert tapeless.device_get(jit(half_of_each, backend="gpu")(c, d)).shape == (0, 8)


def test_lists_of_complex_numbers(gpu):
    def f(c):
        return np.apply_along_axis(np.sum, 0, c)

    c = np.arange(12.0).reshape(3, 4) * 1j
    np.testing.assert_allclose(tapeless.device_get(jit(f, backend="gpu")(c)), f(c))


def stored_to_after_a_view(a, c, places):
    if c[0] > 0:
        a += 1
    elif c[1] > 0:
        a = a[::-1]
    a[places] = a[(places + 1) % a.shape[0]]
    return a


@pytest.mark.parametrize("c", [(1, 1), (-1, 1), (-1, -1)])
def test_a_view_that_a_branch_takes_is_read_before_it_is_stored_to(c, gpu):
    a, places = np.random.default_rng(0).normal(size=(5, 5)), np.array([4, 0, 1, 4, 3])
    run = jit(stored_to_after_a_view, backend="gpu")
    ours = tapeless.device_get(run(a.copy(), np.array(c), places))
    np.testing.assert_array_equal(ours, stored_to_after_a_view(a.copy(), c, places))


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "float32", "float64"])
def test_arrays_without_axes_are_arguments(dtype, gpu):
    x = np.array(3, dtype)
    ours, expected = tapeless.device_get(jit(np.square, backend="gpu")(x)), np.square(x)
    assert (ours.dtype, ours) == (expected.dtype, expected)


def as_long_as_an_argument_says(n, x):
    y = np.zeros(n)
    for k in range(n):
        y[k] = k * 0.5
    return y, (np.ones((n, 3)) * x).sum(axis=1), 2 * n


def test_arrays_without_axes_are_lengths(gpu):
    n, x = np.array(5), np.ones(3)
    run = jit(as_long_as_an_argument_says, backend="gpu")
    for passed in (n, tapeless.device_put(n, tapeless.devices("gpu")[0])):
        found = tapeless.device_get(run(passed, x))
        for a, b in zip(found, as_long_as_an_argument_says(n, x), strict=True):
            np.testing.assert_array_equal(a, b)


def products_of_rows(a):
    return np.array([[sum(p * q for p, q in zip(r, s, strict=True)) for s in a] for r in a])


def test_kernels_that_count_stacks_keep_sums_whole(gpu):
    a = np.arange(6.0).reshape(2, 3)
    found = tapeless.device_get(jit(products_of_rows, backend="gpu")(a))
    np.testing.assert_array_equal(found, products_of_rows(a))


def parts_by_data(values, x, ends, places):
    total = 0.0
    for i in range(len(ends) - 1):
        part = values[ends[i] : ends[i + 1]] * x[places[ends[i] : ends[i + 1]]]
        total += np.tanh(np.sum(np.exp(part)))
    return total


@pytest.mark.parametrize("lengths", [[1], [3, 1, 4], [3, 1, 4, 2], [70, 2, 200, 65]])
def test_short_memory_of_a_row_is_each_threads_own(lengths, gpu):
    """A part of an array of up to eight numbers is in the registers of a thread."""
    rng = np.random.default_rng(0)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    places = rng.integers(0, len(lengths), ends[-1])
    args = (rng.random(ends[-1]), rng.random(len(lengths)), ends, places)
    found = tapeless.device_get(jit(parts_by_data, backend="gpu")(*args))
    np.testing.assert_allclose(found, parts_by_data(*args), rtol=1e-13)
    slopes = tapeless.grad(parts_by_data, argnums=(0, 1))
    found = tapeless.device_get(jit(slopes, backend="gpu")(*args))
    for ours, expected in zip(found, slopes(*args), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12)
