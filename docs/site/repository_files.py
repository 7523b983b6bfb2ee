"""Brings files of the repository that pages link to into the site, and points the links at them.

On GitHub `../README.md` leads out of `docs`; MkDocs knows nothing outside of it. Here the files
that pages link to are pages of the site, too, or files to load.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(\]\()([^)#:\s]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
#: A README is the first page of its folder, and the first page of the site is another one.
RENAMED = {"README.md": "about.md"}


def on_files(files: Files, config: Any) -> Files:
    """Adds what the navigation names and pages link to, and what that links to."""
    pages = {f"docs/{file.src_uri}" for file in files.documentation_pages()}
    reached = pages | {path for path in map(_path, _named(config.nav)) if (ROOT / path).is_file()}
    pending = sorted(reached)
    while pending:
        path = pending.pop()
        if path not in pages and files.get_file_from_path(uri(path)) is None:
            files.append(File.generated(config, uri(path), abs_src_path=str(ROOT / path)))
        new = _linked(path) - reached if path.endswith(".md") else set()
        pending += sorted(new)
        reached |= new
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Rewrites the links that lead from folder to folder."""
    source = _source(page.file)
    if not source:
        return markdown
    return outside_of_fences(lambda prose: _relinked(prose, source), markdown)


def uri(path: str) -> str:
    """The place of a file of the repository in the site."""
    return RENAMED.get(path, path.removeprefix("docs/"))


def _path(uri: str) -> str:
    """The file of the repository that a place of the navigation is."""
    for path, renamed in RENAMED.items():
        if uri == renamed:
            return path
    return f"docs/{uri}" if (ROOT / "docs" / uri).is_file() else uri


def _named(nav: Any) -> Iterator[str]:
    """The pages of a navigation: a text, or lists and dictionaries of such."""
    if isinstance(nav, str):
        yield nav
    for each in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from _named(each)


def outside_of_fences(change: Any, markdown: str) -> str:
    """The text with all changed but the code."""
    parts, end = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [change(markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(markdown[end:])])


def _relinked(prose: str, source: str) -> str:
    folder = posixpath.dirname(uri(source)) or "."

    def relinked(link: re.Match[str]) -> str:
        target = uri(_target(source, link[2]))
        return f"{link[1]}{posixpath.relpath(target, folder)}{link[3] or ''}"

    return LINK.sub(relinked, prose)


def _linked(page: str) -> set[str]:
    """The files of the repository that a page links to."""
    prose = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    targets = {_target(page, link[2]) for link in LINK.finditer(prose)}
    return {target for target in targets if (ROOT / target).is_file()}


def _target(page: str, link: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link))


def _source(file: File) -> str:
    """The file of the repository that a page is; "" of one that is written for the site."""
    if file.abs_src_path is None:
        return ""
    return Path(file.abs_src_path).resolve().relative_to(ROOT).as_posix()
