"""Defines np.einsum: linear in each operand, and its transpose is an einsum again."""

from __future__ import annotations

import functools
import string
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import join
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Literal, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.numpy.diagonals import diagonal
from tapeless.transforms.ops.primitives.arithmetic import add, mul
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.new_arrays import eye
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    broadcast_to,
    cast_to,
    reshape,
    sum_to,
    transpose,
)


def _sizes(inputs: list[str], shapes: list[tuple[Size, ...]]) -> dict[str, Size]:
    """The length of the axis that each letter stands for."""
    length_of: dict[str, Size] = {}
    for letters, shape in zip(inputs, shapes, strict=True):
        if len(letters) != len(shape):
            raise ValueError(
                f"einstein sum subscripts string {letters!r} does not fit an operand "
                f"with {len(shape)} axes"
            )
        for letter, size in zip(letters, shape, strict=True):
            length_of[letter] = join(length_of.get(letter, 1), size)
    return length_of


def _split(subscripts: str) -> tuple[list[str], str]:
    left, _, right = subscripts.partition("->")
    return left.split(","), right


def _infer(*operands: Atom, subscripts: str, optimize: bool) -> Type:
    inputs, output = _split(subscripts)
    sizes = _sizes(inputs, [a.type.shape for a in operands])
    dtype = np.result_type(*(a.type.dtype for a in operands))
    return Type(dtype, tuple(sizes[letter] for letter in output))


def _source(args: Atoms, params: Params) -> str:
    places = ", ".join(f"{{{k}}}" for k in range(len(args)))
    faster = ", optimize=True" if params["optimize"] else ""
    return f"np.einsum({params['subscripts']!r}, {places}{faster})"


def _jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    terms = [
        einsum(*primals[:k], t, *primals[k + 1 :], **params)
        for k, t in enumerate(tangents)
        if t is not None
    ]
    return (functools.reduce(add, terms) if terms else None,)


def _transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    inputs, output = _split(params["subscripts"])
    sizes = _sizes(inputs, [a.type.shape for a in args])
    return tuple(
        _operand_bar(ct, args, inputs, output, k, sizes) if used else None
        for k, used in enumerate(linear)
    )


def _operand_bar(
    ct: Atom, args: Atoms, inputs: list[str], output: str, k: int, sizes: dict[str, Size]
) -> Any:
    """The cotangent of operand k: its letters become the output. A letter that stands twice in the
    operand asks for a diagonal, one that stands nowhere else for a repeated value."""
    operands = [*args[:k], *args[k + 1 :]]
    letters = [*inputs[:k], *inputs[k + 1 :]]
    unused = (c for c in string.ascii_letters if c not in sizes)
    target = ""
    for letter in inputs[k]:
        if letter in target:
            twin = next(unused)
            n = sizes[letter]
            operands.append(eye(sides=(n, n), k=0, dtype=ct.type.dtype))
            letters.append(letter + twin)
            sizes = {**sizes, twin: n}
            letter = twin
        target += letter
    factor = not output and bool(operands)
    if not factor:
        operands, letters = [ct, *operands], [output, *letters]
    operand_letters = set("".join(letters))
    kept_letters = "".join(c for c in target if c in operand_letters)
    cotangent = _einsum_of(operands, letters, kept_letters)
    cotangent = mul(ct, cotangent) if factor else cotangent
    lengths = dict(zip(kept_letters, cotangent.type.shape, strict=True))
    shape = tuple(lengths.get(c, 1) for c in target)
    cotangent = cotangent if kept_letters == target else reshape(cotangent, shape=shape)
    full = tuple(sizes[c] for c in target)
    if any(n == 1 != m for n, m in zip(shape, full, strict=True)):  # operands may be broadcast
        cotangent = broadcast_to(cotangent, shape=full)
    return sum_to(cotangent, args[k].type)


def _einsum_of(operands: list[Atom], letters: list[str], output: str) -> Any:
    if len(operands) == 1 and letters[0] == output:
        return operands[0]
    subscripts = f"{','.join(letters)}->{output}"
    return einsum(*operands, subscripts=subscripts, optimize=len(operands) > 2)


def _batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    """The batch is one more letter."""
    inputs, output = _split(params["subscripts"])
    new = next(c for c in string.ascii_letters if c not in params["subscripts"])
    letters = [i if k is None else i[:k] + new + i[k:] for i, k in zip(inputs, axes, strict=True)]
    subscripts = f"{','.join(letters)}->{new}{output}"
    return op(*args, subscripts=subscripts, optimize=params["optimize"]), 0


einsum = Op("einsum", _infer, _source, _jvp, _transpose, costly=True, batch=_batch)


# The NumPy function ----------------------------------------------------------------------------


def _explicit(subscripts: str, ndims: list[int]) -> str:
    """Subscripts with an output and without ellipses."""
    text = subscripts.replace(" ", "")
    operands, arrow, output = text.partition("->")
    inputs = operands.split(",")
    if len(inputs) != len(ndims):
        raise ValueError(
            "more operands provided to einstein sum function than specified in the "
            "subscripts string"
            if len(inputs) < len(ndims)
            else "fewer operands provided to einstein sum function than specified in the "
            "subscripts string"
        )
    free = [c for c in string.ascii_letters if c not in text]
    extras = [
        n - len(i.replace("...", "")) for i, n in zip(inputs, ndims, strict=True) if "..." in i
    ]
    shared = free[: max(extras, default=0)]

    def expand(letters: str, n: int) -> str:
        return letters.replace("...", "".join(shared[len(shared) - n :]))

    inputs = [
        expand(i, n - len(i.replace("...", ""))) if "..." in i else i
        for i, n in zip(inputs, ndims, strict=True)
    ]
    if arrow:
        if shared and "..." not in output:
            raise ValueError(
                "output has more dimensions than subscripts given in einstein sum, but no '...' "
                "ellipsis provided to broadcast the extra dimensions."
            )
        output = expand(output, len(shared))
        for c in output:
            if output.count(c) > 1:
                raise ValueError(
                    f"einstein sum subscripts string includes output subscript {c!r} multiple times"
                )
            if c not in "".join(inputs):
                raise ValueError(
                    f"einstein sum subscripts string included output subscript {c!r} which never "
                    "appeared in an input"
                )
    else:
        letters = "".join(inputs)
        once = sorted(c for c in set(letters) - set(shared) if letters.count(c) == 1)
        output = "".join(shared) + "".join(once)
    return f"{','.join(inputs)}->{output}"


NUMBERED = string.ascii_uppercase + string.ascii_lowercase  # as NumPy does, which sorts them


def _as_text(*operands: Any) -> tuple[str, tuple[Any, ...]]:
    """Operands that are each followed by a list of integers for its axes, as letters instead."""

    def letters(axes: Any) -> str:
        return "".join("..." if k is Ellipsis else NUMBERED[k] for k in axes)

    pairs = len(operands) // 2 * 2
    inputs = ",".join(map(letters, operands[1:pairs:2]))
    output = "".join(f"->{letters(axes)}" for axes in operands[pairs:])
    return inputs + output, operands[:pairs:2]


def _einsum(
    subscripts: Any,
    *operands: Any,
    out: Any = None,
    dtype: Any = None,
    order: str = "K",
    casting: str = "safe",
    optimize: Any = False,
) -> Any:
    if not isinstance(subscripts, str):
        subscripts, operands = _as_text(subscripts, *operands)
    atoms = [as_array(a) for a in operands]
    if dtype is not None:
        atoms = [cast_to(a, np.dtype(dtype)) for a in atoms]
    atoms = [reshape(a, shape=()) if isinstance(a, Literal) else a for a in atoms]
    explicit = _explicit(subscripts, [a.type.ndim for a in atoms])
    inputs, output = _split(explicit)
    if len(atoms) == 1 and {*inputs[0]} == {*output}:
        _sizes(inputs, [atoms[0].type.shape])
        return _view(atoms[0], inputs[0], output)
    return einsum(*atoms, subscripts=explicit, optimize=bool(optimize))


def _view(x: Atom, letters: str, output: str) -> Any:
    """Axes in another order; a letter that stands twice gives a diagonal. NumPy copies nothing."""
    while (twice := next((c for c in letters if letters.count(c) > 1), None)) is not None:
        first = letters.index(twice)
        second = letters.index(twice, first + 1)
        rest = [k for k in range(len(letters)) if k not in (first, second)]
        x = diagonal(transpose(x, axes=(*rest, first, second)), k=0)
        letters = "".join(letters[k] for k in rest) + twice
    return transpose(x, axes=tuple(map(letters.index, output)))


NUMPY = {np.einsum: _einsum}
