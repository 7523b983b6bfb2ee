"""What is stored through views of views is stored into elements of the array that they are of."""

import random

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.errors import AliasError

M = np.random.default_rng(5).normal(size=(4, 5, 3)).round(2)
STEPS = (
    ".T",
    "[::-1]",
    "[:, ::-1]",
    "[1:]",
    "[:-1]",
    "[..., 1:]",
    ".transpose(1, 0, 2)",
    ".transpose(2, 0, 1)",
    "[::-1, :-1, ::-1]",
    "[::2]",
    "[:, None, 0]",
    "[1:3][::-1]",
)
KEYS = ("[j]", "[j, 0]", "[-j - 1, 1]", "[j, 0, 1]", "[1:]", "[:, j]", "[rows]", "[rows, 0]", "[:]")


def program(seed):
    """A function that stores through a chain of views."""
    rng = random.Random(seed)
    chain = "".join(rng.choices(STEPS, k=rng.randint(1, 3)))
    key, again = rng.choices(KEYS, k=2)
    lines = (
        "def f(m, j, rows):",
        f"    v = m{chain}",
        f"    v{key} = np.sin(v{key}) + j",
        "    for k in range(j + 1):",
        f"        v{again.replace('j', 'k')} *= 0.5",
        "    return m, v",
    )
    return "\n".join(lines) + "\n"


def tried(f, *args):
    """What a function returns, or which error it raises."""
    try:
        return f(M.copy(), *args)
    except (IndexError, ValueError) as e:
        return type(e)


@pytest.mark.parametrize("part", range(20))
def test_random_chains(part, tmp_path):
    count = 0
    for seed in range(12 * part, 12 * part + 12):
        path = tmp_path / f"chain_{seed}.py"
        path.write_text("import numpy as np\n\n\n" + program(seed))
        space = {}
        exec(compile(path.read_text(), str(path), "exec"), space)
        f = space["f"]
        for args in ((0, np.array([1, 0])), (1, np.array([0, 1])), (-2, np.array([1, -1]))):
            wanted = tried(f, *args)
            found = tried(jit(f), *args)
            if isinstance(wanted, type):
                assert found is wanted, path.read_text()
                continue
            assert not isinstance(found, type), path.read_text()
            for a, b in zip(found, wanted, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-14, err_msg=path.read_text())
            count += 1
    assert count > 5


def test_columns_are_divided_in_place():
    def normalised(a):
        a = a.copy()
        for column in a.T:
            column /= np.sqrt(np.sum(column * column))
        return a

    a = M[..., 0]
    np.testing.assert_allclose(jit(normalised)(a), normalised(a), rtol=1e-14)
    assert "scratch" not in jit(normalised).source(a)
    text = grad(lambda a: np.sum(normalised(a) ** 3)).source(a)
    assert "a[:, i] = " in text
    assert "np.zeros" not in text


def test_elements_of_reversed_parts():
    def f(u, n):
        v = u[1:][::-1]
        for i in range(n):
            v[i] = 0.5 * v[i] + 1
        return u

    u = np.arange(6.0)
    assert "scratch" not in jit(f).source(u, 4)
    np.testing.assert_array_equal(jit(f)(u.copy(), 4), f(u.copy(), 4))
    with pytest.raises(IndexError):
        jit(f)(u.copy(), 6)


def test_turned_twice_is_not_turned():
    def f(u, n):
        for _ in range(3):
            u = u[::-1]
        for i in range(n):
            u[0] *= 2.0
            u[i] += u[-1]
        return u

    u = np.arange(1.0, 7.0)
    np.testing.assert_array_equal(jit(f)(u.copy(), 4), f(u.copy(), 4))
    assert "[::-1][::-1]" not in jit(f).source(u, 4)


def _of_broadcast(x):
    rows = np.broadcast_to(x, (3, x.size))
    rows[0] = 1.0
    return rows


def _of_broadcast_turned(x):
    np.broadcast_to(x, (3, x.size)).T[0] = 1.0
    return x


def _of_read_only(x):
    y = x.copy()
    v = y.view()
    v.setflags(write=False)
    v[0] = 3.0
    return y


def _of_read_only_turned(x):
    y = x.copy()
    v = y[::-1]
    v.setflags(write=False)
    v[0] = 3.0
    return y


@pytest.mark.parametrize(
    "f", [_of_broadcast, _of_broadcast_turned, _of_read_only, _of_read_only_turned]
)
def test_views_that_are_read_only(f):
    for run in (f, jit(f)):
        with pytest.raises((ValueError, AliasError), match="read-only"):
            run(np.arange(4.0))


def picked_of_both(x):
    k = 1 if x[0] < 0.5 else 2
    return x[::-1][k] * (2.0 if x[k] > 0.5 else 3.0)


def test_an_index_of_what_runs_backwards_is_read_once():
    """The batch had the index as it was before -1 - k, too, which no axis was read by."""
    xs = np.random.default_rng(0).uniform(size=(6, 5))
    np.testing.assert_allclose(jit(vmap(picked_of_both))(xs), [picked_of_both(x) for x in xs])
