"""The three files of a new rule, which pass lint and their tests as they are written."""

from __future__ import annotations

import re
from pathlib import Path

from analyzer.errors import Location, UsageError
from analyzer.rulebook.model import KEBAB

RULE = """\
id: {id}
version: 1
status: experimental
title: Entropy is low
headline: Entropy has fallen below {{param:limit}}
summary:
  - Entropy went from {{entropy.start}} to {{entropy.end}}, low since {{onset}}.
severity: info
why: >
  Say what goes wrong in a run where this holds.
needs: [entropy]
params:
  limit: {{default: 0.05, unit: nats, range: [0, 10], from: say where this number comes from}}
when:
  level: {{series: entropy, below: $limit, for: 5}}
charts:
  - {{series: entropy, limits: [{{label: limit, param: limit}}]}}
remedies:
  - do: Say what to do first
false_positives: >
  Say when this is no fault.
runbook: {id}.md
tags: [{topic}]
"""

TESTS = """\
rule: {id}
tests:
  - name: falls below the limit and stays there
    kind: fires
    series: {{entropy: "0.4x40~0.01 0.01x20~0.002"}}
    expect: [{{rule: {id}, severity: info, onset: [40, 40]}}]
  - name: a healthy run
    kind: clear
    series: {{entropy: "0.4-0.001x100~0.01"}}
    expect: []
  - name: no entropy in the log
    kind: not-checked
    series: {{task_reward: "0.5x60"}}
    expect: []
  - name: just above the limit
    kind: boundary
    series: {{entropy: "0.4x40 0.051x20"}}
    expect: []
"""

RUNBOOK = """\
# Entropy is low

## Meaning

What the numbers say.

## Impact

What it does to the run.

## Diagnosis

1. Where to look first.

## Mitigation

What helps.
"""


def write_scaffold(rule_id: str, topic: str, folder: Path) -> list[Path]:
    """Write <folder>/<topic>/<id>.yaml, .test.yaml and .md; nothing is overwritten.

    Raises UsageError for an id or topic that is not kebab-case, or a file that is there.
    """
    for name in (rule_id, topic):
        if not re.fullmatch(KEBAB, name):
            raise UsageError(f"{name!r} is not kebab-case", hint="like length-growth")
    home = folder / topic
    files = {
        home / f"{rule_id}.yaml": RULE,
        home / f"{rule_id}.test.yaml": TESTS,
        home / f"{rule_id}.md": RUNBOOK,
    }
    for path in files:
        if path.exists():
            raise UsageError("is there already", at=Location(str(path)), hint="choose another id")
    home.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        filled = text if path.suffix == ".md" else text.format(id=rule_id, topic=topic)
        path.write_text(filled, "utf-8")
    return list(files)
