"""Whose log-probs were recorded: those of older weights, another temperature, or part of a
vocabulary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from analyzer.findings.replayed import ReplayCause
from analyzer.replay.judging.fits import Fit, band, fit
from analyzer.replay.judging.material import How, Material, Scores, Told, many

TEMPERATURES = (0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2)
TRUNCATIONS = ((0.95, 0), (0.9, 0), (0.8, 0), (0.7, 0), (1.0, 20), (1.0, 50), (0.95, 20))
"""top_p and top_k in common use, tried where the run's own are not known."""
COVERED = 0.5  # share of the tokens that have a checkpoint of their version


@dataclass(frozen=True)
class Candidate:
    """Log-probs that may be the recorded ones."""

    cause: ReplayCause
    what: str
    found: Fit
    beside: str = ""


def told_by_candidates(material: Material) -> Told | None:
    """The candidate that leaves least of the deviation, if it leaves next to nothing.

    It has to be as near the record as its dtype can be, and the current weights must not be. What
    the run names is tried first, settings in common use only where that explains nothing.
    """
    scores, version = material.scores, material.current
    current = material.current_logprobs()
    if scores is None or version is None or current is None:
        return None
    deviation = fit(material.behave, current, material.mask)
    if deviation.within(band("float32")):
        return None
    trial = _Trial(material, scores, version, current)
    if trial.how != material.trainer_how and trial.fit(trial.how).explains(deviation):
        return None  # the engine's dtype alone explains it
    for candidates in (trial.named(), trial.usual()):
        fitting = [c for c in candidates if c.found.explains(deviation) and trial.near(c.found)]
        if fitting:
            return _told(min(fitting, key=lambda c: c.found.square), deviation, version)
    return None


def _told(best: Candidate, deviation: Fit, version: int) -> Told:
    why = (
        f"The recorded log-probs are those of {best.what}: mean distance "
        f"{best.found.distance:.2g} nats over {many(best.found.tokens, 'token')}, against "
        f"{deviation.distance:.2g} from the current version {version}{best.beside}."
    )
    return Told(best.cause, why, best.found.square)


@dataclass(frozen=True)
class _Trial:
    material: Material
    scores: Scores
    version: int
    """Of the current weights."""
    current: Tensor

    @property
    def how(self) -> How:
        """How the engine computes, at the trainer's temperature."""
        dtype = self.material.engine_dtype or "float32"
        return replace(self.material.trainer_how, dtype=dtype)

    def near(self, found: Fit) -> bool:
        """Is a candidate as near as the engine's dtype can be?"""
        return found.within(band(self.how.dtype))

    def fit(self, how: How) -> Fit:
        """The record against the current weights, computed in another way."""
        found = self.scores.logprobs(self.version, how)
        return fit(self.material.behave, found, self.material.mask)

    def named(self) -> Iterator[Candidate]:
        """What versions, manifest and configuration name."""
        settings = self.material.sampled_at
        yield from self._older()
        yield from self._temperatures({how.temperature for how in settings})
        yield from self._truncations(
            {(how.temperature, how.top_p, how.top_k) for how in settings}
            | {(self.how.temperature, how.top_p, how.top_k) for how in settings}
        )

    def usual(self) -> Iterator[Candidate]:
        """Settings in common use."""
        yield from self._temperatures(set(TEMPERATURES))
        yield from self._truncations({(self.how.temperature, p, k) for p, k in TRUNCATIONS})

    def _older(self) -> Iterator[Candidate]:
        """The checkpoint of each token's own version; then each recorded one for all tokens."""
        own, covered, used = self._by_version()
        if used - {self.version} and int(covered.sum()) >= COVERED * int(self.material.mask.sum()):
            names = ", ".join(str(v) for v in sorted(used))
            what = f"version {names}" if len(used) == 1 else f"versions {names} as the tokens say"
            yield Candidate("staleness", what, fit(self.material.behave, own, covered))
        for other in self.scores.versions:
            if other == self.version:
                continue
            found = fit(
                self.material.behave, self.scores.logprobs(other, self.how), self.material.mask
            )
            beside = "" if other in used else self._says()
            yield Candidate("staleness", f"version {other}", found, beside)

    def _by_version(self) -> tuple[Tensor, Tensor, set[int]]:
        """Log-probs under each token's own version, where there are such, and the versions."""
        mask = self.material.mask
        own, covered = torch.zeros_like(self.material.behave), torch.zeros_like(mask)
        used: set[int] = set()
        versions = self.material.batch.versions
        if versions is None:
            return own, covered, used
        of_rows = self.material.part(versions)
        for version in self.scores.versions:
            here = mask & (of_rows == version)
            if bool(here.any()):
                own = torch.where(here, self.scores.logprobs(version, self.how), own)
                covered |= here
                used.add(version)
        return own, covered, used

    def _says(self) -> str:
        """What the recorded versions say, where they name another one."""
        versions = self.material.batch.versions
        if versions is None:
            return ""
        of_tokens = self.material.part(versions)[self.material.mask]
        named = sorted(version for version in set(of_tokens.tolist()) if version >= 0)
        if not named:
            return ""
        return f"; the tokens themselves name version {', '.join(map(str, named))}"

    def _temperatures(self, temperatures: set[float]) -> Iterator[Candidate]:
        usual = self.how.temperature
        for temperature in sorted(temperatures - {usual}):
            found = self.fit(replace(self.how, temperature=temperature))
            what = f"the current weights at temperature {temperature:g}, not {usual:g}"
            yield Candidate("temperature", what, found)

    def _truncations(self, settings: set[tuple[float, float, int]]) -> Iterator[Candidate]:
        """Renormalising over what was kept only raises log-probs, by -log of the kept mass."""
        mask, usual = self.material.mask, self.how.temperature
        raised = (self.material.behave - self.current)[mask].double()
        least = float(raised.min()) if raised.numel() else 0.0
        kept = f"{float(torch.exp(-raised).mean()):.1%}" if raised.numel() else "nothing"
        for temperature, top_p, top_k in sorted(settings):
            same = temperature == usual
            if (top_p == 1 and top_k == 0) or (same and least < -band(self.how.dtype).token):
                continue
            found = self.fit(replace(self.how, temperature=temperature, top_p=top_p, top_k=top_k))
            parts = [f"top_p {top_p:g}"] * (top_p < 1) + [f"top_k {top_k}"] * (top_k > 0)
            what = f"the current weights renormalised over {' and '.join(parts)}"
            if not same:
                what += f" at temperature {temperature:g}, not {usual:g}"
            beside = f"; no token is lower, and {kept} of the probability was kept on average"
            yield Candidate("top-p", what, found, beside if same else "")
