"""Takes the picture of the page of `tapeless view` that the documents show.

    python -m tests.tools.view_picture

Look at it before it is committed: no test compares it.
"""

import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tapeless.tools.cli import main

PICTURE = Path(__file__).parents[2] / "docs" / "view.png"
PROGRAM = """\
import numpy as np


def settle(x, w, steps):
    for _ in range(steps):
        x = np.tanh(w @ x)
        x = x / np.sqrt(np.sum(x**2))
    return np.sum(np.cumsum(x))
"""
ARGUMENTS = "f8[100], f8[100,100], i8=20"


def take(picture: Path) -> None:
    """Writes the page, pins a line of it and takes the picture."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        program, page = Path(folder) / "settle.py", Path(folder) / "page.html"
        program.write_text(PROGRAM, encoding="utf-8")
        options = ("--transform", "jit(grad)", "--args", ARGUMENTS, "--profile", "-o", str(page))
        main(["view", f"{program}:settle", *options])
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1360, "height": 700})
        tab.goto(f"{page.as_uri()}#source-L6")
        tab.screenshot(path=picture, full_page=True)
        browser.close()
    Image.open(picture).convert("RGB").quantize(128).save(picture, optimize=True)


if __name__ == "__main__":
    take(PICTURE)
