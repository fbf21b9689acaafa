"""Other people's runs: each must say what its folder's README says, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from analyzer.errors import RunError
from analyzer.findings.model import Finding, Verdict
from analyzer.pipeline import Judged, Settings, judge_run


@dataclass(frozen=True)
class Truth:
    """What the diagnosis must say."""

    verdict: Verdict
    steps: int
    attempts: int = 1
    primary: dict[str, tuple[int, int] | None] = field(default_factory=dict)  # rule → onset
    says: tuple[str, ...] = ()  # further rules that must fire, at info


AREAL = {
    "areal/healthy_all_backends": Truth("ok", 100),
    "areal/healthy_restarted": Truth("info", 160, 2, says=("repeated-steps",)),
    "areal/length_truncation": Truth(
        "error", 240, primary={"length-driven-truncation": (140, 175)}
    ),
    "areal/importance_weight_minibatches": Truth(
        "error", 200, primary={"importance-weight-drift": (60, 110)}
    ),
    "areal/importance_weight_artefact": Truth("info", 160, says=("importance-weight-artefact",)),
    "areal/behave_weight_stale": Truth("error", 200, primary={"behave-weight-drift": (60, 130)}),
    "areal/reward_stagnation": Truth("error", 200, primary={"reward-stagnation": None}),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


def judged(corpus: Path, store: Path, name: str) -> Judged:
    return judge_run(corpus / name, Settings(store=store))


def grave(run: Judged) -> list[Finding]:
    """Findings at warning or above that count and have no cause among the others."""
    findings = run.verdicts.judgement.findings
    return [f for f in findings if f.counts and not f.caused_by and f.severity != "info"]


@pytest.mark.parametrize("name", sorted(AREAL))
def test_runs_written_by_areal(corpus: Path, store: Path, name: str) -> None:
    truth = AREAL[name]
    run = judged(corpus, store, name)
    judgement = run.verdicts.judgement
    assert judgement.coverage.errors == 0
    assert (run.manifest.step_count, len(run.manifest.attempts)) == (truth.steps, truth.attempts)
    assert {f.rule for f in grave(run)} == set(truth.primary)
    for rule, onset in truth.primary.items():
        finding = judgement.finding(rule)
        assert finding is not None
        if onset is not None:
            assert finding.onset is not None
            assert onset[0] <= finding.onset.step <= onset[1]
    fired = {f.rule for f in judgement.findings}
    assert set(truth.says) <= fired
    assert judgement.verdict == truth.verdict


def remedies(run: Judged, rule: str) -> dict[str, tuple[str | None, str]]:
    """Configuration keys that the rule's remedies change: (now, to)."""
    finding = run.verdicts.judgement.finding(rule)
    assert finding is not None
    return {
        change.key: (change.now, change.to)
        for remedy in finding.remedies
        if remedy.status == "apply"
        for change in remedy.changes
    }


def test_truncation_raises_the_limit_and_names_the_collapse(corpus: Path, store: Path) -> None:
    run = judged(corpus, store, "areal/length_truncation")
    changes = remedies(run, "length-driven-truncation")
    assert changes["gconfig.max_new_tokens"] == ("4096", "8192")
    collapse = run.verdicts.judgement.finding("reward-collapse")
    assert collapse is not None
    assert "length-driven-truncation" in collapse.caused_by


def test_most_of_what_is_cut_off_loops_and_the_remedy_follows(corpus: Path, store: Path) -> None:
    # Counted by hand in the dumps: 139 responses of 4096 tokens, 94 of which end in a loop.
    run = judged(corpus, store, "areal/length_truncation")
    query = "SELECT count(*) AS cut, count(*) FILTER (loops) AS loops FROM samples WHERE truncated"
    assert run.tables.sql(query).to_pylist() == [{"cut": 139, "loops": 94}]
    judgement = run.verdicts.judgement
    growth = judgement.finding("length-driven-truncation")
    assert growth is not None
    told = "68\u202f% of the dumped responses that are cut off repeat themselves"
    assert told in growth.remedies[0].do
    finding = judgement.finding("truncated-loops")
    assert finding is not None
    assert finding.onset is not None
    assert (finding.onset.step, finding.headline) == (
        180,
        "68\u202f% of the responses that are cut off repeat themselves",
    )
    assert set(finding.caused_by) >= {"length-driven-truncation"}
    assert finding.remedies[-1].do == "Leave the generation limit as it is"
    assert len(finding.trajectories) == 5
    shown = finding.trajectories[0]
    text = run.tables.response_text(shown.path, shown.offset)
    assert text is not None
    assert text[1].count("wait, let me check again.") >= 3
    assert judgement.finding("truncated-at-work") is None
    assert judgement.finding("truncation-misread") is None


def test_drift_lowers_the_minibatches(corpus: Path, store: Path) -> None:
    run = judged(corpus, store, "areal/importance_weight_minibatches")
    assert remedies(run, "importance-weight-drift")["actor.ppo_n_minibatches"] == ("8", "4")


def test_the_artefact_withdraws_the_drift(corpus: Path, store: Path) -> None:
    judgement = judged(corpus, store, "areal/importance_weight_artefact").verdicts.judgement
    drift = judgement.finding("importance-weight-drift")
    assert drift is not None
    assert drift.suppressed is not None
    assert drift.suppressed.by == "importance-weight-artefact"


def test_staleness_is_lowered_since_rejection_is_on(corpus: Path, store: Path) -> None:
    run = judged(corpus, store, "areal/behave_weight_stale")
    finding = run.verdicts.judgement.finding("behave-weight-drift")
    assert finding is not None
    assert [r.status for r in finding.remedies][:2] == ["already", "apply"]
    now, to = remedies(run, "behave-weight-drift")["rollout.max_head_offpolicyness"]
    assert now == "16"
    assert int(to) < 16


def test_the_restart_and_its_overlap_are_told(corpus: Path, store: Path) -> None:
    run = judged(corpus, store, "areal/healthy_restarted")
    first, second = run.manifest.attempts
    assert (first.last_step, second.first_step, first.superseded) == (96, 90, (90, 96))
    crash = [e for e in run.tables.events() if "uncorrectable NVLink" in e.message]
    assert len(crash) == 1
    assert crash[0].level == "ERROR"


def test_five_backends_are_one_run_and_agree(corpus: Path, store: Path) -> None:
    run = judged(corpus, store, "areal/healthy_all_backends")
    formats = sorted(source.format for source in run.manifest.sources)
    assert formats == ["areal-config", "areal-text", "swanlab", "tensorboard", "trackio", "wandb"]
    reasons = {s.reason for s in run.manifest.skipped}
    assert reasons == {
        "same content as logs/root/gsm8k-grpo/healthy-11/main.log",
        "what SwanLab keeps beside its run file",
        "what Weights & Biases keeps beside its run file",
    }
    told = [note.detail for note in run.manifest.notes if note.kind.startswith("sources-")]
    agree = "5 sources agree on 86 series within their precision (8520 values): "
    assert [detail[: len(agree)] for detail in told] == [agree]
    assert run.manifest.run == "gsm8k-grpo/healthy-11"


def test_runs_of_a_wandb_folder_are_not_mixed(corpus: Path, store: Path) -> None:
    with pytest.raises(RunError, match=r"holds 7 runs: run-empty001\.wandb, run-nanedge1"):
        judged(corpus, store, "public/wandb-fixtures")


def test_a_wandb_run_without_history_cannot_be_judged(corpus: Path, store: Path) -> None:
    run = judged(corpus, store, "public/wandb-fixtures/run-old_no_history.wandb")
    assert run.verdicts.judgement.verdict == "cannot-judge"
    assert [note.kind for note in run.manifest.notes] == ["no-history"]


def test_a_wandb_run_with_nothing_but_its_console(corpus: Path, store: Path) -> None:
    run = judged(corpus, store, "public/wandb-logic")
    assert told(run) == ("ok", "verl", 2, 1)
    kinds = {note.kind for note in run.manifest.notes}
    assert {"no-history", "metrics-from-console", "cut-record"} <= kinds
    score = run.tables.sql("SELECT step, value FROM metrics WHERE metric = 'critic/score/mean'")
    assert score.to_pylist() == [{"step": 1, "value": 0.844}]


def test_a_container_log_of_an_older_areal(corpus: Path, store: Path) -> None:
    run = judged(corpus, store, "public/areal-container-h200")
    judgement = run.verdicts.judgement
    states = {check.rule: check.state for check in judgement.checks}
    assert (run.manifest.step_count, run.manifest.total_steps) == (89, 4675)
    assert judgement.coverage.errors == 0
    assert states["entropy-collapse"] == "fired"
    assert states["truncation"] == "clear"
    assert states["length-driven-truncation"] == "clear"
    assert states["truncation-floor"] == "fired"
    assert states["importance-weight-drift"] == "clear"
    assert states["importance-weight-nondeterminism"] == "clear"
    tail = judgement.finding("behave-weight-at-cap")
    assert tail is not None
    assert "4.92" in tail.summary
    entropy = judgement.finding("entropy-collapse")
    assert entropy is not None
    assert entropy.severity in ("warning", "error")


def test_a_start_that_ends_out_of_memory(corpus: Path, store: Path) -> None:
    run = judged(corpus, store, "public/areal-container-oom")
    judgement = run.verdicts.judgement
    assert judgement.verdict == "cannot-judge"
    oom = judgement.finding("out-of-memory")
    assert oom is not None
    assert "1.45 GiB" in " ".join(e.text for e in oom.evidence)


def states(run: Judged) -> dict[str, str]:
    """State of each check."""
    return {check.rule: check.state for check in run.verdicts.judgement.checks}


def told(run: Judged) -> tuple[str, str | None, int, int]:
    """Verdict, framework, steps, attempts; no rule may fail on it."""
    manifest = run.manifest
    assert run.verdicts.judgement.coverage.errors == 0
    verdict = run.verdicts.judgement.verdict
    return verdict, manifest.framework, manifest.step_count, len(manifest.attempts)


def test_a_verl_table_of_a_healthy_run(corpus: Path, store: Path) -> None:
    run = judged(corpus, store, "public/verl-csv-healthy")
    assert told(run) == ("info", "verl", 2000, 1)
    assert {f.rule for f in run.verdicts.judgement.findings} == {"reward-stagnation"}


def test_a_verl_table_of_a_run_whose_entropy_collapses(corpus: Path, store: Path) -> None:
    run = judged(corpus, store, "public/verl-csv-entropy-collapse")
    assert told(run) == ("error", "verl", 2000, 1)
    assert {f.rule for f in grave(run)} == {"entropy-collapse"}


def test_a_verl_table_without_a_signal(corpus: Path, store: Path) -> None:
    run = judged(corpus, store, "public/verl-csv-no-signal")
    assert told(run) == ("error", "verl", 49, 1)
    signal = run.verdicts.judgement.finding("zero-signal-groups")
    assert signal is not None
    assert signal.severity == "error"
    assert states(run)["reward-constant"] == "fired"


def test_a_verl_table_that_others_parsed(corpus: Path, store: Path) -> None:
    assert told(judged(corpus, store, "public/verl-csv-parsed")) == ("ok", "verl", 116, 1)


def test_a_verl_console_that_reached_no_step(corpus: Path, store: Path) -> None:
    run = judged(corpus, store, "public/verl-console-logic")
    assert told(run) == ("cannot-judge", "verl", 0, 0)
    assert [source.format for source in run.manifest.sources] == ["verl-text"]
    assert states(run)["kl-without-reference"] == "not-checked"
    assert states(run)["sampling-truncated"] == "clear"  # its top_k is -1, which is off


def test_a_tinker_run_that_was_resumed(corpus: Path, store: Path) -> None:
    run = judged(corpus, store, "public/tinker-jsonl-resumed")
    assert told(run) == ("info", "tinker", 58, 2)
    assert states(run)["repeated-steps"] == "fired"
    first, second = run.manifest.attempts
    assert second.first_step == first.last_step


def test_a_trl_run_by_its_console_and_its_state(corpus: Path, store: Path) -> None:
    console = judged(corpus, store, "public/trl-console")
    state = judged(corpus, store, "public/trl-trainer-state")
    assert told(console) == ("warning", "trl", 10, 1)
    assert {f.rule for f in grave(console)} == {"killed-silently"}  # it ends at 50 of 100 steps
    assert told(state) == ("ok", "trl", 10, 1)
    for run in (console, state):
        assert (run.manifest.first_step, run.manifest.last_step) == (5, 50)
        assert run.manifest.total_steps == 100


def test_an_open_instruct_history_of_three_segments(corpus: Path, store: Path) -> None:
    run = judged(corpus, store, "public/open-instruct-history")
    assert told(run) == ("info", "open-instruct", 1097, 3)
    assert not grave(run)
    unknown = states(run)
    assert unknown["reward-collapse"] == unknown["reward-stagnation"] == "not-checked"
