"""Applies the transformations that a command line asks for, as `jit,grad` or `jit(grad)`."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

import tapeless
from tapeless.tools.target import CommandTarget

DERIVATIVES = ("grad", "value_and_grad", "jacfwd", "jacrev", "hessian")
TRANSFORMS = ("jit", *DERIVATIVES, "vmap")


def add_transform(parser: ArgumentParser) -> None:
    """The option --transform."""
    parser.add_argument(
        "--transform",
        metavar="NAMES",
        type=transforms,
        default=("jit",),
        help=f"what is done to the function, the outermost first, some of {', '.join(TRANSFORMS)}, "
        "as jit,vmap,grad or jit(vmap(grad)) (default: jit)",
    )


def transforms(text: str) -> tuple[str, ...]:
    """The names, the outermost first.

    >>> transforms("jit(vmap(grad))"), transforms("jit, grad")
    (('jit', 'vmap', 'grad'), ('jit', 'grad'))
    """
    inner, closing = re.fullmatch(r"(.*?)([)\s]*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    if ")" in inner or inner.count("(") != closing.count(")"):
        raise ArgumentTypeError(f"the parentheses of {text!r} do not match, as in jit(grad)")
    names = tuple(name.strip() for name in re.split(r"[,(]", inner))
    for name in names:
        if name not in TRANSFORMS:
            raise ArgumentTypeError(f"{name!r} is none of {', '.join(TRANSFORMS)}")
    return names


def transform(target: CommandTarget, names: tuple[str, ...]) -> Any:
    """The function of a target under these transformations."""
    function: Any = target.function
    for name in reversed(names):
        by = {"argnums": target.argnums} if name in DERIVATIVES else {}
        function = getattr(tapeless, name)(function, **by)
    return function
