"""Renames what a function of Python calls by a word that means something in C.

def f(int, β): ...      becomes      def f(int_, beta): ...
"""

from __future__ import annotations

import ast
import copy
import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Mapping

from tapeless.transforms.python_text.tree_walk import names_in

WORD = re.compile(r"(?<!->)\b[A-Za-z_]\w*")
#: A string, or a comment.
APART = re.compile(r'("(?:[^"\\\n]|\\.)*")|//.*')


def without_texts(text: str) -> str:
    """A text of C without comments, and without what is in strings.

    >>> without_texts('f("x // y", z);  // line 3')
    'f("", z);  '
    """
    return APART.sub(lambda m: '""' if m[1] else "", text)


def words(text: str) -> set[str]:
    """The names in a text of C, without those of fields: `x` is none of `record->x`."""
    return set(WORD.findall(without_texts(text)))


def names_and_parameters(node: ast.AST) -> set[str]:
    """The names of variables and parameters in a function."""
    return names_in(node) | {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}


def is_called(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == name
        for e in ast.walk(node)
    )


def other_names(names: set[str], taken: set[str] | frozenset[str]) -> dict[str, str]:
    """Other names for these, which mean something in C, or which it cannot have."""
    others: dict[str, str] = {}
    for name in sorted(names):
        other = f"{name}_" if name.isascii() else ascii_name(name)
        while other in taken or other in others.values():
            other += "_"
        others[name] = other
    return others


def rename_kernel(
    node: ast.FunctionDef,
    functions: Container[str],
    reserved: Callable[[Iterable[str]], set[str]],
) -> tuple[ast.FunctionDef, dict[str, str], set[str]]:
    """A kernel with names that C can have, the new names by the old ones, and all names that are
    taken. Functions that it calls, such as `functions`, keep their names."""
    names = names_in(node)
    refused = reserved(names)
    variables = {n for n in names & refused if n not in functions and not is_called(node, n)}
    others = other_names(variables, names | refused)
    copied = Renaming(others).visit(copy.deepcopy(node))
    copied.name = ascii_name(node.name)
    return copied, others, names | refused | set(others.values())


def rename_reserved(
    node: ast.FunctionDef, reserved: Callable[[Iterable[str]], set[str]]
) -> ast.FunctionDef:
    """A function whose variables have names that C can have; `reserved` picks those it cannot."""
    names = names_in(node)
    refused = reserved(names)
    other = other_names({n for n in names & refused if not is_called(node, n)}, names | refused)
    copied: ast.FunctionDef = Renaming(other).visit(copy.deepcopy(node))
    return copied


def ascii_name(name: str) -> str:
    """A name with the letters of another alphabet spelled out.

    >>> ascii_name("Δx"), ascii_name("β_2")
    ('Deltax', 'beta_2')
    """
    return "".join(c if c.isascii() else _spell(c) for c in name)


def _spell(letter: str) -> str:
    """The last word of a letter's name."""
    word = unicodedata.name(letter, f"u{ord(letter):x}").split()[-1]
    word = "".join(c for c in word if c.isalnum())
    return word.capitalize() if letter.isupper() else word.lower()


class Renaming(ast.NodeTransformer):
    """Puts other names in the place of variables and parameters."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, e: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.names.get(e.id, e.id), e.ctx), e)

    def visit_arg(self, a: ast.arg) -> ast.arg:
        return ast.copy_location(ast.arg(self.names.get(a.arg, a.arg)), a)


def fresh_name(stem: str, taken: set[str]) -> str:
    """A name that nothing else has; from now on it is taken."""
    name, k = stem, 2
    while name in taken:
        name, k = f"{stem}_{k}", k + 1
    taken.add(name)
    return name
