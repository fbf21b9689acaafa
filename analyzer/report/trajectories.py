"""Sampled responses under a finding: prompt and completion, head and tail, made harmless to show.

A text that a model wrote can hold anything: escape sequences of terminals, marks that turn the
direction of writing, bytes that are no character. What would act instead of being read is written
out as its code; HTML is escaped by the template.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from analyzer.findings.model import Finding, Trajectory
from analyzer.report.source import SeriesSource
from analyzer.report.words import Words

PROMPT = (240, 240)  # characters of head and tail
COMPLETION = (400, 500)  # the tail tells how it ended
_SPARE = 80  # a text longer than head and tail by no more than this is shown whole
_KEPT = "\n\t"
_ACTS = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_LONG_WORD = re.compile(r"\S{60}")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A text, or its head and its tail with a line between them that says what is left out."""

    head: str
    left_out: str = ""
    tail: str = ""


@dataclass(frozen=True, slots=True)
class TrajectoryView:
    """A response as the page shows it; without texts where the dump is gone."""

    label: str
    place: str
    prompt: Excerpt | None
    completion: Excerpt | None


def trajectory_views(
    finding: Finding, source: SeriesSource, words: Words
) -> tuple[TrajectoryView, ...]:
    """The responses that the finding names, with their texts from the dumps."""
    return tuple(_view(trajectory, source, words) for trajectory in finding.trajectories)


def _view(trajectory: Trajectory, source: SeriesSource, words: Words) -> TrajectoryView:
    texts = source.response_text(trajectory.path, trajectory.offset)
    prompt, completion = texts or (None, None)
    return TrajectoryView(
        _label(trajectory, words),
        f"{visible(trajectory.path)}:{trajectory.offset}",
        None if prompt is None else excerpt(prompt, *PROMPT, words),
        None if completion is None else excerpt(completion, *COMPLETION, words),
    )


def _label(trajectory: Trajectory, words: Words) -> str:
    parts = []
    if trajectory.step is not None:
        parts.append(words("step", step=f"{trajectory.step:,}"))
    if trajectory.task_id is not None:
        parts.append(words("trajectory.task", task=visible(trajectory.task_id)))
    if trajectory.tokens is not None:
        parts.append(words("trajectory.tokens", n=trajectory.tokens))
    if trajectory.reward is not None:
        parts.append(words("trajectory.reward", reward=f"{trajectory.reward:g}"))
    if trajectory.truncated:
        parts.append(words("trajectory.cut"))
    return words("list.comma").join(parts)


def excerpt(text: str, head: int, tail: int, words: Words) -> Excerpt:
    """The text, or so many characters of its head and tail."""
    if len(text) <= head + tail + _SPARE:
        return Excerpt(visible(text))
    left = len(text) - head - tail
    note = words("trajectory.left_out", n=left)
    return Excerpt(visible(text[:head]), note, visible(text[-tail:]))


def visible(text: str) -> str:
    """The text with whatever acts instead of being read written as ⟨U+202E⟩, long words broken."""
    shown = "".join(c if c in _KEPT or not _acts(c) else f"⟨U+{ord(c):04X}⟩" for c in text)
    return _LONG_WORD.sub(lambda word: word[0] + "\u200b", shown)


def _acts(character: str) -> bool:
    return unicodedata.category(character) in _ACTS
