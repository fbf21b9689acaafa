"""Associations as text and JSON, with what they can and cannot tell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Literal

from analyzer.fleet.associate import LEAST, Association, Associations, Looked, Setting

AssociationForm = Literal["text", "json"]

LIMITS = (
    "Association, not cause: who sets one key often sets others, by task, by person, by time. A "
    "setting that no past run varied cannot be found. Run one pair that differs in this alone."
)


def render_associations(found: Associations, form: AssociationForm) -> str:
    """The associations that stand, by finding."""
    if form == "json":
        return json.dumps(_document(found), indent=2, ensure_ascii=False) + "\n"
    return "\n".join(line for looked in found.looked for line in _lines(looked, found)) + (
        f"\n{LIMITS}\n"
    )


def _lines(looked: Looked, found: Associations) -> Iterator[str]:
    standing = [a for a in found.standing if a.rule == looked.rule]
    aside = f", {looked.set_aside} set aside" if looked.set_aside else ""
    yield f"{looked.rule}: {looked.sick} runs with it, {looked.healthy} without{aside}"
    for association in standing:
        first, *others = (_shown(setting) for setting in association.settings)
        yield f"  {first}"
        yield from (f"  = {other}" for other in others)
        yield f"      {_measured(association)}"
    yield f"  {looked.tests} comparisons, {len(standing)} stand (false-discovery rate {found.q:g})"
    if looked.left_out:
        parts = (f"{count} {reason}" for reason, count in looked.left_out)
        yield f"  keys left out: {', '.join(parts)}"


def _shown(setting: Setting) -> str:
    if not setting.value:
        return f"{setting.key}{' (the other way round)' if setting.other else ''}"
    return f"{setting.key} {'≠' if setting.other else '='} {setting.value}"


def _measured(association: Association) -> str:
    found = association.found
    interval = f"{found.effect:.3g} ({found.low:.3g} to {found.high:.3g}), p = {found.p:.2g}"
    if association.medians is None:
        shares = f"{association.sick} of {association.sick_of} runs with the finding have it, "
        shares += f"{association.healthy} of {association.healthy_of} without"
        return f"{shares}; odds ratio {interval}"
    sick, healthy = association.medians
    medians = f"median {sick:g} in {association.sick} runs with the finding, "
    medians += f"{healthy:g} in {association.healthy} without"
    return f"{medians}; rank-biserial correlation {interval}"


def _document(found: Associations) -> dict[str, object]:
    return {
        "false_discovery_rate": found.q,
        "least_runs": LEAST,
        "limits": LIMITS,
        "findings": [
            {
                **asdict(looked),
                "left_out": dict(looked.left_out),
                "associations": [_entry(a) for a in found.standing if a.rule == looked.rule],
            }
            for looked in found.looked
        ],
    }


def _entry(association: Association) -> dict[str, object]:
    ranked = association.medians is not None
    return {
        "settings": [asdict(setting) for setting in association.settings],
        "test": association.test,
        "p": association.found.p,
        "effect": "rank-biserial correlation" if ranked else "odds ratio",
        "value": association.found.effect,
        "low": association.found.low,
        "high": association.found.high,
        "sick": association.sick,
        "sick_of": association.sick_of,
        "healthy": association.healthy,
        "healthy_of": association.healthy_of,
        "medians": association.medians,
    }
