"""Numbers that went through text, bytes and objects of Python's: their values are right, and no
derivative is given in silence."""

import ast
import base64
import decimal
import fractions
import json
import pickle
import struct
import zlib

import numpy as np
import pytest
import scipy.sparse

from tapeless import grad, jit, jvp, lax, vmap
from tapeless.errors import NotDifferentiableError, UnsupportedError

pytestmark = [
    pytest.mark.usefixtures("traced"),
    pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning"),
]
X = np.array([0.5, 1.5, 2.5])


def item_by_item(x):
    text = json.dumps([float(v) for v in x])
    return sum(float(word) for word in text.strip("[]").split(","))


def cut_bytes(x):
    data = x.tobytes()
    return sum(np.frombuffer(data[8 * k : 8 * k + 8])[0] for k in range(3))


def stored_into(x):
    y = np.frombuffer(x.tobytes()).copy()
    y[0] = 3.0
    y *= 2
    return np.sum(y)


ROUND_TRIPS = {
    "json of a list": lambda x: np.sum(np.array(json.loads(json.dumps(x.tolist()))) ** 2),
    "json of a dict": lambda x: json.loads(json.dumps({"rate": float(x[0])}))["rate"] * x[1],
    "json of an f-string": lambda x: json.loads(f'["a", {x[0]}]')[1],
    "json in pieces": item_by_item,
    "pickle": lambda x: np.sum(pickle.loads(pickle.dumps(x))),
    "pickle of a dict": lambda x: np.sum(pickle.loads(pickle.dumps({"w": x, "b": [x[0], 2]}))["w"]),
    "literal_eval": lambda x: ast.literal_eval(str(x.tolist()))[1],
    "characters": lambda x: float("".join(c for c in f"v={x[0]}" if c in "0123456789.")),
    "encoded": lambda x: json.loads(f"{x[0]}".encode().decode()),
    "format_float": lambda x: float(np.format_float_positional(x[0])),
    "array of texts": lambda x: np.array([f"{v}" for v in x], dtype=float).sum(),
    "fromstring": lambda x: np.sum(np.fromstring(" ".join(map(str, x)), sep=" ")),
    "array2string": lambda x: float(np.array2string(x).strip("[]").split()[1]),
    "frombuffer": lambda x: np.sum(np.frombuffer(x.tobytes()) ** 2),
    "bytes": lambda x: np.sum(np.frombuffer(bytes(x))),
    "parts of bytes": cut_bytes,
    "stored into": stored_into,
    "hex": lambda x: np.sum(np.frombuffer(bytes.fromhex(x.tobytes().hex()))),
    "base64": lambda x: np.sum(np.frombuffer(base64.b64decode(base64.b64encode(x.tobytes())))),
    "zlib": lambda x: np.sum(np.frombuffer(zlib.decompress(zlib.compress(x.tobytes())))),
    "struct": lambda x: sum(struct.unpack("3d", x.tobytes())),
    "Fraction": lambda x: float(fractions.Fraction(float(x[0])) * 2 + 1),
    "Decimal": lambda x: float(decimal.Decimal(repr(float(x[0])))),
    "objects": lambda x: np.sum(np.asarray(x, dtype=object).astype(float) ** 2),
}


@pytest.mark.parametrize("f", ROUND_TRIPS.values(), ids=ROUND_TRIPS)
def test_no_derivative_in_silence(f):
    ours = jit(f)
    for scale in (1.0, 3.0, 1.0):
        assert ours(scale * X) == pytest.approx(f(scale * X))
    np.testing.assert_allclose(vmap(f)(np.stack([X, 2 * X])), [f(X), f(2 * X)])
    with pytest.raises(NotDifferentiableError, match="has no derivative"):
        grad(f)(X)
    with pytest.raises(NotDifferentiableError, match="has no derivative"):
        jvp(f, (X,), (X,))


def remembered(x):
    sums = {}
    key = json.dumps(x.tolist())
    if key not in sums:
        sums[key] = np.sum(x**2)
    return sums[key]


def read_or_not(x):
    try:
        return json.loads(f"{x[0]:.0f}"[:2] + "}") * x[0]
    except ValueError:
        return 2.0 * x[0]


#: Programs, and their derivatives.
NO_NUMBER = {
    "length of text": (lambda x: x[0] * len(json.dumps(x.tolist())), [15.0, 0.0, 0.0]),
    "length of bytes": (lambda x: x[0] * len(x.tobytes()), [24.0, 0.0, 0.0]),
    "text tested": (
        lambda x: x[0] if json.dumps(float(x[0])).startswith("0") else x[1],
        [1.0, 0.0, 0.0],
    ),
    "bytes compared": (lambda x: x[1] if x.tobytes() == X.tobytes() else x[2], [0.0, 1.0, 0.0]),
    "fraction compared": (
        lambda x: x[1] if fractions.Fraction(float(x[0])) > 0.7 else x[2],
        [0.0, 0.0, 1.0],
    ),
    "class": (lambda x: x[1] if isinstance(x.tobytes(), bytes) else x[2], [0.0, 1.0, 0.0]),
    "key": (remembered, [1.0, 3.0, 5.0]),
    "error": (read_or_not, [2.0, 0.0, 0.0]),
    "stopped": (
        lambda x: np.sum(np.frombuffer(lax.stop_gradient(x).tobytes()) * x),
        [0.5, 1.5, 2.5],
    ),
}


@pytest.mark.parametrize(("f", "derivative"), NO_NUMBER.values(), ids=NO_NUMBER)
def test_what_is_no_number_of_theirs_is_differentiated(f, derivative):
    np.testing.assert_allclose(grad(f)(X), derivative)
    np.testing.assert_allclose(jit(grad(f))(X), derivative)
    ours = jit(f)
    for scale in (1.0, 3.0, 1.0):
        assert ours(scale * X) == pytest.approx(f(scale * X))


def test_errors_of_calls_are_those_of_the_values():
    def f(x):
        try:
            return json.loads(f"[{x:.0f}]"[:3])[0] * x
        except ValueError:
            return -x

    ours = jit(f)
    for x in (1.0, 30.0, 2.0, 40.0):
        assert ours(x) == f(x)


def test_texts_are_printed(capsys):
    jit(lambda x: print(json.dumps(float(x[0])), end="") or x[0])(X)  # noqa: T201 (what is tested)
    assert capsys.readouterr().out == "0.5"


def test_objects_that_change_are_not_made_again():
    def f(x):
        stream = __import__("io").BytesIO(x.tobytes())
        return np.sum(np.frombuffer(stream.read(8)) * np.frombuffer(stream.read(8)))

    with pytest.raises(UnsupportedError, match="BytesIO is made of values of the program"):
        jit(f)(X)


def test_an_array_of_objects_has_no_derivative_forwards():
    with pytest.raises(NotDifferentiableError, match="array of Python objects has no derivative"):
        jvp(lambda x: np.asarray(x, dtype=object)[0], (X,), (X,))


def test_ranges_of_values_are_given_to_other_libraries():
    table = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 0.2]])

    def f(x):
        on = np.flatnonzero(table[:, 0] * x[0] > 0.6)
        places = (table[on, 0].astype(int), range(on.shape[0]))
        matrix = scipy.sparse.csr_matrix((np.ones(on.shape[0]), places), (5, on.shape[0]))
        return matrix * table[on, 1] - x[1]

    for x in (X, 2.0 * X):
        np.testing.assert_allclose(jit(f)(x), f(x))
    np.testing.assert_allclose(vmap(f)(np.stack([X, X + 0.1])), [f(X), f(X + 0.1)])
