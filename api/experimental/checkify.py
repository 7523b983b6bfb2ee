"""Checks of values whose failure is a result: `check` and `checkify`, as JAX has them.

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
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.experimental import checkify_runtime
from tapeless.missing import missing
from tapeless.staging.emitted_names import base_name, check_callable
from tapeless.staging.user_calls import call_user
from tapeless.transformations.array_form import Unchanged
from tapeless.transformations.public_functions import stop_gradient
from tapeless.transforms.core.builder import active
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

JaxRuntimeError = checkify_runtime.CheckError
KEPT = 10_000  # messages of the newest failures

user_checks = frozenset({"user"})
nan_checks = frozenset({"nan"})
div_checks = frozenset({"division"})
index_checks = frozenset({"index"})
float_checks = nan_checks | div_checks
automatic_checks = float_checks | index_checks
all_checks = automatic_checks | user_checks
INSTEAD = {
    "nan": "debug_nans(True) raises where a result has a nan",
    "division": "debug_infs(True) raises where a result is infinite",
    "index": "an index that is out of bounds raises IndexError",
}

_open: list[checkify_runtime.FirstFailure] = []  # of calls of checkify that are being staged
_messages: collections.OrderedDict[int, str] = collections.OrderedDict()


class Error:
    """Whether a check failed: the number of its message, or 0; an array of them for a batch."""

    def __init__(self, code: Any) -> None:
        self.code = code

    def get(self) -> str | None:
        """The message of the check that failed first; None where none did."""
        codes = np.asarray(self.code)
        if codes.ndim == 0:
            return _messages.get(int(codes), "a check failed") if codes else None
        lines = [
            f"at mapped index {', '.join(map(str, at))}: {Error(codes[at]).get()}"
            for at in np.ndindex(*codes.shape)
            if codes[at]
        ]
        return "\n".join(lines) or None

    def get_exception(self) -> JaxRuntimeError | None:
        """The exception that `throw` raises, or None."""
        text = self.get()
        return None if text is None else JaxRuntimeError(text)

    def throw(self) -> None:
        """Raises ValueError with the message, where a check failed."""
        check_error(self)

    def __repr__(self) -> str:
        return f"Error({self.get()})"


tree.register_pytree_node(Error, lambda e: ((e.code,), None), lambda _, codes: Error(*codes))


def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Checks that a condition holds, or all conditions of an array.

    msg       what `str.format` makes of it and of the other arguments is the message
    debug     the check is only made under `checkify`

    Under `checkify` the first check that fails is the error that is returned, and the function goes
    on. Elsewhere it raises ValueError when the program runs.
    """
    if not isinstance(msg, str):
        raise ArgumentTypeError(f"check: the message must be a text, not {type(msg).__name__}")
    if _open:
        note = functools.partial(_note, msg)
        shown = stop_gradient((fmt_args, fmt_kwargs))
        call_user(checkify_runtime.record, _open[-1], pred, note, *shown)
    elif not debug:
        call_user(checkify_runtime.refuse, pred, msg, fmt_args, fmt_kwargs)


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """A check that is only made under `checkify`."""
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def _note(msg: str, args: Any, kwargs: Any) -> Any:
    """Keeps a message; its number."""
    number = next(reversed(_messages), 0) + 1
    _messages[number] = msg.format(*args, **kwargs) + checkify_runtime.FAILED
    while len(_messages) > KEPT:
        _messages.popitem(last=False)
    return np.int64(number)


def checkify(f: Callable[..., Any], errors: frozenset[str] = user_checks) -> Callable[..., Any]:
    """The function that returns (error, value of f): which `check` failed first, if any.

    errors  user_checks; the others are refused, with what there is instead

    `error.get()` is the message or None, `error.throw()` raises it. The function can be transformed
    like others; under `vmap` there is an error for each element. A function that is mapped inside
    of f cannot have checks: use vmap of checkify there, and `check_error`. The messages of the last
    10,000 failures are kept.
    """
    check_callable(f, "checkify")
    for kind in sorted(set(errors) - user_checks):
        hint = INSTEAD.get(kind, "user_checks are known")
        raise ArgumentError(f"checkify: errors has checks of the kind {kind!r}", hint)

    def run(*args: Any, **kwargs: Any) -> Any:
        return call_user(checkify_runtime.run, f, args, kwargs, _enter, _leave, Error)

    staged = Unchanged(run)

    @functools.wraps(f)
    def with_error(*args: Any, **kwargs: Any) -> Any:
        return run(*args, **kwargs) if active() else staged(*args, **kwargs)

    with_error.__name__ = base_name(f)
    return with_error


def _enter(errors: checkify_runtime.FirstFailure) -> None:
    _open.append(errors)


def _leave() -> None:
    _open.pop()


def check_error(error: Error) -> None:
    """Raises an error that `checkify` gave, or makes it one of the `checkify` around."""
    if not isinstance(error, Error):
        raise ArgumentTypeError(f"check_error takes an Error, not {type(error).__name__}")
    if _open:
        call_user(checkify_runtime.pass_on, _open[-1], error.code)
    elif active():
        call_user(checkify_runtime.throw, error.code, _throw)
    else:
        _throw(error.code)


def _throw(code: Any) -> None:
    exception = Error(code).get_exception()
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
