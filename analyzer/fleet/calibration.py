"""`analyzer calibrate`: proposals, what they change on labelled runs, and the file of overrides."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from analyzer import __version__
from analyzer.errors import Location, RunError, UsageError
from analyzer.findings.numbers import format_value
from analyzer.fleet.calibrate import (
    CONFIDENCE,
    Proposal,
    alarming,
    chosen_limits,
    propose,
    state_of,
)
from analyzer.fleet.labels import Labelled, read_labels
from analyzer.pipeline import Rules, Settings, open_rules, open_run
from analyzer.rulebook.load import Rule
from analyzer.rulebook.vary import overridden
from analyzer.statistics.proportion import trials_needed
from analyzer.tables.run import RunTables


@dataclass(frozen=True, slots=True)
class HealthyRun:
    """A run that limits were taken from."""

    path: str
    sha256: str  # of all that was read of it


@dataclass(frozen=True, slots=True)
class Change:
    """A labelled run in which a proposed limit makes a difference."""

    path: str
    rule: str
    fires: bool  # with the proposed limit
    meaning: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """Everything that was found."""

    rate: float
    runs: tuple[HealthyRun, ...]
    proposals: tuple[Proposal, ...]
    labelled: int  # runs
    changes: tuple[Change, ...]


def calibrate(
    healthy: Sequence[str],
    labelled: Sequence[str],
    rules: Sequence[str],
    rate: float,
    settings: Settings,
    say: Callable[[str], None],
) -> Calibration:
    """Limits for the rules from the runs that the globs name; without rules, for those that fire
    too often there.

    Raises UsageError for an unknown rule, RunError where a glob names nothing or a run cannot be
    read, RuleErrors for a label at fault.
    """
    loaded = open_rules(settings)
    wanted = chosen_limits(rules, loaded.rulebook)
    labels = read_labels(_paths(labelled))
    paths = _paths(healthy)
    say(f"reading {len(paths)} healthy runs")
    runs = [open_run(path, settings.store, loaded.catalog) for path in paths]
    if not wanted:
        wanted = alarming(loaded.rulebook, runs, rate)
    proposals = []
    for rule, limit in wanted:
        say(f"{rule.id}.{limit.param}")
        proposals.append(propose(rule, limit, runs, rate))
    changes = [c for label in labels for c in _changes(label, proposals, loaded, settings)]
    return Calibration(
        rate,
        tuple(HealthyRun(str(path), _contents(run)) for path, run in zip(paths, runs, strict=True)),
        tuple(proposals),
        len(labels),
        tuple(changes),
    )


def _paths(globs: Sequence[str]) -> list[Path]:
    found: dict[str, None] = {}
    for pattern in globs:
        matches = sorted(glob.glob(pattern, recursive=True))
        if not matches:
            raise RunError("nothing is called so", at=Location(pattern), hint="quote the glob")
        found.update(dict.fromkeys(matches))
    return [Path(path) for path in found]


def _contents(run: RunTables) -> str:
    sources = sorted((source.path, source.sha256) for source in run.manifest.sources)
    return hashlib.sha256(repr(sources).encode()).hexdigest()


def _changes(
    label: Labelled, proposals: Sequence[Proposal], loaded: Rules, settings: Settings
) -> Iterator[Change]:
    """Where a rule, judged by itself, ends otherwise with its proposed limit."""
    changed = {p.rule: p for p in proposals if p.changed}
    if not changed:
        return
    run = open_run(label.path, settings.store, loaded.catalog)

    def fires(name: str, *, proposed: bool) -> bool:
        rule: Rule | None = loaded.rulebook.rule(name)
        if rule is not None and proposed and name in changed:
            rule = overridden(rule, changed[name].param, changed[name].after)
        return rule is not None and state_of(rule, run) == "fired"

    for name in changed:
        after = fires(name, proposed=True)
        if after == fires(name, proposed=False):
            continue
        others = [[o for o in entry if fires(o, proposed=True)] for entry in label.instead(name)]
        yield Change(str(label.path), name, after, _meaning(label, name, after, others))


def _meaning(label: Labelled, rule: str, fires: bool, others: Sequence[Sequence[str]]) -> str:
    place = label.place(rule)
    if place == "must":
        if fires:
            return "it must be found"
        if all(others):
            names = ", ".join(sorted({name for entry in others for name in entry}))
            return f"it must be found; {names} still tells it"
        return "LOST: it must be found, and nothing that would do instead fires"
    if place == "may":
        return "it may be found"
    alarm = "its label forbids it" if place == "must-not" else "its label does not name it"
    return f"{alarm}: a false alarm {'more' if fires else 'less'}"


def render(found: Calibration) -> str:
    """The proposals, what they rest on, and what they change, for a person."""
    lines = [f"{len(found.runs)} healthy runs, false-alarm rate asked for: {_percent(found.rate)}"]
    needed = trials_needed(found.rate, CONFIDENCE)
    if len(found.runs) < needed:
        lines.append(
            f"So few cannot show {_percent(found.rate)}: that takes {needed} without an alarm. "
            f"Limits are moved to where at most {_percent(found.rate)} of these runs fire, and "
            "none is made to fire more often."
        )
    lines += [line for p in found.proposals for line in ("", *_told(p))]
    if not found.proposals:
        lines += ["", "No rule with a limit fires too often."]
    if found.labelled:
        lines += ["", f"{found.labelled} labelled runs, each rule judged by itself:"]
        lines += [
            f"  {c.path}: {c.rule} {'fires' if c.fires else 'no longer fires'} ({c.meaning})"
            for c in found.changes
        ] or ["  no difference"]
    return "\n".join(lines) + "\n"


def _told(proposal: Proposal) -> Iterator[str]:
    name = f"{proposal.rule}.{proposal.param}"
    before, after = (_number(v, proposal.unit) for v in (proposal.before, proposal.after))
    yield f"{name}: {f'{before} → {after}' if proposal.changed else f'{before}, as it is'}"
    yield (
        f"  fires in {proposal.fired_before} of {proposal.runs} healthy runs"
        + (f", then in {proposal.fired_after}" if proposal.changed else "")
    )
    if proposal.failed:
        yield f"  no limit is proposed: {proposal.failed}"
    elif proposal.runs:
        yield (
            f"  of runs like these at most {_percent(proposal.bound)} with "
            f"{_percent(CONFIDENCE)} confidence"
        )


def _number(value: float, unit: str) -> str:
    if unit == "fraction":
        return format_value(value, unit)
    return f"{value:g} {unit}"


def _percent(share: float) -> str:
    return format_value(share, "fraction")


def write_overrides(found: Calibration, path: Path, today: date) -> None:
    """The proposed limits in the form of analyzer.yaml, with where they are from.

    Raises UsageError where the file is there already, RunError where it cannot be written.
    """
    if path.exists():
        raise UsageError("is there already", at=Location(str(path)), hint="give another --out")
    try:
        path.write_text(overrides_text(found, today), "utf-8")
    except OSError as cause:
        raise RunError(
            f"cannot be written: {cause.strerror or cause}",
            at=Location(str(path)),
            hint="give another --out",
        ) from cause


def overrides_text(found: Calibration, today: date) -> str:
    """The text of that file."""
    lines = [
        f"# Limits proposed by analyzer calibrate, version {__version__}, on {today}.",
        "# Use them with --set @FILE, or copy the parameters to analyzer.yaml.",
        f"# False-alarm rate asked for: {_percent(found.rate)}; bounds have "
        f"{_percent(CONFIDENCE)} confidence.",
        f"# Healthy runs: {len(found.runs)}, with the SHA-256 of what was read of each:",
        *(f"#   {run.sha256}  {run.path}" for run in found.runs),
        "parameters:",
    ]
    changed = [proposal for proposal in found.proposals if proposal.changed]
    for p in changed:
        lines.append(
            f"  # was {p.before:g}: fired in {p.fired_before} of {p.runs}; now in {p.fired_after}, "
            f"and in at most {_percent(p.bound)} of runs like these"
        )
        lines.append(f"  {p.rule}.{p.param}: {p.after:g}")
    if not changed:
        lines[-1] = "parameters: {}"
    return "\n".join(lines) + "\n"
