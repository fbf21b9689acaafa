"""Runs with a known fault: the replay has to find it, and to leave the healthy steps alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import needs_torch  # noqa: F401
import needs_transformers  # noqa: F401
import pytest
import torch
from golden_cases import FOLDER
from recorded_runs import RUNS, TINY, tiny, tiny_logprobs
from safetensors.torch import load_file

from analyzer import pipeline
from analyzer.findings.replayed import Compared, Replays, ReplayVerdict
from analyzer.pipeline_replay import Choice, replay_run
from analyzer.rulebook.load import Override


class Expected(NamedTuple):
    """What is put into a run, and what has to be said of it."""

    run: str
    finding: str
    verdict: str
    cause: str
    says: str
    overrides: tuple[tuple[str, str, float], ...] = ()


# The small model's stale and rounded log-probs are off by less than the rules' limits for a run.
LOWER = (
    ("behave-weight-drift", "tolerance", 0.02),
    ("mismatch-offset", "distance", 0.02),
    ("mismatch-offset", "early_distance", 0.02),
)
ALL = Choice()
CASES = (
    Expected(
        "mixed", "importance-weight-artefact", "metric-wrong", "metric-definition", "rejection kept"
    ),
    Expected("mixed", "truncation-floor", "metric-wrong", "metric-definition", "last token"),
    Expected("mixed", "behave-weight-drift", "confirmed", "staleness", "version 3", LOWER),
    Expected("rounded", "mismatch-offset", "confirmed", "precision", "bfloat16", LOWER),
    Expected("hot", "behave-weight-drift", "confirmed", "temperature", "0.7, not 1"),
    Expected("before_update", "behave-weight-drift", "confirmed", "temperature", "0.7, not 1"),
    Expected("two_ranks", "behave-weight-drift", "confirmed", "temperature", "0.7, not 1"),
    Expected("truncated", "behave-weight-drift", "confirmed", "top-p", "top_p 0.9"),
    Expected("filled", "behave-weight-drift", "confirmed", "filled-logprobs", "exactly 0"),
    Expected("prompts_trained", "behave-weight-drift", "confirmed", "unmasked-tokens", "−1"),
    Expected("foreign_tokens", "entropy-explosion", "confirmed", "unmasked-tokens", "row 3"),
    Expected(
        "two_passes",
        "importance-weight-nondeterminism",
        "confirmed",
        "nondeterminism",
        "from the proximal pass",
    ),
    Expected(
        "several_updates", "importance-weight-drift", "confirmed", "training", "of 2 minibatches"
    ),
    Expected(
        "wrong_log",
        "importance-weight-nondeterminism",
        "metric-wrong",
        "log-disagrees",
        "off by 0.1",
    ),
    Expected(
        "plain_means", "entropy-explosion", "metric-wrong", "metric-definition", "micro-batches"
    ),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("runs")
    return cache(lambda name: RUNS[name](folder))


@pytest.fixture(scope="module")
def replayed(
    made: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Replays]:
    store = tmp_path_factory.mktemp("store")

    @cache
    def replay(
        name: str, overrides: tuple[tuple[str, str, float], ...] = (), choice: Choice = ALL
    ) -> Replays:
        settings = pipeline.Settings(
            store, overrides=tuple(Override(*o, "test") for o in overrides)
        )
        run = made(name)
        judged = pipeline.judge_run(run, settings)
        return replay_run(run, judged, settings, choice, lambda text: None)

    return replay


def verdict_of(replays: Replays, finding: str) -> ReplayVerdict:
    found = replays.verdict(finding)
    assert found is not None, [v.finding for v in replays.verdicts]
    return found


def compared(verdict: ReplayVerdict, step: int, metric: str) -> Compared:
    (found,) = [c for c in verdict.compared if (c.step, c.metric) == (step, metric)]
    return found


@pytest.mark.parametrize("case", CASES, ids=[f"{c.run}-{c.cause}-{c.finding}" for c in CASES])
def test_the_fault_that_was_put_in_is_named(
    case: Expected, replayed: Callable[..., Replays]
) -> None:
    found = verdict_of(replayed(case.run, case.overrides), case.finding)
    assert (found.verdict, found.cause) == (case.verdict, case.cause), found.why
    assert case.says in found.why


def test_healthy_steps_are_confirmed(replayed: Callable[..., Replays]) -> None:
    steps = {step.step: step for step in replayed("mixed").steps}
    assert sorted(steps) == [2, 10, 25, 45]
    assert {step: found.outcome for step, found in steps.items()} == dict.fromkeys(
        steps, "confirmed"
    )
    assert "All 90 logged numbers" in steps[10].why
    assert all(c.agrees for step in steps.values() for c in step.compared if c.agrees is not None)


def test_without_the_updates_log_probs_the_rest_is_compared(
    replayed: Callable[..., Replays],
) -> None:
    (step,) = [s for s in replayed("before_update").steps if s.step == 30]
    assert step.outcome == "confirmed"
    names = {c.metric for c in step.compared if c.agrees}
    assert {"behave_imp_weight", "rejected_fraction", "advantages", "old_logp"} <= names
    assert not {"importance_weight", "clip_ratio", "logp_abs_diff", "behave_kl_k3"} & names


def test_shares_of_two_ranks_make_the_whole_batch(replayed: Callable[..., Replays]) -> None:
    found = {step.step: step for step in replayed("two_ranks").steps}
    whole = {step.step: step for step in replayed("hot").steps}
    assert sorted(found) == [12, 30]
    for step, one in found.items():
        assert (one.rows, one.rows_of, one.outcome) == (8, 8, "confirmed")
        by_name = {c.metric: c for c in one.compared}
        # Each rank pads its share by itself; means over tokens do not mind.
        assert by_name["no_eos_ratio"].agrees is None
        of_whole = {c.metric: c for c in whole[step].compared}
        for name in ("importance_weight", "behave_imp_weight", "advantages", "seq_len"):
            assert by_name[name].agrees
            assert by_name[name].recomputed == pytest.approx(of_whole[name].recomputed, rel=1e-6)


def test_the_corrected_importance_weight_is_that_of_the_kept_tokens(
    replayed: Callable[..., Replays],
) -> None:
    found = verdict_of(replayed("mixed"), "importance-weight-artefact")
    case = next((FOLDER / "areal-2026-05").glob("case_34*"))
    logged = json.loads((case / "expected.json").read_text("utf-8"))["stats"]
    areal = load_file(case / "expected.safetensors")
    ratio = areal["importance_weight"][areal["rs_mask"].bool()].double().mean()
    number = compared(found, 25, "importance_weight")
    key = "ppo_actor/update/importance_weight/avg"
    assert number.logged == pytest.approx(logged[key], rel=5e-5)  # the text table has five digits
    assert number.recomputed == pytest.approx(logged[key], rel=1e-6)
    assert number.agrees
    assert number.corrected == pytest.approx(float(ratio), rel=1e-6)
    assert float(ratio) == pytest.approx(0.9978, abs=1e-4)


def test_the_corrected_truncation_is_the_share_without_an_end_token(
    replayed: Callable[..., Replays],
) -> None:
    # case_17: the longest row ends with the end-of-sequence token (2), as do all others.
    number = compared(verdict_of(replayed("mixed"), "truncation-floor"), 2, "no_eos_ratio")
    assert (number.logged, number.corrected) == (0.125, 0.0)
    # The small model: rows 0 and 7 end with other tokens, and row 7 alone fills the width.
    number = compared(verdict_of(replayed("rounded"), "truncation-floor"), 5, "no_eos_ratio")
    assert (number.logged, number.corrected) == (0.125, 0.25)


def test_staleness_has_the_numbers_of_the_small_model(replayed: Callable[..., Replays]) -> None:
    found = verdict_of(replayed("mixed", LOWER), "behave-weight-drift")
    expected = json.loads((TINY / "expected.json").read_text("utf-8"))["comparisons"]["stale"]
    number = compared(found, 45, "behave_imp_weight")
    # One of the 205 tokens of that file was cut off: a weight between 0.34 and 2.61 in 205.
    assert number.recomputed == pytest.approx(expected["behave_imp_weight"]["avg"], abs=0.01)
    assert len(found.pictures.points) == 204
    assert sum(b.finding for b in found.pictures.bins) == 204
    assert [w.step for w in found.pictures.worst] == [45] * 8
    assert sum(w.share for w in found.pictures.worst) == pytest.approx(1)


def test_a_real_change_of_policy_is_not_called_foreign_tokens(
    replayed: Callable[..., Replays],
) -> None:
    # The samples of step 45 are the stale model's own, scored by the current one.
    found = verdict_of(replayed("mixed"), "entropy-explosion")
    assert (found.verdict, found.cause) == ("confirmed", None)


def test_without_a_model_the_cause_is_left_open(replayed: Callable[..., Replays]) -> None:
    replays = replayed("hot", (), Choice("math"))
    found = verdict_of(replays, "behave-weight-drift")
    assert (found.verdict, found.cause) == ("confirmed", None)
    assert "record the checkpoint of version 4" in found.why
    assert {step.stage for step in replays.steps} == {0}


def test_what_if_answers_the_remedies(replayed: Callable[..., Replays]) -> None:
    replays = replayed("hot")
    (table,) = [t for t in replays.what_if if t.step == 30]
    assert "behave-weight-drift" in table.findings
    rows = {row.change: row for row in table.rows}
    assert table.rows[0].change == "as it ran"
    # Weights of the temperature mismatch: 0.41 to 30.7, so a lower bound filters more.
    filtered = [rows[f"reject tokens above {b}"].filtered for b in (2, 10)]
    assert filtered[0] is not None and filtered[1] is not None
    assert filtered[0] > filtered[1] > 0
    no_rejection = rows["no rejection"]
    assert no_rejection.filtered == 0
    assert no_rejection.importance_weight == pytest.approx(1)  # one update: current is proximal


def test_the_gradients_direction_is_that_of_plain_autograd(
    replayed: Callable[..., Replays],
) -> None:
    from transformers import AutoModelForCausalLM

    batch = tiny(tiny_logprobs("current.fp32.T0.7")).tensors
    mask = torch.roll(batch["loss_mask"], -1, -1).bool()
    # Discount and lambda 1, no normalisation: each token has its sequence's reward; one update, so
    # the ratio is 1 and d loss / d log-prob = -reward * weight / tokens.
    reward = batch["rewards"][:, None].expand(mask.shape)
    weight = torch.exp(tiny_logprobs("current.fp32.T1.0") - tiny_logprobs("current.fp32.T0.7"))
    model = AutoModelForCausalLM.from_pretrained(TINY / "ckpt_current", dtype=torch.float32)
    labels = torch.roll(batch["input_ids"], -1, -1).long()[..., None]

    def gradient_of(weights: torch.Tensor) -> torch.Tensor:
        logits = model(input_ids=batch["input_ids"].long()).logits
        logprobs = torch.log_softmax(logits, -1).gather(-1, labels)[..., 0]
        loss = torch.where(mask, -reward * weights * logprobs, 0).sum()
        parts = torch.autograd.grad(loss, list(model.parameters()))
        return torch.cat([part.flatten() for part in parts]).double()

    as_it_ran = gradient_of(torch.where(weight <= 5, weight, 0))
    plain = gradient_of(torch.ones_like(weight))
    expected = float(torch.nn.functional.cosine_similarity(as_it_ran, plain, dim=0))
    (table,) = [t for t in replayed("hot").what_if if t.step == 30]
    rows = {row.change: row for row in table.rows}
    assert table.rows[0].gradient_cosine == 1.0
    assert rows["no rejection"].gradient_cosine == pytest.approx(expected, abs=1e-4)
    assert expected < 0.99


def test_the_same_bytes_twice(made: Callable[[str], Path], tmp_path: Path) -> None:
    from analyzer.pipeline_replay import print_replay

    texts = [
        print_replay(made("hot"), pipeline.Settings(tmp_path / str(i)), ALL, "json", print)
        for i in range(2)
    ]
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["verdicts"]["behave-weight-drift"]["cause"] == "temperature"
