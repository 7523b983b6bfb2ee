"""shard_map: blocks of arrays over meshes of named axes, against NumPy on the whole arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeless
from tapeless import P, grad, jit, make_mesh, shard_map, vmap
from tapeless.lax import all_gather, axis_index, axis_size, pmean, ppermute, psum, psum_scatter
from tapeless.sharding import Mesh, PartitionSpec
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

MESH = make_mesh((2, 3), ("a", "b"))
ROW = make_mesh((2,), ("a",))
X = np.arange(24.0).reshape(4, 6)


def mapped(f, in_specs, out_specs, mesh=MESH, **options):
    return shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)


SPECS = [
    P(),
    P("a"),
    P("b"),
    P(None, "a"),
    P(None, "b"),
    P("a", "b"),
    P("b", "a"),
    P(("a", "b")),
    P(("b", "a")),
    P(None, ("a", "b")),
    P(None, ("b", "a")),
]


def blocks_of(x, spec, place):
    """The block of x at a place of the mesh, by the definition."""
    names = [() if p is None else (p,) if isinstance(p, str) else p for p in spec.parts]
    for axis, own in enumerate(names):
        number, count = 0, 1
        for name in own:
            number = number * MESH.shape[name] + place[name]
            count *= MESH.shape[name]
        x = np.split(x, count, axis)[number]
    return x


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(SPECS))
def test_each_place_gets_its_block(spec):
    x = np.arange(36 * 6.0).reshape(6, 36)
    found = mapped(lambda x: x[None, None], spec, P("a", "b"))(x)
    for a in range(2):
        for b in range(3):
            np.testing.assert_array_equal(found[a, b], blocks_of(x, spec, {"a": a, "b": b}))


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(SPECS))
def test_blocks_are_joined_as_they_were_cut(spec):
    x = np.arange(36 * 6.0).reshape(6, 36)
    np.testing.assert_array_equal(mapped(lambda x: 2 * x, spec, spec)(x), 2 * x)


def test_products_of_blocks():
    a, b = np.random.default_rng(0).normal(size=(2, 6, 6))
    product = mapped(lambda a, b: psum(a @ b, "b"), (P("a", "b"), P("b")), P("a"))
    np.testing.assert_allclose(product(a, b), a @ b)
    gathered = mapped(
        lambda a, b: a @ all_gather(b, "b", axis=1, tiled=True), (P("a"), P(None, "b")), P("a")
    )
    np.testing.assert_allclose(gathered(a, b), a @ b)


def test_collectives_along_several_axes():
    total = mapped(lambda x: psum(np.sum(x), ("a", "b")), P("a", "b"), P())
    assert total(X) == X.sum()
    index = mapped(
        lambda x: x * 0 + axis_index("a") + 10 * axis_index("b") + 100 * axis_size("b"),
        P("a", "b"),
        P("a", "b"),
    )
    assert index(X)[0, 0] == 300
    assert index(X)[3, 5] == 321
    turned = mapped(lambda x: ppermute(x, "a", [(0, 1), (1, 0)]), P("a"), P("a"), ROW)
    np.testing.assert_array_equal(turned(X), np.roll(X, 2, axis=0))
    parts = mapped(lambda x: psum_scatter(x, "a", tiled=True), P(None, "a"), P("a"), ROW)
    np.testing.assert_array_equal(parts(X), X[:, :3] + X[:, 3:])


def test_trees_of_specs():
    def layer(params, x):
        return {"y": params["w"] @ x + params["b"][:, None], "n": np.sum(x)[None]}

    params = {"w": np.arange(12.0).reshape(4, 3), "b": np.ones(4)}
    x = np.arange(18.0).reshape(3, 6)
    specs = ({"w": P("a"), "b": P("a")}, P(None, "b"))
    found = mapped(layer, specs, {"y": P("a", "b"), "n": P("b")})(params, x)
    np.testing.assert_allclose(found["y"], layer(params, x)["y"])
    np.testing.assert_allclose(found["n"], x.reshape(3, 3, 2).sum((0, 2)))
    same = mapped(layer, ({"w": P("a"), "b": P("a")}, P(None, "b")), None, check_vma=False)
    np.testing.assert_allclose(same(params, x)["n"], [x[:, :2].sum()])


def test_other_transformations():
    loss = mapped(lambda w, x: psum(np.sum((x @ w) ** 2), ("a", "b")), (P("b"), P("a", "b")), P())
    w = np.arange(6.0)

    def expected(w, x):  # products of the blocks, not of the whole
        return sum(
            np.sum((x[i : i + 2, k : k + 2] @ w[k : k + 2]) ** 2) for i in (0, 2) for k in (0, 2, 4)
        )

    np.testing.assert_allclose(loss(w, X), expected(w, X))
    step = 1e-6
    slopes = [
        (expected(w + step * e, X) - expected(w - step * e, X)) / (2 * step) for e in np.eye(6)
    ]
    np.testing.assert_allclose(grad(loss)(w, X), slopes, rtol=1e-6)
    np.testing.assert_allclose(jit(loss)(w, X), expected(w, X))
    np.testing.assert_allclose(vmap(loss, (0, None))(np.stack([w, 2 * w]), X)[1], 4 * loss(w, X))
    inside = mapped(
        lambda w, x: pmean(grad(lambda w: np.sum((x @ w) ** 2))(w), "a"), (P(), P("a")), P(), ROW
    )
    np.testing.assert_allclose(inside(w, X), X.T @ (X @ w))


def test_compiled_blocks():
    f = mapped(jit(lambda x: np.sin(x) * axis_index("a")), P("a"), P("a"), ROW)
    np.testing.assert_allclose(f(X), np.sin(X) * [[0], [0], [1], [1]])


def test_as_a_decorator_and_source():
    @shard_map(mesh=ROW, in_specs=P("a"), out_specs=P("a"))
    def doubled(x):
        return 2 * x

    np.testing.assert_array_equal(doubled(X), 2 * X)
    assert "2 * x" in doubled.source()
    assert doubled.__name__ == "doubled"


def test_axes_that_are_not_used():
    part = mapped(lambda x: x * 2, P("b"), P("b"), axis_names={"b"})
    np.testing.assert_array_equal(part(np.ones((3, 2))), 2 * np.ones((3, 2)))
    with pytest.raises(ArgumentError, match="names 'a', and the mesh has 'b'"):
        mapped(lambda x: x, P("a"), P(), axis_names={"b"})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mapped(lambda x: x, P("c"), P()), "in_specs names 'c', and the mesh has 'a', 'b'"),
        (lambda: mapped(lambda x: x, P(), P("c")), "out_specs names 'c'"),
        (lambda: mapped(lambda x: x, P("a"), P())(X), "differs along an axis of the mesh"),
        (lambda: mapped(lambda x: x, P(None, None, "a"), P("a"))(X), "is for 3 axes"),
        (lambda: mapped(lambda x: x, P("b"), P("b"))(X), "length 4, which 3 blocks cannot share"),
        (lambda: P("a", ("b", "a")), "names an axis of the mesh twice"),
        (lambda: Mesh(MESH.devices, ("a",)), "2 axes of devices"),
    ],
)
def test_refused(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_refused_types():
    with pytest.raises(ArgumentTypeError, match="must be a tree of PartitionSpec"):
        mapped(lambda x: x, 0, P())
    with pytest.raises(ArgumentTypeError, match="mesh is tuple"):
        mapped(lambda x: x, P(), P(), mesh=(2,))
    with pytest.raises(ArgumentTypeError, match="the devices of a mesh"):
        Mesh([1, 2], ("a",))


def test_meshes_and_specs():
    assert MESH.shape == {"a": 2, "b": 3}
    assert (MESH.size, str(MESH)) == (6, "Mesh(a=2, b=3)")
    assert make_mesh((2, 3), ("a", "b")) == MESH
    assert hash(make_mesh((2, 3), ("a", "b"))) == hash(MESH)
    assert ROW != MESH
    assert PartitionSpec("a", ["b"]) == P("a", ("b",))
    assert len({P("a"), P("a"), P(None, "a")}) == 2
    assert repr(P(("a", "b"), None)) == "PartitionSpec(('a', 'b'), None)"
    one = tapeless.devices("cpu")[0]
    assert set(make_mesh((2,), ("a",), devices=[one]).devices) == {one}
