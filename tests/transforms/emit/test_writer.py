"""How emitted code is written: assignments, branches, results, sizes and names."""

import itertools
import re

import numpy as np
import pytest

import tapeless

V = np.array([0.3, -0.7, 1.9])


def body(source):
    """The lines of the last function, without comments."""
    lines = source.partition('"""\n')[2].splitlines()
    return [re.sub(r"  # line \d+", "", line).strip() for line in lines if line.strip()]


def gradient(function, *args, **options):
    return body(tapeless.grad(function, **options).source(*args))


def counted(k, x, n):
    total = 0.0
    for _ in range(n):
        total = total * x + k
    return total


def test_scalars_are_added_to_in_place():
    lines = gradient(counted, 0.5, 0.9, 4, argnums=(0, 1))
    assert "total_bar *= x" in lines
    assert "k_bar += total_bar" in lines
    assert lines[-1] == "return k_bar, x_bar"


def test_an_argument_that_is_an_array_without_axes_is_not_changed():
    def grown(x, n):
        for _ in range(n):
            x = x + 1.0
        return x * x

    x = np.array(2.0)
    assert tapeless.value_and_grad(grown)(x, 3) == (25.0, 10.0)
    assert x == 2.0


def test_an_array_that_a_number_starts_from_is_not_changed():
    """A derivative that is a Python number may start from an array without axes of the caller's."""

    def f(x, scale):
        while x > 0.1:
            x *= 0.7
        return x * scale

    scale = np.array(1.5)
    slope = tapeless.grad(f)
    assert slope(0.9, scale) == slope(0.9, scale) == pytest.approx(1.5 * 0.7**7)
    assert scale == 1.5


def test_assignments_at_once_are_only_for_circles():
    def turned(x, y, n):
        for _ in range(n):
            x, y = y * 2.0, x
        return x * y

    assert tapeless.grad(turned)(0.3, 0.8, 3) == pytest.approx(8 * 0.8)
    assert not any(re.match(r"(\w+), (\w+) = ", line) for line in gradient(counted, 0.5, 0.9, 4))


def chosen(x):
    if x > 1:
        y = np.sin(x)
    elif x == 0:
        y = x**3
    else:
        y = x * 2.0
    return y


def test_branches_of_branches_are_elif():
    lines = body(tapeless.value_and_grad(chosen).source(0.5))
    assert "elif x == 0:" in lines
    assert "pass" not in lines


def test_a_branch_with_one_side_has_no_else():
    def checked(x, n):
        if n == 3:
            pass
        else:
            raise ValueError("three are needed")
        return x * x

    lines = gradient(checked, 0.5, 3)
    assert lines[:2] == ["if n != 3:", 'raise ValueError("three are needed")']


def test_a_result_of_one_is_a_tuple_still():
    assert gradient(np.sin, 0.5, argnums=(0,))[-1] == "return (np.cos(x),)"


def test_results_in_containers_stand_one_a_line():
    def loss(parameters):
        return sum(np.sum(np.sin(v) * 1.5) for v in parameters.values())

    names = ["a_first_weight", "b_second_weight", "c_third_weight", "d_fourth_weight"]
    lines = gradient(loss, dict.fromkeys(names, V))
    assert lines[-6] == "return {"
    assert lines[-1] == "}"
    assert [line.partition(":")[0] for line in lines[-5:-1]] == [
        f'"{name}"' for name in sorted(names)
    ]


def test_lines_are_short_enough():
    def long(first_variable, second_variable, third_variable):
        wanted = np.sin(first_variable) * np.cos(second_variable) * np.tan(third_variable)
        return np.sum(wanted * first_variable * second_variable + third_variable * np.exp(wanted))

    source = tapeless.value_and_grad(long, argnums=(0, 1, 2)).source(V, V, V)
    assert max(map(len, source.splitlines())) < 100


def test_sizes_are_spelled_as_people_do():
    def shifted(x):
        total = 0.0
        for i in range(1, len(x)):
            total = total + x[i] * x[i - 1]
        return total

    lines = gradient(shifted, V)
    assert "for i in reversed(range(1, len(x))):" in lines
    assert "x_bar = np.zeros(x.shape)" in lines


def test_an_argument_may_be_called_like_a_builtin():
    def measured(len, x):  # noqa: A002, the point
        total = 0.0
        for i in range(x.shape[0]):
            total = total + x[i] * len
        return total

    np.testing.assert_allclose(tapeless.grad(measured, argnums=1)(2.0, V), np.full(3, 2.0))


def test_signs_are_not_added():
    def difference(x, i):
        return -2.0 * x[i] * x[0]

    lines = gradient(difference, V, 1)
    assert not any("+= -" in line or "+ -" in line for line in lines)
    assert sum("-=" in line for line in lines) == 1
    assert sum("] = -" in line for line in lines) == 1


def test_products_have_no_parentheses_that_say_nothing():
    assert gradient(lambda x, y: x**2 * y, 0.5, 0.3)[-1] == "return 2 * y * x"


def test_parts_are_called_by_their_place():
    def product(u, i):
        return u[i] * np.sin(u[0]) + u[i] * u[0]

    lines = gradient(product, V, 2)
    assert "u_i = u[i]" in lines
    assert "u_0 = u[0]" in lines


def test_words_of_ours_do_not_hide_what_is_called():
    matrix = np.array([[2.0, 0.3], [0.1, 1.5]])

    def volume(a):
        return np.linalg.det(a) ** 2

    source = tapeless.jvp_fn(tapeless.grad(volume)).source(matrix, matrix)
    called = set(re.findall(r"def (\w+)", source))
    assert not called & set(re.findall(r"^ +(\w+) = ", source, re.MULTILINE))


def test_texts_that_are_printed_stay_as_they_were(capsys):
    def shown(x):
        print("the 'value'", f"{x:.2f} {x!r} {{}}", end="!\n")  # noqa: T201
        return x * x

    tapeless.grad(shown)(0.5)
    printed = capsys.readouterr().out
    shown(0.5)
    assert printed == capsys.readouterr().out
    assert 'f"{x:.2f} {x!r} {{}}"' in tapeless.grad(shown).source(0.5)


def test_flags_are_plain_python():
    def stopped(x, n):
        for _ in range(n):
            if not x > 3.0 and x > 0.1:
                x = x * 1.5
        return x

    source = tapeless.grad(stopped).source(1.0, 5)
    assert "logical" not in source


def test_comments_name_lines_where_they_change():
    source = tapeless.grad(chosen).source(0.5)
    noted = re.findall(r"# line (\d+)", source)
    assert all(a != b for a, b in itertools.pairwise(noted))


def test_lengths_of_what_may_lack_a_value():
    """A test of a length spells a conditional expression in it as one operand."""

    def padded(v):
        if len(v) == 3:
            square = np.zeros((3, 3))
            square[:2, 2] = v[:2]
        elif len(v) == 6:
            square = np.zeros((4, 4))
            square[:3, 3] = v[:3]
        else:
            raise ValueError("of no known length")
        return np.sum(np.eye(4) + square)

    slope = tapeless.grad(padded)
    np.testing.assert_array_equal(slope(np.ones(6)), [1, 1, 1, 0, 0, 0])
    with pytest.raises(ValueError, match="broadcast"):
        slope(np.ones(3))
    with pytest.raises(ValueError, match="of no known length"):
        slope(np.ones(4))
