"""A run is judged alike whoever wrote it: every format against AReaL's log of the same steps."""

from __future__ import annotations

from pathlib import Path

import framework_runs as runs
import pytest
from framework_formats import AREAL_NAMES, FORMATS, Format, areal

from analyzer.pipeline import Settings, judge_run

Told = dict[str, tuple[str, int | None, str | None, tuple[str, ...]]]
# What must be among the findings of those who log this.
EXPECTED = {
    "truncated": "length-driven-truncation",
    "entropy": "entropy-collapse",
    "reward": "reward-collapse",
}


def told(run: Path, store: Path, first: int) -> tuple[int, Told]:
    """Steps of the run; by rule: severity, steps before the onset, what it is explained by."""
    judged = judge_run(run, Settings(store=store))
    findings = judged.verdicts.judgement.findings
    return judged.manifest.step_count, {
        finding.rule: (
            finding.severity,
            finding.onset.step - first if finding.onset else None,
            finding.suppressed.by if finding.suppressed else None,
            tuple(finding.caused_by),
        )
        for finding in findings
    }


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("frameworks")


TWINS: dict[tuple[str, ...], Told] = {}


def twin(base: Path, format_: Format) -> Told:
    """The findings of AReaL's log with the same quantities of the sick run."""
    if format_.tells not in TWINS:
        home = base / f"areal-{len(TWINS)}"
        areal(home, runs.sick(), format_.tells)
        steps, found = told(home, base / "store", 0)
        assert steps == runs.STEPS
        TWINS[format_.tells] = found
    return TWINS[format_.tells]


@pytest.mark.parametrize("name", FORMATS)
def test_a_sick_run_has_the_findings_of_areals_log(base: Path, name: str) -> None:
    format_ = FORMATS[name]
    home = base / f"sick-{name}"
    format_.save(home, runs.sick())
    steps, found = told(home, base / "store", format_.first)
    assert steps == runs.STEPS
    assert found == twin(base, format_)
    assert {rule for told_, rule in EXPECTED.items() if told_ in format_.tells} <= set(found)


@pytest.mark.parametrize("name", [*FORMATS, "areal"])
def test_a_healthy_run_has_none(base: Path, name: str) -> None:
    home = base / f"healthy-{name}"
    if name == "areal":
        areal(home, runs.healthy(), tuple(AREAL_NAMES))
    else:
        FORMATS[name].save(home, runs.healthy())
    assert told(home, base / "store", 0) == (runs.STEPS, {})


@pytest.fixture(scope="module")
def verl_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("verl") / "run"
    FORMATS["verl-text"].save(home, runs.sick())
    log = home / "console.log"
    config = (
        "(TaskRunner pid=4711) {'actor_rollout_ref': {'actor': {'ppo_mini_batch_size': 64}},\n"
        "(TaskRunner pid=4711)  'data': {'max_response_length': 1024, 'train_batch_size': 256}}\n"
    )
    log.write_text(config + log.read_text())
    return home


def test_remedies_on_a_verl_run_name_verls_keys(verl_run: Path) -> None:
    judged = judge_run(verl_run, Settings(store=verl_run.parent / "store"))
    finding = judged.verdicts.judgement.finding("length-driven-truncation")
    assert finding is not None
    changes = {c.key: (c.now, c.to) for remedy in finding.remedies for c in remedy.changes}
    assert changes["data.max_response_length"] == ("1024", "2048")
    own = ("gconfig.", "actor.", "rollout.", "ref.", "recover.")
    for other in judged.verdicts.judgement.findings:
        keys = [c.key for remedy in other.remedies for c in remedy.changes]
        assert not [key for key in keys if key.startswith(own)]
        texts = [*other.summary, *other.caveats]
        assert not [text for text in texts if "gconfig" in text or "AReaL" in text]
