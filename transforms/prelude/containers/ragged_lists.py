"""Implements lists of lists of the caller's, of different lengths, that are not changed: all items
in one list, and where each of them ends.
"""

from __future__ import annotations

from typing import Any, NoReturn

from tapeless.transforms.prelude.containers.linked_lists import refuse

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

    def list_at(self, k: Any) -> Any:
        return stretch(self.items, self.ends[k] - self.counts[k], self.ends[k])

    def __iter__(self) -> Any:
        return map(self.list_at, range(len(self.counts)))

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            self.refuse_change()
        n = len(self.counts)
        if k < -n or k >= n:
            raise IndexError("list index out of range")
        return self.list_at(k if k >= 0 else n + k)

    def refuse_change(self, *args: Any) -> NoReturn:
        """What is done with a list beside looking at its items."""
        refuse("lists of the caller's are used as a whole, or changed", "read their items")
        raise NotImplementedError

    __setitem__ = __delitem__ = __contains__ = __add__ = __radd__ = __mul__ = __rmul__ = (
        refuse_change
    )
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __iadd__ = __imul__ = refuse_change
    __repr__ = __str__ = __format__ = __array__ = __reversed__ = refuse_change
    __copy__ = __deepcopy__ = refuse_change
    append = extend = insert = pop = remove = clear = sort = reverse = index = count = copy = (
        refuse_change
    )
    __hash__ = None  # type: ignore[assignment]
