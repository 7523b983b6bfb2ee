"""Writes the entry of a specialisation: Python code that tests the signature of a call and runs the
emitted function.

What tells one signature from others is written out as Python, once for each specialisation:

    def enter(args, kwargs):
        if kwargs or len(args) != 2: return MISSED
        a0, v1, = args
        if type(v1) is not dict or [*v1] != c0: return MISSED
        a1, = v1.values()
        if not (type(a0) is float and type(a1) is ndarray and a1.dtype is c1
                and len(s1 := a1.shape) == 1 and s1[0] > 1): return MISSED
        return run(*args)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.dispatch import guards as guarding
from tapeless.dispatch.specialisation import (
    MISSED,
    OBJECT,
    Enter,
    Specialisation,
    is_same_leaf,
    key_orders,
    leaf_key,
)
from tapeless.staging.jax_arrays import ARRAYS, functional, own
from tapeless.transforms.frontend.trace.plain_objects import is_plain_object


def entry(
    specialisation: Specialisation,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    ordered: bool = False,
) -> Enter:
    """A function of (args, kwargs): what the specialisation returns for calls of the signature that
    this call has, MISSED for others; `ordered`: keywords come in the same order, too."""
    return _Writer(specialisation, args, kwargs, ordered).function()


class _NoEntryError(Exception):
    """A container that only the tree library can take apart."""


class _Writer:
    """Writes one entry; constants get names."""

    def __init__(
        self,
        specialisation: Specialisation,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        ordered: bool,
    ) -> None:
        self.found, self.args, self.kwargs, self.ordered = specialisation, args, kwargs, ordered
        self.names: dict[str, Any] = {
            "MISSED": MISSED,
            "ndarray": np.ndarray,
            "run": specialisation.run,
        }
        self.names["__name__"] = __name__  # debuggers skip it like this module
        self.leaves, self.structure = tree.flatten_known((args, kwargs))
        self.index = {path: k for k, path in enumerate(tree.paths((args, kwargs)))}
        self.values = 0
        try:
            self.lines = [*self.taken_apart()]
        except _NoEntryError:
            self.lines = [*self.flatten_lines()]

    def function(self) -> Enter:
        """The entry."""
        tests = [t for k, x in enumerate(self.leaves) for t in self.tests(k, x)]
        tests += self.value_tests()
        if tests:
            self.lines.append(f"if not ({' and '.join(tests)}): return MISSED")
        self.lines += self.guards()
        tests = [*self.capture_tests(), *self.sizes(), *self.memory()]
        if tests:
            self.lines.append(f"if not ({' and '.join(tests)}): return MISSED")
        if self.found.memory.apart:
            self.lines.append(f"{self.constant(self.found.refuse_overlap)}({self.all()})")
        if self.found.keys:
            self.lines.append(f"{self.constant(self.found.use_keys)}({self.all()})")
        self.lines += self.handed_over()
        self.lines.append(f"return {self.result()}")
        text = "\n    ".join(["def enter(args, kwargs):", *self.lines])
        exec(compile(text, "<entry>", "exec", dont_inherit=True), self.names)
        return self.names["enter"]  # type: ignore[no-any-return]

    def constant(self, value: Any) -> str:
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    def all(self) -> str:
        """All leaves."""
        return f"({''.join(f'a{k}, ' for k in range(len(self.leaves)))})"

    # -- leaves get names

    def flatten_lines(self) -> Iterator[str]:
        """By the tree library."""
        yield f"leaves, structure = {self.constant(tree.flatten_known)}((args, kwargs))"
        yield f"if structure != {self.constant(self.structure)}: return MISSED"
        if self.leaves:
            yield f"{self.all()[1:-1]} = leaves"
        values = self.kwargs if self.ordered else [self.kwargs[k] for k in sorted(self.kwargs)]
        order = key_orders((self.args, values))
        if order is not None:
            now = "kwargs" if self.ordered else "[kwargs[k] for k in sorted(kwargs)]"
            now = f"{self.constant(key_orders)}((args, {now}))"
            yield f"if {now} != {self.constant(order)}: return MISSED"

    def taken_apart(self) -> Iterator[str]:
        """By statements, for the containers of Python."""
        if self.kwargs:
            same = (*self.kwargs,) if self.ordered else {*self.kwargs}
            now = "(*kwargs,)" if self.ordered else "kwargs.keys()"
            names = self.constant(same)
            yield f"if len(args) != {len(self.args)} or {now} != {names}: return MISSED"
        else:
            yield f"if kwargs or len(args) != {len(self.args)}: return MISSED"
        yield from self.parts("args", dict(enumerate(self.args)), (0,))
        named = ", ".join(f"kwargs[{name!r}]" for name in self.kwargs)
        yield from self.parts(f"({named},)", self.kwargs, (1,))

    def parts(self, source: str, children: dict[Any, Any], path: tuple[Any, ...]) -> Iterator[str]:
        """Names for the children of a container, and for what is in them."""
        inner = []
        names = []
        for key, x in children.items():
            k = self.index.get((*path, key))
            if k is None:
                self.values += 1
                inner.append((f"v{self.values}", x, (*path, key)))
            names.append(f"v{self.values}" if k is None else f"a{k}")
        if names:
            yield f"{', '.join(names)}, = {source}"
        for name, x, at in inner:
            yield from self.container(name, x, at)

    def container(self, name: str, x: Any, path: tuple[Any, ...]) -> Iterator[str]:
        kind = type(x)
        if x is None:
            yield f"if {name} is not None: return MISSED"
        elif kind in (list, tuple):
            same = f"type({name}) is not {kind.__name__} or len({name}) != {len(x)}"
            yield f"if {same}: return MISSED"
            yield from self.parts(name, dict(enumerate(x)), path)
        elif kind is dict:
            keys = self.constant([*x])
            yield f"if type({name}) is not dict or [*{name}] != {keys}: return MISSED"
            yield from self.parts(f"{name}.values()", x, path)
        elif (fields := tree.fields(kind)) is not None:
            yield f"if type({name}) is not {self.constant(kind)}: return MISSED"
            read = ", ".join(f"{name}.{field}" for field in fields)
            yield from self.parts(f"({read},)", {f: getattr(x, f) for f in fields}, path)
        else:
            raise _NoEntryError

    # -- what must be the same

    def tests(self, k: int, x: Any) -> Iterator[str]:
        """Tests of a leaf: it has the same key."""
        key = leaf_key(x)
        if isinstance(key, type):
            yield f"type(a{k}) is {self.constant(key)}"
        elif isinstance(key, int) or key[0] is OBJECT:
            yield f"a{k} is {self.constant(x)}"
        elif isinstance(x, np.ndarray):
            if key[0] is not x.dtype:
                yield f"type(a{k}) in {self.constant(ARRAYS)}"
            else:
                yield f"type(a{k}) is ndarray"
            yield f"a{k}.dtype is {self.constant(np.dtype(x.dtype.char))}"
            yield f"len(s{k} := a{k}.shape) == {x.ndim}"
            for axis, n in enumerate(x.shape):
                yield f"s{k}[{axis}] > 1" if n > 1 else f"s{k}[{axis}] == {n}"
        else:
            yield f"type(a{k}) is {self.constant(key[0])}"
            yield f"a{k} == {self.constant(key[1])}"

    def value_tests(self) -> Iterator[str]:
        """Tests of numbers and lengths that the program knows."""
        for k, value in self.found.static:
            if is_plain_object(value):
                continue  # its key tells it
            yield f"{self.constant(is_same_leaf)}({self.constant(value)}, a{k})"
        yield from (f"s{k}[{axis}] == {n}" for k, axis, n in self.found.axes)

    def guards(self) -> Iterator[str]:
        """Statements that test what is read from outside."""
        if self.found.guards:
            tests = " and ".join(guarding.tests(self.found.guards, self.constant))
            yield "try:"
            yield f"    if not ({tests}): return MISSED"
            yield f"except {self.constant(guarding.missing())}: return MISSED"

    def capture_tests(self) -> Iterator[str]:
        """Tests of arrays that are read from outside, which get names as leaves do."""
        for k, (get, key) in enumerate(self.found.captured, len(self.leaves)):
            now = f"a{k} := {self.constant(get)}()"
            yield f"{self.constant(leaf_key)}({now}) == {self.constant(key)}"

    def sizes(self) -> Iterator[str]:
        """Tests of how sizes are related."""
        relations = self.found.relations()
        if relations is None:
            yield f"{self.constant(self.found.sizes_hold)}({self.all()})"
            return
        for k in range(len(self.leaves), len(self.leaves) + len(self.found.captured)):
            if any(f"s{k}[" in relation for relation in relations):
                yield f"(s{k} := a{k}.shape)"
        yield from relations

    def memory(self) -> Iterator[str]:
        """Tests of how arrays lie in memory, and that they may be overwritten."""
        memory = self.found.memory
        stored_in_leaves = all(k < len(self.leaves) for k in memory.stored)
        if memory.orders or not stored_in_leaves:
            yield f"{self.constant(self.found.memory_holds)}({self.all()})"
        else:
            yield from (f"a{k}.flags.writeable" for k in memory.stored)

    def own(self) -> list[bool]:
        """Which leaves are arrays of `tapeless.numpy`."""
        return [type(x) in ARRAYS for x in self.leaves]

    def handed_over(self) -> Iterator[str]:
        """A statement that hands over what is worth it."""
        hand_over = self.found.hand_over
        if hand_over is not None:
            shapes = [f"s{k}" for k, x in enumerate(self.leaves) if isinstance(x, np.ndarray)]
            read = "".join(f"{x}, " for x in (*shapes, *[f"a{k}" for k in hand_over.work.integers]))
            call = f"{self.constant(self.found)}(args, kwargs)"
            large = self.constant(hand_over.is_large)
            yield f"if {large}(({read}), {self.all()}): return {call}"

    # -- the call

    def result(self) -> str:
        specialisation = self.found
        if specialisation.is_plain:
            named = "".join(f", kwargs[{name!r}]" for name in specialisation.keywords or ())
            return f"run(*args{named})"
        all_by_position = len(self.leaves) == len(self.args)
        if specialisation.takes_args and all_by_position and not specialisation.memory.stored:
            ours = self.constant(own)
            operands = [f"{ours}(a{k})" if o else f"a{k}" for k, o in enumerate(self.own())]
            return f"{self.constant(functional)}(run({', '.join(operands)}))"
        call = specialisation.functional_value if specialisation.functional else specialisation
        return f"{self.constant(call)}(args, kwargs)"
