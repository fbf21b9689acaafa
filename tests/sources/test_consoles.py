"""Consoles of other trainers, written by hand as their sources and published logs print them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reading import Got, read, read_in_pieces

from analyzer.sources.console_formats import CONSOLES, Console
from analyzer.sources.readers import reader_of

ACTOR = "\x1b[36m(TaskRunner pid=4711)\x1b[0m "

TENSOR = "actor/grad_norm:tensor(2., device='cuda:0')"
TRAINER = "(MegatronTrainRayActor pid=9) [2026-11-29 14:00:01]"

VERL = f"""\
{ACTOR}{{'actor_rollout_ref': {{'actor': {{'ppo_mini_batch_size': 64,
{ACTOR}                                 'wandb_api_key': 'abcdef'}},
(WorkerDict pid=9) a warning of another process
{ACTOR}                       'rollout': {{'n': 8}}}},
{ACTOR} 'data': {{'max_response_length': 1024}}}}
{ACTOR}Total training steps: 12
{ACTOR}step:0 - val-core/gsm8k/reward/mean@1:np.float64(0.5)
{ACTOR}What is step: 3 - 1? The answer - as step:2 says: 4
{ACTOR}step:1 - actor/entropy:0.625 - critic/score/mean:np.float64(0.25) - actor/lr:1e-06 - x:nan
{ACTOR}step:2 - actor/entropy:np.float32(0.5) - critic/score/mean:-0.125 - y:text - {TENSOR}
"""

TRL = (
    "loading:  50%|█  | 1/2 [00:01<00:01,  1.0s/it]\n"
    "\r  0%|          | 0/20 [00:00<?, ?it/s]\r 10%|█         | 2/20 [00:20<03:00, 10.1s/it]"
    "\r                              \r{'loss': '0.25', 'reward': 0.5, 'epoch': '0.1'}\n"
    "\r 10%|█         | 2/20 [00:20<03:00, 10.1s/it]\r 20%|██        | 4/20 [00:40<02:40, 9.9s/it]"
    "\r                              \r{'loss': -0.125, 'reward': 1e-1, 'epoch': 0.2}\n"
    "\r 50%|█████     | 1/2 [00:01<00:01,  1.0it/s]"
    "\r{'eval_loss': 0.75, 'epoch': 0.2}\n"
    "{'loss': 0.5, 'reward': nan, 'epoch': 0.3}\n"
    "{'train_runtime': 61.5, 'train_loss': 0.1, 'epoch': 0.3}\n"
)

OPENRLHF = (
    "(PPOTrainer pid=9) 2026-11-29 14:58:07 INFO     ppo_trainer.py:312] ✨ Global step 1: "
    "{'policy_loss': 0.5, 'actor_lr': 1e-06, 'generated_samples': ['a: 3', 0.1]}\n"
    "(PPOTrainer pid=9) ✨ Global step 1, eval\n"
    "(PPOTrainer pid=9) global_step 1, eval_metrics: {'eval_gsm8k_pass1': 0.25}\n"
)

SLIME = f"""\
(RolloutManager pid=7) [2026-11-29 14:00:00] rollout.py:411 - perf 0: {{'perf/rollout_time': 12.5}}
{TRAINER} data.py:260 - rollout 0: {{'rollout/raw_reward': 0.5}}
{TRAINER} model.py:520 - step 0: {{'train/loss': 0.25, 'train/step': 0}}
{TRAINER} model.py:520 - step 1: {{'train/loss': 0.75, 'train/step': 1}}
(RolloutManager pid=7) [2026-11-29 14:00:04] rollout.py:411 - eval 0: {{'eval/aime': 0.125}}
{TRAINER} data.py:260 - rollout 1: {{'rollout/raw_reward': 0.625}}
{TRAINER} model.py:520 - step 2: {{'train/loss': 1.5, 'train/step': 2}}
"""

PRIME = """\
14:00:00    INFO Micro Step 0/4 | Loss: 9.0
14:00:00    INFO Step 0 | Time: 12.50s | Loss: 0.0125 | Grad. Norm: 0.25 | LR: 1e-06 | MFU: 31.2%
14:00:00 SUCCESS Step 1 | 12.5s | Reward 0.5000 | Seq. Length 400.5 | Async Level 1
"""

NEMO = """\
========================= Epoch 1/2 =========================
========================= Step 1/2 =========================
📊 Training Results:
  • Loss: 0.0125
  • Avg Reward: 0.5000
  • Mean Generation Length: 400.5000
⏱️  Timing:
  • Total step time: 61.50s
  • generation: 30.25s (49.2%)
========================= Step 2/2 =========================
📊 Validation Results:
    • Accuracy: 0.2500
📊 Training Results:
  • Avg Reward: 0.6250
========================= Epoch 2/2 =========================
========================= Step 1/2 =========================
📊 Training Results:
  • Avg Reward: 0.7500
"""

ROLL = (
    "[2026-11-29 14:00:00] [rlvr_pipeline.py (611)] [INFO] [DRIVER 0 / 1][PID 88] metrics_tag: "
    '{"step": 3, "metrics": {"critic/score/mean": 0.5, "actor/lr": 1e-06}}\n'
)

TORCHTUNE = "Step 1 | loss:0.25 rewards:0.5 num_stop_tokens:16.0\nStep 2 | loss:nan rewards:-1.5\n"

SKYRL = """\
2026-11-29 14:00:00.123 | INFO     | skyrl.train.trainer:train:200 - Step 1:\x20
{'policy/policy_lr': '1e-06',
 'reward/avg_raw_reward': '0.5'}
2026-11-29 14:00:09.123 | INFO     | skyrl.train.trainer:train:200 - Step 2:\x20
{'reward/avg_raw_reward': '0.625'}
"""

TEXTS = {
    "verl-text": VERL,
    "trl-text": TRL,
    "openrlhf-text": OPENRLHF,
    "slime-text": SLIME,
    "prime-rl-text": PRIME,
    "nemo-rl-text": NEMO,
    "roll-text": ROLL,
    "torchtune-text": TORCHTUNE,
    "skyrl-text": SKYRL,
}


def console(name: str) -> Console:
    return next(c for c in CONSOLES if c.format == name)


def of(tmp_path: Path, name: str, text: str | None = None) -> Got:
    path = tmp_path / "console.log"
    path.write_text(TEXTS[name] if text is None else text, encoding="utf-8", newline="")
    return read(console(name), path)


def values(got: Got) -> dict[int, dict[str, str]]:
    """Step → name → value as text, so that nan equals nan."""
    out: dict[int, dict[str, str]] = {}
    for _, step, _, name, value in got.rows:
        out.setdefault(step, {})[name] = f"{value:g}"
    return out


def test_every_console_has_a_text_here() -> None:
    assert sorted(TEXTS) == sorted(c.format for c in CONSOLES)


@pytest.mark.parametrize("name", TEXTS)
def test_each_text_is_known_as_what_it_is(tmp_path: Path, name: str) -> None:
    path = tmp_path / "console.log"
    path.write_text(TEXTS[name], encoding="utf-8", newline="")
    reader = reader_of(path)
    assert reader is not None
    assert reader.format == name


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_read_as_it_grows_is_the_same(tmp_path: Path, name: str) -> None:
    data = TEXTS[name].encode()
    path = tmp_path / "console.log"
    path.write_bytes(data)
    whole = read(console(name), path)
    for cut in range(1, len(data), 7):
        got = read_in_pieces(console(name), path, data, [cut])
        assert str(got.metrics) == str(whole.metrics)
        assert got.kinds() == whole.kinds()
        assert got.config == whole.config
        assert got.facts == whole.facts


def test_verl(tmp_path: Path) -> None:
    got = of(tmp_path, "verl-text")
    assert values(got) == {
        0: {"val-core/gsm8k/reward/mean@1": "0.5"},
        1: {"actor/entropy": "0.625", "critic/score/mean": "0.25", "actor/lr": "1e-06", "x": "nan"},
        2: {"actor/entropy": "0.5", "critic/score/mean": "-0.125", "actor/grad_norm": "2"},
    }
    assert (got.facts.framework, got.facts.total_steps) == ("verl", 12)
    told = {key: json.loads(value) for key, value in got.config.items()}
    assert told["data.max_response_length"] == 1024
    assert told["actor_rollout_ref.rollout.n"] == 8
    assert told["actor_rollout_ref.actor.ppo_mini_batch_size"] == 64
    assert "abcdef" not in str(got.config)


def test_a_verl_run_that_went_back_to_its_checkpoint(tmp_path: Path) -> None:
    steps = [1, 2, 3, 2, 3]
    got = of(tmp_path, "verl-text", "".join(f"step:{n} - a:{n}.5 - b:1\n" for n in steps))
    assert [row[:2] for row in got.rows if row[3] == "a"] == [
        (0, 1), (0, 2), (0, 3), (1, 2), (1, 3),
    ]  # fmt: skip


def test_a_record_that_is_printed_twice_counts_once(tmp_path: Path) -> None:
    line = "step:1 - a:1.5 - b:2\n"
    assert len(of(tmp_path, "verl-text", ACTOR + line + line).rows) == 2


def test_trl(tmp_path: Path) -> None:
    got = of(tmp_path, "trl-text")
    assert values(got) == {
        2: {"loss": "0.25", "reward": "0.5", "epoch": "0.1"},
        4: {"loss": "-0.125", "reward": "0.1", "epoch": "0.2", "eval_loss": "0.75"},
        6: {"loss": "0.5", "reward": "nan", "epoch": "0.3"},  # no bar: as far as the last two
    }
    assert {row[0] for row in got.rows} == {0}
    assert (got.facts.framework, got.facts.total_steps, got.facts.finished) == ("trl", 20, True)
    assert got.kinds() == ["counted-steps"]


def test_openrlhf(tmp_path: Path) -> None:
    got = of(tmp_path, "openrlhf-text")
    told = values(got)[1]
    assert told["train/policy_loss"] == "0.5"
    assert told["train/actor_lr"] == "1e-06"
    assert told["eval/eval_gsm8k_pass1"] == "0.25"


def test_slime_has_one_axis(tmp_path: Path) -> None:
    got = of(tmp_path, "slime-text")
    assert values(got) == {
        0: {
            "perf/rollout_time": "12.5",
            "rollout/raw_reward": "0.5",
            "train/loss": "0.5",  # the mean of its two updates
            "train/step": "0.5",
            "eval/aime": "0.125",
        },
        1: {"rollout/raw_reward": "0.625", "train/loss": "1.5", "train/step": "2"},
    }
    assert {row[0] for row in got.rows} == {0}
    assert {row[2] for row in got.rows if row[3] == "train/loss"} == {1, 2}


def test_prime_rl(tmp_path: Path) -> None:
    assert values(of(tmp_path, "prime-rl-text")) == {
        0: {
            "time/step": "12.5",
            "loss/mean": "0.0125",
            "optim/grad_norm": "0.25",
            "optim/lr": "1e-06",
            "perf/mfu": "31.2",
        },
        1: {"reward/mean": "0.5", "seq_len/mean": "400.5", "async_level": "1"},
    }


def test_nemo_rl_counts_on_over_epochs(tmp_path: Path) -> None:
    assert values(of(tmp_path, "nemo-rl-text")) == {
        1: {
            "train/loss": "0.0125",
            "train/reward": "0.5",
            "train/mean_gen_tokens_per_sample": "400.5",
            "timing/train/total_step_time": "61.5",
            "timing/train/generation": "30.25",
        },
        2: {"validation/accuracy": "0.25", "train/reward": "0.625"},
        3: {"train/reward": "0.75"},
    }


def test_roll_torchtune_and_skyrl(tmp_path: Path) -> None:
    assert values(of(tmp_path, "roll-text")) == {
        3: {"critic/score/mean": "0.5", "actor/lr": "1e-06"}
    }
    assert values(of(tmp_path, "torchtune-text")) == {
        1: {"loss": "0.25", "rewards": "0.5", "num_stop_tokens": "16"},
        2: {"loss": "nan", "rewards": "-1.5"},
    }
    assert values(of(tmp_path, "skyrl-text")) == {
        1: {"policy/policy_lr": "1e-06", "reward/avg_raw_reward": "0.5"},
        2: {"reward/avg_raw_reward": "0.625"},
    }


def test_copies_of_a_console_have_the_same_marks(tmp_path: Path) -> None:
    first, second, other = tmp_path / "a", tmp_path / "b", tmp_path / "c"
    first.write_text(VERL)
    second.write_text(VERL.replace(ACTOR, ""))
    other.write_text(VERL.replace("0.625", "0.626"))
    reader = console("verl-text")
    assert reader.kin(first) == reader.kin(second)
    assert len(reader.kin(first).marks) == 3
    assert len(reader.kin(first).marks & reader.kin(other).marks) == 2


@pytest.mark.parametrize(
    "text",
    ["Step 1 of 3\n", "rollout 3 is done\n", "step: 3 - done\n", "{'a': 1}\n", "epoch 1: loss 3\n"],
)
def test_other_text_is_of_no_trainer(tmp_path: Path, text: str) -> None:
    path = tmp_path / "console.log"
    path.write_text(text * 20)
    assert reader_of(path) is None
