"""Do the recorded log-probs differ by no more than a narrower dtype makes them?"""

from __future__ import annotations

from dataclasses import replace

from analyzer.replay.judging.fits import band, fit
from analyzer.replay.judging.material import Material, Told
from analyzer.replay.model.settings import HELD

NARROW = ("bfloat16", "float16", *HELD)
"""Eight bits are tried only where the run names them: engines differ in how they scale them."""

NOISE = 4.0
"""Times the mean square of this dtype's own rounding: two independent roundings give 2, and the
rows that deviate most are among those looked at."""


def precision(material: Material) -> Told | None:
    """The current weights in the engine's dtype give the recorded log-probs, or noise of that size.

    Rounding differs between kernels by as much as it differs from float32, so an exact match is
    not asked for: no bias, no token beyond the dtype's band, and the mean square that it has.
    """
    scores, version = material.scores, material.current
    current = material.current_logprobs()
    if scores is None or version is None or current is None:
        return None
    mask = material.mask
    deviation = fit(material.behave, current, mask)
    if deviation.within(band("float32")):
        return None
    known = material.engine_dtype
    for dtype in [known] if known in NARROW else NARROW[:2]:
        low = scores.logprobs(version, replace(material.trainer_how, dtype=dtype))
        exact, own = fit(material.behave, low, mask), fit(low, current, mask)
        noise = deviation.within(band(dtype)) and deviation.square <= NOISE * own.square
        if exact.explains(deviation) or noise:
            return Told(
                "precision",
                f"The recorded log-probs are those of the current version {version} in {dtype}: "
                f"mean distance {exact.distance:.2g} nats from it, {deviation.distance:.2g} from "
                f"float32, and rounding to {dtype} alone makes {own.distance:.2g} "
                f"({deviation.tokens:,} tokens).",
                exact.square,
            )
    return None
