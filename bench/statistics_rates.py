"""False alarms, power and errors of place of trend, shift and together, by simulation.

    python bench/statistics_rates.py [repetitions]

Prints the tables of docs/statistics.md. A rate is the share of series with p ≤ 0.01.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from analyzer.statistics.comove import comovement
from analyzer.statistics.shift import shifts
from analyzer.statistics.trend import trend

SEED = 20_261_129
NOMINAL = 0.01
LENGTHS = (60, 100, 200, 500)
RHOS = (0.0, 0.3, 0.5, 0.7, 0.9)
DEFAULT_REPETITIONS = 200  # two minutes; docs/statistics.md has 1000

Floats = npt.NDArray[np.float64]
Test = Callable[[Floats], float]


def ar1(rng: np.random.Generator, repetitions: int, n: int, rho: float) -> Floats:
    """Stationary AR(1) series of unit variance, one a row."""
    series = rng.standard_normal((repetitions, n))
    for t in range(1, n):
        series[:, t] = rho * series[:, t - 1] + np.sqrt(1 - rho**2) * series[:, t]
    return series


def trend_p(row: Floats) -> float:
    """p of a trend."""
    return trend(np.arange(len(row)), row).p_value


def shift_p(row: Floats) -> float:
    """The smallest p of a jump; 1 where none is seen."""
    return min((shift.p_value for shift in shifts(row)), default=1.0)


def together_p(row: Floats) -> float:
    """p of a co-movement of the two halves of the row."""
    first, second = np.split(row, 2)
    return comovement(np.arange(len(first)), first, second).p_value


def rate(rows: Floats, test: Test) -> str:
    """Share of the rows with p ≤ NOMINAL, in percent."""
    return f"{100 * np.mean([test(row) <= NOMINAL for row in rows]):.1f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table."""
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def false_alarms(repetitions: int) -> None:
    """White noise and AR(1): nothing is there."""
    rng = np.random.default_rng(SEED)
    for name, test, width in (
        ("trend", trend_p, 1),
        ("shift", shift_p, 1),
        ("together", together_p, 2),
    ):
        rows = []
        for rho in RHOS:
            cells = []
            for n in LENGTHS:
                series = ar1(rng, repetitions * width, n, rho)
                cells.append(rate(series.reshape(repetitions, width * n), test))
            rows.append([f"{rho:g}", *cells])
        print(f"False alarms of {name}, %, at the nominal 1 %; {repetitions} series a cell\n")
        table(["ρ", *(f"n = {n}" for n in LENGTHS)], rows)


def hard_cases(repetitions: int) -> None:
    """What is no AR(1): drifts for shift, slow wandering, heavy tails, random walks."""
    rng = np.random.default_rng(SEED + 1)
    n = 240
    t = np.arange(n)
    noise = rng.standard_normal((repetitions, n))
    cases = {
        "t with 2 degrees of freedom": rng.standard_t(2, (repetitions, n)),
        "AR(1), ρ = 0.95, under white noise of the same size": ar1(rng, repetitions, n, 0.95)
        + noise,
        "random walk": np.cumsum(noise, axis=1),
        "straight rise of 10 σ": noise + 10 * t / n,
        "learning curve of 10 σ": noise + 10 * (1 - np.exp(-t / 60)),
        "S-curve of 10 σ over 60 steps": noise + 10 / (1 + np.exp(-(t - 120) / 12)),
    }
    rows = [[name, rate(x, trend_p), rate(x, shift_p)] for name, x in cases.items()]
    print(f"Other series of 240 points, % called a trend and a jump; {repetitions} series\n")
    table(["series", "trend", "shift"], rows)


def power(repetitions: int) -> None:
    """Something is there."""
    rng = np.random.default_rng(SEED + 2)
    rows = []
    for n, rho, size in ((100, 0, 3), (60, 0, 3), (100, 0.7, 8), (200, 0.7, 5), (100, 0.9, 8)):
        series = ar1(rng, repetitions, n, rho) + np.linspace(0, size, n)
        rows.append([f"rise of {size} σ", f"{n}", f"{rho:g}", rate(series, trend_p)])
    for n, rho, size in ((60, 0, 5), (100, 0, 3), (240, 0, 2), (100, 0.7, 8)):
        series = ar1(rng, repetitions, n, rho) + np.where(np.arange(n) >= n // 2, size, 0)
        rows.append([f"jump of {size} σ", f"{n}", f"{rho:g}", rate(series, shift_p)])
    for n, rho, size in ((100, 0.5, 4), (200, 0, 3), (200, 0.5, 4)):
        move = size * np.clip((np.arange(n) / n - 0.3) / 0.4, 0, 1)
        both = ar1(rng, 2 * repetitions, n, rho) + move
        pairs = both.reshape(repetitions, 2 * n)
        rows.append([f"two rises of {size} σ", f"{n}", f"{rho:g}", rate(pairs, together_p)])
    print(f"What is found at 1 %, % of {repetitions} series\n")
    table(["what", "n", "ρ", "found"], rows)


def places(repetitions: int) -> None:
    """How far the start of a drift and a jump are off, and how often the interval has them."""
    rng = np.random.default_rng(SEED + 3)
    n, at = 200, 90
    rows = []
    for size in (3, 6, 12):
        series = ar1(rng, repetitions, n, 0.3) + size * np.clip((np.arange(n) - at) / 60, 0, 1)
        ramps = [trend(np.arange(n), row).ramp for row in series]
        errors = np.abs([r.start - at for r in ramps])
        inside = np.mean([r.start_low <= at <= r.start_high for r in ramps])
        rows.append(_place(f"start of a rise of {size} σ over 60 steps", errors, inside))
    for size in (3, 6):
        series = ar1(rng, repetitions, n, 0.3) + np.where(np.arange(n) >= at, size, 0)
        jumps = [found[0] for row in series if (found := shifts(row))]
        errors = np.abs([jump.at - at for jump in jumps])
        inside = np.mean([jump.low <= at <= jump.high for jump in jumps])
        rows.append(_place(f"jump of {size} σ", errors, inside))
    print(f"Error of place, steps, n = 200, ρ = 0.3; {repetitions} series\n")
    table(["what", "median", "95 %", "interval covers, %"], rows)


def _place(name: str, errors: npt.NDArray[np.int64], inside: np.floating) -> list[str]:
    median, most = np.quantile(errors, [0.5, 0.95])
    return [name, f"{median:.0f}", f"{most:.0f}", f"{100 * inside:.0f}"]


def main() -> None:
    """All tables."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_REPETITIONS
    false_alarms(repetitions)
    hard_cases(repetitions)
    power(repetitions)
    places(repetitions)


if __name__ == "__main__":
    main()
