"""The same run as each framework writes it: names, signs, units, layout and step numbers.

Layouts are those of the frameworks' sources and documentation and of published logs, as
rules/metrics/*.yaml names them; they are written here without the program's readers.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from areal_log import ArealLog, five
from framework_runs import PROMPT, Step

Value = Callable[[Step], float]
Names = Mapping[str, Value]


def of(name: str, scale: float = 1, offset: float = 0) -> Value:
    """A quantity of the step, times a scale and plus an offset."""
    return lambda step: offset + scale * step[name]


@dataclass(frozen=True)
class Format:
    """How a run is written, and which quantities it tells."""

    tells: tuple[str, ...]
    names: Names
    write: Callable[[Path, Sequence[Mapping[str, float]]], None]
    first: int = 1  # number of the first step
    folder: bool = False  # several files of one run

    def save(self, home: Path, run: Sequence[Step]) -> None:
        """Write the run's file, or files, into the folder."""
        home.mkdir(parents=True)
        rows = [{name: value(step) for name, value in self.names.items()} for step in run]
        self.write(home, rows)


AREAL_NAMES: Mapping[str, tuple[str, Value]] = {
    "reward": ("ppo_actor/task_reward/avg", of("reward")),
    "response_length": ("ppo_actor/seq_len/avg", of("response_length", offset=PROMPT)),
    "response_length_max": ("ppo_actor/seq_len/max", of("response_length_max", offset=PROMPT)),
    "truncated": ("ppo_actor/no_eos_ratios/avg", of("truncated")),
    "entropy": ("ppo_actor/update/entropy/avg", of("entropy")),
    "policy_shift": ("ppo_actor/update/approx_kl/avg", of("policy_shift")),
    "clip_ratio": ("ppo_actor/update/clip_ratio/avg", of("clip_ratio")),
    "loss": ("ppo_actor/update/actor_loss/avg", of("loss")),
    "grad_norm": ("ppo_actor/update/grad_norm", of("grad_norm")),
    "lr": ("ppo_actor/update/lr", of("lr")),
}


def areal(home: Path, run: Sequence[Step], tells: Sequence[str]) -> None:
    """main.log with the quantities that another format tells."""
    home.mkdir(parents=True)
    log = ArealLog()
    for place, step in enumerate(run):
        told = {
            name: value(step)
            for quantity, (name, value) in AREAL_NAMES.items()
            if quantity in tells
        }
        told |= {"ppo_actor/task_reward/min": 0, "ppo_actor/task_reward/max": 1}
        log.step(place, five(**told), total=len(run))
    (home / "main.log").write_bytes(log.text())


# --- tables ---------------------------------------------------------------------------------------


def json_lines(home: Path, rows: Sequence[Mapping[str, float]], first: int, wrap: str = "") -> None:
    """One object a step; verl's logger puts the metrics under `data`."""
    with (home / "metrics.jsonl").open("w") as out:
        for step, row in enumerate(rows, first):
            line = {"step": step, wrap: dict(row)} if wrap else {"step": step, **row}
            out.write(json.dumps(line) + "\n")


def as_csv(home: Path, rows: Sequence[Mapping[str, float]], step: str, first: int = 1) -> None:
    """A header and a row a step."""
    with (home / "metrics.csv").open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow([step, *rows[0]])
        table.writerows([number, *row.values()] for number, row in enumerate(rows, first))


def as_parquet(home: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """A column a metric."""
    columns: dict[str, list[float]] = {"step": [float(n) for n in range(len(rows))]}
    columns |= {name: [row[name] for row in rows] for name in rows[0]}
    pq.write_table(pa.table(columns), home / "metrics.parquet")


def trainer_state(home: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """The history of Hugging Face's trainer."""
    history = [{"epoch": n / 60, **row, "step": n} for n, row in enumerate(rows, 1)]
    state = {
        "best_metric": None,
        "epoch": len(rows) / 60,
        "global_step": len(rows),
        "log_history": history,
        "max_steps": len(rows),
    }
    (home / "trainer_state.json").write_text(json.dumps(state, indent=2))


# --- consoles -------------------------------------------------------------------------------------

ACTOR = "\x1b[36m(TaskRunner pid=4711)\x1b[0m "


def text(home: Path, lines: Sequence[str]) -> None:
    """A console's log."""
    (home / "console.log").write_text("".join(f"{line}\n" for line in lines))


def verl(home: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """`step:N - name:value`, some values as numpy writes them, samples between the lines."""
    lines = [f"{ACTOR}Total training steps: {len(rows)}"]
    for step, row in enumerate(rows, 1):
        lines.append(f"{ACTOR}<|im_start|>user\\nHow much is 2 + 2 - 1?<|im_end|>")
        pairs = [
            f"{name}:np.float64({value!r})" if "mean" in name else f"{name}:{value!r}"
            for name, value in row.items()
        ]
        lines.append(f"{ACTOR}step:{step} - {' - '.join(pairs)} - training/global_step:{step}")
    text(home, lines)


def trl(home: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """Dictionaries in carriage-return text, numbers as text, evaluations between."""
    total = len(rows)
    out = [f"\r  0%|          | 0/{total} [00:00<?, ?it/s]"]
    for step, row in enumerate(rows, 1):
        done = f"{step * 100 // total}%|█         | {step}/{total}"
        bar = f"\r {done} [00:{step % 60:02}<1:00, 9.8s/it]"
        shown = {name: repr(value) for name, value in row.items()} | {"epoch": f"{step / 60:.4g}"}
        out.append(f"{bar}\r{' ' * 50}\r{shown}\n{bar}")
        if step % 40 == 0:
            out.append(
                "\r 50%|█    | 2/4 [00:01<00:01, 1.9it/s]\r{'eval_loss': '0.1', 'epoch': '1'}\n"
            )
    (home / "console.log").write_text("".join(out) + "\n")


def openrlhf(home: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """`✨ Global step N: {…}`."""
    text(
        home,
        [
            f"\x1b[36m(PPOTrainer pid=99)\x1b[0m 2026-11-29 14:{n // 60:02}:{n % 60:02} INFO     "
            f"ppo_trainer.py:312] ✨ Global step {n}: {dict(row)}"
            for n, row in enumerate(rows, 1)
        ],
    )


def slime(home: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """Rollouts and two updates each, which are counted on an axis of their own."""
    lines = []
    for n, row in enumerate(rows):
        rollout = {name: value for name, value in row.items() if name.startswith("rollout/")}
        perf = {name: value for name, value in row.items() if name.startswith("perf/")}
        update = {name: value for name, value in row.items() if name.startswith("train/")}
        at = f"[2026-11-29 14:{n // 60:02}:{n % 60:02}]"
        lines.append(f"(RolloutManager pid=7) {at} rollout.py:411 - perf {n}: {perf}")
        lines.append(f"(MegatronTrainRayActor pid=9) {at} data.py:260 - rollout {n}: {rollout}")
        for half in (0, 1):
            shown = update | {"train/step": 2 * n + half}
            lines.append(
                f"(MegatronTrainRayActor pid=9) {at} model.py:520 - step {2 * n + half}: {shown}"
            )
    text(home, lines)


def prime(home: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """Two logs, of trainer and orchestrator, each with a line a step."""
    logs = home / "logs"
    logs.mkdir()
    trainer, orchestrator = [], []
    for n, row in enumerate(rows):
        at = f"14:{n // 60:02}:{n % 60:02}"
        trainer.append(
            f"{at}    INFO Step {n} | Time: {row['time']:.2f}s | Loss: {row['loss']:.4f} | "
            f"Entropy: {row['entropy']:.4f} | Mismatch KL: 0.0004 | "
            f"Grad. Norm: {row['norm']:.4f} | LR: {row['lr']:.2e} | "
            "Throughput: 41234 tokens/s | MFU: 31.2% | "
            "Peak Mem.: 61.4/79.1 GiB (77.6%)"
        )
        orchestrator.append(
            f"{at} SUCCESS Step {n} | Time: {row['time']:.2f}s | Reward: {row['reward']:.4f} | "
            f"Throughput: 20123.1 tokens/s | Seq. Length: {row['length']:.1f} tokens/sample | "
            "Async Level: 1 | Max. Off-Policy Level: 1"
        )
    (logs / "trainer.log").write_text("\n".join(trainer) + "\n")
    (logs / "orchestrator.log").write_text("\n".join(orchestrator) + "\n")


def nemo(home: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """A block of bullets a step; steps are counted within an epoch."""
    lines, per_epoch = [], 60
    for n, row in enumerate(rows):
        epoch, within = divmod(n, per_epoch)
        if within == 0:
            lines.append(f"\n{'=' * 25} Epoch {epoch + 1}/2 {'=' * 25}")
        lines += [
            f"\n{'=' * 25} Step {within + 1}/{per_epoch} {'=' * 25}",
            "▶ Preparing batch...",
            "\n📊 Training Results:",
            f"  • Loss: {row['loss']:.4f}",
            "  • Generation KL Error: 0.0008",
            f"  • Avg Reward: {row['reward']:.4f}",
            f"  • Mean Generation Length: {row['length']:.4f}",
            "\n⏱️  Timing:",
            f"  • Total step time: {row['seconds']:.2f}s",
            f"  • generation: {row['seconds'] / 2:.2f}s (50.0%)",
        ]
    text(home, lines)


def roll(home: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """`metrics_tag: {…}` as JSON."""
    text(
        home,
        [
            f"[2026-11-29 14:{n // 60:02}:{n % 60:02}] [rlvr_pipeline.py (611)] [INFO] "
            f"[DRIVER 0 / 1][PID 88] metrics_tag: {json.dumps({'step': n, 'metrics': dict(row)})}"
            for n, row in enumerate(rows)
        ],
    )


def torchtune(home: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """`Step N | name:value …`"""
    text(
        home,
        [
            f"Step {n} | " + " ".join(f"{name}:{value}" for name, value in row.items())
            for n, row in enumerate(rows, 1)
        ],
    )


def skyrl(home: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """A dictionary over several lines, its numbers as text."""
    lines = []
    for n, row in enumerate(rows, 1):
        shown = ",\n ".join(f"'{name}': '{value:.5g}'" for name, value in row.items())
        at = (
            f"2026-11-29 14:{n // 60:02}:{n % 60:02}.123 | INFO     | skyrl.train.trainer:train:200"
        )
        lines += f"{at} - Step {n}: \n{{{shown}}}".split("\n")
    text(home, lines)


VERL_NAMES: Names = {
    "critic/score/mean": of("reward"),
    "critic/score/min": lambda step: 0,
    "critic/score/max": lambda step: 1,
    "critic/rewards/mean": of("reward"),
    "response_length/mean": of("response_length"),
    "response_length/max": of("response_length_max"),
    "response_length/clip_ratio": of("truncated"),
    "prompt_length/mean": lambda step: PROMPT,
    "actor/entropy": of("entropy"),
    "actor/ppo_kl": of("policy_shift", -1),
    "actor/pg_clipfrac": of("clip_ratio"),
    "actor/pg_loss": of("loss"),
    "actor/grad_norm": of("grad_norm"),
    "actor/lr": of("lr"),
}
TRL_NAMES: Names = {
    "loss": of("loss"),
    "grad_norm": of("grad_norm"),
    "learning_rate": of("lr"),
    "num_tokens": lambda step: 4096.0,
    "completions/mean_length": of("response_length"),
    "completions/max_length": of("response_length_max"),
    "completions/clipped_ratio": of("truncated"),
    "rewards/accuracy/mean": of("reward"),
    "rewards/accuracy/std": lambda step: 0.4,
    "reward": of("reward"),
    "entropy": of("entropy"),
    "clip_ratio/region_mean": of("clip_ratio"),
}
PLAIN_NAMES: Names = {
    "reward": of("reward"),
    "response_length": of("response_length"),
    "response_length_max": of("response_length_max"),
    "truncated_ratio": of("truncated"),
    "entropy": of("entropy"),
    "clip_ratio": of("clip_ratio"),
    "loss": of("loss"),
    "grad_norm": of("grad_norm"),
    "learning_rate": of("lr"),
}
_TRL_TELLS = (
    "reward", "response_length", "response_length_max", "truncated", "entropy",
    "clip_ratio", "loss", "grad_norm", "lr",
)  # fmt: skip
_VERL_TELLS = (*_TRL_TELLS, "policy_shift")

FORMATS: dict[str, Format] = {
    "verl-text": Format(_VERL_TELLS, VERL_NAMES, verl),
    "verl-json-lines": Format(
        _VERL_TELLS, VERL_NAMES, lambda home, rows: json_lines(home, rows, 1, "data")
    ),
    "verl-csv": Format(
        _VERL_TELLS,
        {name.replace("/", "_"): value for name, value in VERL_NAMES.items()},
        lambda home, rows: as_csv(home, rows, "step"),
    ),
    "trl-text": Format(_TRL_TELLS, TRL_NAMES, trl),
    "trl-trainer-state": Format(_TRL_TELLS, TRL_NAMES, trainer_state),
    "openrlhf-text": Format(
        (
            "reward",
            "response_length",
            "truncated",
            "entropy",
            "policy_shift",
            "clip_ratio",
            "loss",
            "grad_norm",
            "lr",
        ),
        {
            "policy_loss": of("loss"),
            "actor_lr": of("lr"),
            "actor_grad_norm": of("grad_norm"),
            "ppo_clip_ratio": of("clip_ratio"),
            "ppo_kl": of("policy_shift", -1),
            "entropy_loss": of("entropy"),
            "reward": of("reward"),
            "response_length": of("response_length"),
            "total_length": of("response_length", offset=PROMPT),
            "rollout/truncated_rate": of("truncated"),
            "rollout/reward_mean": of("reward"),
        },
        openrlhf,
    ),
    "slime-text": Format(
        _VERL_TELLS,
        {
            "rollout/raw_reward": of("reward"),
            "rollout/response_len/mean": of("response_length"),
            "rollout/response_len/max": of("response_length_max"),
            "rollout/total_lengths": of("response_length", offset=PROMPT),
            "rollout/truncated_ratio": of("truncated"),
            "train/entropy_loss": of("entropy"),
            "train/ppo_kl": of("policy_shift", -1),
            "train/pg_clipfrac": of("clip_ratio"),
            "train/pg_loss": of("loss"),
            "train/grad_norm": of("grad_norm"),
            "train/lr-pg_0": of("lr"),
            "perf/step_time": of("seconds"),
        },
        slime,
        first=0,
    ),
    "prime-rl-text": Format(
        ("reward", "response_length", "entropy", "grad_norm", "loss", "lr"),
        {
            "reward": of("reward"),
            "length": of("response_length", offset=PROMPT),
            "entropy": of("entropy"),
            "norm": of("grad_norm"),
            "loss": of("loss"),
            "lr": of("lr"),
            "time": of("seconds"),
        },
        prime,
        first=0,
        folder=True,
    ),
    "nemo-rl-text": Format(
        ("reward", "response_length", "loss"),
        {
            "reward": of("reward"),
            "length": of("response_length"),
            "loss": of("loss"),
            "seconds": of("seconds"),
        },
        nemo,
    ),
    "roll-text": Format(
        (
            "reward",
            "response_length",
            "response_length_max",
            "entropy",
            "clip_ratio",
            "loss",
            "grad_norm",
            "lr",
        ),
        {
            "critic/score/mean": of("reward"),
            "critic/score/min": lambda step: 0,
            "critic/score/max": lambda step: 1,
            "tokens/response_length/mean": of("response_length"),
            "tokens/response_length/max": of("response_length_max"),
            "tokens/prompt_length/mean": lambda step: PROMPT,
            "critic/entropy/mean": of("entropy"),
            "actor/ppo_ratio_clipfrac": of("clip_ratio"),
            "actor/pg_loss": of("loss"),
            "actor/grad_norm": of("grad_norm"),
            "actor/lr": of("lr"),
        },
        roll,
        first=0,
    ),
    "torchtune-text": Format(
        ("reward", "response_length", "clip_ratio", "loss", "grad_norm", "lr"),
        {
            "loss": of("loss"),
            "policy_loss": of("loss"),
            "rewards": of("reward"),
            "response_lengths": of("response_length"),
            "num_stop_tokens": lambda step: 16.0,
            "clipfrac": of("clip_ratio"),
            "approx_policy_kl": lambda step: 0.0001,
            "grad_norm": of("grad_norm"),
            "lr": of("lr"),
        },
        torchtune,
    ),
    "skyrl-text": Format(
        (
            "reward",
            "response_length",
            "response_length_max",
            "entropy",
            "clip_ratio",
            "loss",
            "grad_norm",
            "lr",
        ),
        {
            "reward/avg_raw_reward": of("reward"),
            "reward/avg_pass_at_8": of("reward"),
            "generate/avg_num_tokens": of("response_length"),
            "generate/max_num_tokens": of("response_length_max"),
            "policy/policy_entropy": of("entropy"),
            "policy/ppo_clip_ratio": of("clip_ratio"),
            "policy/policy_loss": of("loss"),
            "policy/raw_grad_norm": of("grad_norm"),
            "policy/policy_lr": of("lr"),
        },
        skyrl,
    ),
    "skyrl-json-lines": Format(
        ("reward", "entropy", "clip_ratio", "grad_norm", "lr"),
        {
            "reward/avg_raw_reward": of("reward"),
            "reward/avg_pass_at_8": of("reward"),
            "policy/policy_entropy": of("entropy"),
            "policy/ppo_clip_ratio": of("clip_ratio"),
            "policy/raw_grad_norm": of("grad_norm"),
            "policy/policy_lr": of("lr"),
        },
        lambda home, rows: json_lines(home, rows, 1),
    ),
    "tinker-json-lines": Format(
        ("reward", "response_length", "entropy", "lr"),
        {
            "env/all/reward/total": of("reward"),
            "env/all/ac_tokens_per_turn": of("response_length"),
            "env/all/ob_tokens_per_turn": lambda step: PROMPT,
            "optim/entropy": of("entropy"),
            "optim/lr": of("lr"),
            "progress/done_frac": lambda step: 0.5,
        },
        lambda home, rows: json_lines(home, rows, 0),
        first=0,
    ),
    "open-instruct-csv": Format(
        (
            "reward",
            "response_length",
            "response_length_max",
            "truncated",
            "entropy",
            "clip_ratio",
            "loss",
            "grad_norm",
        ),
        {
            "objective/verifiable_reward": of("reward"),
            "val/sequence_lengths": of("response_length"),
            "val/sequence_lengths_max": of("response_length_max"),
            "val/stop_rate": of("truncated", -1, 1),
            "policy/entropy_avg": of("entropy"),
            "policy/clipfrac_avg": of("clip_ratio"),
            "loss/policy_avg": of("loss"),
            "optim/grad_norm": of("grad_norm"),
        },
        lambda home, rows: as_csv(home, rows, "training_step"),
    ),
    "plain-json-lines": Format(
        _TRL_TELLS, PLAIN_NAMES, lambda home, rows: json_lines(home, rows, 0), first=0
    ),
    "plain-csv": Format(
        _TRL_TELLS, PLAIN_NAMES, lambda home, rows: as_csv(home, rows, "global_step", 0), first=0
    ),
    "plain-parquet": Format(_TRL_TELLS, PLAIN_NAMES, as_parquet, first=0),
}
