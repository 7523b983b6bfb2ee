"""Reads an elementwise function of eigenvalues as a function of one eigenvalue and of parameters.

exp(-beta * w)      becomes      the function of w and beta that is exp(-(beta * w))
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.autodiff.contractions import (
    Label,
    broadcast_operand_labels,
    reshaped_labels,
)
from tapeless.transforms.core.language import Atom, Let, Literal, Type, Var
from tapeless.transforms.ops.primitives.elementwise import imag, real
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.shapes import broadcast_to, cast, reshape


class Scalars:
    """Records elementwise functions of eigenvalues as operations on one of them.

    values, axes            the eigenvalues, and the labels of their axes
    eigenvalue, parameters  the variables of what is recorded
    """

    def __init__(self, defined: dict[Any, Let], values: Var, axes: tuple[Label, ...]) -> None:
        self.defined, self.axes = defined, axes
        self.eigenvalue = Var(Type(values.type.dtype))
        self.given: dict[Atom, tuple[Var, tuple[Label, ...]]] = {}
        self.values: dict[Atom, Any] = {values: self.eigenvalue}

    @property
    def parameters(self) -> list[Var]:
        return [parameter for parameter, _ in self.given.values()]

    def arguments(self) -> list[Any]:
        """The values of the parameters: numbers, or one for each matrix of a stack."""
        values = []
        for a, (_, labels) in self.given.items():
            shape = tuple(n for n, x in zip(a.type.shape, labels, strict=True) if x is not None)
            values.append(reshape(a, shape=shape) if None in labels else a)
        return values

    def scalar_of(self, a: Atom, labels: tuple[Label, ...]) -> Any:
        """The value for one eigenvalue; None if that is not all it depends on."""
        present = tuple(x for x in labels if x is not None)
        if isinstance(a, Literal):
            return a
        if self.axes[-1] not in present:
            return self.parameter(a, labels) if present in ((), self.axes[:-1]) else None
        if a not in self.values:
            self.values[a] = self.compute(a, labels)
        return self.values[a] if present == self.axes else None

    def parameter(self, a: Atom, labels: tuple[Label, ...]) -> Var:
        if a not in self.given:
            weak = a.type.weak
            self.given[a] = (Var(Type(a.type.dtype, (), weak), getattr(a, "name", "")), labels)
        return self.given[a][0]

    def compute(self, a: Atom, labels: tuple[Label, ...]) -> Any:
        let = self.defined.get(a) if isinstance(a, Var) else None
        if let is None or len(let.outs) != 1:
            return None
        if let.op in (broadcast_to, identity):
            return self.scalar_of(let.args[0], broadcast_operand_labels(let.args[0], labels, a))
        if let.op is reshape:
            places = reshaped_labels(let.args[0].type.shape, let.params["shape"], labels)
            return None if places is None else self.scalar_of(let.args[0], places[0])
        if not (let.op.elementwise or let.op in (cast, real, imag)):
            return None
        args = [self.scalar_of(x, broadcast_operand_labels(x, labels, a)) for x in let.args]
        if any(x is None for x in args):
            return None
        value = let.op(*args, **let.params)
        if isinstance(value, Var):
            value.name = value.name or let.outs[0].name
        return value
