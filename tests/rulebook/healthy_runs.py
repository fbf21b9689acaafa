"""Healthy runs, simulated: what AReaL logs of a run that learns, as noisy as real ones.

Noise of single steps is that of the batch's size, with a memory of up to 0.9. Rewards rise by a
logistic curve, with or without a step to harder tasks; lengths fall to half or double; entropy
falls, stands still or rises; samples get older over the first steps up to the configured bound; the
learning rate warms up, and the distance of trainer and engine grows with both. Steps take as long
as the responses ask for, the first ones longer, with evaluations and saves in between; one run in
three was restarted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analyzer.rulebook.testing.cases import Case, Sparse

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """What one run was set up with."""

    steps: int
    sequences: int
    memory: float
    bound: int
    kl_ctl: float
    minibatches: int
    limit: int


class HealthyRun:
    """One run; the same seed gives the same run."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        choose = self._random.choice
        self.setting = Setting(
            int(choose([60, 100, 160, 240])),
            int(choose([128, 256, 512, 1024])),
            float(choose([0.0, 0.3, 0.6, 0.9])),
            int(choose([0, 1, 2, 4, 8])),
            float(choose([0.0, 0.001, 0.01, 0.05])),
            int(choose([1, 2, 4])),
            int(choose([4096, 8192, 16384])),
        )
        self.time = np.linspace(0.0, 1.0, self.setting.steps)

    def case(self) -> Case:
        """As a test case of rules, with the digits of AReaL's text tables."""
        s = self.setting
        rate = self._rate()
        lengths = self._lengths()
        series = {
            **self._rewards(rate),
            **lengths,
            **self._policy(),
            **self._critic(rate),
            **self._parts(rate),
            **self._times(lengths["seq_len"]),
        }
        written: dict[str, str | Sparse] = {name: _text(values) for name, values in series.items()}
        every = 10
        noise = self._random.normal(0.0, 0.015, len(rate[::every]))
        gap = self._uniform(-0.03, 0.08) * self.time[::every]
        evaluated = np.clip(rate[::every] - gap + noise, 0.0, 1.0)
        written["eval_reward"] = Sparse(every=every, values=_text(evaluated))
        config = {
            "actor.backend": "fsdp:d2p1t1",
            "actor.kl_ctl": s.kl_ctl,
            "actor.ppo_n_minibatches": s.minibatches,
            "actor.rejection_sampling.upper": 5.0,
            "actor.use_decoupled_loss": True,
            "actor.recompute_logprob": True,
            "ref.path": "base-model",
            "gconfig.max_new_tokens": s.limit,
            "rollout.max_head_offpolicyness": s.bound,
            "rollout.max_concurrent_rollouts": s.sequences // 4,
            "rollout.backend": "sglang:d4",
            "train_dataset.batch_size": s.sequences // 8,
            "gconfig.n_samples": 8,
            "actor.reward_norm.mean_level": "group",
            "actor.reward_norm.std_level": "group",
            "actor.reward_norm.group_size": 8,
        }
        restarted = self._random.random() < 0.33
        return Case(
            name="healthy",
            kind="clear",
            series=written,
            config=config,
            log=(f"{s.steps - 1} INFO StatsLogger: Training completes! Total time elapsed 1.0.",),
            resumes=(int(s.steps * self._uniform(0.3, 0.7)),) if restarted else (),
            facts={"total_steps": s.steps},
            digits=5,
            expect=(),
        )

    def _uniform(self, low: float, high: float) -> float:
        return float(self._random.uniform(low, high))

    def _noise(self, size: float, memory: float | None = None) -> Floats:
        """AR(1) noise of that standard deviation."""
        rho = self.setting.memory if memory is None else memory
        values = self._random.standard_normal(self.setting.steps)
        for t in range(1, len(values)):
            values[t] = rho * values[t - 1] + np.sqrt(1 - rho**2) * values[t]
        return size * values

    def _rate(self) -> Floats:
        """Share of right answers."""
        start = self._uniform(0.1, 0.5)
        gain = self._uniform(0.15, 0.45)
        bend = self._uniform(4.0, 10.0)
        rate = start + gain / (1 + np.exp(-bend * (self.time - self._uniform(0.2, 0.6))))
        if self._random.random() < 0.25:
            rate[self.time > self._uniform(0.3, 0.7)] -= self._uniform(0.0, 0.04)
        return np.asarray(np.clip(rate, 0.02, 0.97))

    def _rewards(self, rate: Floats) -> dict[str, Floats]:
        s = self.setting
        wander = self._noise(0.6 * np.sqrt(0.25 / s.sequences))
        right = self._random.binomial(s.sequences, np.clip(rate + wander, 0, 1)).astype(float)
        ones = np.ones(s.steps)
        return {
            "task_reward": right / s.sequences,
            "task_reward_min": 0 * ones,
            "task_reward_max": ones,
            "rollout_reward": right / s.sequences
            + self._noise(0.2 * np.sqrt(0.25 / s.sequences), 0),
            "correct_n_seqs": right,
            "incorrect_n_seqs": s.sequences - right,
            "n_seqs": s.sequences * ones,
            "advantages_min": -2.1 + self._noise(0.1, 0),
            "advantages_max": 2.1 + self._noise(0.1, 0),
        }

    def _lengths(self) -> dict[str, Floats]:
        s = self.setting
        growth = 2.0 ** (self._uniform(-1.0, 1.0) * self.time)
        response = (
            self._uniform(300, 900) * growth * np.exp(self._noise(0.5 / np.sqrt(s.sequences)))
        )
        prompt = self._uniform(60, 300) * np.exp(self._noise(0.25 / np.sqrt(s.sequences), 0))
        longest = response * self._uniform(2.5, 4.5) * np.exp(self._noise(0.1, 0))
        cut = (longest >= s.limit) * self._random.poisson(0.002 * s.sequences, s.steps)
        return {
            "seq_len": prompt + response,
            "prompt_len": prompt,
            "seq_len_max": prompt + np.minimum(longest, s.limit),
            "n_valid_tokens": response * s.sequences,
            "no_eos_ratio": (2 + cut) / s.sequences,
        }

    def _policy(self) -> dict[str, Floats]:
        s = self.setting
        batch = 1 / np.sqrt(s.sequences)
        early = self._uniform(0.15, 0.6)
        entropy = early * self._uniform(0.5, min(2.5, 0.8 / early)) ** self.time
        warm = np.minimum(1.0, (np.arange(s.steps) + 1) / self._uniform(1, 0.25 * s.steps))
        ramp = np.minimum(1.0, np.arange(s.steps) / self._uniform(1, 5))
        age = ramp * s.bound * (self._uniform(0.4, 0.9) + self._noise(0.06))
        apart = np.hypot(
            self._uniform(0.004, 0.025) * entropy / early,
            self._uniform(0.001, 0.008) * warm * np.maximum(age, 0),
        )
        kl = self._uniform(0.01, 0.3) * (warm * self.time) ** self._uniform(0.7, 1.5)
        once = s.minibatches == 1
        logp = -entropy * np.exp(self._noise(0.02, 0))
        return {
            "entropy": entropy * np.exp(self._noise(0.6 * batch)),
            "old_logp": logp,
            "kl_rewards": -s.kl_ctl * (kl * np.exp(self._noise(0.2)) + self._noise(0.001, 0)),
            "staleness": age - 1,
            "logp_abs_diff": apart * np.exp(self._noise(0.03 + 0.5 * batch)),
            "behave_kl_k3": (2.5 * apart) ** 2 / 2 * np.exp(self._noise(0.1 + batch)),
            "behave_imp_weight": 1 + self._noise(0.002 + 0.03 * batch),
            "behave_imp_weight_max": 1 + apart * self._uniform(20, 60) * np.exp(self._noise(0.1)),
            "rejected_fraction": self._uniform(0, 0.01) * np.exp(self._noise(0.4)),
            "importance_weight": 1 + self._noise(0.0 if once else 0.0008),
            "clip_ratio": 0.0 * entropy
            if once
            else self._uniform(0.001, 0.03) * np.exp(self._noise(0.3)),
            "grad_norm": self._uniform(0.1, 2.0) * np.exp(self._noise(0.2)),
            "update_successful": np.ones(s.steps),
        }

    def _critic(self, rate: Floats) -> dict[str, Floats]:
        """A critic whose explained variance climbs from below 0 to 0.3 or more."""
        if self._random.random() < 0.5:
            return {}
        explained = self._uniform(-0.6, 0.1) + np.sqrt(self.time) * self._uniform(0.9, 1.0)
        loss = 0.5 * rate * (1 - rate) * (1 - explained)
        ones = np.ones(self.setting.steps)
        return {
            "critic_loss": loss * np.exp(self._noise(0.05)),
            "target_value": rate,
            "target_value_min": 0 * ones,
            "target_value_max": ones,
        }

    def _parts(self, rate: Floats) -> dict[str, Floats]:
        if self._random.random() < 0.5:
            return {}
        scatter = np.sqrt(0.25 / self.setting.sequences)
        form = 1 - self._uniform(0.1, 0.8) * np.exp(-self.time * self._uniform(3, 15))
        return {
            "correctness_reward": np.clip(rate + self._noise(scatter), 0, 1),
            "format_reward": np.clip(form + self._noise(0.3 * scatter, 0), 0, 1),
            "repetition": self._uniform(0, 0.04) * np.exp(self._noise(0.3)),
        }

    def _times(self, lengths: Floats) -> dict[str, Floats]:
        """Seconds of the phases, and the learning rate."""
        s = self.setting
        longer = lengths / lengths[0]
        train = self._uniform(3, 60) * longer * np.exp(self._noise(0.04, 0))
        wait = train * self._uniform(0.01, 4) * np.exp(self._noise(0.25, 0))
        if s.bound:  # now and then a batch is waited for
            wait += train * self._random.exponential(2.0, s.steps) * (self._random.random() < 0.05)
        for values in (train, wait):
            values[:2] *= self._uniform(1, 8), self._uniform(1, 3)
        step = np.arange(s.steps)
        rate = self._random.choice([1e-6, 5e-6, 1.7e-5])
        fade = 1 - self.time * (self._random.random() < 0.4)
        return {
            "t_train": train,
            "t_rollout": wait,
            "t_update_weights": self._uniform(0.5, 5) * np.exp(self._noise(0.1, 0)),
            "t_eval": np.where(step % 10 == 0, self._uniform(60, 900), 0.0),
            "t_save": np.where(step % 20 == 19, self._uniform(10, 600), 0.0),
            "lr": rate * np.minimum(1, step / max(1.0, self._uniform(0, 30))) * fade,
        }


def _text(values: Floats) -> str:
    return " ".join(f"{value:.4e}x1" for value in values)
