"""Current against proximal policy: did the update move it, or do two passes differ?"""

from __future__ import annotations

import torch
from torch import Tensor

from analyzer.replay.judging.fits import Fit, band, fit
from analyzer.replay.judging.material import Material, Told, many

SAME = 0.1
"""Of the mean square of all: a first minibatch with less is the same as the proximal policy."""


def passes(material: Material) -> Told | None:
    """Training, or nondeterminism, from the trainer's own two log-probs of each token.

    The first minibatch of a step is scored by the very weights that gave the proximal log-probs.
    What differs there differs between two passes; what differs only later, the updates made.
    """
    batch = material.batch
    prox, new = batch.prox, batch.new
    if prox is None or new is None or not batch.trainer_prox:
        return None
    mask = batch.mask
    whole = fit(new, prox, mask)
    if whole.within(band("float32")):
        return None
    floor = band(material.trainer_dtype or "float32")
    count = max(len(batch.found.minibatches), 1)
    if count == 1:
        return _two_passes(material, whole, "one update was made from the batch")
    first = fit(new, prox, mask & _first_minibatch(batch.found.tensors["minibatch_index"], mask))
    if first.tokens and first.square > SAME * whole.square and not first.within(floor):
        return _two_passes(material, first, "in the first minibatch, before any update")
    if first.tokens and first.square <= SAME * whole.square:
        return Told(
            "training",
            f"The first of {count} minibatches agrees with the proximal policy within "
            f"{first.distance:.2g} nats, all of them are off by {whole.distance:.2g}: the updates "
            f"within the step moved the policy ({many(whole.tokens, 'token')}).",
        )
    return None


def passes_alone(material: Material) -> Told | None:
    """The same, where the engine agrees with the proximal pass and only the updating one is off.

    Statistics between trainer and engine are taken in the update, so that they hold its deviation.
    """
    batch = material.batch
    if batch.prox is None or batch.new is None:
        return None
    engine = fit(batch.behave, batch.prox, batch.mask)
    apart = engine.square > SAME * fit(batch.new, batch.prox, batch.mask).square
    return None if apart or not engine.tokens else passes(material)


def _first_minibatch(index: Tensor, mask: Tensor) -> Tensor:
    return (index == 0)[:, None].expand_as(mask).to(mask.device)


def _two_passes(material: Material, found: Fit, when: str) -> Told:
    why = (
        f"Two passes of the trainer over the same weights differ by {found.distance:.2g} nats on "
        f"average and {found.largest:.2g} at most ({when}; {many(found.tokens, 'token')})"
    )
    return Told("nondeterminism", f"{why}{_which(material)}.", found.square)


def _which(material: Material) -> str:
    """Which of the two a recomputation agrees with, where a checkpoint gives one."""
    current = material.current_logprobs()
    if current is None or material.batch.new is None or material.batch.prox is None:
        return ""
    mask = material.part(material.batch.mask)
    distances = {
        name: fit(material.part(tensor), current, mask).distance
        for name, tensor in (
            ("proximal", material.batch.prox),
            ("updating", material.batch.new),
        )
    }
    return "; a recomputation is " + " and ".join(
        f"{distance:.2g} from the {name} pass" for name, distance in distances.items()
    )


def prox_is_current(material: Material) -> Fit | None:
    """The proximal log-probs against a recomputation with the current weights."""
    current, prox = material.current_logprobs(), material.batch.prox
    if current is None or prox is None:
        return None
    mask = material.part(material.batch.mask)
    return fit(material.part(torch.as_tensor(prox)), current, mask)
