"""Writes what functions that call themselves save for their derivatives: records of C.

saved = (x, v, f_saved)      becomes      f_tape* saved = kept_memory(memory, sizeof(f_tape));
                                          if (!saved) return 2;
                                          saved->x = x; ...

A record holds numbers, arrays with their lengths, and where the records of calls inside lie: places
in the memory that the caller passes, counted in bytes. Nothing of it is given back before the whole
function ends, so that backward parts may read records in any order.
"""

from __future__ import annotations

from collections.abc import Sequence

from tapeless.transforms.c.kernel import reserved_names
from tapeless.transforms.c_text.renaming import ascii_name, fresh_name
from tapeless.transforms.c_text.values import NotPrintedError, c_type
from tapeless.transforms.core.language import NOTHING, TAPE, Atom, Type
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT

#: What a part of a tape is in C: the name of its dtype, and how many axes it has.
Part = tuple[str, int]


@dataclass(frozen=True)
class TapeRecord:
    """A structure of C for tapes of certain parts.

    fields  of the parts; "" for those that are nothing
    """

    name: str
    fields: tuple[str, ...]
    text: str

    def length(self, k: int, axis: int) -> str:
        """The field with a length of an array."""
        return f"{self.fields[k]}_{axis}"


class TapeRecords:
    """The structures of a program, each for all tapes of the same parts."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.by_parts: dict[tuple[Part, ...], TapeRecord] = {}

    def record_for(self, atoms: Sequence[Atom] | Sequence[Type], name: str) -> TapeRecord:
        """That for a tape of these values; the first one gives the names."""
        kinds = [a if isinstance(a, Type) else a.type for a in atoms]
        parts = tuple(map(_part_of, kinds))
        if parts not in self.by_parts:
            names = [getattr(a, "name", "") for a in atoms]
            self.by_parts[parts] = self.new_record(parts, names, name)
        return self.by_parts[parts]

    def new_record(self, parts: Sequence[Part], names: Sequence[str], name: str) -> TapeRecord:
        fields, taken, lines = [], set[str](), []
        for (dtype, axes), stem in zip(parts, names, strict=True):
            if dtype == NOTHING.dtype.name:
                fields.append("")
                continue
            stem = ascii_name(stem).lstrip("_") or "part"
            field = fresh_name(f"{stem}_" if stem in reserved_names([stem]) else stem, taken)
            taken.update(f"{field}_{axis}" for axis in range(axes))
            fields.append(field)
            lines.append(f"  {dtype}{'*' * bool(axes)} {field};")
            lines += [f"  i64 {field}_{axis};" for axis in range(axes)]
        structure = fresh_name(f"{ascii_name(name)}_tape", self.taken)
        lines = lines or ["  char nothing;"]
        text = "\n".join(["typedef struct {", *lines, f"}} {structure};"])
        return TapeRecord(structure, tuple(fields), text)

    @property
    def texts(self) -> list[str]:
        return [record.text for record in self.by_parts.values()]


def _part_of(kind: Type) -> Part:
    if not isinstance(kind, Type):
        raise NotPrintedError("a list that a function saves which calls itself")
    if kind == NOTHING:
        return NOTHING.dtype.name, 0
    return c_type(INT if kind.dtype == TAPE.dtype else kind.dtype), len(kind.shape)
