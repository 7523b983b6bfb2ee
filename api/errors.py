"""Provides the errors of tapeless, and JAX's names for those that mean the same."""

from typing import Any

from tapeless.missing import missing as _missing
from tapeless.random.key_reuse import KeyReuseWarning
from tapeless.transformations.check_grads import GradientError as GradientError
from tapeless.transforms.errors import AliasError as AliasError
from tapeless.transforms.errors import ArgumentError as ArgumentError
from tapeless.transforms.errors import ArgumentTypeError as ArgumentTypeError
from tapeless.transforms.errors import EscapeError as EscapeError
from tapeless.transforms.errors import InternalError as InternalError
from tapeless.transforms.errors import MissingPackageError as MissingPackageError
from tapeless.transforms.errors import NeedStaticError as NeedStaticError
from tapeless.transforms.errors import NoGpuError as NoGpuError
from tapeless.transforms.errors import NotDifferentiableError as NotDifferentiableError
from tapeless.transforms.errors import OutOfMemoryError as OutOfMemoryError
from tapeless.transforms.errors import ShapeError as ShapeError
from tapeless.transforms.errors import SourceError as SourceError
from tapeless.transforms.errors import StructureError as StructureError
from tapeless.transforms.errors import TapelessError as TapelessError
from tapeless.transforms.errors import UndefinedError as UndefinedError
from tapeless.transforms.errors import UnsupportedError as UnsupportedError
from tapeless.transforms.errors import WideIntegerError as WideIntegerError

#: A value is needed while staging, and depends on what arrays contain.
ConcretizationTypeError = NeedStaticError
TracerArrayConversionError = NeedStaticError
TracerBoolConversionError = NeedStaticError
TracerIntegerConversionError = NeedStaticError
NonConcreteBooleanIndexError = NeedStaticError
InconclusiveDimensionOperation = NeedStaticError
#: A value of a staged run was kept by an object from outside.
UnexpectedTracerError = EscapeError
#: A random key was used twice; it is a warning here.
KeyReuseError = KeyReuseWarning
#: What JAX raises for other mistakes, and while a program runs.
JAXTypeError = JaxRuntimeError = TapelessError


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)
