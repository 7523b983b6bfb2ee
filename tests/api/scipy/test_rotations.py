"""Rotations against SciPy and JAX, and derivatives."""

import importlib

import numpy as np
import pytest
import scipy.spatial.transform as peer

import tapeless
from tapeless import check_grads, jacobian, jit, random, vmap
from tapeless.scipy.spatial.transform import Rotation, Slerp
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError
from tests.api.jax_peer import jax_or_skip

RNG = np.random.default_rng(0)
Q, ANGLES, V = (RNG.standard_normal((5, n)) for n in (4, 3, 3))
TURNS, PEERS = Rotation.from_quat(Q), peer.Rotation.from_quat(Q)
TIMES, AT = np.array([0.0, 1.0, 2.5, 3.0, 4.0]), np.array([0.0, 0.3, 1.0, 2.7, 4.0])
FORMS = ("matrix", "mrp", "rotvec", "quat")
AXES = ("zyx", "ZYX", "xyz", "zxz", "XYX", "yxz", "YZX")


def same(ours, theirs, **options):
    np.testing.assert_allclose(ours, theirs, atol=1e-12, **options)


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    want = getattr(PEERS, f"as_{form}")()
    same(getattr(TURNS, f"as_{form}")(), want)
    made = getattr(Rotation, f"from_{form}")(want)
    same(made.as_matrix(), PEERS.as_matrix())
    same(vmap(lambda q: getattr(Rotation.from_quat(q), f"as_{form}")())(Q), want)


@pytest.mark.parametrize("seq", AXES)
@pytest.mark.parametrize("degrees", [False, True])
def test_angles(seq, degrees):
    want = peer.Rotation.from_euler(seq, ANGLES, degrees=degrees)
    made = Rotation.from_euler(seq, ANGLES, degrees)
    same(made.as_matrix(), want.as_matrix())
    same(made.as_euler(seq, degrees), want.as_euler(seq, degrees=degrees))
    one = Rotation.from_euler(seq[0], 0.3)
    same(one.as_rotvec(), 0.3 * np.eye(3)["xyz".index(seq[0].lower())])


@pytest.mark.parametrize("seq", AXES)
@pytest.mark.parametrize("middle", [0.0, np.pi, np.pi / 2, -np.pi / 2])
def test_angles_where_axes_coincide(seq, middle):
    turn = Rotation.from_euler(seq, np.array([0.3, middle, -0.7]))
    again = turn.as_euler(seq)
    same(Rotation.from_euler(seq, again).as_matrix(), turn.as_matrix())


def test_matrices_of_half_turns():
    halves = np.stack([np.diag(d) for d in ([1.0, -1, -1], [-1.0, 1, -1], [-1.0, -1, 1])])
    same(Rotation.from_matrix(halves).as_quat(), np.eye(3, 4))


def test_what_they_do():
    same(TURNS.apply(V), PEERS.apply(V))
    same(TURNS.apply(V, inverse=True), PEERS.apply(V, inverse=True))
    same(TURNS[1].apply(V), PEERS[1].apply(V))
    same(TURNS.apply(V[0]), PEERS.apply(V[0]))
    same((TURNS * TURNS[2]).as_matrix(), (PEERS * PEERS[2]).as_matrix())
    same(TURNS.inv().as_matrix(), PEERS.inv().as_matrix())
    same(TURNS.magnitude(), PEERS.magnitude())
    weights = np.arange(1.0, 6)
    same(TURNS.mean(weights).as_matrix(), PEERS.mean(weights).as_matrix())
    same(TURNS.as_quat(True, True), np.roll(PEERS.as_quat(canonical=True), 1, axis=-1))
    same(Rotation.concatenate([TURNS[:2], TURNS[2:]]).quat, TURNS.quat)
    assert (len(TURNS), TURNS.single, TURNS[0].single) == (5, False, True)
    same(Rotation.identity(2).as_matrix(), np.stack([np.eye(3)] * 2))
    same(np.linalg.norm(Rotation.random(random.key(0), 3).quat, axis=-1), np.ones(3))


def test_between():
    made, want = Slerp.init(TIMES, TURNS), peer.Slerp(TIMES, PEERS)
    same(made(AT).as_matrix(), want(AT).as_matrix())
    same(made(0.7).as_matrix(), want(0.7).as_matrix())
    same(jit(lambda t: made(t).as_rotvec())(AT), want(AT).as_rotvec())


@pytest.mark.parametrize("form", ["matrix", "mrp", "rotvec"])
def test_derivatives(form):
    def there(q):
        return getattr(Rotation.from_quat(q), f"as_{form}")()

    check_grads(there, (Q[0],), order=2)
    check_grads(lambda x: getattr(Rotation, f"from_{form}")(x).quat, (there(Q[:2]),), order=1)


def test_derivatives_at_no_rotation():
    found = jacobian(lambda v: Rotation.from_rotvec(v).as_rotvec())(np.zeros(3))
    same(found, np.eye(3))
    turned = jacobian(lambda v: Rotation.from_rotvec(v).apply(np.array([1.0, 2.0, 3.0])))
    same(turned(np.zeros(3)), [[0, 3, -2], [-3, 0, 1], [2, -1, 0]])


def test_jaxs_derivatives():
    jax = jax_or_skip()
    theirs = importlib.import_module("jax.scipy.spatial.transform")

    def path(rotation, slerp, q, at):
        return slerp.init(TIMES, rotation.from_quat(q))(at).as_rotvec().sum()

    at = AT[:-1] + 0.01  # JAX gives nan at the places themselves
    want = jax.grad(lambda q, at: path(theirs.Rotation, theirs.Slerp, q, at), (0, 1))(Q, at)
    made = tapeless.grad(lambda q, at: path(Rotation, Slerp, q, at), (0, 1))(Q, at)
    same(made[0], want[0])
    same(made[1], want[1])


def test_mistakes():
    for wrong in ("xyw", "xX", "xxy", "wxyz", ""):
        with pytest.raises(ArgumentError, match=r"are no axes|angles for the axes"):
            Rotation.from_euler(wrong, np.zeros(max(len(wrong), 1)))
    with pytest.raises(ArgumentError, match="2 angles for the axes 'xyz'"):
        Rotation.from_euler("xyz", np.zeros(2))
    with pytest.raises(ArgumentError, match="'xy' are 2 axes"):
        TURNS.as_euler("xy")
    with pytest.raises(ArgumentTypeError, match="cannot be indexed"):
        TURNS[0][0]
    with pytest.raises(ArgumentTypeError, match="has no length"):
        len(TURNS[0])
    with pytest.raises(ArgumentError, match=r"weights of shape \(2,\) for 5 rotations"):
        TURNS.mean(np.ones(2))
    with pytest.raises(ArgumentTypeError, match="must be a Rotation"):
        Slerp.init(TIMES, Q)
    with pytest.raises(ArgumentError, match="a time for each"):
        Slerp.init(TIMES[:2], TURNS)
    with pytest.raises(ArgumentError, match="one axis"):
        Slerp.init(TIMES, TURNS)(np.zeros((2, 2)))
