"""Turns errors that only a mistake in tapeless can raise into a request to report it."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tapeless.lazy_import import lazy_module
from tapeless.staging.emitted_names import base_name, place
from tapeless.transforms.errors import InternalError, TapelessError

if TYPE_CHECKING:
    from tapeless.transforms.frontend.source import rewrite
else:
    rewrite = lazy_module("tapeless.transforms.frontend.source.rewrite")

#: These run the user's own operations, and raise what Python raises.
PASSES = tuple(
    f"tapeless.transforms.{folder}."
    for folder in ("analysis", "optimize", "memory", "autodiff", "emit", "frontend.source")
)
ON_BEHALF = ("tapeless.transforms.frontend.", "tapeless.transforms.ops.", "tapeless.tree")

#: How much of a traceback errors show, under the names of jax.config's `traceback_filtering`.
FILTERING = ["auto"]


@contextmanager
def mistakes_reported(fun: Any) -> Iterator[None]:
    """Wraps the code that stages and transforms `fun`."""
    try:
        yield
    except TapelessError as e:
        at = place(fun)
        if e.where is None and at is not None:
            e.where = (*at, 0, 0)
        raise
    except Exception as e:
        frames = list(_frames(e.__traceback__))
        if not _ours(e, frames):
            raise
        user = [(c.co_filename, line) for _, c, line in frames if c in rewrite.known_codes]
        at = user[-1] if user else place(fun)
        raise InternalError(
            f"a mistake in tapeless ({type(e).__name__}: {e}) while transforming {base_name(fun)}",
            "please report it with the function",
            None if at is None else (*at, 0, 0),
        ) from e


def trim_traceback(error: Exception) -> None:
    """Leaves the user's lines of an error's traceback; a mistake of ours keeps all."""
    if isinstance(error, InternalError) or FILTERING[0] == "off":
        return
    kept: TracebackType | None = None
    every = list(_tracebacks(error.__traceback__))
    for tb in reversed(every):
        if not f"{tb.tb_frame.f_globals.get('__name__', '')}.".startswith("tapeless."):
            kept = TracebackType(kept, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
    error.__traceback__ = kept


def _tracebacks(tb: TracebackType | None) -> Iterator[TracebackType]:
    while tb is not None:
        yield tb
        tb = tb.tb_next


def _frames(tb: TracebackType | None) -> Iterator[tuple[str, Any, int]]:
    for each in _tracebacks(tb):
        name = each.tb_frame.f_globals.get("__name__", "")
        yield str(name), each.tb_frame.f_code, each.tb_lineno


def _ours(error: Exception, frames: list[tuple[str, Any, int]]) -> bool:
    """Whether the error comes from a pass, or from a look-up or assertion of our own."""
    last_user = max((k for k, f in enumerate(frames) if f[1] in rewrite.known_codes), default=-1)
    if any(_is_pass(name) for name, _, _ in frames[last_user + 1 :]):
        return True
    module, code, line = frames[-1]
    if not module.startswith("tapeless."):
        return False
    if isinstance(error, AssertionError):
        return linecache.getline(code.co_filename, line).lstrip().startswith("assert")
    if module.startswith(ON_BEHALF):
        return False
    return isinstance(error, (LookupError, AttributeError, NameError, SyntaxError))


def _is_pass(module: str) -> bool:
    """Whether a module holds a pass over programs, or rewrites source."""
    return module.startswith(PASSES)
