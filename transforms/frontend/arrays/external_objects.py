"""Represents objects that calls by the program give, and that are no numbers, arrays or texts:
bytes.

pickle.loads(pickle.dumps(x))      becomes      loads(x)      with one that makes the bytes again
"""

from __future__ import annotations

import types
from typing import Any, NoReturn

from tapeless.transforms.errors import UnsupportedError


class ExternalObject:
    """Stands for such an object: what is asked of it, the program asks.

    value  the object in the call at hand
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.value, name)
        return types.MethodType(NamedMethod(name), self) if callable(attribute) else attribute

    def refuse(self, *_: Any) -> NoReturn:
        raise UnsupportedError(
            f"an object of type {type(self.value).__name__} is made of values of the program, and "
            "code without a rule looks into it",
            "make it outside of the function, or let the function return arrays",
        )

    __bool__ = __len__ = __iter__ = __hash__ = __eq__ = __contains__ = refuse
    __index__ = __int__ = __float__ = __complex__ = __str__ = __format__ = refuse
    __reduce_ex__ = refuse  # which pickle asks for

    def __repr__(self) -> str:
        return f"<{type(self.value).__name__} known when the program runs>"


class NamedMethod:
    """A method that is known by its name."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, this: Any, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(this, self.__name__)(*args, **kwargs)
