"""Series of lengths, KL and the critic, with values worked out by hand."""

from __future__ import annotations

import math

import pytest
from tables_of import tables_of

from analyzer.tables.evidence import Absent, Floats, Series
from analyzer.tables.run import RunTables


def values(run: RunTables, name: str) -> Floats:
    found = run.series(name)
    assert isinstance(found, Series), found
    return found.values


def test_lengths_as_shares_of_the_start_and_of_the_limit() -> None:
    """Responses of 500 to 100 tokens at prompts of 100: shares 1 to 0.2, and of 1000 0.5 to 0.1.
    The longest, 1080 with its prompt, is 980 of 1000."""
    run = tables_of(
        {"seq_len": "600x20 200x20", "prompt_len": "100x40", "seq_len_max": "1080x40"},
        config={"gconfig.max_new_tokens": 1000},
    )
    assert values(run, "response_share")[[0, -1]].tolist() == [1.0, 0.2]
    assert values(run, "response_cap_share")[[0, -1]].tolist() == [0.5, 0.1]
    assert values(run, "longest_cap_share")[0] == pytest.approx(0.98)


def test_the_kl_from_the_kl_reward() -> None:
    """A reward of -0.002 a token at a coefficient of 0.1 is a KL of 0.02."""
    run = tables_of({"kl_rewards": "-0.002x10"}, config={"actor.kl_ctl": 0.1})
    assert values(run, "reference_kl")[0] == pytest.approx(0.02)


@pytest.mark.parametrize("config", [{"actor.kl_ctl": 0.0}, None])
def test_no_kl_where_the_coefficient_is_zero_or_not_known(config: dict[str, float] | None) -> None:
    found = tables_of({"kl_rewards": "0x10"}, config=config).series("reference_kl")
    assert isinstance(found, Absent) or all(math.isnan(value) for value in found.values)


def test_the_bonus_for_surprise() -> None:
    """0.1 · 0.3 nats a token; 600 tokens a sequence make 18."""
    run = tables_of(
        {
            "kl_rewards": "0.03x10",
            "old_logp": "-0.3x10",
            "n_valid_tokens": "38400x10",
            "n_seqs": "64x10",
        }
    )
    assert values(run, "kl_bonus_share")[0] == pytest.approx(0.1)
    assert values(run, "kl_bonus_per_sequence")[0] == pytest.approx(18.0)


def test_the_critics_error_against_the_largest_variance_of_its_targets() -> None:
    """Targets between 0 and 1 with mean 0.4 vary by at most 0.6 · 0.4 = 0.24 (Bhatia and Davis
    2000); a loss of 0.12 is a squared error of 0.24."""
    run = tables_of(
        {
            "critic_loss": "0.12x5 0.06x5",
            "target_value": "0.4x10",
            "target_value_min": "0x10",
            "target_value_max": "1x10",
        }
    )
    assert values(run, "value_error_share").tolist() == pytest.approx([1.0] * 5 + [0.5] * 5)


def test_targets_without_variance_give_no_share() -> None:
    run = tables_of(
        {
            "critic_loss": "0.12x5",
            "target_value": "0.4x5",
            "target_value_min": "0.4x5",
            "target_value_max": "0.4x5",
        }
    )
    assert not any(math.isfinite(value) for value in values(run, "value_error_share"))


def test_the_distance_of_older_builds_from_the_kl() -> None:
    """A KL of 0.005 is half the square of 0.1; half of that root mean square is 0.05."""
    run = tables_of({"behave_kl_k3": "0.005x5 -0.0001x1"})
    assert values(run, "logp_distance").tolist() == pytest.approx([0.05] * 5 + [0.0])


def test_the_distance_that_newer_builds_log() -> None:
    run = tables_of({"logp_abs_diff": "0.02x5", "behave_kl_k3": "0.005x5"})
    assert values(run, "logp_distance").tolist() == [0.02] * 5


def test_the_bonus_of_a_log_without_the_number_of_sequences() -> None:
    """0.03 a token times a response of 700 − 100 tokens, with no batch size to be had."""
    run = tables_of({"kl_rewards": "0.03x5", "seq_len": "700x5", "prompt_len": "100x5"})
    assert values(run, "kl_bonus_per_sequence").tolist() == pytest.approx([18.0] * 5)


def test_series_against_their_early_level() -> None:
    """The first tenth of 100 steps has the median 0.01, a loss of 0.2, and 2 % of repetitions."""
    run = tables_of(
        {
            "logp_abs_diff": "0.01x50 0.04x50",
            "critic_loss": "0.2x50 0.5x50",
            "repetition": "0.02x50 0.3x50",
        }
    )
    assert values(run, "logp_distance_share")[[0, -1]].tolist() == pytest.approx([1.0, 4.0])
    assert values(run, "logp_distance_rise")[[0, -1]].tolist() == pytest.approx([0.0, 0.03])
    assert values(run, "critic_loss_share")[[0, -1]].tolist() == pytest.approx([1.0, 2.5])
    assert values(run, "repetition_rise")[[0, -1]].tolist() == pytest.approx([0.0, 0.28])


def test_growth_after_two_fifths_of_the_run() -> None:
    """Steps 20 to 39 of 0 to 100 have the level 0.02; older builds give it as a KL of 0.0008."""
    newer = tables_of({"logp_abs_diff": "0.01x20 0.02x30 0.05x50"})
    older = tables_of({"behave_kl_k3": "0.0002x20 0.0008x30 0.005x50"})
    for run in (newer, older):
        late = values(run, "logp_distance_late")
        assert late[[0, 30, -1]].tolist() == pytest.approx([0.5, 1.0, 2.5])


def test_the_age_of_samples_against_a_stretch_of_the_run() -> None:
    """It reaches 2 within the first fifth, and 5 at the end: 3 more."""
    run = tables_of({"staleness": "-1+0.25x12 2x50 5x38"})
    assert values(run, "staleness_rise")[[0, 30, -1]].tolist() == [-3.0, 0.0, 3.0]


def test_the_learning_rate_against_a_stretch_of_the_run() -> None:
    """Half of it is reached within the first fifth; the rest comes at step 60: twice as much."""
    run = tables_of({"lr": "0.000001x10 0.000005x50 0.00001x40"})
    assert values(run, "lr_late")[[0, 30, -1]].tolist() == pytest.approx([0.2, 1.0, 2.0])
