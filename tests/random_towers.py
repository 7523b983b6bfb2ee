"""Source text of random towers of transformations over random programs.

A module has a random function f(x, v, m, n) and functions g0, g1, ... of a float x, a vector v and
a matrix m, each a transformation of the one before. Its names are those of tapeless, or of
`dual_numbers`, which says what is right.
"""

from tests.random_programs import Writer

HELPERS = """

def halving(a):
    if abs(a) < 0.3:
        return a
    return np.sin(a) + halving(a / 2) * a


def settled(a):
    y = a
    while abs(y) > 0.4:
        y = 0.6 * np.sin(y) + 0.05 * a
    return y * a


def counted(e):
    total = 0.0
    for k in range(len(e)):
        if total > 0.8:
            break
        total = total + np.sin(e[k]) * e[k - 1]
    return total


def searched(e, a):
    for k in range(len(e)):
        if e[k] > a:
            return np.cos(e[k]) * a
    return a


def scanned(e):
    out = np.zeros(len(e))
    carry = 0.5
    for k in range(len(e)):
        carry = np.tanh(carry + e[k])
        out[k] = carry
    return out


def together(rows, e):
    parameters = {"w": rows, "b": [e, 0.3 * e]}
    layers = [parameters["w"] @ e, parameters["w"][::-1] @ parameters["b"][1]]
    return np.sum(np.tanh(layers[0]) * layers[1]) * 0.3


@custom_jvp
def ruled(a):
    return np.sin(a) * a


@ruled.defjvp
def _(primals, tangents):
    (a,), (a_dot,) = primals, tangents
    return ruled(a), (np.cos(a) * a + np.sin(a)) * a_dot


@checkpoint
def again(a):
    y = a
    while abs(y) < 1.2:
        y = 1.3 * y + 0.2 * np.cos(a)
    return np.sin(y)


@checkpoint
def chosen(a):
    return np.sin(a) if a > 0.2 else 0.5 * a


def total(out):
    found = 0.0
    for leaf in tree.leaves(out):
        found = found + np.sum(np.sin(leaf))
    return found


def pulled(g, *args):
    out, back = vjp(g, *args)
    return back(tree.map(np.cos, out))


def pushed(g, *args):
    out, push = linearize(g, *args)
    return push(*(np.cos(a) for a in args))


def ruled_by_jvp(g):
    made = custom_jvp(lambda x, v, m: g(x, v, m))
    made.defjvp(lambda primals, tangents: jvp(g, primals, tangents))
    return made


def ruled_by_vjp(g):
    made = custom_vjp(lambda x, v, m: g(x, v, m))
    made.defvjp(lambda x, v, m: (g(x, v, m), (x, v, m)), lambda args, ct: vjp(g, *args)[1](ct))
    return made

"""
BASES = (
    "lambda x, v, m: f(x, v.copy(), m.copy(), 3)",
    "lambda x, v, m: (f(x, v.copy(), m.copy(), 3), np.sin(v) * x)",
    'lambda x, v, m: {"a": f(x, v.copy(), m * x, 3) * f(0.5 * x, 0.9 * v, 0.8 * m, 2), "b": [m]}',
    "lambda x, v, m: np.stack([f(x, v.copy(), m.copy(), 3), f(x, m[0].copy(), m * 0.5, 2)])",
)
#: Text, how often its right value runs the function below, and whether it is forward mode. G is the
#: function below, and T the total of what that returns.
LEVELS = (
    ("grad(T)", 1, False),
    ("grad(T, argnums=1)", 3, False),
    ("grad(T, argnums=(0, 1))", 4, False),
    ("grad(T, argnums=(0, 1, 2))", 10, False),
    ("grad(T, argnums=2)", 6, False),
    ("value_and_grad(T)", 2, False),
    ("value_and_grad(T, argnums=(1, 0))", 5, False),
    ("lambda x, v, m: jvp(G, (x, v, m), (np.cos(x), v * 0.5, m * x))", 1, True),
    ("lambda x, v, m: jvp(G, (x, v, m), (1.0, 0.0 * v, 0.3 * m))[1]", 1, True),
    ("lambda x, v, m: pulled(G, x, v, m)", 11, False),
    ("lambda x, v, m: pulled(lambda y: G(y, v, m), x)", 2, False),
    ("lambda x, v, m: pushed(G, x, v, m)", 2, True),
    ("lambda x, v, m: linearize(T, x, v, m)[1](1.0, v, 0.5 * m)", 2, True),
    ("jacfwd(G)", 2, True),
    ("jacfwd(G, argnums=1)", 4, True),
    ("jacrev(G)", 2, False),
    ("jacrev(G, argnums=1)", 4, False),
    ("jacrev(G, argnums=(0, 1))", 5, False),
    ("hessian(T)", 1, True),
    ("hessian(T, argnums=1)", 9, True),
    ("lambda x, v, m: hvp(T, (x, v, m), (1.0, np.sin(v), m))", 10, True),
    ("lambda x, v, m: hvp(lambda e: total(G(x, e, m)), (v,), (v * 0.5,))", 3, True),
    ("lambda x, v, m: vmap(G, in_axes=(0, None, None))(x + np.array([0.0, 0.13]), v, m)", 2, False),
    ("lambda x, v, m: vmap(G, in_axes=(None, 0, None))(x, np.stack([v, 0.9 * v]), m)", 2, False),
    ("lambda x, v, m: vmap(G, in_axes=(None, 1, 0))(x, m.T, np.stack([m, m * x]))", 2, False),
    ("lambda x, v, m: vmap(G)(v, np.stack([v, v * x, 0.8 * v]), np.stack([m, m, m]))", 3, False),
    ("lambda x, v, m: vmap(lambda e: G(x, e, m))(m)", 2, False),
    ("lambda x, v, m: pmap(G, in_axes=(0, None, None))(x * np.array([1.0, 0.8]), v, m)", 2, False),
    ("jit(G)", 1, False),
    ("checkpoint(G)", 1, False),
    ("ruled_by_jvp(G)", 1, False),
    ("ruled_by_vjp(G)", 1, False),
    ('lambda x, v, m: grad(lambda p: total(G(p["x"], p["v"], m)))({"x": x, "v": v})', 4, False),
)
MOST = 400  # runs of the program that the right value takes


class TowerWriter(Writer):
    """Writes programs that also call the helpers."""

    def own_scalar(self, a, scope, depth):
        if self.chance(65):
            return super().own_scalar(a, scope, depth)
        vector = self.choose(scope.vector)
        return self.choose(
            [f"halving({a})", f"settled({a})", f"counted({vector})", f"searched({vector}, {a})",
             f"together({self.choose(scope.matrix)}, {vector})", f"ruled({a})", f"again({a})",
             f"chosen({a})", f"np.sum(scanned({vector}))"]
        )  # fmt: skip

    def own_vector(self, a, scope, depth):
        if self.chance(75):
            return super().own_vector(a, scope, depth)
        return self.choose([f"scanned({a})", f"ruled({a})"])


def levels(choose, depth):
    """Texts of levels that the right value does not take too long for. No forward mode goes
    through a function with a rule for reverse mode."""
    ahead = choose([True, False])
    pool = [(t, n) for t, n, forward in LEVELS if not (forward if not ahead else "by_vjp" in t)]
    found, runs = [], 2
    while len(found) < depth:
        text, more = choose(pool)
        if runs * more <= MOST and not (text.startswith("jit") and choose(range(3))):
            found.append(text)
            runs *= more
    return found


def module(generator, statements, depth):
    """The text of a module, and the name of its last function, which is the tower."""

    def choose(choices):
        return generator.choice(list(choices))

    program = TowerWriter(choose, statements).program().removeprefix("import numpy as np\n")
    lines = ["g0 = " + choose(BASES)]
    for k, text in enumerate(levels(choose, depth)):
        scaled = f"lambda x, v, m: total(g{k}(x, v, m))"
        lines.append(f"g{k + 1} = " + text.replace("(T", f"({scaled}").replace("G", f"g{k}"))
    return HELPERS.lstrip() + program + "\n\n" + "\n".join(lines) + "\n", f"g{depth}"
