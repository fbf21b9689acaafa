"""The recorder: what it writes is the batch, and nothing of it reaches the training loop."""

from __future__ import annotations

import dataclasses
import json
import logging
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import needs_torch  # noqa: F401
import pytest
import torch
from golden_cases import CASES, bundle_of, conventions_of, differences, find
from recorded_batches import golden_config, golden_tensors

from analyzer.replay import recorder as recorder_module
from analyzer.replay.bundle import Bundle, read_bundle
from analyzer.replay.config import ReplayConfig
from analyzer.replay.manifest import find_recorded
from analyzer.replay.recorder import Recorder
from analyzer.replay.recording import writing
from analyzer.replay.recording.settings import KEPT
from analyzer.replay.stage0 import replay_batch

CASE = "areal-2026-05/case_28"
LATER = "areal-2026-08/case_10"


def only_bundle(folder: Path) -> Bundle:
    (found,) = find_recorded(folder)
    assert found.fault == ""
    return read_bundle(found.path)


def recorded(
    folder: Path, batch: Any, config: Any, recorder: dict[str, Any] | None = None, **more: Any
) -> Bundle:
    """The bundle that one call writes."""
    writer = Recorder(folder, every=1, **(recorder or {}))
    writer.record(batch, config, 12, **more)
    writer.close()
    assert (writer.recorded, writer.dropped) == (1, 0)
    return only_bundle(folder)


def refused(
    folder: Path, batch: Any, config: Any, caplog: pytest.LogCaptureFixture, **more: Any
) -> str:
    """The log line for a batch that is dropped."""
    writer = Recorder(folder, every=1)
    with caplog.at_level(logging.WARNING, "analyzer.recorder"):
        writer.record(batch, config, 12, **more)
        writer.close()
    assert (writer.recorded, writer.dropped) == (0, 1)
    assert find_recorded(folder) == ()
    assert len(caplog.records) == 1
    line = caplog.records[0].getMessage()
    assert line.startswith("step 12 is not recorded: ")
    assert "\n" not in line
    return line


@pytest.mark.parametrize("case", CASES)
def test_what_is_recorded_replays_as_what_was_trained_on(tmp_path: Path, case: str) -> None:
    expected = bundle_of(case)
    batch = golden_tensors(case)
    if expected.split is not None:
        batch["minibatch_index"] = torch.tensor(expected.split.minibatch)
        batch["microbatch_index"] = torch.tensor(expected.split.microbatch)
    about = {"conventions": conventions_of(case).name}
    bundle = recorded(tmp_path, batch, golden_config(case), about)
    assert bundle.config == expected.config
    assert bundle.split == expected.split
    assert differences(case, replay_batch(bundle, bundle.conventions())) == []


def test_the_manifest_says_what_it_was_told(tmp_path: Path) -> None:
    about = {
        "framework_version": "2.0.0",
        "conventions": "areal-2026-08",
        "sampling": {"temperature": 0.7, "top_p": 0.9, "top_k": -1, "dtype": "bfloat16"},
        "trainer": {"dtype": "bfloat16", "attention": "sdpa"},
        "meta": {"eos_token_id": 7, "pad_token_id": 0},
        "tokenizer": "/models/tokenizer",
    }
    bundle = recorded(
        tmp_path,
        golden_tensors(CASE),
        golden_config(CASE) | {"current_version": 3},
        about,
        version=12,
        checkpoints={12: Path("/weights/v12"), 8: "../v8"},
    )
    manifest = bundle.manifest
    assert manifest is not None
    assert (manifest.step, manifest.framework, manifest.framework_version) == (12, "areal", "2.0.0")
    assert manifest.conventions == "areal-2026-08"
    assert manifest.sampling.model_dump() == about["sampling"]
    assert manifest.trainer.model_dump() == about["trainer"]
    assert manifest.checkpoints == {12: "/weights/v12", 8: "../v8"}
    assert manifest.text is not None
    assert manifest.text.tokenizer == "/models/tokenizer"
    assert manifest.config.current_version == 12
    assert manifest.config.meta.eos_token_id == 7
    assert bundle.path.name == "step_00000012"
    assert [path.name for path in sorted(bundle.path.iterdir())] == [
        "batch.safetensors",
        "manifest.json",
    ]


def test_dtypes_become_those_of_the_layout(tmp_path: Path) -> None:
    exact = golden_tensors(CASE)
    batch = exact | {
        "input_ids": exact["input_ids"].long(),
        "attention_mask": exact["attention_mask"].long(),
        "loss_mask": exact["loss_mask"].float(),
        "logprobs": exact["logprobs"].bfloat16().requires_grad_(),
        "rewards": exact["rewards"].double(),
        "hidden_states": torch.zeros(8, 32, 4),
        "prompts": ["a"] * 8,
        "ref_logp": None,
    }
    bundle = recorded(tmp_path, batch, golden_config(CASE))
    assert {name: str(tensor.dtype) for name, tensor in bundle.tensors.items()} == {
        "input_ids": "torch.int32",
        "attention_mask": "torch.bool",
        "loss_mask": "torch.int32",
        "versions": "torch.int32",
        **dict.fromkeys(
            ("logprobs", "rewards", "new_logprobs", "entropy", "prox_logp"), "torch.float32"
        ),
    }
    assert torch.equal(bundle.tensors["logprobs"], exact["logprobs"].bfloat16().float())
    assert bundle.dtypes["logprobs"] == "bfloat16"
    assert bundle.notes == ("rounded before they were recorded: logprobs bfloat16",)
    assert torch.equal(bundle.tensors["loss_mask"], exact["loss_mask"])


def test_what_the_trainer_does_to_its_tensors_later_does_not_show(tmp_path: Path) -> None:
    batch = golden_tensors(CASE)
    expected = batch["logprobs"].clone()
    writer = Recorder(tmp_path, every=1)
    writer.record(batch, golden_config(CASE), 0)
    batch["logprobs"].zero_()
    writer.close()
    assert torch.equal(only_bundle(tmp_path).tensors["logprobs"], expected)


def after_advantages(case: str) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """What compute_advantages leaves: mask and log-probs shifted, further tensors beside."""
    batch = golden_tensors(case)
    mask = torch.roll(batch["loss_mask"].float(), -1, dims=-1)
    old = torch.roll(batch["logprobs"], -1, dims=-1) * mask
    beside = dict.fromkeys(("advantages", "kl_rewards", "tot_rewards", "returns"), old)
    return batch | {"loss_mask": mask, "logprobs": old} | beside, golden_config(case)


def test_a_batch_after_compute_advantages_is_shifted_back(tmp_path: Path) -> None:
    bundle = recorded(tmp_path, *after_advantages(CASE))
    exact = golden_tensors(CASE)
    assert torch.equal(bundle.tensors["loss_mask"], exact["loss_mask"])
    trained = exact["loss_mask"] == 1
    assert torch.equal(bundle.tensors["logprobs"][trained], exact["logprobs"][trained])
    assert bundle.notes == ()
    found = replay_batch(bundle, bundle.conventions())
    assert differences(find(CASE), found) == []


def test_a_penalty_that_the_rewards_already_have_is_not_taken_twice(tmp_path: Path) -> None:
    batch, config = after_advantages(CASE)
    config["actor"]["overlong_reward_penalty"] = True
    bundle = recorded(tmp_path, batch, config)
    assert not bundle.config.actor.overlong_reward_penalty
    assert bundle.notes == ("the rewards already had the penalty on overlong responses",)


def test_log_probs_that_were_replaced_are_noted(tmp_path: Path) -> None:
    batch, config = after_advantages(CASE)
    config["actor"] |= {"recompute_logprob": True, "use_decoupled_loss": False}
    notes = recorded(tmp_path, batch, config).notes
    assert len(notes) == 1
    assert "logprobs are the recomputed ones" in notes[0]


@dataclasses.dataclass
class Norm:
    mean_level: str = "group"
    std_level: str | None = None
    group_size: int = 4
    secret: str = "unknown to a replay"


@dataclasses.dataclass
class Actor:
    eps_clip: float = 0.3
    kl_ctl: float = 0.0
    reward_norm: Norm = dataclasses.field(default_factory=Norm)
    optimizer: dict[str, Any] = dataclasses.field(default_factory=lambda: {"lr": 1e-5})
    path: Path = Path("/models/x")
    ppo_n_minibatches: int = 1


class Broken(dict[str, Any]):
    """As a configuration of OmegaConf with a value that is missing: reading it raises."""

    def __getitem__(self, key: str) -> Any:
        if key == "c_clip":
            raise RuntimeError("Missing mandatory value: c_clip")
        return super().__getitem__(key)


class Views(Mapping[str, Any]):
    """As OmegaConf's: a mapping that is no dict, all the way down."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def __getitem__(self, key: str) -> Any:
        value = self.data[key]
        return Views(value) if isinstance(value, dict) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)


PLAIN = {
    "eps_clip": 0.3,
    "kl_ctl": 0.0,
    "ppo_n_minibatches": 1,
    "reward_norm": {"mean_level": "group", "std_level": None, "group_size": 4},
}


@pytest.mark.parametrize(
    "config",
    [
        Actor(),
        {"actor": Actor(), "rollout": {"max_head_offpolicyness": 4}},
        SimpleNamespace(actor=Actor(), experiment_name="x"),
        PLAIN,
        {"actor": PLAIN | {"unheard_of": object()}},
        Views({"actor": PLAIN | {"optimizer": {"lr": 1e-5}}, "seed": 1}),
        Broken(PLAIN | {"c_clip": "???"}),
    ],
    ids=["dataclass", "dict of it", "namespace", "dict", "unknown keys", "views", "missing value"],
)
def test_configurations_of_every_kind(tmp_path: Path, config: Any) -> None:
    actor = recorded(tmp_path, golden_tensors(CASE), config).config.actor
    assert actor.model_dump(exclude_unset=True) == PLAIN


def test_the_keys_that_are_kept_are_those_of_the_replay() -> None:
    schema = ReplayConfig.model_json_schema()

    def keys(shape: dict[str, Any]) -> dict[str, Any]:
        found = {}
        for name, field in shape["properties"].items():
            options = [field, *field.get("anyOf", ())]
            names = [o["$ref"].rsplit("/", 1)[1] for o in options if "$ref" in o]
            found[name] = keys(schema["$defs"][names[0]]) if names else None
        return found

    assert keys(schema) == KEPT


def test_values_that_json_has_not_become_plain(tmp_path: Path) -> None:
    config = PLAIN | {"eps_clip": torch.tensor(0.5), "log_agent_stats_keys": ("a", "b")}
    actor = recorded(tmp_path, golden_tensors(CASE), config).config.actor
    assert actor.eps_clip == 0.5
    assert actor.log_agent_stats_keys == ("a", "b")


def test_a_list_of_trajectories_is_padded_together(tmp_path: Path) -> None:
    whole = golden_tensors(LATER)
    sizes = golden_config(LATER)["traj_group_sizes"]
    parts, start = [], 0
    for size in sizes:
        part = {name: tensor[start : start + size] for name, tensor in whole.items()}
        width = int(part["attention_mask"].sum(-1).max())
        parts.append({n: t[:, :width] if t.dim() == 2 else t for n, t in part.items()})
        start += size
    config = golden_config(LATER)
    del config["traj_group_sizes"]
    bundle = recorded(tmp_path, parts, config, {"conventions": "areal-2026-08"})
    assert bundle.config.traj_group_sizes == tuple(sizes)
    width = int(whole["attention_mask"].sum(-1).max())
    inside = whole["attention_mask"][:, :width]
    for name in ("input_ids", "logprobs", "loss_mask"):
        assert torch.equal(bundle.tensors[name][inside], whole[name][:, :width][inside])
    assert torch.equal(bundle.tensors["attention_mask"], inside)


def test_trajectories_after_compute_advantages(tmp_path: Path) -> None:
    """As AReaL's `ppo_update` gets them: cut to their own width, mask and log-probs shifted."""
    shifted, config = after_advantages(CASE)
    exact = golden_tensors(CASE)
    parts = []
    for rows in (slice(0, 3), slice(3, 8)):
        width = int(exact["attention_mask"][rows].sum(-1).max())
        parts.append(
            {n: t[rows, :width] if t.dim() == 2 else t[rows] for n, t in shifted.items()}
            | {"rl_loss_weight": 1.0}
        )
    bundle = recorded(tmp_path, parts, config, {"rows": 5}, group_sizes=[3, 5])
    manifest = bundle.manifest
    assert manifest is not None
    assert manifest.rows.kept == (0, 1, 2)
    width = bundle.tensors["input_ids"].shape[1]
    assert torch.equal(bundle.tensors["loss_mask"], exact["loss_mask"][:3, :width])
    trained = exact["loss_mask"][:3, :width] == 1
    found, expected = bundle.tensors["logprobs"], exact["logprobs"][:3, :width]
    assert torch.equal(found[trained], expected[trained])


def test_two_recorders_of_a_process_share_a_folder(tmp_path: Path) -> None:
    writers = [Recorder(tmp_path, every=1) for _ in range(2)]
    for step in range(2):
        for writer in writers:
            writer.record(golden_tensors(CASE), golden_config(CASE), step)
    for writer in writers:
        writer.close()
    assert [writer.recorded for writer in writers] == [2, 2]
    assert [found.step for found in find_recorded(tmp_path)] == [0, 0, 1, 1]


def test_trajectories_are_no_mark_of_a_later_version(tmp_path: Path) -> None:
    bundle = recorded(tmp_path, [golden_tensors(CASE)], golden_config(CASE))
    assert bundle.config.traj_group_sizes is None
    assert bundle.conventions().name == "areal-2026-05"


def test_some_rows_in_whole_groups(tmp_path: Path) -> None:
    batch = golden_tensors(CASE)
    bundle = recorded(tmp_path, batch, golden_config(CASE), {"rows": 5}, group_sizes=[2, 2, 2, 2])
    manifest = bundle.manifest
    assert manifest is not None
    assert manifest.rows.of == 8
    assert manifest.rows.kept == (0, 1, 4, 5)
    assert bundle.config.traj_group_sizes == (2, 2)
    assert torch.equal(bundle.tensors["rewards"], batch["rewards"][[0, 1, 4, 5]])
    assert not bundle.complete


def test_a_ranks_share_is_part_of_the_batch(tmp_path: Path) -> None:
    bundle = recorded(tmp_path, golden_tensors(CASE), golden_config(CASE), part=(16, 32))
    manifest = bundle.manifest
    assert manifest is not None
    assert manifest.rows.of == 32
    assert manifest.rows.kept == tuple(range(16, 24))
    assert "8 of 32 rows were recorded" in bundle.notes[0]


def test_one_of_several_processes_says_that_it_was_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 4)
    batch, config = golden_tensors(CASE), golden_config(CASE)
    notes = recorded(tmp_path / "untold", batch, config).notes
    assert len(notes) == 1
    assert "recorded by one of 4 processes" in notes[0]
    told = recorded(tmp_path / "told", batch, config, part=(0, 8))
    assert told.notes == ()
    assert told.complete


def test_every_so_many_steps(tmp_path: Path) -> None:
    writer = Recorder(tmp_path, every=10, queue=8)
    for step in range(25):
        writer.record(golden_tensors(CASE), golden_config(CASE), step)
    writer.close()
    assert [found.step for found in find_recorded(tmp_path)] == [0, 10, 20]
    off = Recorder(tmp_path / "off", every=0)
    off.record(golden_tensors(CASE), golden_config(CASE), 0)
    off.close()
    assert (off.recorded, off.dropped) == (0, 0)
    assert not (tmp_path / "off").exists()


def test_a_step_that_a_restart_records_again_stands_beside_the_first(tmp_path: Path) -> None:
    for _ in range(2):
        writer = Recorder(tmp_path, every=1)
        writer.record(golden_tensors(CASE), golden_config(CASE), 12)
        writer.close()
    names = [found.path.name for found in find_recorded(tmp_path)]
    assert sorted(names) == ["step_00000012", "step_00000012.1"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"prox_logp": torch.zeros(8, 31)}, "prox_logp has shape [8, 31], not [B,T] = [8, 32]"),
        ({"logprobs": None}, "lacks logprobs"),
        ({"input_ids": None}, "TypeError"),
        ({"input_ids": torch.zeros(256, dtype=torch.int32)}, "input_ids has shape [256]"),
        ({"rewards": torch.tensor(1.0)}, "rewards has shape [], not [B] = [8]"),
        ({"attention_mask": torch.zeros(8, 32)}, "not padded on the right"),
        ({"logprobs": "text"}, "lacks logprobs"),
    ],
)
def test_a_batch_that_does_not_fit_is_dropped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, change: dict[str, Any], reason: str
) -> None:
    assert reason in refused(tmp_path, golden_tensors(CASE) | change, golden_config(CASE), caplog)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("batch", [None, [], [1], 7, {}, "batch", [{"input_ids": 1}]])
def test_what_is_no_batch_is_dropped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, batch: Any
) -> None:
    refused(tmp_path, batch, golden_config(CASE), caplog)


def test_a_step_that_is_no_number_is_dropped(tmp_path: Path) -> None:
    writer = Recorder(tmp_path, every=1)
    writer.record(golden_tensors(CASE), golden_config(CASE), "twelve")  # type: ignore[arg-type]
    writer.close()
    assert (writer.recorded, writer.dropped) == (0, 1)


def test_an_unwritable_folder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("not a folder", "utf-8")
    line = refused(tmp_path / "file", golden_tensors(CASE), golden_config(CASE), caplog)
    assert "FileExistsError" in line or "NotADirectoryError" in line


def test_a_full_disk_leaves_nothing_behind(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "_settled", no_space)
    line = refused(tmp_path, golden_tensors(CASE), golden_config(CASE), caplog)
    assert "No space left on device" in line
    assert list(tmp_path.iterdir()) == []


def test_space_for_checkpoints_stays_free(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "FREE", 2**60)
    line = refused(tmp_path, golden_tensors(CASE), golden_config(CASE), caplog)
    assert "bytes are free on the disk" in line


def test_the_disk_budget_counts_what_is_there_already(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recorded(tmp_path, golden_tensors(CASE), golden_config(CASE))
    size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    tensors = sum(t.numel() * t.element_size() for t in golden_tensors(CASE).values())
    enough = size + tensors + 2**16  # room for header and manifest is reckoned at 64 KiB
    for budget, expected in ((enough - 1, 0), (enough, 1)):
        writer = Recorder(tmp_path, every=1, disk_budget=budget)
        writer.record(golden_tensors(CASE), golden_config(CASE), 13)
        writer.close()
        assert writer.recorded == expected
    assert "the disk budget of" in caplog.text


def test_a_full_queue_drops_and_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, leave = threading.Event(), threading.Event()
    real = writing.write

    def slow(*arguments: Any) -> Path:
        entered.set()
        assert leave.wait(30)
        return real(*arguments)

    monkeypatch.setattr(recorder_module, "write", slow)
    writer = Recorder(tmp_path, every=1, queue=1)
    writer.record(golden_tensors(CASE), golden_config(CASE), 0)
    assert entered.wait(30)
    for step in (1, 2, 3):  # the first of them waits, the others find the queue full
        writer.record(golden_tensors(CASE), golden_config(CASE), step)
    assert writer.dropped == 2
    leave.set()
    writer.close()
    assert [found.step for found in find_recorded(tmp_path)] == [0, 1]


def test_after_close_nothing_is_recorded(tmp_path: Path) -> None:
    writer = Recorder(tmp_path, every=1)
    writer.record(golden_tensors(CASE), golden_config(CASE), 0)
    writer.close()
    writer.close()
    writer.record(golden_tensors(CASE), golden_config(CASE), 1)
    assert (writer.recorded, writer.dropped) == (1, 1)


def test_a_recorder_can_be_sent_to_another_process(tmp_path: Path) -> None:
    writer = Recorder(tmp_path, every=1)
    writer.record(golden_tensors(CASE), golden_config(CASE), 0)
    copy = pickle.loads(pickle.dumps(writer))
    writer.close()
    copy.record(golden_tensors(CASE), golden_config(CASE), 1)
    copy.close()
    assert [found.step for found in find_recorded(tmp_path)] == [0, 1]


ENDLESS = """
import sys
from pathlib import Path
import torch
from analyzer.replay.recorder import Recorder
from analyzer.replay.recording import writing
from analyzer.replay.recording.settings import KEPT

torch.set_num_threads(1)
rows, width = 64, 4096
ones = torch.ones(rows, width)
batch = {
    "input_ids": ones.int(), "attention_mask": ones.bool(), "loss_mask": ones.int(),
    "logprobs": -ones, "rewards": torch.arange(rows).float(),
}
recorder = Recorder(sys.argv[1], every=1)
step = 0
while True:
    recorder.record(batch, {"kl_ctl": 0.0}, step)
    step += 1
    print(recorder.recorded, flush=True)
"""


def test_a_killed_process_leaves_whole_batches_or_none(tmp_path: Path) -> None:
    """Killed at several moments, among them while a file is being written."""
    in_the_middle = 0
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        process = subprocess.Popen(
            [sys.executable, "-c", ENDLESS, str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= 2 and (attempt == 0 or list(folder.glob(".*/batch.safetensors"))):
                break
        process.kill()
        process.wait()
        process.stdout.close()
        found = find_recorded(folder)
        assert len(found) >= 2
        for step in found:
            assert step.fault == ""
            bundle = read_bundle(step.path)
            assert torch.equal(bundle.tensors["rewards"], torch.arange(64).float())
        in_the_middle += len(list(folder.glob(".step_*")))
    assert in_the_middle >= 1
    leftover = next(path for path in tmp_path.glob("*/.step_*"))
    writer = Recorder(leftover.parent, every=1)
    writer.record(golden_tensors(CASE), golden_config(CASE), 999)
    writer.close()
    assert not leftover.exists()
    assert find_recorded(leftover.parent)[-1].step == 999


def test_what_another_machines_recorder_is_writing_stays(tmp_path: Path) -> None:
    theirs = tmp_path / ".step_00000001.part-elsewhere-1"
    theirs.mkdir()
    recorded(tmp_path, golden_tensors(CASE), golden_config(CASE))
    assert theirs.is_dir()


def test_what_waits_is_written_when_the_process_ends(tmp_path: Path) -> None:
    source = ENDLESS.replace("while True:", "while step < 2:")
    command = [sys.executable, "-c", source, str(tmp_path)]
    subprocess.run(command, capture_output=True, check=True)
    assert [found.step for found in find_recorded(tmp_path)] == [0, 1]


def test_the_recorder_needs_nothing_but_torch_and_safetensors() -> None:
    heavy = "pydantic ruamel duckdb pyarrow transformers jinja2 typer"
    source = (
        "import sys, analyzer.replay.recorder\n"
        f"print([name for name in {heavy.split()} if name in sys.modules])"
    )
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_writing_takes_place_beside_the_training_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []
    real = writing.write

    def noted(*arguments: Any) -> Path:
        threads.append(threading.current_thread().name)
        return real(*arguments)

    monkeypatch.setattr(recorder_module, "write", noted)
    recorded(tmp_path, golden_tensors(CASE), golden_config(CASE))
    assert threads == ["recorder"]


def test_the_manifest_is_json_that_a_person_can_read(tmp_path: Path) -> None:
    bundle = recorded(tmp_path, golden_tensors(CASE), golden_config(CASE))
    text = (bundle.path / "manifest.json").read_text("utf-8")
    assert text.startswith('{\n "kind": "recorded-batch",\n "schema_version": 1,\n "step": 12,\n')
    written = json.loads(text)["written"]
    assert written.endswith("+00:00")
    assert written[:4] == time.strftime("%Y", time.gmtime())
