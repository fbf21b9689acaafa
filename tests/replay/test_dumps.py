"""What trainers dump anyway: read as far as it goes, with the reason where it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import needs_torch  # noqa: F401
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from golden_cases import FOLDER, bundle_of, find
from recorded_batches import golden_config, golden_tensors
from ruamel.yaml import YAML

from analyzer.cli import run_command
from analyzer.errors import ExitCode, RunError
from analyzer.replay.dumps.dump import PARTS, Dump
from analyzer.replay.dumps.readers import READERS, is_dump, read_dump
from analyzer.replay.dumps.summary import summary
from analyzer.replay.insights import insights
from analyzer.replay.stage0 import replay_batch

CASE = "areal-2026-05/case_28"
LATER = "areal-2026-08/case_10"


def saved(path: Path, content: Any) -> Path:
    torch.save(content, path)
    return path


def jsonl(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def parquet(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def read(path: Path) -> Dump:
    assert is_dump(path)
    taken = [reader.format for reader in READERS if reader.sniff(path)]
    assert len(taken) == 1
    dump = read_dump(path)
    assert dump.format == taken[0]
    assert set(dump.lacks) | dump.allows == set(PARTS)
    return dump


def fault(path: Path) -> str:
    with pytest.raises(RunError) as caught:
        read_dump(path)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(str(path))
    return text


# AReaL's tensors


def test_areal_tensors(tmp_path: Path) -> None:
    dump = read(saved(tmp_path / "batch.pt", golden_tensors(CASE)))
    assert dump.format == "AReaL tensors"
    assert dump.allows == {"rewards", "weights", "stage-1"}
    assert dump.lacks["groups"] == "it is one batch, not a list of trajectories"
    assert "lay AReaL's config.yaml beside it" in dump.lacks["stage-0"]
    assert dump.rewards == golden_tensors(CASE)["rewards"].tolist()
    complete = bundle_of(find(CASE))
    found = replay_batch(complete, complete.conventions())
    expected = insights(complete, found, complete.conventions()).behave
    assert summary(dump).weights == expected


def test_areal_tensors_with_a_configuration_beside(tmp_path: Path) -> None:
    path = saved(tmp_path / "batch.pt", golden_tensors(CASE))
    config = {"actor": golden_config(CASE)["actor"] | {"optimizer": {"lr": 1e-5}}, "seed": 1}
    with (tmp_path / "config.yaml").open("w") as file:
        YAML().dump(config, file)
    dump = read(path)
    assert dump.allows == {"rewards", "weights", "stage-0", "stage-1"}
    assert dump.bundle is not None
    found = replay_batch(dump.bundle, dump.bundle.conventions())
    expected = json.loads((FOLDER / find(CASE) / "expected.json").read_text("utf-8"))
    assert found.loss == pytest.approx(expected["loss"], abs=1e-6)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("actor: {eps_clip: wide}\n", "config.yaml beside it: actor.eps_clip: "),
        ("actor: [\n", "config.yaml beside it cannot be read"),
    ],
)
def test_a_configuration_that_does_not_fit_is_a_reason(
    tmp_path: Path, config: str, reason: str
) -> None:
    path = saved(tmp_path / "batch.pt", golden_tensors(CASE))
    (tmp_path / "config.yaml").write_text(config, "utf-8")
    assert reason in read(path).lacks["stage-0"]


def test_areal_trajectories_are_groups(tmp_path: Path) -> None:
    whole = golden_tensors(LATER)
    parts = [
        {name: tensor[rows, :width] if tensor.dim() == 2 else tensor[rows]
         for name, tensor in whole.items()}
        for rows, width in ((slice(0, 3), 32), (slice(3, 8), 30))
    ]  # fmt: skip
    parts[1]["rewards"] = torch.ones(5)
    parts[0]["rewards"] = torch.tensor([0.0, 0.0, 1.0])
    dump = read(saved(tmp_path / "batch.pt", parts))
    assert dump.groups == [0, 0, 0, 1, 1, 1, 1, 1]
    groups = summary(dump).groups
    assert groups is not None
    assert (groups.count, groups.zero_variance) == (2, 1)
    assert dump.batch is not None
    assert dump.batch["input_ids"].shape == (8, 32)
    assert not bool(dump.batch["attention_mask"][3:, 30:].any())


def test_a_copy_of_the_behaviour_log_probs_gives_no_weights(tmp_path: Path) -> None:
    tensors = golden_tensors(CASE)
    tensors["prox_logp"] = torch.roll(tensors["logprobs"], -1, dims=-1)
    dump = read(saved(tmp_path / "batch.pt", tensors))
    assert dump.lacks["weights"] == "prox_logp is a copy of the log-probs of inference"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rewards": None}, "lacks rewards"),
        ({"rewards": torch.zeros(7)}, "rewards has shape [7], not [B] = [8]"),
        ({"input_ids": torch.zeros(8)}, "input_ids has shape [8]"),
        ({"input_ids": 3}, "is not laid out as AReaL tensors"),
        ({"attention_mask": torch.zeros(8, 32)}, "not padded on the right alone"),
    ],
)
def test_areal_tensors_that_do_not_fit(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    assert message in fault(saved(tmp_path / "batch.pt", golden_tensors(CASE) | change))


# slime


def sample(index: int, group: int, reward: Any, status: str, **more: Any) -> dict[str, Any]:
    """A slime Sample.to_dict(), two prompt and three response tokens."""
    return {
        "group_index": group,
        "index": index,
        "prompt": "p",
        "tokens": [5, 6, 7, 8, 9],
        "response": "r",
        "response_length": 3,
        "label": None,
        "reward": reward,
        "loss_mask": None,
        "weight_versions": ["1"],
        "rollout_log_probs": [-0.5, -1.0, -1.5],
        "status": status,
        "metadata": {},
        "spec_info": {"completion_token_num": 0},
    } | more


def test_slime_rollouts(tmp_path: Path) -> None:
    samples = [
        sample(0, 0, 1.0, "completed"),
        sample(1, 0, 1.0, "truncated", loss_mask=[1, 0, 1]),
        sample(2, 1, 0.0, "completed", tokens=[5, 7, 8, 9]),
        sample(3, 1, 1.0, "aborted"),
    ]
    dump = read(saved(tmp_path / "3.pt", {"rollout_id": 3, "samples": samples}))
    assert (dump.format, dump.step, dump.sequences) == ("slime rollout dump", 3, 4)
    assert dump.allows == {"rewards", "groups", "truncation", "stage-1"}
    assert "the train dump has them" in dump.lacks["weights"]
    found = summary(dump)
    assert found.rewards is not None
    assert (found.rewards.mean, found.rewards.std) == (0.75, 0.5)
    assert found.groups is not None
    assert (found.groups.count, found.groups.zero_variance) == (2, 1)
    assert found.truncated == 1
    assert dump.batch is not None
    assert dump.batch["input_ids"].tolist()[2] == [5, 7, 8, 9, 0]
    assert dump.batch["attention_mask"].tolist()[2] == [True, True, True, True, False]
    assert dump.batch["loss_mask"].tolist()[1:3] == [[0, 0, 1, 0, 1], [0, 1, 1, 1, 0]]
    assert dump.batch["logprobs"].tolist()[2] == [0, -0.5, -1.0, -1.5, 0]


@pytest.mark.parametrize(
    ("change", "part", "reason"),
    [
        ({"reward": {"a": 1.0}}, "rewards", "several are given"),
        ({"reward": None}, "rewards", "a reward is missing"),
        ({"group_index": None}, "groups", "does not name its group"),
        ({"status": None}, "truncation", "no status"),
        ({"rollout_log_probs": None}, "stage-1", "rollout_log_probs"),
        ({"rollout_log_probs": [-1.0]}, "stage-1", "context-parallel shards"),
    ],
)
def test_what_slimes_samples_lack_is_a_reason(
    tmp_path: Path, change: dict[str, Any], part: Any, reason: str
) -> None:
    samples = [sample(0, 0, 1.0, "completed"), sample(1, 0, 1.0, "completed") | change]
    dump = read(saved(tmp_path / "3.pt", {"rollout_id": 3, "samples": samples}))
    assert reason in dump.lacks[part]


FIELDS: dict[str, Any] = {
    "tokens": [torch.tensor([5, 6, 7, 8]), torch.tensor([5, 6, 7])],
    "response_lengths": [2, 1],
    "total_lengths": [4, 3],
    "rewards": [0.7, -0.7],
    "raw_reward": [1.0, 0.0],
    "truncated": [1, 0],
    "sample_indices": [0, 1],
    "loss_masks": [torch.tensor([1, 1]), torch.tensor([1])],
    "rollout_log_probs": [torch.tensor([-1.0, -2.0]), torch.tensor([-1.0])],
    "log_probs": [torch.tensor([-0.5, -2.0]), torch.tensor([-1.25])],
}


def second_format() -> dict[str, Any]:
    names = [name for name in FIELDS if name != "raw_reward"]
    return {
        "format_version": 2,
        "rollout_id": 4,
        "rank": 0,
        "samples": [{name: FIELDS[name][i] for name in names} for i in range(2)],
        "dp_shards": [{"rank": 0}],
        "raw_reward": FIELDS["raw_reward"],
    }


@pytest.mark.parametrize(
    "content",
    [{"rollout_id": 4, "rank": 0, "rollout_data": FIELDS}, second_format()],
    ids=["one rank", "all ranks"],
)
def test_slime_training_data(tmp_path: Path, content: dict[str, Any]) -> None:
    dump = read(saved(tmp_path / "4.pt", content))
    assert (dump.format, dump.step, dump.sequences) == ("slime train dump", 4, 2)
    assert dump.allows == {"rewards", "truncation", "weights", "stage-1"}
    assert dump.rewards == [1.0, 0.0]
    assert dump.truncated == [True, False]
    assert dump.log_weights is not None
    assert dump.log_weights.tolist() == [0.5, 0.0, -0.25]
    found = summary(dump).weights
    assert found is not None
    assert found.k1 == pytest.approx(-0.25 / 3)
    assert found.k2 == pytest.approx((0.125 + 0.03125) / 3)
    assert dump.notes == (("one rank's share of the step",) if "rollout_data" in content else ())


def test_shards_of_a_context_parallel_rank_give_no_weights(tmp_path: Path) -> None:
    fields = FIELDS | {"log_probs": [torch.tensor([-0.5]), torch.tensor([-1.25])]}
    content = {"rollout_id": 4, "rank": 0, "rollout_data": fields}
    dump = read(saved(tmp_path / "4.pt", content))
    assert "context-parallel shards" in dump.lacks["weights"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"rollout_id": 4, "rollout_data": {"response_lengths": []}}, "no response_lengths"),
        ({"rollout_data": 1, "response_lengths": 2}, "no response_lengths"),
        ({"rollout_data": FIELDS | {"tokens": [1]}}, "is not laid out as slime train dump"),
        ({"rollout_data": FIELDS | {"loss_masks": ["x", "y"]}}, "is not laid out as slime"),
        ({"samples": [], "x": ["response_length", "weight_versions"]}, "holds no sample"),
        ({"samples": 1, "x": ["response_length", "weight_versions"]}, "no list of samples"),
    ],
)
def test_slime_files_that_do_not_fit(tmp_path: Path, content: Any, message: str) -> None:
    assert message in fault(saved(tmp_path / "4.pt", content))


# Text


def rollout(task: int, index: int, reward: Any) -> dict[str, Any]:
    return {
        "task_id": task,
        "sample_idx": index,
        "seqlen": 10,
        "prompt_len": 4,
        "head_version": 1,
        "tail_version": 2,
        "reward": reward,
        "prompt": "p",
        "completion": "c",
    }


def test_areal_rollouts_of_a_version(tmp_path: Path) -> None:
    folder = tmp_path / "rollout" / "7"
    jsonl(folder / "1.jsonl", rollout(1, 0, 1.0), rollout(1, 1, 1.0))
    jsonl(folder / "2.jsonl", rollout(2, 0, 0.0), rollout(2, 1, 1.0))
    dump = read(folder)
    assert dump.format == "AReaL rollout dump"
    assert dump.allows == {"rewards", "groups"}
    found = summary(dump)
    assert found.rewards is not None
    assert found.rewards.mean == 0.75
    assert found.groups is not None
    assert (found.groups.count, found.groups.zero_variance, found.groups.by) == (2, 1, "rewards")
    assert read(folder / "1.jsonl").sequences == 2


def verl(prompt: Any, score: Any) -> dict[str, Any]:
    return {"input": prompt, "output": "o", "gts": None, "score": score, "step": 5, "acc": True}


def test_verl_rollouts(tmp_path: Path) -> None:
    rows = [verl("a", 1.0), verl("a", 0.0), verl("b", 0.5), verl("b", 0.5)]
    dump = read(jsonl(tmp_path / "5.jsonl", *rows))
    assert (dump.format, dump.step) == ("verl rollout dump", 5)
    assert dump.allows == {"rewards", "groups"}
    found = summary(dump)
    assert found.rewards is not None
    assert (found.rewards.mean, found.rewards.least, found.rewards.most) == (0.5, 0.0, 1.0)
    assert found.groups is not None
    assert (found.groups.count, found.groups.zero_variance) == (2, 1)


def test_a_score_that_is_no_number_and_one_that_is_not_finite(tmp_path: Path) -> None:
    assert "rewards" in read(jsonl(tmp_path / "a.jsonl", verl("a", None))).lacks
    found = summary(read(jsonl(tmp_path / "b.jsonl", verl("a", float("nan")), verl("a", 1.0))))
    assert found.rewards is not None
    assert (found.rewards.count, found.rewards.not_finite, found.rewards.mean) == (2, 1, 1.0)
    assert found.rewards.std is None
    assert found.groups is not None
    assert found.groups.zero_variance == 0


def test_a_cut_last_line_is_noted_and_a_broken_one_told(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "5.jsonl", verl("a", 1.0), verl("b", 1.0))
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    dump = read(path)
    assert dump.sequences == 1
    assert dump.notes == ("the last line is cut and was left out",)
    path.write_bytes(whole.replace(b'"b"', b"b", 1))
    assert fault(path).startswith(f"{path}:2: is no JSON: ")
    jsonl(path, verl("a", 1.0), {"input": "b"}, verl("a", 1.0))
    assert fault(path).startswith(f"{path}:2: lacks output, score, step")


def test_trl_completions_with_one_reward(tmp_path: Path) -> None:
    dump = read(
        parquet(
            tmp_path / "completions_00006.parquet",
            step=[6, 6, 6, 6],
            prompt=[[{"role": "user", "content": c}] for c in "aabb"],
            completion=["1", "2", "3", "4"],
            accuracy_reward=[1.0, None, 0.0, 0.0],
            advantage=[0.0, 0.0, 0.0, 0.0],
        )
    )
    assert (dump.format, dump.step) == ("TRL completions", 6)
    assert dump.allows == {"rewards", "groups"}
    found = summary(dump)
    assert found.rewards is not None
    assert (found.rewards.not_finite, found.rewards.most) == (1, 1.0)
    assert found.groups is not None
    assert (found.groups.count, found.groups.zero_variance, found.groups.by) == (2, 1, "rewards")


def test_trl_completions_with_several_rewards_go_by_advantages(tmp_path: Path) -> None:
    dump = read(
        parquet(
            tmp_path / "completions_00006.parquet",
            step=[6, 6, 6, 6],
            prompt=["a", "a", "b", "b"],
            completion=["1", "2", "3", "4"],
            accuracy=[1.0, 0.0, 0.0, 0.0],
            format=[0.0, 1.0, 1.0, 0.0],
            advantage=[0.0, 0.0, 0.7, -0.7],
        )
    )
    assert dump.allows == {"groups"}
    assert dump.lacks["rewards"] == ("how these make up the reward is not in it: accuracy, format")
    groups = summary(dump).groups
    assert groups is not None
    assert (groups.count, groups.zero_variance, groups.by) == (2, 1, "advantages")


def test_a_cut_and_an_empty_parquet_file(tmp_path: Path) -> None:
    columns = {"step": [6], "prompt": ["a"], "completion": ["1"]}
    path = parquet(tmp_path / "c.parquet", **columns)
    path.write_bytes(path.read_bytes()[:-6])
    assert "is no dump that is known here" in fault(path)
    empty = {name: pa.array([], pa.string()) for name in columns}
    assert "holds no completion" in fault(parquet(tmp_path / "d.parquet", **empty))


# The command


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run_command(["replay", "--bundle", *arguments]) == ExitCode.JUDGED
    output = capsys.readouterr()
    assert output.err == ""
    return output.out


def test_the_command_says_what_a_dump_allows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = {"rollout_id": 4, "rank": 0, "rollout_data": FIELDS}
    text = printed(capsys, str(saved(tmp_path / "4.pt", content)))
    assert text.startswith(
        "slime train dump: 2 sequences, step 4\n"
        "note: one rank's share of the step\n"
        "allows: rewards, truncation, weights, stage-1\n"
        "not groups: it does not say which samples are of one prompt; the rollout dump does\n"
        "not stage-0: "
    )
    assert "reward: mean 0.5, standard deviation 0.707107, from 0 to 1\n" in text
    assert "truncated: 1 of 2 (50.0%)\n" in text
    assert "weights trainer / rollout engine: 3 tokens, 0 not finite\n" in text


def test_the_command_prints_a_dump_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = jsonl(tmp_path / "5.jsonl", verl("a", 1.0), verl("a", float("inf")))
    found = json.loads(printed(capsys, str(path), "--format", "json"))
    assert list(found) == ["dump"]
    dump = found["dump"]
    assert dump["allows"] == ["rewards", "groups"]
    assert dump["lacks"]["stage-1"] == "it holds text, not token ids and log-probs"
    assert dump["rewards"] == {
        "count": 2, "not_finite": 1, "mean": 1.0, "std": None, "least": 1.0, "most": 1.0
    }  # fmt: skip
    assert dump["weights"] is None


def test_the_command_recomputes_where_the_configuration_lies_beside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path / "batch.pt", golden_tensors(CASE))
    (tmp_path / "config.yaml").write_bytes((FOLDER / find(CASE) / "config.yaml").read_bytes())
    out = tmp_path / "out.safetensors"
    found = json.loads(printed(capsys, str(path), "--format", "json", "--tensors", str(out)))
    expected = json.loads((FOLDER / find(CASE) / "expected.json").read_text("utf-8"))
    assert list(found) == ["dump", "stats", "loss", "error"]
    assert found["stats"].keys() == expected["stats"].keys()
    assert out.is_file()


def test_tensors_that_cannot_be_recomputed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = jsonl(tmp_path / "5.jsonl", verl("a", 1.0))
    command = ["replay", "--bundle", str(path), "--tensors", str(tmp_path / "out")]
    assert run_command(command) == ExitCode.CANNOT_JUDGE
    assert "allows no tensors to be recomputed: it holds text" in capsys.readouterr().err


@pytest.mark.corpus
def test_the_rollouts_of_a_real_format(corpus: Path) -> None:
    """Counted with a few lines of Python that share nothing with the reader."""
    found = read(corpus / "areal" / "length_truncation" / "rollout" / "210")
    said = summary(found)
    assert found.sequences == 160
    assert said.rewards is not None
    assert said.rewards.mean == 0.25625
    assert said.groups is not None
    assert (said.groups.count, said.groups.zero_variance) == (20, 7)
