"""Each kind of error: its types, its whole message with the user's line, and the way out."""

import inspect
import linecache
import re
import textwrap

import numpy as np
import pytest

import tapeless
from tapeless import grad
from tapeless.transforms.errors import (
    AliasError,
    ArgumentError,
    ArgumentTypeError,
    EscapeError,
    NeedStaticError,
    NotDifferentiableError,
    ShapeError,
    SourceError,
    StructureError,
    UnsupportedError,
)

pytestmark = pytest.mark.every_case

VECTOR = np.array([1.0, 2.0, 3.0])
PLACE = re.compile(r'^  File "(.*)", line (\d+)$', re.MULTILINE)
NUMBER = re.compile(r"\bline \d+\b")


def message_of(error, function):
    """The text of an error less its line numbers, which must be those of the function."""
    text = str(error)
    for file, line in PLACE.findall(text):
        lines, first = inspect.getsourcelines(function)
        assert file == __file__
        assert first <= int(line) < first + len(lines)
        assert "\n    " + linecache.getline(file, int(line)).strip() in text
    return NUMBER.sub("line N", PLACE.sub("  File, line N", text))


def expected_of(function):
    """The docstring, in which a backslash joins two lines of a long message."""
    return re.sub(r"\\\n\s*", "", textwrap.dedent(function.__doc__).strip())


# Values needed while staging


def index_of_a_list(x):
    """
    Python needs this integer, but 'x' depends on the contents of arrays
      File, line N
        return x[0] * layers[int(x[1])]
                      ^^^^^^^^^^^^^^^^^
      use np.where, a loop or an array operation, or pass the value as an int argument
    """
    layers = ["one", "two"] * 10
    return x[0] * layers[int(x[1])]


SEEN = {}


def key_of_a_dictionary(x):
    """
    which key of a dictionary is stored depends on data, and it is made outside of the function
      File, line N
        SEEN[x] = 1.0
        ^^^^^^^^^^^^^
      make a copy of it in the function
    """
    SEEN[x] = 1.0
    return x


def generator_run_by_a_loop_on_values(x):
    """
    Python needs to know whether this is true, but 'x' depends on the contents of arrays
      File, line N
        while x < 3:
              ^^^^^
      use np.where, a loop or an array operation, or pass the value as an int argument
    """

    def steps():
        yield x
        yield x * 2

    pending = iter(steps())
    while x < 3:
        x = x + next(pending)
    return x


# Structure


def branches_of_different_structure(x):
    """
    the values of 'y' after the branches on line N do not fit together: tuple(f8, f8) and f8 \\
    are built differently
      File, line N
        return np.sum(y)
                      ^
      give the name the same kind of value on every side and in every pass
    """
    if x[0] > 0:  # noqa: SIM108, a branch is what is tested
        y = (x[0], x[1])
    else:
        y = x[0]
    return np.sum(y)


def branches_of_different_rank(x):
    """
    the values of 'y' after the branches on line N do not fit together: an array of 1 axis and \\
    a number have different numbers of axes
      File, line N
        return np.sum(y)
                      ^
      give both the same shape, as np.zeros_like and np.full_like do
    """
    if x[0] > 0:  # noqa: SIM108, as above
        y = x
    else:
        y = x[0]
    return np.sum(y)


def loop_variable_of_changing_type(x):
    """
    the loop on line N must be unrolled ('x' changes from pass to pass: a number and an array of \\
    1 axis have different numbers of axes), so its test must be known, but 'x' depends on the \\
    contents of arrays
      File, line N
        while np.sum(x) < 10:
        ^^^^^^^^^^^^^^^^^^^^^
      give both the same shape, as np.zeros_like and np.full_like do
    """
    while np.sum(x) < 10:
        x = np.array([np.sum(x), 1.0])
    return np.sum(x)


def recursion_without_end(x):
    """
    recursion_without_end calls itself in every case, and never returns
      File, line N
        def recursion_without_end(x):
      return without a call in one of them
    """
    return recursion_without_end(x * 2) if x < 10 else recursion_without_end(x - 1)


def store_where_aliasing_is_unknown(x):
    """
    't' may share memory with 'p', which line N overwrites
      File, line N
        return np.sum(t)
               ^^^^^^^^^
      copy the array where it gets its second name: t.copy()
    """
    p = x
    for i in range(30):
        t = x * i
        p = t
    p[0] = 1.0
    return np.sum(t)


# Functions


def numpy_function_without_rule(x):
    """
    np.busday_count has no rule
      File, line N
        return np.sum(np.busday_count(x))
                      ^^^^^^^^^^^^^^^^^^
      write it with functions that have one (docs/numpy.md), or give its derivative with custom_vjp
    """
    return np.sum(np.busday_count(x))


async def coroutine(x):
    """
    async functions cannot be staged
      File, line N
        async def coroutine(x):
        ^^^^^^^^^^^^^^^^^^^^^^^
      move it out of the function that is transformed
    """
    return x


# Results and arguments


def array_result(x):
    """
    grad needs a function that returns a scalar; array_result returns an array of shape (3,)
      File, line N
        def array_result(x):
      sum it, or use vjp or jvp for arrays
    """
    return x * 2


def text_result(x):
    """
    grad needs a function that returns a scalar; text_result returns str 'a'
      File, line N
        def text_result(x):
      return one number, or use has_aux=True for more results
    """
    return "a"


def integer_result(x):
    """
    integer_result returns int64, which has no derivative
      File, line N
        def integer_result(x):
      return a float
    """
    return int(x)


def integer_argument(x):
    """
    grad: cannot differentiate with respect to x, which is int64
      pass floats: 1.0 instead of 1, x.astype(float) for arrays
    """
    return x * 2


def text_argument(x):
    """
    grad: cannot differentiate with respect to x, str 'a'
      choose other argnums, or pass numbers and arrays
    """
    return x


def complex_argument(x):
    """
    grad needs a real result; complex_argument returns a complex number
      File, line N
        def complex_argument(x):
      pass holomorphic=True, or take the real part
    """
    return x * x


def argnums_out_of_range(x):
    """
    grad: argnums is 1, but argnums_out_of_range is called with 1 positional argument
      argnums counts from 0; an argument passed by name is chosen with argnames
    """
    return x


def argnums_of_wrong_type(x):
    """
    grad: argnums must be an int or a tuple of ints, not 1.5
      give the positions of arguments, counted from 0: argnums=(0, 1)
    """
    return x


def argnums_given_twice(x):
    """
    grad: argnums (0, 0) names an argument twice
      name it once
    """
    return x


def argnames_unknown(x):
    """
    grad: argnames has 'y', and argnames_unknown is called without it
      pass it: y=...
    """
    return x


# Shapes found while staging


def product_of_wrong_shapes(x):
    """
    matmul: shapes (x.shape[0], x.shape[1]) and (4, 2) do not fit: x.shape[1] and 4 differ
      File, line N
        return np.sum(x @ np.ones((4, 2)))
                      ^^^^^^^^^^^^^^^^^^^
      transpose or reshape one of them
    """
    return np.sum(x @ np.ones((4, 2)))


def reshape_of_wrong_size(x):
    """
    cannot reshape array of size 6 into shape (2, 2)
      File, line N
        return np.sum(np.reshape(x * np.ones((2, 3)), (2, 2)))
                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      the product of the new lengths must be the old size: let one of them be -1
    """
    return np.sum(np.reshape(x * np.ones((2, 3)), (2, 2)))


CASES = [
    (index_of_a_list, lambda: grad(index_of_a_list)(VECTOR), NeedStaticError, TypeError),
    (
        key_of_a_dictionary,
        lambda: grad(key_of_a_dictionary)(1.0),
        UnsupportedError,
        NotImplementedError,
    ),
    (
        generator_run_by_a_loop_on_values,
        lambda: grad(generator_run_by_a_loop_on_values)(1.0),
        NeedStaticError,
        TypeError,
    ),
    (
        branches_of_different_structure,
        lambda: grad(branches_of_different_structure)(VECTOR),
        StructureError,
        TypeError,
    ),
    (
        branches_of_different_rank,
        lambda: grad(branches_of_different_rank)(VECTOR),
        StructureError,
        TypeError,
    ),
    (
        loop_variable_of_changing_type,
        lambda: grad(loop_variable_of_changing_type)(1.0),
        NeedStaticError,
        TypeError,
    ),
    (
        recursion_without_end,
        lambda: grad(recursion_without_end)(1.0),
        UnsupportedError,
        NotImplementedError,
    ),
    (
        store_where_aliasing_is_unknown,
        lambda: grad(store_where_aliasing_is_unknown)(VECTOR),
        AliasError,
        ValueError,
    ),
    (
        numpy_function_without_rule,
        lambda: grad(numpy_function_without_rule)(VECTOR),
        UnsupportedError,
        NotImplementedError,
    ),
    (coroutine, lambda: grad(coroutine)(1.0), UnsupportedError, NotImplementedError),
    (array_result, lambda: grad(array_result)(VECTOR), ArgumentTypeError, TypeError),
    (text_result, lambda: grad(text_result)(1.0), ArgumentTypeError, TypeError),
    (integer_result, lambda: grad(integer_result)(1.5), NotDifferentiableError, TypeError),
    (integer_argument, lambda: grad(integer_argument)(3), ArgumentTypeError, TypeError),
    (text_argument, lambda: grad(text_argument)("a"), ArgumentTypeError, TypeError),
    (complex_argument, lambda: grad(complex_argument)(1j), ArgumentTypeError, TypeError),
    (
        argnums_out_of_range,
        lambda: grad(argnums_out_of_range, argnums=1)(1.0),
        ArgumentError,
        ValueError,
    ),
    (
        argnums_of_wrong_type,
        lambda: grad(argnums_of_wrong_type, argnums=1.5)(1.0),
        ArgumentTypeError,
        TypeError,
    ),
    (
        argnums_given_twice,
        lambda: grad(argnums_given_twice, argnums=(0, 0))(1.0),
        ArgumentError,
        ValueError,
    ),
    (
        argnames_unknown,
        lambda: grad(argnames_unknown, argnames="y")(1.0),
        ArgumentError,
        ValueError,
    ),
    (
        product_of_wrong_shapes,
        lambda: grad(product_of_wrong_shapes)(np.ones((2, 3))),
        ShapeError,
        ValueError,
    ),
    (
        reshape_of_wrong_size,
        lambda: grad(reshape_of_wrong_size)(1.0),
        ShapeError,
        ValueError,
    ),
]


@pytest.mark.parametrize(
    ("function", "run", "kind", "also"), CASES, ids=[case[0].__name__ for case in CASES]
)
def test_error(function, run, kind, also):
    with pytest.raises(tapeless.TapelessError) as caught:
        run()
    assert type(caught.value) is kind
    assert isinstance(caught.value, also)
    assert message_of(caught.value, function) == expected_of(function)


# Errors that name no case of the table


def test_source_that_is_not_there():
    names = {}
    exec("def made_by_exec(x):\n    if x > 0:\n        return x\n    return 2 * x", names)
    with pytest.raises(SourceError, match="the source of made_by_exec is not available") as caught:
        grad(names["made_by_exec"])(1.0)
    assert str(caught.value).endswith(
        "define it in a file, a notebook cell without %%time, or at the prompt of IPython or "
        "Python 3.13, not by exec"
    )
    assert isinstance(caught.value, TypeError)


def test_not_a_function():
    with pytest.raises(ArgumentTypeError, match="grad needs a function, not int '3'"):
        grad(3)(1.0)


def test_wrong_number_of_arguments_is_what_python_says():
    def product(x, y):
        return x * y

    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'y'"):
        grad(product)(1.0)


@pytest.mark.parametrize(
    ("primals", "tangents", "kind", "text"),
    [
        ((1.0,), (1.0, 2.0), ArgumentTypeError, "1 primal and 2 tangents"),
        ((VECTOR,), (1.0,), ArgumentError, r"has shape \(\), its primal has shape \(3,\)"),
        (
            (VECTOR,),
            (VECTOR.astype(np.float32),),
            ArgumentTypeError,
            "a tangent is float32, its primal is float64",
        ),
    ],
)
def test_tangents_that_do_not_fit(primals, tangents, kind, text):
    with pytest.raises(kind, match=text):
        tapeless.jvp(lambda x: x * 2, primals, tangents)


@pytest.mark.parametrize(
    ("cotangent", "kind", "text"),
    [
        (np.ones(4), ArgumentError, r"has shape \(4,\), its result has shape \(3,\)"),
        ((VECTOR, VECTOR), ArgumentTypeError, "the cotangent is tuple"),
    ],
)
def test_cotangents_that_do_not_fit(cotangent, kind, text):
    _, pull = tapeless.vjp(lambda x: x * 2, VECTOR)
    with pytest.raises(kind, match=text):
        pull(cotangent)


class TooLargeError(Exception):
    """An exception with arguments of its own, as users write them."""

    def __init__(self, code, value):
        super().__init__(code, value)
        self.code = code


def grows(x):
    for step in range(5):
        x = x * 2
        if x > 10:
            raise TooLargeError(step, x)
    return x


def root(x):
    if x < 0:
        raise ValueError(f"no root of {x:.1f}")
    return np.sqrt(x)


def logarithm(x):
    assert np.all(x > 0), f"must be positive: {np.min(x)}"
    return np.sum(np.log(x))


class TestUsersOwnExceptions:
    def test_raised_where_values_decide(self):
        slope = grad(root)
        assert slope(4.0) == 0.25
        with pytest.raises(ValueError, match=r"^no root of -1\.0\b"):
            slope(-1.0)

    def test_assert(self):
        slope = grad(logarithm)
        np.testing.assert_allclose(slope(VECTOR), 1 / VECTOR)
        with pytest.raises(AssertionError, match=r"^must be positive: -2\.0\b"):
            slope(-VECTOR[:2])

    def test_own_type_and_arguments_from_a_loop(self):
        assert grad(grows)(0.1) == 32.0
        with pytest.raises(TooLargeError) as caught:
            grad(grows)(1.5)
        assert caught.value.code == 2
        assert caught.value.args == (2, 12.0)

    @pytest.mark.parametrize("transform", [grad, lambda f: grad(grad(f)), tapeless.jvp_fn])
    def test_every_transformation(self, transform):
        args = (-1.0, 1.0) if transform is tapeless.jvp_fn else (-1.0,)
        with pytest.raises(ValueError, match=r"^no root of -1\.0\b"):
            transform(root)(*args)

    def test_note_names_the_line(self):
        with pytest.raises(ValueError, match="no root") as caught:
            grad(root)(-1.0)
        [note] = caught.value.__notes__
        assert note.startswith("while running the grad of root")
        assert __file__ in note

    def test_that_is_raised_while_staging(self):
        def refuses(x, kind):
            if kind not in ("sum", "mean"):
                raise KeyError(kind)
            return np.sum(x)

        with pytest.raises(KeyError, match="median"):
            grad(refuses)(VECTOR, "median")


def dot_of_halves(x, n):
    return np.sum(x[:n] * x[n:])


def element(x, i):
    return x[i] * 2.0


class TestRunTime:
    def test_mismatch_of_sizes_found_by_numpy(self):
        slope = grad(dot_of_halves)
        np.testing.assert_array_equal(slope(np.arange(4.0), 2), [2, 3, 0, 1])
        with pytest.raises(ValueError, match="could not be broadcast") as caught:
            slope(np.arange(5.0), 2)
        assert any(__file__ in note for note in getattr(caught.value, "__notes__", [__file__]))

    def test_index_out_of_bounds(self):
        slope = grad(element)
        np.testing.assert_array_equal(slope(VECTOR, 1), [0, 2, 0])
        with pytest.raises(IndexError, match="index 5 is out of bounds"):
            slope(VECTOR, 5)

    def test_singular_matrix(self):
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            grad(lambda a: np.sum(np.linalg.inv(a)))(np.zeros((2, 2)))


class Recorder:
    """Keeps what a function hands it."""

    def __init__(self):
        self.kept = []


def test_what_an_outer_object_keeps_is_a_value():
    recorder = Recorder()

    def remembers(x):
        recorder.kept.append(x * 2)
        return x * x

    assert grad(remembers)(3.0) == 6.0
    assert recorder.kept == [6.0]
    assert type(recorder.kept[0]) in (float, np.float64)


def test_symbol_that_escapes_is_refused_when_it_is_used():
    kept = []

    def hides(x):
        twice = x * 2
        kept.append(lambda: twice)
        return x * x

    grad(hides)(3.0)
    with pytest.raises(EscapeError, match="used after the run has ended") as caught:
        kept[0]() + 1.0
    assert "return it from the function" in str(caught.value)
    assert isinstance(caught.value, RuntimeError)
