"""Tracks arrays that are elements of lists kept in stacks, so that a store to one is written back
to its list.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from tapeless.transforms.dataclass import dataclass


@dataclass
class Loans:
    """Stacks stand for the lists.

    places      where an array was taken from, by its cell
    moves       of stacks: how often what they hold was moved
    owners      of stacks: the list that was moved to them
    sides       where a stack got memory: the sides of tests that were open
    given_back  stacks whose arrays were stored to
    """

    places: dict[Any, Any] = field(default_factory=dict)
    moves: dict[Any, int] = field(default_factory=dict)
    owners: dict[Any, Any] = field(default_factory=dict)
    sides: dict[Any, set[Any]] = field(default_factory=dict)
    given_back: set[Any] = field(default_factory=set)
