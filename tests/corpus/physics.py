"""Simulations and models from physics, chemistry and finance."""

from dataclasses import dataclass

import numpy as np
from scipy.special import erf

from tests.corpus import normal, program, uniform


@program(normal(3, 2), np.array([1.0, 2.0, 0.5]), wrt=(0, 1))
def gravitational_energy(positions, masses):
    energy = 0.0
    for i in range(len(masses)):
        for j in range(i + 1, len(masses)):
            r = np.sqrt(np.sum((positions[i] - positions[j]) ** 2) + 0.01)
            energy -= masses[i] * masses[j] / r
    return energy


@program(normal(3, 2), normal(3, 2, seed=1), 3, wrt=(0, 1))
def many_body_leapfrog(positions, velocities, n):
    def acceleration(x):
        offset = x[None] - x[:, None]
        r2 = np.sum(offset**2, axis=-1) + 0.5
        return np.sum(offset / r2[..., None] ** 1.5, axis=1)

    for _ in range(n):
        velocities = velocities + 0.05 * acceleration(positions)
        positions = positions + 0.1 * velocities
        velocities = velocities + 0.05 * acceleration(positions)
    return positions


@program(normal(4, 2))
def lennard_jones_forces_by_loops(x):
    x = x * 2
    forces = np.zeros_like(x)
    for i in range(4):
        for j in range(4):
            if i == j:
                continue
            d = x[i] - x[j]
            r2 = d @ d + 1.0
            if r2 > 30:
                continue
            forces[i] += 24 * (2 / r2**7 - 1 / r2**4) * d
    return forces


@program(0.6, 0.3, wrt=(0, 1))
def ising_mean_field(coupling, field):
    m = 0.5
    for _ in range(30):
        m = np.tanh(coupling * m + field)
    return m


@program(normal(4, 4), np.sign(normal(4, 4, seed=1)))
def ising_energy_with_periodic_loops(couplings, spins):
    energy = 0.0
    for i in range(4):
        for j in range(4):
            energy -= (
                couplings[i, j] * spins[i, j] * (spins[(i + 1) % 4, j] + spins[i, (j + 1) % 4])
            )
    return energy * np.mean(couplings)


@program(100.0, 95.0, 0.03, 0.2, 1.5, wrt=(0, 1, 2, 3, 4))
def black_scholes(spot, strike, rate, volatility, time):
    def normal_cdf(z):
        return 0.5 * (1 + erf(z / np.sqrt(2)))

    width = volatility * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * time) / width
    d2 = d1 - width
    return (spot * normal_cdf(d1) - strike * np.exp(-rate * time) * normal_cdf(d2)) / 10


@program(np.array([0.4, -0.3]), np.array([1.0, 0.8]), 5, wrt=(0, 1))
def double_pendulum(angles, lengths, n):
    speeds = np.zeros(2)
    for _ in range(n):
        c, s = np.cos(angles[0] - angles[1]), np.sin(angles[0] - angles[1])
        mass = np.array([[2 * lengths[0], lengths[1] * c], [lengths[0] * c, lengths[1]]])
        force = np.array(
            [
                -lengths[1] * s * speeds[1] ** 2 - 19.62 * np.sin(angles[0]),
                lengths[0] * s * speeds[0] ** 2 - 9.81 * np.sin(angles[1]),
            ]
        )
        speeds = speeds + 0.02 * np.linalg.solve(mass, force)
        angles = angles + 0.02 * speeds
    return angles


@program(6.03, 0.87, wrt=(0, 1))
def bouncing_ball(height, restitution):
    speed, bounces = 0.0, 0
    for _ in range(40):
        speed -= 0.5
        height += 0.1 * speed
        if height < 0:
            height, speed = -height * restitution, -restitution * speed
            bounces += 1
    return height + bounces * speed


@program(uniform(4), 1.3, wrt=(0, 1))
def ray_through_layers(thicknesses, angle):
    indices = (1.0, 1.4, 1.6, 1.9)
    x, sine = 0.0, np.sin(angle)
    for thickness, index in zip(thicknesses, indices):
        s = sine / index
        x += thickness * s / np.sqrt(1 - s * s)
    return x


@program(uniform(3), 0.7, wrt=(0, 1))
def transfer_matrices(thicknesses, wavenumber):
    total = np.eye(2)
    for k, d in enumerate(thicknesses):
        phase, index = wavenumber * d * (1 + k), 1.0 + 0.3 * k
        c, s = np.cos(phase), np.sin(phase)
        total = total @ np.array([[c, s / index], [-s * index, c]])
    return total[0, 0] ** 2 + total[1, 0] ** 2


@dataclass
class Species:
    amount: float
    rate: float


@program([Species(1.0, 0.5), Species(0.3, 1.2), Species(0.1, 0.4)])
def reaction_chain(chain):
    for _ in range(5):
        for before, after in zip(chain, chain[1:]):
            moved = 0.1 * before.rate * before.amount
            before.amount -= moved
            after.amount += moved
    return chain[-1].amount * chain[0].rate


@program(normal(4), 0.8, wrt=(0, 1))
def rotation_of_quaternions(q, angle):
    def product(a, b):
        w, x, y, z = a
        p, i, j, k = b
        return np.array(
            [
                w * p - x * i - y * j - z * k,
                w * i + x * p + y * k - z * j,
                w * j - x * k + y * p + z * i,
                w * k + x * j - y * i + z * p,
            ]
        )

    q = q / np.sqrt(np.sum(q**2))
    turn = np.array([np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0])
    return product(product(turn, q), turn * np.array([1, -1, -1, -1]))


@program(uniform(3), normal(3), wrt=(0, 1))
def arm_kinematics(lengths, angles):
    x = y = heading = 0.0
    for length, angle in zip(lengths, angles):
        heading += angle
        x += length * np.cos(heading)
        y += length * np.sin(heading)
    return x, y


@program(5.05, 0.3, 2.0, wrt=(0, 1, 2))
def rocket_with_staging(fuel, drag, burn):
    speed, height, stage = 0.0, 0.0, 1
    while fuel > 0.5:
        thrust = burn if stage == 1 else 0.6 * burn
        fuel -= 0.15 * thrust
        speed += 0.1 * (thrust * 5 / (1 + fuel) - drag * speed * abs(speed))
        height += 0.1 * speed
        if fuel < 2.5 and stage == 1:
            stage = 2
            speed *= 0.98
    return height


@program(0.9, 2.1, wrt=(0, 1))
def van_der_waals_volume(pressure, temperature):
    v = 8 * temperature / (3 * pressure)
    while True:
        f = (pressure + 3 / v**2) * (3 * v - 1) - 8 * temperature
        slope = 3 * (pressure + 3 / v**2) - 6 / v**3 * (3 * v - 1)
        v = v - f / slope
        if abs(f) < 1e-12:
            return v


@program(uniform(3, 3))
def page_rank(links):
    transition = links / links.sum(axis=0)
    rank = np.full(3, 1 / 3)
    for _ in range(6):
        rank = 0.85 * transition @ rank + 0.05
    return rank


@program(1.1, 0.3, 2.0, wrt=(0, 1, 2))
def annealed_lattice_sum(a, b, cutoff):
    total = 0.0
    for i in range(-2, 3):
        for j in range(-2, 3):
            r2 = (a * i) ** 2 + (i * b + j) ** 2
            if 0 < r2 <= cutoff**2 + 0.3:
                total += np.exp(-r2 / cutoff) * (-1) ** (i + j)
    return total


@program(normal(2), normal(2, seed=1), 0.3, wrt=(0, 1, 2))
def thrown_with_drag(x0, v0, k):
    """Names that a rewriter may want for itself."""
    t1, dt = 0.0, 0.05
    x1, v1 = x0.copy(), v0
    while t1 < 0.2:
        v1 = v1 + dt * (np.array([0.0, -9.81]) - k * v1 * np.sqrt(v1 @ v1))
        x1 += dt * v1
        t1 += dt
    return np.sum(x1**2) + v0 @ v1
