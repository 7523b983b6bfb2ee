"""Lets IPython's `%autoreload 2` renew transformed functions of edited modules.

It loads a module again, and gives the functions of before the code of the new ones, so that what
was imported by name is new, too. For other objects it has a list of rules, which gets one more.
"""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any

RELOADER = "IPython.extensions.autoreload"


def notice_reloads() -> None:
    """Adds the rule, where IPython loads modules again. Objects are made while it does."""
    reloader = sys.modules.get(RELOADER)
    rules = getattr(reloader, "UPDATE_RULES", None)
    if isinstance(rules, list) and RULE not in rules:
        rules.insert(0, RULE)


def are_functions_of_ours(old: Any, new: Any) -> bool:
    """Whether both are what a transformation made of a function."""
    return all(hasattr(type(x), "__staged_call__") and "fun" in vars(x) for x in (old, new))


def renew(old: Any, new: Any) -> None:
    """Makes a transformed function the new one, where it is: those that were made of it see that.

    The function that it was made of stays the same object with new code, as far as that can be.
    """
    fun = old.fun if _is_renewed(old.fun, new.fun) else new.fun
    old.__class__ = new.__class__
    vars(old).clear()
    vars(old).update(vars(new), fun=fun, __wrapped__=fun)
    if hasattr(old, "begin"):
        old.begin()


def _is_renewed(old: Any, new: Any) -> bool:
    """Gives a function new code in place; whether that can be done."""
    plain = isinstance(old, FunctionType) and isinstance(new, FunctionType)
    if plain and (old.__closure__ or new.__closure__):
        return False  # cells cannot be replaced
    if plain or are_functions_of_ours(old, new):
        return bool(sys.modules[RELOADER].update_generic(old, new))
    return False


RULE = (are_functions_of_ours, renew)
