"""Rows of many runs that never were, for the tests of pages: the same for the same number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from analyzer.findings.model import SEVERITIES, Severity, Verdict
from analyzer.fleet.rows import Entry, Row, broken, publish

ROOT = "/data/history"
STARTED = datetime(2026, 3, 2, tzinfo=UTC)  # a Monday
STEPS = 400


@dataclass(frozen=True)
class Illness:
    """Findings that come together, in this order: rule, severity, and how long after the first."""

    often: float  # share of the runs
    findings: tuple[tuple[str, Severity, int], ...]


ILLNESSES = (
    Illness(
        0.10,
        (
            ("truncation", "error", 0),
            ("length-growth", "warning", 8),
            ("reward-collapse", "error", 40),
        ),
    ),
    Illness(0.07, (("entropy-collapse", "warning", 0), ("reward-stagnation", "warning", 20))),
    Illness(0.05, (("behave-weight-drift", "warning", 0), ("clip-fraction-high", "warning", 5))),
    Illness(0.05, (("grad-nonfinite", "error", 0), ("update-skipped", "error", 0))),
    Illness(0.04, (("zero-signal-groups", "warning", 0), ("groups-without-spread", "info", 0))),
    Illness(0.03, (("crash-and-restart", "warning", 0), ("repeated-steps", "info", 0))),
    Illness(0.02, (("kl-blowup", "error", 0),)),
    Illness(0.02, (("reward-timeouts", "warning", 0),)),
)
SETTINGS = (("temperature-not-one", 0.06), ("kl-without-reference", 0.03))  # without an onset
CHECKED = sorted(
    {rule for illness in ILLNESSES for rule, _, _ in illness.findings} | {r for r, _ in SETTINGS}
)


def entries(count: int) -> Iterator[Entry]:
    """So many runs, five in a thousand of them broken."""
    random = Random(7)
    for number in range(count):
        path = f"{ROOT}/{('gsm8k', 'math', 'code')[number % 3]}/trial-{number:04d}"
        if number % 200 == 150:
            yield Entry(
                broken(path, f"{path}/main.log: no reader knows this format"), "", "", "", None
            )
        else:
            yield _entry(path, number, random)


def _entry(path: str, number: int, random: Random) -> Entry:
    started = STARTED + timedelta(hours=4 * number)
    findings = list(_findings(random))
    hours = round(random.lognormvariate(2, 0.6), 2)
    first = findings[0] if findings else None
    grade = max((SEVERITIES.index(f["severity"]) for f in findings), default=-1)
    verdict: Verdict = SEVERITIES[grade] if grade >= 0 else "ok"
    onset = first["onset"] if first else None
    row = Row(
        path,
        f"{path.split('/')[-2]}-grpo/trial-{number:04d}",
        verdict,
        framework="AReaL",
        framework_version="1.0.4",
        gpus=8,
        steps=STEPS,
        first_step=0,
        last_step=STEPS - 1,
        started=f"{started:%Y-%m-%dT%H:%M:%SZ}",
        ended=f"{started + timedelta(hours=hours):%Y-%m-%dT%H:%M:%SZ}",
        hours=hours,
        findings=len(findings),
        first_finding=first["rule"] if first else None,
        onset=onset["step"] if onset else None,
        checks=len(CHECKED),
        not_checked=1,
    )
    fired = {finding["rule"] for finding in findings}
    checks = [
        {"rule": rule, "state": "fired" if rule in fired else "clear", "reason": ""}
        for rule in CHECKED
        if rule != "reward-timeouts" or rule in fired or number % 4
    ]
    checks.append({"rule": "generalization-gap", "state": "not-checked", "reason": "no test set"})
    reward = list(_curve(random, onset["step"] if onset else None))
    document = {"findings": findings, "checks": checks}
    return Entry(row, "as listed", "rules", f"key of {number}", document, reward=reward)


def _findings(random: Random) -> Iterator[dict[str, Any]]:
    draw, onset = random.random(), int(random.betavariate(2, 3) * STEPS * 0.8)
    for illness in ILLNESSES:
        draw -= illness.often
        if draw < 0:
            for rule, severity, later in illness.findings:
                if random.random() < 0.9:
                    yield finding(rule, severity, min(STEPS - 1, onset + later))
            break
    for rule, often in SETTINGS:
        if random.random() < often:
            yield finding(rule, "warning", None)


def finding(rule: str, severity: Severity, onset: int | None) -> dict[str, Any]:
    """A finding as the findings document has it, in what pages and tables read of it."""
    return {
        "id": rule,
        "rule": rule,
        "severity": severity,
        "confidence": 0.9,
        "title": rule.replace("-", " ").capitalize(),
        "headline": f"What {rule.replace('-', ' ')} did in this run, told in one line",
        "onset": None if onset is None else {"step": onset, "low": onset - 3, "high": onset + 2},
        "end": None if onset is None else STEPS - 1,
        "windows": [] if onset is None else [[onset, STEPS - 1]],
        "caused_by": [],
        "suppressed": None,
        "fingerprint": f"{rule}-{onset}",
    }


def _curve(random: Random, onset: int | None) -> Iterator[list[float]]:
    begin, end = random.uniform(0.1, 0.4), random.uniform(0.5, 0.9)
    for step in range(0, STEPS, 9):
        healthy = end - (end - begin) * math.exp(-step / 90)
        fall = max(0.0, 1 - (step - onset) / 150) if onset is not None and step > onset else 1.0
        yield [step, round(max(0.0, healthy * fall + random.gauss(0, 0.02)), 4)]


def write_store(store: Path, count: int) -> None:
    """A store with the rows of so many runs."""
    for entry in entries(count):
        publish(store, entry)
