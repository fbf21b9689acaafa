"""Replays a run's recorded batches for its findings: verdicts, steps, alternatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import torch

from analyzer.errors import RunError
from analyzer.findings.replayed import (
    ReplayedStep,
    ReplayMode,
    ReplayPictures,
    Replays,
    ReplayVerdict,
    WhatIfTable,
)
from analyzer.replay.asked import Asked
from analyzer.replay.judging.causes import find_cause, question_of, what_would_tell
from analyzer.replay.judging.comparing import Sides
from analyzer.replay.judging.material import How, Material, Told
from analyzer.replay.judging.pictures import contribution, log_weights, pictures
from analyzer.replay.judging.texts import TokenizerTexts
from analyzer.replay.judging.verdicts import Answer, answer, compared_for, weighed
from analyzer.replay.loading import Steps
from analyzer.replay.manifest import RecordedStep
from analyzer.replay.model.checkpoint import WEIGHTS
from analyzer.replay.question import Question
from analyzer.replay.scoring import SMALL, CheckpointScores, gradient_of, refusal
from analyzer.replay.selection import Selection, select_rows, select_steps
from analyzer.replay.whatif import Gradient, alternatives, what_if
from analyzer.tables.run import RunTables

BESIDE = 8  # steps that no finding asks for, replayed to say whether the log is right there
NO_TOP_K = 1_000_000  # and more of them is no truncation: AReaL's default is 10^8

Say = Callable[[str], None]


def referee(
    root: Path,
    tables: RunTables,
    questions: Sequence[Question],
    recorded: Sequence[RecordedStep],
    asked: Asked,
    say: Say,
) -> Replays:
    """What the recorded batches of a run say of its findings, and of the log itself.

    Raises RunError and UsageError only for what was asked for; a batch that cannot be read is
    noted and left out.
    """
    replay = _Replay(Steps(root, recorded, tables, asked), asked, say)
    verdicts = tuple(replay.verdict(question) for question in questions)
    tables_of_change = replay.what_if(questions)
    return Replays(
        replay.mode,
        replay.steps.conventions,
        replay.outcomes(questions),
        verdicts,
        tables_of_change,
        notes=replay.notes(),
    )


class _Replay:
    def __init__(self, steps: Steps, asked: Asked, say: Say) -> None:
        self.steps, self.asked, self.say = steps, asked, say
        self.scored: set[int] = set()
        self._scores: dict[tuple[int, tuple[int, ...]], CheckpointScores] = {}
        self._texts = TokenizerTexts()
        self._notes: list[str] = []
        self._selected: dict[str, Selection] = {}

    @property
    def mode(self) -> ReplayMode:
        """Whether a model was used."""
        return "model" if self.scored else "math"

    def notes(self) -> tuple[str, ...]:
        """What a reader should know, each once."""
        return tuple(dict.fromkeys((*self.steps.notes, *self._notes, *self._texts.notes)))

    def selected(self, question: Question) -> Selection:
        """The steps replayed for a finding."""
        if question.finding not in self._selected:
            series = self.steps.tables.series(question.series)
            self._selected[question.finding] = select_steps(
                question, self.steps.numbers, series, self.asked.steps
            )
        return self._selected[question.finding]

    # --- verdicts -------------------------------------------------------------------------

    def verdict(self, question: Question) -> ReplayVerdict:
        """What the recorded batches say of one finding."""
        selection = self.selected(question)
        found = [both for step in selection.steps if (both := self.steps.get(step)) is not None]
        if not found:
            reason = selection.reason or "none of its recorded batches can be read"
            return ReplayVerdict(question.finding, "cannot-tell", None, f"{_sentence(reason)}.")
        self.say(f"replaying step {found[0].batch.step} for {question.finding}")
        answers = [answer(question, both) for both in found]
        whole = weighed(answers)
        cause, why = whole.cause, whole.why
        if whole.verdict == "confirmed":
            confirmed = {a.step for a in answers if a.verdict == "confirmed"}
            told = self._cause(question, [b for b in found if b.batch.step in confirmed], selection)
            cause = told.cause if isinstance(told, Told) else None
            why = " ".join(part for part in (why, _text(told)) if part)
        compared = tuple(c for both in found for c in compared_for(question, both))
        return ReplayVerdict(
            question.finding,
            whole.verdict,
            cause,
            why + _others(answers, whole),
            compared,
            self._pictures(question, found, selection),
        )

    def _cause(
        self, question: Question, found: Sequence[Sides], selection: Selection
    ) -> Told | str:
        """The cause at the worst step that tells one, or what would tell it at the worst of all.

        Empty for a series that log-probs have no part in.
        """
        if question_of(question.series) is None:
            return ""
        advice = ""
        for both in found:
            told, material = self._told(question, both)
            if told is not None:
                why = told.why + self._beside(question, material, selection)
                step = f"Step {both.batch.step}: " if len(found) > 1 else ""
                return Told(told.cause, step + why, told.left)
            advice = advice or what_would_tell(material)
        return advice

    def _told(self, question: Question, both: Sides) -> tuple[Told | None, Material]:
        material = self.material(question, both)
        try:
            return find_cause(material), material
        except RunError as error:
            self._note(both.batch.step, refusal(error))
            material = self.material(question, both, with_model=False)
            return find_cause(material), material

    def material(self, question: Question, both: Sides, with_model: bool = True) -> Material:
        """The rows that are looked at closely, with log-probs where there is a checkpoint."""
        batch = both.batch
        kind = question_of(question.series) or "tokens"
        weights = log_weights(batch, kind)
        lengths = batch.bundle.tensors["attention_mask"].sum(-1).tolist()
        share = [0.0] * len(lengths) if weights is None else contribution(batch, weights).tolist()
        rows = torch.tensor(
            select_rows(share, lengths, self.asked.rows, self.asked.budget), dtype=torch.long
        )
        scores = self._scores_of(both, rows) if with_model and len(rows) else None
        settings = tuple(sampled_at(both))
        return Material(batch, kind, rows, scores, settings, self.asked.dtype)

    def _scores_of(self, both: Sides, rows: torch.Tensor) -> CheckpointScores | None:
        batch = both.batch
        manifest = batch.bundle.manifest
        if self.asked.mode != "model" or manifest is None or not manifest.checkpoints:
            return None
        if find_spec("transformers") is None:
            self._note(batch.step, "its checkpoints need transformers: pip install transformers")
            return None
        key = (batch.step, tuple(rows.tolist()))
        if key not in self._scores:
            self._scores.clear()  # a checkpoint is large: one set of scores at a time
            found = CheckpointScores(batch.bundle, rows, batch.mask[rows], self.asked)
            for version, why in found.refused.items():
                self._note(batch.step, f"the checkpoint of version {version} is left out: {why}")
            self._scores[key] = found
        scores = self._scores[key]
        if not scores.versions:
            return None
        self.scored.add(batch.step)
        return scores

    def _beside(self, question: Question, material: Material, selection: Selection) -> str:
        """The same comparison at a healthy step, where that has a checkpoint, too."""
        if material.scores is None or material.question != "behaviour":
            return ""
        for step in selection.controls:
            both = self.steps.get(step)
            if both is None:
                continue
            control = self.material(question, both)
            try:
                found = control.deviation() if control.current is not None else None
            except RunError:
                continue
            if found is not None and found.tokens:
                return f" At the healthy step {step} the distance is {found.distance:.2g} nats."
        return ""

    def _pictures(
        self, question: Question, found: Sequence[Sides], selection: Selection
    ) -> ReplayPictures:
        kind = question_of(question.series)
        if kind is None:
            return ReplayPictures()
        controls = [b for step in selection.controls if (b := self.steps.get(step)) is not None]
        return pictures([b.batch for b in found], [b.batch for b in controls], kind, self._texts)

    def _note(self, step: int, text: str) -> None:
        self._notes.append(f"step {step}: {text}")

    # --- steps and alternatives -----------------------------------------------------------

    def outcomes(self, questions: Sequence[Question]) -> tuple[ReplayedStep, ...]:
        """Every step that was replayed, and some that no finding asks for, by step."""
        finding = {step for q in questions for step in self.selected(q).steps}
        control = {step for q in questions for step in self.selected(q).controls}
        chosen = {*finding, *control, *self._others(finding | control)}
        found = [
            self.steps.outcome(
                step, "finding" if step in finding else "control", step in self.scored
            )
            for step in sorted(chosen)
        ]
        return tuple(outcome for outcome in found if outcome is not None)

    def _others(self, taken: set[int]) -> list[int]:
        """Steps that were asked for; else as many as there is room for, evenly over the rest."""
        rest = [step for step in self.steps.numbers if step not in taken]
        if self.asked.steps:
            return [step for step in rest if step in self.asked.steps]
        count = min(BESIDE, len(rest))
        return [rest[(2 * i + 1) * len(rest) // (2 * count)] for i in range(count)]

    def what_if(self, questions: Sequence[Question]) -> tuple[WhatIfTable, ...]:
        """A table for each step that is the worst of some finding with a remedy to try."""
        by_step: dict[int, list[Question]] = {}
        for question in questions:
            if steps := self.selected(question).steps:
                by_step.setdefault(steps[0], []).append(question)
        found = []
        for step, about in sorted(by_step.items()):
            both = self.steps.get(step)
            if both is None:
                continue
            rows = what_if(both.batch, alternatives(both.batch, about), self._gradient(both))
            if rows:
                found.append(WhatIfTable(step, tuple(q.finding for q in about), rows))
        return tuple(found)

    def _gradient(self, both: Sides) -> Gradient | None:
        """Gradients of the current weights, where they were scored here and are small."""
        batch = both.batch
        version = batch.bundle.config.current_version
        folder = None if version is None else batch.bundle.checkpoint(version)
        if batch.step not in self.scored or version is None or folder is None:
            return None
        if sum(path.stat().st_size for path in folder.glob(WEIGHTS)) > SMALL:
            return None
        try:
            return gradient_of(batch.bundle, version, self.asked)
        except RunError as error:
            self._note(batch.step, refusal(error))
            return None


def sampled_at(both: Sides) -> list[How]:
    """Sampling settings that the manifest or the run's configuration names."""
    manifest = both.batch.bundle.manifest
    found = []
    if manifest is not None:
        sampling = manifest.sampling
        named: Mapping[str, object] = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k,
        }
        found.append(_how(named))
    found.append(_how({key: _configured(both, key) for key in ("temperature", "top_p", "top_k")}))
    return list(dict.fromkeys(found))


def _configured(both: Sides, key: str) -> object:
    value = both.tables.config(f"gconfig.{key}")
    return None if value is None else value.value


def _how(named: Mapping[str, object]) -> How:
    numbers = {key: float(v) for key, v in named.items() if isinstance(v, int | float)}
    top_k = int(numbers.get("top_k", 0))
    return How(
        temperature=numbers.get("temperature", 1.0) or 1.0,
        top_p=numbers.get("top_p", 1.0),
        top_k=top_k if 0 < top_k < NO_TOP_K else 0,
    )


def _text(told: Told | str) -> str:
    return told.why if isinstance(told, Told) else told


def _others(answers: Sequence[Answer], whole: Answer) -> str:
    """How many of the other steps say the same."""
    others = [a for a in answers if a.step != whole.step]
    if not others:
        return ""
    same = [a for a in others if a.verdict == whole.verdict]
    return f" {len(same)} of {len(others)} other replayed steps say the same."


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
