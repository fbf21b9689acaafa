"""The run-length language of test series.

Segments separated by spaces: `900x40` is 40 times 900; `900+12x60` is 60 values from 900 on, each
12 more (`900-12x60` less); `~5` after a segment adds normal noise of standard deviation 5 from a
fixed seed; `_x5` leaves 5 steps out; `nanx3`, `infx1`, `-infx1` are those values.
"""

from __future__ import annotations

import re
import zlib

import numpy as np
import numpy.typing as npt

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_SEGMENT = re.compile(
    rf"(?P<start>_|nan|[+-]?inf|{_NUMBER})(?P<growth>[+-](?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)?"
    rf"(?:x(?P<count>\d+))?(?:~(?P<noise>{_NUMBER}))?"
)


def parse_series(
    text: str, name: str, every: int = 1
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Steps and values of a series written in the language. Raises ValueError.

    The seed of the noise is the series' name and the text, so that every series has its own and
    each run of the tests the same.
    """
    steps: list[int] = []
    values: list[float] = []
    generator = np.random.default_rng(zlib.crc32(f"{name}\0{text}".encode()))
    position = 0
    for segment in text.split():
        match = _SEGMENT.fullmatch(segment)
        if match is None:
            raise ValueError(f"{segment!r} is no segment like 900x40, 900+12x60~5, _x5 or nanx3")
        count = int(match["count"] or 1)
        if match["start"] != "_":
            start, growth = float(match["start"]), float(match["growth"] or 0)
            noise = generator.normal(0.0, float(match["noise"] or 0) or 0.0, count)
            values.extend(start + growth * np.arange(count) + noise)
            steps.extend(range(position, position + count))
        position += count
    return np.array(steps, dtype=np.int64) * every, np.array(values, dtype=np.float64)
