"""Forecast the carbon dioxide over Mauna Loa by Gaussian-process regression.

What: what a parabola leaves is taken for a sum of a trend, a yearly cycle that slowly changes its
form, weather and noise: one covariance function with 8 hyperparameters. They are found by raising
the marginal likelihood of the monthly means from 1974 to 1993 along its gradient; the years to 2001
are forecast and compared.
Why: the gradient goes through a Cholesky factorisation, which the derivative does not repeat.
Source of the data: see data/README.md (C. D. Keeling, T. P. Whorf, public domain).
Source of the model: C. E. Rasmussen, C. K. I. Williams, Gaussian Processes for Machine Learning
(2006), section 5.4.3, with an exponential for what is irregular, and algorithm 2.1.
Units: time in years, concentrations in parts per million by volume of dry air.

    python examples/mauna_loa.py    # writes ./mauna_loa.png and ./mauna_loa_grad.py
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import tapeless

try:
    import scipy.linalg
    import scipy.optimize
except ImportError:
    sys.exit("mauna_loa.py needs SciPy, which is not installed: pip install scipy")

DATA = Path(__file__).parent / "data" / "co2.csv.gz"
# name: value at the start, in ppm and years; "form" has no unit
START = {
    "trend": 1.0,
    "trend_time": 10.0,
    "cycle": 2.4,
    "cycle_time": 90.0,
    "cycle_form": 1.3,
    "weather": 0.5,
    "weather_time": 1.0,
    "noise": 0.2,
}


def load():
    """Monthly means: times in years, concentrations in ppm; months without data are left out."""
    dates, weekly = np.genfromtxt(DATA, delimiter=",", skip_header=1, unpack=True)
    there = np.isfinite(weekly)
    months = (dates[there] // 10000 * 12 + dates[there] // 100 % 100 - 1).astype(int)
    kept, place = np.unique(months, return_inverse=True)
    return (kept + 0.5) / 12, np.bincount(place, weekly[there]) / np.bincount(place)


def covariance(log_params, apart):
    """Of the concentration, without noise, at times so far apart (in years)."""
    p = {name: np.exp(value) for name, value in log_params.items()}
    trend = p["trend"] ** 2 * np.exp(-0.5 * (apart / p["trend_time"]) ** 2)
    cycle = p["cycle"] ** 2 * np.exp(
        -0.5 * (apart / p["cycle_time"]) ** 2 - 2 * (np.sin(np.pi * apart) / p["cycle_form"]) ** 2
    )
    weather = p["weather"] ** 2 * np.exp(-np.abs(apart) / p["weather_time"])
    return trend + cycle + weather


def with_noise(log_params, times):
    """Covariance of the measurements (n, n)."""
    apart = times[:, None] - times
    return covariance(log_params, apart) + np.exp(2 * log_params["noise"]) * np.eye(len(times))


def surprise(log_params, times, values):
    """Minus the logarithm of the marginal likelihood, for one measurement."""
    lower = np.linalg.cholesky(with_noise(log_params, times))
    white = scipy.linalg.solve_triangular(lower, values, lower=True)
    total = 0.5 * np.sum(white**2) + np.sum(np.log(np.diagonal(lower)))
    return total / len(times) + 0.5 * np.log(2 * np.pi)


def fit(times, values, steps):
    """Logarithms of the hyperparameters, the surprise there, and the gradient used."""
    gradient = tapeless.value_and_grad(surprise)

    def at(vector):
        value, slopes = gradient(dict(zip(START, vector, strict=True)), times, values)
        return value, np.array([slopes[name] for name in START])

    start = np.log(list(START.values()))
    found = scipy.optimize.minimize(
        at, start, jac=True, method="L-BFGS-B", options={"maxiter": steps}
    )
    return dict(zip(START, found.x, strict=True)), found.fun, gradient


def predict(log_params, times, values, later):
    """Mean and deviation of what would be measured at later times."""
    factor = scipy.linalg.cho_factor(with_noise(log_params, times))
    cross = covariance(log_params, later[:, None] - times)
    mean = cross @ scipy.linalg.cho_solve(factor, values)
    explained = np.sum(cross * scipy.linalg.cho_solve(factor, cross.T).T, axis=1)
    prior = covariance(log_params, np.zeros(1)) + np.exp(2 * log_params["noise"])
    return mean, np.sqrt(prior - explained)


def draw(path, times, values, later, mean, deviation):
    """Data and forecast as a PNG; False if matplotlib is missing."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - optional: only for the picture
        from matplotlib.figure import Figure  # noqa: PLC0415 - the same
    except ImportError:
        return False
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    band = mean - 2 * deviation, mean + 2 * deviation
    axes.fill_between(later, *band, color="tab:blue", alpha=0.3, label="forecast, 95 %")
    axes.plot(times, values, ".", markersize=2, color="tab:orange", label="monthly means")
    axes.set(xlabel="year", ylabel="carbon dioxide (ppm)", title="Mauna Loa")
    axes.legend()
    figure.savefig(path, dpi=150)
    return True


def main(argv=None):
    parser = argparse.ArgumentParser(description="Forecast the carbon dioxide over Mauna Loa.")
    parser.add_argument("--steps", type=int, default=40, help="of L-BFGS, at most (default: 40)")
    parser.add_argument(
        "--since", type=float, default=1974.0, help="first year used (default: 1974)"
    )
    parser.add_argument("--out", type=Path, default=Path(), metavar="DIR", help="for the files")
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)

    times, values = load()
    known = (times >= args.since) & (times < 1994)
    unknown = times >= 1994
    parabola = np.poly1d(np.polyfit(times[known] - 1976, values[known], 2))
    rest = values - parabola(times - 1976)
    log_params, least, gradient = fit(times[known], rest[known], args.steps)
    for name, value in log_params.items():
        print(f"{name:12} {np.exp(value):8.3f}")
    mean, deviation = predict(log_params, times[known], rest[known], times[unknown])
    off = mean - rest[unknown]
    print(f"surprise:    {least:.4f} nats a month")
    print(f"forecast:    {np.sqrt(np.mean(off**2)):.2f} ppm off (root mean square)")
    print(f"within 2 deviations: {np.mean(np.abs(off) < 2 * deviation):.0%}")

    (args.out / "mauna_loa_grad.py").write_text(gradient.source(), encoding="utf-8")
    print(f"emitted gradient:  {args.out / 'mauna_loa_grad.py'}")
    later = np.arange(1994, 2012, 1 / 24)
    mean, deviation = predict(log_params, times[known], rest[known], later)
    picture = args.out / "mauna_loa.png"
    if draw(picture, times, values, later, mean + parabola(later - 1976), deviation):
        print(f"picture:           {picture}")
    else:
        print("no picture: matplotlib is missing (pip install matplotlib)", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
