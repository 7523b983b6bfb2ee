"""Every public name of JAX exists, or says why not; and docs/from-jax.md says so."""

import importlib
from pathlib import Path

import numpy as np
import pytest

import tapeless
from tapeless import ad_checkpoint, sharding, stages
from tapeless.experimental import mesh_utils
from tapeless.experimental.shard_map import shard_map
from tests.from_jax import names, page

DOCUMENT = Path(__file__).parents[2] / "docs" / "from-jax.md"


def test_every_name_exists_or_says_why_not():
    found, _ = page.missing()
    silent = {module: names for (module, why), names in found.items() if not why}
    assert silent == {}


def test_every_module_exists_or_says_why_not():
    _, modules = page.missing()
    for jax_name in modules:
        owner = tapeless
        for part in jax_name.split(".")[1:]:
            if not hasattr(owner, part):
                assert page.reason(owner, part), jax_name
                break
            owner = importlib.import_module(f"{owner.__name__}.{part}")


def test_every_parameter_of_transformations_exists():
    assert page.without() == {}


def test_values_that_ask_for_what_is_not_done_are_refused():
    with pytest.raises(TypeError, match="in_shardings needs a device, not int 1"):
        tapeless.jit(abs, in_shardings=1)(1.0)
    with pytest.raises(ValueError, match="reduce_axes is"):
        tapeless.grad(abs, reduce_axes=("i",))
    with pytest.raises(ValueError, match="there is no GPU"):
        tapeless.pmap(abs, backend="gpu")
    slope = tapeless.jit(tapeless.grad(abs, allow_int=True), inline=True, donate_argnames="x")
    assert tapeless.vmap(slope, spmd_axis_name="i")(np.array([-2.0])) == [-1.0]


def test_names_say_why_they_do_not_exist():
    with pytest.raises(AttributeError, match="export does not exist: f"):
        tapeless.export  # noqa: B018 (asking is what is tested)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        tapeless.nonsense  # noqa: B018


def test_the_page_says_what_is(request):
    if request.config.getoption("--refresh-goldens"):
        DOCUMENT.write_text(page.page(), encoding="utf-8")
    assert DOCUMENT.read_text(encoding="utf-8") == page.page()


def test_the_names_are_those_of_jax():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    if not jax.__version__.startswith("0.10."):
        pytest.skip("the names are those of JAX 0.10")
    assert names.installed() == names.kept()
    assert names.parameters_installed() == names.parameters_kept()


def test_modules_say_why_they_do_not_exist():
    for name in ("experimental.sparse", "experimental.host_callback", "export"):
        with pytest.raises(ModuleNotFoundError, match=f"{name} does not exist: "):
            importlib.import_module(f"tapeless.{name}")
    with pytest.raises(ImportError, match="keep values and indices"):
        from tapeless.experimental import sparse  # noqa: F401, PLC0415 (what is tested)
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'tapeless\.nonsense'"):
        importlib.import_module("tapeless.nonsense")


def test_modules_of_other_names():
    mesh = sharding.Mesh(mesh_utils.create_device_mesh((2,)), ("rows",))
    rows = sharding.P("rows")
    f = shard_map(lambda x: 2 * x, mesh, in_specs=rows, out_specs=rows, check_rep=False)
    np.testing.assert_array_equal(f(np.arange(4.0)), 2 * np.arange(4.0))
    assert isinstance(tapeless.jit(abs), stages.Wrapped)
    assert isinstance(tapeless.jit(np.sin).lower(1.0), stages.Lowered)
    assert ad_checkpoint.checkpoint_name(1.0, "x") == 1.0


def test_imports_of_names_say_why_they_do_not_exist():
    silent = []
    for module, held in names.kept().items():
        ours = module.replace("jax", "tapeless", 1)
        for name in held:
            try:
                exec(f"from {ours} import {name}", {})
            except ImportError as e:
                if not isinstance(e, tapeless.TapelessError) and not name.endswith("_p"):
                    silent.append(f"{ours}.{name}")
    assert silent == []
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        exec("from tapeless.sharding import nonsense", {})
