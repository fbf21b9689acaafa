"""Every name that AReaL's actor, critic and rollout controller log has a canonical one."""

from __future__ import annotations

import pytest
from tables_of import tables_of

from analyzer.resources import rules_dir
from analyzer.tables.catalog import Catalog, load_catalog
from analyzer.tables.evidence import Series

# Exports of PPOActor.ppo_update, PPOCritic.ppo_update and the rollout controller, May to August
# 2026. Statistics of tensors have avg, min and max; counts and scalars only themselves.
TENSORS = {
    "ppo_actor": """advantages kl_rewards final_reward no_eos_ratios task_reward prompt_len seq_len
        correct_seq_len incorrect_seq_len""",
    "ppo_actor/update": """importance_weight approx_kl new_logp old_logp entropy actor_loss
        clip_ratio dual_clip_ratio behave_imp_weight behave_approx_kl behave_filtered_ratio
        logp_diff logp_abs_diff clipped_new_logp clipped_old_logp vocab_min_logits vocab_max_logits
        rkl_loss sapo_soft_gate sapo_scaled_gate_pos sapo_scaled_gate_neg""",
    "ppo_actor/update/compute_logp": "prox_logp_gt kl_div_direct kl_div_taylor kl_div_dual",
    "ppo_critic": """new_value old_value target_value critic_loss clip_ratio clipped_new_value
        clipped_old_value""",
}
APPROXIMATION = """approx_logp behave_imp_weight importance_weight abs_error rel_error squared_error
    behave_imp_weight_abs_error behave_imp_weight_rel_error importance_weight_abs_error
    importance_weight_rel_error"""
SCALARS = {
    "ppo_actor": """n_seqs n_tokens n_valid_tokens correct_n_seqs incorrect_n_seqs
        mask_no_eos_with_zero eps_clip use_dual_clip c_clip rs_upper rs_lower""",
    "ppo_actor/update": """n_tokens n_valid_tokens clipped_tokens dual_clipped_tokens
        unclipped_behave_tokens rs_filtered_fraction n_total_tokens n_valid_tokens_in_loss
        n_masked_tokens masked_token_ratio num_micro_batches grad_norm lr update_successful""",
    "ppo_actor/update/compute_logp": "n_valid_tokens",
    "ppo_actor/update/version_stats": """n_valid_tokens n_valid_generated_tokens v_theta v_proximal
        sample_staleness_proximal_avg sample_staleness_proximal_max sample_staleness_proximal_min
        sample_staleness_theta_avg sample_staleness_theta_max sample_staleness_theta_min""",
    "ppo_critic": """n_tokens n_valid_tokens clipped_tokens mask_no_eos_with_zero eps_clip
        num_micro_batches grad_norm lr update_successful""",
    "rollout": "reward accepted rejected num_turns",
    "eval-rollout": "reward num_turns",
}


def exported() -> list[str]:
    """All names, in full."""
    methods = [f"ppo_actor/update/compute_logp/{m}" for m in ("loglinear", "linear", "rollout")]
    tensors = TENSORS | dict.fromkeys(methods, APPROXIMATION)
    names = [
        f"{scope}/{name}/{part}"
        for scope, text in tensors.items()
        for name in text.split()
        for part in ("avg", "min", "max")
    ]
    return names + [f"{scope}/{name}" for scope, text in SCALARS.items() for name in text.split()]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(rules_dir())


def test_no_exported_name_is_unknown(catalog: Catalog) -> None:
    assert [name for name in exported() if name not in catalog.aliases] == []


def test_no_two_exports_of_one_build_share_a_name(catalog: Catalog) -> None:
    """Apart from the rejected share, which August 2026 exports in two ways."""
    canonical = [catalog.aliases[name].canonical for name in exported()]
    twice = {name for name in canonical if canonical.count(name) > 1}
    assert twice == {"rejected_fraction"}


@pytest.mark.parametrize(
    ("logged", "canonical"),
    [
        ("grpo_actor/vocab_max_logits/avg", "vocab_max_logits"),
        ("grpo_actor/clipped_tokens", "clipped_tokens"),
        ("ppo_actor/update/n_valid_tokens", "update_valid_tokens"),
        ("ppo_actor/n_valid_tokens", "n_valid_tokens"),
        ("ppo_actor/update/clip_ratio/avg", "clip_ratio"),
        ("ppo_critic/clip_ratio/avg", "critic_clip_ratio"),
        ("ppo_actor/train_infer/kl_k3", "train_infer_kl_k3"),
        ("ppo_actor/update/compute_logp/kl_div_dual/avg", "behave_kl_k3"),
        ("rollout/format_reward", "format_reward"),
        ("rollout/repetition_frac", "repetition"),
    ],
)
def test_names_of_older_and_newer_builds(catalog: Catalog, logged: str, canonical: str) -> None:
    assert catalog.aliases[logged].canonical == canonical


def test_the_token_weighted_share_is_preferred() -> None:
    """rs_filtered_fraction is a plain mean over micro-batches; 0.24 against 0.201 in one batch."""
    run = tables_of(
        {
            "ppo_actor/update/rs_filtered_fraction": "0.24x10",
            "ppo_actor/update/behave_filtered_ratio/avg": "0.201x10",
        }
    )
    found = run.series("rejected_fraction")
    assert isinstance(found, Series)
    assert found.values.tolist() == [0.201] * 10
    assert found.logged_as == "ppo_actor/update/behave_filtered_ratio/avg"


@pytest.mark.parametrize(("kl_ctl", "told"), [(0.1, True), (0.001, True), (0.0, False)])
def test_the_missing_reference_is_told_where_the_kl_reward_is_on(kl_ctl: float, told: bool) -> None:
    run = tables_of({"kl_rewards": "0.03x10"}, config={"actor.kl_ctl": kl_ctl})
    found = run.series("kl_rewards")
    assert isinstance(found, Series)
    assert any("Without a reference model" in caveat for caveat in found.caveats) == told
