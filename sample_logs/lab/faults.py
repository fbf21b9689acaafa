"""Faults as data: what is put into a run, from which step, and what a diagnosis has to say of it.

A fault is caused, not drawn: fields of the settings are set, and the trainer does the rest. What
must and must not be found was mostly written down from what the fault is, before any rule had seen
a run of it. Strengths were chosen on single runs of seeds 1 and 11, so that the fault shows itself,
and some labels were set right after such a run.
"""

from __future__ import annotations

from sample_logs.lab.optimiser import LossScale
from sample_logs.lab.scenario import Scenario
from sample_logs.lab.settings import Change, Filter
from sample_logs.lab.task import TAUGHT

HOPELESS = ("shift",)


def _ever_harder(every: int, *parts: int) -> tuple[Change, ...]:
    """Every some steps another number of hopeless prompts on eighteen others."""
    return tuple(
        Change((number + 1) * every, {"data.operations": TAUGHT * 6 + HOPELESS * part})
        for number, part in enumerate(parts)
    )


LENGTH = (
    Scenario(
        "length_truncation",
        "The reward pays for every token, right or wrong: responses grow into max_new_tokens, and "
        "those that are cut no longer answer.",
        base={"sampling.max_new_tokens": 20},
        mild={"reward.each_token": 0.06},
        strong={"reward.each_token": 0.12},
        must_find=("length-driven-truncation|truncation",),
    ),
    Scenario(
        "max_new_tokens_small",
        "max_new_tokens is below the shortest form of many answers: however the policy adapts, "
        "they are cut. Mild: those of the longest prompts; strong: all.",
        base={"data.letters": (5, 8), "test_data.letters": (5, 8)},
        mild={"sampling.max_new_tokens": 10},
        strong={"sampling.max_new_tokens": 9, "data.letters": (8, 8)},
        must_find=("truncation|length-driven-truncation|all-truncated-no-reward",),
    ),
    Scenario(
        "length_paid",
        "The reward pays for every token, right or wrong, and there is room to grow.",
        base={"sampling.max_new_tokens": 64},
        mild={"reward.each_token": 0.02},
        strong={"reward.each_token": 0.06},
        must_find=("length-growth|length-driven-truncation",),
    ),
)

POLICY = (
    Scenario(
        "minibatches",
        "Many updates from each batch move the policy away from the proximal one.",
        mild={"actor.ppo_n_minibatches": 10},
        strong={"actor.ppo_n_minibatches": 16},
        must_find=("importance-weight-drift",),
        must_not=("importance-weight-nondeterminism",),
    ),
    Scenario(
        "nondeterminism",
        "Dropout stays on in the update's forward pass and is off in that of the proximal policy: "
        "with one minibatch the importance weight is not 1.",
        mild={"training.dropout": 0.01},
        strong={"training.dropout": 0.03},
        must_find=("importance-weight-nondeterminism|mismatch-offset",),
        must_not=("importance-weight-drift",),
    ),
    Scenario(
        "stale_rejected",
        "Rollouts of a policy many versions old, with rejection sampling.",
        mild={"asynchrony.lag": 12, "asynchrony.bound": 12},
        strong={"asynchrony.lag": 32, "asynchrony.bound": 32},
        base={"training.lr": 8e-7},
        must_find=("behave-weight-drift|rejected-fraction-high",),
    ),
    Scenario(
        "stale_unrejected",
        "Rollouts of a policy many versions old, and nothing that corrects for it.",
        mild={"asynchrony.lag": 12, "asynchrony.bound": 12},
        strong={"asynchrony.lag": 32, "asynchrony.bound": 32},
        base={"training.lr": 8e-7, "actor.rejection_sampling": None},
        must_find=("decoupled-without-rejection|behave-weight-missing",),
    ),
    Scenario(
        "engine_precision",
        "The rollout engine holds its weights in eight bits, the trainer in 32.",
        mild={"sampling.dtype": "float8_e4m3fn"},
        strong={"sampling.dtype": "float8_e5m2"},
        must_find=("mismatch-offset",),
        must_not=("mismatch-slope",),
    ),
    Scenario(
        "top_p",
        "Responses are sampled from a nucleus, the trainer takes them for samples of the policy.",
        mild={"sampling.top_p": 0.95},
        strong={"sampling.top_p": 0.8},
        must_find=("sampling-truncated|mismatch-offset",),
        must_not=("mismatch-slope",),
    ),
    Scenario(
        "prompt_trained",
        "The loss mask takes in tokens of the prompt, which no policy sampled: their behaviour "
        "log-probs are 0.",
        mild={"data.prompt_trained": 2},
        strong={"data.prompt_trained": 8},
        must_find=("mismatch-offset|behave-weight-drift",),
        must_not=("mismatch-slope",),
    ),
    Scenario(
        "entropy_bonus",
        "A bonus for entropy that outweighs the reward.",
        mild={"training.entropy_bonus": 0.35},
        strong={"training.entropy_bonus": 0.4},
        since=40,
        must_find=("entropy-explosion",),
    ),
    Scenario(
        "kl_without_reference",
        "kl_ctl without a reference model: unlikely tokens are paid for.",
        mild={"actor.kl_ctl": 0.03},
        strong={"actor.kl_ctl": 0.1},
        must_find=("kl-without-reference|kl-reward-positive",),
    ),
)

OPTIMISER = (
    Scenario(
        "lr_high",
        "A learning rate far above what the policy bears, reached over 40 steps.",
        base={"training.warmup_steps": 40},
        mild={"training.lr": 1.2e-6},
        strong={"training.lr": 5e-6},
        must_find=("learning-rate-high|reward-collapse|reward-stagnation",),
    ),
    Scenario(
        "nan_gradient",
        "Gradients in float16 under a loss scale that only grows: they overflow, and every update "
        "from then on is skipped. Mild: the scale comes down again, one update in some is lost.",
        mild={"training.half": LossScale(start=2.0**8, growth_every=4)},
        strong={"training.half": LossScale(start=2.0**4, growth_every=5, shrinks=False)},
        must_find=("grad-nonfinite|update-skipped",),
    ),
    Scenario(
        "optimiser_lost",
        "A restart that leaves the optimiser's moments behind: `recover.no_load_optim` is on.",
        base={"events.crash_at": 85},
        mild={"events.loses_optimiser": True},
        strong={"events.loses_optimiser": True, "training.lr": 6e-7},
        must_find=("optimizer-lost-on-resume",),
    ),
)

REWARD = (
    Scenario(
        "batch_small",
        "Two prompts a batch: the reward is mostly noise.",
        base={"test_data.prompts": 64},
        mild={"data.prompts": 4},
        strong={"data.prompts": 2},
        must_find=("reward-high-variance",),
    ),
    Scenario(
        "data_hard",
        "Prompts that no policy here can solve.",
        mild={"data.operations": (*HOPELESS * 30, "copy"), "test_data.operations": HOPELESS},
        strong={"data.operations": HOPELESS, "test_data.operations": HOPELESS},
        must_find=("reward-stagnation|reward-constant|zero-signal-groups",),
    ),
    Scenario(
        "data_solved",
        "Prompts that nearly every response solves: groups agree, and nothing is learned.",
        base={"data.prompts": 8, "training.lr": 6e-7, "written.dumps_every": 5},
        mild={
            "data.operations": ("copy",),
            "data.letters": (2, 2),
            "test_data.operations": ("copy",),
            "test_data.letters": (2, 2),
            "training.lr": 3e-7,
        },
        strong={
            "data.operations": ("copy",),
            "data.letters": (2, 2),
            "test_data.operations": ("copy",),
            "test_data.letters": (2, 2),
        },
        # Batches are never equal throughout, which is what zero-signal-groups is about; groups are.
        must_find=("zero-signal-groups|groups-without-spread|prompts-always-solved",),
        must_not=("reward-stagnation", "reward-collapse"),
    ),
    Scenario(
        "train_unlike_test",
        "Ever more training prompts are beyond the policy, while the test set is what the others "
        "teach: the test reward rises, the training reward stands still.",
        mild={"changes": _ever_harder(30, 3, 5, 7, 9), "training.lr": 2e-7},
        strong={"changes": _ever_harder(14, 2, 4, 5, 6, 7, 7, 8, 8, 9)},
        must_find=("train-flat-eval-up",),
    ),
    Scenario(
        "empty_answer_paid",
        "A careless comparison takes the beginning of an answer for the answer, down to none.",
        mild={"reward.begun": 0.9},
        strong={"reward.begun": 1.0},
        since=40,
        must_find=("reward-jump-length-drop|generalization-gap",),
    ),
    Scenario(
        "format_paid",
        "The reward for form wants letters in alphabetical order, whatever was asked, and "
        "outweighs that for the right answer.",
        mild={"reward.right": 0.5, "reward.ordered": 0.7},
        strong={"reward.right": 0.2, "reward.ordered": 1.0},
        must_find=("reward-components-conflict",),
    ),
    Scenario(
        "dead_groups",
        "All responses of a prompt draw the same random numbers: they are equal, and so are their "
        "rewards. Mild: from step 100 on.",
        mild={"changes": (Change(100, {"sampling.seed_rows": 8}),)},
        strong={"sampling.seed_rows": 8},
        must_find=("zero-signal-groups",),
    ),
    Scenario(
        "filter_starves",
        "Dynamic filtering on data of which most is beyond the policy: few groups pass, rollouts "
        "take longer, batches shrink.",
        mild={"filter": Filter(3), "data.operations": (*TAUGHT, *HOPELESS * 7)},
        strong={"filter": Filter(5), "data.operations": (*TAUGHT, *HOPELESS * 27)},
        must_find=("filter-gap",),
    ),
    Scenario(
        "reward_timeouts",
        "The verifier runs out of time: right answers earn nothing.",
        mild={"reward.timeouts": 0.03},
        strong={"reward.timeouts": 0.25},
        since=60,
        must_find=("reward-timeouts",),
    ),
)

PROCESS = (
    Scenario(
        "stale_after_resume",
        "After a restart the rollout engine keeps the weights it started with.",
        base={"events.crash_at": 65},
        mild={"asynchrony.lag_after_restart": 8},
        strong={"asynchrony.lag_after_restart": 1000},
        must_find=("staleness-over-bound",),
    ),
    Scenario(
        "crash_restart",
        "A CUDA error, and recovery from the last saved step: steps overlap.",
        mild={"events.crash_at": 87},
        strong={"events.crash_at": 97},
        must_find=("crash-and-restart",),
    ),
    Scenario(
        "crashed",
        "A CUDA error at step 110, and no restart.",
        mild={"events.error_at": 130},
        strong={"events.error_at": 110},
        must_find=("crashed",),
        must_not=("killed-silently",),
    ),
    Scenario(
        "out_of_memory",
        "The trainer runs out of GPU memory at step 110.",
        base={
            "events.exception": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate "
            "9.27 GiB. GPU 0 has a total capacity of 79.11 GiB of which 3.12 GiB is free."
        },
        mild={"events.crash_at": 110},
        strong={"events.error_at": 110},
        must_find=("out-of-memory",),
        must_not=("killed-silently",),
    ),
    Scenario(
        "killed",
        "The process ends at step 110 without a word.",
        mild={"events.killed_at": 140},
        strong={"events.killed_at": 110},
        must_find=("killed-silently",),
        must_not=("crashed",),
    ),
    Scenario(
        "rollout_stall",
        "Rollouts keep the trainer waiting for minutes at one step; strong: for an hour at three.",
        mild={"events.stall": 900.0},
        strong={"events.stall": 3600.0},
        since=80,
        until=83,
        must_find=("stall",),
    ),
    Scenario(
        "rollouts_slow",
        "From one step on rollouts take twice, strong: four times as long.",
        mild={"events.slowdown": 2.0},
        strong={"events.slowdown": 4.0},
        since=80,
        must_find=("step-time-regression",),
    ),
)

FAULTS = (*LENGTH, *POLICY, *OPTIMISER, *REWARD, *PROCESS)
