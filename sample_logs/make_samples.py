"""Makes the sample runs in this folder: a small simulation, not a trainer.

    python -m sample_logs.make_samples [FOLDER]

Each step draws 512 responses: their lengths from a log-normal distribution, cut at the generation
limit, and whether each is right. What AReaL would log of that batch is counted from it, so that
the series agree with each other. Seeds and clock are fixed: the same bytes come out every time.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from sample_logs.areal_files import LoggedStep, event_file, text_log

HERE = Path(__file__).resolve().parent
RANKS = 4
ROWS_A_RANK = 128
N_SEQS = RANKS * ROWS_A_RANK
EVAL_SEQS = 256
MAX_NEW_TOKENS = 4096
LENGTH_SPREAD = 0.45  # standard deviation of the logarithm of a response's length
WARNINGS = (
    (
        "[FSDPEngine Rank 0]",
        "microbatch #splits 4 exceeds the recommended limit, increase max_tokens_per_mb",
    ),
    ("WorkflowExecutor", "Rollout task failed, retrying: ReadTimeout('')"),
)


@dataclass(frozen=True)
class Recipe:
    """What goes into a sample run, and what a diagnosis must find in it."""

    name: str
    trial: str
    steps: int
    steps_per_epoch: int
    started: datetime
    median_length: Callable[[int], float]  # of a response, in tokens, by step
    skill: Callable[[int], float]  # probability that a finished response is right, by step
    tensorboard: bool
    about: str


@dataclass(frozen=True)
class Batch:
    """The responses of one training step."""

    prompts: list[int]  # tokens
    responses: list[int]  # tokens, cut at the limit
    truncated: list[bool]
    right: list[bool]

    def lengths(self) -> list[int]:
        """Prompt and response, in tokens."""
        return [p + r for p, r in zip(self.prompts, self.responses, strict=True)]

    def without_eos(self) -> int:
        """As AReaL counts it: the longest row of each rank's padded batch counts as well."""
        lengths = self.lengths()
        count = 0
        for start in range(0, N_SEQS, ROWS_A_RANK):
            rows = range(start, start + ROWS_A_RANK)
            longest = max(lengths[row] for row in rows)
            count += sum(self.truncated[row] or lengths[row] == longest for row in rows)
        return count

    def padded_tokens(self) -> int:
        """Tokens of all ranks' batches with their padding."""
        lengths = self.lengths()
        starts = range(0, N_SEQS, ROWS_A_RANK)
        return sum(ROWS_A_RANK * max(lengths[s : s + ROWS_A_RANK]) for s in starts)


def saturating(start: float, gain: float, pace: float) -> Callable[[int], float]:
    """Rises from `start` by `gain`, most of it within 2·`pace` steps."""
    return lambda step: start + gain * (1 - math.exp(-step / pace))


def runaway(step: int) -> float:
    """Median length that stays near 550 tokens, then grows to some 3,400 around step 135."""
    return 540 * math.exp(1.88 / (1 + math.exp((135 - step) / 30)))


RECIPES = (
    Recipe(
        name="healthy",
        trial="healthy-1",
        steps=160,
        steps_per_epoch=16,
        started=datetime(2026, 3, 2, 8, 30, tzinfo=UTC),
        median_length=saturating(462, 115, 80),
        skill=saturating(0.35, 0.40, 80),
        tensorboard=False,
        about="""\
put_in: >
  Nothing wrong. Reward rises from about 0.35 to 0.70 with the noise of 512 samples, responses grow
  a little, the ratio of sequences without EOS stays on its floor of 4/512.
must_find:
  verdict: ok
  findings: []
""",
    ),
    Recipe(
        name="length_truncation",
        trial="truncation-1",
        steps=240,
        steps_per_epoch=24,
        started=datetime(2026, 3, 4, 19, 5, tzinfo=UTC),
        median_length=runaway,
        skill=saturating(0.36, 0.37, 80),
        tensorboard=True,
        about="""\
put_in: >
  Responses grow without end and run into max_new_tokens 4096 from about step 140; at the end
  nearly a third of them are cut. A cut response earns nothing: reward falls from 0.64 to 0.5.
must_find:
  verdict: error
  findings:
  - rule: length-driven-truncation
    severity: error
    onset: [130, 175]
  consequences: reward falls, and a step takes twice as long
  first_remedy: raise gconfig.max_new_tokens from 4096 to 8192
""",
    ),
)


def draw_batch(random: Random, recipe: Recipe, step: int) -> Batch:
    """512 responses of the policy at this step."""
    median = recipe.median_length(step) * math.exp(random.gauss(0, 0.02))
    skill = recipe.skill(step)
    prompts, responses, truncated, right = [], [], [], []
    for _ in range(N_SEQS):
        wanted = median * math.exp(random.gauss(0, LENGTH_SPREAD))
        cut = wanted >= MAX_NEW_TOKENS
        prompts.append(min(244, max(62, round(random.gauss(110, 28)))))
        responses.append(MAX_NEW_TOKENS if cut else max(20, round(wanted)))
        truncated.append(cut)
        right.append(not cut and random.random() < skill)
    return Batch(prompts, responses, truncated, right)


def success_rate(random: Random, batch: Batch, skill: float, n: int) -> float:
    """Mean reward of `n` other responses of the same policy."""
    finished = 1 - sum(batch.truncated) / N_SEQS
    return sum(random.random() < skill * finished for _ in range(n)) / n


def mean(numbers: list[int]) -> float:
    """The arithmetic mean; 0 of nothing."""
    return sum(numbers) / len(numbers) if numbers else 0.0


def batch_values(random: Random, batch: Batch) -> dict[str, float]:
    """What AReaL counts on the batch, in its order."""
    lengths = batch.lengths()
    right = sum(batch.right)
    tokens = sum(batch.responses)
    longest = max(lengths)
    return {
        "ppo_actor/n_seqs": N_SEQS,
        "ppo_actor/n_tokens": batch.padded_tokens(),
        "ppo_actor/n_valid_tokens": tokens,
        "ppo_actor/correct_n_seqs": right,
        "ppo_actor/incorrect_n_seqs": N_SEQS - right,
        "ppo_actor/correct_seq_len/avg": mean(
            [n for n, ok in zip(lengths, batch.right, strict=True) if ok]
        ),
        "ppo_actor/incorrect_seq_len/avg": mean(
            [n for n, ok in zip(lengths, batch.right, strict=True) if not ok]
        ),
        "ppo_actor/advantages/avg": random.gauss(0, 0.005),
        "ppo_actor/kl_rewards/avg": 0.0,
        "ppo_actor/final_reward/avg": right / tokens,
        "ppo_actor/no_eos_ratios/avg": batch.without_eos() / N_SEQS,
        "ppo_actor/task_reward/avg": right / N_SEQS,
        "ppo_actor/task_reward/min": 0.0,
        "ppo_actor/task_reward/max": 1.0,
        "ppo_actor/prompt_len/avg": mean(batch.prompts),
        "ppo_actor/seq_len/avg": mean(lengths),
        "ppo_actor/seq_len/min": min(lengths),
        "ppo_actor/seq_len/max": longest,
        "ppo_actor/mask_no_eos_with_zero": 0.0,
        "ppo_actor/eps_clip": 0.2,
    }


def update_values(random: Random, step: int) -> dict[str, float]:
    """What AReaL logs of the gradient step, in its order."""
    drift = abs(random.gauss(0, 0.0002))
    behave = random.gauss(0, 0.002)
    staleness = min(2.6, max(1.0, random.gauss(1.8, 0.25)))
    old_logp = random.gauss(-0.28, 0.004)
    return {
        "ppo_actor/update/importance_weight/avg": 1 + random.gauss(0, 0.0002),
        "ppo_actor/update/importance_weight/max": 1.28 + 8 * drift,
        "ppo_actor/update/approx_kl/avg": -0.0004 - drift,
        "ppo_actor/update/new_logp/avg": old_logp + random.gauss(0.0004, 0.003),
        "ppo_actor/update/old_logp/avg": old_logp,
        "ppo_actor/update/entropy/avg": (0.30 + 0.12 * math.exp(-step / 90))
        * math.exp(random.gauss(0, 0.015)),
        "ppo_actor/update/actor_loss/avg": random.gauss(0, 0.004),
        "ppo_actor/update/clip_ratio/avg": abs(random.gauss(0.0029, 0.0003)),
        "ppo_actor/update/behave_imp_weight/avg": 1 + behave,
        "ppo_actor/update/behave_imp_weight/max": 2.1 + 20 * abs(behave),
        "ppo_actor/update/behave_approx_kl/avg": -0.0009 + random.gauss(0, 0.0003),
        "ppo_actor/update/grad_norm": 0.35 * math.exp(random.gauss(0, 0.1)),
        "ppo_actor/update/lr": 1e-6,
        "ppo_actor/update/update_successful": 1.0,
        "ppo_actor/rs_upper": 5.0,
        "ppo_actor/update/rs_filtered_fraction": random.random() * 2e-4,
        "ppo_actor/update/version_stats/sample_staleness_theta_avg": staleness,
        "ppo_actor/update/version_stats/v_theta": step + 1,
    }


def seconds_of(random: Random, batch: Batch) -> dict[str, float]:
    """How long the parts of a step take: generation waits for its longest response."""
    tokens = mean(batch.lengths())
    parts = {
        "rollout": 7 + 0.005 * max(batch.responses) + 0.008 * tokens,
        "recompute_logp": 1.5 + 0.0016 * tokens,
        "compute_advantage": 0.06,
        "train_step": 6 + 0.0085 * tokens,
        "update_weights": 1.7,
        "save": 0.001,
    }
    return {
        f"timeperf/{part}": seconds * math.exp(random.gauss(0, 0.03))
        for part, seconds in parts.items()
    }


def simulate(recipe: Recipe) -> Iterator[LoggedStep]:
    """The run, step by step; the clock goes on by what each step took."""
    random = Random(recipe.name)
    clock = recipe.started
    for step in range(recipe.steps):
        batch = draw_batch(random, recipe, step)
        skill = recipe.skill(step)
        values = batch_values(random, batch) | update_values(random, step)
        values["rollout/reward"] = success_rate(random, batch, skill, N_SEQS)
        if step % recipe.steps_per_epoch == 0:
            values["eval-rollout/reward"] = success_rate(random, batch, skill - 0.02, EVAL_SEQS)
        seconds = seconds_of(random, batch)
        clock += timedelta(seconds=sum(seconds.values()))
        accepted = tuple(
            (random.randrange(1, 100_000), float(random.random() < skill))
            for _ in range(random.randrange(4))
        )
        warnings = tuple(w for w in WARNINGS if random.random() < 0.02)
        yield LoggedStep(step, clock, values | seconds, accepted, warnings)


def write(recipe: Recipe, folder: Path) -> None:
    """The run's files below `folder`, laid out as AReaL does."""
    steps = list(simulate(recipe))
    trial = folder / recipe.name / "logs" / "root" / "gsm8k-grpo" / recipe.trial
    trial.mkdir(parents=True, exist_ok=True)
    log = text_log(steps, recipe.steps, recipe.steps_per_epoch)
    (trial / "main.log").write_bytes(log.encode())
    config = (HERE / "base_config.yaml").read_text("utf-8")
    board = "/experiments/tensorboard" if recipe.tensorboard else "null"
    config = config.replace("{trial}", recipe.trial).replace("{tensorboard}", board)
    (trial / "config.yaml").write_bytes(config.encode())
    if recipe.tensorboard:
        board_folder = folder / recipe.name / "tensorboard"
        board_folder.mkdir(exist_ok=True)
        name = f"events.out.tfevents.{int(recipe.started.timestamp())}.trainer-0"
        (board_folder / name).write_bytes(event_file(steps, recipe.started))
    about = f"# Made by sample_logs/make_samples.py.\nsteps: {recipe.steps}\n{recipe.about}"
    (folder / recipe.name / "about.yaml").write_bytes(about.encode())


def main(folder: Path) -> None:
    """All sample runs."""
    for recipe in RECIPES:
        write(recipe, folder)
        print(folder / recipe.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
