"""Writes a page that shows a function's source beside the code emitted for it, lines linked."""

from __future__ import annotations

import contextlib
from argparse import ArgumentParser, Namespace
from pathlib import Path

from tapeless.tools.errors import writing
from tapeless.tools.overwriting import check_not_of_the_user
from tapeless.tools.page.content import view_of
from tapeless.tools.page.html import page
from tapeless.tools.page.serve import PageServer
from tapeless.tools.target import CommandTarget, add_target
from tapeless.tools.transform import add_transform
from tapeless.tools.user_output import printing_aside

EXAMPLES = """\
examples:
  tapeless view models.py:logistic --transform 'jit(grad)' -o page.html
  tapeless view models.py:loss --args "{w: f8[3,2], b: f8[2]}, f8[100,3]" > page.html
  tapeless view models.py:logistic --serve
  tapeless view models.py:loss --args "f8[1000], f8[1000]" --profile -o page.html
"""


def describe(parser: ArgumentParser) -> None:
    """Add the command's options."""
    add_target(parser)
    add_transform(parser)
    parser.add_argument(
        "--profile",
        action="store_true",
        help="the function is called with the arguments for a fraction of a second, and a flame "
        "graph shows where the time of array form goes",
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="the page is written there (default: to standard output)",
    )
    output.add_argument(
        "--serve",
        action="store_true",
        help="the page is served to browsers of this machine at the address that is printed, until "
        "Ctrl-C",
    )


def execute(options: Namespace) -> int:
    """Write the page."""
    if options.output is not None:
        check_not_of_the_user(options.output)
    target = CommandTarget.of_options(options, lambda args: (0,) if args else (-1,))
    with printing_aside():
        text = page(view_of(target, options.transform, options.profile))
    if options.serve:
        return _serve(text)
    if options.output is None:
        print(text, end="")
        return 0
    with writing(options.output):
        options.output.write_text(text, encoding="utf-8")
    return 0


def _serve(text: str) -> int:
    with PageServer(text) as server:
        print(server.address, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    return 0
