"""GPUs as devices, and the arrays that lie on them."""

import sys

import numpy as np
import pytest

import tapeless
import tapeless.numpy as jnp
from tapeless import block_until_ready, default_device, device_get, device_put, devices
from tapeless.dlpack import from_dlpack
from tapeless.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from tapeless.sharding import Mesh, NamedSharding, P, SingleDeviceSharding
from tapeless.staging.device_list import Device, default_gpu
from tapeless.staging.gpu_arrays import Mixin, like_arguments
from tapeless.staging.jax_arrays import Array
from tests.backends.cuda.fake_driver import asarray, ndarray

X = np.arange(6.0).reshape(2, 3)


@pytest.fixture
def gpu(driver):
    return devices("gpu")[0]


def test_devices(driver):
    driver.devices = 2
    assert devices("gpu") == devices("cuda") == tapeless.local_devices(backend="gpu")
    assert [str(d) for d in devices("gpu")] == ["gpu:0", "gpu:1"]
    assert tapeless.device_count("gpu") == tapeless.local_device_count("cuda") == 2
    assert {d.platform for d in devices()} == {"cpu"}
    second = devices("gpu")[1]
    assert (second.id, second.local_hardware_id, second.device_kind) == (1, 1, "NVIDIA Test")
    assert second.memory_stats()["bytes_in_use"] == 10**9
    assert devices()[0].device_kind == "cpu"


def test_there_and_back(gpu):
    x = device_put({"a": X, "b": [1.0]}, gpu)
    assert isinstance(x["a"], ndarray)
    assert (x["a"].device, x["a"].devices()) == (gpu, {gpu})
    assert x["a"].sharding == SingleDeviceSharding(gpu)
    assert x["a"].sharding.is_fully_addressable
    back = device_get(x)
    np.testing.assert_array_equal(back["a"], X)
    assert type(back["a"]) is np.ndarray
    on_core = device_put(x["a"], devices("cpu")[0])
    assert type(on_core) is Array
    np.testing.assert_array_equal(on_core, X)
    assert device_put(x["a"]).device == gpu
    assert device_put(x["a"], gpu).data.ptr == x["a"].data.ptr


def test_copies_are_copies(gpu):
    x = X.copy()
    put = device_put(x, gpu)
    x[0, 0] = 100.0
    assert device_get(put)[0, 0] == 0.0


def test_another_gpu(driver):
    driver.devices = 2
    first, second = devices("gpu")
    x = device_put(X, first)
    y = device_put(x, second)
    assert (x.device, y.device) == (first, second)
    np.testing.assert_array_equal(device_get(y), X)
    with pytest.raises(ArgumentError, match="gpu:7 is not a device of this process"):
        device_put(X, Device(7, platform="gpu"))


def test_arrays_can_do_what_those_of_jax_can(gpu, driver):
    x = device_put(X, gpu)
    assert block_until_ready(x) is x
    assert x.block_until_ready() is x
    assert driver.waits == 2
    assert repr(x) == repr(X.view(Array))
    assert x.is_fully_addressable
    assert x.addressable_data(0) is x
    assert x.addressable_shards[0].device == gpu
    assert x.on_device_size_in_bytes() == X.nbytes
    assert (x.weak_type, x.committed, x.is_deleted()) == (False, True, False)
    assert x.to_device(devices()[0]).device == devices()[0]
    assert isinstance(x[0], Mixin)


def test_in_place_operators_leave_other_names_alone(gpu):
    x = y = device_put(X, gpu)
    x += 1
    np.testing.assert_array_equal(device_get(x), X + 1)
    np.testing.assert_array_equal(device_get(y), X)
    assert isinstance(x, Mixin)


def test_no_silent_copies_to_the_host(gpu):
    x = device_put(X, gpu)
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(x)


def test_results_are_like_arguments(gpu):
    plain, ours = asarray(X), device_put(X, gpu)
    assert type(like_arguments(plain, [plain])) is ndarray
    assert isinstance(like_arguments(plain, [plain, ours]), Mixin)
    assert isinstance(like_arguments({"y": plain}, [X])["y"], Mixin)


def test_the_default_device(gpu):
    assert (tapeless.default_backend(), default_gpu()) == ("cpu", None)
    with default_device(gpu):
        assert (tapeless.default_backend(), default_gpu()) == ("gpu", gpu)
        assert device_put([1.0])[0].device == gpu
        assert type(device_put(X)) is Array  # it lies somewhere
        with default_device(devices("cpu")[0]):
            assert tapeless.default_backend() == "cpu"
    with default_device("gpu"):
        assert default_gpu() == gpu
    assert default_gpu() is None


def test_the_platform(gpu):
    tapeless.config.update("jax_platform_name", "gpu")
    try:
        assert default_gpu() == gpu
        with default_device(devices("cpu")[0]):
            assert default_gpu() is None
    finally:
        tapeless.config.update("jax_platform_name", "cpu")
    assert default_gpu() is None


def test_blocks_on_several_gpus_are_refused(driver):
    driver.devices = 2
    mesh = Mesh(np.array(devices("gpu")), ("a",))
    with pytest.raises(UnsupportedError, match="in blocks on several GPUs"):
        device_put(X, NamedSharding(mesh, P("a")))


def test_a_tensor_of_another_library(gpu):
    tensor = asarray(X)
    tensor.__dlpack__, tensor.__dlpack_device__ = None, lambda: (2, 0)
    shared = from_dlpack(tensor)
    assert shared.data.ptr == tensor.data.ptr
    assert shared.device == gpu
    assert from_dlpack(tensor, copy=True).data.ptr != tensor.data.ptr
    assert from_dlpack(tensor, device=devices()[0]).device == devices()[0]


def test_a_function_on_the_cpu_does_not_read_arrays_of_a_gpu(gpu):
    w = device_put(X, gpu)
    with pytest.raises(ArgumentTypeError, match=r"w lies on a GPU, .* runs on the CPU") as e:
        tapeless.grad(lambda x: (w * x).sum())(X)
    assert "jit(f, backend='gpu')" in str(e.value)


@pytest.mark.usefixtures("only_new_objects")
def test_memory(gpu):
    held = device_put(X, gpu)
    assert any(x is held for x in tapeless.live_arrays("gpu"))
    assert not any(x is held for x in tapeless.live_arrays())
    assert tapeless.profiler.device_memory_profile("gpu")[:2] == b"\x1f\x8b"


def test_nothing_is_there_without_a_gpu(driver):
    driver.devices = 0
    for ask in (
        lambda: devices("gpu"),
        lambda: device_put(X, Device(0, platform="gpu")),
        lambda: default_device("gpu").__enter__(),
        lambda: tapeless.jit(lambda x: x + 1, backend="gpu")(X),
        lambda: tapeless.config.update("jax_platform_name", "gpu"),
        lambda: tapeless.profiler.device_memory_profile("gpu"),
    ):
        with pytest.raises(tapeless.errors.NoGpuError, match="CUDA sees no device"):
            ask()
    assert "cupy" in sys.modules


def test_arrays_that_tapeless_numpy_makes(gpu):
    with default_device(gpu):
        zeros = jnp.zeros((2, 3))
        assert zeros.device == gpu
        assert jnp.asarray([1.0]).device == gpu
        assert jnp.shape(X) == (2, 3)
    np.testing.assert_array_equal(device_get(zeros), np.zeros((2, 3)))
    assert type(jnp.zeros(3)) is Array


def test_functions_of_tapeless_numpy_are_programs(gpu, driver):
    """They run kernels, and no function of CuPy: these differ from NumPy's in silence."""
    x = device_put(X, gpu)
    assert jnp.sin(x).device == gpu
    assert jnp.sum(x, axis=1).shape == (2,)
    assert jnp.astype(x, jnp.float32).dtype == np.float32
    assert len(driver.launches) == 3
    assert driver.waits == 0


def test_shards_do_not_run_on_cores_instead(gpu):
    with pytest.raises(UnsupportedError, match="an axis does not run on several GPUs yet"):
        tapeless.pmap(lambda x: x + 1, devices=[gpu, devices("cpu")[0]])
    with default_device(gpu):
        with pytest.raises(UnsupportedError, match="shards do not run on GPUs yet"):
            tapeless.make_mesh((1,), ("rows",))
        assert jnp_of_the_host().device == devices("cpu")[0]


def jnp_of_the_host():
    """An array that nobody has put anywhere."""
    return X.view(Array)
