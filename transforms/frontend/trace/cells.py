"""Represents the contents of a symbol: a cell or a view of one, so that aliasing means what it does
in NumPy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tapeless.transforms.core.builder import current, defining_statement
from tapeless.transforms.core.language import Atom, Block, Effect, If, Type, Var
from tapeless.transforms.errors import AliasError, UndefinedError
from tapeless.transforms.frontend.trace.journals import Location
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.primitives.comparisons_and_rounding import logical_not
from tapeless.transforms.ops.primitives.identities import identity


class Cell:
    """The present value of an array that Python code can overwrite."""

    __slots__ = ("__weakref__", "atom", "birth", "flag", "functional", "made")

    def __init__(self, value: Atom) -> None:
        self.atom = self.made = value  # what it holds now, and held at first
        self.birth = next(trace().serials)
        self.flag: Atom | None = None  # false where the variable is not defined
        self.functional = False  # `x += v` makes a new array of it, as of JAX's


def named_like(old: Any, new: Any) -> Any:
    """What a cell gets is called like what it held, if it has no name."""
    if isinstance(new, Var) and isinstance(old, Var):
        new.name = new.name or old.name
    return new


def _as_root(new: Any) -> Any:
    """The new value of an array that views lead to. One that is computed as a view, as x is of what
    a store to x[::-1] made, gets a name of its own: a view of it, x[:], would be combined with it
    into one of something else, and stores to that would not reach x."""
    let = defining_statement(new)
    if let is None or not let.op.view:
        return new
    root = Var(new.type)
    current().let((root,), identity, (new,), {})
    return root


class CellLocation(Location):
    def __init__(self, cell: Cell) -> None:
        self.cell, self.key, self.birth = cell, ("cell", id(cell)), cell.birth

    def get(self) -> Any:
        return self.cell.atom

    def set(self, value: Any) -> None:
        self.cell.atom = value


class MaybeUndefined(NamedTuple):
    """What may be the matter with a variable: where `flag` is false, it is not set, or None."""

    name: str
    flag: Atom | None  # None: found to be true
    none: bool = False
    origin: Any = None  # the branch that makes it so
    owner: str = ""  # of an attribute: the class of the object

    def error(self) -> Exception:
        """What Python raises where it is read."""
        if self.none:
            return TypeError(f"'{self.name}' is None here, and a number is needed")
        if self.owner:
            return AttributeError(f"'{self.owner}' object has no attribute '{self.name}'")
        return UnboundLocalError(_unset_message(self.name))


class Value:
    """An array or scalar in a cell, or a view of an array in a cell."""

    __slots__ = (
        "__weakref__",
        "cell",
        "chain",
        "is_array",
        "kind",
        "listing",
        "parent",
        "read_only",
        "undefined",
        "viewed_whole",
    )

    def __init__(
        self,
        value: Atom | None = None,
        parent: Value | None = None,
        chain: Any = (),
        is_array: bool = False,
        kind: Type | None = None,
    ) -> None:
        self.cell = Cell(value) if value is not None else None
        self.parent, self.chain = parent, chain
        self.is_array, self.kind = is_array, kind  # kind: the type of a view
        self.undefined: MaybeUndefined | None = None
        self.listing: Any = None  # of an array in the place of a list that loops filled: its tail
        self.read_only = False
        self.viewed_whole = False  # a view of all of it, as v[:], is this value, too

    def __copy__(self) -> Value:
        """Another object for the same memory."""
        other = object.__new__(type(self))
        for name in Value.__slots__[1:]:
            setattr(other, name, getattr(self, name))
        return other

    # -- value

    def value(self) -> Atom:
        if self.undefined is not None:
            self._check_defined()
        return self.present()

    def present(self) -> Atom:
        """The present value, without asking whether the variable is defined."""
        t = trace()
        if self.parent is None:
            assert self.cell is not None
            if self.cell in t.memory.stale:
                if t.decisions is not None:
                    t.decisions.aliased = True
                name = getattr(self.cell.atom, "name", "")
                raise AliasError(
                    f"{repr(name) if name else 'this array'} {t.memory.stale[self.cell]}",
                    "copy the array where it gets its second name" + (name and f": {name}.copy()"),
                )
            return self.cell.atom
        base = self.parent.value()
        for op, rest, params in self.chain:
            base = op(base, *rest, **params)
        return base

    def _check_defined(self) -> None:
        assert self.undefined is not None
        flag, t = self.undefined.flag, trace()
        if flag is None or any(b is t.flags.checked.get(flag) for b in t.blocks):
            return
        t.flags.checked[flag] = t.blocks[-1]  # all that follows in the block, and in blocks inside
        if len(t.blocks) == 1:
            self.undefined = self.undefined._replace(flag=None)
        error = self.undefined.error()
        if t.decides(error, lambda: logical_not(flag)):
            return
        parts = (("value", str(error)),)
        fail = Effect("raise", (), {"type": type(error), "parts": parts}, t.origin)
        t.emit(If((), flag, Block((), (), ()), Block((), (fail,), ()), None, t.origin))

    def write(self, new: Atom) -> None:
        if self.frozen:
            raise AliasError("assignment destination is read-only", "copy the array first")
        if self.parent is not None:
            if not self.chain:
                self.parent.write(new)
                return
            values = [self.parent.value()]
            for op, rest, params in self.chain[:-1]:
                values.append(op(values[-1], *rest, **params))
            for (op, rest, params), base in zip(
                reversed(self.chain), reversed(values), strict=True
            ):
                new = op.put(base, new, rest, params)
            self.parent.write(new)
            return
        assert self.cell is not None
        self.value()
        lent = trace().memory.loans.places.get(self.cell)
        lent = lent if lent is not None and lent.present() else None
        trace().touch(CellLocation(self.cell))
        trace().memory.stored_to(self.cell)
        before = self.cell.atom
        self.cell.atom = named_like(before, _as_root(new))
        if lent is not None:
            lent.store(self.cell.atom)
        if isinstance(new, Var) and new.type.ndim > 1:  # it lies where the array does
            trace().orders.chosen.setdefault(new, ("=", before))

    @property
    def type(self) -> Type:
        if self.parent is None and self.cell is not None:
            return self.cell.atom.type  # type: ignore[no-any-return]
        assert self.kind is not None
        return self.kind

    @property
    def frozen(self) -> bool:
        """Whether NumPy refuses stores: of arguments, and of views such as np.broadcast_to."""
        return self.read_only or any(op.put is None for op, _, _ in self.chain)

    @property
    def mutable(self) -> bool:
        return self.is_array or bool(self.type.shape)

    @property
    def functional(self) -> bool:
        """Whether `x += v` gives the name a new array."""
        return any(getattr(m, "functional", False) for m in self.memory())

    def memory(self) -> set[Any]:
        """What may be its memory: cells that were made apart from all others."""
        root = self if self.parent is None else self.parent
        return root.memory() if root.cell is None else trace().memory.memories_of(root.cell)

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the array whose memory it has, and no view of a part."""
        return self.parent is None or (not self.chain and self.parent.is_whole)

    def __mro_entries__(self, bases: Any) -> Any:
        raise TypeError("an array or a number is no class, and has no subclasses")

    def base_cell(self) -> Cell:
        symbol: Value = self
        while symbol.parent is not None:
            symbol = symbol.parent
        if symbol.cell is None:
            raise AliasError(
                "an array is one of several here, told apart when the program runs",
                "copy the array where it gets its second name",
            )
        return symbol.cell


def undefined_error(name: str) -> UndefinedError:
    return UndefinedError(
        _unset_message(name), "give it a value before the branch or loop that may not"
    )


def _unset_message(name: str) -> str:
    """CPython's words."""
    return f"cannot access local variable '{name}' where it is not associated with a value"
