"""Binds a transformed function to an object, as a method."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, cast

from tapeless.dispatch.inspection import Inspection, Stages
from tapeless.view.in_notebooks import InNotebooks

if TYPE_CHECKING:
    from pathlib import Path

    from tapeless.explain.report import Explanation


def _owner(bound: functools.partial[Any]) -> Inspection:
    return cast(Inspection, bound.func)


class Bound(functools.partial[Any], InNotebooks):
    """A transformed method of an object: the first argument is there already."""

    def source(self, /, *args: Any, **kwargs: Any) -> str:
        """The emitted module for these arguments, which may be `ShapeDtypeStruct`s; without any,
        that of the last call."""
        return _owner(self).source(*self.with_bound_arguments(args, kwargs), **kwargs)

    def save(self, file: Any, /, *args: Any, **kwargs: Any) -> Path:
        """Writes the emitted module for these arguments, or of the last call, to a file that
        stands alone."""
        return _owner(self).save(file, *self.with_bound_arguments(args, kwargs), **kwargs)

    def file(self, /, *args: Any, **kwargs: Any) -> str:
        """The path of the emitted module for these arguments, or of the last call."""
        return _owner(self).file(*self.with_bound_arguments(args, kwargs), **kwargs)

    def stages(self, /, *args: Any, **kwargs: Any) -> Stages:
        """Each stage of the compilation for these arguments (or of the last call)."""
        return _owner(self).stages(*self.with_bound_arguments(args, kwargs), **kwargs)

    def profile(self, /, *args: Any, **kwargs: Any) -> Any:
        """The time by line of the emitted module for these arguments."""
        return _owner(self).profile(*self.args, *args, **kwargs)

    def explain(self, /, *args: Any, **kwargs: Any) -> Explanation:
        """What the method does for these arguments, line by line of the user's code."""
        return _owner(self).explain(*self.args, *args, **kwargs)

    def describe(self) -> str:
        """What was transformed, and how."""
        return _owner(self).describe()

    def _repr_html_(self) -> str:
        return _owner(self)._repr_html_()

    def with_bound_arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, ...]:
        is_first = _owner(self).where((), {}).last is None
        return (*self.args, *args) if args or kwargs or is_first else ()

    def __repr__(self) -> str:
        return f"<{self.describe()}, bound to {self.args[0]!r}>"

    def __getattr__(self, name: str) -> Any:
        if name == "__wrapped__":
            return functools.partial(_owner(self).fun, *self.args)
        if name in functools.WRAPPER_ASSIGNMENTS:
            return getattr(self.func, name)
        raise AttributeError(name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bound):
            return NotImplemented
        return self.func is other.func and self.args[0] is other.args[0]

    def __hash__(self) -> int:
        return hash((id(self.func), id(self.args[0])))
