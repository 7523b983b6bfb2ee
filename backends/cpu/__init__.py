"""Compiles emitted loop form to machine code, caches it on disk and runs it in threads."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.backends.cpu instead of {__name__}")

from tapeless.backends.compilation import Compilation
from tapeless.backends.cpu.load_module import compilations, load, outline, prepare

__all__ = ["Compilation", "compilations", "load", "outline", "prepare"]
