"""Programs that are the same text for JAX and for tapeless, but for the imports."""

import functools
import importlib

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import leaves


def bessel(jax, lax, jnp):
    """A function of SciPy with a rule, from outside; as JAX's guide to callbacks has it."""
    special = pytest.importorskip("scipy.special", reason="SciPy is not installed")

    @jax.custom_jvp
    def jv(v, z):
        v, z = jnp.asarray(v), jnp.asarray(z)
        like = jax.ShapeDtypeStruct(jnp.broadcast_shapes(v.shape, z.shape), z.dtype)
        return jax.pure_callback(
            lambda v, z: special.jv(v, z).astype(z.dtype), like, v, z, vmap_method="expand_dims"
        )

    @jv.defjvp
    def rule(primals, tangents):
        v, z = primals
        slope = 0.5 * (jv(v - 1, z) - jv(v + 1, z))
        return jv(v, z), tangents[1] * slope

    j1 = functools.partial(jv, 1)
    z = jnp.arange(5.0)
    return [jax.jit(j1)(z), jax.vmap(j1)(z), jax.grad(j1)(2.0), jax.hessian(j1)(2.0)]


def gradients_that_are_seen(jax, lax, jnp):
    seen = []

    @jax.custom_vjp
    def look(x):
        return x

    def backward(_, ct):
        jax.debug.callback(lambda ct: seen.append(float(ct)), ct)
        return (ct,)

    look.defvjp(lambda x: (x, None), backward)
    made = jax.grad(lambda x: look(x) * 3.0)(2.0)
    jax.effects_barrier()
    return [made, seen]


def effects_in_order(jax, lax, jnp):
    io_callback = importlib.import_module(f"{jax.__name__}.experimental").io_callback
    seen = []

    def body(i, s):
        io_callback(lambda s: seen.append(float(s)), None, s, ordered=True)
        return s + i

    made = jax.jit(lambda n: lax.fori_loop(0, 4, body, n))(1.5)
    jax.effects_barrier()
    return [made, seen]


def scans_with_branches(jax, lax, jnp):
    def body(c, x):
        c = lax.cond(x > 0, lambda c: c + x, lambda c: c * 0.5, c)
        return c, {"c": c, "x": x}

    def total(xs):
        c, rows = lax.scan(body, 1.0, xs)
        return c + jnp.sum(rows["c"])

    xs = jnp.array([1.0, -1.0, 2.0])
    return [total(xs), jax.grad(total)(xs), jax.vmap(jax.jit(total))(jnp.stack([xs, -xs]))]


def trees_of_a_users_class(jax, lax, jnp):
    @jax.tree_util.register_pytree_node_class
    class Layer:
        def __init__(self, w, b):
            self.w, self.b = w, b

        def tree_flatten(self):
            return (self.w, self.b), None

        @classmethod
        def tree_unflatten(cls, static, children):
            return cls(*children)

    layers = [Layer(jnp.ones((2, 2)), jnp.zeros(2)), Layer(jnp.eye(2), jnp.ones(2))]

    def loss(layers, x):
        for layer in layers:
            x = jnp.tanh(x @ layer.w + layer.b)
        return jnp.sum(x**2)

    slopes = jax.grad(loss)(layers, jnp.ones(2))
    paths = jax.tree_util.tree_leaves_with_path({"a": [1, (2, None)], "b": {"c": 3}})
    new = jax.tree.map(lambda w, g: w - 0.1 * g, layers, slopes)
    text = [jax.tree_util.keystr(path) for path, _ in paths]
    assert text == ["['a'][0]", "['a'][1][0]", "['b']['c']"]
    return [jax.tree.leaves(new), jax.tree.reduce(lambda a, b: a + jnp.sum(b), new, 0.0)]


def partial_functions(jax, lax, jnp):
    power = jax.tree_util.Partial(lambda a, n, x: a * x**n, 2.0, 3.0)
    slope = jax.grad(lambda p, x: p(x))(power, 2.0)
    return [slope.args, jax.jit(lambda p, x: p(x))(power, 2.0)]


def shapes_ahead(jax, lax, jnp):
    like = jax.ShapeDtypeStruct((3, 4), jnp.float32)
    made = jax.eval_shape(lambda a: {"p": a @ a.T, "s": a.sum(axis=1)}, like)
    return [made["p"].shape, made["s"].shape, jnp.zeros(made["s"].shape, made["s"].dtype)]


def linear_maps(jax, lax, jnp):
    a = jnp.arange(6.0).reshape(2, 3)
    transposed = jax.linear_transpose(lambda x: a @ x, jnp.ones(3))
    y, push = jax.linearize(jnp.sin, 0.5)
    return [transposed(jnp.ones(2)), y, push(2.0)]


def gradients_of_ones_own(jax, lax, jnp):
    @jax.custom_gradient
    def clipped(x):
        return x, lambda ct: (jnp.clip(ct, -1.0, 1.0),)

    def f(x):
        converted, consts = jax.closure_convert(lambda y: x * y, 2.0)
        return converted(3.0, *consts)

    return [jax.grad(lambda x: 100.0 * clipped(x))(2.0), jax.grad(f)(2.0)]


def checkpoints(jax, lax, jnp):
    @functools.partial(jax.checkpoint, policy=jax.checkpoint_policies.nothing_saveable)
    def f(x):
        return jnp.sin(jnp.sin(x))

    return [jax.grad(f)(0.5), jax.grad(jax.remat(f, static_argnums=()))(0.5)]


def a_flow(jax, lax, jnp):
    """A coupling layer: a half of the coordinates says how the other one is moved."""

    def inverse(params, y, flip):
        d = y.shape[-1] // 2
        y1, y2 = (y[:, d:], y[:, :d]) if flip else (y[:, :d], y[:, d:])
        shift, log_scale = jnp.split(jnp.tanh(y1 @ params["w"] + params["b"]), 2, axis=1)
        x2 = (y2 - shift) * jnp.exp(-log_scale)
        return jnp.concatenate([x2, y1] if flip else [y1, x2], axis=-1), log_scale

    def surprise(layers, y):
        logs = 0.0
        for params, flip in zip(layers, (False, True), strict=True):
            y, log_scale = inverse(params, y, flip)
            logs += jnp.sum(log_scale, axis=-1)
        return jnp.mean(jnp.sum(y**2, axis=-1) / 2 + logs)

    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    layers = [{"w": jax.random.normal(k, (1, 2)), "b": jnp.zeros(2)} for k in keys[:2]]
    y = jax.random.normal(keys[2], (5, 2))
    return [jax.value_and_grad(surprise)(layers, y), jax.jit(jax.grad(surprise))(layers, y)]


def training_in_a_loop(jax, lax, jnp):
    optimizers = importlib.import_module(f"{jax.__name__}.example_libraries.optimizers")
    init, update, get_params = optimizers.momentum(0.1, mass=0.9)

    @jax.jit
    def trained(state, key):
        def body(i, state):
            noise = jax.random.normal(jax.random.fold_in(key, i), (3,))
            slope = jax.grad(lambda p: jnp.sum((p["w"] - noise) ** 2) + p["b"] ** 2)
            return update(i, slope(get_params(state)), state)

        return lax.fori_loop(0, 6, body, state)

    state = init({"w": jnp.ones(3), "b": jnp.array(2.0)})
    return [get_params(trained(state, jax.random.PRNGKey(1)))]


def hidden_states(jax, lax, jnp):
    """The likelihood of a hidden Markov model, its slope, and the likeliest path."""
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    logits = [jax.random.normal(k, s) for k, s in zip(keys, ((3,), (3, 3), (3, 5)), strict=False)]
    seen = jax.random.randint(keys[3], (8,), 0, 5)

    def likelihood(logits):
        start, move, show = (jax.nn.log_softmax(p) for p in logits)

        def step(alpha, o):
            return jax.scipy.special.logsumexp(alpha[:, None] + move, axis=0) + show[:, o], None

        return jax.scipy.special.logsumexp(lax.scan(step, start + show[:, seen[0]], seen[1:])[0])

    def path(logits):
        start, move, show = (jax.nn.log_softmax(p) for p in logits)

        def step(best, o):
            each = best[:, None] + move
            return jnp.max(each, 0) + show[:, o], jnp.argmax(each, 0)

        best, back = lax.scan(step, start + show[:, seen[0]], seen[1:])
        last = jnp.argmax(best)
        _, found = lax.scan(lambda k, b: (b[k], b[k]), last, back, reverse=True)
        return jnp.append(found, last)

    return [jax.value_and_grad(likelihood)(logits), path(logits)]


def eigenvalues_by_lanczos(jax, lax, jnp):
    def greatest(a):
        def body(i, carry):
            rows, d, e = carry
            w = a @ rows[i]
            d = d.at[i].set(w @ rows[i])
            w = w - rows.T @ (rows @ w)
            e = e.at[i].set(jnp.linalg.norm(w))
            return rows.at[i + 1].set(w / e[i]), d, e

        rows = jnp.zeros((5, 6)).at[0].set(jnp.ones(6) / jnp.sqrt(6.0))
        _, d, e = lax.fori_loop(0, 4, body, (rows, jnp.zeros(4), jnp.zeros(4)))
        return jnp.linalg.eigvalsh(jnp.diag(d) + jnp.diag(e[:-1], 1) + jnp.diag(e[:-1], -1))[-1]

    a = jax.random.normal(jax.random.PRNGKey(0), (6, 6))
    return [greatest(a + a.T), jax.grad(greatest)(a + a.T)]


def state_spaces(jax, lax, jnp):
    """A diagonal linear recurrence of complex numbers, all steps at once."""

    def outputs(params, u):
        rates = jnp.exp(params["rate"] * jnp.exp(params["step"]))
        every = jnp.broadcast_to(rates, (*u.shape, 3))
        _, x = lax.associative_scan(
            lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (every, u[:, None] * (1 - rates))
        )
        return jax.nn.gelu((x @ params["out"]).real)

    params = {"rate": -0.5 + 1j * jnp.arange(3.0), "step": jnp.zeros(3), "out": jnp.ones(3) + 0.5j}
    u = jnp.sin(jnp.arange(7.0))
    return [outputs(params, u), jax.grad(lambda p: jnp.sum(outputs(p, u) ** 2))(params)]


def numbers_that_are_overwritten(jax, lax, jnp):
    x = jax.random.normal(jax.random.PRNGKey(2), (4,))
    made = [x.at[0].set(0), jax.nn.relu(x).at[1].add(1.0), lax.cumsum(x).at[2].multiply(2.0)]
    rows = lax.scan(lambda c, a: (c + a, c), 0.0, x)[1].block_until_ready()
    y = x
    y += 1.0
    return [*made, rows, x, y]


def an_adaptive_solver_with_an_adjoint(jax, lax, jnp):
    """Heun's method with Euler's for the error; its derivative is a run of the solver back."""

    def steps(f, y, span, args):
        def test(state):
            return state[0] < span

        def step(state):
            t, h, y = state
            h = jnp.minimum(h, span - t)
            first = f(y, *args)
            second = f(jax.tree.map(lambda y, k: y + h * k, y, first), *args)
            new = jax.tree.map(lambda y, a, b: y + h / 2 * (a + b), y, first, second)
            gaps = jax.tree.leaves(
                jax.tree.map(lambda a, b: jnp.max(jnp.abs(a - b)), first, second)
            )
            error = h * jnp.max(jnp.stack(gaps)) / 1e-4
            wider = h * jnp.clip(0.9 / jnp.sqrt(error + 1e-12), 0.2, 5.0)
            good = error < 1
            return jax.tree.map(
                lambda a, b: jnp.where(good, a, b), (t + h, wider, new), (t, wider, y)
            )

        return lax.while_loop(test, step, (0.0 * span, 0.01 + 0.0 * span, y))[2]

    @functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
    def solved(f, y, span, *args):
        return steps(f, y, span, args)

    def forward(f, y, span, *args):
        end = solved(f, y, span, *args)
        return end, (end, span, args)

    def backward(f, kept, ct):
        end, span, args = kept

        def back(state, *args):
            y, y_bar, *_ = state
            slope, pull = jax.vjp(f, y, *args)
            return (-slope, *pull(y_bar))

        zeros = jax.tree.map(jnp.zeros_like, args)
        _, y_bar, *args_bar = steps(back, (end, ct, *zeros), span, args)
        return (y_bar, jnp.sum(ct * f(end, *args)), *args_bar)

    solved.defvjp(forward, backward)

    def field(y, mu):
        return jnp.stack([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    def cost(y, span, mu):
        return jnp.sum(solved(field, y, span, mu) ** 2)

    y, slopes = jnp.array([1.0, 0.3]), jax.value_and_grad(cost, (0, 1, 2))
    batch = jax.vmap(slopes, (0, None, 0))(jnp.stack([y, -2 * y]), 0.3, jnp.array([1.0, 1.5]))
    return [slopes(y, 0.5, 1.2), jax.jit(slopes)(y, 0.4, 0.7), batch]


def a_trajectory_by_lqr(jax, lax, jnp):
    """Iterative linear-quadratic control of a pendulum, and the slope of where it ends."""

    def move(x, u):
        return x + 0.1 * jnp.array([x[1], u[0] - jnp.sin(x[0])])

    def cost(x, u, goal):
        return 0.1 * jnp.sum((x - goal) ** 2) + 0.01 * jnp.sum(u**2)

    def rolled(x, us, policy):
        def step(x, row):
            u = row[0] + policy(x, *row[1:])
            return move(x, u), (x, u)

        end, (xs, us) = lax.scan(step, x, us)
        return jnp.concatenate([xs, end[None]]), us

    def improved(xs, us, goal):
        a, b = jax.vmap(jax.jacobian(move, (0, 1)))(xs[:-1], us)
        q, r = jax.vmap(jax.grad(cost, (0, 1)), (0, 0, None))(xs[:-1], us, goal)
        (xx, _), (_, uu) = jax.vmap(jax.hessian(cost, (0, 1)), (0, 0, None))(xs[:-1], us, goal)
        last = 20 * (xs[-1] - goal), 20 * jnp.eye(2)

        def step(carry, row):
            v, vv = carry
            a, b, q, r, qq, rr = row
            solve = jnp.linalg.solve
            g, h = r + b.T @ v, rr + b.T @ vv @ b
            k, gain = -solve(h, g), -solve(h, b.T @ vv @ a)
            v = q + a.T @ v + gain.T @ (g + h @ k) + a.T @ vv @ b @ k
            vv = qq + a.T @ vv @ a + gain.T @ (b.T @ vv @ a)
            return (v, (vv + vv.T) / 2), (k, gain)

        _, (k, gain) = lax.scan(step, last, (a, b, q, r, xx, uu), reverse=True)
        return rolled(xs[0], (us, xs[:-1], k, gain), lambda x, old, k, gain: k + gain @ (x - old))

    def best(x, goal):
        xs, us = rolled(x, (jnp.zeros((6, 1)),), lambda x: jnp.zeros(1))
        return lax.fori_loop(0, 4, lambda _, path: improved(*path, goal), (xs, us))

    x, goal = jnp.array([0.1, 0.0]), jnp.array([1.0, 0.0])
    slope = jax.grad(lambda x, goal: jnp.sum(best(x, goal)[0][-1] ** 2), (0, 1))
    return [jax.jit(best)(x, goal), jax.jit(slope)(x, goal)]


def whirls_by_spectra(jax, lax, jnp):
    """Two-dimensional flow by Fourier transforms: what moves is explicit, viscosity implicit."""
    k = jnp.fft.fftfreq(8, 1 / 8)
    kx, ky = jnp.meshgrid(k, k[:5] * jnp.where(jnp.arange(5) == 4, -1, 1), indexing="ij")
    squares = kx**2 + ky**2
    inverse = 1 / squares.at[0, 0].set(1.0)
    kept = (jnp.abs(kx) < 3) & (jnp.abs(ky) < 3)

    def moved(w):
        back = jnp.fft.irfftn
        u, v = back(1j * ky * inverse * w), back(-1j * kx * inverse * w)
        return jnp.where(kept, -jnp.fft.rfftn(u * back(1j * kx * w) + v * back(1j * ky * w)), 0)

    def steps(w, viscosity, n=5, dt=0.05):
        def step(w, _):
            half = w + dt / 2 * moved(w)
            new = (w + dt * moved(half) - dt / 2 * viscosity * squares * w) / (
                1 + dt / 2 * viscosity * squares
            )
            return new, jnp.sum(jnp.abs(new) ** 2 * inverse)

        return lax.scan(step, jnp.fft.rfftn(w), None, length=n)

    def energy(w, viscosity):
        end, energies = steps(w, viscosity)
        return jnp.sum(jnp.fft.irfftn(end) ** 2) + jnp.mean(energies)

    w = jax.random.normal(jax.random.PRNGKey(3), (8, 8))
    return [steps(w, 0.1), jax.grad(energy, (0, 1))(w, 0.1), jax.jit(jax.grad(energy))(w, 0.2)]


PROGRAMS = [
    an_adaptive_solver_with_an_adjoint,
    a_trajectory_by_lqr,
    whirls_by_spectra,
    a_flow,
    hidden_states,
    eigenvalues_by_lanczos,
    state_spaces,
    numbers_that_are_overwritten,
    training_in_a_loop,
    bessel,
    gradients_that_are_seen,
    effects_in_order,
    scans_with_branches,
    trees_of_a_users_class,
    partial_functions,
    shapes_ahead,
    linear_maps,
    gradients_of_ones_own,
    checkpoints,
]


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_give_what_they_give_in_jax(program, jax):
    theirs = program(jax, jax.lax, jax.numpy)
    ours = program(tapeless, tapeless.lax, tapeless.numpy)
    pairs = list(zip(leaves(ours), leaves(theirs), strict=True))
    assert pairs
    for a, b in pairs:
        np.testing.assert_allclose(a, np.asarray(b), rtol=1e-12, atol=1e-14)
