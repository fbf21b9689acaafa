"""Each export holds every check and says what was not checked."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from findings_of import finding, verdicts

import analyzer.findings
from analyzer.findings.exports import EXPORTS
from analyzer.findings.exports.document import document
from analyzer.findings.model import ConfigChange, Evidence, Remedy, Suppression
from analyzer.findings.numbers import number

SCHEMA = json.loads(
    (Path(analyzer.findings.__path__[0]) / "findings.schema.json").read_text("utf-8")
)
CAUSE = finding(
    "truncation",
    "error",
    150,
    remedies=(
        Remedy("Raise it", "apply", (ConfigChange("gconfig.max_new_tokens", "4096", "8192"),)),
        Remedy("Set it", "already", (ConfigChange("actor.x", "5.0", "5.0"),)),
    ),
)
EFFECT = finding("reward-collapse", "error", 170, caused_by=("truncation",))
WITHDRAWN = finding("drift", "warning", 3, suppressed=Suppression("artefact", "an artefact"))


def test_the_document_fits_its_schema() -> None:
    jsonschema.validate(document(verdicts(CAUSE, EFFECT, WITHDRAWN)), SCHEMA)
    jsonschema.validate(document(verdicts(verdict="ok")), SCHEMA)


def test_the_schema_refuses_what_it_does_not_know() -> None:
    data = document(verdicts(CAUSE))
    data["findings"][0]["colour"] = "red"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, SCHEMA)


def test_changes_carry_values_not_text() -> None:
    data = document(verdicts(CAUSE))
    assert data["findings"][0]["remedies"][0] == {
        "do": "Raise it",
        "config": {"gconfig.max_new_tokens": {"from": 4096, "to": 8192}},
        "status": "apply",
    }


def test_json_has_no_bare_nan() -> None:
    nan = Evidence("nonfinite", "grad_norm", "g", "1", float("nan"), None, None, "NaN")
    text = EXPORTS["json"](verdicts(finding("nan", "error", 1, evidence=(nan,))))
    data = json.loads(text, parse_constant=pytest.fail)
    assert data["findings"][0]["evidence"][0]["value"] == "nan"
    jsonschema.validate(data, SCHEMA)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.1 + 0.2, 0.3), (float("-inf"), "-inf"), (None, None), (1234567.0, 1234567.0)],
)
def test_numbers_are_rounded_to_nine_digits(value: float | None, shown: object) -> None:
    assert number(value) == shown


def test_text_says_cause_consequence_remedy_and_what_was_not_checked() -> None:
    text = EXPORTS["text"](verdicts(CAUSE, EFFECT, WITHDRAWN, verdict="error"))
    lines = text.splitlines()
    assert lines[0] == "error: experiment/trial"
    assert lines[1] == "  steps 0–99 (100 logged, 2 attempts)"
    assert "error: headline of truncation (truncation, since step 150)" in lines
    assert "    follows: headline of reward-collapse (reward-collapse, since step 170)" in lines
    assert "        gconfig.max_new_tokens: 8192    # now 4096" in lines
    assert "    already so: Set it" in lines
    assert "  blind: entropy is not logged" in lines
    assert "  broken: error: ZeroDivisionError" in lines
    assert "set aside: headline of drift (drift, since step 3)" in lines
    assert "    by artefact: an artefact" in lines


def test_junit_fails_for_findings_that_count_and_skips_what_was_not_checked() -> None:
    suite = ElementTree.fromstring(EXPORTS["junit"](verdicts(CAUSE, WITHDRAWN)))
    counts = {k: suite.get(k) for k in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "5", "failures": "1", "errors": "1", "skipped": "1"}
    failed = [c.get("name") for c in suite if c.find("failure") is not None]
    assert failed == ["truncation"]


def test_junit_holds_no_character_that_xml_forbids() -> None:
    bad = finding("bell", "error", 1, headline="a \x07 bell", summary="\x00")
    ElementTree.fromstring(EXPORTS["junit"](verdicts(bad)))


def test_sarif_has_a_level_and_a_fingerprint_on_each_result() -> None:
    log = json.loads(EXPORTS["sarif"](verdicts(CAUSE, WITHDRAWN)))
    results = log["runs"][0]["results"]
    assert [(r["ruleId"], r["level"]) for r in results] == [
        ("truncation", "error"),
        ("drift", "warning"),
    ]
    assert results[1]["suppressions"][0]["justification"] == "an artefact"
    assert all(r["partialFingerprints"] for r in results)
    (notification,) = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"].startswith("broken:")


def test_markdown_is_short_and_names_the_remedy() -> None:
    text = EXPORTS["md"](verdicts(CAUSE, EFFECT, verdict="error"))
    assert text.startswith("**error** · `experiment/trial`")
    assert "  - error: headline of reward-collapse" in text
    assert "   gconfig.max_new_tokens: 8192  # now 4096" in text


@pytest.mark.parametrize("name", sorted(EXPORTS))
def test_an_export_is_the_same_twice(name: str) -> None:
    assert EXPORTS[name](verdicts(CAUSE, EFFECT)) == EXPORTS[name](verdicts(CAUSE, EFFECT))
