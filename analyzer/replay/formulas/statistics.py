"""How values of tokens become exported statistics, over micro-batches and minibatches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from analyzer.replay.conventions import Extremes

Number = float | int


class Tracker:
    """Collects statistics under AReaL's names and exports them as AReaL does.

    A denominator is a mask: it exports its count. A statistic is averaged over a denominator and
    has a minimum and maximum over it. A scalar is averaged, unweighted, over its recordings.
    """

    def __init__(self, dtype: torch.dtype, extremes: Extremes) -> None:
        self._dtype = dtype
        self._extremes = extremes
        self._masks: dict[str, list[Tensor]] = {}
        self._values: dict[str, list[tuple[Tensor, Tensor]]] = {}
        self._scalars: dict[str, list[Tensor]] = {}

    def denominators(self, scope: str, masks: Mapping[str, Tensor]) -> None:
        """Record masks; a statistic recorded after them is over the latest of its denominator."""
        for name, mask in masks.items():
            self._masks.setdefault(scope + name, []).append(mask.bool())

    def statistics(self, scope: str, denominator: str, values: Mapping[str, Tensor]) -> None:
        """Record values over a denominator of the same scope."""
        mask = self._masks[scope + denominator][-1]
        for name, value in values.items():
            recorded = (value.detach().to(self._dtype), mask)
            self._values.setdefault(scope + name, []).append(recorded)

    def scalars(self, scope: str, values: Mapping[str, Number | Tensor]) -> None:
        """Record single numbers."""
        for name, value in values.items():
            number = torch.as_tensor(value).detach().to("cpu", self._dtype)
            self._scalars.setdefault(scope + name, []).append(number)

    def export(self) -> dict[str, Number]:
        """Key → value of everything recorded; keys that have no value are absent."""
        result: dict[str, Number] = {}
        for key, masks in self._masks.items():
            result[key] = float(sum(int(mask.sum()) for mask in masks))
        for key, values in self._values.items():
            result.update(_summary(key, values, self._extremes))
        for key, numbers in self._scalars.items():
            result[key] = mean_of_scalars(numbers)
            result[f"{key}__count"] = len(numbers)
        return dict(sorted(result.items()))


def _summary(
    key: str, values: Sequence[tuple[Tensor, Tensor]], extremes: Extremes
) -> dict[str, Number]:
    result: dict[str, Number] = {}
    average = weighted_average(values)
    if average is not None:
        result[f"{key}/avg"] = average
    for name, outer in (("min", math.inf), ("max", -math.inf)):
        found = extreme([_extreme_of_one(v, m, outer) for v, m in values], name, extremes)
        if not math.isinf(found):
            result[f"{key}/{name}"] = found
    return result


def weighted_average(values: Sequence[tuple[Tensor, Tensor]]) -> float | None:
    """The sum over all masks by their count; None where no mask has anything."""
    count = sum(int(mask.sum()) for _, mask in values)
    if count == 0:
        return None
    total = torch.stack([torch.where(mask, value, 0).sum() for value, mask in values]).sum()
    return float(total / count)


def _extreme_of_one(value: Tensor, mask: Tensor, outer: float) -> float:
    kept = torch.where(mask, value, outer)
    return float(kept.min() if outer > 0 else kept.max())


def extreme(found: Sequence[float], name: str, extremes: Extremes) -> float:
    """The extreme of several; whether a NaN shows can depend on where it stands (Python's rule)."""
    if extremes == "nan-wins" and any(math.isnan(x) for x in found):
        return math.nan
    return min(found) if name == "min" else max(found)


def mean_of_scalars(numbers: Sequence[Tensor]) -> float:
    """The plain mean of what was recorded."""
    return float(torch.stack(list(numbers)).mean())
