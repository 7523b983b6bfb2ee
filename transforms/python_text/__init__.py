"""Builds Python syntax trees and prints them as source text."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.transforms.python_text instead of {__name__}")
