"""Checks values in a function so that a failure is a result: `check` and `checkify`, as JAX has
them.

>>> import tapeless
>>> def f(x):
...     check(x > 0, "{x} must be positive", x=x)
...     return 1 / x
>>> error, y = tapeless.jit(checkify(f))(-2.0)
>>> error.get(), y
('-2.0 must be positive (`check` failed)', -0.5)
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.experimental import checkify_runtime
from tapeless.missing import missing
from tapeless.staging.emitted_names import base_name, check_callable
from tapeless.staging.subprogram import symbol
from tapeless.staging.user_calls import call_user
from tapeless.transformations.array_form import Unchanged
from tapeless.transformations.public_functions import stop_gradient
from tapeless.transforms.checks.conditions import DIVISION, INDEX, NAN
from tapeless.transforms.checks.first_failure import FirstFailure
from tapeless.transforms.core.builder import active
from tapeless.transforms.core.language import Effect
from tapeless.transforms.errors import ArgumentTypeError
from tapeless.transforms.frontend.trace.trace import trace

JaxRuntimeError = checkify_runtime.CheckError
NOTE = "note_of_failed_check"  # what calls of `check` that fail call
KEPT = 10_000  # messages of the newest failures

user_checks = frozenset({"user"})
nan_checks = frozenset({NAN})
div_checks = frozenset({DIVISION})
index_checks = frozenset({INDEX})
float_checks = nan_checks | div_checks
automatic_checks = float_checks | index_checks
all_checks = automatic_checks | user_checks

_open: list[OpenChecks] = []  # of calls of checkify that are being staged
_messages: collections.OrderedDict[int, str] = collections.OrderedDict()


class Error:
    """Whether a check failed, and which one failed first.

    codes     0, or the number of a message of `check`, or -k for the k-th of `messages`; then the
              numbers that messages name; arrays of these for a batch
    messages  what automatic checks say
    """

    def __init__(self, codes: tuple[Any, ...], messages: tuple[str, ...]) -> None:
        self.codes, self.messages = codes, messages

    def get(self) -> str | None:
        """The message of the check that failed first; None where none did."""
        codes = np.asarray(self.codes[0])
        if codes.ndim == 0:
            return self._message(int(codes))
        lines = [
            f"at mapped index {', '.join(map(str, at))}: {self.at(at).get()}"
            for at in np.ndindex(*codes.shape)
            if codes[at]
        ]
        return "\n".join(lines) or None

    def _message(self, code: int) -> str | None:
        if code < 0:
            return self.messages[-code - 1].format(*self.codes[1:])
        return _messages.get(code, "a check failed") if code else None

    def at(self, place: tuple[int, ...]) -> Error:
        """The error of one element of a batch."""
        return Error(tuple(np.asarray(c)[place] for c in self.codes), self.messages)

    def get_exception(self) -> JaxRuntimeError | None:
        """The exception that `throw` raises, or None."""
        text = self.get()
        return None if text is None else JaxRuntimeError(text)

    def throw(self) -> None:
        """Raises ValueError with the message, where a check failed."""
        check_error(self)

    def __repr__(self) -> str:
        return f"Error({self.get()})"


tree.register_pytree_node(
    Error, lambda e: (e.codes, e.messages), lambda messages, codes: Error(tuple(codes), messages)
)


def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Checks that a condition holds, or all conditions of an array.

    msg       what `str.format` makes of it and of the other arguments is the message
    debug     the check is only made under `checkify`

    Under `checkify` with `user_checks` the first check that fails is the error that is returned,
    and the function goes on; with other checks alone it is left out. Elsewhere it raises ValueError
    when the program runs.
    """
    if not isinstance(msg, str):
        raise ArgumentTypeError(f"check: the message must be a text, not {type(msg).__name__}")
    if _open:
        if "user" in _open[-1].kinds:
            shown = stop_gradient((fmt_args, fmt_kwargs))
            call_user(checkify_runtime.record, pred, Note(msg), *shown)
    elif not debug:
        call_user(checkify_runtime.refuse, pred, msg, fmt_args, fmt_kwargs)


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """A check that is only made under `checkify`."""
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


class Note:
    """Keeps the message of a failed check; its number."""

    def __init__(self, msg: str) -> None:
        self.key = self.msg = msg
        self.__name__ = NOTE

    def __call__(self, args: Any, kwargs: Any) -> Any:
        return _number_of_message(self.msg.format(*args, **kwargs) + checkify_runtime.FAILED)


def _number_of_message(message: str) -> Any:
    number = next(reversed(_messages), 0) + 1
    _messages[number] = message
    while len(_messages) > KEPT:
        _messages.popitem(last=False)
    return np.int64(number)


class PassedOn:
    """Keeps the message of an error that was handed on; its number."""

    def __init__(self, messages: tuple[str, ...]) -> None:
        self.key = self.messages = messages
        self.__name__ = NOTE

    def __call__(self, codes: Any) -> Any:
        return _number_of_message(_first_message(Error(codes, self.messages)))


def _first_message(error: Error) -> str:
    """The message of the first element of a batch that has one."""
    failed = np.argwhere(np.asarray(error.codes[0]))[0]
    return str(error.at(tuple(failed)).get())


class OpenChecks:
    """The checks of one call of `checkify` that is being staged."""

    def __init__(self, kinds: frozenset[str]) -> None:
        self.kinds, self.start = kinds, 0

    def enter(self) -> None:
        """What is recorded from now on is checked."""
        self.start = len(trace().blocks[-1])
        _open.append(self)

    def leave(self) -> None:
        """What is recorded from now on is not checked."""
        _open.pop()

    def first_failure(self) -> tuple[tuple[Any, ...], tuple[str, ...]]:
        """Checks what was recorded since: the number of the message of what failed first, with the
        numbers that it names; and the messages of automatic checks."""
        body = trace().blocks[-1]
        recorded, body[self.start :] = body[self.start :], []
        if self.kinds & float_checks:  # of which the error tells
            trace().emit(Effect("errstate", (), {"divide": "ignore", "invalid": "ignore"}))
        first = FirstFailure(self.kinds, NOTE)
        state = first.statements(recorded, first.start())
        return tuple(map(symbol, state)), tuple(first.messages)


def checkify(f: Callable[..., Any], errors: Iterable[str] = user_checks) -> Callable[..., Any]:
    """The function that returns (error, value of f): what failed first, if anything did.

    errors  a set of `user_checks` (the calls of `check`), `nan_checks` (an operation gives a nan
            where its operands have none), `div_checks` (a division by zero) and `index_checks` (an
            integer index out of bounds, but for functions that move or drop such ones);
            `float_checks`, `automatic_checks` and `all_checks` are unions of them

    `error.get()` is the message or None, `error.throw()` raises ValueError with it. Messages of
    automatic checks name the user's line. The function goes on: a division by zero gives what
    NumPy's does, a read out of bounds the nearest element, and a store out of bounds is left out.
    It can be transformed like others, and f may be made of other transformations; under `vmap`
    there is an error for each element. Functions with rules of their own are looked at from
    outside, and refused if they call `check`. The messages of the last 10,000 failed checks are
    kept.

    >>> import tapeless
    >>> mean = checkify(lambda x: x.sum() / len(x), errors=float_checks)
    >>> mean(np.zeros(0))[0].get().split(" (")[0]
    'division by zero'
    """
    check_callable(f, "checkify")
    kinds = _check_kinds(errors)

    @functools.wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        return call_user(checkify_runtime.run, f, args, kwargs, OpenChecks(kinds), Error)

    staged = Unchanged(run)

    @functools.wraps(f)
    def with_error(*args: Any, **kwargs: Any) -> Any:
        return run(*args, **kwargs) if active() else staged(*args, **kwargs)

    with_error.__name__ = base_name(f)
    return with_error


def _check_kinds(errors: Any) -> frozenset[str]:
    """The kinds of checks that are asked for."""
    try:
        kinds = frozenset(errors)
    except TypeError:
        kinds = frozenset({errors})
    unknown = [repr(kind) for kind in kinds if kind not in all_checks]
    if unknown or isinstance(errors, str):
        raise ArgumentTypeError(
            f"checkify: errors is {errors!r}",
            "there are user_checks, nan_checks, div_checks and index_checks, and several by |",
        )
    return kinds


def check_error(error: Error) -> None:
    """Raises an error that `checkify` gave, or makes it one of the `checkify` around."""
    if not isinstance(error, Error):
        raise ArgumentTypeError(f"check_error takes an Error, not {type(error).__name__}")
    if _open:
        if "user" in _open[-1].kinds:
            note = PassedOn(error.messages)
            call_user(checkify_runtime.pass_on, error.codes, note)
    elif active():
        call_user(checkify_runtime.throw, error.codes, Thrown(error.messages))
    else:
        Thrown(error.messages)(error.codes)


class Thrown:
    """Raises an error."""

    def __init__(self, messages: tuple[str, ...]) -> None:
        self.key = self.messages = messages
        self.__name__ = "throw"

    def __call__(self, codes: Any) -> None:
        exception = Error(codes, self.messages).get_exception()
        if exception is not None:
            raise exception


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise missing(__name__, name)


__all__ = [
    "Error",
    "JaxRuntimeError",
    "all_checks",
    "automatic_checks",
    "check",
    "check_error",
    "checkify",
    "debug_check",
    "div_checks",
    "float_checks",
    "index_checks",
    "nan_checks",
    "user_checks",
]
