"""Rates, power and errors of place, counted over simulated series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from analyzer.statistics.shift import shifts
from analyzer.statistics.trend import trend
from statistics_rates import verdicts
from statistics_rates.simulated import Effect, Floats, Pair, Shape, ar1, effects, processes
from statistics_rates.simulated import ramp as rise
from statistics_rates.simulated import step as jump

SEED = 20_261_129
LENGTHS = (50, 100, 500, 2000, 20_000)
PAIRS = {50: 300, 100: 300, 500: 150, 2000: 100, 20_000: 100}
QUICK_PAIRS = {50: 1000, 100: 1000, 500: 1000, 2000: 1000, 20_000: 200}
PELT_PAIRS = {50: 300, 100: 200, 500: 25}
POWER_LENGTHS = (50, 100, 500)
POWER_RHOS = (0.0, 0.7, 0.9)
POWER_PAIRS = 100
PLACE_LENGTHS = (100, 500, 20_000)
PLACE_RHOS = (0.0, 0.7)
PLACE_SERIES = 100
PLACE_AT = 0.4  # of the length

PARTS = ("false_alarms", "power", "places", "quick")
Record = dict[str, str | int | float | None]


@dataclass(frozen=True)
class Cell:
    """One piece of work; its number and length make its seed."""

    part: str  # one of PARTS
    number: int  # of the process, the effect or the movement
    n: int
    rho: float = 0.0

    def random(self) -> np.random.Generator:
        """The cell's own generator, the same in whatever order cells are done."""
        part = PARTS.index(self.part)
        return np.random.default_rng([SEED, part, self.number, self.n, round(10 * self.rho)])


def cells() -> list[Cell]:
    """All work, the longest first."""
    every = [
        Cell(part, number, n)
        for part in ("false_alarms", "quick")
        for number in range(len(processes()))
        for n in LENGTHS
    ]
    every += [
        Cell("power", number, n, rho)
        for number in range(len(effects()))
        for n in POWER_LENGTHS
        for rho in POWER_RHOS
    ]
    every += [
        Cell("places", number, n, rho)
        for number in range(len(_movements()))
        for n in PLACE_LENGTHS
        for rho in PLACE_RHOS
    ]
    return sorted(every, key=lambda cell: (cell.part != "false_alarms", -cell.n))


def measured(cell: Cell) -> list[Record]:
    """The records of one cell."""
    if cell.part == "false_alarms":
        return false_alarms(cell, PAIRS[cell.n], verdicts.SLOW)
    if cell.part == "quick":
        return false_alarms(cell, QUICK_PAIRS[cell.n], verdicts.QUICK)
    return power(cell) if cell.part == "power" else places(cell)


def false_alarms(cell: Cell, pairs: int, tests: tuple[str, ...]) -> list[Record]:
    """How often each of the tests and its alternatives fire on a process."""
    process, rng, n = processes()[cell.number], cell.random(), cell.n
    fired: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for number in range(pairs):
        pair = process.draw(rng, n)
        answers = verdicts.judged(pair, tests) | verdicts.plainly(pair, tests)
        if "shift" in tests and number < PELT_PAIRS.get(n, 0):
            answers["Pelt"] = [bool(verdicts.pelt(x)) for x in pair]
        for name, said in answers.items():
            fired[name] += sum(said)
            asked[name] += len(said)
    return [
        {"test": name, "process": process.name, "n": n, "fired": fired[name], "of": asked[name]}
        for name in asked
    ]


def power(cell: Cell) -> list[Record]:
    """How often a test and its alternatives find an effect."""
    effect, rng, n = effects()[cell.number], cell.random(), cell.n
    fired: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for number in range(POWER_PAIRS):
        pair = _with(effect, rng, n, cell.rho)
        answers = verdicts.judged(pair, (effect.test,)) | verdicts.plainly(pair, (effect.test,))
        if effect.test == "shift" and number < PELT_PAIRS.get(n, 0):
            answers["Pelt"] = [bool(verdicts.pelt(pair[0]))]
        for name, said in answers.items():
            fired[name] += said[0]
            asked[name] += 1
    shown = effect.test, effect.name
    return [
        {
            **dict(zip(("for", "what"), shown, strict=True)),
            **{"test": name, "n": n, "rho": cell.rho, "fired": fired[name], "of": asked[name]},
        }
        for name in asked
    ]


def _with(effect: Effect, rng: np.random.Generator, n: int, rho: float) -> Pair:
    return effect.first(n) + ar1(rng, n, rho), effect.then(n) + ar1(rng, n, rho)


def _movements() -> list[tuple[str, str, Shape]]:
    found: list[tuple[str, str, Shape]] = []
    for size in (6.0, 12.0):
        what = f"start of a rise of {size:g} σ over 30 %"
        found.append(("trend", what, partial(rise, start=PLACE_AT, end=0.7, size=size)))
    for size in (3.0, 6.0):
        found.append(("shift", f"jump of {size:g} σ", partial(jump, at=PLACE_AT, size=size)))
    return found


def places(cell: Cell) -> list[Record]:
    """How far starts and jumps that are found are off, and how often the interval has them."""
    test, what, shape = _movements()[cell.number]
    rng, n = cell.random(), cell.n
    placed, plain = (_started, _first_beyond) if test == "trend" else (_jumped, _changed)
    at = round(PLACE_AT * n)
    errors, inside, plain_errors = [], [], []
    for number in range(PLACE_SERIES):
        values = shape(n) + ar1(rng, n, cell.rho)
        found = placed(values)
        if found is not None:
            errors.append(abs(found[0] - at))
            inside.append(found[1] <= at <= found[2])
        if test == "trend" or number < PELT_PAIRS.get(n, 0):
            nearest = plain(values, at)
            plain_errors += [] if nearest is None else [abs(nearest - at)]
    return [
        {
            **{"for": test, "what": what, "n": n, "rho": cell.rho, "of": PLACE_SERIES},
            **{"found": len(errors), "median": _at(errors, 0.5), "most": _at(errors, 0.95)},
            "covered": sum(inside),
            "plain_found": len(plain_errors),
            "plain_median": _at(plain_errors, 0.5),
            "plain_most": _at(plain_errors, 0.95),
        }
    ]


def _at(errors: Sequence[int], share: float) -> float | None:
    return float(np.quantile(errors, share)) if errors else None


def _started(values: Floats) -> tuple[int, int, int] | None:
    """Start of a trend at the nominal 1 %, with its interval, in steps."""
    steps, (short, _) = verdicts.reduced((values, values))
    found = trend(steps, short)
    if found.p_value > verdicts.NOMINAL:
        return None
    ramp = found.ramp
    start, low, high = (int(steps[i]) for i in (ramp.start, ramp.start_low, ramp.start_high))
    return start, low, high


def _jumped(values: Floats) -> tuple[int, int, int] | None:
    """The clearest jump at the nominal 1 %, with its interval, in steps."""
    steps, (short, _) = verdicts.reduced((values, values))
    sure = [found for found in shifts(short) if found.p_value <= verdicts.NOMINAL]
    if not sure:
        return None
    best = max(sure, key=lambda found: abs(found.effect))
    at, low, high = (int(steps[i]) for i in (best.at, best.low, best.high))
    return at, low, high


def _first_beyond(values: Floats, _: int) -> int | None:
    """The first value after the first quarter that is beyond the fixed threshold."""
    quarter = len(values) // 4
    beyond = np.flatnonzero(values[quarter:] > verdicts.threshold(values))
    return quarter + int(beyond[0]) if len(beyond) else None


def _changed(values: Floats, at: int) -> int | None:
    """Pelt's change point nearest to the true one."""
    return min(verdicts.pelt(values), key=lambda found: abs(found - at), default=None)
