"""Ranks, and correlation of ranks."""

from __future__ import annotations

import math

import numpy as np

from analyzer.statistics.finite import Floats


def average_ranks(values: Floats) -> Floats:
    """Ranks from 1; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2.0)[inverse]


def standard_ranks(values: Floats) -> Floats:
    """Ranks of mean 0 and unit length; all 0 for a constant."""
    ranks = average_ranks(values)
    ranks = ranks - ranks.mean()
    length = math.sqrt(float(ranks @ ranks))
    return ranks / length if length > 0.0 else np.zeros_like(ranks)


def spearman(a: Floats, b: Floats) -> float:
    """Spearman's ρ: the correlation of average ranks; 0 where one series is constant."""
    return float(standard_ranks(a) @ standard_ranks(b))
