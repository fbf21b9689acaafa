"""Falls and gains of the reward, with values worked out by hand."""

from __future__ import annotations

import pytest
from tables_of import tables_of

from analyzer.tables.evidence import Absent, Floats, Series
from analyzer.tables.run import RunTables

RANGE = {"task_reward_min": "-1x200", "task_reward_max": "3x200"}


def values(run: RunTables, name: str) -> Floats:
    found = run.series(name)
    assert isinstance(found, Series), found
    return found.values


def test_a_fall_is_a_share_of_the_peaks_height_above_the_lowest_reward() -> None:
    """From 1 to 0.2 with -1 as the lowest reward: 0.8 of a height of 2."""
    run = tables_of({"task_reward": "0x40 1x80 0.2x80", **RANGE})
    drop = values(run, "reward_drop")
    assert drop[:100].tolist() == [0.0] * 100
    assert drop[150:].tolist() == pytest.approx([0.4] * 50)


def test_a_dip_shorter_than_half_the_window_leaves_no_trace() -> None:
    run = tables_of({"task_reward": "1x100 -1x10 1x90", **RANGE})
    assert values(run, "reward_drop").max() == 0


def test_a_fall_in_standard_deviations_of_the_single_steps() -> None:
    """Steps alternate by ±0.1 around their level: |difference| 0.2 throughout, so σ is
    1.4826 · 0.2 / √2 = 0.2097; medians of 21 alternate too, and the fall is 1 ± 0.2."""
    up, down = "1.1x1 0.9x1 " * 50, "0.1x1 -0.1x1 " * 50
    run = tables_of({"task_reward": (up + down).strip(), **RANGE})
    sigmas = values(run, "reward_drop_sigmas")
    assert sigmas[150] == pytest.approx(1.0 / 0.20967, abs=0.2 / 0.2)
    assert sigmas[:80].max() == pytest.approx(0.2 / 0.20967, abs=0.01)


def test_a_reward_without_noise_has_no_fall_in_standard_deviations() -> None:
    run = tables_of({"task_reward": "1x100", **RANGE})
    assert isinstance(run.series("reward_drop_sigmas"), Absent)


def test_the_gain_is_a_share_of_the_range_above_the_first_eleven_steps() -> None:
    """From 0 to 1 on a range of 4: 0.25."""
    run = tables_of({"task_reward": "0x60 1x140", **RANGE})
    gain = values(run, "reward_gain")
    assert gain[:50].tolist() == [0.0] * 50
    assert gain[-100:].tolist() == pytest.approx([0.25] * 100)


def test_the_gain_of_the_test_set_starts_after_its_first_three_evaluations() -> None:
    """0.2, 0.4, 0.6 have the median 0.4; 1.2 is 0.8 above it, on a range of 4: 0.2."""
    run = tables_of(
        {
            "eval_reward": {"every": 10, "values": "0.2+0.2x3 1.2x7"},
            "task_reward": "0x200",
            **RANGE,
        }
    )
    found = run.series("eval_reward_gain")
    assert isinstance(found, Series)
    assert found.steps.tolist() == [30, 40, 50, 60, 70, 80, 90]
    assert found.values.tolist() == pytest.approx([0.2] * 7)


def test_shares_of_the_range() -> None:
    run = tables_of(
        {
            "task_reward": "1x200",
            "rollout_reward": "0x200",
            "eval_reward": {"every": 10, "values": "-1x20"},
            **RANGE,
        }
    )
    assert values(run, "filter_gap_unit")[0] == pytest.approx(0.25)
    assert values(run, "generalization_gap_unit")[0] == pytest.approx(0.5)
    assert values(run, "rollout_reward_unit")[0] == pytest.approx(0.25)


def test_a_jump_of_the_reward_is_that_of_medians_of_five() -> None:
    """From 0 to 1 on a range of 4 at step 100: 0.25 there, and at the two steps on each side, where
    three of the five steps are still on the other level's side; no rows at the ends."""
    run = tables_of({"task_reward": "0x100 1x100", **RANGE})
    found = run.series("reward_jump")
    assert isinstance(found, Series)
    assert (found.steps[0], found.steps[-1]) == (5, 195)
    assert found.steps[found.values > 0].tolist() == [98, 99, 100, 101, 102]
    assert found.values.max() == pytest.approx(0.25)


def test_a_jump_of_the_length_is_a_ratio_of_medians() -> None:
    """Responses of 400, then of 100 tokens, after prompts of 100; one long outlier is no jump."""
    run = tables_of({"seq_len": "500x20 900x1 500x19 200x40", "prompt_len": "100x80"})
    found = run.series("length_jump")
    assert isinstance(found, Series)
    assert found.values.min() == pytest.approx(0.25)
    assert found.steps[found.values < 1].tolist() == [38, 39, 40, 41, 42]
