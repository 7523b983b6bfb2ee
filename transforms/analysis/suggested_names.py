"""Suggests names for values that the user did not name, from the operations that give them.

t = x[i]; t_2 = np.exp(t)      becomes      x_i = x[i]; exp = np.exp(x_i)

Values that share a name because they follow each other (a carry of a loop and its next value, an
array before and after a store) go on sharing one; a new name is used for nothing else.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    While,
    blocks,
    outputs,
)
from tapeless.transforms.ops.numpy.indexing import Slot
from tapeless.transforms.ops.primitives.arithmetic import add, sub
from tapeless.transforms.ops.primitives.shapes import cast, copy, reshape, transpose
from tapeless.transforms.ops.primitives.slices_and_gathers import gather, index
from tapeless.transforms.ops.primitives.stacks import POPS, peek

NAMELESS = re.compile(r"t(_\d+)?")
STEMS = ("t", "value", "inner", "term")  # of what has no name: the first that no user has
FORMS = {copy, transpose, reshape, cast, add, sub}
BUILTIN_WORDS = {"sum", "max", "min", "abs", "all", "any", "round", "pow", "sorted", "len", "range"}


def better_names(
    block: Block,
    names: Mapping[Var, str],
    reserved: set[str],
    used: set[Var],
    apart: Callable[[list[Var], list[Var]], bool],
    folded: Mapping[Var, Any],
) -> dict[Var, str]:
    """`names` with words in place of t, t_2, ..., and without numbers that are not needed then;
    the index of a loop is _ unless it is `used`. A word stands for two values only where they are
    the same thing, and not `apart`: needed at the same time."""
    groups = _Groups(names)
    groups.block(block)
    chosen_names = dict(names)
    for s in _all_statements(block):
        if isinstance(s, For) and s.index not in used:
            chosen_names[s.index] = "_"
    named = [v for v in names if not NAMELESS.fullmatch(names[v]) or v.name]
    indices = [s.index for s in _all_statements(block) if isinstance(s, For)]
    held = {*named, *(v for v in (*block.params, *indices) if v in names)}  # keep t, t_2, ...
    namesakes: dict[str, list[Var]] = {}
    for v in held:
        namesakes.setdefault(chosen_names[v], []).append(v)
    for name in dict.fromkeys(chosen_names[v] for v in named):
        base = re.sub(r"_\d+$", "", name)
        if base not in (name, *reserved) and _share_name(base, name, namesakes, groups, apart):
            chosen_names |= {u: base for v in namesakes[name] for u in groups.members(v)}
            namesakes[base] = [*namesakes.get(base, ()), *namesakes.pop(name)]
    done = {u for v in held for u in groups.members(v)}
    taken = {*map(chosen_names.__getitem__, done), *reserved}
    our_names = _GivenNames(taken, apart)
    stems = _Stems(chosen_names, set(named))
    definitions = [(s, v) for s in _all_statements(block) for v in outputs(s) if v in names]
    nameless = nameless_stem(block)
    for at, (s, v) in enumerate([*definitions, *definitions]):
        group = groups.members(v)
        hint = next((groups.carried[u] for u in group if u in groups.carried), None)
        stem = stems.stem_of(v, s) if hint is None else stems.base(hint) or "carried"
        if v in done or (
            stem == "t" and at < len(definitions)
        ):  # another of the group may say more
            continue
        done.update(group)
        stem = re.sub(r"^t(?=$|_(bar|dot)$)", nameless, stem)
        name = our_names.name(stem, group, s, _kind(s, chosen_names, folded))
        chosen_names |= dict.fromkeys(group, name)
    return chosen_names


class _GivenNames:
    """Names of ours, with the values that each stands for."""

    def __init__(self, taken: set[str], apart: Callable[[list[Var], list[Var]], bool]) -> None:
        self.taken, self.apart = taken, apart
        self.values: dict[str, list[tuple[object, list[Var]]]] = {}
        self.of_kind: dict[object, dict[str, None]] = {}
        self.of_variable: dict[Var, str] = {}
        self.unused: dict[str, int] = {}  # the least number of a stem that stands for nothing

    def name(self, stem: str, group: list[Var], s: Statement, kind: object) -> str:
        """The first name of a stem that may stand for the variables of a group, too, which the
        statement `s` of this kind sets."""
        numbers = sorted({*self.numbers(stem, s, kind), self.first_unused(stem)})
        name = next(
            name
            for name in (_with_number(stem, k) for k in numbers)
            if all(
                (k == kind or _follows(s, other)) and not self.apart(group, other)
                for k, other in self.values.get(name, ())
            )
        )
        self.values.setdefault(name, []).append((kind, group))
        self.of_kind.setdefault(kind, {})[name] = None
        self.of_variable |= dict.fromkeys(group, name)
        return name

    def numbers(self, stem: str, s: Statement, kind: object) -> Iterator[int]:
        """The numbers of the names that stand for the same thing, or for what `s` goes on with."""
        names = dict(self.of_kind.get(kind, {}))
        if isinstance(s, Let) and s.op in FORMS:
            names |= {self.of_variable[a]: None for a in s.args if a in self.of_variable}  # type: ignore[index]
        for name in names:
            number = name.removeprefix(stem).removeprefix("_") or "1"
            if number.isdecimal() and _with_number(stem, int(number)) == name:
                yield int(number)

    def first_unused(self, stem: str) -> int:
        number = self.unused.get(stem, 1)
        while (
            (name := _with_number(stem, number)) in self.values
            or name in self.taken
            or keyword.iskeyword(name)
        ):
            number += 1
        self.unused[stem] = number
        return number


def nameless_stem(block: Block) -> str:
    """The stem of names for what the user gave no name, which no variable of the user has: where
    there is a t, t_bar would be read as its cotangent."""
    users = {
        v.name for v in (*block.params, *(v for s in _all_statements(block) for v in outputs(s)))
    }
    users |= {s.index.name for s in _all_statements(block) if isinstance(s, For)}
    return next((stem for stem in STEMS if stem not in users), "t")


def _kind(s: Statement, names: Mapping[Var, str], folded: Mapping[Var, Any]) -> object:
    """What is equal for two statements that compute the same thing at different times."""

    def structure_of(a: Atom) -> object:
        if not isinstance(a, Var) or a in names:
            return names[a] if isinstance(a, Var) else repr(a)
        inner = folded.get(a)
        return (inner.op, *map(structure_of, inner.args)) if isinstance(inner, Let) else a

    return (s.op, s.origin, *map(structure_of, s.args)) if isinstance(s, Let) else s


def word_for(s: Let) -> str:
    """A name for the result of an operation whose operands have theirs; "" if there is no good
    one."""
    word = _Stems({a: a.name for a in s.args if isinstance(a, Var)}).stem_of(s.outs[0], s)
    return "" if NAMELESS.fullmatch(word) else word


def _share_name(
    base: str,
    name: str,
    namesakes: dict[str, list[Var]],
    groups: _Groups,
    apart: Callable[[list[Var], list[Var]], bool],
) -> bool:
    """Whether what has a name with a number is the variable of the user that has it without, at
    another time."""
    both = [namesakes[name], namesakes.get(base, [])]
    if not all(v.name in (base, "_") for variables in both for v in variables):
        return False
    return not apart(*([u for v in variables for u in groups.members(v)] for variables in both))


def _follows(s: Statement, before: list[Var]) -> bool:
    """Whether a statement gives the same thing in another form, or adds to it."""
    same = isinstance(s, Let) and s.op in FORMS
    return same and any(a is v for a in s.args for v in before)  # type: ignore[union-attr]


def _with_number(stem: str, number: int) -> str:
    """A name with its number, which the first one has not."""
    return stem if number == 1 else f"{stem}_{number}"


def _all_statements(block: Block) -> list[Statement]:
    return [t for s in block.body for t in (s, *(u for b in blocks(s) for u in _all_statements(b)))]


class _Stems:
    """Which word says what a value is."""

    def __init__(self, names: Mapping[Var, str], named: Collection[Var] = ()) -> None:
        self.names, self.named = names, named

    def name(self, a: Atom) -> str:
        """The name of a value that has a good one."""
        name = self.names.get(a, "") if isinstance(a, Var) else ""
        return "" if NAMELESS.fullmatch(name) and a not in self.named else name

    def base(self, a: Atom) -> str:
        """The name of a value without its number."""
        return re.sub(r"_\d+$", "", self.name(a))

    def stem_of(self, v: Var, s: Statement) -> str:
        if not isinstance(s, Let):
            return "t"
        ending = self.ending(s)
        if s.op in (index, gather, peek):
            return self.part(s, ending)
        if s.op in POPS and v is not s.outs[0]:
            return "item_bar" if self.base(s.args[0]).endswith("_bar") else "kept"
        if s.op.inplace or s.op is copy:
            return self.base(s.args[0]) or "t"
        if ending:
            return f"t{ending}"
        word = s.op.word or s.op.name.removeprefix("@").removeprefix("_")
        if isinstance(v.type, Type) and v.type.dtype.kind in "iu" and not v.type.shape:
            return self.integer(s)
        if isinstance(v.type, Type) and v.type.dtype.kind == "b":
            return "mask" if v.type.shape else "test"
        if not word.isidentifier() or word in BUILTIN_WORDS:
            return "t"
        (arg, *more) = s.args or (Literal(None, None),)
        operand_name = self.name(arg)
        alone = (
            not more and s.op.elementwise and operand_name and len(operand_name) + len(word) < 16
        )
        return f"{word}_{operand_name}" if alone else word

    def integer(self, s: Let) -> str:
        """i_next for i + 1, i_before for i - 1."""
        operand_name = self.name(s.args[0]) if s.args else ""
        by_one = len(s.args) == 2 and isinstance(s.args[1], Literal) and s.args[1].value == 1
        ending = {add: "_next", sub: "_before"}.get(s.op)
        return operand_name + ending if operand_name and by_one and ending else "n"

    def ending(self, s: Let) -> str:
        """_bar or _dot, if a value is made of such."""
        for a in s.args:
            for end in ("_bar", "_dot"):
                if re.search(rf"{end}(_\d+)?$", self.name(a)):
                    return end
        return ""

    def part(self, s: Let, ending: str) -> str:
        """x_i for x[i]."""
        base = re.sub(r"(_bar|_dot|_saved)$", "", self.base(s.args[0]))
        entries = []
        for e in s.params.get("key", (Slot(0),)):  # the element of a list has its place in args
            entry = s.args[1 + e.k] if isinstance(e, Slot) else e
            if isinstance(entry, int):
                entries.append("last" if entry == -1 else str(entry) if entry >= 0 else "")
            elif isinstance(entry, Literal):
                entries.append(str(entry.value))
            else:
                entries.append(self.name(entry) if isinstance(entry, Var) else "")
        if not base or not all(e.isidentifier() or e.isdigit() for e in entries):
            part = base if not base or base.endswith("_part") else f"{base}_part"
            return f"{part or 't'}{ending}"
        stem = "_".join([base, *entries])
        return (stem if len(stem) < 20 else f"{base}_part") + ending


class _Groups:
    """Variables that hold the same thing at different times under one name."""

    def __init__(self, names: Mapping[Var, str]) -> None:
        self.names = names
        self.root: dict[Var, Var] = {}
        self.below: dict[Var, list[Var]] = {}
        self.carried: dict[Var, Atom] = {}  # what variables of loops start from

    def find(self, v: Var) -> Var:
        while v in self.root:
            v = self.root[v]
        return v

    def members(self, v: Var) -> list[Var]:
        return self.below.get(self.find(v), [v])

    def join(self, a: Atom, b: Atom) -> None:
        if not isinstance(a, Var) or not isinstance(b, Var):
            return
        if a in self.names and self.names[a] == self.names.get(b):
            p, q = self.find(a), self.find(b)
            if p is not q:
                self.root[p] = q
                self.below[q] = [*self.below.get(q, [q]), *self.below.pop(p, [p])]

    def block(self, block: Block) -> None:
        for s in block.body:
            self.statement(s)
            for b in blocks(s):
                self.block(b)

    def statement(self, s: Statement) -> None:
        match s:
            case Let():
                for a in s.args:
                    if s.op.inplace or s.op.source == "{0}":
                        self.join(a, s.outs[0])
            case If():
                for v, a, b in zip(s.outs, s.then.results, s.orelse.results, strict=True):
                    self.join(v, a)
                    self.join(v, b)
            case For() | While():
                params = s.carries if isinstance(s, For) else s.body.params
                yields = s.yields if isinstance(s, For) else s.body.results
                tests = params if isinstance(s, For) else s.test.params
                self.carried.update(zip(params, s.inits, strict=True))
                for group in zip(s.outs, params, s.inits, yields, tests, strict=True):
                    for a in group:
                        self.join(group[1], a)
            case _:
                pass
