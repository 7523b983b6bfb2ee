"""Which names of variables are the user's.

v_bar, x_saved, passes      are ours,      v and x are the user's
"""

import re

OURS = re.compile(r"(done|stop|left)_\d+|.*_(bar|dot|saved)|")
WORDS = {"passes", "count", "ran", "carried", "saved"}  # of ours, though a user may have them
FLAGS = {"done": "returned", "stop": "stopped", "left": "skip"}
FLAG = re.compile(r"(done|stop|left)_\d+(_saved)?")


def of_user(name: str) -> bool:
    return not OURS.fullmatch(name)


def readable(name: str) -> str:
    """A name for emitted code: flags have the number of the jump that they replace."""
    found = FLAG.fullmatch(name)
    return FLAGS[found[1]] + (found[2] or "") if found else name
