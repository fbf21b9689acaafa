"""The memory law of stage 1, from measurement at a vocabulary of 151,936.

    peak ≤ weights + activations of one micro-batch + two chunks of logits

Bytes are those that torch's allocator hands out, temporaries inside of operations included. The
weights are there before the measurement begins; a copy of them would be larger than the slack.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import needs_transformers  # noqa: F401
import pytest
import torch
from random_models import save
from tiny_lm import DEVICE
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from analyzer.replay.model.checkpoint import Checkpoint, open_checkpoint
from analyzer.replay.model.settings import Dtype, Settings
from analyzer.replay.model.stage1 import StageOne, recompute

VOCABULARY = 151_936
ROWS, WIDTH = 3, 50
CHUNK = 2**20
WAY = Settings(device=DEVICE, chunk=CHUNK, tokens=WIDTH, extremes=True, temperature=0.7)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama with a real vocabulary and hardly anything else."""
    return save("llama", tmp_path_factory.mktemp("wide"), vocab_size=VOCABULARY, hidden_size=16)


@pytest.fixture(scope="module")
def rows() -> dict[str, Tensor]:
    """Three rows, each a micro-batch of its own."""
    generator = torch.Generator().manual_seed(9)
    ids = torch.randint(0, VOCABULARY, (ROWS, WIDTH), generator=generator)
    return {"input_ids": ids, "attention_mask": torch.ones(ROWS, WIDTH, dtype=torch.bool)}


def peak(action: Callable[[], object], device: torch.device, folder: Path) -> int:
    """The most bytes that were allocated at one time, beyond what was there before."""
    if device.type == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        action()
        torch.cuda.synchronize()
        return int(torch.cuda.max_memory_allocated() - before)
    # Where the processor multiplies bfloat16 by itself, oneDNN packs the head's block once more:
    # memory of the library, which other processors do not need.
    with (
        torch.backends.mkldnn.flags(enabled=False),
        profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler,
    ):
        action()
    trace = folder / "trace.json"
    profiler.export_chrome_trace(str(trace))
    events = json.loads(trace.read_text("utf-8"))["traceEvents"]
    memory = [event for event in events if event.get("name") == "[memory]"]
    first, *_ = sorted(memory, key=lambda event: event["ts"])
    # What an earlier profile saw allocated and nobody saw freed is still in the total.
    before = int(first["args"]["Total Allocated"]) - int(first["args"]["Bytes"])
    return max(int(event["args"]["Total Allocated"]) for event in memory) - before


def activations(checkpoint: Checkpoint, rows: dict[str, Tensor], folder: Path) -> int:
    """The peak of the model up to its hidden states, on one micro-batch."""
    ids = rows["input_ids"][:1].to(checkpoint.device)
    with torch.no_grad():
        return peak(lambda: checkpoint.hidden(ids), checkpoint.device, folder)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("top_p", [1.0, 0.9])
def test_the_memory_law(
    dtype: Dtype, top_p: float, folder: Path, rows: dict[str, Tensor], tmp_path: Path
) -> None:
    settings = replace(WAY, dtype=dtype, top_p=top_p)
    opened = open_checkpoint(folder, settings)
    wanted = torch.ones(ROWS, WIDTH, dtype=torch.bool)
    if settings.truncated:  # which is slow
        wanted[:, ::6] = False
        wanted = ~wanted
    # First the activations: on a GPU the libraries take their own memory at the first call.
    allowed = activations(opened, rows, tmp_path) + 2 * 4 * CHUNK
    made: list[StageOne] = []
    found = peak(
        lambda: made.append(recompute(rows, opened, settings, wanted=wanted)),
        opened.device,
        tmp_path,
    )
    assert found <= allowed
    # What the plan said beforehand holds as well, and no copy of the head would have fitted.
    plan = made[0].plan
    assert found <= plan.peak_bytes - plan.weights_bytes
    head = opened.head.weight
    assert dtype != "float32" or allowed < head.numel() * head.element_size()


def full_logits(opened: Checkpoint, rows: dict[str, Tensor]) -> Tensor:
    """The wrong way: logits of the micro-batch, then their log-softmax."""
    found = torch.zeros(rows["input_ids"].shape)
    with torch.no_grad():
        for number, ids in enumerate(rows["input_ids"].to(opened.device)):
            logits = opened.model(input_ids=ids[None]).logits[0].float() / WAY.temperature
            chosen = torch.log_softmax(logits, -1)[:-1].gather(-1, ids[1:, None])[:, 0]
            found[number, :-1] = chosen.cpu()
    return found


def test_the_measurement_catches_full_logits(
    folder: Path, rows: dict[str, Tensor], tmp_path: Path
) -> None:
    opened = open_checkpoint(folder, WAY)
    found = peak(lambda: full_logits(opened, rows), opened.device, tmp_path)
    # Logits, and their log-softmax, of one micro-batch at the least.
    assert found >= 2 * WIDTH * VOCABULARY * 4
    assert found > activations(opened, rows, tmp_path) + 2 * 4 * CHUNK
    ours = recompute(rows, opened, WAY).logprobs
    assert float((ours - full_logits(opened, rows)).abs().max()) <= 2e-5


def test_the_measurement_catches_a_third_chunk(
    folder: Path, rows: dict[str, Tensor], tmp_path: Path
) -> None:
    opened = open_checkpoint(folder, WAY)
    larger = replace(WAY, chunk=CHUNK * 3 // 2)
    found = peak(lambda: recompute(rows, opened, larger), opened.device, tmp_path)
    assert found > activations(opened, rows, tmp_path) + 2 * 4 * CHUNK
