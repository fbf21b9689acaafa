"""Which conventions hold, and the values AReaL refuses."""

from __future__ import annotations

from typing import Any

import needs_torch  # noqa: F401
import pytest
import torch
from golden_cases import bundle_of, find

from analyzer.errors import RunError, UsageError
from analyzer.replay.areal_errors import ArealRaises
from analyzer.replay.bundle import Bundle
from analyzer.replay.config import ReplayConfig, check
from analyzer.replay.conventions import AREAL_2026_05, AREAL_2026_08, resolve
from analyzer.replay.stage0 import replay_batch


def config(**actor: Any) -> ReplayConfig:
    return ReplayConfig.model_validate({"actor": actor})


@pytest.mark.parametrize(
    "raw",
    [
        {"actor": {}, "traj_group_sizes": [4]},
        {"actor": {"use_cispo_loss": False}},
        {"actor": {"gae_timestep_unit": "token"}},
        {"actor": {"gae_lambda_kwargs": {}}},
        {"actor": {"gae_lambda": "areal.trainer.ppo.lambda_fn.constant_gae_lambda"}},
        {"actor": {"prox_logp_method": "reuse_train_logp"}},
    ],
)
def test_marks_of_the_later_version(raw: dict[str, Any]) -> None:
    assert resolve("auto", raw) is AREAL_2026_08


def test_no_mark_is_the_earlier_version() -> None:
    assert resolve("auto", {"actor": {"eps_clip": 0.2}}) is AREAL_2026_05
    assert resolve("auto", {}) is AREAL_2026_05


def test_a_name_counts_before_the_marks() -> None:
    assert resolve("areal-2026-05", {"traj_group_sizes": [4]}) is AREAL_2026_05
    with pytest.raises(UsageError, match="areal-2026-05, areal-2026-08, auto"):
        resolve("areal-2027-01", {})


@pytest.mark.parametrize(
    ("actor", "what"),
    [
        ({"use_cispo_loss": True, "eps_clip_higher": 4.0}, "CISPO loss"),
        ({"prox_logp_method": "reuse_train_logp"}, "reuse_train_logp"),
        ({"gae_timestep_unit": "turn"}, "GAE by turns"),
        ({"gae_lambda": "areal.trainer.ppo.lambda_fn.constant_gae_lambda"}, "lambda function"),
    ],
)
def test_what_the_earlier_version_lacks(actor: dict[str, Any], what: str) -> None:
    with pytest.raises(RunError, match=f"areal-2026-05 has no .*{what}"):
        check(config(**actor), AREAL_2026_05)
    check(config(**actor), AREAL_2026_08)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"use_cispo_loss": True}, "CISPO requires a positive eps_clip_higher"),
    (
        {
            "use_cispo_loss": True,
            "eps_clip_higher": 4.0,
            "importance_sampling_level": "sequence",
        },
        "CISPO only supports importance_sampling_level='token'",
    ),
    (
        {"use_cispo_loss": True, "eps_clip_higher": 4.0, "use_sapo_loss": True},
        "CISPO and SAPO are mutually exclusive",
    ),
    ({"use_sapo_loss": True, "use_decoupled_loss": True}, "SAPO is not compatible"),
    ({"use_sapo_loss": True, "sapo_tau_neg": 0.0}, "must be positive"),
    ({"gae_timestep_unit": "row"}, "must be 'token' or 'turn', got 'row'"),
    ({"gae_lambda": ""}, "must not be empty"),
    ({"gae_lambda": float("inf")}, "must be finite"),
    ({"rejection_sampling": {"level": "row"}}, "level must be one of"),
    ({"rejection_sampling": {"action": "drop"}}, "action must be one of"),
    ({"rejection_sampling": {"metric": "kl"}}, "metric must be one of"),
    ({"rejection_sampling": {"agg": "min"}}, "agg must be one of"),
    ({"rejection_sampling": {"upper": 2.0, "lower": 3.0}}, "cannot be greater than upper"),
    ({"rejection_sampling": {"upper": 1.0}}, "upper must be > 1.0"),
    ({"rejection_sampling": {"lower": 0.0}}, "lower must be positive"),
    ({"rejection_sampling": {"metric": "kl_k2", "upper": 0.0}}, "upper must be positive"),
    (
        {"rejection_sampling": {"metric": "kl_k3", "action": "clamp"}},
        "action='clamp' only supports metric='ratio'",
    ),
]


@pytest.mark.parametrize(("actor", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_areal_refuses(actor: dict[str, Any], message: str) -> None:
    with pytest.raises(ArealRaises) as caught:
        check(config(**actor), AREAL_2026_08)
    assert caught.value.kind == "ValueError"
    assert caught.value.stage == "config"
    assert message in caught.value.message


def test_a_coin_metric_is_refused_before_it_was_there() -> None:
    wanted = config(rejection_sampling={"metric": "binary_kl", "upper": 0.1})
    check(wanted, AREAL_2026_08)
    with pytest.raises(ArealRaises, match="metric must be one of"):
        check(wanted, AREAL_2026_05)


def with_actor(case: str, **changed: Any) -> Bundle:
    bundle = bundle_of(find(case))
    actor = bundle.config.actor.model_copy(update=changed)
    return Bundle(bundle.path, bundle.tensors, bundle.config.model_copy(update={"actor": actor}))


@pytest.mark.parametrize(
    ("changed", "kind", "message"),
    [
        ({"use_decoupled_loss": True}, "ValueError", "prox_logp is None but prox_logp_method="),
        ({"recompute_logprob": True}, "ValueError", "prox_logp is None but recompute_logprob="),
        ({"overlong_reward_penalty": True}, "AssertionError", ""),
        ({"c_clip": 0.9}, "AssertionError", "0.9"),
        ({"ppo_n_minibatches": 99}, "RuntimeError", "Number of values 8 is smaller"),
        ({"log_agent_stats": True}, "RuntimeError", "'begin_of_trajectory' is expected"),
    ],
)
def test_areal_raises_for_a_batch(changed: dict[str, Any], kind: str, message: str) -> None:
    found = replay_batch(with_actor("areal-2026-05/case_01", **changed), AREAL_2026_05)
    assert found.error is not None
    assert found.error.type == kind
    assert found.error.message.startswith(message)
    assert found.stats == {}
    assert found.loss is None


def test_what_a_user_logs_of_trajectories() -> None:
    """Over the rows that begin one: 1 and 3 tool calls of rows 0 and 2."""
    bundle = with_actor(
        "areal-2026-05/case_01", log_agent_stats=True, log_agent_stats_keys=("tool_calls",)
    )
    begin = torch.tensor([1, 0, 1, 0, 0, 0, 0, 0])
    calls = torch.tensor([1.0, 7.0, 3.0, 7.0, 7.0, 7.0, 7.0, 7.0])
    tensors = {**bundle.tensors, "begin_of_trajectory": begin, "tool_calls": calls}
    stats = replay_batch(Bundle(bundle.path, tensors, bundle.config), AREAL_2026_05).stats
    assert stats["ppo_actor/agent"] == 2.0
    assert [stats[f"ppo_actor/tool_calls/{kind}"] for kind in ("avg", "min", "max")] == [2, 1, 3]
    logged = bundle_of(find("areal-2026-05/case_01")).config.actor.model_copy(
        update={"log_agent_stats": True}
    )
    config = bundle.config.model_copy(update={"actor": logged})
    error = replay_batch(Bundle(bundle.path, tensors, config), AREAL_2026_05).error
    assert error is not None
    assert "should not be empty" in error.message
