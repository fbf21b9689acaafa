"""Single questions of the judge, on numbers that are known."""

from __future__ import annotations

import math
from pathlib import Path

import needs_torch  # noqa: F401
import pytest
import torch
from golden_cases import FOLDER, bundle_of, conventions_of, find
from safetensors.torch import load_file

from analyzer.pipeline import open_catalog
from analyzer.replay.judging.causes import question_of
from analyzer.replay.judging.definitions import corrected, unweighted_mean
from analyzer.replay.judging.fits import band, fit
from analyzer.replay.judging.recomputed import Batch, recompute
from analyzer.replay.judging.tolerance import resolution, tolerance
from analyzer.replay.judging.unlikely import best_run
from analyzer.replay.whatif import alternatives, what_if


def batch_of(start: str) -> Batch:
    case = find(start)
    return recompute(0, bundle_of(case), conventions_of(case), open_catalog())


def expected_of(start: str) -> dict[str, torch.Tensor]:
    path: Path = FOLDER / find(start) / "expected.safetensors"
    tensors: dict[str, torch.Tensor] = load_file(path)
    return tensors


# --- tolerance ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "digits", "half"),
    [(0.97896, 5, 5e-6), (1.0045, 5, 5e-5), (9.9999e-4, 5, 5e-9), (123.45, 5, 5e-3), (0.0, 5, 0)],
)
def test_half_a_unit_of_the_last_digit(value: float, digits: int, half: float) -> None:
    assert resolution(value, digits) == pytest.approx(half, rel=0.01)


def test_tolerance_grows_with_the_width_of_the_sum_and_the_narrowness_of_the_dtype() -> None:
    exact = tolerance("importance_weight", 1.0, 17, {"float32"}, 100)
    assert exact == pytest.approx(2e-6)
    # 2^24 additions round by 2^-24 each: as a random walk 2^-12 of the sum.
    assert tolerance("importance_weight", 1.0, 17, {"float32"}, 2**24) == pytest.approx(2 * 2**-12)
    rounded = tolerance("importance_weight", 1.0, 17, {"float32", "bfloat16"}, 100)
    assert rounded == pytest.approx(0.13, rel=1e-3)
    # Rounded log-probs change no length and no reward.
    assert tolerance("seq_len", 1.0, 17, {"bfloat16"}, 100) == pytest.approx(2e-6)
    assert tolerance("task_reward", math.inf, 5, {"float32"}, 100) == 0.0


# --- what the names promise -----------------------------------------------------------------


def test_ratios_over_the_kept_tokens() -> None:
    areal = expected_of("areal-2026-05/case_28")
    kept = areal["rs_mask"].bool()
    found = corrected(batch_of("areal-2026-05/case_28"))
    ratio = areal["importance_weight"][kept]
    assert found["importance_weight"].value == pytest.approx(float(ratio.mean()), rel=1e-6)
    assert found["importance_weight_min"].value == pytest.approx(float(ratio.min()), rel=1e-6)
    share = areal["clip_mask"][kept].double().mean()
    assert found["clip_ratio"].value == pytest.approx(float(share), rel=1e-9)


def test_weights_before_rejection() -> None:
    areal = expected_of("areal-2026-05/case_28")
    mask = areal["loss_mask_in"].bool()
    log_weight = (areal["prox_logp_used"] - areal["old_logp"]).double()[mask]
    found = corrected(batch_of("areal-2026-05/case_28"))
    weight = log_weight.exp()
    assert found["behave_imp_weight"].value == pytest.approx(float(weight.mean()), rel=1e-9)
    assert found["behave_imp_weight_max"].value == pytest.approx(float(weight.max()), rel=1e-9)
    # Rejection cut at 1.15, so the largest weight that was logged is below it.
    assert float(weight.max()) > 1.15
    rejected = 1 - areal["rs_mask"][mask].double().mean()
    assert found["rejected_fraction"].value == pytest.approx(float(rejected), rel=1e-9)


def test_newer_builds_need_no_correction_of_the_ratio() -> None:
    found = corrected(batch_of("areal-2026-08/case_01"))
    assert "importance_weight" not in found
    assert "importance_weight" in corrected(batch_of("areal-2026-08/case_41"))  # whole sequences


def test_clamping_removes_nothing() -> None:
    batch = batch_of("areal-2026-05/case_36")
    assert batch.values["rejected_fraction"] == pytest.approx(0.6071428656578064)
    assert corrected(batch)["rejected_fraction"].value == 0.0


def test_a_longest_row_that_ends_is_not_cut_off() -> None:
    batch = batch_of("areal-2026-05/case_17")
    assert batch.values["no_eos_ratio"] == 0.125
    assert corrected(batch)["no_eos_ratio"].value == 0.0
    # Padded beyond the longest row: cut-off rows are missed altogether.
    padded = batch_of("areal-2026-05/extra/case_104")
    assert padded.values["no_eos_ratio"] == 0.0
    ids = bundle_of(find("areal-2026-05/extra/case_104")).tensors
    length = ids["attention_mask"].sum(-1)
    last = ids["input_ids"][torch.arange(len(length)), length - 1]
    share = float((last != 2).double().mean())
    assert corrected(padded)["no_eos_ratio"].value == pytest.approx(share)


def test_age_is_that_of_the_generated_token() -> None:
    # On policy: all tokens have version 5, the weights too; AReaL's mean leaves out the first
    # token of each row, whose position has the prompt's version -1.
    batch = batch_of("areal-2026-05/case_28")
    bundle = bundle_of(find("areal-2026-05/case_28"))
    versions = bundle.tensors["versions"][bundle.tensors["loss_mask"].bool()]
    current = bundle.config.current_version
    assert current is not None
    age = float((current - versions.double()).mean())
    assert corrected(batch)["staleness_theta"].value == pytest.approx(age)
    assert corrected(batch)["staleness"].value == pytest.approx(age - 1)


def test_the_plain_mean_over_micro_batches() -> None:
    case = find("areal-2026-05/case_50")
    batch, areal = batch_of(case), expected_of(case)
    entropy = bundle_of(case).tensors["entropy"]
    mask = areal["loss_mask_in"].bool()
    means = []
    for number in sorted(set(areal["minibatch_index"].tolist())):
        rows = areal["minibatch_index"] == number
        means.append(float(entropy[rows][mask[rows]].double().mean()))
    assert len(means) == 2
    assert unweighted_mean(batch, entropy) == pytest.approx(sum(means) / 2)


# --- fits -----------------------------------------------------------------------------------


def test_fit_of_known_numbers() -> None:
    one = torch.tensor([[0.0, -1.0, -2.0, -torch.inf]])
    other = torch.tensor([[9.0, -1.5, -1.0, -1.0]])
    found = fit(one, other, torch.tensor([[False, True, True, True]]))
    assert (found.tokens, found.mean, found.distance) == (2, -0.25, 0.75)
    assert (found.square, found.largest) == (0.625, 1.0)
    assert found.lost == pytest.approx(1 / 3)
    assert not found.explains(found)


def test_bands_are_those_of_the_small_model() -> None:
    assert (band("float32").token, band("bfloat16").token) == (5e-5, 0.25)
    assert band(None) == band("bfloat16")
    stored = load_file(FOLDER / "tiny_lm" / "logprobs.safetensors")
    mask = load_file(FOLDER / "tiny_lm" / "batch.safetensors")["response_aligned"]
    fp32, fp64, bf16 = (
        stored[f"current.{name}.T1.0.logprobs"] for name in ("fp32", "fp64", "bf16")
    )
    assert fit(fp32, fp64, mask).within(band("float32"))
    assert fit(bf16, fp32, mask).within(band("bfloat16"))
    assert not fit(bf16, fp32, mask).within(band("float32"))
    assert not fit(stored["stale.fp32.T1.0.logprobs"], fp32, mask).within(band("bfloat16"))


def test_the_best_run_stays_in_its_row() -> None:
    gain = torch.tensor([[1.0, -5.0, 2.0, 3.0, 9.0], [4.0, -1.0, 4.0, -9.0, 1.0]])
    mask = torch.tensor([[True, True, True, True, False], [True] * 5])
    assert best_run(gain, mask) == (1, 0, 2, 7.0)


@pytest.mark.parametrize(
    ("metric", "question"),
    [
        ("behave_imp_weight_max", "behaviour"),
        ("logp_distance", "behaviour"),
        ("importance_weight", "update"),
        ("clip_ratio", "update"),
        ("entropy", "tokens"),
        ("no_eos_ratio", None),
        ("seq_len", None),
    ],
)
def test_what_a_series_is_about(metric: str, question: str | None) -> None:
    assert question_of(metric) == question


# --- alternatives ---------------------------------------------------------------------------


def test_other_bounds_of_rejection_by_hand() -> None:
    from analyzer.replay.question import Question

    case = find("areal-2026-05/case_28")
    batch, areal = batch_of(case), expected_of(case)
    question = Question(
        "behave-weight-drift", "behave_imp_weight", "worst", 1, (), (), None, (), (), False, ()
    )
    rows = {r.change: r for r in what_if(batch, alternatives(batch, [question]))}
    mask = areal["loss_mask_in"].bool()
    behave = (areal["prox_logp_used"] - areal["old_logp"])[mask].double().exp()
    ratio = (bundle_of(case).tensors["new_logprobs"] - areal["prox_logp_used"])[mask].double().exp()
    found = rows["reject tokens above 2"]
    kept = behave <= 2
    assert found.filtered == pytest.approx(1 - float(kept.double().mean()), abs=1e-9)
    assert found.behave_weight == pytest.approx(float(behave[kept].mean()), rel=1e-6)
    assert found.importance_weight == pytest.approx(float(ratio.mean()), rel=1e-6)
    weight = (behave * ratio)[kept]
    effective = float(weight.sum() ** 2 / (len(behave) * (weight**2).sum()))
    assert found.effective == pytest.approx(effective, rel=1e-6)
    assert dict(found.config)["actor.rejection_sampling.upper"] == "2.0"
    as_it_ran = rows["as it ran"]
    assert as_it_ran.filtered == pytest.approx(0.027272727340459824)
    assert as_it_ran.loss == pytest.approx(batch.found.loss)
    assert rows["no rejection"].behave_weight is None
