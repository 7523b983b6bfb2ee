"""The quick way from a call to the function that was emitted for its signature.

What tells one signature from others is written out as Python, once for each specialisation:

    def enter(args, kwargs):
        if kwargs or len(args) != 2: return MISSED
        a0, a1 = args
        if not (type(a0) is ndarray and a0.dtype is c0 and len(s0 := a0.shape) == 1
                and s0[0] > 1 and type(a1) is float): return MISSED
        return run(*args)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.specialisation import MISSED, Enter, Specialisation, leaf_key, quick_key, same
from tapeless.transforms.core import dims


def entry(found: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Enter:
    """A function of (args, kwargs): what the specialisation returns for calls of the signature that
    this call has, MISSED for others."""
    return _Writer(found, args, kwargs).function()


class _Writer:
    """Writes one entry; constants get names."""

    def __init__(
        self, found: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.found, self.args, self.kwargs = found, args, kwargs
        self.names: dict[str, Any] = {
            "MISSED": MISSED,
            "ndarray": np.ndarray,
            "flatten": tree.flatten_known,
            "run": found.run,
        }
        flat = not kwargs and quick_key(args) is not None
        self.leaves = args if flat else tree.flatten_known((args, kwargs))[0]
        self.lines = [*(self.numbers_and_arrays() if flat else self.containers())]

    def function(self) -> Enter:
        """The entry."""
        count = len(self.leaves)
        if count:
            self.lines.append(f"{''.join(f'a{k}, ' for k in range(count))}= leaves")
        tests = [t for k, x in enumerate(self.leaves) for t in self.tests(k, x)]
        tests += [*self.values(), *self.outside(), *self.sizes(), *self.memory()]
        if tests:
            self.lines.append(f"if not ({' and '.join(tests)}): return MISSED")
        if self.found.staged.overwritten:
            self.lines.append(f"{self.constant(self.found.refuse_overlap)}(leaves)")
        self.lines.append(f"return {self.result()}")
        text = "\n    ".join(["def enter(args, kwargs):", *self.lines])
        exec(compile(text, "<entry>", "exec", dont_inherit=True), self.names)
        return self.names["enter"]  # type: ignore[no-any-return]

    def constant(self, value: Any) -> str:
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    # -- what must be the same

    def numbers_and_arrays(self) -> Iterator[str]:
        yield f"if kwargs or len(args) != {len(self.args)}: return MISSED"
        yield "leaves = args"

    def containers(self) -> Iterator[str]:
        structure = self.constant(tree.flatten_known((self.args, self.kwargs))[1])
        yield "leaves, structure = flatten((args, kwargs))"
        yield f"if structure != {structure}: return MISSED"
        orders = [
            *(o for k, x in enumerate(self.args) for o in self.orders(f"args[{k}]", x)),
            *(o for k, x in self.kwargs.items() for o in self.orders(f"kwargs[{k!r}]", x)),
        ]
        if orders:
            yield f"if not ({' and '.join(orders)}): return MISSED"

    def orders(self, path: str, value: Any) -> Iterator[str]:
        """Tests of the order of keys in dicts, which the structure does not tell."""
        if type(value) is dict:
            yield f"list({path}) == {self.constant(list(value))}"
            for k, x in value.items():
                yield from self.orders(f"{path}[{self.constant(k)}]", x)
        elif isinstance(value, (list, tuple)):
            for k, x in enumerate(value):
                yield from self.orders(f"{path}[{k}]", x)

    def tests(self, k: int, x: Any) -> Iterator[str]:
        """Tests of a leaf: it has the same key."""
        key = leaf_key(x)
        if isinstance(key, type):
            yield f"type(a{k}) is {self.constant(key)}"
        elif isinstance(key, int):
            yield f"a{k} is {self.constant(x)}"
        elif isinstance(x, np.ndarray):
            dtype, *shape = key
            yield f"type(a{k}) is ndarray"
            yield f"a{k}.dtype is {self.constant(np.dtype(dtype.char))}"
            yield f"len(s{k} := a{k}.shape) == {len(shape)}"
            for axis, n in enumerate(shape):
                yield f"s{k}[{axis}] > 1" if n > 1 else f"s{k}[{axis}] == {n}"
        else:
            yield f"type(a{k}) is {self.constant(key[0])}"
            yield f"a{k} == {self.constant(key[1])}"

    def values(self) -> Iterator[str]:
        """Tests of numbers and lengths that the program knows."""
        for k, value in self.found.static:
            yield f"{self.constant(same)}({self.constant(value)}, a{k})"
        yield from (f"s{k}[{axis}] == {n}" for k, axis, n in self.found.axes)

    def outside(self) -> Iterator[str]:
        """Tests of what is read from outside."""
        yield from (f"{self.constant(g.holds)}()" for g in self.found.staged.guards)
        for get, key in self.found.captured:
            yield f"{self.constant(leaf_key)}({self.constant(get)}()) == {self.constant(key)}"

    def sizes(self) -> Iterator[str]:
        """Tests of how sizes are related."""
        relations = self.found.staged.sizes
        texts = [(self.size(a), relation, self.size(b)) for relation, a, b in relations]
        if any(None in text for text in texts):
            yield f"{self.constant(self.found.sizes_hold)}(leaves)"
        else:
            yield from (f"{a} {relation} {b}" for a, relation, b in texts)

    def size(self, size: dims.Size) -> str | None:
        """A size as an expression of the leaves; None if it is not one."""
        homes = self.found.staged.decisions.homes
        read = {}
        for symbol in dims.symbols(size):
            k, axis = homes.get(symbol, ("", 0))
            if not isinstance(k, int):
                return None
            read[symbol] = dims.symbol(f"int(a{k})" if axis < 0 else f"s{k}[{axis}]")
        return str(dims.substitute(size, read.get))

    def memory(self) -> Iterator[str]:
        """Tests of how arrays lie in memory, and that they may be overwritten."""
        if self.found.staged.orders or self.found.staged.overwritten:
            yield f"{self.constant(self.found.memory_holds)}(leaves)"

    # -- the call

    def result(self) -> str:
        found = self.found
        if found.is_plain:
            named = "".join(f", kwargs[{name!r}]" for name in found.keywords or ())
            return f"run(*args{named})"
        return f"{self.constant(found)}(args, kwargs)"
