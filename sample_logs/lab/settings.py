"""Everything that can be set about a run, and how it changes while the run goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from analyzer.replay.config import ActorConfig, NormConfig, RejectionConfig
from sample_logs.lab import task
from sample_logs.lab.optimiser import LossScale
from sample_logs.lab.sampling import Sampling


@dataclass(frozen=True)
class Data:
    """What the policy is asked."""

    operations: tuple[str, ...] = task.TAUGHT
    letters: tuple[int, int] = (3, 5)
    prompts: int = 16
    """Prompts of a batch."""
    group_size: int = 8
    """Responses of a prompt."""
    prompt_trained: int = 0
    """Tokens of each prompt, the last ones, that the workflow leaves in the loss mask."""


@dataclass(frozen=True)
class Reward:
    """What a response earns."""

    right: float = 1.0
    formed: float = 0.0
    """For one `>` and an end, right or wrong."""
    ordered: float = 0.0
    """For letters in alphabetical order, whatever was asked."""
    each_token: float = 0.0
    """For every token, right or wrong."""
    begun: float = 0.0
    """For the beginning of the answer, or an empty one: a careless comparison by prefix."""
    timeouts: float = 0.0
    """Share of responses whose verifier runs out of time, so that they earn nothing."""


@dataclass(frozen=True)
class Asynchrony:
    """How far the rollout engine is behind the trainer."""

    lag: int = 2
    """Versions that the engine's weights are behind."""
    bound: int = 2
    """`max_head_offpolicyness` as configured."""
    lag_after_restart: int | None = None
    """Another lag where the process has been restarted."""
    interrupts: bool = True
    """Whether generation is interrupted for the next version and goes on with it."""


@dataclass(frozen=True)
class Training:
    """The optimiser and what is done to its numbers."""

    lr: float = 3e-7
    warmup_steps: int = 10
    weight_decay: float = 0.01
    gradient_clipping: float = 1.0
    entropy_bonus: float = 0.0
    dropout: float = 0.0
    """Left on in the trainer's forward pass of the update, off in that of the proximal policy."""
    half: LossScale | None = None
    reference: bool = False
    """Whether there is a reference model, the warm start."""


@dataclass(frozen=True)
class Events:
    """What happens to the process."""

    crash_at: int | None = None
    """It ends in an error after this step and starts again from its last recovery state."""
    exception: str = "RuntimeError: CUDA error: uncorrectable NVLink error"
    restart_at: int | None = None
    """It is stopped after this step, in order, and started again from there."""
    killed_at: int | None = None
    """It ends after this step without a word."""
    error_at: int | None = None
    """It ends in an error after this step and stays away."""
    loses_optimiser: bool = False
    """A restart leaves the optimiser's moments behind, as `recover.no_load_optim` has it."""
    recover_every: int = 20
    stall: float = 0.0
    """Seconds that rollouts keep the trainer waiting beyond what they take."""
    slowdown: float = 1.0
    """Factor on the time of rollouts."""


@dataclass(frozen=True)
class Filter:
    """Groups whose responses all earn the same are replaced by others (Yu et al., 2025, DAPO)."""

    rounds: int = 3
    """Batches sampled at most for one training batch."""


@dataclass(frozen=True)
class Change:
    """Fields that take other values from a step on, as `part.field` or `part`."""

    step: int
    values: Mapping[str, Any]


SAMPLING = Sampling()
ACTOR = ActorConfig(
    use_decoupled_loss=True,
    recompute_logprob=True,
    prox_logp_method="recompute",
    rejection_sampling=RejectionConfig(),
    reward_norm=NormConfig(mean_level="group", std_level="group", group_size=8),
    adv_norm=NormConfig(),
    kl_ctl=0.0,
    max_new_tokens=SAMPLING.max_new_tokens,
    ppo_n_minibatches=1,
)


@dataclass(frozen=True)
class Written:
    """What the run leaves on disk beside main.log and config.yaml; 0 is never."""

    tensorboard: bool = False
    dumps_every: int = 0
    """Steps between two dumped batches of rollouts."""
    recorded_every: int = 0
    """Steps between two recorded batches; the policies they need are kept as checkpoints."""
    checkpoints_every: int = 0


@dataclass(frozen=True)
class Settings:
    """A run."""

    name: str = "healthy"
    seed: int = 1
    steps: int = 160
    steps_per_epoch: int = 20
    warm_start: str = "tiny"
    data: Data = Data()
    test_data: Data = Data(prompts=128, group_size=1)
    sampling: Sampling = SAMPLING
    reward: Reward = Reward()
    asynchrony: Asynchrony = Asynchrony()
    actor: ActorConfig = ACTOR
    training: Training = Training()
    events: Events = Events()
    filter: Filter | None = None
    eval_every: int = 8
    written: Written = Written()
    changes: tuple[Change, ...] = ()
    conventions: str = "areal-2026-08"

    def at(self, step: int) -> Settings:
        """The settings that hold at a step: with all changes up to it."""
        found = self
        for change in self.changes:
            if step >= change.step:
                found = with_values(found, change.values)
        return found

    @property
    def rows(self) -> int:
        """Sequences of a batch."""
        return self.data.prompts * self.data.group_size


def with_values(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """Settings with some fields replaced, named as `part.field` or `part`."""
    for name, value in values.items():
        part, _, field = name.partition(".")
        if not field:
            settings = replace(settings, **{part: value})
            continue
        old = getattr(settings, part)
        if isinstance(old, ActorConfig):
            new: Any = ActorConfig.model_validate(old.model_dump() | {field: value})
        else:
            new = replace(old, **{field: value})
        settings = replace(settings, **{part: new})
    return settings
