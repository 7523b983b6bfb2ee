"""Scripts as scientists have them: arrays filled by loops, state in dictionaries and classes."""

import numpy as np

from tests.corpus import definite, normal, program, uniform


@program(normal(4, 2), normal(4, 2, seed=1), uniform(4, seed=2), 3, wrt=(0, 1, 2))
def n_body_with_filled_accelerations(pos, vel, mass, steps):
    n = pos.shape[0]
    for _ in range(steps):
        acc = np.zeros((n, 2))
        for i in range(n):
            for j in range(n):
                if i != j:
                    d = pos[j] - pos[i]
                    acc[i] += mass[j] * d / (np.sum(d**2) + 0.3) ** 1.5
        vel += 0.05 * acc
        pos += 0.05 * vel
    return 0.5 * np.sum(mass * np.sum(vel**2, axis=1))


@program(normal(6), 0.4, 0.3, wrt=(0, 1, 2))
def kalman_filter_of_a_position(measured, process, noise):
    F = np.array([[1.0, 0.1], [0.0, 1.0]])
    H = np.array([[1.0, 0.0]])
    Q = process**2 * np.eye(2)
    state = np.zeros(2)
    P = np.eye(2)
    estimates = np.zeros((len(measured), 2))
    loglik = 0.0
    for k in range(len(measured)):
        state = F @ state
        P = F @ P @ F.T + Q
        residual = measured[k] - (H @ state)[0]
        S = (H @ P @ H.T)[0, 0] + noise**2
        K = P @ H[0] / S
        state = state + K * residual
        P = (np.eye(2) - np.outer(K, H[0])) @ P
        estimates[k] = state
        loglik -= 0.5 * (np.log(2 * np.pi * S) + residual**2 / S)
    return loglik + np.mean(estimates**2)


@program(uniform(3, 3), uniform(3, 4, seed=1), np.array([0, 2, 1, 3, 3]), wrt=(0, 1))
def hidden_markov_forward(transition, emission, observed):
    A = transition / transition.sum(axis=1, keepdims=True)
    B = emission / emission.sum(axis=1, keepdims=True)
    alpha = np.zeros((len(observed), 3))
    alpha[0] = B[:, observed[0]] / 3
    loglik = 0.0
    for t in range(1, len(observed)):
        for j in range(3):
            for i in range(3):
                alpha[t, j] += alpha[t - 1, i] * A[i, j]
            alpha[t, j] *= B[j, observed[t]]
        total = alpha[t].sum()
        loglik += np.log(total)
        alpha[t] /= total
    return loglik


@program(normal(4, 3), normal(3, 3, seed=1), wrt=(0, 1))
def viterbi_smoothed(scores, transition):
    beta = np.zeros_like(scores)
    beta[0] = scores[0]
    for t in range(1, scores.shape[0]):
        for j in range(scores.shape[1]):
            reach = beta[t - 1] + transition[:, j]
            top = np.max(reach)
            beta[t, j] = top + np.log(np.sum(np.exp(reach - top))) + scores[t, j]
    return np.log(np.sum(np.exp(beta[-1])))


@program(normal(6, 2), normal(2, 2, seed=1), uniform(2, seed=2), wrt=(0, 1, 2))
def mixture_step_of_expectation_maximisation(data, means, widths):
    n, k = len(data), len(means)
    resp = np.empty((n, k))
    for i in range(n):
        for c in range(k):
            resp[i, c] = np.exp(-0.5 * np.sum((data[i] - means[c]) ** 2) / widths[c]) / widths[c]
        resp[i] /= np.sum(resp[i])
    new_means = np.zeros((k, 2))
    for c in range(k):
        weight = resp[:, c].sum()
        new_means[c] = (resp[:, c][:, None] * data).sum(axis=0) / weight
    return new_means


class Lstm:
    def __init__(self, weights, size):
        self.weights = weights
        self.h = np.zeros(size)
        self.c = np.zeros(size)

    def step(self, x):
        z = self.weights @ np.concatenate([x, self.h])
        i, f, o, g = np.split(z, 4)
        gate = lambda a: 1 / (1 + np.exp(-a))
        self.c = gate(f) * self.c + gate(i) * np.tanh(g)
        self.h = gate(o) * np.tanh(self.c)
        return self.h


@program(normal(8, 5), normal(4, 3, seed=1), wrt=(0, 1))
def long_short_term_memory(weights, inputs):
    cell = Lstm(weights, 2)
    outputs = []
    for x in inputs:
        outputs.append(cell.step(x))
    return np.mean(np.array(outputs) ** 2) + np.sum(cell.c)


@program(
    {"q": normal(3, 4), "k": normal(3, 4, seed=1), "v": normal(3, 4, seed=2)}, normal(5, 3, seed=3),
    wrt=(0, 1),
)  # fmt: skip
def causal_attention_by_rows(params, x):
    q, k, v = x @ params["q"], x @ params["k"], x @ params["v"]
    out = np.zeros_like(v)
    for t in range(len(x)):
        scores = k[: t + 1] @ q[t] / 2.0
        scores = np.exp(scores - scores.max())
        out[t] = (scores / scores.sum()) @ v[: t + 1]
    return out


@program(normal(6, 6), normal(3, 3, seed=1), wrt=(0, 1))
def convolution_by_loops(image, kernel):
    h, w = image.shape
    kh, kw = kernel.shape
    out = np.zeros((h - kh + 1, w - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(image[i : i + kh, j : j + kw] * kernel)
    return np.sum(np.tanh(out))


@program(uniform(3, 5), 0.8, 3, wrt=(0, 1))
def lattice_boltzmann(f, omega, steps):
    shift = [0, 1, -1]
    weight = [2 / 3, 1 / 6, 1 / 6]
    for _ in range(steps):
        for k in range(3):
            f[k] = np.roll(f[k], shift[k])
        rho = f.sum(axis=0)
        u = (f[1] - f[2]) / rho
        for k in range(3):
            cu = 3 * shift[k] * u
            f[k] += omega * (weight[k] * rho * (1 + cu + cu**2 / 2 - 1.5 * u**2) - f[k])
    return np.sum(f[1] ** 2)


@program(0.5, 0.8, 0.08, 40, wrt=(0, 1, 2))
def fitzhugh_nagumo(current, a, epsilon, n):
    v = np.zeros(n)
    w = np.zeros(n)
    v[0], w[0] = -1.0, -0.5
    for t in range(n - 1):
        v[t + 1] = v[t] + 0.2 * (v[t] - v[t] ** 3 / 3 - w[t] + current)
        w[t + 1] = w[t] + 0.2 * epsilon * (v[t] + 0.7 - a * w[t])
    return np.mean(v**2) + w[-1]


@program(normal(5), 0.4, 3, wrt=(0, 1))
def crank_nicolson_by_thomas(u, r, steps):
    n = len(u)
    for _ in range(steps):
        d = np.zeros(n)
        for i in range(n):
            left = u[i - 1] if i > 0 else 0.0
            right = u[i + 1] if i < n - 1 else 0.0
            d[i] = (1 - r) * u[i] + r / 2 * (left + right)
        c = np.zeros(n)
        c[0] = -r / 2 / (1 + r)
        d[0] = d[0] / (1 + r)
        for i in range(1, n):
            m = 1 + r + r / 2 * c[i - 1]
            c[i] = -r / 2 / m
            d[i] = (d[i] + r / 2 * d[i - 1]) / m
        u = np.zeros(n)
        u[-1] = d[-1]
        for i in range(n - 2, -1, -1):
            u[i] = d[i] - c[i] * u[i + 1]
    return np.sum(u**2)


@program(definite(4), normal(4), wrt=(0, 1))
def conjugate_gradients_until_small(A, b):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    for _ in range(3):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r @ r
        if np.sqrt(new) < 1e-10:
            break
        p = r + (new / rs) * p
        rs = new
    return x


@program(uniform(2), np.linspace(0.0, 1.0, 6), uniform(6, seed=1), wrt=(0, 2))
def gauss_newton_fit(theta, t, y):
    for _ in range(3):
        model = theta[0] * np.exp(-theta[1] * t)
        J = np.stack([np.exp(-theta[1] * t), -t * model], axis=1)
        theta = theta + np.linalg.solve(J.T @ J + 0.1 * np.eye(2), J.T @ (y - model))
    return theta


@program(uniform(5), np.array([0.3, 1.7, 2.2, 3.6]), wrt=(0,))
def natural_spline(y, points):
    n = len(y)
    A = np.zeros((n, n))
    rhs = np.zeros(n)
    A[0, 0] = A[-1, -1] = 1.0
    for i in range(1, n - 1):
        A[i, i - 1], A[i, i], A[i, i + 1] = 1.0, 4.0, 1.0
        rhs[i] = 6 * (y[i - 1] - 2 * y[i] + y[i + 1])
    m = np.linalg.solve(A, rhs)
    values = []
    for p in points:
        k = int(p)
        s = p - k
        a = (m[k + 1] - m[k]) / 6
        b = y[k + 1] - y[k] - (2 * m[k] + m[k + 1]) / 6
        values.append(y[k] + s * (b + s * (m[k] / 2 + s * a)))
    return np.array(values)


@program(np.array([0.1, -0.2, 3.0]), 1.1, np.array([0.5, 0.8, -0.6]), wrt=(0, 1, 2))
def ray_traced_sphere(center, radius, light):
    image = np.zeros((3, 3))
    light = light / np.sqrt(light @ light)
    for i in range(3):
        for j in range(3):
            ray = np.array([(j - 1) * 0.2, (i - 1) * 0.2, 1.0])
            ray = ray / np.linalg.norm(ray)
            b = ray @ center
            disc = b * b - center @ center + radius**2
            if disc < 0:
                continue
            hit = (b - np.sqrt(disc)) * ray
            normal_ = (hit - center) / radius
            shade = normal_ @ light
            if shade > 0:
                image[i, j] = shade + 0.3 * shade**4
            else:
                image[i, j] = 0.05 * b
    return image


@program(uniform(4, 4), 0.85, wrt=(0, 1))
def page_rank(links, damping):
    n = len(links)
    M = links / links.sum(axis=0)
    rank = np.ones(n) / n
    delta, steps = 1.0, 0
    while delta > 1e-3 and steps < 50:
        new = (1 - damping) / n + damping * M @ rank
        delta = np.abs(new - rank).sum()
        rank = new
        steps += 1
    return rank @ np.arange(1.0, n + 1)


@program([{"w": normal(4, 2), "b": normal(4)}, {"w": normal(2, 4, seed=1), "b": normal(2)}],
         normal(2, seed=3), wrt=(0, 1))  # fmt: skip
def neural_differential_equation(layers, y):
    def field(state):
        for k, layer in enumerate(layers):
            state = layer["w"] @ state + layer["b"]
            if k < len(layers) - 1:
                state = np.tanh(state)
        return state

    path = [y]
    for _ in range(5):
        k1 = field(y)
        k2 = field(y + 0.05 * k1)
        y = y + 0.1 * k2
        path.append(y)
    return np.stack(path)


@program(uniform(5), normal(5), np.array([0.8, 1.2, 0.3]), wrt=(0, 1, 2))
def gaussian_process_evidence(x, y, theta):
    n = len(x)
    K = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            K[i, j] = theta[0] ** 2 * np.exp(-0.5 * ((x[i] - x[j]) / theta[1]) ** 2)
            K[j, i] = K[i, j]
        K[i, i] += theta[2] ** 2
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(L, y)
    return 0.5 * alpha @ alpha + np.sum(np.log(np.diag(L)))


@program(1.3, 0.7, wrt=(0, 1))
def adaptive_step_control(y0, rate):
    def f(t, y):
        return -rate * y + np.sin(t)

    t, y, h = 0.0, y0, 0.1
    taken = 0
    while t < 1.0 and taken < 60:
        k1 = f(t, y)
        k2 = f(t + h, y + h * k1)
        low = y + h * k1
        high = y + h * (k1 + k2) / 2
        error = abs(high - low)
        if error > 0.004:
            h = h / 2
            continue
        t = t + h
        y = high
        taken += 1
        if error < 0.0005:
            h = 2 * h
    return y


@program(2.7, 3, wrt=(0,))
def newton_root_of_power(a, k):
    x = 1.5
    for it in range(50):
        fx = x**k - a
        if abs(fx) < 1e-9:
            break
        x = x - fx / (k * x ** (k - 1))
    else:
        x = np.nan
    return x


@program(np.array([1.1, 0.4, 0.1, 0.4]), np.array([2.0, 1.0]), 30, wrt=(0, 1))
def lotka_volterra_path(params, start, n):
    a, b, c, d = params
    path = np.empty((n + 1, 2))
    path[0] = start
    for i in range(n):
        prey, predator = path[i]
        path[i + 1, 0] = prey + 0.02 * (a * prey - b * prey * predator)
        path[i + 1, 1] = predator + 0.02 * (c * prey * predator - d * predator)
    return path[-1] + path.mean(axis=0)


@program(100.0, 101.3, 0.05, 0.2, 6, wrt=(0, 1, 2, 3))
def american_put_on_a_tree(s, k, r, sigma, n):
    dt = 1.0 / n
    u = np.exp(sigma * np.sqrt(dt))
    p = (np.exp(r * dt) - 1 / u) / (u - 1 / u)
    disc = np.exp(-r * dt)
    values = np.zeros(n + 1)
    for j in range(n + 1):
        values[j] = max(k - s * u ** (2 * j - n), 0.0)
    for step in range(n - 1, -1, -1):
        for j in range(step + 1):
            hold = disc * (p * values[j + 1] + (1 - p) * values[j])
            values[j] = max(hold, k - s * u ** (2 * j - step))
    return values[0]


@program(uniform(3), uniform(3, seed=1), wrt=(0, 1))
def forward_kinematics_chain(angles, lengths):
    T = np.eye(3)
    joints = []
    for theta, length in zip(angles, lengths):
        c, s = np.cos(theta), np.sin(theta)
        T = T @ np.array([[c, -s, length * c], [s, c, length * s], [0.0, 0.0, 1.0]])
        joints.append(T[:2, 2])
    return np.concatenate(joints)


@program(normal(4, 3), normal(3, 2, seed=1), wrt=(0, 1))
def landmark_residuals(poses, landmarks):
    cost = 0.0
    for k, pose in enumerate(poses):
        x, y, heading = pose
        if k > 0:
            step = pose - poses[k - 1]
            cost += step @ step
        for mark in landmarks:
            dx, dy = mark[0] - x, mark[1] - y
            r = np.hypot(dx, dy)
            if r > 3.0:
                continue
            bearing = np.arctan2(dy, dx) - heading
            cost += (r - 1.0) ** 2 + np.sin(bearing / 2) ** 2
    return cost


@program(uniform(5, 2, low=0.0, high=3.0), wrt=(0,))
def molecular_dynamics_in_a_box(pos):
    box, cutoff = 3.0, 1.4
    n = len(pos)
    force = np.zeros_like(pos)
    energy = 0.0
    for i in range(n - 1):
        for j in range(i + 1, n):
            d = pos[i] - pos[j]
            d -= box * np.round(d / box)
            r2 = np.dot(d, d)
            if r2 > cutoff**2:
                continue
            s = 1.0 / (r2 + 0.5) ** 3
            energy += 4 * (s * s - s)
            pair = 24 * (2 * s * s - s) / (r2 + 0.5) * d
            force[i] += pair
            force[j] -= pair
    return energy + 0.01 * np.sum(force**2)


TREE = {"left": {"leaf": 0}, "right": {"left": {"leaf": 2}, "right": {"leaf": 1}, "length": 0},
        "length": 1}  # fmt: skip


@program(uniform(2, low=0.1, high=0.6), uniform(4, seed=1), wrt=(0, 1))
def phylogenetic_pruning(lengths, frequencies):
    pi = frequencies / frequencies.sum()

    def partial(node):
        if "leaf" in node:
            tip = np.zeros(4)
            tip[node["leaf"]] = 1.0
            return tip
        e = np.exp(-lengths[node["length"]])
        P = e * np.eye(4) + (1 - e) * np.outer(np.ones(4), pi)
        return (P @ partial(node["left"])) * (P @ partial(node["right"]))

    return np.log(pi @ partial(TREE))


@program(0.4, 0.1, 25, wrt=(0, 1))
def epidemic_with_lockdown(beta, gamma, days):
    S, I, R = 0.99, 0.01, 0.0
    history = {"S": [], "I": []}
    locked = False
    for day in range(days):
        contact = beta * 0.5 if I > 0.05 else beta
        new = contact * S * I
        S, I, R = S - new, I + new - gamma * I, R + gamma * I
        history["S"].append(S)
        history["I"].append(I)
    return max(history["I"]) + history["S"][-1] ** 2 + 0.3 * R


@program({"mean": normal(3), "logstd": 0.3 * normal(3, seed=1)}, normal(4, 3, seed=2), wrt=(0,))
def evidence_lower_bound(q, noise):
    total = 0.0
    std = np.exp(q["logstd"])
    for eps in noise:
        z = q["mean"] + std * eps
        logp = -0.5 * np.sum(z**2) - 0.1 * np.sum(z**4)
        total += logp
    return total / len(noise) + np.sum(q["logstd"])


@program(normal(2), normal(2, seed=1), 5, wrt=(0, 1))
def hamiltonian_leapfrog(q, p, steps):
    def slope(q):
        return np.array([q[0] + 0.4 * q[0] ** 3, 2 * q[1] + q[0] * 0.5])

    q, p = q.copy(), p.copy()
    p -= 0.05 * slope(q)
    for i in range(steps):
        q += 0.1 * p
        if i != steps - 1:
            p -= 0.1 * slope(q)
    p -= 0.05 * slope(q)
    return {"q": q, "p": -p}


@program(normal(3), 0.1, 6, wrt=(0, 1))
def adam_inside(theta, rate, n):
    m = np.zeros_like(theta)
    v = np.zeros_like(theta)
    for t in range(1, n + 1):
        g = 2 * theta + np.cos(theta)
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g**2
        theta = theta - rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.99**t)) + 1e-3)
    return theta


@program(normal(6), normal(4, seed=1), wrt=(0, 1))
def dynamic_time_warping_smoothed(a, b):
    n, m = len(a), len(b)
    D = np.full((n + 1, m + 1), 20.0)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            near = np.array([D[i - 1, j], D[i, j - 1], D[i - 1, j - 1]])
            low = near.min()
            D[i, j] = (a[i - 1] - b[j - 1]) ** 2 + low - np.log(np.sum(np.exp(low - near)))
    return D[n, m]


@program(uniform(4, 4), 12, wrt=(0,))
def gauss_seidel_sweeps(u, sweeps):
    n, m = u.shape
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = (
                    0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                    + 0.01 * u[i, j] ** 2
                )
    return u[1:-1, 1:-1].sum()


@program(definite(4), wrt=(0,))
def cholesky_by_hand(A):
    n = A.shape[0]
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s += L[i, k] * L[j, k]
            if i == j:
                L[i, j] = np.sqrt(A[i, i] - s)
            else:
                L[i, j] = (A[i, j] - s) / L[j, j]
    return L


@program(definite(4), normal(4), wrt=(0, 1))
def gaussian_elimination_with_pivots(A, b):
    A, b = A.copy(), b.copy()
    n = len(b)
    for k in range(n):
        pivot = k + np.argmax(np.abs(A[k:, k]))
        if pivot != k:
            A[[k, pivot]] = A[[pivot, k]]
            b[[k, pivot]] = b[[pivot, k]]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            A[i, k:] -= factor * A[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


@program(normal(8), uniform(3, seed=1), wrt=(0, 1))
def recursive_filter_and_envelope(signal, coefficients):
    a, b, decay = coefficients * 0.4
    out = np.zeros_like(signal)
    envelope = 0.0
    peaks = []
    for n in range(len(signal)):
        out[n] = a * signal[n]
        if n >= 1:
            out[n] += b * out[n - 1]
        if n >= 2:
            out[n] -= 0.2 * out[n - 2]
        level = out[n] ** 2
        if level > envelope:
            envelope = level
        else:
            envelope = envelope * (1 - decay)
        peaks.append(envelope)
    return np.sum(out**2) + np.mean(peaks)


@program(0.3, 0.02, 300.0, wrt=(0, 1, 2))
def van_der_waals_root(volume, slope, temperature):
    def pressure(v):
        return 8.314 * temperature / (v - 0.04) / 1e4 - slope / v**2

    low, high = volume, 3.0
    for _ in range(6):
        mid = (low + high) / 2
        if pressure(mid) > 0.5:
            low = mid
        else:
            high = mid
    v = (low + high) / 2
    for _ in range(3):
        h = 1e-3
        v = v - (pressure(v) - 0.5) * 2 * h / (pressure(v + h) - pressure(v - h))
    return v


class Neuron:
    """Leaky integrate and fire, without the reset: smooth."""

    def __init__(self, leak, gain):
        self.leak, self.gain = leak, gain
        self.v = 0.0
        self.trace = []

    def receive(self, current):
        self.v += -self.leak * self.v + self.gain * current
        self.trace.append(self.v)
        return 1 / (1 + np.exp(-self.v))


@program(0.2, 0.7, normal(5), wrt=(0, 1, 2))
def network_of_two_neurons(leak, gain, currents):
    first, second = Neuron(leak, gain), Neuron(2 * leak, gain**2)
    rate = 0.0
    for current in currents:
        rate += second.receive(first.receive(current))
    return rate + np.var(first.trace) + sum(second.trace)
