"""What stands beside a sample run: what was put in, what has to be found, and the whole verdict."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from analyzer.findings.model import Judgement
from analyzer.findings.replayed import Replays
from analyzer.strict_yaml import load_document

ABOUT, EXPECTED, REPLAYED = "about.yaml", "expected.json", "replayed.json"
Rule = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Rules = Annotated[str, Field(pattern=r"^[a-z0-9-]+(\|[a-z0-9-]+)*$")]


class About(BaseModel):
    """`about.yaml` of a run that the lab has made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scenario: str
    strength: Literal["off", "strong"]
    seed: int = Field(ge=0)
    steps: int = Field(gt=0)
    torch: str
    """The version that made it; another one may make other bytes."""
    put_in: str
    since: int | None = Field(ge=0)
    """The step from which the fault is active; null where nothing is wrong."""
    must_find: tuple[Rules, ...]
    """Each has to fire; `a|b` for either."""
    may_find: tuple[Rule, ...]
    """What the mechanism can bring with it."""
    must_not_find: tuple[Rule, ...]
    """What would tell the wrong story."""


def read_about(run: Path) -> About:
    """The description of a run. Raises ValueError where it is not as it must be."""
    document = load_document(run / ABOUT)
    if document.errors:
        raise ValueError("\n".join(map(str, document.errors)))
    return About.model_validate(document.data)


def locked(judgement: Judgement) -> dict[str, object]:
    """The complete verdict as it is written."""
    findings = [
        {
            "rule": finding.rule,
            "severity": finding.severity,
            "onset": finding.onset.step if finding.onset else None,
            "suppressed": not finding.counts,
        }
        for finding in judgement.findings
    ]
    return {"verdict": judgement.verdict, "findings": findings}


def locked_replay(replays: Replays) -> dict[str, object]:
    """What the replay says of each finding and of each recorded step, as it is written."""
    return {
        "findings": [
            {"rule": one.finding, "verdict": one.verdict, "cause": one.cause}
            for one in replays.verdicts
        ],
        "steps": [{"step": one.step, "outcome": one.outcome} for one in replays.steps],
    }


def write_replayed(run: Path, replays: Replays) -> None:
    """Lock what a replay says."""
    text = json.dumps(locked_replay(replays), indent=2) + "\n"
    (run / REPLAYED).write_text(text, "utf-8")


def read_replayed(run: Path) -> dict[str, object]:
    """What the replay of a run has to say."""
    found: dict[str, object] = json.loads((run / REPLAYED).read_text("utf-8"))
    return found


def read_expected(run: Path) -> dict[str, object]:
    """The locked verdict of a run."""
    found: dict[str, object] = json.loads((run / EXPECTED).read_text("utf-8"))
    return found


def write_expected(run: Path, judgement: Judgement) -> None:
    """Lock a verdict, a finding a line."""
    whole = locked(judgement)
    findings = whole["findings"]
    assert isinstance(findings, Sequence)
    lines = ",\n".join(f"    {json.dumps(finding)}" for finding in findings)
    inner = f"[\n{lines}\n  ]" if lines else "[]"
    text = f'{{\n  "verdict": {json.dumps(whole["verdict"])},\n  "findings": {inner}\n}}\n'
    (run / EXPECTED).write_text(text, "utf-8")
