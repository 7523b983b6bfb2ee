"""Bad arguments are refused before work starts, with a message that says what is accepted."""

import numpy as np
import pytest

from tapeless import (
    TapelessError,
    checkpoint,
    custom_jvp,
    custom_vjp,
    grad,
    jacfwd,
    jvp,
    jvp_fn,
    linearize,
    value_and_grad,
    vjp,
)
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError


def f(x, y=1.0):
    return x * y


def vector(x):
    return x * 2


FLOATS = "pass floats: 1.0 instead of 1, x.astype(float) for arrays"
SAME = "pass floats of the same dtype: 1.0 instead of 1"
COUNTS = "argnums counts from 0; an argument passed by name is chosen with argnames"
ONE_EACH = "there must be one tangent for each primal"

CASES = [
    # options
    (
        lambda: grad(f, argnums="x"),
        TypeError,
        "grad: argnums must be an int or a tuple of ints, not 'x'",
        "give the positions of arguments, counted from 0: argnums=(0, 1)",
    ),
    (
        lambda: value_and_grad(f, argnums=1.5),
        TypeError,
        "value_and_grad: argnums must be an int or a tuple of ints, not 1.5",
        "give the positions of arguments, counted from 0: argnums=(0, 1)",
    ),
    (
        lambda: grad(f, argnums=(0, True)),
        TypeError,
        "grad: argnums must be an int or a tuple of ints, not (0, True)",
        "give the positions of arguments, counted from 0: argnums=(0, 1)",
    ),
    (
        lambda: jvp_fn(f, None),
        TypeError,
        "jvp_fn: argnums must be an int or a tuple of ints, not None",
        "give the positions of arguments, counted from 0: argnums=(0, 1)",
    ),
    (
        lambda: grad(f, argnames=3),
        TypeError,
        "grad: argnames must be a name or several, not 3",
        'give the names of arguments as text: argnames=("x", "y")',
    ),
    (
        lambda: grad(f, argnames=("x", 1)),
        TypeError,
        "grad: argnames must be a name or several, not ('x', 1)",
        'give the names of arguments as text: argnames=("x", "y")',
    ),
    # argnums that do not fit the call
    (
        lambda: grad(f, argnums=2)(1.0),
        ValueError,
        "grad: argnums is 2, but f is called with 1 positional argument",
        COUNTS,
    ),
    (
        lambda: grad(f, argnums=-3)(1.0, 2.0),
        ValueError,
        "grad: argnums is -3, but f is called with 2 positional arguments",
        COUNTS,
    ),
    (
        lambda: grad(f)(x=1.0),
        ValueError,
        "grad: argnums is 0, but f is called with 0 positional arguments",
        COUNTS,
    ),
    (
        lambda: grad(f, argnums=(0, -2))(1.0, 2.0),
        ValueError,
        "grad: argnums (0, -2) names an argument twice",
        "name it once",
    ),
    (
        lambda: grad(f, argnames="z")(1.0),
        ValueError,
        "grad: argnames has 'z', and f is called without it",
        "pass it: z=...",
    ),
    (
        lambda: grad(f, argnames="y")(1.0),
        ValueError,
        "grad: argnames has 'y', and f is called without it",
        "pass it: y=...",
    ),
    # inputs
    (
        lambda: grad(f)(1),
        TypeError,
        "grad: cannot differentiate with respect to x, which is int64",
        FLOATS,
    ),
    (
        lambda: grad(f)(np.arange(3, dtype=np.int32)),
        TypeError,
        "grad: cannot differentiate with respect to x, which is int32",
        FLOATS,
    ),
    (
        lambda: grad(f)(True),
        TypeError,
        "grad: cannot differentiate with respect to x, which is bool",
        FLOATS,
    ),
    (
        lambda: grad(f)({"a": 1.0, "b": np.ones(2, bool)}),
        TypeError,
        "grad: cannot differentiate with respect to x['b'], which is bool",
        "pass floats: 1.0 instead of 1, x['b'].astype(float) for arrays",
    ),
    (
        lambda: grad(f, argnums=(0, 1))(1.0, 2),
        TypeError,
        "grad: cannot differentiate with respect to y, which is int64",
        "pass floats: 1.0 instead of 1, y.astype(float) for arrays",
    ),
    (
        lambda: grad(f, argnames="y")(1.0, y=[2.0, 3]),
        TypeError,
        "grad: cannot differentiate with respect to y[1], which is int64",
        "pass floats: 1.0 instead of 1, y[1].astype(float) for arrays",
    ),
    (
        lambda: grad(f)("text"),
        TypeError,
        "grad: cannot differentiate with respect to x, str 'text'",
        "choose other argnums, or pass numbers and arrays",
    ),
    (
        lambda: grad(f)(np.array([1, "a"], object)),
        TypeError,
        "x is an array of Python objects, which may change unseen",
        "put them into a list, a tuple or a dict; numbers: x.astype(float)",
    ),
    (
        lambda: jacfwd(f)(1j),
        TypeError,
        "jacfwd: complex inputs, such as x, need holomorphic=True",
        "pass holomorphic=True, or real and imaginary parts",
    ),
    (
        lambda: grad(f, holomorphic=True)(1.0),
        TypeError,
        "grad with holomorphic=True needs complex inputs; x is float64",
        "pass complex numbers, x + 0j, or leave holomorphic out",
    ),
    # tangents
    (
        lambda: jvp(f, 1.0, (1.0,)),
        TypeError,
        "jvp: primals must be a tuple or list, not float",
        "for one argument write (x,)",
    ),
    (
        lambda: jvp(f, (1.0,), 1.0),
        TypeError,
        "jvp: tangents must be a tuple or list, not float",
        "for one argument write (x,)",
    ),
    (lambda: jvp(f, (1.0,), (1.0, 2.0)), TypeError, "jvp: 1 primal and 2 tangents", ONE_EACH),
    (
        lambda: jvp(f, (1.0,), (1,)),
        TypeError,
        "jvp: a tangent is int64, its primal is float64",
        SAME,
    ),
    (
        lambda: jvp(f, (np.ones(3, np.float32),), (np.ones(3),)),
        TypeError,
        "jvp: a tangent is float64, its primal is float32",
        SAME,
    ),
    (
        lambda: jvp(f, (1.0,), (1j,)),
        TypeError,
        "jvp: a tangent is complex128, its primal is float64",
        SAME,
    ),
    (
        lambda: jvp(f, (np.ones(3),), (np.ones(2),)),
        ValueError,
        "jvp: a tangent has shape (2,), its primal has shape (3,)",
        "",
    ),
    (
        lambda: jvp(f, (np.ones(3),), (1.0,)),
        ValueError,
        "jvp: a tangent has shape (), its primal has shape (3,)",
        "",
    ),
    (
        lambda: jvp(f, ({"a": 1.0},), ({"b": 1.0},)),
        TypeError,
        "jvp: the tangents must be built like the primals: [{'a': *}], not [{'b': *}]",
        "",
    ),
    (
        lambda: jvp(f, ((1.0, 2.0),), ([1.0, 2.0],)),
        TypeError,
        "jvp: the tangents must be built like the primals: [(*, *)], not [[*, *]]",
        "",
    ),
    (
        lambda: jvp(f, (1.0,), (None,)),
        TypeError,
        "jvp: a tangent is None, not a number or an array",
        "",
    ),
    (
        lambda: jvp(f, (1.0,), ("text",)),
        TypeError,
        "jvp: a tangent is str 'text', not a number or an array",
        "",
    ),
    (
        lambda: jvp_fn(f, (0, 1))(1.0, 2.0),
        ValueError,
        "f_jvp takes the arguments of f and then 2 tangents; it got 2 arguments",
        "",
    ),
    (
        lambda: linearize(f, 1.0)[1](),
        TypeError,
        "linearize: 1 primal and 0 tangents",
        ONE_EACH,
    ),
    (
        lambda: linearize(f, 1.0)[1](1),
        TypeError,
        "linearize: the tangent is int64, its primal is float64",
        SAME,
    ),
    (
        lambda: linearize(vector, np.ones(3))[1](np.ones(2)),
        ValueError,
        "linearize: the tangent has shape (2,), its primal has shape (3,)",
        "",
    ),
    # cotangents
    (
        lambda: vjp(f, 1.0)[1](1),
        TypeError,
        "vjp: the cotangent is int64, its result is float64",
        SAME,
    ),
    (
        lambda: vjp(f, 1.0)[1](1j),
        TypeError,
        "vjp: the cotangent is complex128, its result is float64",
        SAME,
    ),
    (
        lambda: vjp(vector, np.ones(3, np.float32))[1](np.ones(3)),
        TypeError,
        "vjp: the cotangent is float64, its result is float32",
        SAME,
    ),
    (
        lambda: vjp(vector, np.ones(3))[1](np.ones((3, 1))),
        ValueError,
        "vjp: the cotangent has shape (3, 1), its result has shape (3,)",
        "",
    ),
    (
        lambda: vjp(vector, np.ones(3))[1](1.0),
        ValueError,
        "vjp: the cotangent has shape (), its result has shape (3,)",
        "",
    ),
    (
        lambda: vjp(lambda x: {"a": x, "b": (x,)}, 1.0)[1](1.0),
        TypeError,
        "vjp: the cotangents must be built like the results: {'a': *, 'b': (*,)}, not *",
        "",
    ),
    (
        lambda: vjp(f, 1.0)[1](None),
        TypeError,
        "vjp: the cotangent is None, not a number or an array",
        "",
    ),
]


@pytest.mark.parametrize(("use", "builtin", "problem", "hint"), CASES)
def test_refused(use, builtin, problem, hint):
    with pytest.raises(TapelessError) as e:
        use()
    assert isinstance(e.value, ArgumentError)
    assert isinstance(e.value, builtin)
    assert e.value.problem == problem
    assert e.value.hint == hint


@pytest.mark.parametrize(
    "transform", [grad, value_and_grad, jvp_fn, checkpoint, custom_jvp, custom_vjp]
)
@pytest.mark.parametrize(("given", "text"), [(3.0, "float '3.0'"), (None, "NoneType 'None'")])
def test_functions_are_needed(transform, given, text):
    with pytest.raises(ArgumentTypeError) as e:
        transform(given)
    name = {jvp_fn: "jvp"}.get(transform, transform.__name__)
    assert e.value.problem == f"{name} needs a function, not {text}"
    assert e.value.hint == "pass the function itself, not the result of a call"


@pytest.mark.parametrize(
    ("use", "name"),
    [
        (lambda: jvp(3, (1.0,), (1.0,)), "jvp"),
        (lambda: vjp(3, 1.0), "vjp"),
        (lambda: linearize(3, 1.0), "linearize"),
    ],
)
def test_functions_are_needed_at_a_point(use, name):
    with pytest.raises(ArgumentTypeError) as e:
        use()
    assert e.value.problem == f"{name} needs a function, not int '3'"


# -- what functions return

RETURNS = [
    (vector, np.ones(3), "vector returns an array of shape (3,)"),
    (lambda x: (x, x), 1.0, "function returns tuple "),
    (lambda x: {"a": x}, 1.0, "function returns dict "),
    (lambda x: None, 1.0, "function returns None"),
    (lambda x: "text", 1.0, "function returns str 'text'"),
    (lambda x: np.sum(x, axis=0), np.ones((2, 4)), "function returns an array of shape (4,)"),
]


@pytest.mark.parametrize("transform", [grad, value_and_grad])
@pytest.mark.parametrize(("function", "x", "returns"), RETURNS)
def test_results_that_are_no_scalar(transform, function, x, returns):
    with pytest.raises(ArgumentTypeError) as e:
        transform(function)(x)
    start = f"{transform.__name__} needs a function that returns a scalar; {returns}"
    assert e.value.problem.startswith(start)
    assert e.value.where[0] == __file__


@pytest.mark.parametrize(
    ("use", "problem"),
    [
        (
            lambda: grad(f, has_aux=True)(1.0),
            "grad with has_aux=True needs a function that returns a pair (value, aux); "
            "f returns one number",
        ),
        (
            lambda: value_and_grad(lambda x: (x, x, x), has_aux=True)(1.0),
            "value_and_grad with has_aux=True needs a function that returns a pair (value, aux); "
            "function returns tuple ",
        ),
        (
            lambda: jvp(lambda x: None, (1.0,), (1.0,), has_aux=True),
            "jvp with has_aux=True needs a function that returns a pair (value, aux); "
            "function returns None",
        ),
        (
            lambda: vjp(vector, np.ones(2), has_aux=True),
            "vjp with has_aux=True needs a function that returns a pair (value, aux); "
            "vector returns an array of shape (2,)",
        ),
        (
            lambda: linearize(f, 1.0, has_aux=True),
            "linearize with has_aux=True needs a function that returns a pair (value, aux); "
            "f returns one number",
        ),
        (
            lambda: grad(lambda x: x * 1j)(1.0),
            "grad needs a real result; function returns a complex number",
        ),
    ],
)
def test_results_of_another_structure(use, problem):
    with pytest.raises(ArgumentTypeError) as e:
        use()
    assert e.value.problem.startswith(problem)


@pytest.mark.parametrize(
    ("function", "dtype"), [(lambda x: x > 1, "bool"), (lambda x: np.int64(x), "int64")]
)
def test_results_without_derivative(function, dtype):
    with pytest.raises(TapelessError) as e:
        grad(function)(1.0)
    assert isinstance(e.value, TypeError)
    assert e.value.problem == f"function returns {dtype}, which has no derivative"
    assert e.value.hint == "return a float"


def test_nothing_runs_before_arguments_are_checked():
    ran = []

    def noisy(x):
        ran.append(1)
        return x

    with pytest.raises(ArgumentTypeError):
        grad(noisy)(1)
    with pytest.raises(ArgumentTypeError):
        jvp(noisy, (1.0,), (1,))
    assert ran == []


def test_checks_hold_inside_other_transformations():
    with pytest.raises(
        ArgumentTypeError, match="cannot differentiate with respect to x, which is int64"
    ):
        grad(lambda x: x * grad(f)(3))(1.0)
    with pytest.raises(ArgumentError, match=r"a tangent has shape \(2,\)"):
        grad(lambda x: np.sum(jvp(vector, (x,), (np.ones(2),))[1]))(np.ones(3))


@pytest.mark.parametrize("wrong", [(1.0, 2.0, 3.0), ()])
def test_wrong_numbers_of_arguments_are_python_errors(wrong):
    with pytest.raises((TypeError, ValueError)):
        grad(f)(*wrong)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        grad(f)(1.0, z=2.0)


class Squared(np.ndarray):
    """An array whose product is another."""

    def __mul__(self, other):
        return np.asarray(self) ** 3


@pytest.mark.parametrize(
    "array", [np.ones(2).view(Squared), np.ma.array([1.0, 2.0], mask=[False, True])], ids=type
)
def test_arrays_with_operations_of_their_own_are_refused(array):
    slope = grad(lambda x: np.sum(x * x))
    slope(np.asarray(array))
    with pytest.raises(
        ArgumentTypeError, match=r"have operations of their own|has no slope"
    ) as caught:
        slope(array)
    way = ".filled(0.0)" if isinstance(array, np.ma.MaskedArray) else "np.asarray(x)"
    assert way in caught.value.hint


def test_a_generator_and_a_number_that_is_called():
    with pytest.raises(ArgumentTypeError, match="returns a generator"):
        grad(lambda x: (v for v in x))(np.ones(2))
    with pytest.raises(TypeError, match="'float64' is not callable"):
        grad(lambda x: x(1))(1.0)


def test_a_name_twice_is_refused():
    with pytest.raises(ArgumentError, match="names an argument twice"):
        grad(f, argnames=("x", "x"))


def gives_items(x):
    yield x


def test_generator_functions_give_no_number():
    with pytest.raises(ArgumentTypeError, match="gives_items returns a generator"):
        grad(gives_items)(1.0)
