"""The gallery with recorded batches: what the replay says of each finding is the locked verdict."""

from __future__ import annotations

from pathlib import Path

import needs_transformers  # noqa: F401
import pytest

from sample_logs import gallery
from sample_logs.about import REPLAYED, locked_replay, read_replayed

# The cause that was put in, as the replay has to name it, by the scenario and the finding.
CAUSES = {
    "nondeterminism": ("importance-weight-nondeterminism", "confirmed", "nondeterminism"),
    "engine_precision": ("mismatch-offset", "confirmed", "precision"),
    "top_p": ("mismatch-offset", "confirmed", "top-p"),
    "prompt_trained": ("mismatch-offset", "confirmed", "unmasked-tokens"),
    "dead_groups": ("zero-signal-groups", "confirmed", None),
    "minibatches": ("importance-weight-drift", "confirmed", "training"),
    "stale_rejected": ("behave-weight-drift", "metric-wrong", "metric-definition"),
}


def test_every_locked_replay_is_made_again(sample_logs: Path) -> None:
    assert {path.parent.name for path in sample_logs.glob(f"*/{REPLAYED}")} == set(gallery.RECORDED)
    assert set(gallery.RECORDED) == {*CAUSES, "healthy_noisy"}


@pytest.mark.parametrize("name", sorted(gallery.RECORDED))
def test_the_replay_says_what_is_locked(name: str, sample_logs: Path, tmp_path: Path) -> None:
    expected = read_replayed(sample_logs / name)
    run = gallery.make_recorded(name, tmp_path)
    assert locked_replay(gallery.replayed(run, tmp_path / "store")) == expected


@pytest.mark.parametrize("name", sorted(CAUSES))
def test_the_cause_put_in_is_the_one_found(name: str, sample_logs: Path) -> None:
    rule, verdict, cause = CAUSES[name]
    findings = read_replayed(sample_logs / name)["findings"]
    assert isinstance(findings, list)
    assert {"rule": rule, "verdict": verdict, "cause": cause} in findings


def test_of_a_healthy_run_every_batch_agrees_with_the_log(sample_logs: Path) -> None:
    found = read_replayed(sample_logs / "healthy_noisy")
    steps = [{"step": step, "outcome": "confirmed"} for step in (0, 5)]
    assert found == {"findings": [], "steps": steps}


def test_a_batch_of_eight_bit_weights_older_than_the_current_ones(sample_logs: Path) -> None:
    """Of step 5, sampled by versions 3 and 4: the weights' rounding is most of the distance."""
    found = read_replayed(sample_logs / "engine_precision")["findings"]
    assert isinstance(found, list)
    assert {one["cause"] for one in found if one["rule"].startswith("behave")} <= {"precision"}
