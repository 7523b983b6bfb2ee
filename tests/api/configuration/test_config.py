"""Settings: what each does, what is refused, and that the old value comes back."""

import logging
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import tapeless
from tapeless import config, grad, jit, vmap
from tapeless.configuration.config import SETTINGS
from tapeless.transforms.core.traced_calls import STRICT
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError


def squared_log(x):
    y = x - 1
    z = np.log(y * y * y)  # the line that makes it
    return np.sum(z * z)


@pytest.mark.parametrize("way", [jit, grad, lambda f: jit(grad(f)), vmap])
def test_debug_nans_names_the_line(way):
    f, x = way(squared_log), np.zeros(3)
    with np.errstate(all="ignore"):
        assert np.any(np.isnan(f(x)))
        with tapeless.debug_nans(True), pytest.raises(FloatingPointError) as e:
            f(x)
    assert "z = np.log(y * y * y)  # the line that makes it" in "".join(e.value.__notes__)


def test_nans_that_come_from_outside():
    with tapeless.debug_nans(True):
        with pytest.raises(FloatingPointError, match=r"the jit of .* has a NaN at \['y'\]"):
            jit(lambda x: {"x": 1.0, "y": x})(np.array([1.0, np.nan]))
        assert jit(lambda x: x + 1)(1.0) == 2.0


def test_debug_infs():
    def inverse(x):
        y = 1 / x
        return y * y

    with np.errstate(all="ignore"), tapeless.debug_infs(True):
        with pytest.raises(FloatingPointError) as e:
            jit(inverse)(np.zeros(2))
        assert "y = 1 / x" in "".join(e.value.__notes__)
        assert np.isnan(jit(lambda x: x * np.nan)(1.0))


def test_log_compiles(caplog):
    f = jit(lambda x: x + 1)
    with caplog.at_level(logging.WARNING, "tapeless.compile"):
        f(1.0)
        with tapeless.log_compiles(True):
            f(np.ones((2, 3)))
            f(np.ones((4, 5)))
    (record,) = caplog.records
    assert record.getMessage().startswith("staged the jit of function for (float64[2, 3]) in ")


def test_disable_jit():
    f = jit(lambda x: x + 1)
    config.update("jax_disable_jit", True)
    try:
        f(1.0)
        assert f.compilations == []
    finally:
        config.update("jax_disable_jit", False)
    f(1.0)
    assert f.compilations


def test_key_reuse():
    key = tapeless.random.key(3)
    tapeless.random.normal(key)
    with tapeless.debug_key_reuse(False), warnings.catch_warnings():
        warnings.simplefilter("error")
        tapeless.random.normal(key)
    with pytest.warns(tapeless.random.KeyReuseWarning):
        tapeless.random.normal(key)


def test_environment(monkeypatch, tmp_path):
    for name in ("TAPELESS_CHECK", "TAPELESS_CACHE_DIR", "TAPELESS_DISABLE_CACHE"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    with tapeless.enable_checks(not config.jax_enable_checks):
        assert bool(os.environ.get("TAPELESS_CHECK")) == config.jax_enable_checks
    config.update("jax_compilation_cache_dir", tmp_path)
    assert os.environ["TAPELESS_CACHE_DIR"] == str(tmp_path)
    config.update("jax_compilation_cache_dir", None)
    assert "TAPELESS_CACHE_DIR" not in os.environ
    with SETTINGS["enable_compilation_cache"](False):
        assert os.environ["TAPELESS_DISABLE_CACHE"] == "1"
    with pytest.raises(ArgumentTypeError, match="must be a path"):
        config.update("jax_compilation_cache_dir", 3)


def test_double_precision():
    config.update("jax_enable_x64", True)
    assert config.jax_enable_x64 is True
    with pytest.warns(UserWarning, match="changes nothing"), tapeless.enable_x64(False):
        assert jit(lambda x: x + 1)(np.float32(1)).dtype == np.float32


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_each_setting(name):
    """Each is told by its name, has a reason, and takes its own value."""
    setting = SETTINGS[name]
    assert config.read(name) == config.read(f"jax_{name}") == getattr(config, f"jax_{name}")
    assert config.values[name] == setting.value
    assert len(setting.__doc__) > 20
    config.update(name, setting.value)
    assert repr(setting) == f"<setting {name}: {setting.value!r}>"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("default_matmul_precision", "bfloat16", "products are done in the dtype of the arrays"),
        ("numpy_rank_promotion", "never", "say 'allow', 'warn', 'raise'"),
        ("numpy_dtype_promotion", "none", "as NumPy does"),
        ("default_prng_impl", "rbg", "there is one generator"),
        ("threefry_partitionable", False, "since version 0.5"),
        ("platforms", "tpu", "cores of this machine"),
        ("debug_nans", 1, "say False, True"),
        ("transfer_guard", "never", "one memory"),
    ],
)
def test_what_is_refused(name, value, message):
    before = config.read(name)
    with pytest.raises(ArgumentError, match=message):
        config.update(f"jax_{name}", value)
    assert config.read(name) == before


def test_unknown_settings():
    for ask in (
        lambda: config.update("jax_magic", 1),
        lambda: config.jax_magic,
        lambda: config.read("magic"),
    ):
        with pytest.raises(AttributeError, match="there is no setting"):
            ask()


def test_settings_in_any_order():
    nans, infs = tapeless.debug_nans(True), tapeless.debug_infs(True)
    f = jit(lambda x: x * 1.0)
    nans.__enter__()
    infs.__enter__()
    nans.__exit__(None, None, None)
    with pytest.raises(FloatingPointError, match="an infinity"):
        f(np.inf)
    assert np.isnan(f(np.nan))
    infs.__exit__(None, None, None)
    assert f(np.inf) == np.inf


def test_accepted_context_managers():
    with (
        tapeless.checking_leaks(),
        tapeless.check_tracer_leaks(True),
        tapeless.transfer_guard("log"),
    ):
        assert config.jax_transfer_guard == "log"
    assert config.jax_transfer_guard is None


@pytest.mark.parametrize("text", ["", "0", "1"])
def test_strict_by_the_environment(text):
    """The setting says what is done, also where the environment changes after the import."""
    code = (
        "import os, tapeless.transforms.core.traced_calls as calls\n"
        "os.environ['TAPELESS_STRICT'] = '1'\n"
        "import tapeless\n"
        "print(calls.STRICT[0], tapeless.config.read('strict'))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TAPELESS_STRICT": text},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == [str(text == "1")] * 2


def test_tests_are_strict():
    assert tapeless.config.read("strict")
    assert STRICT[0]
