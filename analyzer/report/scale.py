"""The vertical axis of a chart panel: domain, ticks, and which limits fit on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.tables.evidence import Floats

TICKS = 5
LOG_FACTOR = 200  # a positive series whose largest value is this many medians is drawn in decades
LEAST_SHARE = 0.12  # a limit that leaves the data less of the axis than this is not drawn
ZERO_SHARE = 0.5  # an axis starts at zero when the data come this near to it

Limits = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """A vertical axis. `decimals` are those of a tick's label."""

    low: float
    high: float
    ticks: tuple[float, ...]
    decimals: int
    log: bool
    limits: Limits  # those that fit
    off_scale: Limits  # those that would flatten the data


def make_axis(values: Floats, limits: Limits = ()) -> Axis:
    """The axis for finite values (none: an axis from 0 to 1) and the limits drawn with them."""
    if not len(values):
        values = np.array([limit for _, limit in limits] or [0.0, 1.0])
    low, high = float(values.min()), float(values.max())
    fits = tuple(limit for limit in limits if _fits(low, high, limit[1]))
    off_scale = tuple(limit for limit in limits if limit not in fits)
    bounds = [low, high, *(value for _, value in fits)]
    if min(bounds) > 0 and high > LOG_FACTOR * float(np.median(values)):
        return _log_axis(min(bounds), max(bounds), fits, off_scale)
    return _linear_axis(min(bounds), max(bounds), fits, off_scale)


def _fits(low: float, high: float, limit: float) -> bool:
    if not math.isfinite(limit) or low == high:
        return math.isfinite(limit)
    data = high - (0.0 if 0 <= low <= ZERO_SHARE * high else low)
    whole = max(high, limit) - min(low, limit)
    return whole == 0 or data >= LEAST_SHARE * whole


def _linear_axis(low: float, high: float, limits: Limits, off_scale: Limits) -> Axis:
    if 0 <= low <= ZERO_SHARE * high:
        low = 0.0
    if low == high:
        room = abs(low) * 0.05 or 0.5
        low, high = low - room, high + room
    step = nice_step((high - low) / TICKS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    ticks = tuple(round(i * step, decimals + 2) for i in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks, decimals, False, limits, off_scale)


def _log_axis(low: float, high: float, limits: Limits, off_scale: Limits) -> Axis:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(1, math.ceil((last - first) / TICKS))
    ticks = tuple(10.0**i for i in range(first, last + 1, every))
    return Axis(10.0**first, 10.0**last, ticks, max(0, -first), True, limits, off_scale)


def nice_step(rough: float) -> float:
    """The smallest of 1, 2, 5 × 10^k that is at least `rough` (> 0)."""
    magnitude = 10.0 ** math.floor(math.log10(rough))
    choices: Sequence[float] = (1, 2, 5, 10)
    return next(c for c in choices if c * magnitude >= rough * (1 - 1e-9)) * magnitude
