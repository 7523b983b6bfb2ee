"""Provides the names of jax.custom_derivatives: rules of the user's own for derivatives."""

from typing import Any

from tapeless.missing import missing as _missing
from tapeless.transformations.linear_functions import closure_convert as closure_convert
from tapeless.transformations.linear_functions import custom_gradient as custom_gradient
from tapeless.transformations.public_functions import custom_jvp as custom_jvp
from tapeless.transformations.public_functions import custom_vjp as custom_vjp

__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)


__all__ = ["closure_convert", "custom_gradient", "custom_jvp", "custom_vjp"]
