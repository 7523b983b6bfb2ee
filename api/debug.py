"""Prints values, calls Python and stops in the debugger while a transformed function runs."""

from __future__ import annotations

import builtins
import functools
import logging
import string
from collections.abc import Callable
from typing import Any

from tapeless.configuration.debugger import Debugger, stop_here, variables
from tapeless.missing import missing as _missing
from tapeless.transformations.callbacks import Site, record
from tapeless.transforms.core.builder import active
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

__staged__ = True  # `print` and `log` are plain Python code
LOGGER = logging.getLogger("tapeless.debug")


def print(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> Any:
    """Prints `fmt.format(*args, **kwargs)` when the program runs.

    fmt                 a format string, as of `str.format`
    args, kwargs        numbers, arrays, or trees of them
    ordered             lines are in the order of the program in any case; under `vmap` one element
                        comes after the other
    partitioned         each shard of `pmap` prints its own part in any case
    skip_format_check   whether arguments may be given that `fmt` does not show

    Without `fmt` it returns the function that prints: `print(ordered=True)("x = {}", x)`.

    Raises TypeError or ValueError at once for a format that does not fit the arguments.

    Plain `print(f"x = {x}")` does the same.

    >>> from tapeless import grad
    >>> def f(x):
    ...     y = x * x
    ...     print("y = {y:.1f}", y=y)
    ...     return y
    >>> grad(f)(3.0)
    y = 9.0
    6.0
    """
    if fmt is None and not (args or kwargs):
        return functools.partial(_print, skip_format_check)
    _print(skip_format_check, fmt, *args, **kwargs)
    return None


def _print(unchecked: bool, fmt: Any, /, *args: Any, **kwargs: Any) -> None:
    check_format(fmt, len(args), kwargs.keys(), unchecked)
    builtins.print(fmt.format(*args, **kwargs))  # noqa: T201 (what it is for)


def log(
    fmt: str,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> None:
    """The same as `print`, as a message of the logger "tapeless.debug", level INFO.

    >>> log("x = {}", 1.0)
    """
    check_format(fmt, len(args), kwargs.keys(), False)
    LOGGER.info(fmt.format(*args, **kwargs))


class _Check:
    """A function that is run as it is, also from staged code."""

    def __call__(self, fmt: Any, count: int, names: Any, unused: bool) -> None:
        if not isinstance(fmt, str):
            raise ArgumentTypeError(
                f"debug.print needs a format string, not {type(fmt).__name__}",
                'write debug.print("{}", x)',
            )
        fields = [name for _, name, _, _ in string.Formatter().parse(fmt) if name is not None]
        roots = [name.partition(".")[0].partition("[")[0] for name in fields]
        shown = {int(r) for r in roots if r.isdigit()} | set(range(roots.count("")))
        idle = sorted(set(names) - set(roots))
        if not unused and (idle or len(shown) < count):
            what = ", ".join(idle) or f"{count - len(shown)} of the positional ones"
            raise ArgumentError(f"debug.print: {fmt!r} does not show all arguments: {what}")

    __staged_call__ = __call__


check_format = _Check()


class _Callback:
    """What `callback` is: it records itself in a staged run."""

    def __call__(self, callback: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
        site = Site(callback, args, kwargs, "debug.callback")
        if active():
            record(site)
        else:
            callback(*args, **kwargs)

    __staged_call__ = __call__


_callback = _Callback()


def callback(
    callback: Callable[..., Any] | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> Any:
    """Calls a Python function when the program runs; what it returns is not used.

    callback             any function; it gets NumPy arrays and numbers, which are its own
    args, kwargs         trees of arrays and numbers, and of anything else, which is passed on
    ordered, partitioned calls are in the order of the program in any case

    Under `vmap` it is called for each element of the batch; in reverse mode once, on the way
    forward. Without `callback` it returns the function that calls:
    `callback(ordered=True)(f, x)`.

    Raises NotImplementedError for a function that reads variables of the transformed function
    that are known only when it runs: pass them as arguments.

    >>> from tapeless import jit
    >>> seen = []
    >>> @jit
    ... def f(x):
    ...     callback(seen.append, x * x)
    ...     return x + 1
    >>> f(3.0), seen
    (4.0, [9.0])
    """
    function: Any = callback
    if function is None and not (args or kwargs):
        return _callback
    _callback(function, *args, **kwargs)
    return None


class _Breakpoint:
    """What `breakpoint` is: it records itself in a staged run."""

    def __call__(self, num_frames: int | None, kwargs: dict[str, Any]) -> None:
        if not active():
            stop_here(kwargs)
            return
        places, scopes = variables(num_frames)
        record(Site(Debugger(places, kwargs), (scopes,), {}, "debug.breakpoint"))

    __staged_call__ = __call__


_breakpoint = _Breakpoint()


def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: Any = None,
    **kwargs: Any,
) -> None:
    """Stops in `pdb` at this line when the program runs, with the variables of the function.

    backend               "pdb", which is what None means
    filter_frames, token  of JAX: frames of tapeless are never shown, and no token is needed
    num_frames            how many of the functions around are shown by `up`; None: all
    kwargs                for `pdb.Pdb`: stdin, stdout

    Each variable that is set has its value of the moment; `continue` goes on, `quit` ends the
    program with `bdb.BdbQuit`. Storing to variables has no effect on the program.

    >>> import io
    >>> from tapeless import jit
    >>> @jit
    ... def f(x):
    ...     y = x * x
    ...     breakpoint(stdin=io.StringIO("p y\\ncontinue\\n"), stdout=io.StringIO())
    ...     return y + 1
    >>> f(3.0)
    10.0
    """
    if backend not in (None, "pdb", "cli"):
        raise ArgumentError(f"debug.breakpoint: backend is {backend!r}", 'there is "pdb"')
    _breakpoint(num_frames, kwargs)


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)


__all__ = ["breakpoint", "callback", "log", "print"]
