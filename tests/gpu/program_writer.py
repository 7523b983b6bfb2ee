"""Writes random array programs from templates, statement by statement.

A statement that NumPy cannot run on the first arguments is left out. In templates

    {A}             is any expression, {a} the name of an array, {a1} the same name wherever it is
    {+z}            is the name of a new array, {*k} a name for the statement itself
    {s} {S} {x} {y} {t} {k} {O}     are an entry of PARTS
    {block}         is a further statement
"""

from __future__ import annotations

import copy
import importlib.util
import random
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HEADER = """import numpy as np


def softened(e):
    t = np.exp(-np.abs(e - e.mean(axis=0)))
    return t / (1 + t.sum(axis=-1, keepdims=True))


def halved(e, factor):
    e[:1] *= factor
    e[1:] += e[:-1] * factor
    return e.sum(axis=0)


def folded(e):
    if e.shape[0] <= 1:
        return e.sum(axis=0) * 1.0
    half = e.shape[0] // 2
    return folded(e[:half]) - 0.5 * folded(e[half:])


def f(a, b, c, d, i, j, q, s, p):
"""
EXPRESSIONS = """np.sin({A}) | -{A} | np.abs({A}) | {A} ** 2 | np.sqrt(np.abs({A}))
np.exp(-np.abs({A})) | {A} + {A} | {A} - {A} | {A} * {A} | {A} / (2 + np.abs({A})) | {A} // 2
{A} % 3 | {A} > {A} | np.maximum({A}, {A}) | {s} - {A} | {A} + p | {A}.astype(np.{t})
np.where({A} > 0, {A}, {A}) | np.round({A}) | np.sum({A}, axis={x}{k}) | np.max({A}, axis={x}{k})
np.mean({A}, axis={x}{k}) | np.prod(np.cos({A}), axis={x}{k}) | np.any({A} > 0, axis={x}{k})
np.std({A}, axis={x}{k}) | np.argmax({A}, axis={y}{k}) | np.argmin(np.floor({A}))
np.cumsum({A}, axis={y}) | np.sort({A}, axis={y}) | np.argsort({A}, axis={y}, kind="stable")
np.diff({A}, axis={y}) | np.flip({A}, {y}) | np.roll({A}, p, axis={y})
np.concatenate([{A}, {A}], axis={y}) | np.stack([{A}, {A}], axis={y}) | {A}.T
np.swapaxes({A}, 0, -1) | np.moveaxis({A}, 0, -1) | np.transpose({A}, (2, 0, 1)) | np.ravel({A})
{a1}.reshape({a1}.shape[0], -1) | {a1}.reshape({a1}.shape[::-1]) | {a1}.T.reshape({a1}.shape)
np.tile({A}, 2) | {a}[{S}] | {a}[{S}, {S}] | {a}[..., {S}] | {a}[:, {S}] | {a}[{S}, ..., {S}]
{a}[..., None] | {a}[:, None] | {a}[None] | {a1}[i % {a1}.shape[0]] | {a1}[:, j % {a1}.shape[1]]
{a1}[i[:, None] % {a1}.shape[0], j % {a1}.shape[1]] | {a1}[q[: {a1}.shape[0]]] | {a1}[{a1} > 0.3]
{a1}[-1 - i % {a1}.shape[0]] | {a1}[np.argsort({a1}[..., 0])] | {A} @ {A}
{A} @ np.swapaxes({A}, -1, -2) | np.outer({A}, {A}) | np.einsum("ij,kj->ki", {A}, {A})
np.dot({A}, {A}) | np.linalg.solve({a1}.T @ {a1} + 5 * np.eye({a1}.shape[1]), {a1}.T)
np.triu({A}, 1) | np.diagonal({A}) | np.pad({A}, 1) | np.zeros({a}.shape)
np.arange({a1}.shape[0]) * {s} | softened({A}) | folded({A}) | halved(np.sin({A}), {s})"""
STORES = """{a1}[1:] {O} {a1}[:-1] | {a1}[:-1] {O} {a1}[1:] | {a1}[::-1] {O} {a1}
{a1}[..., 1:] {O} {a1}[..., :-1] | {a1}[1:, :-1] {O} {a1}[:-1, 1:] | {a1} {O} {a1}[:1]
{a1}[0] {O} {a1}.sum(axis=0) | {a1} += {a1}.T | {a1}[:] = {a1}.T | {a1}[1::2] {O} {a1}[:-1:2]
{a1} -= {a1}.mean(axis=-1, keepdims=True) | {a1}[1:-1] = 0.5 * ({a1}[:-2] + {a1}[2:])
{a}[{S}] {O} {A} | {a}[{S}] {O} {s} | {a}[{S}, {S}] {O} {s} | {a}[:, {S}] {O} {A}
{a1}[{S}] {O} {a1}[{S}] | {a}.T[{S}] {O} {A} | {a1}[i % {a1}.shape[0]] = {A}
{a1}[i % {a1}.shape[0]] += {A} | {a1}[i % {a1}.shape[0], i % {a1}.shape[1]] = i * 1.5
{a1}[i % {a1}.shape[0]] = {a1}[(i + 1) % {a1}.shape[0]] | np.add.at({a1}, i % {a1}.shape[0], {A})
{a1}[{a1} > 0.3] {O} {s} | np.add.at({a1}, (i % {a1}.shape[0], i % {a1}.shape[1]), {s})
{a1}[q[: {a1}.shape[0]]] {O} {A} | {a1}[[0, -1]] = {a1}[[-1, 0]] | {+z} = {a}[::-1] | {+z} = {a}.T
{+z} = {a} | {+z} = {a}[{S}] | {a1}, {a2} = {a2}, {a1}"""
NESTED = """if {a}.sum() > {s}:
    {block}
else:
    {block}

if {a1}.max() > 1:
    {a1} *= {s}

if {a1}.max() > 1:
    {a1} = {a2} * 1.5
{a1}[:] = {a1}[::-1]

for {*k} in range({a}.shape[0]):
    {block}

for {*k} in range(p):
    {block}

for {*k} in range(p):
    {a1}, {a2} = {a2}, {a1}
    {a1} += {a2}[::-1] * 0.5

for {*k} in range({a1}.shape[0]):
    {a1}[{*k}] {O} {A}

for {*k} in range(1, {a1}.shape[0]):
    {a1}[{*k}] {O} {a1}[{*k} - 1] * 0.5

for {*k} in range({a1}.shape[1]):
    {a1}[:, {*k}] {O} {a1}[:, 0]

for {*k} in range({a1}.shape[0]):
    for {*m} in range(1, {a1}.shape[1]):
        {a1}[{*k}, {*m}] {O} {a1}[{*k}, {*m} - 1]

for {*k} in range({a2}.shape[0]):
    {a1}[i[{*k} % len(i)] % {a1}.shape[0]] {O} {a2}[{*k}]

{+z} = np.zeros({a1}.shape[0])
for {*k} in range({a1}.shape[0]):
    {*u} = {a1}[{*k}].sum()
    if {*u} < {s}:
        continue
    {+z}[{*k}] = {a1}[{*k}].max() - {*u}
    if {*u} > 2:
        break

{+z} = np.zeros({a1}.shape[0])
for {*k} in range({a1}.shape[0]):
    {*u} = float({a1}[{*k}].sum())
    while abs({*u}) > 0.2:
        {*u} = {*u} * 0.6
    {+z}[{*k}] = {*u}

{+z} = np.zeros({a1}.shape[0])
for {*k} in range({a1}.shape[0]):
    for {*m} in range({*k}):
        {+z}[{*k}] += np.tanh({a1}[{*m}]).sum() * {s}

{*u} = [{a1}[0].max() * 1.5]
for {*k} in range({a1}.shape[0]):
    if {a1}[{*k}].sum() > {s}:
        {*u}.append({a1}[{*k}].max() * 1.5)
{+z} = np.array({*u})

{*u} = {"x": {A}, "y": {A}}
for {*k} in range(p):
    {*u}["x"] = {*u}["x"] * 0.5 + {s}
{+z} = {*u}["x"] - {*u}["y"]

{+z} = {A} * 1.0
{*k} = 0
while np.max(np.abs({+z})) > 0.5 and {*k} < 9:
    {+z} = {+z} * 0.7
    {*k} += 1

{+z} = {a1}[0] * 1.0
for {*k} in range({a1}.shape[0]):
    {+z} = {+z} * 0.5 + {a1}[{*k}]"""
#: S part of an axis, s number, t dtype, x axes or None, y axis, O how a value is stored.
PARTS = {
    "S": "1: :-1 ::2 ::-1 1:-1 -3: :2 1::2 : 0 -1 :0:-1 ::-2 ::3 2: -1: p: :p 5:2 -99:99",
    "s": "s s 0.5 -0.25 2 0.0 1.5 p",
    "t": "float32 float64 int32 int64 int8 uint8 uint32 bool_",
    "x": "None 0 -1 1 2 (0,1) (0,2) (1,2) (0,-1)",
    "y": "0 -1 1 2",
    "O": "= += -= *=",
    "k": " ,keepdims=True",
}
TOKEN = re.compile(r"\{([+*]?)([A-Za-z])(\d?)\}")
DTYPES = ["f8", "f8", "f8", "f8", "f4", "f4", "i8", "i4", "i1", "u1", "u4", "?", "c16"]
SHAPES = ["n", "nm", "nm", "nm", "lnm", "lnm", "m", "mn", "n1", "1m", "l1m", "klnm", "nn", "nn"]
SIZES = (1, 2, 3, 4, 5, 7)
LONG = (31, 33, 65, 130, 257)


def choices(text: str) -> list[str]:
    return [part.strip() for part in re.split(r" \| |\n", text)]


EXPRESSION, STORE, WITH_BLOCK = choices(EXPRESSIONS), choices(STORES), NESTED.split("\n\n")
LISTS = {kind: text.split(" ") for kind, text in PARTS.items()}


@dataclass
class Program:
    """The text of a module: a function `f`, and a sum `total` of what it makes.

    arguments  of several sizes
    """

    text: str
    arguments: list[tuple[Any, ...]]

    @property
    def tolerance(self) -> float:
        """How near results must be."""
        single = any(x.dtype == np.float32 for x in self.arguments[0][:4])
        return 1e-3 if single or "float32" in self.body else 1e-8

    @property
    def body(self) -> str:
        """The function alone."""
        start = self.text.index("def f(")
        return self.text[start : self.text.index("\n\n\n", start)]

    def module(self, folder: Path) -> Any:
        """The functions, in a file: tapeless reads their text there."""
        path = folder / "program.py"
        path.write_text(self.text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("program", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


class Writer:
    """Writes one program: `names` are its arrays, `lines` the statements until now."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.names = ["a", "b", "c", "d"]
        self.lines: list[str] = []

    def program(self, floats: bool = False) -> Program:
        """Some statements that NumPy runs; `floats` if gradients are wanted."""
        shapes = [self.random.choice(SHAPES) for _ in range(4)]
        dtypes = [self.random.choice(DTYPES[: 6 if floats else None]) for _ in range(4)]
        sizes = [{axis: self.random.choice(SIZES) for axis in "klmn"} for _ in range(3)]
        sizes[1] |= {"k": 1, "l": 2, self.random.choice("mn"): self.random.choice(LONG)}
        sizes[2] |= {self.random.choice("lmn"): self.random.choice((0, 1))}
        seed = self.random.randrange(1 << 30)
        arguments = [arguments_of(seed, shapes, dtypes, each) for each in sizes]
        wanted = self.random.randint(2, 6)
        for _ in range(40):
            wanted -= self.extended(arguments[0])
            if not wanted:
                break
        return Program(self.text(arguments[0]), arguments)

    def extended(self, args: tuple[Any, ...]) -> bool:
        """Whether one more statement was written."""
        names, lines = list(self.names), self.statement(0)
        try:
            values = run(self.lines + lines, args)
            if not all(map(bounded, (values[name] for name in self.names))):
                raise ValueError
        except Exception:  # noqa: BLE001  # a statement that NumPy does not run
            self.names = names
            return False
        self.lines += lines
        return True

    def text(self, args: tuple[Any, ...]) -> str:
        made = self.names[4:]
        results = made[-1:] + self.random.sample(self.names, min(2, len(self.names)))
        values = run(self.lines, args)
        summed = [f"np.sum(np.cos({x}))" for x in results if values[x].dtype.kind == "f"]
        body = "".join(f"    {line}\n" for line in self.lines)
        head = HEADER[HEADER.index("def f(") :].replace("f(", "total(", 1)
        return (
            f"{HEADER}{body}    return {', '.join(results)}\n\n\n"
            f"{head}{body}    return {' + '.join(summed) or '0.0'}\n"
        )

    def statement(self, depth: int) -> list[str]:
        kind = self.random.random()
        known: dict[str, str] = {}
        if kind < 0.4:
            return [self.filled("{+z} = {A}", known, 3)]
        if kind < 0.7 or depth > 1:
            return [self.filled(self.random.choice(STORE), known)]
        lines: list[str] = []
        for line in self.random.choice(WITH_BLOCK).split("\n"):
            pad = line[: len(line) - len(line.lstrip())]
            if line.strip() == "{block}":
                outside = list(self.names)
                lines += [pad + inner for inner in self.statement(depth + 1)]
                self.names = outside  # what a branch makes is not there behind it
            else:
                lines.append(self.filled(line, known))
        return lines

    def filled(self, template: str, known: dict[str, str], depth: int = 2) -> str:
        """A template with all its tokens written; a new name is known from the next one on."""
        text = TOKEN.sub(lambda match: self.token(match, known, depth), template)
        self.names += [v for k, v in known.items() if k == "+z" and v not in self.names]
        return text

    def token(self, match: re.Match[str], known: dict[str, str], depth: int) -> str:
        mark, kind, number = match.groups()
        key = mark + kind + number
        if key in known:
            return known[key]
        if kind == "A":
            deeper = depth > 1 and self.random.random() < 0.5
            return (
                self.filled(self.random.choice(EXPRESSION), {}, depth - 1)
                if deeper
                else self.name()
            )
        if mark:
            self.count += 1
            text = f"{kind}{self.count}"
        else:
            text = self.name() if kind == "a" else self.random.choice(LISTS[kind])
        if mark or number:
            known[key] = text
        return text

    def name(self) -> str:
        """An array, rather one of the last that were made."""
        return self.random.choice(self.names[-3:] if self.random.random() < 0.6 else self.names)


def run(lines: list[str], args: tuple[Any, ...]) -> dict[str, Any]:
    """What the variables of a program are in the end."""
    space: dict[str, Any] = {}
    body = "".join(f"    {line}\n" for line in lines)
    exec(f"{HEADER}{body}    return locals()\n", space)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return space["f"](*copy.deepcopy(args))


def bounded(value: Any) -> bool:
    """Whether a value is an array of moderate numbers."""
    if not isinstance(value, np.ndarray) or not value.ndim or value.size > 30000:
        return False
    if value.dtype == np.float16:
        return False  # GPUs refuse it
    return value.dtype.kind not in "fc" or bool(np.abs(value).max(initial=0) < 1e5)


def arguments_of(seed: int, shapes: list[str], dtypes: list[str], sizes: dict[str, int]) -> Any:
    """Four arrays, places, flags and two numbers."""
    rng = np.random.default_rng(seed)
    arrays = [
        array(rng, tuple(sizes.get(axis, 1) for axis in shape), np.dtype(dtype))
        for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    places = rng.integers(0, 9, max(sizes["n"], 1)), rng.integers(0, 9, max(sizes["m"], 1))
    return *arrays, *places, rng.random(300) > 0.4, 0.37, 3


def array(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    match dtype.kind:
        case "b":
            return rng.random(shape) > 0.5
        case "i" | "u":
            return rng.integers(-9 if dtype.kind == "i" else 0, 10, shape).astype(dtype)
        case "c":
            return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    return rng.normal(size=shape).astype(dtype)
