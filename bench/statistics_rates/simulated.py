"""Series whose truth is known, and the questions that they answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

Floats = npt.NDArray[np.float64]
Pair = tuple[Floats, Floats]
Shape = Callable[[int], Floats]

RHOS = (0.0, 0.3, 0.5, 0.7, 0.9)
SIZE = 6.0  # of steps and ramps, in σ of the noise on them


def ar1(rng: np.random.Generator, n: int, rho: float) -> Floats:
    """A stationary AR(1) of unit variance."""
    shocks = rng.standard_normal(n)
    shocks[1:] *= np.sqrt(1.0 - rho * rho)
    values: Floats = lfilter([1.0], [1.0, -rho], shocks)
    return values


def ramp(n: int, start: float, end: float, size: float) -> Floats:
    """Level, straight rise from the share `start` to the share `end` of the length, level."""
    share = np.arange(n) / n
    return size * np.clip((share - start) / (end - start), 0.0, 1.0)


def step(n: int, at: float, size: float) -> Floats:
    """0, and `size` from the share `at` of the length on."""
    return np.where(np.arange(n) >= round(at * n), size, 0.0)


@dataclass(frozen=True)
class Process:
    """A kind of pair of series without any connection but what the name says.

    `true` names the tests for which it is right to fire.
    """

    name: str
    draw: Callable[[np.random.Generator, int], Pair]
    true: tuple[str, ...] = ()
    required: float | None = None  # the largest rate of false alarms allowed, in percent


def _noise(rho: float) -> Process:
    name = "white noise" if rho == 0.0 else f"AR(1), ρ = {rho:g}"
    limit = 5.0 if rho > 0.7 else 2.0
    return Process(name, lambda rng, n: (ar1(rng, n, rho), ar1(rng, n, rho)), (), limit)


def _tails(freedom: int) -> Process:
    def draw(rng: np.random.Generator, n: int) -> Pair:
        return rng.standard_t(freedom, n), rng.standard_t(freedom, n)

    return Process(f"t, {freedom} degrees of freedom", draw)


def _walks(rng: np.random.Generator, n: int) -> Pair:
    return rng.standard_normal(n).cumsum(), rng.standard_normal(n).cumsum()


def _moved(name: str, first: Shape, then: Shape, true: tuple[str, ...]) -> Process:
    def draw(rng: np.random.Generator, n: int) -> Pair:
        return first(n) + rng.standard_normal(n), then(n) + rng.standard_normal(n)

    return Process(name, draw, true)


def processes() -> list[Process]:
    """All kinds, noise first."""
    middle = partial(step, at=0.5, size=SIZE)
    quarters = partial(step, at=0.25, size=SIZE), partial(step, at=0.75, size=SIZE)
    whole = partial(ramp, start=0.0, end=1.0, size=SIZE)
    halves = (
        partial(ramp, start=0.0, end=0.5, size=SIZE),
        partial(ramp, start=0.5, end=1.0, size=SIZE),
    )
    return [
        *(_noise(rho) for rho in RHOS),
        _tails(2),
        _tails(3),
        Process("random walk", _walks),
        _moved("steps in both at the middle", middle, middle, ("trend", "shift", "together")),
        _moved("steps at 1/4 and 3/4", *quarters, ("trend", "shift", "order", "differs")),
        _moved("ramps in both over all", whole, whole, ("trend", "together")),
        _moved("ramps in opposite halves", *halves, ("trend", "order", "differs")),
    ]


@dataclass(frozen=True)
class Effect:
    """Something that a test should find: added to a pair of AR(1) series."""

    test: str
    name: str
    first: Shape
    then: Shape


def _none(n: int) -> Floats:
    return np.zeros(n)


def _spike(n: int, size: float) -> Floats:
    values = np.zeros(n)
    values[n // 3] = size
    return values


def effects() -> list[Effect]:
    """What power is stated for; sizes in σ of the whole noise, its slow part included."""
    found = []
    for size in (3.0, 8.0):
        rise = partial(ramp, start=0.0, end=1.0, size=size)
        found.append(Effect("trend", f"rise of {size:g} σ over all of it", rise, _none))
    for size in (3.0, 6.0):
        jump = partial(step, at=0.5, size=size)
        found.append(Effect("shift", f"jump of {size:g} σ at the middle", jump, _none))
    for size in (8.0, 12.0):
        one = partial(_spike, size=size)
        found.append(Effect("spike", f"one value {size:g} σ above", one, _none))
    for size in (4.0, 8.0):
        both = partial(ramp, start=0.3, end=0.7, size=size)
        found.append(Effect("together", f"rises of {size:g} σ from 30 to 70 %", both, both))
    for size in (6.0, 12.0):
        early = partial(ramp, start=0.2, end=0.6, size=size)
        late = partial(ramp, start=0.5, end=0.9, size=size)
        found.append(Effect("order", f"rises of {size:g} σ from 20 and 50 % on", early, late))
    for size in (1.0, 2.0):
        apart = partial(np.full, fill_value=size)
        found.append(Effect("differs", f"levels {size:g} σ apart", apart, _none))
    return found
