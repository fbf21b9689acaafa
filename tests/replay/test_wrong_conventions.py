"""Conventions that are wrong, put in one at a time: a recorded batch catches each."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import needs_torch  # noqa: F401
import pytest
import torch
from golden_cases import bundle_of, conventions_of, differences, find
from torch import Tensor

from analyzer.replay.config import RejectionConfig
from analyzer.replay.formulas import (
    alignment,
    exported,
    gae,
    losses,
    normalisation,
    rejection,
    rewards,
)
from analyzer.replay.formulas import proximal as prox_formulas
from analyzer.replay.stage0 import replay_batch

MAY, AUG = "areal-2026-05/", "areal-2026-08/"
Formula = Callable[..., Any]


@dataclass(frozen=True)
class Wrong:
    """One wrong convention: a field of the conventions, or one formula, and what catches it."""

    name: str
    case: str
    fields: tuple[tuple[str, Any], ...] = ()
    formula: str = ""  # module.function below analyzer.replay.formulas
    instead: Any = None  # what stands in its place


def field(name: str, case: str, key: str, value: Any) -> Wrong:
    return Wrong(name, case, fields=((key, value),))


def formula(name: str, case: str, path: str, instead: Any) -> Wrong:
    return Wrong(name, case, formula=path, instead=instead)


# The right formulas, before any is replaced.
_to_prediction = alignment.to_prediction
_by_tokens = gae.by_tokens
_normalise = normalisation.normalise
_kl_estimate, _overlong = rewards.kl_estimate, rewards.overlong_penalty
_aggregate, _reject, _log_ratio = (
    rejection.aggregate,
    rejection.reject,
    rejection.finite_log_ratio,
)
_alpha, _divergences = prox_formulas.alpha, exported.divergences
_critic_loss, _distilled = losses.critic_loss, losses.distilled


def _reward_at(offset: int) -> Formula:
    def outcome(score: Tensor, lengths: Tensor, width: int) -> Tensor:
        result = score.new_zeros((len(score), width))
        result[torch.arange(len(score)), torch.clamp(lengths - offset, min=0)] = score
        return result

    return outcome


def _k_unclamped(kind: str, old: Tensor, ref: Tensor) -> Tensor:
    d = old - ref
    return {"k1": d, "k2": d * d / 2, "k3": torch.exp(-d) - 1 + d}[kind]


def _biased(x: Tensor, weight: Tensor, mean: Tensor, *rest: Any) -> Tensor:
    return torch.sqrt(((x - mean) ** 2 * weight).sum() / weight.sum()).expand_as(x)


def _scale_then_bias(reward: Tensor, actor: Any, groups: Any) -> Tensor:
    score = reward * actor.reward_scaling + actor.reward_bias
    return torch.clamp(score, -actor.reward_clip, actor.reward_clip)


def _penalty_with_floor(reward: Tensor, mask: Tensor, actor: Any) -> Tensor:
    penalised = _overlong(reward, mask, actor)
    return torch.maximum(penalised, reward - (actor.overlong_penalty_factor or 0))


def _arithmetic(difference: Tensor, advantages: Tensor, mask: Tensor, *rest: Any) -> Any:
    level, packing = rest
    if level == "token":
        return torch.where(mask, torch.exp(difference), 0), advantages
    mean = _aggregate("mean", torch.exp(difference), mask, packing)
    return torch.where(mask, mean, 0), torch.where(mask, advantages, 0)


def _fraction_of_all(config: Any, old: Tensor, prox: Tensor, mask: Tensor, packing: Any) -> Any:
    right = _reject(config, old, prox, mask, packing)
    share = right.filtered_fraction * mask.sum() / mask.numel()
    return replace(right, filtered_fraction=share)


def _mask_that_keeps_weight(
    config: Any, old: Tensor, prox: Tensor, mask: Tensor, packing: Any
) -> Any:
    right = _reject(config, old, prox, mask, packing)
    return replace(right, weight=torch.exp(_log_ratio(old, prox)))


def _m2po_by_sum(old: Tensor, prox: Tensor, mask: Tensor, threshold: float) -> Tensor:
    return mask & ((old - prox) ** 2 < threshold)


def _mean_of_means(values: Any) -> float:
    means = [torch.where(m, v, 0).sum() / m.sum() for v, m in values if bool(m.any())]
    return float(torch.stack(means).mean()) if means else float("nan")


def _in_order(lengths: Any, capacity: float, least: int) -> list[list[int]]:
    size = -(-len(lengths) // least)
    return [list(range(i, min(i + size, len(lengths)))) for i in range(0, len(lengths), size)]


def _critic_optimist(*arguments: Any) -> Any:
    new, old, target, mask, eps = arguments
    right = _critic_loss(new, old, target, mask, eps)
    plain = torch.where(mask, (new - target) ** 2 / 2, 0)
    return replace(right, loss=plain.sum() / mask.sum())


def _loss_over_survivors(per_token: Tensor, survivors: Tensor, mask: Tensor) -> Tensor:
    return torch.where(survivors, per_token, 0).sum() / torch.clamp(survivors.sum(), min=1)


def _dual_by_sign(per_token: Tensor, advantages: Tensor, c_clip: float) -> Any:
    if c_clip is None:
        return per_token, torch.zeros_like(per_token, dtype=torch.bool)
    bound = c_clip * advantages
    return torch.minimum(per_token, bound), bound < per_token


def _upper_alone(config: RejectionConfig, metric: Tensor) -> Tensor:
    return metric <= config.upper


def _leave_one_out_by_n(x: Tensor, weight: Tensor, leave_one_out: bool, single: Any) -> Tensor:
    total, n = (x * weight).sum(), weight.sum()
    return (total - x * weight) / n if leave_one_out else (total / n).expand_as(x)


WRONG = (
    # what differs between the versions
    field("groups by the configured size", f"{AUG}case_33", "groups", "group-size"),
    field("lone row keeps its reward", f"{AUG}case_34", "singleton_leave_one_out", "zero"),
    field("ratio shown on survivors alone", f"{AUG}case_01", "ratio_on", "survivors"),
    field("ratio shown on filtered tokens", f"{MAY}case_28", "ratio_on", "before-rejection"),
    field("clips counted on survivors", f"{AUG}case_40", "clip_counted_on", "survivors"),
    field("prompt counts tool tokens", f"{AUG}case_11", "prompt_length", "not-generated"),
    field(
        "prompt ends at the first token", f"{MAY}case_60", "prompt_length", "before-first-generated"
    ),
    field("trained reward as task reward", f"{AUG}case_38", "original_rewards", False),
    field("NaN lost in an extreme", f"{AUG}case_47", "extremes", "by-order"),
    field("drift keys left out", f"{AUG}case_15", "drift_statistics", False),
    field("drift keys too early", f"{MAY}case_01", "drift_statistics", True),
    # alignment
    formula("nothing rolled", f"{MAY}case_01", "alignment.to_prediction", lambda x: x),
    formula(
        "rolled the other way",
        f"{MAY}case_01",
        "alignment.to_prediction",
        lambda x: torch.roll(x, 1, -1),
    ),
    formula(
        "no wrap round",
        f"{MAY}extra/case_114",
        "alignment.to_prediction",
        lambda x: torch.cat([x[:, 1:], torch.zeros_like(x[:, :1])], 1),
    ),
    formula(
        "versions rolled too",
        f"{MAY}case_48",
        "proximal.alpha",
        lambda v, c, d: _alpha(torch.roll(v, -1), c, d),
    ),
    formula(
        "proximal is the current version",
        f"{MAY}case_48",
        "proximal.alpha",
        lambda v, c, d: _alpha(v, c + 1, d),
    ),
    formula(
        "non-finite proximal let through", f"{MAY}case_58", "proximal.finite", lambda prox, _: prox
    ),
    # rewards
    formula("reward at the last token", f"{MAY}case_01", "rewards.outcome", _reward_at(1)),
    formula("reward one too early", f"{MAY}case_01", "rewards.outcome", _reward_at(3)),
    formula(
        "no row is truncated",
        f"{MAY}case_15",
        "rewards.no_eos",
        lambda lengths, width: torch.zeros_like(lengths, dtype=torch.bool),
    ),
    formula(
        "KL the other way round",
        f"{MAY}case_10",
        "rewards.kl_estimate",
        lambda kind, old, ref: _kl_estimate(kind, ref, old),
    ),
    formula("KL without clamp", f"{AUG}case_18", "rewards.kl_estimate", _k_unclamped),
    formula("scaled before the bias", f"{MAY}case_09", "rewards.scaled", _scale_then_bias),
    formula(
        "penalty with a floor", f"{MAY}case_18", "rewards.overlong_penalty", _penalty_with_floor
    ),
    # advantages
    formula(
        "masked positions discount",
        f"{AUG}case_31",
        "gae.by_tokens",
        lambda e, d, lam: _by_tokens(replace(e, mask=torch.ones_like(e.mask)), d, lam),
    ),
    formula(
        "returns without values",
        f"{MAY}case_13",
        "gae.by_tokens",
        lambda e, d, lam: (_by_tokens(e, d, lam)[0], _by_tokens(e, d, lam)[0]),
    ),
    formula(
        "no bootstrap of truncated rows",
        f"{MAY}case_13",
        "gae.by_tokens",
        lambda e, d, lam: _by_tokens(replace(e, no_eos=torch.zeros_like(e.no_eos)), d, lam),
    ),
    formula(
        "discount a token within turns",
        f"{AUG}case_28",
        "gae.by_turns",
        _by_tokens,
    ),
    formula(
        "lambda by one token more",
        f"{AUG}case_31",
        "gae.LAMBDA_FUNCTIONS",
        {
            "vapo_length_adaptive_gae": (
                lambda n, a: torch.clamp(1 - 1 / (a * (n + 1)), min=0),
                "alpha",
            )
        },
    ),
    # normalisation
    formula("biased deviation", f"{MAY}case_04", "normalisation.std_of", _biased),
    formula(
        "mask ignored",
        f"{MAY}case_04",
        "normalisation.normalise",
        lambda x, mask, norm, groups: _normalise(x, None, norm, groups),
    ),
    formula(
        "no epsilon",
        f"{MAY}case_06",
        "rewards.normalise",
        lambda x, mask, norm, groups: _normalise(
            x, mask, norm.model_copy(update={"eps": 1e-9}), groups
        ),
    ),
    formula("leave-one-out over n", f"{MAY}case_08", "normalisation.mean_of", _leave_one_out_by_n),
    # rejection
    formula("lower bound ignored", f"{MAY}case_27", "rejection.in_bounds", _upper_alone),
    formula(
        "ratio upside down",
        f"{MAY}case_28",
        "rejection.finite_log_ratio",
        lambda old, prox: _log_ratio(prox, old),
    ),
    formula(
        "infinite ratio kept infinite",
        f"{MAY}case_57",
        "rejection.finite_log_ratio",
        lambda old, prox: prox - old,
    ),
    formula(
        "sums taken for means",
        f"{MAY}case_34",
        "rejection.aggregate",
        lambda how, x, mask, packing: _aggregate("mean", x, mask, packing),
    ),
    formula(
        "prompts aggregated too",
        f"{MAY}case_33",
        "rejection.aggregate",
        lambda how, x, mask, packing: _aggregate(how, x, torch.ones_like(mask), packing),
    ),
    formula(
        "weight of tokens for sequences",
        f"{MAY}case_33",
        "rejection.raw_weight",
        lambda config, log_ratio, mask, packing: torch.exp(log_ratio),
    ),
    formula("share of all tokens", f"{MAY}case_28", "losses.reject", _fraction_of_all),
    formula("weight on rejected tokens", f"{AUG}case_01", "losses.reject", _mask_that_keeps_weight),
    formula("second moment a token", f"{MAY}case_25", "rejection.m2po_mask", _m2po_by_sum),
    formula(
        "coins without tails",
        f"{AUG}case_39",
        "rejection.binary_kl",
        lambda p, q: p * torch.log(p / q),
    ),
    # losses
    formula("mean over survivors", f"{MAY}case_28", "losses.mean_loss", _loss_over_survivors),
    formula(
        "symmetric clip band",
        f"{MAY}case_19",
        "losses.clipped",
        lambda ratio, actor: torch.clamp(ratio, 1 - actor.eps_clip, 1 + actor.eps_clip),
    ),
    formula("dual clip by the sign", f"{MAY}case_20", "losses.dual_clip", _dual_by_sign),
    formula(
        "arithmetic sequence ratio", f"{MAY}case_21", "losses.ratio_and_advantages", _arithmetic
    ),
    formula(
        "gate of slope tau / 4",
        f"{MAY}case_23",
        "losses.gate",
        lambda ratio, tau: torch.sigmoid(tau * (ratio - 1)),
    ),
    formula(
        "teacher upside down",
        f"{MAY}extra/case_116",
        "losses.distilled",
        lambda loss, tokens, teacher, weights: _distilled(
            loss, replace(tokens, new=-tokens.new), -teacher, weights
        ),
    ),
    formula("critic unclipped", f"{MAY}case_13", "losses.critic_loss", _critic_optimist),
    # statistics
    formula(
        "divergences of the other policy",
        f"{MAY}case_01",
        "exported.divergences",
        lambda old, new: _divergences(new, old),
    ),
    formula("mean of means", f"{AUG}case_10", "statistics.weighted_average", _mean_of_means),
    formula(
        "last scalar counts",
        f"{AUG}case_10",
        "statistics.mean_of_scalars",
        lambda numbers: float(numbers[-1]),
    ),
    formula("rows in order", f"{MAY}case_50", "splitting.allocate", _in_order),
)


def test_thirty_at_least_and_no_name_twice() -> None:
    assert len(WRONG) >= 30
    assert len({wrong.name for wrong in WRONG}) == len(WRONG)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name.replace(" ", "-"))
def test_a_wrong_convention_is_caught(wrong: Wrong, monkeypatch: pytest.MonkeyPatch) -> None:
    case = find(wrong.case)
    right = conventions_of(case)
    assert differences(case, replay_batch(bundle_of(case), right)) == []
    if wrong.instead is not None:
        module, _, name = wrong.formula.partition(".")
        place = importlib.import_module(f"analyzer.replay.formulas.{module}")
        monkeypatch.setattr(place, name, wrong.instead)
    changed = replace(right, **dict(wrong.fields))
    assert differences(case, replay_batch(bundle_of(case), changed)) != []
