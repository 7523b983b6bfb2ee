"""Makes the calls that a function is compared in, and programs of them."""

from __future__ import annotations

import inspect
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tapeless.tools.comparing import forms, options, programs
from tapeless.tools.comparing.inputs import DTYPES, FILLS, LAYOUTS, SHAPES, Sample
from tapeless.transforms.ops import function_table

#: Functions that take as many steps as their first argument says.
LONG = ("scipy.special.eval_", "scipy.special.expn", "scipy.special.kn", "scipy.special.yn")


@dataclass(frozen=True)
class ComparedCall:
    """One call of a function: the sample its arrays are made of, its form, its options."""

    name: str
    function: Any = field(compare=False)
    sample: Sample
    form: int = 0
    option: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        options = "".join(f" {k}={getattr(v, '__name__', repr(v))}" for k, v in self.option)
        return f"{self.name}#{self.form} {self.sample}{options}"

    def arguments(self) -> tuple[Any, ...]:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return forms_of(self.name, self.function)[self.form](self.sample)

    def options(self) -> dict[str, Any]:
        return {
            k: v(self.sample) if callable(v) and not isinstance(v, type) else v
            for k, v in self.option
        }

    def is_in_sample(self, share: float) -> bool:
        """Whether the call is in a sample of so large a share; the same in every run."""
        return zlib.crc32(str(self).encode()) / 2**32 < share


def forms_of(name: str, function: Any) -> tuple[forms.Form, ...]:
    """The arguments that a function is called with, from the table or by its kind."""
    if name in forms.FORMS:
        return forms.FORMS[name]
    owner = getattr(function, "__self__", None)
    if isinstance(function, np.ufunc):
        return _of_ufunc(function)
    if isinstance(owner, np.ufunc):
        return _of_method(owner, function.__name__)
    if name.startswith(("math.", "cmath.")):
        return _of_numbers(name, function)
    if name.startswith("np.ndarray."):
        plain = "np." + name.removeprefix("np.ndarray.")
        return forms.FORMS.get(plain, (forms.one_array,))
    return (forms.one_array,)


def _of_ufunc(function: Any) -> tuple[forms.Form, ...]:
    def turned_arrays(s: Sample) -> tuple[Any, ...]:
        return tuple(s.array(5 * k) for k in range(function.nin))

    def with_numbers(s: Sample) -> tuple[Any, ...]:
        return (*(s.array(5 * k) for k in range(function.nin - 1)), 2)

    def mixed_dtypes(s: Sample) -> tuple[Any, ...]:
        return s.array(), *(s.array(3 + k, "float32") for k in range(function.nin - 1))

    return (turned_arrays, with_numbers, mixed_dtypes) if function.nin > 1 else (turned_arrays,)


def _of_method(ufunc: Any, method: str) -> tuple[forms.Form, ...]:
    if method == "outer":
        return (
            lambda s: (s.array(), s.array_of_shape(3, turn=5)),
            lambda s: (s.array_of_shape(), s.array()),
        )
    if method == "reduceat":
        return tuple(
            (lambda s, at=at: (s.array(), np.array(at)))
            for at in ([0, 2], [0], [2, 0, 1, 1], [0, 9])
        )
    if method == "at":
        more = (lambda s: (s.array_of_shape(3, turn=4),)) if ufunc.nin == 2 else (lambda s: ())
        return (lambda s: (s.array(), np.array([0, 2, 0]), *more(s)),)
    return (forms.one_array,)


def _of_numbers(name: str, function: Any) -> tuple[forms.Form, ...]:
    """Functions of Python's numbers: one form for each few numbers of the sample."""
    count = COUNTS.get(name, 1)

    def form(at: int) -> forms.Form:
        return lambda s: tuple(
            s.array_of_shape(16).tolist()[(at + 5 * k) % 16] for k in range(count)
        )

    if name in ("math.dist", "math.fsum", "math.prod"):
        width = 2 if name == "math.dist" else 1
        return (lambda s: tuple(s.array_of_shape(4, turn=3 * k) for k in range(width)),)
    return tuple(form(at) for at in range(12))


COUNTS = {
    **dict.fromkeys(
        (
            "math.atan2",
            "math.copysign",
            "math.fmod",
            "math.gcd",
            "math.hypot",
            "math.lcm",
            "math.ldexp",
            "math.nextafter",
            "math.pow",
            "math.isclose",
            "cmath.isclose",
            "cmath.rect",
        ),
        2,
    )
}


def _parameters(name: str, function: Any) -> list[str]:
    """The names of a function's options."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return {
            "reduce": ["axis", "dtype", "keepdims", "initial", "where"],
            "accumulate": ["axis", "dtype"],
            "reduceat": ["axis", "dtype"],
        }.get(function.__name__, [])
    if isinstance(function, np.ufunc):
        return ["dtype"] if function.signature is None else ["axis", "keepdims"]
    if name == "np.pad":
        return ["mode"]
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    empty = inspect.Parameter.empty
    return [k for k, p in signature.parameters.items() if p.default is not empty]


def calls(name: str, function: Any) -> Iterator[ComparedCall]:
    """All calls that a function is compared in, each once."""
    seen = set()
    for call in _all(name, function):
        key = _key(call)
        if key not in seen:
            seen.add(key)
            yield call


def _all(name: str, function: Any) -> Iterator[ComparedCall]:
    count = range(len(forms_of(name, function)))
    numbers = name.startswith(("math.", "cmath."))
    layouts = LAYOUTS[:-1] if stored_to(name, function) else LAYOUTS
    for form in count:
        for dtype in ("bool", "int64", "float64", "complex128") if numbers else DTYPES:
            for fill in FILLS:
                if fill == "special" and dtype[-2:] in ("32", "64") and name.startswith(LONG):
                    continue
                yield ComparedCall(name, function, Sample(dtype, fill=fill), form)
    if numbers:
        return
    for form in count:
        for shape in SHAPES:
            for layout in layouts:
                yield ComparedCall(name, function, Sample("float64", shape, "plain", layout), form)
            for dtype in ("float32", "int32", "complex128", "bool"):
                yield ComparedCall(name, function, Sample(dtype, shape), form)
            yield ComparedCall(name, function, Sample("float64", shape, "special", "strided"), form)
    yield from _optional(name, function)


TRIED = (
    Sample(),
    Sample("int32"),
    Sample("float64", (6,)),
    Sample("complex128", (2, 3, 2)),
    Sample("float32", (3, 4), "special"),
    Sample("float64", (0, 3)),
    Sample("float64", ()),
    Sample("bool", (2, 3, 2)),
    Sample("float16", (2, 3, 2), "special", "strided"),
    Sample("uint8"),
)


def _optional(name: str, function: Any) -> Iterator[ComparedCall]:
    parameters = _parameters(name, function)
    walked = {k: options.values(name, k) for k in parameters}
    for k, picked in walked.items():
        for value in picked:
            for sample in TRIED:
                for form in range(len(forms_of(name, function))) if sample is TRIED[0] else (0,):
                    yield ComparedCall(name, function, sample, form, ((k, value),))
    names = [k for k in walked if walked[k]]
    for a in names:
        for b in names[names.index(a) + 1 :]:
            for v in walked[a]:
                for w in walked[b]:
                    pair = ComparedCall(
                        name, function, Sample("float64", (2, 3, 2)), 0, ((a, v), (b, w))
                    )
                    if pair.is_in_sample(0.25):
                        yield pair


def _key(call: ComparedCall) -> Any:
    parts: list[Any] = [str(call.option)]
    for value in _leaves(call.arguments()):
        if isinstance(value, np.ndarray):
            parts.append((value.dtype.str, value.shape, value.strides, value.tobytes()))
        else:
            parts.append((type(value), repr(value)))
    return tuple(parts)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        yield type(value)
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def program(call: ComparedCall) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The call as a function of its arrays, and these."""
    args, options, function = call.arguments(), call.options(), call.function
    numbers = call.name.startswith(("math.", "cmath."))
    places = [k for k, a in enumerate(args) if numbers or _holds(a)]
    arrays = tuple(args[k] for k in places)
    if stored_to(call.name, function):
        return programs.storing(function, options, args, places), arrays
    if len(places) == len(args):
        return programs.plain(function, options), arrays
    return programs.mixed_program(function, options, args, places), arrays


def _holds(value: Any) -> bool:
    """Whether an argument is an array, or holds nothing else."""
    if isinstance(value, (tuple, list)):
        return bool(value) and all(map(_holds, value))
    return isinstance(value, (np.ndarray, np.generic))


def stored_to(name: str, function: Any) -> bool:
    """Whether a function's result is what it stores to its first argument."""
    return function in function_table.WRITERS or name.endswith(".at")
