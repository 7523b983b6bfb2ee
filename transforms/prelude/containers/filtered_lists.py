"""Implements lists of those known objects that pass a test on run-time values: a truth value for
each object.

alive = [cell for cell in cells if cell.energy > 0]
"""

from __future__ import annotations

from typing import Any, NoReturn

__staged__ = True  # plain code: a staged run enters it


def as_lengths(filtered: Any) -> None:
    """What needs a list of Python's: it is made anew, as one of several lengths."""
    raise NotImplementedError  # the staged run knows it


class FilteredList:
    """The items whose flags are true, in their order."""

    def __init__(self, site: Any, items: Any, flags: Any) -> None:
        self.site, self.items, self.flags = site, items, flags

    def __iter__(self) -> Any:
        for k in range(len(self.items)):
            if self.flags[k]:
                yield self.items[k]

    def __len__(self) -> Any:
        total = 0
        for flag in self.flags:
            total += 1 if flag else 0
        return total

    def __bool__(self) -> Any:
        return any(self.flags)

    def give_up(self, *args: Any, **kwargs: Any) -> NoReturn:
        as_lengths(self)
        raise NotImplementedError

    __getitem__ = __setitem__ = __delitem__ = __contains__ = __reversed__ = give_up
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = give_up
    __add__ = __radd__ = __mul__ = __rmul__ = __iadd__ = __imul__ = give_up
    __repr__ = __str__ = __format__ = __copy__ = __deepcopy__ = give_up
    append = extend = insert = remove = pop = clear = index = count = sort = reverse = copy = (
        give_up
    )
    __hash__ = None  # type: ignore[assignment]
