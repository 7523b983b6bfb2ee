"""Writes a Python package around a program in C, which setuptools compiles and packs as a wheel.

f.c, f.h      get      setup.py, pyproject.toml, f/__init__.py, f/f.c, f/f.h
"""

from __future__ import annotations

from tapeless.transforms.c.companions import python_wrapper
from tapeless.transforms.c.module import CModule

PROJECT = """\
[build-system]
requires = ["setuptools>=70.1"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "1.0"
description = "{about}"
dependencies = ["numpy"]

[tool.setuptools]
packages = ["{name}"]

[tool.setuptools.package-data]
{name} = ["*.c", "*.h"]
"""
SETUP = """\
import os

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class Library(build_ext):
    \"\"\"Builds a library that ctypes loads: it is no module of Python.\"\"\"

    def get_ext_filename(self, name):
        return name.replace(".", "/") + ".so"

    def get_export_symbols(self, extension):
        return extension.export_symbols


commands = {{"build_ext": Library}}
try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1 a wheel is for the Python that builds it
    pass
else:

    class Wheel(bdist_wheel):
        \"\"\"Is for any Python of this system.\"\"\"

        def get_tag(self):
            return "py3", "none", super().get_tag()[2]

    commands["bdist_wheel"] = Wheel

library = Extension(
    "{name}.lib{name}",
    ["{name}/{name}.c"],
    depends=["{name}/{name}.h"],
    extra_compile_args=["-std=c99", "-O3", "-fwrapv"],
    libraries=["m"] if os.name == "posix" else [],
)
setup(ext_modules=[library], cmdclass=commands)
"""


def package_files(module: CModule) -> dict[str, str]:
    """The files of the package and its project, by their paths."""
    name, about = module.name, module.doc.splitlines()[0].replace('"', "'")
    return {
        "pyproject.toml": PROJECT.format(name=name, about=about),
        "setup.py": SETUP.format(name=name),
        f"{name}/__init__.py": python_wrapper(module),
        f"{name}/{name}.h": module.header,
        f"{name}/{name}.c": module.source,
    }
