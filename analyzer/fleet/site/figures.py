"""Small drawings as SVG text, in whole coordinates: light, and without anything to load."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

WIDTH, HEIGHT = 120, 26  # of a sparkline's drawing
_EDGE = 2  # px above and below a line


def sparkline(
    curve: Sequence[tuple[int, float]], onset: int | None, width: int = WIDTH, height: int = HEIGHT
) -> str:
    """A series as a line over its own range, with a mark at the onset; "" for fewer than two
    values.

    The numbers stand beside it, so that it is hidden from those who do not see it.
    """
    if len(curve) < 2:
        return ""
    steps = np.array([step for step, _ in curve], dtype=np.float64)
    values = np.array([value for _, value in curve], dtype=np.float64)
    span = max(float(steps[-1] - steps[0]), 1.0)
    across = np.rint((steps - steps[0]) / span * width).astype(int).tolist()
    low, high = float(values.min()), float(values.max())
    share = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    down = np.rint(height - _EDGE - share * (height - 2 * _EDGE)).astype(int).tolist()
    moves = [
        f"{x2 - x1} {y2 - y1}" for (x1, y1), (x2, y2) in pairwise(zip(across, down, strict=True))
    ]
    line = f'<path d="M{across[0]} {down[0]}l{" ".join(moves).replace(" -", "-")}"/>'
    mark = ""
    if onset is not None and steps[0] <= onset <= steps[-1]:
        at = round((onset - steps[0]) / span * width)
        mark = f'<path class="onset" d="M{at} 0v{height}"/>'
    box = f'viewBox="0 0 {width} {height}"'
    return f'<svg class="spark" aria-hidden="true" {box}>{mark}{line}</svg>'


def columns(counts: Sequence[int], height: int, width: int, gap: int = 1) -> str:
    """Bars of equal width that stand side by side, the highest as high as the drawing: the `d` of
    a path.
    """
    most = max(counts, default=0)
    parts = []
    for i, count in enumerate(counts):
        if count:
            tall = max(1, round(count / most * height))
            parts.append(f"M{i * width} {height}v-{tall}h{width - gap}v{tall}z")
    return "".join(parts)
