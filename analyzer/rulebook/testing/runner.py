"""Runs test cases: the series become tables in memory and the rules judge them as any run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import duckdb
import numpy as np
import pyarrow as pa

from analyzer.findings.model import Finding, Judgement
from analyzer.rulebook.evaluate import Judge
from analyzer.rulebook.load import Rulebook
from analyzer.rulebook.testing.cases import LOG_LINE, Case, Expected, Sparse, TestFile
from analyzer.rulebook.testing.language import parse_series
from analyzer.rulebook.testing.responses import response_rows
from analyzer.tables.catalog import Catalog
from analyzer.tables.manifest import AttemptRecord, Manifest, SourceRecord
from analyzer.tables.run import RunTables
from analyzer.tables.schema import CONFIG, EVENTS, METRICS

SOURCE = "main.log"


@dataclass(frozen=True)
class Failure:
    """What was expected and what came, one line each."""

    wanted: tuple[str, ...]
    got: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """How one test ended; failure None: passed."""

    file: TestFile
    case: Case
    failure: Failure | None


def run_tests(files: Sequence[TestFile], rulebook: Rulebook, catalog: Catalog) -> Iterator[Result]:
    """Run every case of the files."""
    for file in files:
        for case in file.cases:
            judgement = judge_case(file.rule, case, rulebook, catalog)
            yield Result(file, case, compare(file.rule, case, judgement))


def judge_case(rule: str, case: Case, rulebook: Rulebook, catalog: Catalog) -> Judgement:
    """The judgement of the case's rules over its series."""
    wanted = case.rules or (rule,)
    chosen = replace(rulebook, rules=tuple(r for r in rulebook.rules if r.id in wanted))
    run = case_tables(case, catalog)
    return Judge(chosen, catalog, run, "test").judgement(bool(case.series or case.samples))


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """One database for all cases: to start one takes 25 ms, a connection to it none."""
    return duckdb.connect(config={"threads": 1, "enable_external_access": "false"})


def case_tables(case: Case, catalog: Catalog) -> RunTables:
    """The tables of a run that logged the case's series."""
    rows = [_rows(name, text, catalog) for name, text in case.series.items()]
    steps = np.unique(np.concatenate([s for _, s, _ in rows])) if rows else np.array([], np.int64)
    responses = response_rows(case.samples)
    if not rows:
        steps = np.unique(responses["step"].to_numpy())
    manifest = _manifest(case, steps)
    tables: dict[str, pa.Table] = {
        "samples": responses,
        "metrics": _metrics(rows, case.resumes, catalog),
        "events": _events(case.log or ()),
        "config": _config(case.config or {}),
    }
    run = RunTables(manifest, catalog, {**tables}, _database().cursor())
    for role, series in case.against.items():
        other = Case(name=role, kind="clear", series=series, expect=())
        run.others[role] = (case_tables(other, catalog),)
    return run


def _rows(name: str, text: str | Sparse, catalog: Catalog) -> tuple[str, np.ndarray, np.ndarray]:
    every = text.every if isinstance(text, Sparse) else 1
    steps, values = parse_series(text.values if isinstance(text, Sparse) else text, name, every)
    if name in catalog.metrics:
        name = next(n for n, alias in catalog.aliases.items() if alias.canonical == name)
    return name, steps, values


def _metrics(
    rows: Iterable[tuple[str, np.ndarray, np.ndarray]], resumes: Sequence[int], catalog: Catalog
) -> pa.Table:
    tables = [METRICS.empty_table()]
    for name, steps, values in rows:
        count = len(steps)
        attempts = np.searchsorted(np.array(resumes), steps, side="right")
        columns = {
            "run": ["test"] * count,
            "attempt": attempts.astype(np.int32),
            "step": steps,
            "log_step": pa.nulls(count, pa.int64()),
            "metric": [name] * count,
            "canonical": [catalog.aliases[name].canonical] * count,
            "value": values,
            "wall_time": pa.nulls(count, METRICS.field("wall_time").type),
            "source": [SOURCE] * count,
            "superseded": [False] * count,
        }
        written = pa.table(columns).cast(METRICS)
        tables += [written, *(_rewritten(written, resume) for resume in resumes)]
    return pa.concat_tables(tables)


def _rewritten(rows: pa.Table, resume: int) -> pa.Table:
    """The three steps after a restart as the earlier attempt had logged them."""
    steps = np.asarray(rows["step"])
    old = rows.filter(pa.array((steps >= resume) & (steps < resume + 3)))
    earlier = pa.array(np.asarray(old["attempt"]) - 1, pa.int32())
    old = old.set_column(1, METRICS.field("attempt"), earlier)
    return old.set_column(9, METRICS.field("superseded"), pa.array([True] * len(old), pa.bool_()))


def _events(lines: Sequence[str]) -> pa.Table:
    rows = []
    for number, line in enumerate(lines, start=1):
        match = LOG_LINE.fullmatch(line)
        assert match is not None, "load_tests has refused such a line"
        rows.append(
            {
                "run": "test",
                "attempt": 0,
                "step": None if match["step"] == "-" else int(match["step"]),
                "wall_time": None,
                "level": match["level"],
                "logger": match["logger"],
                "message": match["message"],
                "repeats": 1,
                "source": SOURCE,
                "line": number,
            }
        )
    return pa.Table.from_pylist(rows, schema=EVENTS)


def _config(config: dict[str, object]) -> pa.Table:
    rows = [
        {"run": "test", "key": key, "value": json.dumps(value), "source": "config.yaml"}
        for key, value in sorted(config.items())
    ]
    return pa.Table.from_pylist(rows, schema=CONFIG)


def _manifest(case: Case, steps: np.ndarray) -> Manifest:
    first = int(steps[0]) if len(steps) else None
    last = int(steps[-1]) if len(steps) else None
    starts = [first or 0, *case.resumes]
    ends = [*(r + 2 for r in case.resumes), last or 0]
    text_log = case.log is not None
    return Manifest(
        run="test",
        framework="AReaL",
        framework_version=None,
        first_step=first,
        last_step=last,
        step_count=len(steps),
        total_steps=case.facts.get("total_steps"),
        steps_per_epoch=case.facts.get("steps_per_epoch"),
        finished=None,
        started=None,
        ended=None,
        metrics=len(case.series),
        samples=sum(bunch.count for bunch in case.samples),
        attempts=tuple(
            AttemptRecord(i, a, b, None, None, None)
            for i, (a, b) in enumerate(zip(starts, ends, strict=True))
        ),
        sources=(
            SourceRecord(
                SOURCE, "areal-text" if text_log else "tensorboard", 0, "", case.digits, 0, 0
            ),
        ),
        skipped=(),
        notes=(),
    )


def compare(rule: str, case: Case, judgement: Judgement) -> Failure | None:
    """Expected against got: complete findings, and the states that the case names."""
    states = {check.rule: check.state for check in judgement.checks}
    expected_states = dict(case.states)
    if case.kind == "not-checked":
        expected_states.setdefault(rule, "not-checked")
    elif not any(e.rule == rule for e in case.expect):
        expected_states.setdefault(rule, "clear")  # an empty list must not hide "not checked"
    got_findings = {finding.rule: finding for finding in judgement.findings}
    wanted, got = [], []
    for expected in case.expect:
        finding = got_findings.pop(expected.rule, None)
        if finding is None or not _fits(expected, finding):
            wanted.append(_describe_expected(expected))
            got.append(_describe(finding) if finding else _why_not(expected.rule, judgement))
    for finding in got_findings.values():
        wanted.append(f"no finding of {finding.rule}")
        got.append(_describe(finding))
    for name, state in expected_states.items():
        if states.get(name) != state:
            wanted.append(f"{name}: {state}")
            got.append(_why_not(name, judgement))
    return Failure(tuple(wanted), tuple(got)) if wanted else None


def _fits(expected: Expected, finding: Finding) -> bool:
    if expected.severity != finding.severity:
        return False
    if expected.onset is not None:
        step = finding.onset.step if finding.onset else None
        if step is None or not expected.onset[0] <= step <= expected.onset[1]:
            return False
    if expected.caused_by is not None and set(expected.caused_by) != set(finding.caused_by):
        return False
    suppressed_by = finding.suppressed.by if finding.suppressed else None
    if expected.suppressed_by != suppressed_by:
        return False
    states = tuple(remedy.status for remedy in finding.remedies)
    return expected.remedies is None or expected.remedies == states


def _describe_expected(expected: Expected) -> str:
    parts = [f"{expected.rule} {expected.severity}"]
    if expected.onset is not None:
        parts.append(f"onset {expected.onset[0]}–{expected.onset[1]}")
    if expected.caused_by is not None:
        parts.append(f"caused by {', '.join(expected.caused_by) or 'nothing'}")
    if expected.suppressed_by is not None:
        parts.append(f"withdrawn by {expected.suppressed_by}")
    if expected.remedies is not None:
        parts.append(f"remedies {', '.join(expected.remedies)}")
    return ", ".join(parts)


def _describe(finding: Finding) -> str:
    parts = [f"{finding.rule} {finding.severity}"]
    parts.append(f"onset {finding.onset.step}" if finding.onset else "no onset")
    if finding.caused_by:
        parts.append(f"caused by {', '.join(finding.caused_by)}")
    if finding.suppressed:
        parts.append(f"withdrawn by {finding.suppressed.by}")
    parts.append(f"remedies {', '.join(r.status for r in finding.remedies) or 'none'}")
    return ", ".join(parts)


def _why_not(rule: str, judgement: Judgement) -> str:
    for check in judgement.checks:
        if check.rule == rule:
            return f"{rule}: {check.state} ({check.reason or check.margin})"
    return f"{rule}: not evaluated"
