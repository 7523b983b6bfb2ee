"""Programs as C99: the numbers of NumPy under sanitizers, no warnings, refusals with a line."""

import copy
import re
from pathlib import Path

import numpy as np
import pytest

from tapeless import grad, hessian, jvp_fn, value_and_grad, vmap
from tapeless.tools.cli import main
from tapeless.transformations.compilation.jit_to_c import JitToC
from tapeless.transforms.core.language import For, If, While
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.lowering.kernel_profit import KernelProfit
from tapeless.transforms.lowering.obstacles import Obstacle
from tapeless.transforms.lowering.partition import Lowering
from tests.gpu.programs import PROGRAMS
from tests.transforms.c.compiled import checked, library, normal
from tests.transforms.c.models import conjugate_gradients, pendulum

SHARED = [
    "softmax-wide",
    "kepler",
    "cross-entropy",
    "attention",
    "black-scholes",
    "float32-integers",
]
ROOT = Path(__file__).parents[3]
TABLE = np.linspace(0.0, 1.0, 5)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def newton_root(a, steps):
    x = a
    while steps > 0 and abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
        steps -= 1
    return x


def heat(u, steps):
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])


def powers(a, n):
    """A loop of library products, in which arrays take turns."""
    x, y = np.eye(len(a)) * 1.0, a
    for _ in range(n):
        x, y = x @ y, x
    return x + y


def until_small(a, x):
    """A loop that data ends, after a pass that a flag of the last one allows."""
    count, done = 0, False
    for _ in range(50):
        if done:
            break
        x = a @ (a @ x)
        done = np.max(np.abs(np.linalg.matrix_power(a, 2) @ x)) < 1e-3
        count += 1
    return x, count


def interpolated(x):
    k = np.clip((x * 4).astype(int), 0, 3)
    return TABLE[k] + (x * 4 - k) * (TABLE[k + 1] - TABLE[k])


def reserved(int_, double, restrict, out, work, at):
    return np.sin(double) * restrict + out * work - at * int_


def checked_root(x):
    if x < 0:
        raise ValueError("a root of a negative number")
    return np.sqrt(x)


def printing(x):
    print(f"x is {x:*>9}")  # noqa: T201
    return x


def definite(n):
    a = normal(n, n)
    return a @ a.T + n * np.eye(n)


def orders(a, k):
    """What NumPy does by calls, outside of loops."""
    x = a[0]
    ordered = np.sort(x), np.argsort(x), np.median(x), np.sort(-k), np.searchsorted(k, 3)
    return (*ordered, np.argmax(a, axis=1), np.cumsum(x), np.convolve(x, a[1], "same"))


def pivoted(a):
    """Lengths that are compared with themselves, for which compilers warn."""
    a, sign = a.copy(), 1.0
    for k in range(3):
        pivot = k + np.argmax(np.abs(a[k:, k]))
        if pivot != k:
            a[[k, pivot]] = a[[pivot, k]]
            sign = -sign
        for i in range(k + 1, 3):
            a[i, k:] -= a[i, k] / a[k, k] * a[k, k:]
    return sign * np.prod(np.diag(a))


def linear_algebra(a, b):
    solved = np.linalg.solve(a, b), np.linalg.inv(a), np.linalg.det(a)
    return (*solved, np.linalg.cholesky(a) + np.eye(9), np.triu(a), np.correlate(b, b[:3]))


PROGRAMS_IN_C = {
    "orders": (orders, (normal(9, 9), np.arange(9))),
    "pivots": (pivoted, (normal(3, 3),)),
    "linear algebra": (linear_algebra, (definite(9), normal(9))),
    "gradient through a loop": (grad(pendulum), (normal(20), normal(2))),
    "value and gradient": (value_and_grad(pendulum), (normal(20), normal(2))),
    "second derivatives": (hessian(pendulum), (normal(12), normal(2))),
    "slices": (grad(rosenbrock), (normal(30),)),
    "forward mode": (jvp_fn(rosenbrock, (0,)), (normal(30), normal(30, seed=1))),
    "while": (newton_root, (2.0, 50)),
    "batch of while": (vmap(newton_root, in_axes=(0, None)), (np.abs(normal(11)) + 1, 50)),
    "products in a loop": (conjugate_gradients, (definite(12), normal(12), 5)),
    "arrays that take turns": (powers, (normal(9, 9) / 9, 6)),
    "a loop that data ends": (until_small, (normal(9, 9) / 9, normal(9))),
    "a table from outside": (interpolated, (np.linspace(0, 1, 23),)),
    "words of C": (reserved, (2, *map(float, range(1, 6)))),
    "a dict in another order": (lambda x: {"b": x + 1, "a": -x, "c": 3}, (normal(9),)),
    "several results": (lambda x: {"a": x.T * 2, "b": (x.sum(), x)}, (normal(9, 10),)),
    "integers": (lambda k, n: (k @ k, k // n, k % n, k**3), (np.arange(-9, 9), 4)),
    "flags": (lambda x: (x > 0, np.any(x > 2), np.all(x > -9)), (normal(20),)),
    "matrices of flags": (
        lambda x, m: np.where(m, x, -x).sum(axis=0),
        (normal(9, 2), np.eye(9, 2) > 0),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS_IN_C)
def test_numbers_of_numpy(name, tmp_path):
    function, args = PROGRAMS_IN_C[name]
    checked(function, args, tmp_path)


@pytest.mark.parametrize("name", SHARED)
def test_programs_that_gpus_run(name, tmp_path):
    p = PROGRAMS[name]
    expected = p.expected() if p.wrt is None and p.batched is None else None
    checked(p.transformed, p.arguments(), tmp_path, expected)


def test_the_shared_programs_are_there():
    assert {*SHARED} <= {*PROGRAMS}


def test_results_are_named_by_what_python_returns(tmp_path):
    def swapped(state):
        return {"q": state["p"] * 2, "p": (state["q"], 1)}

    state = {"p": normal(9), "q": normal(12)}
    run = library(swapped, (state,), tmp_path)
    results = run(state)
    assert np.array_equal(results["q"], state["p"] * 2)
    assert np.array_equal(results["p"][0], state["q"])
    assert results["p"][1] == 1
    assert "returns {" in (tmp_path / "swapped.h").read_text()


def test_an_argument_that_is_overwritten(tmp_path):
    run = library(heat, (normal(12), 3), tmp_path)
    u = normal(12, seed=3)
    expected = u.copy()
    heat(expected, 4)
    run(u, 4)
    assert np.array_equal(u, expected)


def test_other_lengths_than_it_was_written_for(tmp_path):
    run = library(grad(rosenbrock), (normal(30),), tmp_path)
    for n in (2, 3, 100):
        x = normal(n, seed=n)
        assert np.allclose(run(x), grad(rosenbrock)(x), rtol=1e-12)


def test_errors_of_the_user(tmp_path):
    run = library(checked_root, (4.0,), tmp_path)
    assert run(9.0) == 3.0
    with pytest.raises(ValueError, match="a root of a negative number"):
        run(-1.0)


def test_indices_are_tested(tmp_path):
    """Outside of kernels, too: of a number, of a row, of a store."""

    def picked(x, m, y, k):
        y[k] = 1.0
        return x[k], m[k], m[:, -2]

    x, m = normal(12), normal(12, 9)
    run = library(picked, (x, m, normal(12), 3), tmp_path)
    for k in (0, 11, -1, -12):
        y, expected = np.zeros(12), np.zeros(12)
        for one, other in zip(run(x, m, y, k), picked(x, m, expected, k), strict=True):
            assert np.array_equal(one, other)
        assert np.array_equal(y, expected)
    for k in (12, -13, 2**40):
        y = np.zeros(12)
        with pytest.raises(IndexError, match="out of bounds"):
            run(x, m, y, k)
        assert not y.any()


@pytest.mark.parametrize("n", [0, 1])
def test_axes_that_are_too_short_for_the_code(n, tmp_path):
    """Of one element they are broadcast, and the largest of none is an error: other code."""
    run = library(lambda x, y: (x + y, np.max(x)), (normal(12), normal(12)), tmp_path)
    with pytest.raises(ValueError, match="axis 0 of x has fewer than 2 elements"):
        run(np.ones(n), np.ones(n))


def test_the_wrapper_loses_nothing(tmp_path):
    run = library(lambda x, k, n: x[k] * n, (normal(12), np.arange(9), 3), tmp_path)
    x, k = normal(12), np.arange(9)
    assert np.array_equal(run(x.tolist(), k.astype(np.int8), np.int64(2)), x[:9] * 2)
    for args in [(x * 1j, k, 2), (x, k * 1.0, 2), (x, k, 2.5), (x[:, None], k, 2), (x, k, 2**70)]:
        with pytest.raises((TypeError, ValueError, OverflowError)):
            run(*args)


def test_names_of_functions(tmp_path):
    def log(x):
        return [x * k for k in range(3)]

    made = library(log, (normal(9),), tmp_path)(normal(9))
    assert np.array_equal(made, [normal(9) * k for k in range(3)])


@pytest.mark.parametrize("name", ["math", "Math", "string", "STDINT"])
def test_functions_that_are_called_like_a_header_of_c(name, tmp_path):
    """A file `math.h` would hide the one of C; so would `Math.h` where names have no case."""

    def function(x):
        return np.cbrt(x)

    function.__name__ = name
    made = library(function, (normal(9),), tmp_path)(normal(9))
    np.testing.assert_allclose(made, np.cbrt(normal(9)))
    assert {path.name for path in tmp_path.glob("*.h")} == {f"{name}_.h"}


@pytest.mark.parametrize("name", ["printf", "write", "free", "select", "main"])
def test_functions_that_are_called_like_one_of_the_library(name, tmp_path):
    """Theirs would be called in the place of that of the library, in the whole program."""

    def function(x):
        return 2 * x

    function.__name__ = name
    call = library(function, (normal(9),), tmp_path)
    np.testing.assert_allclose(call(normal(9)), 2 * normal(9))
    assert {path.name for path in tmp_path.glob("*.h")} == {f"{name}_.h"}


def test_lengths_that_do_not_fit(tmp_path):
    run = library(lambda x, y: x + y, (normal(12), normal(12)), tmp_path)
    assert np.array_equal(run(np.ones(20), np.ones(20)), np.full(20, 2.0))
    with pytest.raises(ValueError, match="lengths"):
        run(np.ones(20), np.ones(21))


def swung(u):
    x, v, total = 0.5, 0.0, 0.0
    for k in range(u.shape[0]):
        force = (1.0 - x * x) * v - x + u[k]
        x, v = x + 1e-4 * v, v + 1e-4 * force / (2.0 + x * x)
        total = total + x * x
    return total


@pytest.mark.parametrize("n", [9, 600_000])
def test_gradients_are_for_all_lengths(n, tmp_path):
    """Also for more passes than a cache has numbers."""
    run = library(grad(swung), (np.zeros(20),), tmp_path)
    u = 0.3 * normal(n)
    np.testing.assert_allclose(run(u), grad(swung)(u), rtol=1e-9, atol=1e-11)


def test_the_source_of_a_gradient(golden):
    module = JitToC(grad(pendulum)).module_for((np.zeros(20), np.zeros(2)), {})
    golden("c/pendulum_grad.c", module.source)
    golden("c/pendulum_grad.h", module.header)


def test_the_document_shows_what_is_written(tmp_path):
    text = (ROOT / "docs/c.md").read_text()
    (tmp_path / "models.py").write_text(
        re.search(r"```python\n(# models.py\n.*?)```", text, re.S)[1]
    )
    command = ["export", f"{tmp_path}/models.py:cost", "--transform", "grad", "--c", "-o"]
    assert main([*command, str(tmp_path)]) == 0
    shown = re.findall(r"^      ((?://|int).*)$", text, re.MULTILINE)
    assert "\n".join(shown) in (tmp_path / "cost_grad.h").read_text()


def test_a_driver_of_library_products(golden):
    args = (np.eye(12), np.ones(12), 5)
    golden("c/conjugate_gradients.c", JitToC(conjugate_gradients).module_for(args, {}).source)


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (lambda z: np.linalg.eigh(z)[0], (np.eye(9) * 1j,), "eigh of complex numbers"),
        (printing, (1.0,), r"print\(\) of .*has no form in C\n.*line"),
        (lambda x: np.linalg.eigvals(x), (np.eye(9),), r"eigvals.*line"),
    ],
)
def test_what_is_refused(function, args, message):
    with pytest.raises(UnsupportedError, match=message):
        JitToC(function).module_for(args, {})


def test_what_holds_for_one_call_alone_is_refused():
    def by_value(x):
        return float(str(float(x)).replace("-", ""))

    with pytest.raises(Exception, match="value"):
        JitToC(by_value).module_for((1.5,), {})


def rotated(z, w):
    return np.exp(z) * w / (z + 2), np.abs(z), z.real, z.imag.sum(), np.conj(z), np.sqrt(z)


def infinite(z):
    """Products that C and NumPy have other parts of."""
    return z * z, z / z[::-1], z + 1


Z = normal(12) + 1j * normal(12, seed=1)
COMPLEX = {
    "functions": (rotated, (Z, 1.0 + 2.0j)),
    "single precision": (rotated, (Z.astype(np.complex64), np.complex64(1 - 1j))),
    "a product of vectors": (lambda z: z @ z, (Z,)),
    "a gradient": (grad(lambda z: np.sum(np.abs(z) ** 2)), (Z,)),
    "of real numbers": (lambda x: np.exp(1j * x).sum(), (normal(12),)),
    "infinite": (infinite, (np.array([1j * np.inf, 1 + np.inf * 1j, 0, 2, -1, 1j, 3, 4, 5]),)),
}


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.filterwarnings("ignore")
def test_complex_numbers(name, tmp_path):
    function, args = COMPLEX[name]
    if name not in ("infinite", "functions"):
        checked(function, args, tmp_path)
        return
    run = library(function, args, tmp_path)
    made, expected = run(*args), function(*args)
    for x, y in zip(*((v if type(v) is tuple else (v,)) for v in (made, expected)), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


def squares_above(x, least):
    squares = []
    for v in x:
        if v > least:
            squares.append(v * v)  # noqa: PERF401  # it is a list that grows
    return np.array(squares)


ROOMY = {
    "a list": (squares_above, (normal(20), 0.1)),
    "a mask": (lambda x: x[x > 0] * 2, (normal(20),)),
    "places": (lambda x: np.nonzero(x > 0), (normal(9, 10),)),
    "a derivative of while": (grad(newton_root), (2.0, 50)),
    "a result by rows": (lambda x: (x[x[:, 0] > 0] + 1, np.sum(x)), (normal(20, 9),)),
    "an argument overwritten": (
        lambda x, y: (y.__iadd__(1.0), np.flatnonzero(x > 0))[1],
        (normal(3000), np.zeros(9)),
    ),
}


@pytest.mark.parametrize("name", ROOMY)
def test_lengths_that_depend_on_values(name, tmp_path):
    """The caller says how much room there is; the wrapper asks for more while it is too little."""
    function, args = ROOMY[name]
    module = checked(function, args, tmp_path)
    assert "int64_t room" in module.header
    if name not in ("a result by rows", "an argument overwritten"):
        return
    run = library(function, args, tmp_path)
    ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
    made, expected = run(*ours), function(*theirs)
    for a, b in zip((made, *ours), (expected, *theirs), strict=True):
        for x, y in zip(*((v if type(v) is tuple else (v,)) for v in (a, b)), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12)


def test_too_little_room(tmp_path):
    run = library(squares_above, (normal(20), 0.1), tmp_path)
    text = (tmp_path / "squares_above.py").read_text().replace("room *= 4", "break")
    scope = {"__file__": str(tmp_path / "squares_above.py")}
    exec(text, scope)
    assert len(run(np.ones(5000), 0.1)) == 5000
    with pytest.raises(MemoryError, match="longer than there is room for"):
        scope["squares_above"](np.ones(5000), 0.1)


def tails(x):
    parts = [x[k:] * x[k] for k in range(len(x))]
    while len(parts) > 1:
        a, b = parts.pop(0), parts.pop(0)
        parts.append(np.concatenate([a, b])[::2])
    return np.sum(parts[0] ** 2)


def earlier_ones(x):
    earlier, total = [], 0.0
    for _ in range(4):
        q = 2.0 * x
        if earlier:
            q = q * earlier[-1]
        for s in earlier:
            q = q + s
        total += q @ x
        earlier.append(0.3 * q)
    return total


def shrinking(x):
    y, parts = x, []
    while len(y) > 2:
        y = y[1:] * y[:-1]
        parts.append(y)
    return sum(np.sum(p**2) * len(p) for p in parts)


def last_two(x):
    window, total = [x], 0.0
    for k in range(5):
        window.append(np.sin(window[-1]) + k)
        if len(window) > 2:
            del window[0]
        total += window[0] @ window[-1]
    return total


def item_or_none(x, k):
    rows = []
    for v in x:
        rows.append(np.array([v, v * v, 1.0]))
        rows[-1] = rows[-1] * 2
    return rows[k]


def emptied_when_full(x):
    """What one branch begins anew and the other goes on with is one array."""
    bins, s = [[] for _ in range(4)], 0.0
    for v in x:
        k = int(4 * v)
        bins[k] += [v, v * 2]
        if len(bins[k]) > 3:
            s += sum(bins[k]) ** 2
            bins[k] = []
    return s + sum(len(row) * sum(row) for row in bins)


LISTS = {
    "emptied when full": (emptied_when_full, (np.linspace(0.01, 0.99, 14) ** 2,)),
    "of several lengths": (tails, (normal(12) * 2,)),
    "read in a branch and a loop": (earlier_ones, (normal(4),)),
    "its derivative": (grad(earlier_ones), (normal(4),)),
    "of what shrinks": (shrinking, (normal(6),)),
    "of the last ones": (last_two, (normal(4),)),
    "its slope": (grad(last_two), (normal(4),)),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_arrays(name, tmp_path):
    function, args = LISTS[name]
    module = checked(function, args, tmp_path)
    assert "_top" in module.source


@pytest.mark.usefixtures("loops_in_the_driver")
def test_items_that_are_not_there(tmp_path):
    run = library(item_or_none, (normal(9), 2), tmp_path)
    assert np.array_equal(run(normal(9), -9), item_or_none(normal(9), -9))
    for k in (9, -10):
        with pytest.raises(IndexError, match="out of"):
            run(normal(9), k)


def repeated_root(x, n, scale):
    return scale * x * 2**-n


def test_arguments_that_the_code_is_for(tmp_path):
    """An exponent decides what is computed; the header says which one."""
    module = checked(repeated_root, (1.5, 3, 2.0), tmp_path)
    assert "The code is for n = 3 of the Python function." in module.header
    assert [a.name for a in module.arguments] == ["x", "scale"]


@pytest.fixture
def loops_in_the_driver(monkeypatch):
    """Loops and branches run kernels, as those do that have something without loop form in them."""
    first = Lowering.obstacle

    def obstacle(self, s, top):
        is_whole = isinstance(s, (For, While, If))
        return Obstacle(s, "it is asked for", "none", s) if is_whole else first(self, s, top)

    monkeypatch.setattr(Lowering, "obstacle", obstacle)


def turns(x, y, n):
    """Arrays and numbers that are exchanged."""
    a, b = 1.0, 2.0
    for _ in range(n):
        x, y = np.sin(y), x * a
        a, b = b, a + 0.5
    return x - y, a, b


def backwards(x):
    total = x * 0
    for k in range(len(x) - 1, -1, -1):
        total = np.cos(total + x[k])
    return total


def counted(x):
    count = 0
    while np.max(x) > 0.1:
        x = x / 2
        count += 1
    return x, count


def stored(x, n):
    y = np.zeros((n, len(x)))
    for k in range(n):
        y[k] = x
        x = x * 0.5 + y[k, 0]
    return y


DRIVEN = {
    "exchanged": (turns, (normal(9), normal(9, seed=1), 5)),
    "backwards": (backwards, (normal(12),)),
    "while": (counted, (np.abs(normal(11)),)),
    "stores": (stored, (normal(10), 6)),
    "derivative": (grad(lambda x: np.sum(stored(x, 4) ** 2)), (normal(10),)),
    "derivative of turns": (grad(lambda x, y: turns(x, y, 4)[0] @ x), (normal(9), normal(9))),
}


@pytest.mark.parametrize("name", DRIVEN)
@pytest.mark.usefixtures("loops_in_the_driver")
def test_loops_that_run_kernels(name, tmp_path):
    function, args = DRIVEN[name]
    module = checked(function, args, tmp_path)
    driver = module.source.partition(f" {module.name}(")[2]
    assert re.search(r"for \(.*\) \{  // line", driver)


def shifted(x):
    x = x.copy()
    x[1:] = x[:-1]
    return x


def shifted_back(x):
    x = x.copy()
    x[:-1] = x[1:]
    return x


def turned(x):
    x = x.copy()
    x[...] = x[::-1]
    return x


def across(a):
    a = a.copy()
    a[1:, 0] = a[:-1, 1]
    a[:, 2] = a[3]
    return a.T, a[-1]


def cleared(x):
    x = x.copy()
    x[2:-2] = 0.0
    x[0] = x[-1]
    return x


MOVED = {
    "shifted": (shifted, (normal(12),)),
    "shifted back": (shifted_back, (normal(12),)),
    "turned": (turned, (normal(12),)),
    "across": (across, (normal(9, 9),)),
    "cleared": (cleared, (normal(12),)),
    "joined": (lambda x, y: np.concatenate([x[3:], y.T], axis=1), (normal(12, 9), normal(9, 9))),
}


@pytest.fixture
def nothing_in_kernels(monkeypatch):
    monkeypatch.setattr(KernelProfit, "pays_off", lambda *_: False)


@pytest.mark.parametrize("name", MOVED)
@pytest.mark.usefixtures("nothing_in_kernels")
def test_stores_to_what_is_read(name, tmp_path):
    """NumPy reads all before it stores, where both are the same memory."""
    function, args = MOVED[name]
    assert "_kernel" not in checked(function, args, tmp_path).source
