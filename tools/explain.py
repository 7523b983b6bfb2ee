"""Print, line by line, what runs a function: kernels, libraries or Python, and what it costs."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import Any

import tapeless
from tapeless.tools.target import Target, add_target

EXAMPLES = """\
examples:
  tapeless explain models.py:logistic
  tapeless explain models.py:loss --args "{w: f8[3,2], b: f8[2]}, f8[100,3]" --transform jit,grad
  tapeless explain models.py:simulate --transform value_and_grad
"""
DERIVATIVES = ("grad", "value_and_grad")
TRANSFORMS = ("jit", *DERIVATIVES, "vmap")


def describe(parser: ArgumentParser) -> None:
    """Add the command's options."""
    add_target(parser)
    parser.add_argument(
        "--transform",
        metavar="NAMES",
        type=_transforms,
        default=("jit",),
        help=f"what is done to the function, the outermost first, some of {', '.join(TRANSFORMS)} "
        "(default: jit)",
    )


def execute(options: Namespace) -> int:
    """Print the report."""
    target = Target.of(options, lambda args: (0,) if args else (-1,))
    function: Any = target.function
    for name in reversed(options.transform):
        by = {"argnums": target.argnums} if name in DERIVATIVES else {}
        function = getattr(tapeless, name)(function, **by)
    print(function.explain(*target.args))
    return 0


def _transforms(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in TRANSFORMS:
            raise ArgumentTypeError(f"{name!r} is none of {', '.join(TRANSFORMS)}")
    return names
