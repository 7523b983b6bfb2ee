"""The names that the installed CuPy has, for its stand-in: python -m tests.gpu.cupy_names

It writes `cupy_names.json` and needs no GPU.
"""

import importlib
import json
from pathlib import Path

MODULES = ("cupy", "cupy.linalg", "cupy.fft", "cupyx.scipy.special")


def public(owner):
    """The names that do not begin with an underscore."""
    return sorted(name for name in dir(owner) if not name.startswith("_"))


def main():
    """Writes the file."""
    cupy = importlib.import_module("cupy")
    names = {module: public(importlib.import_module(module)) for module in MODULES}
    names |= {"version": cupy.__version__, "ndarray": public(cupy.ndarray)}
    path = Path(__file__).with_name("cupy_names.json")
    path.write_text(json.dumps(names, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
