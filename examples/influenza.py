"""Fit an epidemic model to an outbreak of influenza, with the gradient through its time loop.

What: the SIR model (susceptible, infectious, recovered), integrated by the classical Runge-Kutta
method written with plain numbers, is fitted by least squares to the boys in bed on 14 days.  Prints
the two rates, the basic reproduction number R0 = beta / gamma and the residual, and draws data and
fit.
Why: a simulation is a loop of scalars; its derivative should be a loop of scalars too, not a graph
of 336 steps.
Source of the data: English boarding school, 763 boys, 22 January to 4 February 1978: "Influenza in
a boarding school", British Medical Journal, 4 March 1978, p. 587.
Source of the model: W. O. Kermack, A. G. McKendrick, Proc. R. Soc. Lond. A 115 (1927) 700.  One boy
fell ill first; the model starts from him on the day before the first count.
Units: time in days, beta and gamma per day, persons.

    python examples/influenza.py    # fits; writes ./influenza.png and ./influenza_grad.py
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.progress import Progress

import tapeless

BOYS = 763
IN_BED = np.array([3.0, 8, 26, 76, 225, 298, 258, 233, 189, 128, 68, 29, 14, 4])


def flow(susceptible, infectious, beta, gamma):
    """Change per day of the susceptible and of the infectious."""
    infections = beta * susceptible * infectious / BOYS
    return -infections, infections - gamma * infectious


def simulate(beta, gamma, days, steps_per_day):
    """Infectious boys at the end of each day, from one at time 0 (4th-order Runge-Kutta)."""
    h = 1 / steps_per_day
    s = BOYS - 1.0
    i = 1.0
    infectious = np.zeros(days)
    for day in range(days):
        for _ in range(steps_per_day):
            ds1, di1 = flow(s, i, beta, gamma)
            ds2, di2 = flow(s + h / 2 * ds1, i + h / 2 * di1, beta, gamma)
            ds3, di3 = flow(s + h / 2 * ds2, i + h / 2 * di2, beta, gamma)
            ds4, di4 = flow(s + h * ds3, i + h * di3, beta, gamma)
            s = s + h / 6 * (ds1 + 2 * ds2 + 2 * ds3 + ds4)
            i = i + h / 6 * (di1 + 2 * di2 + 2 * di3 + di4)
        infectious[day] = i
    return infectious


def loss(log_beta, log_gamma, in_bed, steps_per_day):
    """Squared residual over squared data: 0 is a perfect fit, 1 as good as nobody ever in bed."""
    predicted = simulate(np.exp(log_beta), np.exp(log_gamma), len(in_bed), steps_per_day)
    return np.sum((predicted - in_bed) ** 2) / np.sum(in_bed**2)


def line_search(value_and_grad, x, value, grad, direction):
    """Halve the step until the value falls enough (Armijo): (x, value, gradient), or None."""
    # A full step is tried, but none that changes a rate by more than a factor of exp(0.5).
    size = min(1.0, 0.5 / np.abs(direction).max())
    while size > 1e-10:
        x_new = x + size * direction
        value_new, grad_new = value_and_grad(x_new)
        if value_new <= value + 1e-4 * size * (grad @ direction):
            return x_new, value_new, grad_new
        size /= 2
    return None


def update_inverse_hessian(inverse, step, change):
    """The BFGS formula; left alone where the curvature along the step is not positive."""
    curvature = step @ change
    if curvature <= 0:
        return inverse
    left = np.eye(len(step)) - np.outer(step, change) / curvature
    return left @ inverse @ left.T + np.outer(step, step) / curvature


def minimise(value_and_grad, start, tolerance, max_steps):
    """Where value_and_grad(x) -> (float, array) is least, by BFGS.

    Source: J. Nocedal, S. J. Wright, Numerical Optimization (2nd edition, 2006), chapter 6.
    """
    x = np.array(start)
    value, grad = value_and_grad(x)
    inverse = np.eye(len(x))
    with Progress() as progress:
        task = progress.add_task("fitting", total=max_steps)
        for _ in range(max_steps):
            if np.abs(grad).max() < tolerance:
                break
            found = line_search(value_and_grad, x, value, grad, -inverse @ grad)
            if found is None:
                break
            x_new, value, grad_new = found
            inverse = update_inverse_hessian(inverse, x_new - x, grad_new - grad)
            x, grad = x_new, grad_new
            progress.update(task, advance=1, description=f"fitting (residual {value:.5f})")
        progress.update(task, completed=max_steps)
    return x


def fit(in_bed, steps_per_day=24, start=(1.0, 0.3)):
    """The rates that fit best, per day, and the gradient used: (beta, gamma, gradient)."""
    gradient = tapeless.value_and_grad(loss, argnums=(0, 1))

    def value_and_grad(log_rates):
        value, grad = gradient(float(log_rates[0]), float(log_rates[1]), in_bed, steps_per_day)
        return value, np.array(grad)

    log_rates = minimise(value_and_grad, np.log(start), tolerance=1e-7, max_steps=50)
    beta, gamma = np.exp(log_rates)
    return float(beta), float(gamma), gradient


def draw(path, in_bed, predicted):
    """Data and fit over the days, as a PNG; False if matplotlib is missing."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - optional: only for the picture
        from matplotlib.figure import Figure  # noqa: PLC0415 - the same
    except ImportError:
        return False
    days = np.arange(1, len(in_bed) + 1)
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.plot(days, predicted, color="tab:blue", label="SIR model, fitted")
    axes.plot(days, in_bed, "o", color="tab:orange", label="boys in bed")
    axes.set(xlabel="day (1 is 22 January 1978)", ylabel="boys")
    axes.set_title("Influenza in an English boarding school, 1978")
    axes.legend()
    figure.savefig(path, dpi=150)
    return True


def main(argv=None):
    parser = argparse.ArgumentParser(
        description="Fit an SIR model to the 1978 boarding-school influenza."
    )
    parser.add_argument(
        "--steps-per-day", type=int, default=24, help="Runge-Kutta steps a day (default: 24)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="where the files go (default: here)"
    )
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)

    beta, gamma, gradient = fit(IN_BED, args.steps_per_day)
    predicted = simulate(beta, gamma, len(IN_BED), args.steps_per_day)
    print(f"beta:      {beta:.4f} per day")
    print(f"gamma:     {gamma:.4f} per day (in bed for {1 / gamma:.2f} days)")
    print(f"R0:        {beta / gamma:.3f}")
    print(f"residual:  {np.sqrt(np.mean((predicted - IN_BED) ** 2)):.2f} boys (root mean square)")

    path = args.out / "influenza_grad.py"
    path.write_text(gradient.source(), encoding="utf-8")
    print(f"emitted gradient:  {path}")
    picture = args.out / "influenza.png"
    if draw(picture, IN_BED, predicted):
        print(f"picture:           {picture}")
    else:
        print(
            "no picture: matplotlib is missing (pip install matplotlib, then run this again)",
            file=sys.stderr,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
