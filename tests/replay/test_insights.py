"""What AReaL does not export, against values worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import needs_torch  # noqa: F401
import pytest
import torch
from golden_cases import bundle_of, conventions_of, find

from analyzer.replay.bundle import Bundle
from analyzer.replay.config import ReplayConfig
from analyzer.replay.conventions import AREAL_2026_05, AREAL_2026_08
from analyzer.replay.insights import (
    Insights,
    group_spread,
    insights,
    owners,
    truncation,
    weights,
)
from analyzer.replay.results import StageZero
from analyzer.replay.stage0 import replay_batch

NOTHING = StageZero({}, None, None, {})


def logs(*values: float) -> torch.Tensor:
    return torch.log(torch.tensor(values, dtype=torch.float64))


def test_weights_of_four_tokens() -> None:
    found = weights(logs(1.0, 0.5, 2.0, 1.02))
    assert found.tokens == 4
    assert found.not_finite == 0
    assert found.effective == pytest.approx(4.52**2 / (4 * (1 + 0.25 + 4 + 1.0404)))
    assert found.beyond == {0.01: 0.75, 0.05: 0.5}
    assert found.quantiles[0.0] == pytest.approx(0.5)
    assert found.quantiles[0.5] == pytest.approx(1.01)
    assert found.quantiles[1.0] == pytest.approx(2.0)
    log2, log102 = math.log(2), math.log(1.02)
    assert found.k1 == pytest.approx(-log102 / 4)
    assert found.k2 == pytest.approx((2 * log2**2 + log102**2) / 8)
    assert found.k3 == pytest.approx((4.52 - 4 - log102) / 4)


def test_weights_that_are_all_one() -> None:
    found = weights(torch.zeros(3))
    assert (found.effective, found.k1, found.k2, found.k3) == (1.0, 0.0, 0.0, 0.0)
    assert set(found.quantiles.values()) == {1.0}
    assert set(found.beyond.values()) == {0.0}


def test_what_is_not_finite_is_counted_and_left_out() -> None:
    found = weights(torch.tensor([0.0, math.inf, math.nan, -math.inf]))
    assert (found.tokens, found.not_finite) == (4, 3)
    assert found.quantiles[1.0] == 1.0
    nothing = weights(torch.tensor([math.inf]))
    assert (nothing.tokens, nothing.not_finite, nothing.effective) == (1, 1, None)
    assert weights(torch.zeros(0)).k1 is None


def test_an_effective_size_does_not_overflow() -> None:
    found = weights(torch.tensor([800.0, 0.0], dtype=torch.float64))
    assert found.effective == pytest.approx(0.5)


def test_who_carries_the_deviation() -> None:
    log_weight = torch.tensor([[0.0, 0.1, 9.0], [0.3, 0.0, -0.4], [0.0, 0.0, 0.0]])
    mask = torch.tensor([[True, True, False], [True, True, True], [True, True, True]])
    sequences, tokens = owners(log_weight, mask)
    # Squares: 0.01; 0.09, 0.16; of 0.26 in all.
    assert [owner.row for owner in sequences] == [1, 0]
    assert [owner.share for owner in sequences] == pytest.approx([0.25 / 0.26, 0.01 / 0.26])
    assert [(o.row, o.position) for o in tokens] == [(1, 2), (1, 0), (0, 1)]
    assert tokens[0].weight == pytest.approx(math.exp(-0.4))
    assert tokens[0].share == pytest.approx(0.16 / 0.26)
    assert owners(torch.zeros(2, 2), torch.ones(2, 2).bool()) == ((), ())


def bundle(config: dict[str, object], **tensors: torch.Tensor) -> Bundle:
    full = {
        "input_ids": torch.tensor([[5, 2, 0], [5, 7, 2], [5, 7, 0]]),
        "attention_mask": torch.tensor([[1, 1, 0], [1, 1, 1], [1, 1, 0]]),
        "rewards": torch.tensor([1.0, 1.0, 0.0]),
        **tensors,
    }
    return Bundle(Path("batch"), full, ReplayConfig.model_validate({"actor": {}, **config}))


def test_true_truncation_is_by_the_last_token() -> None:
    """Row 1 is as long as the batch but ends properly; row 2 is short and cut off."""
    found = truncation(bundle({"meta": {"eos_token_id": 2}}))
    assert found is not None
    assert found.by_token == (2,)
    assert found.by_length == (1,)
    assert truncation(bundle({})) is None


def test_groups_without_a_spread() -> None:
    sized = bundle({"traj_group_sizes": [2, 1]})
    found = group_spread(sized, NOTHING, AREAL_2026_08)
    assert found is not None
    assert (found.groups, found.zero_variance) == (2, (0, 1))
    assert group_spread(sized, NOTHING, AREAL_2026_05) is None
    by_two = bundle({"actor": {"reward_norm": {"group_size": 2}}})
    found = group_spread(by_two, NOTHING, AREAL_2026_05)
    assert found is not None
    assert (found.groups, found.zero_variance) == (1, (0,))


def insights_of(start: str) -> Insights:
    case = find(start)
    chosen = conventions_of(case)
    batch = bundle_of(case)
    return insights(batch, replay_batch(batch, chosen, torch.float64), chosen)


def test_survivors_hide_the_tail() -> None:
    """Rejection above 1.15 took 3 of 110 tokens; the counts are AReaL's own."""
    found = insights_of("areal-2026-05/case_28")
    assert found.behave is not None
    assert found.behave_survivors is not None
    assert (found.behave.tokens, found.behave_survivors.tokens) == (110, 107)
    assert found.behave.quantiles[1.0] > 1.15
    # AReaL's behave_imp_weight/max and /min of the survivors.
    assert found.behave_survivors.quantiles[1.0] == pytest.approx(1.1234302520751953, rel=1e-6)
    assert found.behave_survivors.quantiles[0.0] == pytest.approx(0.8295524716377258, rel=1e-6)
    # behave_approx_kl/avg is the mean of prox - old.
    assert found.behave_survivors.k1 == pytest.approx(0.011030021123588085, rel=1e-5)


def test_the_longest_row_that_ends_properly() -> None:
    found = insights_of("areal-2026-05/case_17")
    assert found.truncation is not None
    assert found.truncation.by_token == ()
    assert len(found.truncation.by_length) == 1


def test_padding_beyond_the_longest_row_hides_truncation() -> None:
    found = insights_of("areal-2026-05/extra/case_104")
    assert found.truncation is not None
    assert found.truncation.by_token == (0, 1)
    assert found.truncation.by_length == ()


def test_the_group_with_constant_rewards() -> None:
    found = insights_of("areal-2026-05/case_06")
    assert found.groups is not None
    assert 2 in found.groups.zero_variance


def test_where_areal_raises_there_are_no_weights() -> None:
    found = insights_of("areal-2026-05/case_58")
    assert found.behave is None
    assert found.truncation is not None
