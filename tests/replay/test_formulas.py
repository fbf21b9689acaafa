"""What the recorded batches do not reach, worked out by hand."""

from __future__ import annotations

import math

import needs_torch  # noqa: F401
import pytest
import torch
from torch import Tensor

from analyzer.replay.areal_errors import ArealRaises
from analyzer.replay.config import ActorConfig, NormConfig, RejectionConfig, TeacherConfig
from analyzer.replay.formulas import (
    alignment,
    gae,
    losses,
    normalisation,
    rejection,
    splitting,
)
from analyzer.replay.formulas.statistics import Tracker


def row(*values: float) -> Tensor:
    return torch.tensor([values], dtype=torch.float64)


def close(found: Tensor, *wanted: float) -> bool:
    expected = torch.tensor(wanted, dtype=torch.float64)
    return bool(torch.allclose(found.double().flatten(), expected))


# --- splitting ----------------------------------------------------------------------------


def test_rows_fit_the_budget() -> None:
    # 6 opens a group; 5 does not fit beside it; 4 fits beside 6 and 5: the lighter; 3 beside 6.
    assert splitting.allocate([3, 6, 4, 5], 10, 1) == [[0, 1], [2, 3]]


def test_the_group_with_the_fewest_rows_takes_a_row() -> None:
    # 9 and 2 open the two groups; the first 1 goes to the lighter, then the fewer rows win.
    assert splitting.allocate([9, 2, 1, 1], math.inf, 2) == [[0, 3], [1, 2]]


def test_rows_that_no_split_can_hold() -> None:
    with pytest.raises(ArealRaises, match="is larger than capacity 4"):
        splitting.allocate([3, 5], 4, 1)
    with pytest.raises(ArealRaises, match="Number of values 2 is smaller than min_groups 3"):
        splitting.allocate([3, 5], 9, 3)


def test_a_split_is_open_where_lengths_are_the_same() -> None:
    assert splitting.is_open([3, 3, 4], 2)
    assert not splitting.is_open([3, 3, 4], 1)
    assert not splitting.is_open([3, 5, 4], 2)


def test_a_recorded_split() -> None:
    assert splitting.recorded([1, 0, -1, 1], [0, 1, 2, 3]) == [[1], [0, 3]]


# --- advantages ---------------------------------------------------------------------------


def test_kl_joins_turns_after_the_estimate() -> None:
    """Two turns of two tokens; discount and lambda act between them, KL at its own token alone."""
    episode = gae.Episode(
        kl=row(0, -0.1, -0.2, 0, -0.3, 0),
        outcome=row(0, 0, 0, 0, 1, 0),
        mask=row(0, 1, 1, 0, 1, 0),
        values=torch.zeros(1, 6, dtype=torch.float64),
        no_eos=torch.tensor([False]),
        turn_ids=torch.tensor([[-1, 0, 0, -1, 2, -1]]),
    )
    advantages, returns = gae.by_turns(episode, 0.9, torch.tensor([0.5], dtype=torch.float64))
    # G_2 = 1; G_0 = 0.9 * 0.5 * 1, the missing turn 1 costing nothing.
    assert close(advantages, 0, 0.45 - 0.1, 0.45 - 0.2, 0, 1 - 0.3, 0)
    assert close(returns, 0, 0.45, 0.45, 0, 1, 0)


@pytest.mark.parametrize(
    ("ids", "message"), [([-1, 1], "must be in"), ([5, 5], "must be in"), ([1, 0], "decrease")]
)
def test_turn_numbers_that_areal_asserts_against(ids: list[int], message: str) -> None:
    active = torch.tensor([[True, True]])
    with pytest.raises(ArealRaises, match=message) as caught:
        gae.check_turns(torch.tensor([ids]), active)
    assert caught.value.kind == "AssertionError"


def test_lambda_functions() -> None:
    n = torch.tensor([0.0, 1.0, 2.0, 5.0], dtype=torch.float64)
    assert close(gae.constant_lambda(n, 0.7), 0.7, 0.7, 0.7, 0.7)
    assert close(gae.vapo_lambda(n, 0.5), 0, 0, 0, 1 - 1 / 2.5)
    assert close(gae.relative_position_lambda(n, 0.81), 0, 1, 0.81, 0.81**0.25)


def test_lambda_by_the_number_of_turns() -> None:
    path = "areal.trainer.ppo.lambda_fn.relative_position_gae_lambda"
    actor = ActorConfig(gae_lambda=path, gae_lambda_kwargs={"q": 0.25}, gae_timestep_unit="turn")
    mask = torch.tensor([[1.0, 1, 0, 1], [1, 0, 0, 0]])
    ids = torch.tensor([[0, 0, -1, 4], [0, -1, -1, -1]])
    assert close(gae.lambdas(actor, mask, ids, torch.float32), 0.25, 1)
    tokens = actor.model_copy(update={"gae_timestep_unit": "token"})
    assert close(gae.lambdas(tokens, mask, None, torch.float32), 0.5, 1)


def test_a_lambda_function_of_the_users_own_is_not_run() -> None:
    actor = ActorConfig(gae_lambda="my.module.lambda_of_mine")
    with pytest.raises(ArealRaises, match="lambda_of_mine"):
        gae.lambdas(actor, torch.ones(1, 2), None, torch.float32)


def test_a_lambda_function_without_its_parameter() -> None:
    actor = ActorConfig(gae_lambda="areal.trainer.ppo.lambda_fn.constant_gae_lambda")
    with pytest.raises(ArealRaises, match="missing 1 required keyword-only argument: 'value'"):
        gae.lambdas(actor, torch.ones(1, 2), None, torch.float32)


# --- normalisation ------------------------------------------------------------------------


def test_without_a_deviation_there_is_no_epsilon() -> None:
    norm = NormConfig(mean_level="batch", std_level=None)
    groups = normalisation.Groups(None, "zero")
    assert close(normalisation.normalise(torch.tensor([1.0, 2, 6]), None, norm, groups), -2, -1, 3)


def test_a_mask_without_tokens_changes_nothing() -> None:
    x = torch.tensor([[1.0, 2.0]])
    groups = normalisation.Groups(None, "zero")
    assert normalisation.normalise(x, torch.zeros(1, 2), NormConfig(), groups) is x


def test_leave_one_out_of_two() -> None:
    """Each of two is measured against the other; the deviation is around those means."""
    norm = NormConfig(mean_level="group", std_level="group", mean_leave1out=True, eps=0.0)
    groups = normalisation.Groups([2], "itself")
    # (1-3, 3-1) over sqrt((4 + 4) / 1)
    found = normalisation.normalise(torch.tensor([1.0, 3.0]), None, norm, groups)
    assert close(found, -2 / math.sqrt(8), 2 / math.sqrt(8))


# --- rejection ----------------------------------------------------------------------------


def two_rows() -> alignment.Packing:
    return alignment.packing(torch.tensor([[True, True, False], [True, True, True]]), [0, 1])


def test_maximum_of_a_sequence_and_a_sequence_without_tokens() -> None:
    mask = torch.tensor([False, False, True, True, False])
    x = torch.tensor([5.0, 6.0, -3.0, -2.0, 9.0])
    assert close(rejection.aggregate("max", x, mask, two_rows()), 0, 0, -2, -2, -2)
    assert close(rejection.aggregate("mean", x, mask, two_rows()), 0, 0, -2.5, -2.5, -2.5)


def test_a_token_clamp() -> None:
    config = RejectionConfig(action="clamp", upper=2.0, lower=0.5)
    old = torch.zeros(5)
    prox = torch.log(torch.tensor([4.0, 1.5, 0.25, 1.0, 8.0]))
    mask = torch.tensor([True, True, True, True, False])
    found = rejection.reject(config, old, prox, mask, two_rows())
    assert close(found.weight, 2, 1.5, 0.5, 1, 0)
    assert float(found.filtered_fraction) == 0.5
    assert bool((found.mask == mask).all())


def test_at_least_one_token_stays() -> None:
    old, prox, mask = torch.zeros(3), torch.tensor([3.0, 1.0, 2.0]), torch.ones(3).bool()
    assert rejection.m2po_mask(old, prox, mask, 0.01).tolist() == [False, True, False]
    # Means of the rest: 14/3, 5/2, 1: the first below 3 drops one.
    assert rejection.m2po_mask(old, prox, mask, 3.0).tolist() == [False, True, True]
    assert rejection.m2po_mask(old, prox, ~mask, 3.0).tolist() == [False] * 3


# --- losses -------------------------------------------------------------------------------


def test_teacher_beside_the_reward() -> None:
    new, teacher = row(-1, -2)[0], row(-1.5, -1)[0]
    mask = torch.tensor([True, True])
    pack = alignment.packing(torch.ones(1, 2).bool(), [0])
    tokens = losses.Tokens(new, new, new, torch.ones(2), mask, pack)
    weights = TeacherConfig(rl_loss_weight=2.0, distill_loss_weight=0.1)
    loss, term = losses.distilled(torch.tensor(3.0), tokens, teacher, weights)
    assert close(term, 0.5, -1)
    assert float(loss) == pytest.approx(2 * 3 + 0.1 * (0.5 - 1) / 2)


# --- statistics ---------------------------------------------------------------------------


def test_an_average_is_over_tokens_and_a_scalar_is_not() -> None:
    tracker = Tracker(torch.float64, "nan-wins")
    for values, mask in (([1.0, 9.0], [True, False]), ([2.0, 3.0], [True, True])):
        tracker.denominators("s/", {"n": torch.tensor(mask)})
        tracker.statistics("s/", "n", {"x": torch.tensor(values)})
        tracker.scalars("s/", {"share": values[0]})
    assert tracker.export() == {
        "s/n": 3.0,
        "s/share": 1.5,
        "s/share__count": 2,
        "s/x/avg": 2.0,
        "s/x/max": 3.0,
        "s/x/min": 1.0,
    }


def test_keys_without_a_value_are_absent() -> None:
    tracker = Tracker(torch.float64, "nan-wins")
    tracker.denominators("", {"none": torch.tensor([False]), "n": torch.tensor([True, True])})
    tracker.statistics("", "none", {"x": torch.tensor([1.0])})
    tracker.statistics("", "n", {"y": torch.tensor([math.inf, 0.0])})
    assert tracker.export() == {"none": 0.0, "n": 2.0, "y/avg": math.inf, "y/min": 0.0}


@pytest.mark.parametrize(("order", "kept"), [((math.nan, 1.0), True), ((1.0, math.nan), False)])
def test_a_nan_shows_by_its_place_or_always(order: tuple[float, float], kept: bool) -> None:
    for extremes, shows in (("by-order", kept), ("nan-wins", True)):
        tracker = Tracker(torch.float64, extremes)  # type: ignore[arg-type]
        for value in order:
            tracker.denominators("", {"n": torch.tensor([True])})
            tracker.statistics("", "n", {"x": torch.tensor([value])})
        assert math.isnan(tracker.export()["x/min"]) is shows
