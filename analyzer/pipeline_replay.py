"""The flow of `replay`: a run's recorded batches for its findings, or one batch by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from analyzer import pipeline
from analyzer.errors import Location, RunError, UsageError
from analyzer.findings.exports.replays import REPLAY_EXPORTS
from analyzer.findings.model import Finding
from analyzer.findings.replayed import Replays, ReplayVerdict
from analyzer.replay.advice import record_next
from analyzer.replay.asked import Asked
from analyzer.replay.manifest import RecordedStep, find_recorded
from analyzer.replay.question import Limit, Question
from analyzer.replay.selection import ROWS
from analyzer.rulebook.conditions.level import Level
from analyzer.rulebook.conditions.target import Target
from analyzer.rulebook.load import Rule
from analyzer.rulebook.model import ReplaySpec
from analyzer.rulebook.tree import Node
from analyzer.tables.catalog import Catalog
from analyzer.tables.derive import parts_of

Mode = Literal["auto", "off", "math", "model"]
Say = Callable[[str], None]

NEEDED = ("torch", "safetensors")
INSTALL = "pip install 'rl-run-analyzer[replay]'"
SAYS_METRIC_WRONG = "metric-defect"  # the tag of rules whose finding is that the log misleads
OF_BATCH = ("<actor>", "<critic>")  # how the catalog writes names of the update's statistics
STEPS = 3  # of a finding whose rule does not say how many


@dataclass(frozen=True)
class Choice:
    """What of a run is to be replayed, as the command line gives it."""

    mode: Mode = "auto"
    findings: tuple[str, ...] = ()  # ids; empty: all
    steps: tuple[int, ...] = ()  # empty: those of the findings
    rows: int = ROWS  # worst rows of a step that a checkpoint scores
    budget: int | None = None  # tokens of a step that a checkpoint scores
    conventions: str = "auto"
    device: str = "auto"
    dtype: str = "float32"


def replay_bundle(bundle: Path, conventions: str, form: str, tensors: Path | None = None) -> str:
    """Recompute the batch recorded in a folder; what to print, `form` being json or text.

    Of a dump that a trainer wrote, what can be said without its configuration. The tensors are
    written where `tensors` says. Raises RunError for a batch that cannot be read, and where torch
    is not installed.
    """
    _need_torch()
    from analyzer.replay.dumps.readers import is_dump

    if is_dump(bundle):
        return _replay_dump(bundle, conventions, form, tensors)
    from analyzer.replay.bundle import read_bundle
    from analyzer.replay.insights import insights
    from analyzer.replay.output import as_json, as_text, write_tensors
    from analyzer.replay.stage0 import replay_batch

    recorded = read_bundle(bundle)
    chosen = recorded.conventions(conventions)
    found = replay_batch(recorded, chosen)
    if tensors is not None:
        write_tensors(found, tensors)
    if form == "json":
        return as_json(found)
    return as_text(found, insights(recorded, found, chosen), chosen)


def _replay_dump(path: Path, conventions: str, form: str, tensors: Path | None) -> str:
    from analyzer.replay import output
    from analyzer.replay.dumps import output as dump_output
    from analyzer.replay.dumps.readers import read_dump
    from analyzer.replay.dumps.summary import summary
    from analyzer.replay.insights import insights
    from analyzer.replay.stage0 import replay_batch

    dump = read_dump(path)
    said = summary(dump)
    plain, text = dump_output.document(dump, said), "\n".join(dump_output.lines(dump, said)) + "\n"
    if dump.bundle is not None:
        chosen = dump.bundle.conventions(conventions)
        found = replay_batch(dump.bundle, chosen)
        plain |= output.document(found)
        text += output.as_text(found, insights(dump.bundle, found, chosen), chosen)
        if tensors is not None:
            output.write_tensors(found, tensors)
    elif tensors is not None:
        raise RunError(
            f"allows no tensors to be recomputed: {dump.lacks['stage-0']}",
            at=Location(str(path)),
            hint="leave out --tensors",
        )
    return output.to_json(plain) if form == "json" else text


def print_replay(
    run: Path, settings: pipeline.Settings, choice: Choice, form: str, say: Say
) -> str:
    """Judge a run, replay its recorded batches, and give what to print.

    Where nothing is recorded, the lines that would. Raises UsageError for a finding that the run
    does not have or a step that was not recorded, and RunError where torch is not installed.
    """
    _need_torch()
    judged = pipeline.judge_run(run, settings)
    _check_findings(judged, choice.findings)
    _check_steps(find_recorded(run), choice.steps)
    return REPLAY_EXPORTS[form](replay_run(run, judged, settings, choice, say))


def replay_run(
    run: Path, judged: pipeline.Judged, settings: pipeline.Settings, choice: Choice, say: Say
) -> Replays:
    """What the recorded batches of a judged run say.

    Without recorded batches the lines that would record them; without torch, findings that were not
    replayed and what to install.
    """
    questions = _questions(judged, choice.findings)
    recorded = find_recorded(run)
    if not recorded:
        return Replays("off", None, record_next=record_next(judged.tables, questions))
    if (lacking := _lacking()) is not None:
        why = f"The replay of recorded batches needs {lacking}: {INSTALL}"
        verdicts = tuple(ReplayVerdict(q.finding, "not-run", None, why) for q in questions)
        return Replays("off", None, verdicts=verdicts, notes=(why,))
    from analyzer.replay.referee import referee

    root = run if run.is_dir() else run.parent
    asked = Asked(
        "math" if choice.mode == "math" else "model",
        choice.mode != "model",
        choice.steps,
        choice.rows,
        choice.budget,
        choice.conventions,
        choice.device,
        choice.dtype,
        settings.store / "replay",
    )
    found = referee(root, judged.tables, questions, recorded, asked, say)
    if not found.steps:
        return replace(found, record_next=record_next(judged.tables, questions))
    return found


def with_replays(judged: pipeline.Judged, replays: Replays) -> pipeline.Judged:
    """The judged run with what the replay says of it."""
    return replace(judged, verdicts=replace(judged.verdicts, replays=replays))


# --- what a finding asks ------------------------------------------------------------------


def _questions(judged: pipeline.Judged, only: Sequence[str]) -> tuple[Question, ...]:
    """Of every finding that log-probs, rewards or lengths of a batch can speak to."""
    catalog, found = judged.tables.catalog, []
    for finding in judged.verdicts.judgement.findings:
        rule = judged.rulebook.rule(finding.rule)
        if rule is None or (only and finding.id not in only):
            continue
        question = _question(finding, rule, catalog)
        if question is not None:
            found.append(question)
    return tuple(found)


def _question(finding: Finding, rule: Rule, catalog: Catalog) -> Question | None:
    """None where the finding rests on nothing that the update logs of its batch."""
    named = [name.strip() for e in finding.evidence for name in e.metric.split(",")]
    own = rule.spec.replay
    metrics = tuple(dict.fromkeys(_with_parts([*([own.series] if own else []), *named], catalog)))
    of_batch = [name for name in metrics if _is_of_batch(name, catalog)]
    if not of_batch:
        return None
    spec = own or ReplaySpec(series=of_batch[0], pick="worst", steps=STEPS)
    return Question(
        finding.id,
        spec.series,
        spec.pick,
        spec.steps,
        finding.windows,
        tuple(dict.fromkeys(e.window for e in finding.evidence if e.window)),
        finding.onset.step if finding.onset else None,
        tuple(_limits(rule)),
        metrics,
        SAYS_METRIC_WRONG in rule.spec.tags,
        tuple(change for remedy in finding.remedies for change in remedy.changes),
    )


def _with_parts(names: Iterable[str], catalog: Catalog) -> Iterator[str]:
    """Series of the catalog, each with those that it is computed from."""
    for name in names:
        if name in catalog.metrics:
            yield name
        elif (derived := catalog.derived.get(name)) is not None:
            yield name
            yield from _with_parts((part for part in parts_of(derived) if part != name), catalog)


def _is_of_batch(name: str, catalog: Catalog) -> bool:
    """Does the trainer log it of the batch that it updates on?"""
    if (derived := catalog.derived.get(name)) is not None:
        return any(_is_of_batch(part, catalog) for part in parts_of(derived) if part != name)
    metric = catalog.metrics.get(name)
    return metric is not None and any(str(p).startswith(OF_BATCH) for p in metric.logged)


def _limits(rule: Rule) -> Iterator[Limit]:
    """Where the rule's mildest band calls a series healthy; of several conditions, all."""
    found: dict[str, Limit] = {}
    for limit in _limits_of(rule.bands[0].tree):
        known = found.setdefault(limit.series, limit)
        found[limit.series] = replace(
            known, low=max(known.low, limit.low), high=min(known.high, limit.high)
        )
    yield from found.values()


def _limits_of(node: Node) -> Iterator[Limit]:
    condition = node.condition
    if isinstance(condition, Target):
        low, high = condition.value - condition.tolerance, condition.value + condition.tolerance
        yield Limit(condition.series, low, high)
    elif isinstance(condition, Level):
        if condition.outside is not None:
            yield Limit(condition.series, *condition.outside)
        else:
            yield Limit(
                condition.series,
                -math.inf if condition.below is None else condition.below,
                math.inf if condition.above is None else condition.above,
            )
    # What holds under a `not` is the healthy side.
    if node.joint != "not":
        for child in node.children:
            yield from _limits_of(child)


# --- what cannot be replayed --------------------------------------------------------------


def _check_findings(judged: pipeline.Judged, wanted: Sequence[str]) -> None:
    ids = [finding.id for finding in judged.verdicts.judgement.findings]
    for name in wanted:
        if name not in ids:
            raise UsageError(
                f"--finding: this run has no finding {name!r}",
                hint=f"of {', '.join(ids)}" if ids else "it has none at all",
            )


def _check_steps(recorded: Sequence[RecordedStep], wanted: Sequence[int]) -> None:
    steps = sorted({one.step for one in recorded if one.step is not None})
    for step in wanted:
        if step not in steps:
            shown = ", ".join(map(str, steps[:20])) + (" …" if len(steps) > 20 else "")
            raise UsageError(
                f"--steps: no batch of step {step} is recorded", hint=f"of {shown or 'none'}"
            )


def _lacking() -> str | None:
    return next((name for name in NEEDED if not _is_installed(name)), None)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _need_torch() -> None:
    if (lacking := _lacking()) is not None:
        raise RunError(f"a replay needs {lacking}, which is not installed", hint=INSTALL)
