"""Vectorises kernels whose rows are single elements of their arrays: 16 bytes of each array move at
once.

for (i64 i = team; i < rows; i += teams) {
  out[i] = 2.0f * x[i];
}
    becomes      the loop of `packed_loops`, of whole arrays

pack_loop<4>(team, teams, rows, [&](i64 i, i64 place, float* out, const float* x) {
  out[place] = 2.0f * x[place];
}, stores(out), reads(x));
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tapeless.transforms.c_text.renaming import words
from tapeless.transforms.cuda.packed_loops import BYTES, call_lines
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import Dtype

LOOP = re.compile(r"^  for \(i64 (\w+) = team; \1 < rows; \1 \+= teams\) \{(  //.*)?$")
ROWS = re.compile(r"^ *for \(i64 \w+ = team;")
LOCAL = re.compile(r"^  [\w ]+ (\w+)\[\d+\];")


@dataclass(frozen=True)
class PointLoop:
    """The lines of a kernel over elements, `width` of which a thread takes at once."""

    lines: list[str]
    width: int


def as_points(lines: Sequence[str], arrays: Mapping[str, Dtype]) -> PointLoop | None:
    """The body of a kernel in points; None if rows are more than an element of each array.

    lines   of the body, which has one loop over rows
    arrays  those that the kernel gets, by the names that the body has for them
    """
    heads = [k for k, line in enumerate(lines) if ROWS.match(line)]
    if len(heads) != 1 or not LOOP.match(lines[heads[0]]):
        return None  # of several loops, a thread has the same rows in each
    (start,) = heads
    end = next(k for k in range(start, len(lines)) if lines[k] == "  }")
    body, head = lines[start + 1 : end], LOOP.match(lines[start])
    assert head is not None
    used = [x for x in arrays if x in words("\n".join(body))]
    width = BYTES // max((arrays[x].itemsize for x in used), default=BYTES)
    if width < 2 or not used or not _is_point(body, head[1], used):
        return None
    names = words("\n".join(body))
    local = [x for x in lines[:start] if (m := LOCAL.match(x)) and m[1] in names]
    place = re.compile(rf"\b({'|'.join(used)})\[{head[1]}\]")
    moved = [place.sub(r"\1[place]", line).replace("continue;", "return;") for line in body]
    loop = call_lines(
        *("  ", width, f"team, teams, rows, [&](i64 {head[1]}, i64 place, ", head[2] or ""),
        [*(f"  {line}" for line in local), *moved],
        {x: (x, arrays[x]) for x in used},
    )
    before = [line for line in lines[:start] if line not in local]
    return PointLoop([*before, *loop, *lines[end + 1 :]], width)


def _is_point(body: Sequence[str], index: str, arrays: Sequence[str]) -> bool:
    """Whether statements touch of each array only the element of their own index."""
    for before, line in zip(["", *body], body, strict=False):
        code = line.partition("//")[0]
        code = re.sub(rf"\bfail(_telling)?\(error, {index}, ", "", code)
        if "continue;" in code and not re.search(r"\bfail(_telling)?\(error, ", before):
            return False  # of a loop inside of the row
        if re.match(r"\s*(while|goto|do)\b", code) or "[[" in code or "[&]" in code:
            return False
        for x in arrays:
            if f"&{x}[" in code:
                return False  # which other threads add to
            code = code.replace(f"{x}[{index}]", "")
        if words(code) & {index, *arrays}:
            return False
    return True
