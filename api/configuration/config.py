"""Holds the settings, under the names of jax.config: `config.update("jax_debug_nans", True)`.

Each is an object too, which is a context manager when it is called: `with debug_nans(True): ...`.
A setting holds for the whole process, except `disable_jit`, which holds for the context.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapeless.configuration.checked_calls import log_compilation, refuse_infs, refuse_nans
from tapeless.configuration.instrumentation import Watch, watch
from tapeless.configuration.promotion_settings import set_dtype, set_rank
from tapeless.dispatch.asynchronous.worker import enable as enable_asynchronous_dispatch
from tapeless.dispatch.specialisation import refuse_traces
from tapeless.random.key_reuse import report_reuse
from tapeless.staging.bug_reports import FILTERING
from tapeless.staging.device_list import choose_platform
from tapeless.transformations.compilation.disable_jit import disable_jit
from tapeless.transforms.core.traced_calls import STRICT
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, TapelessError

Apply = Callable[[Any], None]


class Setting:
    """One setting; calling it with a value gives a context manager.

    Raises ArgumentError (a ValueError) for values that mean what is not done here.

    >>> from tapeless import debug_nans
    >>> with debug_nans(True):
    ...     print(debug_nans)
    <setting debug_nans: True>
    """

    def __init__(
        self, name: str, start: Any, accepted: Any, doc: str, apply: Apply | None = None
    ) -> None:
        self.name, self.value, self.accepted = name, start, accepted
        self.apply = apply
        self.__doc__ = doc

    def __call__(self, new_val: Any) -> Any:
        return self.temporarily(new_val)

    @contextmanager
    def temporarily(self, new: Any) -> Iterator[None]:
        before = self.value
        self.set(new)
        try:
            yield
        finally:
            self.set(before)

    def set(self, new: Any) -> None:
        """Refuses values that mean what is not done here."""
        words = ", ".join(map(repr, self.accepted))
        if not any(new is x or (type(new) is type(x) and new == x) for x in self.accepted):
            raise ArgumentError(f"{self.name} cannot be {new!r}: {self.__doc__}", f"say {words}")
        if self.apply is not None and new != self.value:
            self.apply(new)
        self.value = new

    def __repr__(self) -> str:
        return f"<setting {self.name}: {self.value!r}>"


class Path(Setting):
    """A setting that is a text."""

    def set(self, new: Any) -> None:
        if new is not None and not isinstance(new, (str, os.PathLike)):
            raise ArgumentTypeError(f"{self.name} must be a path, not {new!r}")
        if self.apply is not None and new != self.value:
            self.apply(new)
        self.value = new


# -- what settings do


def _watching(name: str, around: Any) -> Apply:
    open_watches: list[Watch] = []

    def apply(on: bool) -> None:
        if on:
            open_watches.append(watch(name, around))
        else:
            open_watches.pop().close()

    return apply


def _environment(name: str, values: Any) -> Apply:
    def apply(new: Any) -> None:
        text = values(new)
        if text is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = text

    return apply


def _x64(on: bool) -> None:
    if not on:
        warnings.warn(
            "enable_x64(False) changes nothing: dtypes follow those of the arguments, as in NumPy",
            UserWarning,
            stacklevel=5,
        )


def _disable_jit() -> Apply:
    held: list[Any] = []

    def apply(on: bool) -> None:
        if on:
            held.append(disable_jit())
            held[-1].__enter__()
        else:
            held.pop().__exit__(None, None, None)

    return apply


def _filtering(mode: str) -> None:
    FILTERING[0] = mode


def _reuse(on: bool) -> None:
    report_reuse(on)


BOTH = (False, True)
GUARDS = (None, "allow", "log", "disallow", "log_explicit", "disallow_explicit")
NO_TRANSFERS = "arrays are in one memory, so that there are no transfers to be watched"
CHECK = _environment("TAPELESS_CHECK", lambda on: "1" if on else None)
CACHE = _environment("TAPELESS_CACHE_DIR", lambda path: None if path is None else os.fspath(path))
NO_CACHE = _environment("TAPELESS_DISABLE_CACHE", lambda on: None if on else "1")

SETTINGS = {
    s.name: s
    for s in (
        Setting(
            "enable_x64",
            True,
            BOTH,
            "dtypes follow those of the arguments, as in NumPy: float64 stays float64, and float32 "
            "stays float32; False warns that it changes nothing",
            _x64,
        ),
        Setting(
            "debug_nans",
            False,
            BOTH,
            "whether a result with a NaN raises FloatingPointError, which names the line",
            _watching("__call__", refuse_nans),
        ),
        Setting(
            "debug_infs",
            False,
            BOTH,
            "whether a result with an infinity raises FloatingPointError, which names the line",
            _watching("__call__", refuse_infs),
        ),
        Setting(
            "disable_jit",
            False,
            BOTH,
            "whether functions under `jit` run as emitted NumPy code",
            _disable_jit(),
        ),
        Setting(
            "cpu_enable_async_dispatch",
            True,
            BOTH,
            "whether large calls of compiled functions on arrays of tapeless.numpy return before "
            "they are done",
            enable_asynchronous_dispatch,
        ),
        Setting(
            "strict",
            STRICT[0],
            BOTH,
            "whether what cannot be staged for all values is refused, instead of traced on those "
            "of a call",
            refuse_traces,
        ),
        Setting(
            "log_compiles",
            False,
            BOTH,
            'whether the logger "tapeless.compile" says what is staged, and how long it takes',
            _watching("compile", log_compilation),
        ),
        Setting(
            "debug_key_reuse",
            True,
            BOTH,
            "whether random keys that are used twice are reported",
            _reuse,
        ),
        Setting(
            "enable_checks",
            bool(os.environ.get("TAPELESS_CHECK")),
            BOTH,
            "whether programs are checked after each pass: for those who work on tapeless",
            CHECK,
        ),
        Setting(
            "check_tracer_leaks",
            False,
            BOTH,
            "what is kept of a staged run raises EscapeError when it is used, in any case",
        ),
        Setting(
            "default_matmul_precision",
            None,
            (None, "default", "highest", "float32"),
            "products are done in the dtype of the arrays, never in less",
        ),
        Setting(
            "numpy_rank_promotion",
            "allow",
            ("allow", "warn", "raise"),
            "whether operators and ufuncs that join arrays of different ranks do so as in NumPy, "
            "say so, or raise ValueError, where a function is staged",
            set_rank,
        ),
        Setting(
            "numpy_dtype_promotion",
            "standard",
            ("standard", "strict"),
            "whether operators and ufuncs join different dtypes as NumPy does, or raise "
            "TypePromotionError, where a function is staged",
            set_dtype,
        ),
        Setting(
            "default_prng_impl",
            "threefry2x32",
            ("threefry2x32",),
            "there is one generator; of `'rbg'` the bits are XLA's own, which JAX does not promise "
            "to keep from one version or machine to another",
        ),
        Setting(
            "threefry_partitionable", True, (True,), "the bits are those of JAX since version 0.5"
        ),
        Setting("enable_custom_prng", False, BOTH, "random.key and random.PRNGKey both work"),
        Setting("legacy_prng_key", "allow", ("allow",), "random.key and random.PRNGKey both work"),
        *(
            Setting(
                name,
                "cpu",
                ("cpu", "gpu", "cuda", "", None),
                "where arrays of NumPy go: the cores of this machine, or its first GPU",
                choose_platform,
            )
            for name in ("platforms", "platform_name")
        ),
        *(
            Setting(f"transfer_guard{what}", None, GUARDS, NO_TRANSFERS)
            for what in ("", "_host_to_device", "_device_to_host", "_device_to_device")
        ),
        Setting(
            "traceback_filtering",
            "auto",
            ("auto", "off", "tracebackhide", "remove_frames", "quiet_remove_frames"),
            "whether the traceback of an error met while staging leaves out the lines of tapeless",
            _filtering,
        ),
        Path(
            "compilation_cache_dir",
            None,
            (),
            "the folder for compiled code; None is the usual one",
            CACHE,
        ),
        Setting(
            "enable_compilation_cache",
            True,
            BOTH,
            "whether compiled code is kept on disk",
            NO_CACHE,
        ),
    )
}


class UnknownSettingError(TapelessError, AttributeError):
    """A setting that there is not."""


class Config:
    """The settings, with or without `jax_` in front of their names.

    >>> config.update("jax_enable_x64", True)
    >>> config.jax_enable_x64, config.read("debug_nans")
    (True, False)
    """

    def update(self, name: str, val: Any) -> None:
        """Sets a setting. Raises AttributeError for one that there is not, ValueError for a value
        that means what is not done here."""
        _setting(name).set(val)

    def read(self, name: str) -> Any:
        """The value of a setting."""
        return _setting(name).value

    @property
    def values(self) -> dict[str, Any]:
        """All settings."""
        return {name: s.value for name, s in SETTINGS.items()}

    def __getattr__(self, name: str) -> Any:
        return _setting(name).value

    def __repr__(self) -> str:
        return f"<config {self.values}>"


def _setting(name: str) -> Setting:
    setting = SETTINGS.get(str(name).removeprefix("jax_"))
    if setting is None:
        raise UnknownSettingError(
            f"there is no setting {name!r}", "docs/from-jax.md says which there are, and why"
        )
    return setting


config = Config()
debug_nans = SETTINGS["debug_nans"]
debug_infs = SETTINGS["debug_infs"]
debug_key_reuse = SETTINGS["debug_key_reuse"]
default_matmul_precision = SETTINGS["default_matmul_precision"]
default_prng_impl = SETTINGS["default_prng_impl"]
enable_checks = SETTINGS["enable_checks"]
enable_custom_prng = SETTINGS["enable_custom_prng"]
enable_x64 = SETTINGS["enable_x64"]
legacy_prng_key = SETTINGS["legacy_prng_key"]
log_compiles = SETTINGS["log_compiles"]
strict = SETTINGS["strict"]
numpy_dtype_promotion = SETTINGS["numpy_dtype_promotion"]
numpy_rank_promotion = SETTINGS["numpy_rank_promotion"]
threefry_partitionable = SETTINGS["threefry_partitionable"]
transfer_guard = SETTINGS["transfer_guard"]
transfer_guard_device_to_device = SETTINGS["transfer_guard_device_to_device"]
transfer_guard_device_to_host = SETTINGS["transfer_guard_device_to_host"]
transfer_guard_host_to_device = SETTINGS["transfer_guard_host_to_device"]


@contextmanager
def checking_leaks() -> Iterator[None]:
    """What is kept of a staged run raises `EscapeError` when it is used: inside, and elsewhere.

    >>> with checking_leaks():
    ...     pass
    """
    with SETTINGS["check_tracer_leaks"](True):
        yield


def check_tracer_leaks(new_val: bool = True) -> Any:
    """The same; `new_val` says whether it is asked for, and makes no difference.

    >>> with check_tracer_leaks(True):
    ...     pass
    """
    return SETTINGS["check_tracer_leaks"](new_val)
