"""Implements lists of lists of the caller's, of different lengths, that are not changed: all items
in one list, and where each of them ends.
"""

from __future__ import annotations

from typing import Any, NoReturn

from tapeless.transforms.prelude.containers.linked_lists import unsupported

__staged__ = True  # plain code: a staged run enters it


def stretch(items: Any, first: Any, last: Any) -> Any:
    """items[first:last], to be read."""
    raise NotImplementedError  # the staged run knows it


class GivenLists:
    """Such lists. What they cannot do makes the caller's numbers arguments one by one."""

    def __init__(self, items: Any, counts: Any, ends: Any) -> None:
        self.items, self.counts, self.ends = items, counts, ends

    def __len__(self) -> Any:
        return len(self.counts)

    def __bool__(self) -> Any:
        return len(self.counts) > 0

    def at(self, k: Any) -> Any:
        return stretch(self.items, self.ends[k] - self.counts[k], self.ends[k])

    def __iter__(self) -> Any:
        return map(self.at, range(len(self.counts)))

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            self.other()
        n = len(self.counts)
        if k < -n or k >= n:
            raise IndexError("list index out of range")
        return self.at(k if k >= 0 else n + k)

    def other(self, *args: Any) -> NoReturn:
        """What is done with a list beside looking at its items."""
        unsupported("lists of the caller's are used as a whole, or changed", "read their items")
        raise NotImplementedError

    __setitem__ = __delitem__ = __contains__ = __add__ = __radd__ = __mul__ = __rmul__ = other
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __iadd__ = __imul__ = other
    __repr__ = __str__ = __format__ = __array__ = __reversed__ = other
    __copy__ = __deepcopy__ = other
    append = extend = insert = pop = remove = clear = sort = reverse = index = count = copy = other
    __hash__ = None  # type: ignore[assignment]
