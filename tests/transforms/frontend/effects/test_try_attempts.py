"""Try statements that catch what data decides: each call goes Python's way."""

import math

import numpy as np
import pytest

from tapeless import grad, hessian, jit, jvp, vmap
from tapeless.errors import TapelessError

RNG = np.random.default_rng(5)
A = RNG.standard_normal((3, 3))
DEFINITE, INDEFINITE, SINGULAR = A @ A.T + np.eye(3), np.eye(3) - 0.3 * A @ A.T, np.ones((3, 3))


def steady(k):
    try:
        low = np.linalg.cholesky(k)
    except np.linalg.LinAlgError:
        low = np.linalg.cholesky(k + 5 * np.eye(3))
    return np.log(np.diag(low)).sum()


def with_jitter(k):
    jitter = 0.0
    for _ in range(5):
        try:
            low = np.linalg.cholesky(k + jitter * np.eye(3))
            break
        except np.linalg.LinAlgError:
            jitter = 10 * jitter if jitter else 0.1
    return low.sum() + jitter


def inverse(a):
    try:
        return np.linalg.inv(a).sum()
    except np.linalg.LinAlgError as error:
        assert str(error) == "Singular matrix"  # noqa: PT017
        return np.linalg.pinv(a).sum()


def solution(a):
    try:
        x = np.linalg.solve(a, np.arange(3.0))
    except Exception:  # noqa: BLE001
        x = np.zeros(3)
    else:
        x = 2 * x
    finally:
        a = a + 1
    return x.sum() + a.sum()


@pytest.mark.parametrize("f", [steady, with_jitter, inverse, solution])
@pytest.mark.parametrize("k", [DEFINITE, INDEFINITE, -DEFINITE, SINGULAR])
def test_factorisations(f, k):
    try:
        want = f(k)
    except np.linalg.LinAlgError as error:
        with pytest.raises(np.linalg.LinAlgError, match=str(error)):
            jit(f)(k)
        return
    np.testing.assert_allclose(jit(f)(k), want, rtol=1e-12)
    if k is SINGULAR:
        return
    v = RNG.standard_normal((3, 3))
    v = v + v.T
    slope = (f(k + 1e-6 * v) - f(k - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose((grad(f)(k) * v).sum(), slope, rtol=1e-5)
    np.testing.assert_allclose(jvp(f, (k,), (v,))[1], slope, rtol=1e-5)


def test_elements_of_a_batch_go_their_own_ways():
    ks = np.stack([DEFINITE, INDEFINITE, np.eye(3)])
    np.testing.assert_allclose(vmap(steady)(ks), [steady(k) for k in ks], rtol=1e-12)
    np.testing.assert_allclose(vmap(grad(steady))(ks), [grad(steady)(k) for k in ks], rtol=1e-12)


class SpecialError(Exception):
    pass


def quotient(x, y):
    try:
        return x * (x / y)
    except ZeroDivisionError:
        return 7.0 * x


def domain(x, y):
    try:
        r = math.sqrt(x)
        r = math.log(r - y)
    except ValueError:
        return -x * x
    return 2 * r


def range_(x, y):
    try:
        return math.exp(100 * x) * y
    except OverflowError:
        return x * y


def powers(x, y):
    total = y
    try:
        for k in range(3):
            total = total * 1e100
            total = total**2 + x / (x - k)
    except OverflowError:
        total = x
    except ZeroDivisionError:
        total = 3 * y
    return total


def nested(x, y):
    try:
        try:
            r = 1 / x
        except ZeroDivisionError:
            r = math.log(y)
        r = r * math.sqrt(r)
    except ValueError:
        r = x - y
    return r


def set_before_it_is_raised_again(x, y):
    try:
        try:
            y = math.sqrt(x * x)
            x = 1 / x
        except ZeroDivisionError:
            y = math.sin(y) + 2
            raise
    except ArithmeticError:
        x = y * 3
    return x + y


def of_the_user(x, y):
    total = 0.0
    for k in range(3):
        try:
            if x > k:
                raise SpecialError(y * k)
            total = total + math.sqrt(y)
        except SpecialError as error:
            total = total + x * error.args[0]
        except ValueError:
            break
    return total


def in_a_function(x, y):
    def checked(z):
        if z < 0:
            raise ValueError("negative")
        return z * z

    try:
        r = checked(x) + checked(y)
    except ValueError:
        r = x * y
    return r


def raised_again(x, y):
    try:
        try:
            r = x / y
        except ZeroDivisionError:
            if x > 1:
                raise
            r = x
    except ArithmeticError:
        r = 10 * x
    return r


@pytest.mark.parametrize(
    "f",
    [
        quotient,
        domain,
        range_,
        powers,
        nested,
        set_before_it_is_raised_again,
        of_the_user,
        in_a_function,
        raised_again,
    ],
)
@pytest.mark.parametrize("x", [0.0, 0.5, 2.5, 8.0, -1.0])
@pytest.mark.parametrize("y", [0.0, 1.5, -2.0])
def test_errors_of_numbers(f, x, y):
    want = f(x, y)
    assert jit(f)(x, y) == pytest.approx(want, rel=1e-12)
    if math.isfinite(want) and x and y:
        slope = (f(x + 1e-7, y) - f(x - 1e-7, y)) / 2e-7
        assert grad(f)(x, y) == pytest.approx(slope, rel=1e-5, abs=1e-5)


def test_second_order():
    assert hessian(domain)(16.0, 1.0) == pytest.approx(
        (grad(domain)(16.001, 1.0) - grad(domain)(15.999, 1.0)) / 0.002, rel=1e-5
    )
    assert hessian(domain)(-3.0, 1.0) == -2.0


def test_what_is_not_caught_is_raised():
    def f(x, y):
        try:
            if x > 1:
                raise SpecialError("large")
            z = x / y
        except ZeroDivisionError:
            z = x
        return z

    for method in (jit(f), grad(f)):
        with pytest.raises(SpecialError, match="large"):
            method(2.0, 0.0)
    assert jit(f)(0.5, 0.0) == 0.5


def test_stores_before_an_error_stay():
    def f(x):
        x = x.copy()
        try:
            x[0] = 3 * x[1]
            if x[1] > 0:
                raise ValueError
            x[1] = 7.0
        except ValueError:
            x[2] = x[0]
        return x

    for x in ([1.0, 2.0, 3.0], [1.0, -2.0, 3.0]):
        np.testing.assert_array_equal(jit(f)(np.array(x)), f(np.array(x)))
        np.testing.assert_array_equal(
            jvp(f, (np.array(x),), (np.ones(3),))[1],
            [3.0, 1.0, 3.0] if x[1] > 0 else [3.0, 0.0, 1.0],
        )


def test_what_is_printed_is_printed_once(capsys):
    def f(x):
        try:
            print("trying")  # noqa: T201
            y = math.sqrt(x)
            print("done")  # noqa: T201
        except ValueError:
            print("failed")  # noqa: T201
            y = -x
        return y

    for x in (4.0, -4.0):
        want = f(x)
        shown = capsys.readouterr().out
        assert jit(f)(x) == want
        assert capsys.readouterr().out == shown


def test_errors_of_another_kind_are_raised_in_their_order():
    def f(x, i):
        try:
            if x[0] < 0:
                raise KeyError("first")
            y = math.sqrt(x[i])
        except ValueError:
            y = 0.0
        return y

    with pytest.raises(TapelessError, match="before the try statement"):
        jit(f)(np.ones(3), np.array(5))


def test_what_the_error_says():
    def f(x, y):
        try:
            z = x / y
        except ZeroDivisionError as error:
            z = x * len(str(error))
        try:
            w = x // y
        except ZeroDivisionError as error:
            w = x * len(str(error))
        return z + w

    assert jit(f)(2.0, 0.0) == f(2.0, 0.0)


def test_lists_that_grow_on_both_ways():
    def f(x):
        out = []
        for k in range(3):
            try:
                out.append(x[k])
                if x[k] < 0:
                    raise ValueError(k)
                out.append(2 * x[k])
            except ValueError as error:
                out.append(error.args[0] * 1.0)
        return np.array(out[-4:]).sum()

    for x in ([1.0, -2.0, 3.0], [1.0, 2.0, -3.0]):
        np.testing.assert_allclose(jit(f)(np.array(x)), f(np.array(x)))
        np.testing.assert_allclose(vmap(f)(np.array([x, x]))[1], f(np.array(x)))


def test_views_names_and_what_is_done_in_the_end():
    def f(x):
        y = x.copy()
        v = y[1:]
        a = x * 1
        b = a
        try:
            v[0] = 5 * x[0]
            b = x * 2
            if x[0] > 0:
                raise SpecialError(x[1])
            v[0] += 1
            a = b
        except SpecialError as error:
            y[0] = v[0] * error.args[0]
            a[0] = 7.0
        finally:
            v[1] *= 3
        b[1] = 3.0
        return (y * x).sum() + (a * np.arange(3)).sum() + b.sum()

    for x in ([0.5, -2.0, 3.0], [-0.5, 2.0, -3.0]):
        x = np.array(x)
        np.testing.assert_allclose(jit(f)(x), f(x))
        step = np.array([1e-6, 2e-6, -1e-6])
        slope = f(x + step) - f(x - step)
        np.testing.assert_allclose(2 * (grad(f)(x) * step).sum(), slope, rtol=1e-6)


def test_many_tests_are_refused():
    def f(x):
        try:
            for k in range(40):
                if x[k] < 0:
                    raise ValueError
        except ValueError:
            return 0.0
        return x.sum()

    with pytest.raises(TapelessError, match="more than 64 ways"):
        jit(f)(np.ones(40))


def test_a_test_in_each_pass_of_a_loop():
    def f(x):
        try:
            for k in range(30):
                if x[k] < 0:
                    raise ValueError
        except ValueError:
            return 0.0
        return x.sum()

    for x in (np.ones(30), np.where(np.arange(30) == 29, -1.0, 1.0)):
        assert jit(f)(x) == f(x)
